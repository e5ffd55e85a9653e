"""A cost model of the cluster: time, memory and bytes moved from measured constants, checked from 2^18 to 2^22 nodes.

Constants are measured at 2^16 nodes and below; only the cost of a step on one core, which grows with the graph because
fewer of its rows are in the processor's caches, is measured at all sizes. The page docs/how-to/cluster-cost.md is written
from the results by ``python -m benchmarks.cluster_cost``.
"""

from __future__ import annotations

import json
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numba
import numpy as np

import graphreach as gr
from benchmarks.cluster import NOTE, PARTS, WALK_LENGTH, ray_nodes
from benchmarks.harness import RESULTS, Row
from benchmarks.rmat import rmat_graph
from benchmarks.walks import nodes_with_neighbours
from graphreach.cluster import partitioned
from graphreach.cluster.partitioned import wave_steps
from graphreach.cluster.partitioned_graph import stored_bytes
from graphreach.cluster.replicated import PIECE_BYTES
from graphreach.reachability.sampled import Counting, CountToAnchors
from graphreach.walks.engine import Walker

NODES = CORES = 2
ANCHORS = 100
NUM_WALKS = 10
PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "cluster-cost.md"
MARKERS = ("<!-- figures: begin -->", "<!-- figures: end -->")
WALKER = 8
"""Bytes of a walker that travels."""
NODE_BYTES = 4.25
"""What every node knows of each node of the graph: which anchor it is, and twice whether it is one."""


@dataclass(frozen=True)
class Job:
    """Walks on a graph, as far as their cost depends on them."""

    nodes: int
    graph_bytes: int
    moving: float  # the share of nodes that have a neighbour
    walks: int
    length: int
    result_bytes: int

    @property
    def steps(self) -> float:
        """Steps that are taken."""
        return self.nodes * self.moving * self.walks * self.length

    def tasks(self, parts: int, least: int | None = None) -> int:
        """Calls of parts' workers: one for each part, step and wave, and one that collects."""
        steps = wave_steps(self.graph_bytes, self.length) if least is None else least
        rows = max(1, min(steps // (self.walks * self.length), partitioned.WAVE_BYTES // (4 * ANCHORS)))
        return -(-self.nodes // rows) * (parts * self.length + 1)


@dataclass(frozen=True)
class Constants:
    """What was measured, in seconds and bytes."""

    steps: tuple[tuple[float, float], ...]  # bytes of a graph, and seconds of a step on it by one core
    replicated_start: float
    moved_byte: float  # core seconds for a byte on its way between the caller and a node
    partitioned_start: float
    walker: float  # core seconds for a walker's step, at the size of the calibration
    calibration_bytes: float  # of a part there
    task: float  # core seconds of a task, wherever they are spent
    driver_task: float  # of which the caller's process

    def step_on(self, size: float) -> float:
        """Core seconds of a step that reads rows of so many bytes: between the measured sizes on a line over log2."""
        places, seconds = [math.log2(each) for each, _ in self.steps], [each for _, each in self.steps]
        beyond = math.log2(size) - places[-1]
        if beyond > 0 and len(places) > 1:
            return seconds[-1] + beyond * (seconds[-1] - seconds[-2]) / (places[-1] - places[-2])
        return float(np.interp(math.log2(size), places, seconds))

    def replicated(self, job: Job, cores: int, nodes: int) -> float:
        """Seconds with the whole graph on every node."""
        moved = job.graph_bytes * nodes + job.result_bytes
        return self.replicated_start + (job.steps * self.step_on(job.graph_bytes) + moved * self.moved_byte) / cores

    def walker_on(self, part_bytes: float) -> float:
        """Core seconds of a walker's step on a part of so many bytes."""
        return self.walker + self.step_on(part_bytes) - self.step_on(self.calibration_bytes)

    def partitioned(self, job: Job, parts: int, cores: int, least: int | None = None) -> float:
        """Seconds with the graph in parts, where callers and workers share the cores."""
        moved = (job.graph_bytes + job.result_bytes) * self.moved_byte
        work = job.steps * self.walker_on(job.graph_bytes / parts) + job.tasks(parts, least) * self.task + moved
        return self.partitioned_start + work / cores

    def bytes_moved(self, job: Job, nodes: int) -> float:
        """Bytes of the graph, of walkers between nodes, of what every node knows of the anchors, and of results."""
        steps = job.steps * (job.length - 1) / job.length  # after the last nobody travels
        return job.graph_bytes + WALKER * steps * (1 - 1 / nodes) + NODE_BYTES * job.nodes * nodes + job.result_bytes


def job_on(graph: gr.Graph, walks: int) -> Job:
    """Reachability of ``ANCHORS`` anchors, to them, dense."""
    moving = len(nodes_with_neighbours(graph)) / graph.num_nodes
    return Job(graph.num_nodes, stored_bytes(graph), moving, walks, WALK_LENGTH, 4 * ANCHORS * graph.num_nodes)


def anchors_on(graph: gr.Graph) -> Any:
    """Some nodes with neighbours."""
    return np.random.default_rng(0).choice(nodes_with_neighbours(graph), ANCHORS, replace=False)


def seconds_on(graph: gr.Graph, walks: int, parts: int | None, rounds: int = 1) -> dict[str, Any]:
    """Seconds from the graph in this process to the matrix, the caller's CPU seconds, and what was moved."""
    found, engine = [], gr.cluster.Ray(partitions=parts)
    for _ in range(rounds):
        begin, cpu = time.perf_counter(), time.process_time()
        with engine.walker(graph) as walker:
            to_anchors(walker, graph, walks)
        found.append((time.perf_counter() - begin, time.process_time() - cpu))
    use = {} if engine.last_use is None else engine.last_use.as_dict()
    return {
        "seconds": statistics.median(s for s, _ in found),
        "cpu": statistics.median(c for _, c in found),
        "use": use,
    }


def to_anchors(walker: Walker, graph: gr.Graph, walks: int) -> None:
    """What is measured."""
    job = CountToAnchors.make(
        anchors_on(graph), graph.num_nodes, Counting("frequency", walks, WALK_LENGTH, None), seed=0
    )
    job.matrix(walker, np.arange(graph.num_nodes, dtype=np.uint32))


def step_seconds(graph: gr.Graph) -> float:
    """Seconds of a step in this process, by one thread."""
    job = job_on(graph, NUM_WALKS)
    before = numba.get_num_threads()
    numba.set_num_threads(1)

    def walk() -> None:
        gr.reachability(graph, anchors_on(graph), num_walks=NUM_WALKS, walk_length=WALK_LENGTH, layout="dense")

    walk()
    begin = time.perf_counter()
    walk()
    seconds = time.perf_counter() - begin
    numba.set_num_threads(before)
    return seconds / job.steps


def moved_seconds() -> float:
    """Core seconds of a byte from a worker's array to the caller's."""
    import ray

    pieces = 32
    task = ray.remote(num_cpus=1)(lambda: _one_array())

    def move() -> float:
        begin = time.perf_counter()
        out = np.empty((pieces, PIECE_BYTES), np.uint8)
        waiting: list[Any] = []
        for number in range(pieces):
            waiting.append(task.remote())
            if len(waiting) > 2 * CORES:
                out[number - 2 * CORES] = ray.get(waiting.pop(0))
        for number, reference in enumerate(waiting, pieces - len(waiting)):
            out[number] = ray.get(reference)
        return CORES * (time.perf_counter() - begin) / out.nbytes

    move()  # the object stores' memory is new at first
    return statistics.median(move() for _ in range(3))


@cache
def _one_array() -> Any:
    return np.ones(PIECE_BYTES, np.uint8)


def calibrate(graphs: dict[int, gr.Graph], scale: int) -> tuple[Constants, dict[str, Any]]:
    """The constants; in a cluster of ``NODES`` nodes of one core."""
    tiny, graph = graphs[min(graphs)], graphs[scale]
    steps = {n: step_seconds(each) for n, each in graphs.items() if n >= scale}
    table = tuple((float(stored_bytes(graphs[n])), seconds) for n, seconds in steps.items())
    raw: dict[str, Any] = {"step_seconds": steps}
    seconds_on(tiny, 1, None)
    raw["replicated_start"] = seconds_on(tiny, 1, None, rounds=3)
    start = raw["replicated_start"]["seconds"]
    moved_byte = moved_seconds()
    seconds_on(tiny, 1, PARTS)
    raw["partitioned_start"] = seconds_on(tiny, 1, PARTS, rounds=3)
    waves = (64 << scale, 256 << scale)  # at 2^16 nodes batches of the first are large enough for the object store
    job = job_on(graph, 10 * NUM_WALKS)
    for steps_of_wave in waves:
        with waves_of(steps_of_wave):
            raw[f"waves of {steps_of_wave}"] = seconds_on(graph, 10 * NUM_WALKS, PARTS)
    small, large = (raw[f"waves of {each}"] for each in waves)
    more = job.tasks(PARTS, waves[0]) - job.tasks(PARTS, waves[1])
    task = CORES * (small["seconds"] - large["seconds"]) / more
    idle = raw["partitioned_start"]["seconds"]
    moved = (job.graph_bytes + job.result_bytes) * moved_byte
    walker = (CORES * (large["seconds"] - idle) - job.tasks(PARTS, waves[1]) * task - moved) / job.steps
    driver = (small["cpu"] - large["cpu"]) / more
    found = Constants(table, start, moved_byte, idle, walker, job.graph_bytes / PARTS, task, driver)
    return found, raw


class waves_of:  # noqa: N801
    """Waves of so many steps within the block."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def __enter__(self) -> None:
        self.before = partitioned.LEAST_STEPS, partitioned.MOST_STEPS
        partitioned.LEAST_STEPS = partitioned.MOST_STEPS = self.steps

    def __exit__(self, *error: object) -> None:
        partitioned.LEAST_STEPS, partitioned.MOST_STEPS = self.before


def cost(quick: bool) -> list[Row]:
    """Predicted against measured."""
    scales = (12, 13) if quick else (18, 20, 22)
    calibration = 10 if quick else 16
    graphs = {n: rmat_graph(n) for n in (8, calibration, *scales)}
    with ray_nodes(NODES, quick):
        constants, raw = calibrate(graphs, calibration)
        checks = [checked(constants, graphs[n], n) for n in scales]
    raw["constants"] = asdict(constants)
    raw["checks"] = checks
    names = {
        "replicated": "time with the whole graph on every node",
        "partitioned": "time with the graph in 4 parts",
        "bytes_moved": "bytes moved with the graph in 4 parts",
        "part_bytes": "bytes of the largest part",
    }
    sizes = {"scales": list(scales), "calibration": calibration, "walks": NUM_WALKS, "walk_length": WALK_LENGTH}
    return [
        Row(
            f"cost model: {text}, predicted against measured, the worst of 2^{scales[0]} to 2^{scales[-1]} nodes",
            "at most",
            1.3,
            float(max(off(check[name]) for check in checks)),
            "times off",
            sizes=sizes,
            raw=raw if name == "replicated" else {},
            notes=[NOTE] if name == "replicated" else [],
        )
        for name, text in names.items()
    ]


def off(check: dict[str, float]) -> float:
    """How many times one is the other."""
    return max(check["predicted"] / check["measured"], check["measured"] / check["predicted"])


def checked(constants: Constants, graph: gr.Graph, scale: int) -> dict[str, Any]:
    """What the model says of a graph, and what is so."""
    job = job_on(graph, NUM_WALKS)
    seconds_on(graph, NUM_WALKS, None)  # the graph's table is made once
    whole = seconds_on(graph, NUM_WALKS, None, rounds=3)
    parts = seconds_on(graph, NUM_WALKS, PARTS)
    table = partitioned.part_bounds(graph, PARTS)
    largest = max(stored_bytes_between(graph, low, high) for low, high in pairwise(table))
    found: dict[str, tuple[float, Callable[[], float]]] = {
        "replicated": (whole["seconds"], lambda: constants.replicated(job, CORES, NODES)),
        "partitioned": (parts["seconds"], lambda: constants.partitioned(job, PARTS, CORES)),
        "bytes_moved": (parts["use"]["bytes_moved"], lambda: constants.bytes_moved(job, NODES)),
        "part_bytes": (largest, lambda: job.graph_bytes / PARTS),
    }
    pairs = {name: {"measured": measured, "predicted": predict()} for name, (measured, predict) in found.items()}
    return {"scale": scale, "nodes": graph.num_nodes, "edges": graph.num_edges, **pairs}


def stored_bytes_between(graph: gr.Graph, low: int, high: int) -> int:
    """Bytes of some rows."""
    shard = partitioned.shard_of(graph, low, high)
    return sum(array.nbytes for array in shard[1:] if array is not None)


BENCHMARKS = {"cluster-cost": cost}


# --- the page -------------------------------------------------------------------------------------------------------

BILLION = Job(nodes=10**9, graph_bytes=8 * 10**9 + 4 * 2 * 10**11, moving=1.0, walks=50, length=20, result_bytes=0)
"""A billion nodes, a hundred billion undirected edges; embeddings are written by the workers."""
CORES_PER_MACHINE = 64
BANDWIDTH = 1.25e9
"""Bytes per second of a machine's network: ten gigabits."""
MACHINES = (8, 16, 32, 64, 128)


def figures(record: dict[str, Any]) -> str:
    """The part of the page that comes from the results."""
    raw = record["rows"][0]["raw"]
    constants = Constants(**raw["constants"])
    return "\n".join([*_constants_table(constants), "", *_checks_table(raw["checks"]), "", *_billion_table(constants)])


def _constants_table(c: Constants) -> list[str]:
    rows = [
        *(
            (f"`t({size / 1e6:,.0f} MB)`", f"{seconds * 1e9:.0f} ns", "a step, on one core")
            for size, seconds in c.steps
        ),
        ("`walker`", f"{c.walker * 1e9:.0f} ns", "a step of a walker that travels, all cores together"),
        ("`task`", f"{c.task * 1e3:.1f} ms", "a task of a part, all cores together"),
        ("`driver`", f"{c.driver_task * 1e3:.1f} ms", "of which in the program that called"),
        ("`byte`", f"{c.moved_byte * 1e9:.2f} ns", "a byte between the program and a node, all cores together"),
        (
            "`start`",
            f"{c.replicated_start:.2f} s, {c.partitioned_start:.1f} s",
            "a call without work, replicated and in parts",
        ),
    ]
    return ["| constant | measured | of |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]


def _checks_table(checks: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| nodes | replicated: predicted, measured | 4 parts: predicted, measured | moved: predicted, measured |",
        "|---|---|---|---|",
    ]
    for check in checks:
        cells = [f"2^{check['scale']}"]
        for name, scale, unit in (("replicated", 1, "s"), ("partitioned", 1, "s"), ("bytes_moved", 1e-6, "MB")):
            pair = check[name]
            cells.append(f"{pair['predicted'] * scale:,.1f} {unit}, {pair['measured'] * scale:,.1f} {unit}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def on_paper(c: Constants, job: Job, machines: int, parts: int) -> dict[str, float]:
    """Seconds of each that may be the slowest, where they are on different machines; and the memory of a machine."""
    tasks = job.tasks(parts)
    walkers = 2 * partitioned.WALKER_BYTES * wave_steps(job.graph_bytes, job.length) / job.length
    return {
        "workers": (job.steps * c.walker_on(job.graph_bytes / parts) + tasks * (c.task - c.driver_task)) / parts,
        "driver": tasks * c.driver_task,
        "network": WALKER * job.steps * (1 - 1 / machines) / machines / BANDWIDTH,
        "memory": job.graph_bytes / machines + NODE_BYTES * job.nodes + walkers,
    }


def slowest(costs: dict[str, float]) -> float:
    """Seconds of a run."""
    return max(costs["workers"], costs["driver"], costs["network"])


def _billion_table(c: Constants) -> list[str]:
    lines = [
        "| machines | parts | memory of each | workers | driver | network | a whole run |",
        "|---|---|---|---|---|---|---|",
    ]
    for machines in MACHINES:
        choices = [machines * each for each in range(1, CORES_PER_MACHINE + 1)]
        parts = min(choices, key=lambda each: slowest(on_paper(c, BILLION, machines, each)))
        costs = on_paper(c, BILLION, machines, parts)
        hours = [costs["workers"], costs["driver"], costs["network"], slowest(costs)]
        cells = [
            str(machines),
            str(parts),
            f"{costs['memory'] / 1e9:,.0f} GB",
            *(f"{each / 3600:,.2f} h" for each in hours),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def write_page() -> None:
    """Put the figures into the page."""
    text = PAGE.read_text(encoding="utf-8")
    begin, end = (text.index(marker) for marker in MARKERS)
    record = json.loads((RESULTS / "cluster-cost.json").read_text(encoding="utf-8"))
    PAGE.write_text(text[: begin + len(MARKERS[0])] + "\n" + figures(record) + "\n" + text[end:], encoding="utf-8")


if __name__ == "__main__":
    write_page()

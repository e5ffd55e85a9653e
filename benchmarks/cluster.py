"""A Ray cluster of several nodes on this machine, against this process alone."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphreach as gr
from benchmarks.harness import Row, alternate, ratios, summary, timed
from benchmarks.rmat import rmat_graph
from benchmarks.walks import nodes_with_neighbours
from graphreach.cluster.partitioned import WAVES, wave_steps
from graphreach.cluster.partitioned_graph import stored_bytes
from graphreach.reachability.sampled import Counting, CountToAnchors

WALK_LENGTH = 20
PARTS = 4
# A lost node is noticed after at most five seconds, not half a minute.
HEALTH = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 1000, "health_check_failure_threshold": 5}
NOTE = "All nodes are on this machine, each with an object store of its own and one CPU; the driver's node has none."
ONE_NODE = "A Ray of this machine alone, as engine='ray' without an address starts it."


@contextmanager
def ray_nodes(count: int, quick: bool) -> Iterator[Any]:
    """A cluster of nodes of one CPU on loopback, and a connection to it."""
    from ray.cluster_utils import Cluster

    node = {"object_store_memory": (1 if quick else 15) * 10**8, "node_ip_address": "127.0.0.1"}
    head = {**node, "num_cpus": 0, "include_dashboard": False, "_system_config": HEALTH}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(count):
            cluster.add_node(num_cpus=1, **node)
        with gr.cluster.connected(cluster.address):
            yield cluster
    finally:
        cluster.shutdown()


class Work:
    """The graph, and what is computed on it here or on the cluster."""

    def __init__(self, quick: bool) -> None:
        self.scale = 12 if quick else 20
        self.graph = rmat_graph(self.scale)
        self.anchors = np.random.default_rng(0).choice(nodes_with_neighbours(self.graph), 100, replace=False)

    def walks(self, **place: Any) -> NDArray[Any]:
        """Ten stored walks from each node."""
        return gr.random_walks(self.graph, num_walks=10, walk_length=WALK_LENGTH, **place)

    def reach(self, **place: Any) -> gr.Reachability:
        """Reachability to and from 100 anchors by fifty walks from each node."""
        return gr.reachability(self.graph, self.anchors, walk_length=WALK_LENGTH, layout="dense", **place)

    def both(self) -> dict[str, Callable[..., Any]]:
        """What is measured, by name."""
        return {"walks": self.walks, "reachability": self.reach}

    @property
    def sizes(self) -> dict[str, Any]:
        """Sizes of the graph and of the walks."""
        size = {"nodes": self.graph.num_nodes, "edges": self.graph.num_edges}
        return {**size, "anchors": len(self.anchors), "walk_length": WALK_LENGTH}

    @property
    def graph_bytes(self) -> int:
        """Bytes of the whole graph."""
        return self.graph.indptr.nbytes + self.graph.indices.nbytes


def replicated(quick: bool) -> list[Row]:
    """Two workers of one core against two threads."""
    work = Work(quick)
    with gr.cluster.connected():
        rows = against_local(work, "2 workers of 1 core", ONE_NODE)
    with ray_nodes(2, quick):
        return rows + against_local(work, "2 nodes of 1 core that send results to a third", NOTE)


def against_local(work: Work, workers: str, note: str) -> list[Row]:
    """What workers of a Ray that this process is connected to do, against two threads."""
    rows = []
    for name, function in work.both().items():
        engine = gr.cluster.Ray()
        check_same(function(), function(engine=engine))
        sides = {"local": function, "ray": lambda function=function, engine=engine: function(engine=engine)}
        seconds = alternate(sides, rounds=3, warm_up=False)
        rows.append(
            Row(
                f"{name}, replicated, {workers}, against local with 2 threads, R-MAT 2^{work.scale}",
                "at least",
                0.7,
                ratios(seconds["local"], seconds["ray"])["of_medians"],
                sizes=work.sizes,
                raw={
                    "use": engine.last_use.as_dict(),  # type: ignore[union-attr]
                    **{side: summary(values) for side, values in seconds.items()},
                },
                notes=[note],
            )
        )
    return rows


def partitioned(quick: bool) -> list[Row]:
    """Four parts against the replicated layout, both on two workers' cores; and the memory of a part's worker."""
    work = Work(quick)
    with ray_nodes(2, quick) as cluster:
        in_parts = gr.cluster.Ray(partitions=PARTS)
        whole, parts = (work.reach(engine=engine) for engine in ("ray", in_parts))
        check_same(whole, parts)
        del whole, parts
        sides = {
            "replicated": lambda: work.reach(engine="ray"),
            "partitioned": lambda: work.reach(engine=in_parts),
        }
        seconds = alternate(sides, rounds=1 if quick else 2, warm_up=False)
        use = in_parts.last_use.as_dict()  # type: ignore[union-attr]
        memory = workers_memory(work, cluster.address)
    return [
        Row(
            f"reachability, 4 partitions, against replicated, R-MAT 2^{work.scale}",
            "at least",
            0.1,
            ratios(seconds["replicated"], seconds["partitioned"])["of_medians"],
            sizes=work.sizes,
            raw={"use": use, **{side: summary(values) for side, values in seconds.items()}},
            notes=[NOTE],
        ),
        Row(
            f"memory that a worker of 4 partitions takes for its part and its walkers, R-MAT 2^{work.scale}",
            "at most",
            0.35,
            max(memory["growth"]) / work.graph_bytes,
            "of the whole graph",
            sizes={**work.sizes, "graph_bytes": work.graph_bytes},
            raw=memory,
            notes=[
                "The graph is in parts on disk. A worker's private memory, looked at every few milliseconds, above that of"
                " a worker that did the same on 256 nodes, and its share of the walkers in the nodes' object stores."
            ],
        ),
    ]


def workers_memory(work: Work, address: str) -> dict[str, Any]:
    """How far the memory of each worker, with what it shares with the others, is above one with hardly any graph."""
    small = rmat_graph(8)
    base = max(watched_memory(small, nodes_with_neighbours(small)[:100], address))
    own = [each - base for each in watched_memory(work.graph, work.anchors, address)]
    walkers = wave_steps(stored_bytes(work.graph), WALK_LENGTH) // WALK_LENGTH
    in_flight = 2 * WAVES * 8 * walkers // PARTS  # of a walker where it was and where it is now
    return {"own": own, "in_flight": in_flight, "growth": [each + in_flight for each in own]}


def watched_memory(graph: gr.Graph, anchors: NDArray[Any], address: str) -> list[int]:
    """The most private memory of each part's worker during reachability of a graph in parts on disk."""
    import ray

    with tempfile.TemporaryDirectory() as folder:
        stored = gr.cluster.write_partitions(graph, folder, PARTS)
        with gr.cluster.Ray(address).walker(stored) as layout:
            pids = [found["pid"] for found in ray.get([part.memory.remote() for part in layout.parts])]  # type: ignore
            most = dict.fromkeys(pids, 0)
            ended = threading.Event()

            def watch() -> None:
                while not ended.wait(0.002):
                    for pid in pids:
                        most[pid] = max(most[pid], private_bytes(pid))

            watcher = threading.Thread(target=watch)
            watcher.start()
            job = CountToAnchors.make(anchors, graph.num_nodes, Counting("frequency", 50, WALK_LENGTH, None), seed=0)
            job.matrix(layout, np.arange(graph.num_nodes, dtype=np.uint32))
            ended.set()
            watcher.join()
    return list(most.values())


def private_bytes(pid: int) -> int:
    """Memory that a process shares with no other."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def lost_node(quick: bool) -> list[Row]:
    """One of three nodes is killed in the middle."""
    work = Work(quick)
    expected = work.reach()
    with ray_nodes(3, quick) as cluster:
        work.reach(engine="ray")
        undisturbed = timed(lambda: work.reach(engine="ray"))
        victim = next(iter(cluster.worker_nodes))
        killer = threading.Timer(undisturbed / 2, cluster.remove_node, (victim, False))
        killer.start()
        found: list[gr.Reachability] = []
        disturbed = timed(lambda: found.append(work.reach(engine="ray")))
        killer.join()
    check_same(expected, found[0])
    return [
        Row(
            f"reachability with one of 3 nodes killed half-way, against undisturbed, R-MAT 2^{work.scale}",
            "at most",
            2,
            disturbed / undisturbed,
            sizes=work.sizes,
            raw={"undisturbed": undisturbed, "disturbed": disturbed},
            notes=["The result is the same bit for bit.", NOTE],
        )
    ]


def identical(quick: bool) -> list[Row]:
    """Results that are not the local ones bit for bit, on 1, 2, 3 and 5 workers, in both layouts."""
    scale = 8 if quick else 14
    differing: list[str] = []
    compared = 0
    kinds = [(directed, weighted) for directed in (False, True) for weighted in (False, True)]
    graphs = {kind: _graph_of_kind(scale, *kind) for kind in kinds}
    with ray_nodes(0, quick) as cluster:
        for workers in (1, 2, 3, 5):
            while len(cluster.worker_nodes) < workers:
                cluster.add_node(num_cpus=1, object_store_memory=10**8, node_ip_address="127.0.0.1")
            cluster.wait_for_nodes()
            for (directed, weighted), graph in graphs.items():
                for partitions in (None, workers):
                    for name, found, expected in _results(graph, partitions):
                        compared += 1
                        if found != expected:
                            differing.append(f"{name}, {workers=}, {partitions=}, {directed=}, {weighted=}")
    return [
        Row(
            "walks, anchors and reachability on 1, 2, 3 and 5 workers, both layouts, that differ in a bit from local",
            "at most",
            0,
            len(differing),
            f"of {compared} results",
            sizes={"nodes": 2**scale, "kinds": "directed and undirected, weighted and not"},
            raw={"differing": differing},
        )
    ]


def _graph_of_kind(scale: int, directed: bool, weighted: bool) -> gr.Graph:
    source, target = rmat_graph(scale).edge_index
    keep = source < target
    edges = np.stack([source[keep], target[keep]])
    weight = np.random.default_rng(0).random(edges.shape[1]) + 0.1 if weighted else None
    return gr.Graph.from_edges(edges, edge_weight=weight, directed=directed, num_nodes=2**scale)


def _results(graph: gr.Graph, partitions: int | None) -> Iterator[tuple[str, bytes, bytes]]:
    """Each result on the cluster and here, as bytes."""
    there: dict[str, Any] = {"engine": gr.cluster.Ray(partitions=partitions)}
    options: dict[str, Any] = {"num_walks": 5, "walk_length": 6}
    anchors = nodes_with_neighbours(graph)[:20]

    def walks(**place: Any) -> bytes:
        return gr.random_walks(graph, **options, **place).tobytes()

    def chosen(**place: Any) -> bytes:
        return gr.select_anchors(graph, 20, num_starts=500, **options, **place).anchors.tobytes()

    def reach(**place: Any) -> bytes:
        found = gr.reachability(graph, anchors, layout="dense", **options, **place)
        return found.to_anchors.tobytes() + found.from_anchors.tobytes()

    for name, function in {"walks": walks, "anchors": chosen, "reachability": reach}.items():
        yield name, function(**there), function()


def check_same(one: Any, other: Any) -> None:
    """Refuse to measure what does not give the same result."""
    pairs = [(one, other)]
    if isinstance(one, gr.Reachability):
        pairs = [(getattr(one, name), getattr(other, name)) for name in ("to_anchors", "from_anchors")]
    if not all(np.array_equal(a, b) for a, b in pairs):
        raise RuntimeError("both sides must give the same numbers")


BENCHMARKS = {
    "cluster-replicated": replicated,
    "cluster-partitioned": partitioned,
    "cluster-lost-node": lost_node,
    "cluster-identical": identical,
}

"""The model: a training step against the literal equations, the pair decoder, growth, and batches of small graphs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

import graphreach as gr
from benchmarks.harness import FOLDER, THREADS, Row, alternate, ratios, summary, thread_environment
from benchmarks.literal_model import LiteralGraphReach
from graphreach.limits import reused_memory
from graphreach.nn.device import without_kernels
from graphreach.threads import one_torch_thread

NODES, ANCHORS, WIDTH, PAIRS = 2708, 121, 32, 8400
"""Cora's shape."""


def cora_shape(nodes: int) -> tuple[gr.nn.Positions, torch.Tensor, torch.Tensor]:
    """Positions of a random graph of Cora's size, pairs and their labels."""
    rng = np.random.default_rng(0)
    graph = gr.Graph.from_edges(rng.integers(0, nodes, (2, 2 * nodes)), num_nodes=nodes)
    anchors = gr.select_anchors(graph, ANCHORS, walk_length=19)
    reach = gr.reachability(graph, anchors, walk_length=19).rescaled("counts")
    pairs = torch.from_numpy(rng.integers(0, nodes, (2, PAIRS)))
    return reach.to_torch(), pairs, torch.from_numpy(rng.integers(0, 2, PAIRS)).float()


@contextmanager
def as_in_training() -> Iterator[None]:
    """What the trainer does around its steps."""
    with one_torch_thread(), reused_memory():
        yield


def trainer(
    model: torch.nn.Module, embed: Callable[[], torch.Tensor], score: Any, labels: torch.Tensor
) -> Callable[[], None]:
    """A full step with Adam."""
    optimizer = torch.optim.Adam(model.parameters(), 0.01, fused=True)

    def step() -> None:
        loss = F.binary_cross_entropy_with_logits(score(embed()), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def our_step(preset: str, aggregation: str, nodes: int = NODES) -> Callable[[], None]:
    """One step of the model."""
    positions, pairs, labels = cora_shape(nodes)
    arguments = {**gr.nn.PRESETS[preset].model, "aggregation": aggregation}
    model = gr.nn.GraphReach(0, WIDTH, **arguments)
    return trainer(model, lambda: model(None, positions), lambda z: model.score_pairs(z, pairs), labels)


def literal_step(preset: str, aggregation: str, nodes: int = NODES) -> Callable[[], None]:
    """One step of the equations as they stand, with PyTorch's indexing for the pairs."""
    positions, pairs, labels = cora_shape(nodes)
    to, back = positions.matrix(positions.to_values), positions.matrix(positions.from_values)
    model = LiteralGraphReach(WIDTH, aggregation, authors=preset == "authors")
    x = torch.ones(nodes, 1)
    return trainer(
        model,
        lambda: model(x, to, back, positions.anchor_index),
        lambda z: (z[pairs[0]] * z[pairs[1]]).sum(-1),
        labels,
    )


STEPS = {"ours": our_step, "literal": literal_step}


def peak_of(side: str, preset: str, aggregation: str) -> float:
    """Memory that training adds to a process, in a process of its own."""
    code = f"from benchmarks.model import added_memory; print(added_memory({side!r}, {preset!r}, {aggregation!r}))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=thread_environment(), cwd=FOLDER.parent
    )
    return float(done.stdout)


def resident(field: str) -> float:
    """A line of /proc/self/status in gigabytes: VmRSS is now, VmHWM the peak since it was reset."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024 / 1e9
    raise RuntimeError(f"{field} is not in /proc/self/status")


def added_memory(side: str, preset: str, aggregation: str) -> float:
    """Gigabytes that two steps add to what is resident before them, with kernels compiled and loaded beforehand."""
    torch.set_num_threads(THREADS)
    STEPS[side](preset, aggregation, nodes=200)()
    step = STEPS[side](preset, aggregation)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    for _ in range(2):
        step()
    return resident("VmHWM") - before


def step(quick: bool, *, preset: str, aggregation: str, bar: float) -> list[Row]:
    """Seconds and memory of a step against the literal implementation."""
    torch.set_num_threads(THREADS)
    sides = {name: make(preset, aggregation) for name, make in STEPS.items()}

    @as_in_training()
    def ours() -> None:
        for _ in range(10):
            sides["ours"]()

    seconds = alternate({"literal": sides["literal"], "ours": ours}, 2 if quick else 7)
    seconds["ours"] = [each / 10 for each in seconds["ours"]]
    measured = ratios(seconds["literal"], seconds["ours"])
    what = f"`{preset}`, {aggregation}, n = {NODES}, k = {ANCHORS}, width {WIDTH}"
    rows = [
        Row(
            f"training step with {PAIRS} pairs, {what}, against the literal equations",
            "at least",
            bar,
            measured["of_medians"],
            sizes={"nodes": NODES, "anchors": ANCHORS, "width": WIDTH, "pairs": PAIRS, "layers": 2},
            raw={"ratio_of_best": measured["of_best"], **{name: summary(values) for name, values in seconds.items()}},
            notes=["Ours as in the trainer: PyTorch on one thread, freed memory reused. The literal has all threads."],
        )
    ]
    memory = {name: peak_of(name, preset, aggregation) for name in STEPS}
    rows.append(
        Row(
            f"memory that training adds, {what}, share of the literal equations'",
            "at most",
            0.1,
            memory["ours"] / memory["literal"],
            raw={f"gigabytes_{name}": value for name, value in memory.items()},
            notes=[
                "Peak resident size in the first two steps less that before them, each side in a process of its own."
            ],
        )
    )
    return rows


def factored(quick: bool) -> list[Row]:
    """Training steps against the factored PyTorch path, which runs where the kernels cannot."""
    torch.set_num_threads(1)  # as in training: sums must not depend on the number of threads
    rows = []
    for preset, aggregation in (("paper", "attention"), ("paper", "mean"), ("authors", "attention")):
        ours = our_step(preset, aggregation)

        def plain(ours: Callable[[], None] = ours) -> None:
            with without_kernels():
                ours()

        seconds = alternate({"factored": plain, "ours": ours}, 3 if quick else 15)
        measured = ratios(seconds["factored"], seconds["ours"])
        rows.append(
            Row(
                f"training step with {PAIRS} pairs, `{preset}`, {aggregation}, n = {NODES}, k = {ANCHORS}, width {WIDTH}, "
                "against the same factored equations in PyTorch",
                "at least",
                1.5,
                measured["of_medians"],
                sizes={"nodes": NODES, "anchors": ANCHORS, "width": WIDTH, "pairs": PAIRS, "layers": 2},
                raw={
                    "ratio_of_best": measured["of_best"],
                    **{name: summary(values) for name, values in seconds.items()},
                },
                notes=["PyTorch on one thread, as training runs it; the kernels on all."],
            )
        )
    torch.set_num_threads(THREADS)
    return rows


def decoder(quick: bool) -> list[Row]:
    """A million dot products, forward and backward."""
    torch.set_num_threads(THREADS)
    m = 10_000 if quick else 1_000_000
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(NODES, ANCHORS, generator=generator, requires_grad=True)
    pairs = torch.randint(NODES, (2, m), generator=generator)
    gradient = torch.randn(m, generator=generator)

    def ours() -> Any:
        return torch.autograd.grad(gr.nn.pair_dot(z, pairs), z, gradient)

    def fresh() -> Any:
        return torch.autograd.grad(gr.nn.pair_dot(z, pairs.clone()), z, gradient)

    def plain() -> Any:
        return torch.autograd.grad((z[pairs[0]] * z[pairs[1]]).sum(-1), z, gradient)

    seconds = alternate({"pytorch": plain, "ours": ours, "ours_new_pairs": fresh}, 2 if quick else 5)
    measured = ratios(seconds["pytorch"], seconds["ours"])
    return [
        Row(
            f"pair decoder, {m} pairs of width {ANCHORS}, forward and backward, against PyTorch indexing",
            "at least",
            30,
            measured["of_medians"],
            raw={
                "ratio_of_best": measured["of_best"],
                "ratio_of_medians_new_pairs": ratios(seconds["pytorch"], seconds["ours_new_pairs"])["of_medians"],
                **{name: summary(values) for name, values in seconds.items()},
            },
            notes=["The same pairs in every step; for pairs that are new in each step the ratio is in the result."],
        )
    ]


def growth(quick: bool) -> list[Row]:
    """Seconds a node of a training step, 10^5 and 10^6 nodes, k = 64."""
    torch.set_num_threads(THREADS)
    sizes = (1_000, 10_000) if quick else (100_000, 1_000_000)
    sides = {}
    for n in sizes:
        rng = np.random.default_rng(0)
        graph = gr.Graph.from_edges(rng.integers(0, n, (2, 8 * n)), num_nodes=n)
        reach = gr.reachability(graph, rng.choice(n, 64, replace=False), walk_length=5, num_walks=20, layout="dense")
        positions = reach.to_torch()
        pairs = torch.from_numpy(rng.integers(0, n, (2, 2 * n)))
        model = gr.nn.GraphReach(0, WIDTH)
        labels = torch.from_numpy(rng.integers(0, 2, 2 * n)).float()

        def embed(model: Any = model, positions: Any = positions) -> torch.Tensor:
            return model(None, positions)

        def score(z: torch.Tensor, model: Any = model, pairs: Any = pairs) -> torch.Tensor:
            return model.score_pairs(z, pairs)

        sides[str(n)] = trainer(model, embed, score, labels)
    with as_in_training():
        seconds = alternate(sides, 2 if quick else 5)
    per_node = {name: [each / int(name) for each in values] for name, values in seconds.items()}
    small, large = (per_node[str(n)] for n in sizes)
    measured = ratios(large, small)
    return [
        Row(
            f"growth of time per node of a training step from {sizes[0]} to {sizes[1]} nodes, k = 64",
            "at most",
            1.25,
            measured["of_medians"],
            raw={"ratio_of_best": measured["of_best"], **{name: summary(values) for name, values in seconds.items()}},
        )
    ]


def protein_shape(graphs: int) -> list[gr.nn.Positions]:
    """Small graphs, 39 nodes on average, the largest 504."""
    rng = np.random.default_rng(0)
    sizes = np.clip(rng.gamma(1.2, 32, graphs).astype(int), 4, 503)
    sizes[0] = 504
    positions = []
    for n in sizes:
        ring = np.arange(n)
        extra = rng.integers(0, n, (2, n))
        graph = gr.Graph.from_edges(np.concatenate([[ring, (ring + 1) % n], extra], 1), num_nodes=int(n))
        anchors = gr.select_anchors(graph, walk_length=10, strategy="degree")
        positions.append(gr.reachability(graph, anchors, walk_length=10, method="exact", layout="csr"))
    return positions


def many_graphs(quick: bool) -> list[Row]:
    """A step on all graphs in one batch, against one forward and backward a graph."""
    from scipy.sparse import block_diag

    torch.set_num_threads(THREADS)
    reaches = protein_shape(50 if quick else 1113)
    sizes = [reach.num_nodes for reach in reaches]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    batch = torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes))
    anchor_index = torch.from_numpy(np.concatenate([r.anchors + o for r, o in zip(reaches, offsets, strict=False)]))
    matrices = [block_diag([getattr(r, name) for r in reaches], "csr") for name in ("to_anchors", "from_anchors")]
    whole = gr.nn.Positions.compressed(*matrices, anchor_index, batch)
    apart = [reach.to_torch() for reach in reaches]
    rng = np.random.default_rng(1)
    pairs = [torch.from_numpy(rng.integers(0, n, (2, 2 * n))) for n in sizes]
    labels = [torch.from_numpy(rng.integers(0, 2, 2 * n)).float() for n in sizes]
    all_pairs = torch.cat([p + o for p, o in zip(pairs, offsets.tolist(), strict=False)], 1)
    all_labels = torch.cat(labels)
    model = gr.nn.GraphReach(0, WIDTH)
    optimizer = torch.optim.Adam(model.parameters(), 0.01, fused=True)

    def one_batch() -> None:
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(model.score_pairs(model(None, whole), all_pairs), all_labels).backward()
        optimizer.step()

    def one_by_one() -> None:
        for each, p, y in zip(apart, pairs, labels, strict=True):
            optimizer.zero_grad()
            F.binary_cross_entropy_with_logits(model.score_pairs(model(None, each), p), y).backward()
            optimizer.step()

    with as_in_training():
        seconds = alternate({"one by one": one_by_one, "one batch": one_batch}, 2 if quick else 5)
    measured = ratios(seconds["one by one"], seconds["one batch"])
    return [
        Row(
            f"{len(sizes)} graphs of {np.mean(sizes):.0f} nodes (largest {max(sizes)}), one batch against one by one",
            "at least",
            25,
            measured["of_medians"],
            sizes={"graphs": len(sizes), "nodes": int(sum(sizes)), "largest": int(max(sizes))},
            raw={"ratio_of_best": measured["of_best"], **{name: summary(values) for name, values in seconds.items()}},
            notes=["k differs by graph; compressed layout, no padding; with pairs and Adam on both sides."],
        )
    ]


BENCHMARKS = {
    "step-attention": partial(step, preset="paper", aggregation="attention", bar=100),
    "step-mean": partial(step, preset="paper", aggregation="mean", bar=100),
    "step-authors": partial(step, preset="authors", aggregation="attention", bar=60),
    "step-factored": factored,
    "decoder": decoder,
    "node-growth": growth,
    "many-graphs": many_graphs,
}

"""Walking: what counting adds to it, and how it grows with the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint64
from numpy.typing import NDArray

import graphreach as gr
from benchmarks.harness import Row, alternate, ratios, summary
from benchmarks.rmat import rmat_graph
from graphreach.jit import parallel_kernel
from graphreach.reachability.sampled import Counting, CountToAnchors
from graphreach.walks.engine import LocalWalker, transitions
from graphreach.walks.kernels import BLOCK, advance, enter, new_block, rows_per_block

NUM_WALKS, WALK_LENGTH = 50, 20


@parallel_kernel
def run_walks(
    share: Any, indptr: Any, indices: Any, alias: Any, starts: Any, num_walks: Any, walk_length: Any, seed: Any,
    checksums: Any,
) -> None:  # fmt: skip
    """Walk and keep nothing but a checksum of the last nodes."""
    rows = rows_per_block(num_walks)
    for b in range(share[0], (len(starts) + rows - 1) // rows, share[1]):
        block = new_block()
        row, end = b * rows, min((b + 1) * rows, len(starts))
        total = uint64(0)
        for first in range(0, num_walks, BLOCK):
            count = enter(block, starts, row, end, num_walks, walk_length, first, seed)
            for step in range(1, walk_length + 1):
                advance(indptr, indices, alias, block, count, step)
            for i in range(count):
                total += uint64(block[0][i])
        checksums[b] = total


def walk_only(graph: gr.Graph, starts: NDArray[np.uint32], num_walks: int, walk_length: int, seed: int = 0) -> Any:
    """A streaming pass that keeps nothing: the cost of walking alone."""
    checksums = np.zeros(len(starts), np.uint64)
    run_walks(*transitions(graph), starts, num_walks, walk_length, seed, checksums)
    return checksums


def nodes_with_neighbours(graph: gr.Graph) -> NDArray[np.uint32]:
    """Starts whose walks make every step."""
    return np.flatnonzero(np.diff(graph.indptr.astype(np.int64))).astype(np.uint32)


def count_to_anchors(graph: gr.Graph, anchors: NDArray[Any]) -> NDArray[np.float32]:
    """s(v, a) from every node, counted into a new n x k array."""
    out = np.empty((graph.num_nodes, len(anchors)), np.float32)
    job = CountToAnchors.make(anchors, graph.num_nodes, Counting("frequency", NUM_WALKS, WALK_LENGTH, None), seed=0)
    LocalWalker(graph).fill(job, np.arange(graph.num_nodes, dtype=np.uint32), out, "walks to anchors")
    return out


def counting(quick: bool) -> list[Row]:
    """Visits to 400 anchors against the walks alone, both from every node."""
    scale = 14 if quick else 18
    graph = rmat_graph(scale)
    every = np.arange(graph.num_nodes, dtype=np.uint32)
    settings = {"num_walks": NUM_WALKS, "walk_length": WALK_LENGTH}
    greedy = gr.select_anchors(graph, 400, **settings).anchors
    random = np.random.default_rng(0).choice(nodes_with_neighbours(graph), 400, replace=False)
    seconds = alternate(
        {
            "walking": lambda: walk_only(graph, every, NUM_WALKS, WALK_LENGTH),
            "counting": lambda: count_to_anchors(graph, greedy),
            "counting_random_anchors": lambda: count_to_anchors(graph, random),
            "reachability_both_directions": lambda: gr.reachability(graph, greedy, method="walks", **settings),
            "storing": lambda: gr.random_walks(graph, **settings),
        },
        rounds=3 if quick else 5,
    )
    against_walking = {name: ratios(values, seconds["walking"])["of_medians"] for name, values in seconds.items()}
    return [
        Row(
            f"counting visits to 400 greedy anchors against producing walks only, R-MAT 2^{scale}",
            "at most",
            1.5,
            against_walking["counting"],
            sizes={"nodes": graph.num_nodes, "edges": graph.num_edges, "anchors": 400, **settings},
            raw={
                "ratio_of_best": ratios(seconds["counting"], seconds["walking"])["of_best"],
                "ratio_to_stored_walks": ratios(seconds["counting"], seconds["storing"])["of_medians"],
                "ratios_to_walking": against_walking,
                **{name: summary(values) for name, values in seconds.items()},
            },
            notes=[
                "Walking keeps nothing; counting fills s(v, a), n x k, allocation included.",
                "Greedy anchors are hubs and catch many visits; random ones, both directions and stored walks "
                "are in the result.",
            ],
        )
    ]


def growth(quick: bool) -> list[Row]:
    """Nanoseconds per step on ever larger graphs, the same number of steps on each."""
    scales = (10, 12, 14) if quick else (14, 16, 18, 20, 22)
    num_starts = 1 << (scales[0] - 1)
    num_walks = (1 << (22 if quick else 26)) // (num_starts * WALK_LENGTH)
    rng = np.random.default_rng(0)
    sides = {}
    for scale in scales:
        graph = rmat_graph(scale)
        starts = np.sort(rng.choice(nodes_with_neighbours(graph), num_starts, replace=False))
        sides[str(scale)] = _spread_walks(graph, starts, num_walks)
    seconds = alternate(sides, rounds=3 if quick else 9)
    steps = num_starts * num_walks * WALK_LENGTH
    first, last = str(scales[0]), str(scales[-1])
    grown = ratios(seconds[last], seconds[first])
    return [
        Row(
            f"growth of walk time per step from 2^{first} to 2^{last} nodes",
            "at most",
            6,
            grown["of_medians"],
            sizes={
                "scales": scales,
                "num_starts": num_starts,
                "num_walks": num_walks,
                "walk_length": WALK_LENGTH,
            },
            raw={
                "ratio_of_best": grown["of_best"],
                "nanoseconds_per_step": {name: summary(s)["median"] / steps * 1e9 for name, s in seconds.items()},
                "seconds": seconds,
            },
            notes=["Streaming walks that keep nothing, from the same number of random starts on each graph."],
        )
    ]


def _spread_walks(graph: gr.Graph, starts: NDArray[np.uint32], num_walks: int) -> Any:
    """One side of the growth benchmark, bound to its graph."""
    return lambda: walk_only(graph, starts, num_walks, WALK_LENGTH)


BENCHMARKS = {"counting": counting, "growth": growth}

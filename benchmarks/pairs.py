"""A million pairs on a graph of a million edges."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

import graphreach as gr
from benchmarks.exact import transition_matrix
from benchmarks.harness import Row, alternate, summary
from benchmarks.rmat import rmat_edges, uniform_edges

WALK_LENGTH = 5
# scipy would take minutes for a million pairs, so it gets a sample of their first nodes.
SCIPY_SOURCES = 200


def link_pairs(graph: gr.Graph, num_pairs: int) -> NDArray[np.int64]:
    """Half edges, half random pairs, as link prediction asks for them."""
    rng = np.random.default_rng(0)
    edges = np.asarray(graph.edge_index).T
    positive = edges[rng.integers(0, len(edges), num_pairs // 2)]
    negative = rng.integers(0, graph.num_nodes, (num_pairs - len(positive), 2))
    return np.concatenate([positive, negative]).astype(np.int64)


def by_sparse_rows(matrix: csr_array, pairs: NDArray[np.int64]) -> NDArray[np.float32]:
    """s(u, v) by sparse rows of the powers of P, one for each first node: scipy without n x n."""
    sources, where = np.unique(pairs[:, 0], return_inverse=True)
    power = matrix[sources]
    result = np.zeros(len(pairs), np.float32)
    for step in range(WALK_LENGTH):
        if step:
            power = power @ matrix
        result += power[where, pairs[:, 1]]
    return result / WALK_LENGTH


def _largest_difference(graph: gr.Graph, matrix: csr_array, pairs: NDArray[np.int64]) -> float:
    """Between s(u, v) of ours and of scipy; more than 1e-5 stops the benchmark."""
    ours = gr.pair_reachability(graph, pairs.T, method="exact", walk_length=WALK_LENGTH)
    error = float(np.abs(ours[:, 0] - by_sparse_rows(matrix, pairs)).max())
    if error > 1e-5:
        raise RuntimeError(f"both sides must give the same numbers to 1e-5, got a difference of {error:.2g}")
    return error


def million(quick: bool, *, kind: str) -> list[Row]:
    """Exact s(u, v) and s(v, u), and seconds per pair against scipy on a sample."""
    scale, num_edges, num_pairs = (12, 1 << 14, 1 << 13) if quick else (17, 1 << 20, 1_000_000)
    edges = rmat_edges(scale, num_edges) if kind == "R-MAT" else uniform_edges(1 << scale, num_edges)
    graph = gr.Graph.from_edges(edges, num_nodes=1 << scale)
    pairs = link_pairs(graph, num_pairs)
    firsts = np.random.default_rng(1).choice(np.unique(pairs[:, 0]), SCIPY_SOURCES, replace=False)
    sample = pairs[np.isin(pairs[:, 0], firsts)]
    matrix = transition_matrix(graph)
    error = _largest_difference(graph, matrix, sample)
    # the longer side decides how long this takes: R-MAT's hubs make three jumps reach most of the graph
    seconds = alternate(
        {
            "scipy_sample": lambda: by_sparse_rows(matrix, sample),
            "ours": lambda: gr.pair_reachability(graph, pairs.T, method="exact", walk_length=WALK_LENGTH),
        },
        rounds=1 if kind == "R-MAT" else 3,
        warm_up=False,
    )
    ours, scipy = summary(seconds["ours"]), summary(seconds["scipy_sample"])
    ratio = (scipy["median"] / len(sample)) / (ours["median"] / num_pairs)
    return [
        Row(
            f"pair reachability, exact, l = {WALK_LENGTH}, {num_pairs:,} pairs ({ours['median']:.0f} s), {kind}, a million "
            "edges, against scipy's sparse rows, per pair",
            "at least",
            10,
            ratio,
            sizes={
                "nodes": graph.num_nodes,
                "edges": graph.num_edges,
                "pairs": num_pairs,
                "walk_length": WALK_LENGTH,
            },
            raw={"ours": ours, "scipy_sample": scipy, "pairs_in_sample": len(sample), "largest_difference": error},
            notes=["scipy makes one direction only, for a sample of first nodes; ours makes both for all."],
        )
    ]


BENCHMARKS = {
    "pairs-rmat": partial(million, kind="R-MAT"),
    "pairs-uniform": partial(million, kind="uniform"),
}

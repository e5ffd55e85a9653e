"""Exact reachability against the matrix products that define it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

import graphreach as gr
from benchmarks.harness import Row, alternate, ratios, summary
from benchmarks.rmat import rmat_graph


def transition_matrix(graph: gr.Graph) -> csr_array:
    """P = D^-1 A in float32; rows of isolated nodes are zero."""
    adjacency = graph.to_scipy().astype(np.float32)
    degree = adjacency.sum(axis=1)
    inverse = np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0)
    return csr_array(diags_array(inverse) @ adjacency).astype(np.float32)


def mean_of_powers(matrix: csr_array, anchors: NDArray[np.int64], walk_length: int) -> NDArray[np.float32]:
    """1/l sum of the powers 1..l of the matrix, columns of the anchors, by l products with n x k."""
    power = np.zeros((matrix.shape[0], len(anchors)), np.float32)
    power[anchors, np.arange(len(anchors))] = 1
    total = np.zeros_like(power)
    for _ in range(walk_length):
        power = matrix @ power
        total += power
    total /= walk_length
    return total


def exact(quick: bool) -> list[Row]:
    """Both directions, undirected: ours by detailed balance, scipy by 2 l products."""
    scale, k, walk_length = (12, 32, 5) if quick else (17, 128, 10)
    graph = rmat_graph(scale)
    candidates = np.flatnonzero(np.diff(graph.indptr.astype(np.int64)))
    anchors = np.sort(np.random.default_rng(0).choice(candidates, k, replace=False))
    forward = transition_matrix(graph)
    backward = csr_array(forward.T.tocsr())

    def ours() -> Any:
        return gr.reachability(graph, anchors, method="exact", walk_length=walk_length, layout="dense")

    def scipy() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return mean_of_powers(forward, anchors, walk_length), mean_of_powers(backward, anchors, walk_length)

    reach, (to_anchors, from_anchors) = ours(), scipy()
    error = max(np.abs(reach.to_anchors - to_anchors).max(), np.abs(reach.from_anchors - from_anchors).max())
    if error > 1e-5:
        raise RuntimeError(f"both sides must give the same numbers to 1e-5, got a difference of {error:.2g}")
    del reach, to_anchors, from_anchors
    seconds = alternate({"ours": ours, "scipy": scipy}, rounds=3, warm_up=False)
    measured = ratios(seconds["scipy"], seconds["ours"])
    return [
        Row(
            f"exact reachability, both directions, k = {k}, R-MAT 2^{scale}, against scipy `csr @ dense`",
            "at least",
            2.5,
            measured["of_medians"],
            sizes={
                "nodes": graph.num_nodes,
                "edges": graph.num_edges,
                "anchors": k,
                "walk_length": walk_length,
            },
            raw={
                "ratio_of_best": measured["of_best"],
                "largest_difference": float(error),
                **{name: summary(values) for name, values in seconds.items()},
            },
            notes=["scipy makes both by 2 l products: float32, matrices built beforehand, its one thread."],
        )
    ]


BENCHMARKS = {"exact": exact}

"""R-MAT graphs (Chakrabarti et al., 2004): skewed degrees like those of real graphs, at any size."""

from __future__ import annotations

from pathlib import Path

import numba
import numpy as np
import polars as pl
from numpy.typing import NDArray

import graphreach as gr

# Of the four quadrants of the adjacency matrix, the probabilities of the first three.
A, B, C = 0.57, 0.19, 0.19
AVERAGE_DEGREE = 32


@numba.njit(cache=True)
def _mix(x):
    """Splitmix64: the next value of a counter-based generator."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@numba.njit(cache=True)
def _uniform(key):
    """A float in [0, 1) from the high 53 bits of a hashed key."""
    return float(_mix(key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(11)) * (1.0 / (1 << 53))


@numba.njit(cache=True, parallel=True)
def _fill_edges(edge_index, scale, stream):
    """Descend `scale` levels of the matrix for each edge; an edge depends on its number alone."""
    for e in numba.prange(edge_index.shape[1]):
        row = np.uint32(0)
        column = np.uint32(0)
        for level in range(scale):
            u = _uniform(stream + np.uint64(e) * np.uint64(64) + np.uint64(level))
            lower = u >= A + B
            right = (A <= u < A + B) or u >= A + B + C
            row = np.uint32((row << np.uint32(1)) | np.uint32(lower))
            column = np.uint32((column << np.uint32(1)) | np.uint32(right))
        edge_index[0, e] = row
        edge_index[1, e] = column


@numba.njit(cache=True, parallel=True)
def _fill_weights(weight, edge_index, stream):
    """Weigh an edge by a hash of its two ends, so that repeats and reverses weigh the same."""
    for e in numba.prange(edge_index.shape[1]):
        low = np.uint64(min(edge_index[0, e], edge_index[1, e]))
        high = np.uint64(max(edge_index[0, e], edge_index[1, e]))
        weight[e] = 1.0 - _uniform(_mix(stream ^ (low << np.uint64(32) | high)))


def _stream(seed: int) -> np.uint64:
    """Spread a small seed over 64 bits."""
    # A bare int below 2**63 would reach the kernels signed, and sign extension spoils the hash.
    return np.uint64(_mix(np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % (1 << 64))))


def rmat_edges(scale: int, num_edges: int | None = None, seed: int = 0) -> NDArray[np.uint32]:
    """Edges [2, m] over 2**scale nodes, self-loops and repeats included, as R-MAT draws them.

    The default m is 16 n, average degree 32 before merging. The same arguments give the same edges with any
    number of threads.
    """
    if num_edges is None:
        num_edges = (AVERAGE_DEGREE // 2) << scale
    edge_index = np.empty((2, num_edges), np.uint32)
    _fill_edges(edge_index, scale, _stream(seed))
    return edge_index


def simple_edges(edge_index: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Each undirected edge once, as (smaller, larger) in sorted order, without self-loops."""
    low = np.minimum(edge_index[0], edge_index[1]).astype(np.uint64)
    high = np.maximum(edge_index[0], edge_index[1])
    keys = ((low << np.uint64(32)) | high)[low != high]
    keys.sort()
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    return np.stack([keys >> np.uint64(32), keys & np.uint64(0xFFFFFFFF)]).astype(np.uint32)


def edge_weights(edge_index: NDArray[np.uint32], seed: int = 0) -> NDArray[np.float64]:
    """Weights uniform in (0, 1], one per undirected edge."""
    weight = np.empty(edge_index.shape[1])
    _fill_weights(weight, edge_index, _stream(seed + 1))
    return weight


def rmat_graph(scale: int, weighted: bool = False, seed: int = 0) -> gr.Graph:
    """The R-MAT graph as graphreach builds it, merging repeats itself."""
    edge_index = rmat_edges(scale, seed=seed)
    if weighted:
        edge_index = simple_edges(edge_index)
    weight = edge_weights(edge_index, seed) if weighted else None
    return gr.Graph.from_edges(edge_index, num_nodes=1 << scale, edge_weight=weight)


def uniform_edges(num_nodes: int, num_edges: int, seed: int = 0) -> NDArray[np.uint32]:
    """Edges [2, m] with both ends uniform: no hubs, no locality."""
    return np.random.default_rng(seed).integers(0, num_nodes, (2, num_edges), dtype=np.uint32)


def store_graph(folder: Path, scale: int, weighted: bool = False, seed: int = 0) -> Path:
    """Write the merged graph for engines in other environments; returns the .npz.

    The .npz has `edge_index` (each edge once) and `edge_weight`; the .csv beside it lists both directions in
    sorted order; the .size says how many nodes and lines there are.
    """
    edge_index = simple_edges(rmat_edges(scale, seed=seed))
    arrays: dict[str, NDArray] = {"edge_index": edge_index}
    columns = {
        "source": np.concatenate([edge_index[0], edge_index[1]]),
        "target": np.concatenate([edge_index[1], edge_index[0]]),
    }
    if weighted:
        arrays["edge_weight"] = edge_weights(edge_index, seed)
        columns["weight"] = np.tile(arrays["edge_weight"], 2)
    path = folder / f"rmat-{scale}{'-weighted' if weighted else ''}.npz"
    np.savez(path, **arrays)
    pl.DataFrame(columns).sort("source", "target").write_csv(path.with_suffix(".csv"))
    path.with_suffix(".size").write_text(f"{1 << scale} {2 * edge_index.shape[1]}\n")
    return path

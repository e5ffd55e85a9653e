r"""Powers of the transition matrix between listed pairs by walks that meet in the middle; hubs make them no slower.

In an undirected graph :math:`P^{s+t}(u, v) = d_v \sum_w P^s(u, w) P^t(v, w) / d_w`: walks from both ends that meet at a
node w count, the more the fewer edges it has. One step is exact where a node has few enough edges, the others are sampled.
In a directed graph nothing walks backwards: the last step is summed over the in-neighbours of v. Walks are a hash of seed,
start, walk and step, so that nothing is stored and the same seed gives the same numbers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.jit import kernel, long_kernel
from graphreach.progress import live
from graphreach.reachability.pairs import group_pairs
from graphreach.walks.engine import transitions
from graphreach.walks.kernels import BLOCK, DEAD, advance, enter, new_block

DEPTH = 3
"""Steps of the walks from each end."""

EXACT = 4
"""A node's first step is exact if it has at most this many edges for each walk."""

SOURCES_PER_CALL = 1 << 12

OTHER = 0x5851F42D4C957F2D
"""Sets the walks of the second end apart from those of the first, which may be the same node."""


def meeting_powers(graph: Graph, pairs: NDArray[np.int64], num_walks: int, seed: int) -> NDArray[np.float64]:
    """Estimates of P^t(u, v) for pairs ``[2, m]``: ``[m, 5]`` for t = 2 .. 6, or ``[m, 3]`` of a directed graph."""
    groups = group_pairs(pairs, graph.num_nodes)
    out = np.zeros((len(groups.targets), DEPTH if graph.directed else 2 * DEPTH - 1))
    inverse = np.divide(1.0, graph.degree, out=np.zeros(graph.num_nodes), where=graph.degree > 0)
    edges = transitions(graph)
    back = graph.transpose()
    num_walks = min(num_walks, BLOCK)
    seeds = (np.int64(seed), np.int64((seed + OTHER) % 2**63))
    begins = range(0, len(groups.sources), SOURCES_PER_CALL)
    with live("walks that meet", len(groups.sources)) as show:
        for begin in begins:
            end = min(begin + SOURCES_PER_CALL, len(groups.sources))
            arguments = (groups.sources[begin:end], groups.pointer[begin : end + 1], groups.targets)
            if graph.directed:
                reverse = (back.indptr, back.indices, back.weights)
                _pull_all(edges, graph.weights, reverse, inverse, arguments, num_walks, seeds, out)
            else:
                _meet_all(edges, graph.weights, inverse, arguments, num_walks, seeds, out)
            show(end, "")
    if not graph.directed:
        out *= graph.degree[groups.targets][:, None]
    found: NDArray[np.float64] = out[groups.inverse]
    return found


@kernel
def _new_table(num_walks: Any) -> Any:
    """A hash table of nodes with a number for each step, and the list of its slots that are used (last: how many)."""
    size = 64
    while size < 4 * (EXACT + DEPTH) * num_walks:
        size *= 2
    return np.full(size, np.int64(-1)), np.zeros((size, DEPTH)), np.zeros(size + 1, np.int64)


@kernel
def _slot(keys: Any, node: Any) -> Any:
    """Where a node is in the table, or the free slot where it would be."""
    mask = len(keys) - 1
    at = (node * 2654435761) & mask
    while keys[at] != -1 and keys[at] != node:
        at = (at + 1) & mask
    return at


@kernel
def _add(table: Any, node: Any, step: Any, value: Any) -> None:
    keys, values, used = table
    at = _slot(keys, node)
    if keys[at] == -1:
        keys[at] = node
        used[used[-1]] = at
        used[-1] += 1
    values[at, step] += value


@kernel
def _clear(table: Any) -> None:
    keys, values, used = table
    for i in range(used[-1]):
        keys[used[i]] = -1
        values[used[i]] = 0.0
    used[-1] = 0


@kernel
def _fill(
    table: Any, edges: Any, weights: Any, inverse: Any, block: Any, sources: Any, j: Any, num_walks: Any, seed: Any
) -> None:
    """Put P^s(u, w) / d_w into the table for u = sources[j] and s = 1 .. DEPTH."""
    indptr, indices, alias = edges
    u = np.int64(sources[j])
    begin, end = np.int64(indptr[u]), np.int64(indptr[u + 1])
    exact = end - begin <= EXACT * num_walks
    if exact:
        for e in range(begin, end):
            w = np.int64(indices[e])
            _add(table, w, 0, (1.0 if weights is None else weights[e]) * inverse[u] * inverse[w])
    count = enter(block, sources, j, j + 1, num_walks, DEPTH, 0, seed)
    for step in range(1, DEPTH + 1):
        advance(indptr, indices, alias, block, count, step)
        if step == 1 and exact:
            continue
        for i in range(count):
            if block[0][i] != DEAD:
                w = np.int64(block[0][i])
                _add(table, w, step - 1, inverse[w] / num_walks)


@long_kernel
def _meet_all(
    share: Any, edges: Any, weights: Any, inverse: Any, groups: Any, num_walks: Any, seeds: Any, out: Any
) -> None:
    """out[p, t - 2] = sum over w of P^s(u, w) P^{t-s}(v, w) / d_w, the mean over the ways to divide t."""
    sources, pointer, targets = groups
    block, table = new_block(), _new_table(num_walks)
    met = np.zeros((DEPTH, DEPTH))
    for j in range(share[0], len(sources), share[1]):
        if share[2][0] != 0:
            return
        _fill(table, edges, weights, inverse, block, sources, j, num_walks, seeds[0])
        for p in range(pointer[j], pointer[j + 1]):
            met[:] = 0.0
            _meet(table, edges, weights, inverse, block, targets, p, num_walks, seeds[1], met)
            for total in range(2, 2 * DEPTH + 1):
                value, ways = 0.0, 0
                for s in range(max(1, total - DEPTH), min(DEPTH, total - 1) + 1):
                    value += met[s - 1, total - s - 1]
                    ways += 1
                out[p, total - 2] = value / ways
        _clear(table)


@kernel
def _meet(
    table: Any,
    edges: Any,
    weights: Any,
    inverse: Any,
    block: Any,
    targets: Any,
    p: Any,
    num_walks: Any,
    seed: Any,
    met: Any,
) -> None:
    """met[s - 1, t - 1] = sum over w of P^t(v, w) times what the table has of w and s, for v = targets[p]."""
    indptr, indices, alias = edges
    keys, values, _ = table
    v = np.int64(targets[p])
    begin, end = np.int64(indptr[v]), np.int64(indptr[v + 1])
    exact = end - begin <= EXACT * num_walks
    if exact:
        for e in range(begin, end):
            at = _slot(keys, np.int64(indices[e]))
            if keys[at] != -1:
                chance = (1.0 if weights is None else weights[e]) * inverse[v]
                for s in range(DEPTH):
                    met[s, 0] += chance * values[at, s]
    count = enter(block, targets, p, p + 1, num_walks, DEPTH, 0, seed)
    for step in range(1, DEPTH + 1):
        advance(indptr, indices, alias, block, count, step)
        if step == 1 and exact:
            continue
        for i in range(count):
            if block[0][i] != DEAD:
                at = _slot(keys, np.int64(block[0][i]))
                if keys[at] != -1:
                    for s in range(DEPTH):
                        met[s, step - 1] += values[at, s] / num_walks


@long_kernel
def _pull_all(
    share: Any, edges: Any, weights: Any, back: Any, inverse: Any, groups: Any, num_walks: Any, seeds: Any, out: Any
) -> None:
    """out[p, s - 1] = sum over the in-neighbours w of v of P^s(u, w) w_wv / d_w."""
    sources, pointer, targets = groups
    block, table = new_block(), _new_table(num_walks)
    for j in range(share[0], len(sources), share[1]):
        if share[2][0] != 0:
            return
        _fill(table, edges, weights, inverse, block, sources, j, num_walks, seeds[0])
        for p in range(pointer[j], pointer[j + 1]):
            _pull(table, *back, np.int64(targets[p]), out[p])
        _clear(table)


@kernel
def _pull(table: Any, indptr: Any, indices: Any, weights: Any, v: Any, out: Any) -> None:
    """Add what the table has of the in-neighbours of v, times the weights of their edges to it."""
    keys, values, used = table
    begin, end = np.int64(indptr[v]), np.int64(indptr[v + 1])
    if end - begin <= 8 * used[-1]:
        for e in range(begin, end):
            at = _slot(keys, np.int64(indices[e]))
            if keys[at] != -1:
                for s in range(DEPTH):
                    out[s] += values[at, s] if weights is None else values[at, s] * weights[e]
        return
    row = indices[begin:end]  # fewer nodes were met than lead to v
    for i in range(used[-1]):
        at = used[i]
        e = np.searchsorted(row, keys[at])
        if e < end - begin and np.int64(row[e]) == keys[at]:
            for s in range(DEPTH):
                out[s] += values[at, s] if weights is None else values[at, s] * weights[begin + e]

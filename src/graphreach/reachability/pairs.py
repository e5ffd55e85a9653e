"""Reachability of listed pairs.

From a source u the distribution after t jumps is spread from its support only. The last two steps need not be spread: for
a target v, P^{t+1}(u, v) is a sum over the in-neighbours w of v, and P^{t+2}(u, v) one over their in-neighbours. Per
source the cheaper way is taken; both give the same number.
"""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import check_pairs
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.jit import kernel, long_kernel, parallel_kernel, rows_of
from graphreach.limits import check_memory, check_products
from graphreach.progress import live
from graphreach.walks.defaults import NUM_WALKS, PAIR_WALK_LENGTH
from graphreach.walks.engine import row_chunks, transitions
from graphreach.walks.kernels import BLOCK, DEAD, advance, enter, new_block
from graphreach.walks.rng import check_seed
from graphreach.walks.walk_length import check_count, resolve_walk_length

SOURCES_PER_CALL = 1 << 13
FIRST_SOURCES = 1 << 10

CALL_SECONDS = 0.25
"""Time between two updates of a progress bar."""


class PairGroups(NamedTuple):
    """Different (source, target) pairs, by source, and where each pair of the list finds its own."""

    sources: NDArray[np.uint32]
    pointer: NDArray[np.int64]
    targets: NDArray[np.uint32]
    inverse: NDArray[np.int64]


def pair_reachability(
    graph: Graph,
    pairs: ArrayLike,
    method: str = "exact",
    walk_length: int | str = PAIR_WALK_LENGTH,
    num_walks: int = NUM_WALKS,
    hops: int | None = None,
    seed: int = 0,
) -> NDArray[np.float32]:
    r"""Reachability :math:`s(u, v)` and :math:`s(v, u)` (Eq. 1) for the listed pairs only; never n x n.

    The exact method computes :math:`s(u, v) = \frac{1}{l} \sum_{t=1}^{l} P^t(u, v)` by sparse rows of :math:`P^t`, grouped
    by node. On large graphs use short walks, as the cost grows with the neighbourhood of ``walk_length - 2`` jumps. With
    walks, visits to the listed pairs are counted.

    Args:
        graph: The graph.
        pairs: Positions, ``[2, m]``, in the layout of an ``edge_index``.
        method: ``"exact"`` or ``"walks"``.
        walk_length: Jumps of a walk, or ``"diameter"``.
        num_walks: Walks from each node, with ``method="walks"``.
        hops: L keeps the first L steps separate and is also the walk length.
        seed: Random seed of the walks.

    Returns:
        ``[m, 2]``: :math:`s(u, v)` and :math:`s(v, u)`; with hops ``[m, 2, L]``.

    Example:
        >>> import graphreach as gr
        >>> path = gr.Graph.from_edges([[0, 1], [1, 2]])
        >>> gr.pair_reachability(path, [[0, 0], [1, 2]], walk_length=2)
        array([[0.5 , 0.25],
               [0.25, 0.25]], dtype=float32)
    """
    listed = check_pairs(pairs, check_graph(graph).num_nodes)
    if not isinstance(method, str) or method not in ("exact", "walks"):
        raise InputError(f"method must be one of exact, walks, got {method!r:.80}")
    length = resolve_walk_length(graph, walk_length, hops=hops)
    hops = None if hops is None else length
    num_walks, seed = check_count("num_walks", num_walks), check_seed(seed)
    check_memory(
        3 * 2 * 8 * listed.shape[1] * (hops or 1), f"reachability of {listed.shape[1]} pairs, {hops or 1} numbers each way",
        "lower hops or give fewer pairs at a time",
    )  # fmt: skip
    if method == "walks":
        columns = [_sampled(graph, side, length, hops, num_walks, seed) for side in (listed, listed[::-1])]
    elif graph.directed:
        columns = [_exact(graph, side, length, hops) for side in (listed, listed[::-1])]
    else:
        columns = _balanced(graph, listed, length, hops)
    out = np.stack(columns, axis=1).astype(np.float32)
    return out if hops is not None else out[:, :, 0]


def _balanced(graph: Graph, pairs: NDArray[np.int64], length: int, hops: int | None) -> list[NDArray[np.float64]]:
    """Undirected: one direction gives the other; start from the side that has fewer different nodes."""
    swap = len(np.unique(pairs[1])) < len(np.unique(pairs[0]))
    sides = pairs[::-1] if swap else pairs
    first = _exact(graph, sides, length, hops)
    degree = graph.degree[sides]
    ratio = np.divide(degree[0], degree[1], out=np.zeros(pairs.shape[1]), where=degree[1] > 0)
    second = first * ratio[:, None]
    return [second, first] if swap else [first, second]


def _exact(graph: Graph, pairs: NDArray[np.int64], length: int, hops: int | None) -> NDArray[np.float64]:
    inverse = np.divide(1.0, graph.degree, out=np.zeros(graph.num_nodes), where=graph.degree > 0)
    return pair_products(graph, pairs, inverse, length, hops is not None, "reachability of pairs")


def pair_products(
    graph: Graph, pairs: NDArray[np.int64], scale: NDArray[np.float64], length: int, apart: bool, title: str
) -> NDArray[np.float64]:
    r"""Entries (u, v) of the powers 1 .. ``length`` of :math:`\mathrm{diag}(scale) A` for pairs ``[2, m]``.

    Args:
        graph: The graph, whose weights are A.
        pairs: Positions, checked.
        scale: One factor per node, positive where it has an edge.
        length: Largest power.
        apart: Whether to return each power ``[m, length]``, or their mean ``[m, 1]``.
        title: What a progress bar says.
    """
    groups = group_pairs(pairs, graph.num_nodes)
    back = graph.transpose()
    cost = np.empty(graph.num_nodes, np.int64)
    _two_hop_edges(back.indptr, back.indices, cost)
    out = np.zeros((len(groups.targets), length if apart else 1))
    most = int(np.diff(groups.pointer).max(initial=0)) * length
    check_memory(8 * most, f"{most} numbers of one node's pairs", "lower walk_length or hops")
    check_products(len(graph.indices), max(1, len(groups.sources)), length)
    with live(title, len(groups.sources)) as show:
        for part in _pieces(len(groups.sources), FIRST_SOURCES, SOURCES_PER_CALL):
            _pair_powers(
                (graph.indptr, graph.indices, graph.weights), (back.indptr, back.indices, back.weights), scale, cost,
                groups.sources[part], groups.pointer[part.start : part.stop + 1], groups.targets, length, apart, out,
            )  # fmt: skip
            show(part.stop, title)
    result: NDArray[np.float64] = out[groups.inverse]
    return result


def _sampled(
    graph: Graph, pairs: NDArray[np.int64], length: int, hops: int | None, num_walks: int, seed: int
) -> NDArray[np.float64]:
    groups = group_pairs(pairs, graph.num_nodes)
    out = np.zeros((len(groups.targets), hops or 1))
    scale = 1.0 / num_walks if hops is not None else 1.0 / (num_walks * length)
    for rows in row_chunks(len(groups.sources), num_walks * length, "walks for pairs"):
        _count_pairs(
            *transitions(graph), groups.sources[rows], groups.pointer[rows.start : rows.stop + 1],
            groups.targets, num_walks, length, seed, hops or 1, scale, out,
        )  # fmt: skip
    result: NDArray[np.float64] = out[groups.inverse]
    return result


def group_pairs(pairs: NDArray[np.int64], num_nodes: int) -> PairGroups:
    """Group pairs ``[2, m]`` by their first node."""
    keys, inverse = np.unique(pairs[0] * num_nodes + pairs[1], return_inverse=True)
    sources, counts = np.unique(keys // max(1, num_nodes), return_counts=True)
    pointer = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return PairGroups(sources.astype(np.uint32), pointer, (keys % max(1, num_nodes)).astype(np.uint32), inverse)


def _pieces(total: int, first: int, most: int) -> Iterator[slice]:
    """Slices of ``0 .. total - 1`` that take about :data:`CALL_SECONDS` each, as measured on the ones before."""
    begin, size = 0, min(first, most)
    while begin < total:
        end = min(begin + size, total)
        began = time.monotonic()
        yield slice(begin, end)
        begin, spent = end, time.monotonic() - began
        if spent > CALL_SECONDS:
            size = max(1, int(size * CALL_SECONDS / spent))
        elif spent < CALL_SECONDS / 2:
            size = min(most, 2 * size)


@kernel
def _spread(
    indptr: Any, indices: Any, weights: Any, inverse: Any, x: Any, support: Any, count: Any, y: Any, found: Any
) -> Any:
    """y = x P for an x with ``count`` non-zero entries at ``support``; x is cleared. Returns the size of y's support."""
    size = 0
    for i in range(count):
        v = support[i]
        share = x[v] * inverse[v]
        x[v] = 0.0
        for e in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            u = np.int64(indices[e])
            part = share if weights is None else share * weights[e]
            if part > 0.0:  # a product may vanish; a node without weight must not be listed twice
                if y[u] == 0.0:
                    found[size] = u
                    size += 1
                y[u] += part
    return size


@kernel
def _pull(indptr: Any, indices: Any, weights: Any, inverse: Any, x: Any, v: Any) -> Any:
    """(x P)(v), summed over the in-neighbours of v (the arrays are those of the transposed graph)."""
    total = 0.0
    for e in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
        u = np.int64(indices[e])
        total += x[u] * inverse[u] if weights is None else x[u] * inverse[u] * weights[e]
    return total


@kernel
def _pull_twice(indptr: Any, indices: Any, weights: Any, inverse: Any, x: Any, v: Any) -> Any:
    """(x P P)(v), summed over the in-neighbours of the in-neighbours of v."""
    total = 0.0
    for e in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
        u = np.int64(indices[e])
        part = _pull(indptr, indices, weights, inverse, x, u) * inverse[u]
        total += part if weights is None else part * weights[e]
    return total


@kernel
def _spread_cost(indptr: Any, support: Any, count: Any) -> Any:
    """The edges of the listed nodes."""
    cost = np.int64(0)
    for i in range(count):
        cost += np.int64(indptr[support[i] + 1]) - np.int64(indptr[support[i]])
    return cost


@kernel
def _source_powers(
    edges: Any, back: Any, inverse: Any, pull_cost: Any, source: Any, targets: Any, length: Any, x: Any, y: Any,
    support: Any, found: Any, out: Any,
) -> None:  # fmt: skip
    """out[p, t - 1] = P^t(source, targets[p]) for t = 1 .. length. x and y are zero before and after."""
    x[source] = 1.0
    support[0] = source
    count = 1
    once, twice = _spread_cost(back[0], targets, len(targets)), np.int64(0)
    for v in targets:
        twice += pull_cost[v]
    t = 0
    while t < length:
        if t >= length - 2 and (once if t == length - 1 else twice) <= _spread_cost(edges[0], support, count):
            break
        count = _spread(*edges, inverse, x, support, count, y, found)
        x, y = y, x
        support, found = found, support
        t += 1
        for p in range(len(targets)):
            out[p, t - 1] = x[targets[p]]
    for p in range(len(targets)):
        if t <= length - 2:
            out[p, length - 2] = _pull(*back, inverse, x, targets[p])
            out[p, length - 1] = _pull_twice(*back, inverse, x, targets[p])
        elif t == length - 1:
            out[p, length - 1] = _pull(*back, inverse, x, targets[p])
    for i in range(count):
        x[support[i]] = 0.0


@long_kernel
def _pair_powers(
    share: Any, edges: Any, back: Any, inverse: Any, pull_cost: Any, sources: Any, pointer: Any, targets: Any,
    length: Any, apart: Any, out: Any,
) -> None:  # fmt: skip
    """out[p] = mean over t of P^t(u, targets[p]), or each power separately; source j owns pointer[j]..[j + 1].

    ``edges`` and ``back`` are (indptr, indices, weights) of the graph and of the transposed one.
    """
    n = len(inverse)
    x, y = np.zeros(n, np.float64), np.zeros(n, np.float64)
    support, found = np.empty(n, np.uint32), np.empty(n, np.uint32)
    for j in range(share[0], len(sources), share[1]):
        if share[2][0] != 0:
            return
        here = targets[pointer[j] : pointer[j + 1]]
        powers = np.zeros((len(here), length), np.float64)
        _source_powers(edges, back, inverse, pull_cost, sources[j], here, length, x, y, support, found, powers)
        for p in range(len(here)):
            if apart:
                for t in range(length):
                    out[pointer[j] + p, t] = powers[p, t]
            else:
                total = 0.0
                for t in range(length):
                    total += powers[p, t]
                out[pointer[j] + p, 0] = total / length


@parallel_kernel
def _two_hop_edges(share: Any, indptr: Any, indices: Any, out: Any) -> None:
    """For each node the edges that :func:`_pull_twice` looks at."""
    for v in rows_of(share, len(out)):
        out[v] = 0
        for e in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            u = np.int64(indices[e])
            out[v] += np.int64(indptr[u + 1]) - np.int64(indptr[u]) + 1


@long_kernel
def _count_pairs(
    share: Any, indptr: Any, indices: Any, alias: Any, sources: Any, pointer: Any, targets: Any, num_walks: Any,
    walk_length: Any, seed: Any, hops: Any, scale: Any, out: Any,
) -> None:  # fmt: skip
    """``out[p]`` gets the share of visits that walks from ``sources[j]`` pay to ``targets[p]``.

    The targets of source j are ``targets[pointer[j] .. pointer[j + 1]]``, sorted and different.
    """
    for j in range(share[0], len(sources), share[1]):
        block = new_block()
        current = block[0]
        begin, end = pointer[j], pointer[j + 1]
        counts = np.zeros((end - begin, hops), np.int64)
        for first in range(0, num_walks, BLOCK):
            count = enter(block, sources, j, j + 1, num_walks, walk_length, first, seed)
            for step in range(1, walk_length + 1):
                if share[2][0] != 0:
                    return
                advance(indptr, indices, alias, block, count, step)
                offset = step - 1 if hops > 1 else 0
                for i in range(count):
                    v = current[i]
                    if v == DEAD:
                        continue
                    p = np.searchsorted(targets[begin:end], v)
                    if p < end - begin and targets[begin + p] == v:
                        counts[p, offset] += 1
        for p in range(end - begin):
            for h in range(hops):
                out[begin + p, h] = counts[p, h] * scale

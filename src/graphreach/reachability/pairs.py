"""Reachability of listed pairs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import check_pairs
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.interrupts import call, pieces
from graphreach.limits import check_memory
from graphreach.progress import live
from graphreach.reachability.pair_kernels import pair_powers, two_hop_edges
from graphreach.reachability.walk_kernels import count_pairs
from graphreach.walks.costs import check_products
from graphreach.walks.defaults import NUM_WALKS, PAIR_WALK_LENGTH
from graphreach.walks.engine import row_chunks
from graphreach.walks.rng import check_seed
from graphreach.walks.transitions import transitions
from graphreach.walks.walk_length import check_count, check_hops, resolve_walk_length

SOURCES_PER_CALL = 1 << 13
FIRST_SOURCES = 1 << 10


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

    Exact, :math:`s(u, v) = \frac{1}{l} \sum_{t=1}^{l} P^t(u, v)` by sparse rows of :math:`P^t`, grouped by node; short
    walks suit large graphs, as the cost grows with the neighbourhood of ``walk_length - 2`` jumps. By walks, visits are
    counted against the list.

    Args:
        graph: The graph.
        pairs: Positions, ``[2, m]``, as ``edge_index`` is.
        method: ``"exact"`` or ``"walks"``.
        walk_length: Jumps of a walk, or ``"diameter"``.
        num_walks: Walks from each node, with ``method="walks"``.
        hops: L keeps the first L steps apart (and is the walk length).
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
    hops = None if hops is None else check_hops(hops)
    length = hops if hops is not None else resolve_walk_length(graph, walk_length)
    num_walks, seed = check_count("num_walks", num_walks), check_seed(seed)
    check_memory(
        3 * 2 * 8 * listed.shape[1] * (hops or 1), f"reachability of {listed.shape[1]} pairs, {hops or 1} numbers each way",
        "lower hops or give fewer pairs at a time",
    )  # fmt: skip
    there, back = listed, listed[::-1]
    if method == "walks":
        columns = [_sampled(graph, side, length, hops, num_walks, seed) for side in (there, back)]
    elif graph.directed:
        columns = [_exact(graph, side, length, hops) for side in (there, back)]
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
    two_hop_edges(back.indptr, back.indices, cost)
    out = np.zeros((len(groups.targets), length if apart else 1))
    most = int(np.diff(groups.pointer).max(initial=0)) * length
    check_memory(8 * most, f"{most} numbers of one node's pairs", "lower walk_length or hops")
    check_products(len(graph.indices), max(1, len(groups.sources)), length)
    with live(title, len(groups.sources)) as show:
        for part in pieces(len(groups.sources), FIRST_SOURCES, SOURCES_PER_CALL):
            pair_powers(
                graph.indptr, graph.indices, graph.weights, back.indptr, back.indices, back.weights, scale, cost,
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
        call(
            count_pairs, *transitions(graph), groups.sources[rows], groups.pointer[rows.start : rows.stop + 1],
            groups.targets, num_walks, length, seed, hops or 1, scale, out,
            work=(rows.stop - rows.start) * num_walks * length,
        )  # fmt: skip
    result: NDArray[np.float64] = out[groups.inverse]
    return result


def group_pairs(pairs: NDArray[np.int64], num_nodes: int) -> PairGroups:
    """Group pairs ``[2, m]`` by their first node.

    Example:
        >>> group_pairs(np.array([[1, 0, 1], [0, 2, 0]]), 3).inverse
        array([1, 0, 1])
    """
    keys, inverse = np.unique(pairs[0] * num_nodes + pairs[1], return_inverse=True)
    sources, counts = np.unique(keys // max(1, num_nodes), return_counts=True)
    pointer = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return PairGroups(sources.astype(np.uint32), pointer, (keys % max(1, num_nodes)).astype(np.uint32), inverse)

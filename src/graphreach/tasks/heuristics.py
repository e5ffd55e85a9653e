"""Scores of links that need no training."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import check_choice, check_pairs
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.jit import kernel, parallel_kernel
from graphreach.progress import track
from graphreach.reachability import pair_reachability
from graphreach.reachability.pairs import group_pairs, pair_products
from graphreach.walks.defaults import NUM_WALKS, PAIR_WALK_LENGTH
from graphreach.walks.walk_length import check_count

PIECES = 64
"""Pairs or sources are dealt out to this many pieces, each with scratch memory of its own."""


@kernel
def push(
    indptr: Any, indices: Any, weights: Any, inverse: Any, source: Any, damping: Any, epsilon: Any,
    rank: Any, rest: Any, waiting: Any, queue: Any, met: Any,
) -> Any:  # fmt: skip
    """Personalised PageRank of one source by forward push; ``rank`` holds it. Returns how many nodes of ``met`` to clear.

    ``rest`` is what has arrived at a node and not been passed on; a node passes it on while it is more than ``epsilon``
    times its number of edges. What comes to a dead end starts again at the source.
    """
    n = len(rank)
    rest[source] = 1.0
    queue[0], met[0] = source, source
    waiting[source] = True
    head, size, count = np.int64(0), np.int64(1), np.int64(1)
    while size > 0:
        v = queue[head]
        head = head + 1 if head + 1 < n else np.int64(0)
        size -= 1
        waiting[v] = False
        begin, end = np.int64(indptr[v]), np.int64(indptr[v + 1])
        moved = rest[v]
        rest[v] = 0.0
        rank[v] += (1.0 - damping) * moved
        for e in range(begin, max(end, begin + 1)):
            if begin == end:
                u, part = np.int64(source), damping * moved
            else:
                u, part = np.int64(indices[e]), damping * moved * inverse[v]
                if weights is not None:
                    part *= weights[e]
            if rest[u] == 0.0 and rank[u] == 0.0 and part > 0.0:
                met[count] = u
                count += 1
            rest[u] += part
            if not waiting[u] and rest[u] > epsilon * max(1, np.int64(indptr[u + 1]) - np.int64(indptr[u])):
                place = head + size
                queue[place if place < n else place - n] = u
                waiting[u] = True
                size += 1
    return count


@parallel_kernel
def pair_pagerank(
    share: Any, indptr: Any, indices: Any, weights: Any, inverse: Any, sources: Any, pointer: Any, targets: Any,
    damping: Any, epsilon: Any, out: Any,
) -> None:  # fmt: skip
    """out[p] = personalised PageRank of targets[p] seen from its source; source j owns pointer[j] .. pointer[j + 1]."""
    n = len(indptr) - 1
    pieces = min(PIECES, max(1, len(sources)))
    for piece in range(share[0], pieces, share[1]):
        rank, rest = np.zeros(n, np.float64), np.zeros(n, np.float64)
        waiting = np.zeros(n, np.bool_)
        queue, met = np.empty(n, np.int64), np.empty(n + 1, np.int64)
        for j in range(piece, len(sources), pieces):
            count = push(
                indptr, indices, weights, inverse, sources[j], damping, epsilon, rank, rest, waiting, queue, met
            )
            for p in range(pointer[j], pointer[j + 1]):
                out[p] = rank[targets[p]]
            for i in range(count):
                rank[met[i]] = 0.0
                rest[met[i]] = 0.0


Scores = NDArray[np.float64]
Pairs = NDArray[np.int64]

SOURCES_PER_CALL = 1 << 12


def common_neighbours(graph: Graph, pairs: Pairs) -> Scores:
    r"""How many neighbours u and v share, :math:`\sum_w A_{uw} A_{wv}`.

    With weights this is the sum of products of weights, and in a directed graph the sum over paths :math:`u \to w \to v`.
    """
    return pair_products(graph, pairs, np.ones(graph.num_nodes), 2, True, "common neighbours")[:, 1]


def adamic_adar(graph: Graph, pairs: Pairs) -> Scores:
    r"""Shared neighbours, where those with fewer neighbours of their own count more,
    :math:`\sum_w A_{uw} A_{wv} / \ln k_w`.

    :math:`k_w` is the number of nodes that w has an edge with, in either direction, whatever the weights, and at least 2.
    """
    edges = graph.edge_index
    if graph.directed:
        edges = np.unique(np.concatenate([edges, edges[::-1]], axis=1), axis=1)
    count = np.bincount(edges[0][edges[0] != edges[1]], minlength=graph.num_nodes)
    weight = 1.0 / np.log(np.maximum(count, 2))
    scores: Scores = pair_products(graph, pairs, weight, 2, True, "Adamic-Adar")[:, 1] / weight[pairs[0]]
    return scores


def katz(graph: Graph, pairs: Pairs, beta: float = 0.05, length: int = 4) -> Scores:
    r"""Paths from u to v, where longer ones count less, :math:`\sum_{t=1}^{l} \beta^t (A^t)_{uv}`.

    The sum stops at ``length``, so it needs sparse rows only and is finite for every :math:`\beta`.
    """
    length = check_count("length", length)
    if not (np.isfinite(beta) and beta > 0):
        raise InputError(f"beta must be a positive number, got {beta!r}")
    powers = pair_products(graph, pairs, np.ones(graph.num_nodes), length, True, "Katz")
    scores: Scores = powers @ float(beta) ** np.arange(1, length + 1)
    return scores


def pagerank(graph: Graph, pairs: Pairs, damping: float = 0.85, epsilon: float = 1e-5, both: bool = True) -> Scores:
    r"""Personalised PageRank of v seen from u, :math:`\pi_u(v)`, plus that of u seen from v.

    It is computed by forward push. The work for one node is at most :math:`1 / (\epsilon (1 - d))` edges, whatever the
    size of the graph: a share below :math:`\epsilon` per edge of the node where a walk stands is left there.
    In an undirected graph without weights :math:`\pi_u(v)` is too small by at most :math:`\epsilon k_v`. A walk at a dead
    end starts again.
    """
    if not 0 < damping < 1:
        raise InputError(f"damping must be between 0 and 1, got {damping!r}")
    if not (np.isfinite(epsilon) and epsilon > 0):
        raise InputError(f"epsilon must be a positive number, got {epsilon!r}")
    listed = np.concatenate([pairs, pairs[::-1]], axis=1) if both else pairs
    groups = group_pairs(listed, graph.num_nodes)
    inverse = np.divide(1.0, graph.degree, out=np.zeros(graph.num_nodes), where=graph.degree > 0)
    out = np.zeros(len(groups.targets))
    begins = range(0, len(groups.sources), SOURCES_PER_CALL)
    for begin in track(begins, len(begins), "personalised PageRank"):
        end = begin + SOURCES_PER_CALL
        pair_pagerank(
            graph.indptr, graph.indices, graph.weights, inverse, groups.sources[begin:end],
            groups.pointer[begin : end + 1], groups.targets, float(damping), float(epsilon), out,
        )  # fmt: skip
    scores: Scores = out[groups.inverse].reshape(2 if both else 1, -1).sum(axis=0)
    return scores


def reachability(
    graph: Graph,
    pairs: Pairs,
    walk_length: int | str = PAIR_WALK_LENGTH,
    method: str = "exact",
    num_walks: int = NUM_WALKS,
    seed: int = 0,
    both: bool = True,
) -> Scores:
    r"""Direct reachability :math:`s(u, v) + s(v, u)` (Eq. 1), exact unless ``method="walks"``."""
    columns = pair_reachability(graph, pairs, method, walk_length, num_walks, seed=seed).astype(np.float64)
    scores: Scores = columns.sum(axis=1) if both else columns[:, 0]
    return scores


HEURISTICS: dict[str, Callable[..., Scores]] = {
    "common-neighbours": common_neighbours,
    "adamic-adar": adamic_adar,
    "katz": katz,
    "pagerank": pagerank,
    "reachability": reachability,
}
"""Scorers of links by name: functions ``(graph, pairs, **options)`` of pairs ``[2, m]``. Add your own here."""


def score(name: str, graph: Graph, pairs: ArrayLike, **options: Any) -> Scores:
    """Score pairs as links by a heuristic; higher means more likely.

    Weights and directions of the graph count. Use the graph of a split, which does not hold the edges to predict.

    Args:
        name: ``"common-neighbours"``, ``"adamic-adar"``, ``"katz"`` (``beta``, ``length``), ``"pagerank"`` (``damping``,
            ``epsilon``, ``both``) or ``"reachability"`` (``walk_length``, ``method``, ``num_walks``, ``seed``, ``both``).
        graph: The graph with the visible edges.
        pairs: Positions, ``[2, m]``.
        **options: Options of the heuristic.

    Returns:
        One score per pair, ``[m]``.

    Example:
        >>> import graphreach as gr
        >>> square = gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> gr.tasks.score("common-neighbours", square, [[0, 0], [1, 2]])
        array([0., 2.])
    """
    function = HEURISTICS[check_choice("name", name, HEURISTICS)]
    listed = check_pairs(pairs, check_graph(graph).num_nodes)
    try:
        inspect.signature(function).bind(graph, listed, **options)
    except TypeError as error:
        raise InputError(f"options of {name} must be its own, got {', '.join(options)} ({error})") from None
    return function(graph, listed, **options)

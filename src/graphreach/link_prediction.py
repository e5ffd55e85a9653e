"""Scores of pairs in the form of networkx's functions for link prediction."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import pair_rows
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.io.graphs import as_graph
from graphreach.tasks.sides import Sides

BLOCK = 1 << 16
"""Pairs that are scored at a time."""


def link_prediction(G: Any, ebunch: Any = None) -> Iterator[tuple[Any, Any, float]]:
    """Yield ``(u, v, p)`` for pairs of nodes, where p is the probability of a link, as networkx's functions do.

    Use it like :func:`networkx.adamic_adar_index` and the others. Pairs of an undirected graph are scored by the model that
    ships with the package, :meth:`graphreach.LinkPredictor.pretrained`, without training. For a directed graph, where p is
    the probability of an edge from u to v, a :class:`graphreach.LinkPredictor` learns from the graph first. To learn from
    an undirected graph as well, fit a predictor and call its ``predict_proba``.

    Differs from networkx: directed graphs and multigraphs are read too; edge weights count, if there are any; and a pair
    with a node that is not in the graph raises :class:`graphreach.InputError` instead of ``NodeNotFound``.

    Args:
        G: A networkx, SciPy or PyG graph, a :class:`graphreach.Graph`, a data frame of edges, or the path of a file.
        ebunch: Pairs of node ids. A pair may be linked: its own edge is not looked at. By default all pairs that are not
            linked, in the order of the sorted ids and a block at a time. In a directed graph these are pairs in both
            directions; in a graph with two kinds of nodes, only pairs between the two.

    Returns:
        An iterator. Checks of the arguments, and learning from a directed graph, come before it is returned.

    Example:
        >>> import networkx as nx
        >>> path = nx.path_graph(5)
        >>> [(u, v) for u, v, p in link_prediction(path)]
        [(0, 2), (0, 3), (0, 4), (1, 3), (1, 4), (2, 4)]
        >>> ((u, v, near),), ((_, _, far),) = link_prediction(path, [(0, 2)]), link_prediction(path, [(0, 4)])
        >>> u, v, near > far
        (0, 2, True)
    """
    from graphreach.link_predictor import LinkPredictor

    graph = as_graph(G, "G")
    listed = None if ebunch is None else _list_pairs(ebunch, graph)
    links = LinkPredictor().fit(graph) if graph.directed else LinkPredictor.pretrained().update(graph=graph)
    return _scores(links, graph, listed)


def _list_pairs(ebunch: Any, graph: Graph) -> tuple[list[Any], list[Any]]:
    """Both ends of each pair; they must be nodes of the graph."""
    is_iterator = isinstance(ebunch, Iterator)
    ends = pair_rows(list(ebunch) if is_iterator else ebunch, "ebunch")
    for side in ends:
        try:
            graph.index_of(np.fromiter(side, dtype=object, count=len(side)))
        except InputError as error:
            raise InputError(f"ebunch must hold pairs of nodes of G, but {error}") from None
    same = next((u for u, v in zip(*ends, strict=True) if u == v), None)
    if same is not None:
        raise InputError(f"ebunch must hold pairs of two different nodes, got {same!r} with itself")
    return ends


def _scores(links: Any, graph: Graph, listed: Any) -> Iterator[tuple[Any, Any, float]]:
    blocks = _listed_blocks(*listed) if listed is not None else _free_blocks(graph)
    for first, second in blocks:
        chance = links.predict_proba(list(zip(first, second, strict=True)))[:, 1]
        yield from zip(first, second, chance.tolist(), strict=True)


def _listed_blocks(first: list[Any], second: list[Any]) -> Iterator[tuple[list[Any], list[Any]]]:
    for begin in range(0, len(first), BLOCK):
        yield first[begin : begin + BLOCK], second[begin : begin + BLOCK]


def _free_blocks(graph: Graph) -> Iterator[tuple[list[Any], list[Any]]]:
    """Ids of all pairs that are not linked and may be, some rows of the graph at a time."""
    sides = None if graph.sides is None else Sides.of(graph)
    rows: list[NDArray[np.int64]] = []
    size, ids = 0, graph.ids
    for node in range(graph.num_nodes):
        found = _free_partners(graph, node, sides)
        rows.append(np.stack([np.full(len(found), node), found]))
        size += len(found)
        if size >= BLOCK or (size and node == graph.num_nodes - 1):
            source, target = np.concatenate(rows, axis=1)
            rows, size = [], 0
            yield ids[source].tolist(), ids[target].tolist()


def _free_partners(graph: Graph, node: int, sides: Sides | None) -> NDArray[np.int64]:
    """Nodes that a node is not linked to and may be; in an undirected graph only those after it."""
    free = np.ones(graph.num_nodes, np.bool_)
    free[graph.indices[int(graph.indptr[node]) : int(graph.indptr[node + 1])]] = False
    free[: 0 if graph.directed else node] = False
    free[node] = False
    if sides is not None:
        own = int(sides.side[node])
        free &= own >= 0 and sides.first in (None, own)
        free &= sides.side == 1 - own
    return np.flatnonzero(free)

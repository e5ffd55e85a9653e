"""A graph with the edges that attackers added."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_choice, check_pairs, to_integers
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.build import compact
from graphreach.graph.checks import check_graph
from graphreach.tasks.pair_keys import contains

MAX_EDGES = 50_000_000
"""A clique of ten thousand nodes; more is a mistake in ``fraction`` rather than an attack."""


@dataclass(frozen=True, eq=False, repr=False)
class Attack:
    """An attacked graph.

    Attributes:
        graph: The graph with the added edges, and nothing else changed: nodes, ids, weights and directions are the same.
        colluders: Positions of the nodes that attack, sorted ``[c]``; empty if the whole graph is meant.
        edges: What was added ``[2, m]``; an undirected edge once, the smaller position first.

    Example:
        >>> path = Graph.from_edges([[0, 1], [1, 2]])
        >>> attack = add_edges(path, np.array([[0, 0], [1, 2]]), np.array([0, 1, 2]))
        >>> attack
        Attack(3 colluders, 1 added edge, Graph(num_nodes=3, num_edges=3, directed=False, weighted=False))
    """

    graph: Graph
    colluders: NDArray[np.int64]
    edges: NDArray[np.int64]

    def involves(self, pairs: NDArray[np.int64], ends: str = "any") -> NDArray[np.bool_]:
        """Which pairs ``[2, m]`` have a colluder at an end (``"any"``) or at both (``"both"``); all without colluders.

        Example:
            >>> attack = add_edges(Graph.from_edges([[0, 1], [1, 2]]), np.array([[0], [2]]), np.array([0, 2]))
            >>> attack.involves(np.array([[0, 0], [1, 2]]), "both")
            array([False,  True])
        """
        check_choice("ends", ends, ("any", "both"))
        pairs = check_pairs(pairs, self.graph.num_nodes)
        if not len(self.colluders):
            return np.ones(pairs.shape[1], np.bool_)
        member = np.zeros(self.graph.num_nodes, np.bool_)
        member[self.colluders] = True
        source, target = member[pairs]
        out: NDArray[np.bool_] = source | target if ends == "any" else source & target
        return out

    def __repr__(self) -> str:
        added = self.edges.shape[1]
        return f"Attack({len(self.colluders)} colluders, {added} added edge{'' if added == 1 else 's'}, {self.graph})"


def add_edges(graph: Graph, pairs: NDArray[np.int64], colluders: NDArray[np.int64]) -> Attack:
    """Add edges to a graph; those that it has already stay as they are.

    In a weighted graph an added edge weighs as much as the mean of the others (1 without any), so that walks take it
    as they would take any edge.

    Args:
        graph: The graph.
        pairs: Different pairs ``[2, m]`` of different nodes; ordered ones in a directed graph, else each once.
        colluders: Positions of the nodes that attack.

    Example:
        >>> road = Graph.from_edges([[0, 1], [1, 2]], edge_weight=[1.0, 3.0])
        >>> add_edges(road, np.array([[0], [2]]), np.array([0, 2])).graph.to_scipy().toarray()
        array([[0., 1., 2.],
               [1., 0., 3.],
               [2., 3., 0.]])
    """
    n, old = check_graph(graph).num_nodes, graph.edge_index
    pairs = check_pairs(pairs, n)
    colluders = to_integers("colluders", colluders)
    if colluders.ndim != 1 or (colluders.size and not 0 <= colluders.min() <= colluders.max() < n):
        raise InputError(f"colluders must be positions between 0 and {n - 1}, got {colluders.tolist()!r:.80}")
    if not graph.directed:
        pairs = np.sort(pairs, axis=0)
    pairs = pairs[:, ~contains(old[0] * n + old[1], pairs[0] * n + pairs[1])]
    pairs = pairs[:, np.lexsort((pairs[1], pairs[0]))]
    new = pairs if graph.directed else np.concatenate([pairs, pairs[::-1]], axis=1)
    source, target = np.concatenate([old, new], axis=1)
    order = np.lexsort((target, source))
    weights = None
    if graph.weights is not None:
        mean = float(graph.weights.mean()) if len(graph.weights) else 1.0
        weights = np.concatenate([graph.weights, np.full(new.shape[1], mean)])[order]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=n))])
    attacked = Graph(compact(indptr, target[order], weights), graph.ids, graph.directed)
    return Attack(attacked, np.sort(colluders), pairs)

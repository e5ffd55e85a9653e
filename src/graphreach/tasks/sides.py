"""The two sides of a bipartite graph, and pairs between them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.build import plain
from graphreach.tasks.pair_keys import Keys, Pairs, decode, draw_distinct, free_keys, turn, unique


@dataclass(frozen=True, eq=False)
class Sides:
    """The two sides of a bipartite graph; only pairs between them can be links.

    Attributes:
        side: 0 or 1 for each node, -1 for nodes that can have no link, ``[n]``.
        first: In a directed graph the side that all edges leave, or None if edges leave both, or have no direction.
    """

    side: NDArray[np.int8]
    first: int | None

    @classmethod
    def of(cls, graph: Graph) -> "Sides":
        """The sides that the reader of a graph knows of, else those that colouring the nodes finds.

        Colours alone say little about which nodes can be linked: a tree, a grid and a road network have two, too.

        Example:
            >>> Sides.of(Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])).side.tolist()
            [0, 1, 0, 1]
        """
        side = colour(graph) if graph.sides is None else graph.sides
        leaving = np.unique(side[graph.edge_index[0]]) if graph.directed else side[:0]
        return cls(side, int(leaving[0]) if len(leaving) == 1 else None)

    @property
    def nodes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The nodes of each side."""
        return np.flatnonzero(self.side == 0), np.flatnonzero(self.side == 1)

    def across(self, pairs: Pairs) -> NDArray[np.bool_]:
        """Which pairs have an end on each side."""
        first, second = self.side[pairs]
        found: NDArray[np.bool_] = (first >= 0) & (first + second == 1) & (second >= 0)
        return found

    def num_free(self, taken: Keys) -> int:
        """How many pairs between the sides are not among ``taken``."""
        left, right = self.nodes
        return len(left) * len(right) - int(np.count_nonzero(self.across(decode(taken))))

    def draw(self, rng: np.random.Generator, size: int, taken: Keys) -> Pairs:
        """Up to ``size`` different pairs between the sides that are not among ``taken``, all equally likely.

        As in :mod:`graphreach.tasks.pair_keys` a pair is a number without a gap, here of a table with one row for each
        node of the first side and one column for each of the second.
        """
        left, right = self.nodes
        place = np.zeros(len(self.side), np.int64)
        place[left], place[right] = np.arange(len(left)), np.arange(len(right))
        pairs = decode(taken)
        pairs = pairs[:, self.across(pairs)]
        pairs = np.where(self.side[pairs[0]] == 0, pairs, pairs[::-1])
        cells = unique(place[pairs[0]] * len(right) + place[pairs[1]])
        population = len(left) * len(right) - len(cells)
        free = free_keys(draw_distinct(rng, population, min(size, population)), cells)
        drawn = np.stack([left[free // max(1, len(right))], right[free % max(1, len(right))]])
        if self.first is None:
            return turn(rng, drawn)
        return drawn if self.first == 0 else drawn[::-1].copy()


def colour(graph: Graph) -> NDArray[np.int8]:
    """Two colours for the nodes such that no link is within a colour; the first node of each component has colour 0.

    In the graph of two copies of every node, whose edges lead from one copy to the other, the copies of a node are in two
    components exactly where no cycle of odd length passes.
    """
    from scipy.sparse.csgraph import connected_components

    n, edges = graph.num_nodes, graph.edge_index
    edges = edges[:, edges[0] != edges[1]]
    source, target = np.concatenate([edges, edges[::-1]], axis=1)
    cover = csr_array((np.ones(len(source), np.int8), (source, target + n)), shape=(2 * n, 2 * n))
    _, label = connected_components(cover, directed=False)
    _, first, label = np.unique(label, return_index=True, return_inverse=True)
    label = first[label]  # the first node of each component
    odd = np.flatnonzero(label[:n] == label[n:])
    if len(odd):
        raise InputError(
            "bipartite must be None or False for a graph with a cycle of odd length, as in the component of node "
            f"{plain(graph.ids[odd[0]])!r}, got True"
        )
    side = (label[:n] > label[n:]).astype(np.int8)
    side[np.bincount(source, minlength=n) == 0] = -1
    return side

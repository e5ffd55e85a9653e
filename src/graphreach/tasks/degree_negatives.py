"""Negatives whose ends are as popular as those of links."""

import numpy as np

from graphreach.graph import Graph
from graphreach.tasks.pair_keys import Keys, Pairs, encode, first_free, unique
from graphreach.tasks.sides import Sides

ROUNDS = 64
"""Attempts at finding pairs that are still free."""

FEWEST = 1024
"""Minimum number of pairs that an attempt draws."""


def draw_by_degree(graph: Graph, size: int, taken: Keys, rng: np.random.Generator, sides: Sides | None = None) -> Pairs:
    """Up to ``size`` different pairs outside ``taken`` (sorted keys), both ends in proportion to their degree in ``graph``.

    The ends of a random edge are nodes in proportion to their degrees: the source of one edge and the target of another
    make a pair, in a directed graph by out-degree and in-degree. An edge counts once, whatever its weight, and self-loops
    do not count. Of a bipartite graph with ``sides`` the pairs are between them.

    Example:
        >>> star = Graph.from_edges([[0, 0, 0, 4], [1, 2, 3, 5]])
        >>> draw_by_degree(star, 2, np.array([0, 1, 3, 14]), np.random.default_rng(0)).shape
        (2, 2)
    """
    sources, targets = graph.edge_index
    links = sources != targets
    sources, targets = sources[links], targets[links]
    found = np.empty((2, 0), np.int64)
    for _ in range(ROUNDS if len(sources) else 0):
        missing = size - found.shape[1]
        if missing <= 0:
            break
        ends = rng.integers(0, len(sources), (2, max(FEWEST, 4 * missing)))
        drawn = np.stack([sources[ends[0]], targets[ends[1]]])
        drawn = drawn[:, drawn[0] != drawn[1] if sides is None else sides.across(drawn)]
        drawn = drawn[:, first_free(drawn, taken)][:, :missing]
        found = np.concatenate([found, drawn], axis=1)
        taken = unique(np.concatenate([taken, encode(drawn)]))
    return found

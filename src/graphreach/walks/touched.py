"""How many walks pass the ends of an edge, and so may change when it is added or removed."""

from typing import NamedTuple

import numpy as np

from graphreach.graph import Graph
from graphreach.walks.walk_length import check_count


class TouchedShares(NamedTuple):
    """Which share of all walks is at an end of one edge before its last step, on average.

    Attributes:
        random_pairs: The share for an edge between two nodes drawn at random.
        at_edges: The share for an edge where the graph has one already, so that nodes with many edges are ends more often.
    """

    random_pairs: float
    at_edges: float


def touched_shares(graph: Graph, walk_length: int) -> TouchedShares:
    r"""The share of walks that an update of one edge concerns, if as many walks start at every node.

    It is the expected number of visits to the ends of the edge in steps 0 to :math:`l_w - 1`,
    :math:`\sum_t \frac1n \mathbf 1^\top P^t`, so a little too high where walks visit an end twice, and never above 1. In a
    directed graph only the walks at the source of the edge count. About a third of these walks change: the others draw the
    same neighbour again.

    Args:
        graph: The graph.
        walk_length: Number of jumps in a walk, :math:`l_w`.

    Example:
        >>> ring = Graph.from_edges([range(100), [*range(1, 100), 0]])
        >>> [round(share, 6) for share in touched_shares(ring, 10)]
        [0.2, 0.2]
    """
    length, n = check_count("walk_length", walk_length), graph.num_nodes
    matrix, degree = graph.to_scipy(), graph.degree
    inverse = np.divide(1.0, degree, out=np.zeros(n), where=degree > 0)
    here = np.full(n, 1 / max(1, n))
    visits = np.zeros(n)
    for _ in range(length):
        visits += here
        here = matrix.T @ (here * inverse)
    source, target = graph.edge_index
    ends = visits[source] if graph.directed else visits[source] + visits[target]
    whole = (1 if graph.directed else 2) * visits.mean() if n else 0.0
    return TouchedShares(min(1.0, float(whole)), min(1.0, float(ends.mean())) if len(ends) else 0.0)

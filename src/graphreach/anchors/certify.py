"""Coverage measured on starts that the anchors were not selected on, with bounds."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.anchors.kernels import reached
from graphreach.graph import Graph
from graphreach.interrupts import call
from graphreach.walks.random_walks import row_chunks
from graphreach.walks.transitions import transitions

LOG_ODDS = math.log(100)
"""a in the bounds: each fails with probability exp(-a) = 0.01."""


def reached_starts(
    graph: Graph,
    starts: NDArray[np.uint32],
    anchors: NDArray[Any],
    num_walks: int,
    walk_length: int,
    seed: int,
    cluster: Any = None,
) -> int:
    """How many of ``starts`` have a walk that visits an anchor (other than the start itself); nothing is stored.

    Example:
        >>> path = Graph.from_edges([[0, 1], [1, 2]], directed=True)
        >>> reached_starts(path, np.arange(3, dtype=np.uint32), [2], num_walks=1, walk_length=2, seed=0)
        2
    """
    is_anchor = np.zeros(graph.num_nodes, np.bool_)
    is_anchor[anchors] = True
    is_anchor.flags.writeable = False
    if cluster is not None:
        return int(cluster.reached(starts, anchors, is_anchor, num_walks, walk_length, seed))
    total, steps = 0, num_walks * walk_length
    for rows in row_chunks(len(starts), steps, "measuring coverage"):
        here = starts[rows]
        found = call(
            reached, *transitions(graph), here, num_walks, walk_length, seed, is_anchor, work=len(here) * steps
        )
        total += int(found.sum())
    return total


def coverage_lower(covered: int, num_starts: int) -> float:
    """A lower bound of the true coverage when ``covered`` of ``num_starts`` random starts are covered.

    Example:
        >>> round(coverage_lower(900, 1000), 3)
        0.812
    """
    a = LOG_ODDS
    bound = (math.sqrt(covered + 2 * a / 9) - math.sqrt(a / 2)) ** 2 - a / 18
    return min(covered, max(0.0, bound)) / num_starts


def optimum_upper(bound: int, num_starts: int) -> float:
    """An upper bound of the best coverage when no k nodes cover more than ``bound`` of ``num_starts`` random starts.

    Example:
        >>> round(optimum_upper(900, 1000), 3)
        0.996
    """
    a = LOG_ODDS
    return min(1.0, (math.sqrt(bound + a / 2) + math.sqrt(a / 2)) ** 2 / num_starts)

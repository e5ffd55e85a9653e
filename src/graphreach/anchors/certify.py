"""Coverage measured on starts that the anchors were not selected on, with bounds."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.anchors.kernels import reached
from graphreach.walks.engine import Job, Walker
from graphreach.walks.kernels import bitmap
from graphreach.walks.transitions import Transitions

LOG_ODDS = math.log(100)
"""a in the bounds: each fails with probability exp(-a) = 0.01."""


@dataclass(frozen=True, kw_only=True)
class CountReached(Job):
    """How many starts have a walk that visits a node of ``wanted``, other than the start itself."""

    def walk(self, table: Transitions, starts: NDArray[np.uint32], out: NDArray[Any] | None = None) -> int:
        """The number for some starts."""
        out = np.zeros(len(starts), np.uint8)
        self.run(reached, table, starts, self.wanted, out)
        return int(np.count_nonzero(out))


def reached_starts(
    walker: Walker, starts: NDArray[np.uint32], anchors: NDArray[Any], num_walks: int, length: int, seed: int
) -> int:
    """How many of ``starts`` have a walk that visits an anchor (other than the start itself); nothing is stored.

    Example:
        >>> from graphreach import Graph
        >>> from graphreach.walks.engine import LocalWalker
        >>> path = LocalWalker(Graph.from_edges([[0, 1], [1, 2]], directed=True))
        >>> reached_starts(path, np.arange(3, dtype=np.uint32), [2], num_walks=1, length=2, seed=0)
        2
    """
    job = CountReached(num_walks=num_walks, length=length, seed=seed, wanted=bitmap(anchors, walker.num_nodes))
    return sum(count for _, count in walker.map(job, starts, "measuring coverage"))


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

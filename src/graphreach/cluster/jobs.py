"""What walks are made for, each as a job that workers do for some of the starts.

A job can be done in two ways with the same result: by walking on the whole graph, or from the paths that walkers took
through the parts of a graph. Where only visits to some nodes matter, ``wanted`` is their bitmap, and paths hold no others.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.anchors.bipartite import Piece, merged, visited_from
from graphreach.anchors.kernels import reached
from graphreach.cluster.walker_kernels import collect_paths, count_paths, paths_from, reached_by_paths
from graphreach.interrupts import NEVER
from graphreach.reachability.layouts import compress
from graphreach.reachability.sampled import Counting, Targets, Visits, count_rows, visits_of
from graphreach.walks.kernels import DEAD, store_walks
from graphreach.walks.transitions import Transitions

Starts = NDArray[np.uint32]
Paths = NDArray[np.uint32]
"""``[starts, num_walks, walk_length]``; DEAD where the walk has ended."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """Walks from each start, and what becomes of them."""

    num_walks: int
    length: int
    seed: int
    wanted: NDArray[np.uint64] | None = None
    row_bytes: int = field(default=0)

    @property
    def steps(self) -> int:
        """Steps of all walks of a start."""
        return self.num_walks * self.length

    def walk(self, table: Transitions, starts: Starts) -> Any:
        """The result for some starts, by walking."""
        raise NotImplementedError

    def replay(self, paths: Paths, starts: Starts) -> Any:
        """The result for some starts, from their walks' paths."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class StoreWalks(Job):
    """The walks themselves."""

    dtype: Any

    def walk(self, table: Transitions, starts: Starts) -> NDArray[Any]:
        out = np.empty((len(starts), self.num_walks, self.length + 1), self.dtype)
        store_walks(*table, starts, self.num_walks, self.seed, out, NEVER)
        return out

    def replay(self, paths: Paths, starts: Starts) -> NDArray[Any]:
        out = np.empty((len(starts), self.num_walks, self.length + 1), self.dtype)
        out[:, :, 0] = starts[:, None]
        out[:, :, 1:] = paths
        out[:, :, 1:][paths == DEAD] = -1
        return out


@dataclass(frozen=True, kw_only=True)
class CollectVisits(Job):
    """A piece of the bipartite graph that anchors are selected on."""

    num_samples: int
    share: float

    def walk(self, table: Transitions, starts: Starts) -> Piece:
        return visited_from(table, starts, self.num_walks, self.length, self.seed, self.num_samples, self.share)

    def replay(self, paths: Paths, starts: Starts) -> Piece:
        raw, lengths = np.empty((len(starts), self.steps), np.int64), np.zeros(len(starts), np.int64)
        collect_paths(paths, starts, self.seed, self.num_samples, self.share, raw, lengths)
        return merged(raw, lengths)


@dataclass(frozen=True, kw_only=True)
class CountReached(Job):
    """How many starts have a walk that visits an anchor."""

    is_anchor: NDArray[np.bool_]

    def walk(self, table: Transitions, starts: Starts) -> int:
        return int(reached(*table, starts, self.num_walks, self.length, self.seed, self.is_anchor, NEVER).sum())

    def replay(self, paths: Paths, starts: Starts) -> int:
        return int(reached_by_paths(paths, starts).sum())


@dataclass(frozen=True, kw_only=True)
class CountToAnchors(Job):
    """s(v, a) of the starts v, dense or compressed."""

    targets: Targets
    counting: Counting
    compressed: bool

    def walk(self, table: Transitions, starts: Starts) -> Any:
        out = self._room(starts)
        count_rows(table, starts, self.targets, self.counting, self.seed, out)
        return compress(out) if self.compressed else out

    def replay(self, paths: Paths, starts: Starts) -> Any:
        out, counting = self._room(starts), self.counting
        count_paths(
            paths, self.targets.column, self.targets.number, counting.step_weight, counting.hops, counting.first_only,
            counting.scale, out,
        )  # fmt: skip
        return compress(out) if self.compressed else out

    def _room(self, starts: Starts) -> NDArray[np.float32]:
        return np.empty((len(starts), self.targets.number * self.counting.hops), np.float32)


@dataclass(frozen=True, kw_only=True)
class CountFromAnchors(Job):
    """s(a, v) of the starts a, as entries."""

    counting: Counting

    def walk(self, table: Transitions, starts: Starts) -> Visits:
        return visits_of(table, starts, self.counting, self.seed)

    def replay(self, paths: Paths, starts: Starts) -> Visits:
        counting = self.counting
        room = counting.room(len(starts))
        paths_from(paths, counting.step_weight, counting.hops, counting.first_only, *room)
        return counting.entries(*room)

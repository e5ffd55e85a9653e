"""Visits of random walks to anchors, kept up to date while edges come and go."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphreach.graph import Graph
from graphreach.index.rows import Changed, Rows
from graphreach.index.visit_lists import COUNT, VisitLists
from graphreach.index.walk_kernels import (
    NOT_TURNED,
    count,
    count_back,
    find_turned,
    first_turns,
    follow,
    num_from_anchors,
)
from graphreach.limits import check_memory
from graphreach.progress import track
from graphreach.reachability.layouts import compress
from graphreach.reachability.sampled import Counting, by_column
from graphreach.walks.kernels import DEAD, bitmap

STEPS_AT_ONCE = 1 << 23
"""Steps of walks that are in memory at a time."""

SPARE = 1.25
"""Room for nodes that come later."""


class Turned(NamedTuple):
    """What a batch did.

    Attributes:
        walks: How many walks go elsewhere.
        to_rows: Positions of the nodes whose visits to anchors are others, rising.
        from_rows: Positions of the nodes that walks from anchors visit more or less often, rising.
    """

    walks: int
    to_rows: NDArray[np.int64]
    from_rows: NDArray[np.int64]


class WalkCounts:
    """Counts of visits to anchors, and of the walks that pass each node.

    A walk is taken by a hash of (seed, start, walk, step). Where the graph changes, a walk that never leaves from a node
    with another row is the same walk, and one that does often takes the same neighbour still. What is kept with the
    counts is, for each node, which walks leave from it at which step; the walks themselves are not.

    Args:
        graph: The graph in the beginning.
        anchors: Positions of the anchors.
        counting: What a visit counts.
        seed: Random seed of the walks.
        steady: Whether walkers draw neighbours such that fewer walks go elsewhere.
    """

    def __init__(
        self, graph: Graph, anchors: NDArray[np.int64], counting: Counting, seed: int, steady: bool = False
    ) -> None:
        self.anchors, self.counting, self.seed = anchors, counting, seed
        self.bits = max(1, int(counting.length - 1).bit_length())
        width = len(anchors) * counting.hops
        room = self._room(graph.num_nodes)
        kind = counting.step_weight.dtype
        check_memory(
            room * width * kind.itemsize + graph.num_nodes * counting.num_walks * counting.length * 6,
            f"an index of {graph.num_nodes} nodes and {len(anchors)} anchors", "take fewer anchors, walks or steps",
        )  # fmt: skip
        self.rows = Rows(graph, steady)
        self.counts: NDArray[Any] = np.zeros((room, width), kind)
        self._arrays_of_nodes(room)
        self.back: list[tuple[NDArray[Any], NDArray[np.int64]]] = [(np.empty(0), np.empty(0, np.int64))] * len(anchors)
        self.is_stale = np.ones(len(anchors), np.bool_)
        self._fill()

    @property
    def num_nodes(self) -> int:
        """How many nodes there are."""
        return self.rows.num_nodes

    @property
    def nbytes(self) -> int:
        """Memory of the lists of walks that pass each node."""
        return self.lists.nbytes + self.earliest.nbytes

    def _room(self, num_nodes: int) -> int:
        return int(num_nodes * SPARE) + 16

    def _arrays_of_nodes(self, room: int) -> None:
        self.is_anchor, self.column = bitmap(self.anchors, room), np.zeros(room, np.uint32)
        self.column[self.anchors] = np.arange(len(self.anchors))
        self.to_sums, self.from_sums = np.zeros(room, np.uint64), np.zeros(room, np.uint64)
        self.earliest = np.full(room * self.counting.num_walks, NOT_TURNED, np.uint16)

    def _fill(self) -> None:
        """Take all walks once to see how long the lists become, and once to fill them and count."""
        n, num_walks, length = self.num_nodes, self.counting.num_walks, self.counting.length
        passed = np.zeros(n, np.int64)
        size = max(1, STEPS_AT_ONCE // max(1, num_walks * length))
        begins = [*range(0, n, size)] * 2
        for number, begin in enumerate(track(begins, len(begins), "walks of the index")):
            end = min(begin + size, n)
            walks = np.arange(begin * num_walks, end * num_walks, dtype=np.int64)
            after, starts = (
                np.zeros(len(walks), np.uint16),
                np.repeat(np.arange(begin, end, dtype=np.uint32), num_walks),
            )
            paths = self._follow(walks, after, starts)
            if number < len(begins) // 2:
                inner = paths[:, 1:length].ravel()
                passed += np.bincount(inner[inner != DEAD], minlength=n)
                continue
            if number == len(begins) // 2:
                self.lists = VisitLists(passed, ((self._room(n) * num_walks) << self.bits) - 1)
            nowhere = np.full_like(paths, DEAD)
            self.lists.exchange(walks, after, nowhere, paths, self.bits)
            self._count(walks, after, nowhere, paths)
        if not begins:
            self.lists = VisitLists(passed, ((self._room(n) * num_walks) << self.bits) - 1)
        self.to_sums[:] = 0

    def _follow(self, walks: NDArray[np.int64], after: NDArray[Any], where: NDArray[np.uint32]) -> NDArray[np.uint32]:
        counting = self.counting
        paths = np.empty((len(walks), counting.length + 1), np.uint32)
        follow(walks, after, where, counting.first_only, *self.rows.table, counting.num_walks, self.seed, paths)
        return paths

    def _count(self, walks: NDArray[np.int64], after: NDArray[Any], old: Any, new: Any) -> None:
        counting = self.counting
        count(
            walks, after, old, new, counting.num_walks, self.is_anchor, self.column, counting.step_weight, counting.hops,
            counting.first_only, self.counts, self.to_sums,
        )  # fmt: skip

    def grow(self, num_nodes: int) -> None:
        """More nodes, without edges: their walks end where they start."""
        self.rows.grow(num_nodes)
        self.lists.grow(num_nodes)
        if num_nodes <= len(self.counts):
            return
        counts, room = self.counts, self._room(num_nodes)
        if ((room * self.counting.num_walks) << self.bits) - 1 > self.lists.most:
            self.lists.widen()
        self.counts = np.zeros((room, counts.shape[1]), counts.dtype)
        self.counts[: len(counts)] = counts
        self._arrays_of_nodes(room)

    def put(self, new: Changed, before: Changed) -> Turned:
        """The rows of some nodes changed: repeat the walks that leave from there for another neighbour."""
        walks, after, where = self._turned(new)
        old_head = self.rows.put(new, before)
        listed, seen = [], []
        size = max(1, STEPS_AT_ONCE // (self.counting.length + 1))
        # a table has room for what comes before anything goes: some walks at a time, it does not grow for nothing
        size = min(size, max(1024, self.num_nodes * self.counting.num_walks // 16))
        for begin in range(0, len(walks), size):
            some = slice(begin, begin + size)
            starts, visited = self._exchange(new.nodes, old_head, walks[some], after[some], where[some])
            listed.append(starts)
            seen.append(visited)
        return Turned(len(walks), self._changed(listed, self.to_sums), self._changed(seen, self.from_sums))

    def _turned(self, new: Changed) -> tuple[NDArray[np.int64], NDArray[np.uint16], NDArray[np.uint32]]:
        """Which walks go elsewhere, after which step, and from where."""
        lists, num_walks = self.lists, self.counting.num_walks
        sizes = lists.head[new.nodes, COUNT] + num_walks
        offsets = np.cumsum(sizes) - sizes
        found, entries = np.empty(len(sizes), np.int64), np.empty(sizes.sum(), lists.kind)
        find_turned(
            new.nodes, new.walk_pointer, new.walk_table, *self.rows.table, lists.head, lists.pool, lists.empty, self.bits,
            num_walks, self.seed, offsets, found, entries,
        )  # fmt: skip
        most = int(found.sum())
        walks, after, where = np.empty(most, np.int64), np.empty(most, np.uint16), np.empty(most, np.uint32)
        left = first_turns(new.nodes, offsets, found, entries, self.bits, self.earliest, walks, after, where)
        return walks[:left], after[:left], where[:left]

    def _exchange(
        self, nodes: NDArray[np.int64], old_head: NDArray[np.int64], walks: NDArray[np.int64], after: NDArray[np.uint16],
        where: NDArray[np.uint32],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
        """Follow walks by the rows from before and by those of now, and move what they count and pass."""
        head = self.rows.walking.turn(nodes, old_head)
        old = self._follow(walks, after, where)
        self.rows.walking.turn(nodes, head)
        new = self._follow(walks, after, where)
        self.lists.exchange(walks, after, old, new, self.bits)
        self._count(walks, after, old, new)
        return walks // self.counting.num_walks, self._count_back(walks, after, old, new)

    def _count_back(self, walks: NDArray[np.int64], after: NDArray[Any], old: Any, new: Any) -> NDArray[np.int64]:
        counting = self.counting
        from_anchors = num_from_anchors(walks, counting.num_walks, self.is_anchor)
        touched = np.empty(2 * counting.length * from_anchors, np.int64)
        found = 0
        if from_anchors:
            found = count_back(
                walks, after, old, new, counting.num_walks, self.is_anchor, self.column, counting.step_weight,
                counting.hops, counting.first_only, self.from_sums, touched, self.is_stale,
            )  # fmt: skip
        return touched[:found]

    def _changed(self, nodes: list[NDArray[np.int64]], sums: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Those of the nodes whose sums are no longer zero; the sums are set to zero."""
        changed = [each[sums[each] != 0] for each in nodes if len(each)]
        if not changed:
            return np.empty(0, np.int64)
        found = np.unique(changed[0] if len(changed) == 1 else np.concatenate(changed))
        sums[found] = 0
        return found

    def to_rows(self, nodes: Any = slice(None)) -> NDArray[np.float32]:
        """s(v, a) of some nodes or of all, ``[m, k * hops]``."""
        rows: NDArray[np.float32] = (self.counts[: self.num_nodes][nodes] * self.counting.scale).astype(np.float32)
        return rows

    def to_matrix(self, layout: str) -> Any:
        """s(v, a) of all nodes, dense or compressed."""
        return compress(self.to_rows()) if layout == "csr" else self.to_rows()

    def from_matrix(self, layout: str) -> Any:
        """s(a, v), dense or compressed."""
        for number in np.flatnonzero(self.is_stale):
            self.back[number] = self._walk_from(self.anchors[number])
        self.is_stale[:] = False
        scale = self.counting.scale
        pieces = [
            (entries, (totals * scale).astype(np.float32), np.array([len(entries)])) for entries, totals in self.back
        ]
        matrix = by_column(pieces, self.num_nodes, self.counting.hops)
        return csr_array(matrix.tocsr()) if layout == "csr" else matrix.toarray()

    def _walk_from(self, anchor: np.int64) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Whom walks from an anchor visit, and what that counts."""
        counting, length = self.counting, self.counting.length
        walks = anchor * counting.num_walks + np.arange(counting.num_walks, dtype=np.int64)
        after = np.zeros(len(walks), np.uint16)
        paths = self._follow(walks, after, np.full(len(walks), anchor, np.uint32))[:, 1:]
        counts = paths != DEAD
        if counting.first_only:
            for t in range(1, length):
                counts[:, t] &= (paths[:, :t] != paths[:, t, None]).all(axis=1)
        entries = paths.astype(np.int64) * counting.hops + (np.arange(length) if counting.hops > 1 else 0)
        weights = np.broadcast_to(counting.step_weight[1:].astype(np.int64), paths.shape)
        listed, place = np.unique(entries[counts], return_inverse=True)
        totals = np.zeros(len(listed), np.int64)
        np.add.at(totals, place, weights[counts])
        return listed.astype(np.uint32 if counting.hops == 1 else np.int64), totals

"""For every node the walks that pass it, in tables that take an entry in and let it go in a few steps.

An entry is a number: a walk and a step. A node's table has its entries near the place that their hash says; what is let go
leaves no mark, as those after it move up.
"""

from typing import Any

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from graphreach.jit import inline_kernel, kernel, parallel_kernel, rows_of
from graphreach.walks.kernels import DEAD, prefetch
from graphreach.walks.rng import GOLDEN

FULLEST = 0.8
"""Largest share of a table that is filled: beyond it, entries are far from their places."""

ROOM = 1.5
"""Room of a table that is made or moved, relative to the entries that it must hold."""

POOL_ROOM = 1.2
"""Room for tables that move, relative to what all take; once it is full, the places that were left are taken up again."""

BEGIN, PLACE, COUNT, WANTED = range(4)
"""Columns of :attr:`VisitLists.head`."""

AHEAD = 6
"""How many walks ahead a table is asked for."""


class VisitLists:
    """Entries of all nodes.

    Attributes:
        head: Where each node's table begins, how many entries it has room for, how many it has, and how many are to come,
            ``[room, 4]``.
        pool: The tables; the greatest number stands for no entry.
        end: Where the next table that moves begins.
        most: The largest entry that may come.
    """

    def __init__(self, counts: NDArray[np.int64], most: int) -> None:
        self.kind: Any = np.uint32 if most < 2**32 - 1 else np.uint64
        self.empty = self.kind(np.iinfo(self.kind).max)
        self.most = int(self.empty) - 1
        self.head, self.end = _laid_out(counts)
        self.pool = self._new_pool()

    def _new_pool(self) -> NDArray[Any]:
        """Free tables, and behind them room for others."""
        pool = np.empty(int(self.end * POOL_ROOM) + 1024, self.kind)
        pool[: self.end] = self.empty
        return pool

    @property
    def nbytes(self) -> int:
        """Memory that is in use."""
        return self.end * self.pool.itemsize + self.head.nbytes

    @property
    def num_entries(self) -> int:
        """Entries of all nodes."""
        return int(self.head[:, COUNT].sum())

    def entries(self, node: int) -> NDArray[Any]:
        """The entries of a node, in no order."""
        begin, place = self.head[node, :2]
        table = self.pool[begin : begin + place]
        entries: NDArray[Any] = table[table != self.empty]
        return entries

    def grow(self, num_nodes: int) -> None:
        """More nodes, without entries; some are kept to spare."""
        if num_nodes > len(self.head):
            more = num_nodes + num_nodes // 4 - len(self.head)
            self.head = np.concatenate([self.head, np.zeros((more, 4), np.int64)])

    def widen(self) -> None:
        """Take entries of 64 bits."""
        if self.kind is np.uint32:
            empty, self.kind = self.empty, np.uint64
            self.empty = self.kind(np.iinfo(self.kind).max)
            self.most = int(self.empty) - 1
            self.pool = np.where(self.pool == empty, self.empty, self.pool.astype(self.kind))

    def exchange(self, walks: NDArray[np.int64], after: NDArray[Any], old: Any, new: Any, bits: int) -> None:
        """Walks pass other nodes from some step on: their entries move.

        Args:
            walks: The walks' numbers.
            after: The last step of each that stays.
            old: Where they were, ``[walks, length + 1]``.
            new: Where they are.
            bits: Bits of an entry that hold the step.
        """
        at = 0
        while at < len(walks):
            at, self.end = _make_room(after, old, new, self.head, self.pool, self.end, self.empty, at)
            if at < len(walks):
                self._rewrite()
        _exchange(walks, after, old, new, bits, self.head, self.pool, self.empty)

    def _rewrite(self) -> None:
        """All tables one after the other, without those that were left, and with more room."""
        old, pool = self.head, self.pool
        self.head, self.end = _laid_out(old[:, COUNT] + old[:, WANTED])
        self.head[:, COUNT:] = old[:, COUNT:]
        self.pool = self._new_pool()
        _move_all(old, pool, self.head, self.pool, self.empty)


def _laid_out(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Tables with room for given numbers of entries, one after the other, and where they end."""
    place = np.where(counts > 0, (counts * ROOM).astype(np.int64) + 4, 0)
    head = np.zeros((len(counts), 4), np.int64)
    head[:, BEGIN], head[:, PLACE] = np.cumsum(place) - place, place
    return head, int(place.sum())


@inline_kernel
def _home(entry: Any, place: Any) -> Any:
    """Where an entry would like to be in a table with that much room."""
    return np.int64((((uint64(entry) * GOLDEN) >> uint64(32)) * uint64(place)) >> uint64(32))


@inline_kernel
def _put_in(pool: Any, begin: Any, place: Any, entry: Any, empty: Any) -> None:
    """Put an entry that is not there into a table that has room."""
    at = _home(entry, place)
    while pool[begin + at] != empty:
        at += 1
        if at == place:
            at = 0
    pool[begin + at] = entry


@inline_kernel
def _let_go(pool: Any, begin: Any, place: Any, entry: Any, empty: Any) -> None:
    """Take an entry that is there out, and move those up that had to give way to it."""
    gap = _home(entry, place)
    while pool[begin + gap] != entry:
        gap += 1
        if gap == place:
            gap = 0
    at = gap
    while True:
        at += 1
        if at == place:
            at = 0
        other = pool[begin + at]
        if other == empty:
            break
        home = _home(other, place)
        # it stays if its home lies behind the gap, up to where it is, around the end or not
        if not ((gap < home and home <= at) if gap <= at else (gap < home or home <= at)):
            pool[begin + gap] = other
            gap = at
    pool[begin + gap] = empty


@kernel
def _make_room(after: Any, old: Any, new: Any, head: Any, pool: Any, end: Any, empty: Any, at: Any) -> Any:
    """Make room in the tables of the nodes that walks from the ``at``-th on pass now, and note how many are to come.

    Returns the first walk for which there is no room, and the new end.
    """
    length = new.shape[1] - 1
    for i in range(at, len(new)):
        for t in range(np.int64(after[i]) + 1, length):
            v = new[i, t]
            if v == DEAD or v == old[i, t]:
                continue
            row = head[v]
            need = row[COUNT] + row[WANTED] + 2
            if need > np.int64(row[PLACE] * FULLEST):
                room = np.int64(need * ROOM) + 4
                if end + room > len(pool):
                    for s in range(np.int64(after[i]) + 1, t):
                        if new[i, s] != DEAD and new[i, s] != old[i, s]:
                            head[new[i, s], WANTED] -= 1
                    return i, end
                for j in range(end, end + room):
                    pool[j] = empty
                for j in range(row[BEGIN], row[BEGIN] + row[PLACE]):
                    if pool[j] != empty:
                        _put_in(pool, end, room, pool[j], empty)
                row[BEGIN], row[PLACE] = end, room
                end += room
            row[WANTED] += 1
    return len(new), end


@parallel_kernel
def _exchange(
    share: Any, walks: Any, after: Any, old: Any, new: Any, bits: Any, head: Any, pool: Any, empty: Any
) -> None:
    """Each thread cares for some of the nodes, as a table is nobody else's. Tables that come next are on their way."""
    length = new.shape[1] - 1
    mine, of = np.uint32(share[0]), np.uint32(share[1])
    for i in range(len(walks)):
        if i + 2 * AHEAD < len(walks):
            far = i + 2 * AHEAD
            for t in range(np.int64(after[far]) + 1, length):
                for v in (old[far, t], new[far, t]):
                    if v != DEAD:
                        prefetch(head, 4 * np.int64(v))
        if i + AHEAD < len(walks):
            near = i + AHEAD
            for t in range(np.int64(after[near]) + 1, length):
                entry = (walks[near] << bits) | t
                for v in (old[near, t], new[near, t]):
                    if v != DEAD and v % of == mine:
                        prefetch(pool, head[v, BEGIN] + _home(entry, head[v, PLACE]))
        for t in range(np.int64(after[i]) + 1, length):
            x, y = old[i, t], new[i, t]
            if x == y:
                continue
            entry = pool.dtype.type((walks[i] << bits) | t)
            if x != DEAD and x % of == mine:
                _let_go(pool, head[x, BEGIN], head[x, PLACE], entry, empty)
                head[x, COUNT] -= 1
            if y != DEAD and y % of == mine:
                _put_in(pool, head[y, BEGIN], head[y, PLACE], entry, empty)
                head[y, COUNT] += 1
                head[y, WANTED] = 0


@parallel_kernel
def _move_all(share: Any, old: Any, pool: Any, head: Any, new_pool: Any, empty: Any) -> None:
    for v in rows_of(share, len(old)):
        for i in range(old[v, BEGIN], old[v, BEGIN] + old[v, PLACE]):
            if pool[i] != empty:
                _put_in(new_pool, head[v, BEGIN], head[v, PLACE], pool[i], empty)

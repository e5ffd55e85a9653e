"""Tables from which a walker draws a neighbour, such that most draws stay what they were when the row changes.

In a sorted row of d neighbours a draw is a place, and one neighbour more moves those behind it: a third of all draws are
others. Here a row has a table of at least 2 d places, a power of two. Neighbours stand in it by a hash of their number:
each at its home, or behind the one before. Places are drawn until one is taken, which is fair whatever the table looks
like, and one neighbour more or less turns a few draws in d. The table depends on the row alone, not on how it came about.
"""

from typing import Any

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from graphreach.jit import inline_kernel, kernel
from graphreach.walks.kernels import DEAD
from graphreach.walks.rng import GOLDEN, mix

Tables = tuple[NDArray[np.int64], NDArray[np.uint32]]
"""Where the table of each row begins, and the places; one that is free holds no node."""


def tables(pointer: NDArray[np.int64], targets: NDArray[np.uint32], before: Any = None) -> Tables:
    """The tables of some rows.

    Args:
        pointer: Where each row begins, and the end.
        targets: The neighbours, rising in each row.
        before: Pointers, neighbours and tables (pointers, places) of the same rows before, from which those of rows that
            changed little are made.
    """
    if before is None:
        nothing = np.zeros(len(pointer), np.int64), np.empty(0, np.uint32)
        before = (*nothing, *nothing)
    return _make(pointer, targets, *before)  # type: ignore[no-any-return]


@inline_kernel
def _key(node: Any) -> Any:
    """A hash of a node that distinguishes all nodes: 32 bits, and its number."""
    return ((mix(uint64(node) * GOLDEN) >> uint64(32)) << uint64(32)) | uint64(node)


@inline_kernel
def _home(key: Any, size: Any) -> Any:
    """Where a neighbour stands if no other does; the last eighth is for those that have to give way."""
    return np.int64(((key >> uint64(32)) * uint64(size - (size >> 3))) >> uint64(32))


@inline_kernel
def _least_size(degree: Any) -> Any:
    """Places of a table: the power of two from twice the degree on."""
    size = np.int64(0 if degree == 0 else 2)
    while size < 2 * degree:
        size *= 2
    return size


@kernel
def _make(
    pointer: Any, targets: Any, old_pointer: Any, old_targets: Any, old_begin: Any, old_places: Any
) -> tuple[Any, Any]:
    rows = len(pointer) - 1
    begin = np.zeros(rows + 1, np.int64)
    room = np.int64(0)
    for i in range(rows):
        room += _least_size(pointer[i + 1] - pointer[i])
    places = np.full(room + 64, DEAD, np.uint32)
    for i in range(rows):
        row = targets[pointer[i] : pointer[i + 1]]
        size, at = _least_size(len(row)), begin[i]
        if at + size > len(places):
            places = _longer(places, at + size)
        old_size = old_begin[i + 1] - old_begin[i]
        is_made = False
        if size > 0 and old_size == size:
            for j in range(size):
                places[at + j] = old_places[old_begin[i] + j]
            is_made = _follow(places[at : at + size], old_targets[old_pointer[i] : old_pointer[i + 1]], row)
        while size > 0 and not is_made:
            if at + size > len(places):
                places = _longer(places, at + size)
            is_made = _fill(places[at : at + size], row)
            size *= 1 if is_made else 2
        begin[i + 1] = at + size
    return begin, places[: begin[rows]]


@kernel
def _longer(places: Any, least: Any) -> Any:
    out = np.full(max(2 * len(places), least), DEAD, np.uint32)
    out[: len(places)] = places
    return out


@kernel
def _fill(table: Any, row: Any) -> Any:
    """Put a row into an empty table; False if the last neighbours find no place."""
    keys = np.empty(len(row), np.uint64)
    for j in range(len(row)):
        keys[j] = _key(row[j])
    keys.sort()
    for j in range(len(table)):
        table[j] = DEAD
    last = np.int64(-1)
    for j in range(len(keys)):
        last = max(_home(keys[j], len(table)), last + 1)
        if last >= len(table):
            return False
        table[last] = np.uint32(keys[j] & uint64(0xFFFFFFFF))
    return True


@kernel
def _follow(table: Any, before: Any, now: Any) -> Any:
    """Take those out who are gone and put those in who came; False if there is no place for one."""
    i, j = 0, 0
    while i < len(before) or j < len(now):
        if j == len(now) or (i < len(before) and before[i] < now[j]):
            _take_out(table, before[i])
            i += 1
        elif i == len(before) or now[j] < before[i]:
            if not _put_in(table, now[j]):
                return False
            j += 1
        else:
            i += 1
            j += 1
    return True


@kernel
def _put_in(table: Any, node: Any) -> Any:
    key = _key(node)
    at = _home(key, len(table))
    while at < len(table) and table[at] != DEAD and _key(table[at]) < key:
        at += 1
    moved = np.uint32(node)
    while at < len(table):
        here = table[at]
        table[at] = moved
        if here == DEAD:
            return True
        moved = here
        at += 1
    return False


@kernel
def _take_out(table: Any, node: Any) -> None:
    at = _home(_key(node), len(table))
    while table[at] != node:
        at += 1
    while at + 1 < len(table) and table[at + 1] != DEAD and _home(_key(table[at + 1]), len(table)) <= at:
        table[at] = table[at + 1]
        at += 1
    table[at] = DEAD

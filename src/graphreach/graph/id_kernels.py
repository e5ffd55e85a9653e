"""Numba kernels that number integer ids: a rank table for dense ranges, a hash table for scattered ones."""

import numpy as np
from numpy.typing import NDArray

from graphreach.jit import kernel


@kernel
def mark_present(values: NDArray[np.int64], base: int, present: NDArray[np.uint8]) -> None:
    """Set ``present[value - base]`` for every value."""
    for i in range(values.size):
        present[values[i] - base] = 1


@kernel
def look_up_ranks(values: NDArray[np.int64], base: int, ranks: NDArray[np.uint32], out: NDArray[np.uint32]) -> None:
    """Write ``ranks[value - base]`` for every value."""
    for i in range(values.size):
        out[i] = ranks[values[i] - base]


@kernel
def _slot(value: int, mask: int) -> np.int64:
    mixed = np.uint64(value) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(mixed >> np.uint64(32)) & mask


@kernel
def _grow(table: NDArray[np.int64]) -> NDArray[np.int64]:
    mask = 2 * len(table) - 1
    larger = np.zeros((2 * len(table), 2), np.int64)
    for i in range(len(table)):
        if table[i, 1] > 0:
            slot = _slot(table[i, 0], mask)
            while larger[slot, 1] > 0:
                slot = (slot + 1) & mask
            larger[slot] = table[i]
    return larger


@kernel
def number_values(
    values: NDArray[np.int64], out: NDArray[np.uint32], table: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], int]:
    """Number values in the order of their first occurrence, by an open-addressing hash table.

    ``table`` (a power of two rows of value and number; numbers count from 1, 0 marks a free row) holds
    ``count`` values; the table after these values is returned, so that a second array continues the numbering
    of the first.
    """
    mask = len(table) - 1
    for i in range(values.size):
        value = values[i]
        slot = _slot(value, mask)
        while table[slot, 1] > 0 and table[slot, 0] != value:
            slot = (slot + 1) & mask
        if table[slot, 1] == 0:
            count += 1
            table[slot, 0] = value
            table[slot, 1] = count
            out[i] = count - 1
            if 2 * count > len(table):
                table = _grow(table)
                mask = len(table) - 1
        else:
            out[i] = table[slot, 1] - 1
    return table, count


@kernel
def first_rows(codes: NDArray[np.uint32], begin: int, end: int) -> NDArray[np.int64]:
    """Return where each code from ``begin`` to ``end`` first occurs; they count up in that order."""
    rows = np.empty(end - begin, np.int64)
    found = 0
    for i in range(codes.size):
        if codes[i] == begin + found:
            rows[found] = i
            found += 1
    return rows[:found]

"""Numba kernels that turn edge lists into CSR, and ids into numbers.

An edge is a ``uint64`` key: the row in the high bits, the column in the low ``bits``. Keys are sorted by
radix, eleven bits at a time: its reads are sequential and its writes go to few places at once, where counting
straight into millions of rows would miss the cache at every edge.

Weights are ``float64``, an empty array where there are none, so that each kernel is compiled once.
"""

import numpy as np
from numpy.typing import NDArray

from graphreach.graph.build import EQUAL, MEAN, MIN, RELATIVE_TOLERANCE, SUM
from graphreach.jit import kernel

Key = NDArray[np.uint64]
Index = NDArray[np.uint32]
Pointer = NDArray[np.int64]
Weight = NDArray[np.float64]

DIGIT_BITS = 11
"""Bits a pass of the radix sort: 2048 counters fit the fastest cache."""


@kernel
def pack_edges(
    source: Index, target: Index, weights: Weight, bits: int, directed: bool, self_loops: bool
) -> tuple[Key, Weight]:
    """Pack edges into keys; an undirected edge has its smaller end as row.

    The weight of an undirected edge listed from its larger to its smaller end is negated. So merging repeats can
    distinguish the two directions.
    """
    weighted = weights.size > 0
    shift = np.uint64(bits)
    keys = np.empty(source.size, np.uint64)
    values = np.empty(weights.size, np.float64)
    size = 0
    for e in range(source.size):
        u, v = np.uint64(source[e]), np.uint64(target[e])
        if u == v and not self_loops:
            continue
        backward = not directed and u > v
        keys[size] = (v << shift) | u if backward else (u << shift) | v
        if weighted:
            values[size] = -weights[e] if backward else weights[e]
        size += 1
    return keys[:size], values[: size if weighted else 0]


@kernel
def radix_sort(keys: Key, weights: Weight, low: int, high: int) -> tuple[Key, Weight]:
    """Sort keys by their bits from ``low`` to ``high``, stably; both arrays are used up as work space."""
    weighted = weights.size > 0
    other_keys = np.empty(keys.size, np.uint64)
    other_weights = np.empty(weights.size, np.float64)
    passes = (high - low + DIGIT_BITS - 1) // DIGIT_BITS
    for p in range(passes):
        first = low + (high - low) * p // passes
        last = low + (high - low) * (p + 1) // passes
        shift, mask = np.uint64(first), np.uint64((1 << (last - first)) - 1)
        starts = np.zeros((1 << (last - first)) + 1, np.int64)
        for e in range(keys.size):
            starts[((keys[e] >> shift) & mask) + np.uint64(1)] += 1
        for i in range(1, starts.size):
            starts[i] += starts[i - 1]
        for e in range(keys.size):
            digit = (keys[e] >> shift) & mask
            position = starts[digit]
            starts[digit] = position + 1
            other_keys[position] = keys[e]
            if weighted:
                other_weights[position] = weights[e]
        keys, other_keys = other_keys, keys
        weights, other_weights = other_weights, weights
    return keys, weights


@kernel
def merge_weights(weights: Weight, reduce: int) -> float:
    """Merge the weights of one edge: negative ones run backward; -1.0 if the directions differ and may not.

    Each direction is summed from small to large, so that the order in which edges came does not show in the
    last bits.
    """
    weights.sort()
    split = 0
    while split < weights.size and weights[split] < 0:
        split += 1
    backward, forward = 0.0, 0.0
    for i in range(split - 1, -1, -1):
        backward -= weights[i]
    for i in range(split, weights.size):
        forward += weights[i]
    if split == 0 or split == weights.size or reduce == SUM:
        return forward + backward
    if reduce == MEAN:
        return 0.5 * (forward + backward)
    if reduce == MIN:
        return min(forward, backward)
    if reduce == EQUAL and abs(forward - backward) > RELATIVE_TOLERANCE * max(forward, backward):
        return -1.0
    return max(forward, backward)


@kernel
def merge_repeats(keys: Key, weights: Weight, reduce: int) -> tuple[int, int]:
    """Merge equal neighbours among sorted keys, in place.

    Returns the number of keys left, and the first of them whose two directions have different weights, or -1.
    """
    weighted = weights.size > 0
    written, begin, conflict = 0, 0, -1
    while begin < keys.size:
        stop = begin + 1
        while stop < keys.size and keys[stop] == keys[begin]:
            stop += 1
        if weighted:
            merged = abs(weights[begin]) if stop == begin + 1 else merge_weights(weights[begin:stop], reduce)
            if merged < 0 and conflict < 0:
                conflict = written
            weights[written] = merged
        keys[written] = keys[begin]
        written += 1
        begin = stop
    return written, conflict


@kernel
def join_rows(
    lower: Key, lower_weights: Weight, upper: Key, upper_weights: Weight, num_nodes: int, bits: int
) -> tuple[Pointer, Index, Weight]:
    """Make CSR rows out of two lists of sorted keys; within a row, ``lower`` comes before ``upper``."""
    shift, mask = np.uint64(bits), np.uint64((1 << bits) - 1)
    weighted = upper_weights.size > 0
    indptr = np.zeros(num_nodes + 1, np.int64)
    indices = np.empty(lower.size + upper.size, np.uint32)
    weights = np.empty(lower_weights.size + upper_weights.size, np.float64)
    i, j, size = 0, 0, 0
    for row in range(num_nodes):
        while i < lower.size and np.int64(lower[i] >> shift) == row:
            indices[size] = lower[i] & mask
            if weighted:
                weights[size] = lower_weights[i]
            i += 1
            size += 1
        while j < upper.size and np.int64(upper[j] >> shift) == row:
            indices[size] = upper[j] & mask
            if weighted:
                weights[size] = upper_weights[j]
            j += 1
            size += 1
        indptr[row + 1] = size
    return indptr, indices, weights


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
            larger[slot, 0], larger[slot, 1] = table[i, 0], table[i, 1]  # rows as a whole take seconds to compile
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

"""Numba kernels for walkers that travel between the parts of a graph.

A walker is 64 bits: the node it stands on, and its number among the walkers of a wave. The random numbers of its steps
follow from (seed, start, walk), and start and walk from its number, so nothing else travels.
"""

from typing import Any

import numpy as np
from numba import uint32, uint64

from graphreach.jit import kernel
from graphreach.walks.kernels import BLOCK, DEAD, advance, in_bitmap, new_block
from graphreach.walks.rng import start_key, walk_key

SLOT = np.uint64(0xFFFFFFFF)
"""The bits of a walker that hold its number."""


def first_walkers(starts: Any, first: int, end: int, num_walks: int, low: int, high: int) -> Any:
    """The walkers of those of ``starts[first:end]`` that are in ``low .. high - 1``."""
    rows = first + np.flatnonzero((starts[first:end] >= low) & (starts[first:end] < high))
    numbers = rows[:, None] * num_walks + np.arange(num_walks)
    return (starts[rows, None].astype(np.uint64) << np.uint64(32) | numbers.astype(np.uint64)).ravel()


@kernel
def move(
    indptr: Any, indices: Any, alias: Any, low: Any, walkers: Any, starts: Any, num_walks: Any, seed: Any, step: Any
) -> None:
    """Move all walkers one step; the rows are those of the nodes from ``low`` on."""
    block = new_block()
    current, keys = block[0], block[1]
    for begin in range(0, len(walkers), BLOCK):
        count = min(BLOCK, len(walkers) - begin)
        for i in range(count):
            slot = np.int64(walkers[begin + i] & SLOT)
            row = slot // num_walks
            current[i] = uint32((walkers[begin + i] >> uint64(32)) - uint64(low))
            keys[i] = walk_key(start_key(seed, starts[row]), slot - row * num_walks)
        advance(indptr, indices, alias, block, count, step)
        for i in range(count):
            walkers[begin + i] = uint64(current[i]) << uint64(32) | (walkers[begin + i] & SLOT)


@kernel
def by_part(walkers: Any, bounds: Any) -> Any:
    """Walkers sorted by the part they stand on, those at dead ends dropped, and where each part's begin."""
    parts = len(bounds) - 1
    part = np.empty(len(walkers), np.int32)
    begin = np.zeros(parts + 2, np.int64)
    for i in range(len(walkers)):
        v = walkers[i] >> uint64(32)
        part[i] = parts if v == uint64(DEAD) else np.searchsorted(bounds, v, side="right") - 1
        begin[part[i] + 1] += 1
    for p in range(parts + 1):
        begin[p + 1] += begin[p]
    out = np.empty(len(walkers), np.uint64)
    cursor = begin.copy()
    for i in range(len(walkers)):
        out[cursor[part[i]]] = walkers[i]
        cursor[part[i]] += 1
    return out[: begin[parts]], begin[: parts + 1]


@kernel
def keep_wanted(walkers: Any, wanted: Any) -> Any:
    """The walkers that stand on a node of the bitmap."""
    stays = np.empty(len(walkers), np.bool_)
    for i in range(len(walkers)):
        stays[i] = in_bitmap(wanted, walkers[i] >> uint64(32))
    return walkers[stays]

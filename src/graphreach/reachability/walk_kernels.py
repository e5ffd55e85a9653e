"""Numba kernels that count what walks visit, without storing the walks.

Counts are integers, so their sums do not depend on the order of additions: results are the same bit for bit with any
number of threads and any block size. A visit at step t adds ``step_weight[t]``: 1 for the frequency of Eq. 1; for the
order-weighted similarity of App. A the fixed-point number 2^40 / t, for the first visit of a walk only.
"""

from typing import Any

import numpy as np
from numba import uint64

from graphreach.jit import fill, kernel, parallel_kernel
from graphreach.walks.kernels import BLOCK, DEAD, advance, enter, in_bitmap, new_block, rows_per_block

STEP_BITS = 20
"""Bits of a packed visit that hold the step; walks are shorter than 2^20."""


@parallel_kernel
def count_visits(
    share: Any, indptr: Any, indices: Any, alias: Any, starts: Any, num_walks: Any, walk_length: Any, seed: Any,
    is_anchor: Any, column: Any, num_anchors: Any, step_weight: Any, hops: Any, first_only: Any, scale: Any, out: Any,
    stop: Any,
) -> None:  # fmt: skip
    """Row r of ``out`` gets ``scale`` times the visits that walks from ``starts[r]`` pay to each anchor.

    ``is_anchor`` is a bitmap (it stays in cache where a column number a node would not), ``column`` the anchor's column.
    With ``hops`` above 1 an anchor has that many columns, one for each step. Ends early if ``stop[0]``.
    """
    rows = rows_per_block(num_walks)
    width = num_anchors * hops
    for b in range(share[0], (len(starts) + rows - 1) // rows, share[1]):
        block = new_block()
        row = b * rows
        end = min(row + rows, len(starts))
        counts = np.zeros((end - row, width), step_weight.dtype)
        hits = np.empty(BLOCK + 1, np.int64)
        seen = np.zeros((BLOCK if first_only else 1, (num_anchors + 63) // 64), np.uint64)
        for first in range(0, num_walks, BLOCK):
            last = min(first + BLOCK, num_walks)
            count = enter(block, starts, row, end, num_walks, walk_length, first, seed)
            for i in range(len(seen)):
                fill(seen[i], 0)
            for step in range(1, walk_length + 1):
                if stop[0] != 0:
                    break
                advance(indptr, indices, alias, block, count, step)
                found = _find_hits(block[0], count, is_anchor, hits)
                offset = step - 1 if hops > 1 else 0
                for h in range(found):
                    i = hits[h]
                    c = np.int64(column[block[0][i]])
                    if first_only and was_seen(seen[i], c):
                        continue
                    counts[i // (last - first), c * hops + offset] += step_weight[step]
        for r in range(end - row):
            for j in range(width):
                out[row + r, j] = counts[r, j] * scale


@kernel
def _find_hits(current: Any, count: Any, is_anchor: Any, hits: Any) -> Any:
    """The walkers that stand on an anchor."""
    found = np.int64(0)
    for i in range(count):
        v = current[i]
        if v != DEAD:
            hits[found] = i
            found += in_bitmap(is_anchor, v)
    return found


@kernel
def was_seen(seen: Any, column: Any) -> Any:
    """Whether the walker visited this anchor before; it has from now on."""
    bit = uint64(1) << uint64(column & 63)
    if seen[column >> 6] & bit:
        return True
    seen[column >> 6] |= bit
    return False


@parallel_kernel
def visits_from(
    share: Any, indptr: Any, indices: Any, alias: Any, sources: Any, num_walks: Any, walk_length: Any, seed: Any,
    step_weight: Any, hops: Any, first_only: Any, visits: Any, totals: Any, lengths: Any, stop: Any,
) -> None:  # fmt: skip
    """Row j of ``visits`` gets the nodes that walks from ``sources[j]`` visit, sorted, beside their ``totals``.

    With ``hops`` above 1 an entry is node * hops + step - 1, else the node. Ends early if ``stop[0]``.
    """
    for j in range(share[0], len(sources), share[1]):
        block = new_block()
        current = block[0]
        filled = 0
        path = np.empty((BLOCK if first_only else 1, walk_length + 1), np.uint32)
        for first in range(0, num_walks, BLOCK):
            count = enter(block, sources, j, j + 1, num_walks, walk_length, first, seed)
            for step in range(1, walk_length + 1):
                if stop[0] != 0:
                    break
                advance(indptr, indices, alias, block, count, step)
                for i in range(count):
                    v = current[i]
                    if v == DEAD:
                        continue
                    if first_only:
                        path[i, step] = v
                        if on_path(path[i], step):
                            continue
                    visits[j, filled] = np.int64(v) << STEP_BITS | step
                    filled += 1
        if stop[0] == 0:
            visits[j, :filled].sort()
        lengths[j] = merge(visits[j], totals[j], filled, step_weight, hops)


@kernel
def on_path(path: Any, step: Any) -> Any:
    """Whether the node at ``step`` was visited at an earlier step; the start (step 0) is not a visit."""
    for t in range(1, step):  # noqa: SIM110 -- numba has no any()
        if path[t] == path[step]:
            return True
    return False


@kernel
def merge(visits: Any, totals: Any, filled: Any, step_weight: Any, hops: Any) -> Any:
    """Replace sorted packed visits by different entries with their summed weights; returns how many there are."""
    out = -1
    for i in range(filled):
        node = visits[i] >> STEP_BITS
        step = visits[i] & ((1 << STEP_BITS) - 1)
        entry = node * hops + (step - 1 if hops > 1 else 0)
        if out < 0 or visits[out] != entry:
            out += 1
            visits[out] = entry
            totals[out] = 0
        totals[out] += step_weight[step]
    return out + 1


@parallel_kernel
def count_pairs(
    share: Any, indptr: Any, indices: Any, alias: Any, sources: Any, pointer: Any, targets: Any, num_walks: Any,
    walk_length: Any, seed: Any, hops: Any, scale: Any, out: Any, stop: Any,
) -> None:  # fmt: skip
    """``out[p]`` gets the share of visits that walks from ``sources[j]`` pay to ``targets[p]``.

    The targets of source j are ``targets[pointer[j] .. pointer[j + 1]]``, sorted and different.
    Ends early if ``stop[0]``.
    """
    for j in range(share[0], len(sources), share[1]):
        block = new_block()
        current = block[0]
        begin, end = pointer[j], pointer[j + 1]
        counts = np.zeros((end - begin, hops), np.int64)
        for first in range(0, num_walks, BLOCK):
            count = enter(block, sources, j, j + 1, num_walks, walk_length, first, seed)
            for step in range(1, walk_length + 1):
                if stop[0] != 0:
                    break
                advance(indptr, indices, alias, block, count, step)
                offset = step - 1 if hops > 1 else 0
                for i in range(count):
                    v = current[i]
                    if v == DEAD:
                        continue
                    p = np.searchsorted(targets[begin:end], v)
                    if p < end - begin and targets[begin + p] == v:
                        counts[p, offset] += 1
        for p in range(end - begin):
            for h in range(hops):
                out[begin + p, h] = counts[p, h] * scale

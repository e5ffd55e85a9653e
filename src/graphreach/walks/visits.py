"""Which nodes walks visit: all visits from a start are collected and merged, or those to given nodes are counted."""

from typing import Any, NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from graphreach.jit import fill, kernel, long_kernel, on_helpers, parallel_kernel, rows_of
from graphreach.walks.engine import Job, Transitions
from graphreach.walks.kernels import BLOCK, DEAD, advance, enter, in_bitmap, new_block, rows_per_block
from graphreach.walks.rng import GOLDEN, mix

ALL_WALKS = 7
"""The bit of a byte of samples that stands for all walks."""

STEP, NODE = 8, 28
"""Where a packed visit holds its step (20 bits, above a byte of samples) and its node (32 bits)."""

NO_VISIT = np.int64(2**63 - 1)
"""Fills rows, and is sorted to their ends."""

BYTES_PER_STEP = 25
"""Memory for each step of the walks from a start while visits are merged."""


class Visits(NamedTuple):
    """What walks from some starts visit: entries ``offsets[r] .. offsets[r + 1]`` are those of the r-th of them.

    Attributes:
        offsets: ``[starts + 1]``.
        entries: The node, or node * hops + step - 1 where steps are kept separate; ascending for each start.
        samples: The samples of walks that visit it, one bit each; the bit :data:`ALL_WALKS` is always set.
        totals: The summed weights of the visits.
    """

    offsets: NDArray[np.int64]
    entries: NDArray[Any]
    samples: NDArray[np.uint8]
    totals: NDArray[np.int64]


def collect_visits(
    job: Job, table: Transitions, starts: NDArray[np.uint32], step_weight: NDArray[Any], *, samples: int = 0,
    chance: float = 0.0, hops: int = 1, returns: bool = True, first_only: bool = False,
) -> Visits:  # fmt: skip
    """Walk from ``starts`` and list whom the walks visit.

    Args:
        job: Says how many walks there are, and how long they are.
        table: Where walks can go.
        starts: Positions of the start nodes.
        step_weight: What a visit at each step adds to the totals, ``[length + 1]``.
        samples: Samples of walks to draw, at most 7.
        chance: Probability of a walk to belong to each of them.
        hops: The length of the walks to list steps separately, else 1.
        returns: Whether a walk that comes back to its start visits it.
        first_only: Whether only the first visit of a walk to a node counts.
    """
    visits, offsets = np.empty((len(starts), job.steps), np.int64), np.zeros(len(starts) + 1, np.int64)
    job.run(_list_sorted, table, starts, samples, chance, returns, first_only, visits, hops, offsets[1:])
    np.cumsum(offsets, out=offsets)
    entries = np.empty(offsets[-1], np.uint32 if hops == 1 else np.int64)
    masks, totals = np.empty(offsets[-1], np.uint8), np.empty(offsets[-1], np.int64)
    _merge(visits, hops, step_weight, offsets, entries, masks, totals)
    return Visits(offsets, entries, masks, totals)


def equal_weights(length: int, visits: int) -> NDArray[Any]:
    """A weight of 1 for each step, of the type that up to ``visits`` are counted in: 32 bits keep more in cache."""
    weights = np.ones(length + 1, np.int32 if visits < 2**31 else np.int64)
    weights.flags.writeable = False
    return weights


@on_helpers
def _list_sorted(
    share: Any, indptr: Any, indices: Any, alias: Any, starts: Any, num_walks: Any, *arguments: Any
) -> None:
    """What one thread does: list the visits of some starts, sort them and count the different ones.

    NumPy sorts as fast as a kernel, which would take seconds to compile.
    """
    *walking, visits, hops, distinct = arguments
    _list_visits(share, indptr, indices, alias, starts, num_walks, *walking, visits, distinct)
    if share[2][0] != 0:
        return
    rows = max(1, BLOCK // num_walks)
    blocks = -(-len(starts) // rows)
    mine = slice(*(rows * (blocks * i // share[1]) for i in (share[0], share[0] + 1)))
    visits[mine].sort(axis=1)
    _count_entries(visits[mine], hops, distinct[mine])


@kernel
def sample_mask(key: Any, num_samples: Any, chance: Any) -> Any:
    """The samples that a walk belongs to, each with probability ``chance``, by a hash of the walk's key."""
    mask = np.int64(1) << ALL_WALKS
    for s in range(num_samples):
        # steps hash key + step * GOLDEN; counting down from the key keeps this stream apart from them
        if (mix(key - uint64(s + 1) * GOLDEN) >> uint64(11)) * (1.0 / 9007199254740992.0) < chance:
            mask |= np.int64(1) << s
    return mask


@kernel
def _list_visits(
    share: Any, indptr: Any, indices: Any, alias: Any, starts: Any, num_walks: Any, walk_length: Any, seed: Any,
    num_samples: Any, chance: Any, returns: Any, first_only: Any, visits: Any, filled: Any,
) -> None:  # fmt: skip
    """Row r of ``visits`` gets the visits of the walks from ``starts[r]``, packed, and :data:`NO_VISIT` after them.

    ``filled``, how many each row has, is zero at first.
    """
    rows = rows_per_block(num_walks)
    for b in rows_of(share, (len(starts) + rows - 1) // rows):
        block, masks = new_block(), np.empty(BLOCK, np.int64)
        path = np.empty((BLOCK if first_only else 1, walk_length + 1), np.uint32)
        row = b * rows
        end = min(row + rows, len(starts))
        for first in range(0, num_walks, BLOCK):
            last = min(first + BLOCK, num_walks)
            count = enter(block, starts, row, end, num_walks, walk_length, first, seed)
            for i in range(count):
                masks[i] = sample_mask(block[1][i], num_samples, chance)
            for step in range(1, walk_length + 1):
                if share[2][0] != 0:
                    return
                advance(indptr, indices, alias, block, count, step)
                for r in range(row, end):
                    at = filled[r]
                    for i in range((r - row) * (last - first), (r - row + 1) * (last - first)):
                        v = block[0][i]
                        if first_only:
                            path[i, step] = v
                        if v == DEAD or (not returns and v == starts[r]) or (first_only and _on_path(path[i], step)):
                            continue
                        visits[r, at] = np.int64(v) << NODE | step << STEP | masks[i]
                        at += 1
                    filled[r] = at
        for r in range(row, end):
            fill(visits[r, filled[r] :], NO_VISIT)


@kernel
def _on_path(path: Any, step: Any) -> Any:
    """Whether the node at ``step`` was visited at an earlier step; the start (step 0) is not a visit."""
    for t in range(1, step):  # noqa: SIM110 -- numba has no any()
        if path[t] == path[step]:
            return True
    return False


@kernel
def _entry(visit: Any, hops: Any) -> Any:
    node = visit >> NODE
    return node if hops == 1 else node * hops + ((visit >> STEP) & 0xFFFFF) - 1


@kernel
def _count_entries(visits: Any, hops: Any, out: Any) -> None:
    """How many different entries each row holds."""
    for r in range(len(visits)):
        previous, found = np.int64(-1), 0
        for visit in visits[r]:
            if visit == NO_VISIT:
                break
            entry = _entry(visit, hops)
            if entry != previous:
                found += 1
                previous = entry
        out[r] = found


@parallel_kernel
def _merge(
    share: Any, visits: Any, hops: Any, step_weight: Any, offsets: Any, entries: Any, masks: Any, totals: Any
) -> None:
    """One entry for those of a row that are the same, from ``offsets[r]`` on: the union of masks, the sum of weights."""
    for r in rows_of(share, len(visits)):
        out, previous = offsets[r] - 1, np.int64(-1)
        for visit in visits[r]:
            if visit == NO_VISIT:
                break
            entry = _entry(visit, hops)
            if entry != previous:
                out += 1
                previous = entry
                entries[out], masks[out], totals[out] = entry, 0, 0
            masks[out] |= np.uint8(visit & 255)
            totals[out] += step_weight[(visit >> STEP) & 0xFFFFF]


@long_kernel
def count_visits(
    share: Any, indptr: Any, indices: Any, alias: Any, starts: Any, num_walks: Any, walk_length: Any, seed: Any,
    is_anchor: Any, column: Any, num_anchors: Any, step_weight: Any, hops: Any, returns: Any,
    first_only: Any, scale: Any, out: Any,
) -> None:  # fmt: skip
    """Row r of ``out`` gets ``scale`` times the visits that walks from ``starts[r]`` pay to each anchor.

    ``is_anchor`` is a bitmap (it stays in cache where a column number a node would not), ``column`` the anchor's column.
    Counts are integers, so their sums do not depend on the order of additions. A visit at step t adds ``step_weight[t]``,
    with ``first_only`` for the first visit of a walk only; without ``returns`` a walk does not visit its start. With
    ``hops`` above 1 an anchor has that many columns, one for each step.
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
                if share[2][0] != 0:
                    return
                advance(indptr, indices, alias, block, count, step)
                found = _find_hits(block[0], count, is_anchor, hits)
                offset = step - 1 if hops > 1 else 0
                for h in range(found):
                    i = hits[h]
                    r, v = i // (last - first), block[0][i]
                    c = np.int64(column[v])
                    if (not returns and v == starts[row + r]) or (first_only and _was_seen(seen[i], c)):
                        continue
                    counts[r, c * hops + offset] += step_weight[step]
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
def _was_seen(seen: Any, column: Any) -> Any:
    """Whether the walker visited this anchor before; it has from now on."""
    bit = uint64(1) << uint64(column & 63)
    if seen[column >> 6] & bit:
        return True
    seen[column >> 6] |= bit
    return False

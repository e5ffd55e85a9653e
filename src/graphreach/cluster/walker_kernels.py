"""Numba kernels for walkers that travel between the parts of a graph, and for what they visited.

A walker is 64 bits: the node it stands on, and its number among the walkers of a wave. The random numbers of its steps
follow from (seed, start, walk), and start and walk from its number, so nothing else travels.
"""

from typing import Any

import numpy as np
from numba import uint32, uint64

from graphreach.anchors.kernels import sample_mask
from graphreach.jit import fill, kernel
from graphreach.reachability.walk_kernels import STEP_BITS, merge, on_path, was_seen
from graphreach.walks.kernels import BLOCK, DEAD, advance, new_block
from graphreach.walks.rng import start_key, walk_key

SLOT = np.uint64(0xFFFFFFFF)
"""The bits of a walker that hold its number."""


@kernel
def first_walkers(starts: Any, first: Any, end: Any, num_walks: Any, low: Any, high: Any) -> Any:
    """The walkers of those of ``starts[first:end]`` that are in ``low .. high - 1``."""
    here = np.int64(0)
    for row in range(first, end):
        here += np.int64(low <= starts[row] < high)
    out = np.empty(here * num_walks, np.uint64)
    filled = 0
    for row in range(first, end):
        if low <= starts[row] < high:
            for walk in range(num_walks):
                out[filled] = uint64(starts[row]) << uint64(32) | uint64(row * num_walks + walk)
                filled += 1
    return out


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
    found = np.int64(0)
    for walker in walkers:
        found += _stands_on(walker, wanted)
    out = np.empty(found, np.uint64)
    found = np.int64(0)
    for walker in walkers:
        if _stands_on(walker, wanted):
            out[found] = walker
            found += 1
    return out


@kernel
def _stands_on(walker: Any, wanted: Any) -> Any:
    v = walker >> uint64(32)
    return np.int64((wanted[v >> uint64(6)] >> (v & uint64(63))) & uint64(1))


@kernel
def note_visits(walkers: Any, step: Any, paths: Any) -> None:
    """Write where walkers stand after ``step`` into ``paths`` [walkers, walk_length]."""
    for walker in walkers:
        paths[walker & SLOT, step - 1] = uint32(walker >> uint64(32))


@kernel
def count_paths(
    paths: Any, column: Any, num_anchors: Any, step_weight: Any, hops: Any, first_only: Any, scale: Any, out: Any
) -> None:
    """Like ``count_visits``, from stored paths [starts, walks, walk_length] that hold anchors and DEAD."""
    counts = np.zeros(num_anchors * hops, step_weight.dtype)
    seen = np.zeros((num_anchors + 63) // 64, np.uint64)
    for r in range(paths.shape[0]):
        fill(counts, 0)
        for walk in range(paths.shape[1]):
            fill(seen, 0)
            for t in range(paths.shape[2]):
                v = paths[r, walk, t]
                if v == DEAD:
                    continue
                c = np.int64(column[v])
                if first_only and was_seen(seen, c):
                    continue
                counts[c * hops + (t if hops > 1 else 0)] += step_weight[t + 1]
        for j in range(len(counts)):
            out[r, j] = counts[j] * scale


@kernel
def paths_from(
    paths: Any, step_weight: Any, hops: Any, first_only: Any, visits: Any, totals: Any, lengths: Any
) -> None:
    """Like ``visits_from``, from stored paths."""
    path = np.empty(paths.shape[2] + 1, np.uint32)
    for j in range(paths.shape[0]):
        filled = 0
        for walk in range(paths.shape[1]):
            for step in range(1, paths.shape[2] + 1):
                v = paths[j, walk, step - 1]
                if v == DEAD:
                    break
                path[step] = v
                if first_only and on_path(path, step):
                    continue
                visits[j, filled] = np.int64(v) << STEP_BITS | step
                filled += 1
        visits[j, :filled].sort()
        lengths[j] = merge(visits[j], totals[j], filled, step_weight, hops)


@kernel
def collect_paths(paths: Any, starts: Any, seed: Any, num_samples: Any, share: Any, visits: Any, lengths: Any) -> None:
    """Like ``collect_visits``, from stored paths."""
    for r in range(paths.shape[0]):
        key = start_key(seed, starts[r])
        filled = 0
        for walk in range(paths.shape[1]):
            mask = sample_mask(walk_key(key, walk), num_samples, share)
            for t in range(paths.shape[2]):
                v = paths[r, walk, t]
                if v != DEAD and v != starts[r]:
                    visits[r, filled] = np.int64(v) << 8 | mask
                    filled += 1
        visits[r, :filled].sort()
        lengths[r] = filled


@kernel
def reached_by_paths(paths: Any, starts: Any) -> Any:
    """Like ``reached``, from stored paths that hold anchors and DEAD."""
    out = np.zeros(len(starts), np.uint8)
    for r in range(paths.shape[0]):
        for walk in range(paths.shape[1]):
            for t in range(paths.shape[2]):
                v = paths[r, walk, t]
                if v != DEAD and v != starts[r]:
                    out[r] = 1
    return out

"""Kernels that find the walks which a change of the graph turns elsewhere, and follow them."""

from typing import Any

import numpy as np
from numba import uint64

from graphreach.index.visit_lists import BEGIN, PLACE
from graphreach.jit import inline_kernel, kernel, parallel_kernel
from graphreach.walks.kernels import BLOCK, DEAD, in_bitmap, prefetch
from graphreach.walks.rng import GOLDEN, mix, start_key, step_bits, walk_key

NOT_TURNED = np.uint16(65535)
"""Stands where a walk has not been turned elsewhere."""


@inline_kernel
def _drawn(begin: Any, size: Any, table: Any, width: Any, bits: Any) -> Any:
    """The neighbour that a walker takes by 64 random bits, as in :func:`graphreach.walks.kernels.advance`.

    Where the place that was drawn is free, as in steady tables, it draws again.
    """
    if size == 0:
        return DEAD
    if width == 3:
        entry = 3 * (begin + np.int64(((bits >> uint64(32)) * uint64(size)) >> uint64(32)))
        return table[entry + 1] if (bits & uint64(0xFFFFFFFF)) < uint64(table[entry]) else table[entry + 2]
    v = table[begin + np.int64(((bits >> uint64(32)) * uint64(size)) >> uint64(32))]
    while v == DEAD:
        bits = again(bits)
        v = table[begin + np.int64(((bits >> uint64(32)) * uint64(size)) >> uint64(32))]
    return v


@inline_kernel
def again(bits: Any) -> Any:
    """Further random bits."""
    return mix(bits + GOLDEN)


@parallel_kernel
def find_turned(
    share: Any, nodes: Any, pointer: Any, new: Any, head: Any, table: Any, width: Any, lists: Any, pool: Any, empty: Any,
    bits: Any, num_walks: Any, seed: Any, offsets: Any, found: Any, out: Any,
) -> None:  # fmt: skip
    """The steps at which walks leave a node of ``nodes`` for another neighbour by its new table than by its present one.

    Those of the i-th node are ``out[offsets[i] : offsets[i] + found[i]]``, packed as in the lists.
    """
    for i in range(share[0], len(nodes), share[1]):
        u, at = nodes[i], offsets[i]
        old_begin, old_size = head[u, 0], head[u, 1]
        new_begin, new_size = pointer[i], pointer[i + 1] - pointer[i]
        key = start_key(seed, u)
        for walk in range(num_walks):
            draw = step_bits(walk_key(key, walk), 1)
            if _drawn(old_begin, old_size, table, width, draw) != _drawn(new_begin, new_size, new, width, draw):
                out[at] = out.dtype.type((uint64(u) * uint64(num_walks) + uint64(walk)) << uint64(bits))
                at += 1
        for j in range(lists[u, BEGIN], lists[u, BEGIN] + lists[u, PLACE]):
            entry = pool[j]
            if entry != empty:
                draw = step_bits(_key(seed, uint64(entry) >> uint64(bits), num_walks), (entry & ((1 << bits) - 1)) + 1)
                if _drawn(old_begin, old_size, table, width, draw) != _drawn(new_begin, new_size, new, width, draw):
                    out[at] = entry
                    at += 1
        found[i] = at - offsets[i]


@inline_kernel
def _key(seed: Any, walk: Any, num_walks: Any) -> Any:
    start = uint64(walk) // uint64(num_walks)
    return walk_key(start_key(seed, start), uint64(walk) - start * uint64(num_walks))


@kernel
def first_turns(
    nodes: Any, offsets: Any, found: Any, entries: Any, bits: Any, earliest: Any, walks: Any, after: Any, where: Any
) -> Any:
    """Each walk once, with the first step at which it turns elsewhere and the node where it does; returns how many.

    ``earliest`` has :data:`NOT_TURNED` for every walk, before and after.
    """
    mask = (1 << bits) - 1
    for i in range(len(nodes)):
        for j in range(offsets[i], offsets[i] + found[i]):
            walk, step = np.int64(entries[j] >> bits), entries[j] & mask
            if step < earliest[walk]:
                earliest[walk] = step
    count = 0
    for i in range(len(nodes)):
        for j in range(offsets[i], offsets[i] + found[i]):
            walk, step = np.int64(entries[j] >> bits), entries[j] & mask
            if step == earliest[walk]:
                earliest[walk] = NOT_TURNED
                walks[count], after[count], where[count] = walk, step, nodes[i]
                count += 1
    return count


@parallel_kernel
def follow(
    share: Any, walks: Any, after: Any, where: Any, whole: Any, head: Any, table: Any, width: Any, num_walks: Any,
    seed: Any, out: Any,
) -> None:  # fmt: skip
    """Fill ``out[i, t]`` with where walk ``walks[i]`` is at step t > ``after[i]``, from ``where[i]`` on.

    With ``whole`` it is followed from its start, and ``after`` does not count. Walkers advance in lockstep, as elsewhere.
    """
    length = out.shape[1] - 1
    blocks = (len(walks) + BLOCK - 1) // BLOCK
    current, keys = np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.uint64)
    steps, edges, draws = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint64)
    for b in range(share[0], blocks, share[1]):
        first = b * BLOCK
        count, most = min(BLOCK, len(walks) - first), 0
        for i in range(count):
            walk = uint64(walks[first + i])
            keys[i] = _key(seed, walk, num_walks)
            current[i] = np.uint32(walk // uint64(num_walks)) if whole else np.uint32(where[first + i])
            steps[i] = 0 if whole else np.int64(after[first + i])
            most = max(most, length - steps[i])
        for _ in range(most):
            for i in range(count):
                v = current[i]
                steps[i] += 1
                edges[i] = -1
                if steps[i] <= length and v != DEAD:
                    size = uint64(head[v, 1])
                    if size > uint64(0):
                        draws[i] = step_bits(keys[i], steps[i])
                        edges[i] = head[v, 0] + np.int64(((draws[i] >> uint64(32)) * size) >> uint64(32))
                        prefetch(table, width * edges[i])
            for i in range(count):
                if steps[i] > length:
                    continue
                v, edge = DEAD, edges[i]
                if edge >= 0:
                    if width == 1 and table[edge] != DEAD:
                        v = table[edge]
                    else:
                        v = _drawn(head[current[i], 0], head[current[i], 1], table, width, draws[i])
                    prefetch(head, 2 * np.int64(v))
                current[i] = v
                out[first + i, steps[i]] = v


@parallel_kernel
def count(
    share: Any, walks: Any, after: Any, old: Any, new: Any, num_walks: Any, is_anchor: Any, column: Any, step_weight: Any,
    hops: Any, first_only: Any, counts: Any, sums: Any,
) -> None:  # fmt: skip
    """Take from the rows of their starts what walks visited after some step, and add what they visit now.

    ``sums`` adds each row up with 64 random bits for each column, so that a row whose counts are as before has the same
    sum, and another one has with a probability of 2^-64. Each thread cares for some of the starts.
    """
    length = new.shape[1] - 1
    for i in range(len(walks)):
        start = walks[i] // num_walks
        if start % share[1] != share[0]:
            continue
        for t in range(np.int64(after[i]) + 1, length + 1):
            if old[i, t] == new[i, t] and not first_only:
                continue
            for way in range(2):
                path = old[i] if way == 0 else new[i]
                v = path[t]
                if v != DEAD and in_bitmap(is_anchor, v) and not (first_only and _was_there(path, t)):
                    c = np.int64(column[v]) * hops + (t - 1 if hops > 1 else 0)
                    more = np.int64(step_weight[t]) if way == 1 else -np.int64(step_weight[t])
                    counts[start, c] += more
                    sums[start] += random_factor(c) * uint64(more)


@kernel
def count_back(
    walks: Any, after: Any, old: Any, new: Any, num_walks: Any, is_anchor: Any, column: Any, step_weight: Any, hops: Any,
    first_only: Any, sums: Any, touched: Any, is_stale: Any,
) -> Any:  # fmt: skip
    """The same for walks from anchors and the rows of the nodes that they visit; returns how many are in ``touched``.

    A node may be there more than once. ``is_stale`` is set for the columns of anchors with such walks.
    """
    length, found = new.shape[1] - 1, 0
    for i in range(len(walks)):
        start = walks[i] // num_walks
        if in_bitmap(is_anchor, start) == 0:
            continue
        is_stale[column[start]] = True
        for t in range(np.int64(after[i]) + 1, length + 1):
            for way in range(2):
                path = old[i] if way == 0 else new[i]
                v = path[t]
                if v == DEAD or (first_only and _was_there(path, t)):
                    continue
                c = np.int64(column[start]) * hops + (t - 1 if hops > 1 else 0)
                if sums[v] == uint64(0):
                    touched[found] = v
                    found += 1
                sums[v] += random_factor(c) * uint64(
                    np.int64(step_weight[t]) if way == 1 else -np.int64(step_weight[t])
                )
    return found


@kernel
def num_from_anchors(walks: Any, num_walks: Any, is_anchor: Any) -> Any:
    """How many walks start at an anchor."""
    found = 0
    for walk in walks:
        found += in_bitmap(is_anchor, walk // num_walks)
    return found


@inline_kernel
def random_factor(column: Any) -> Any:
    """64 random bits for a column, odd."""
    return mix(uint64(column) * GOLDEN + GOLDEN) | uint64(1)


@inline_kernel
def _was_there(path: Any, step: Any) -> Any:
    """Whether the walk visited its node at this step earlier; its start is not a visit."""
    for t in range(1, step):  # noqa: SIM110 -- numba has no any()
        if path[t] == path[step]:
            return True
    return False

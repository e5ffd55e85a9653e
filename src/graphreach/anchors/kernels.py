"""Numba kernels of anchor selection: which nodes the walks of each start visit, and greedy coverage of the starts.

The bipartite graph of section 3.2 is kept once for all samples of walks: an entry (u, v) carries a byte whose bit s says
that a walk of sample s from v visits u; the highest bit stands for all walks.
"""

import heapq
from typing import Any

import numpy as np
from numba import uint64

from graphreach.jit import fill, kernel, parallel_kernel, rows_of
from graphreach.walks.kernels import BLOCK, DEAD, advance, enter, in_bitmap, new_block, rows_per_block
from graphreach.walks.rng import GOLDEN, mix

ALL_WALKS = 7
"""The bit of the set of all walks."""


@kernel
def sample_mask(key: Any, num_samples: Any, chance: Any) -> Any:
    """The samples that a walk belongs to, each with probability ``chance``, by a hash of the walk's key."""
    mask = np.int64(1) << ALL_WALKS
    for s in range(num_samples):
        # steps hash key + step * GOLDEN; counting down from the key keeps this stream apart from them
        if (mix(key - uint64(s + 1) * GOLDEN) >> uint64(11)) * (1.0 / 9007199254740992.0) < chance:
            mask |= np.int64(1) << s
    return mask


@parallel_kernel
def collect_visits(
    share: Any, indptr: Any, indices: Any, alias: Any, starts: Any, num_walks: Any, walk_length: Any, seed: Any,
    num_samples: Any, chance: Any, visits: Any, lengths: Any, stop: Any,
) -> None:  # fmt: skip
    """Row r of ``visits`` gets the visits of the walks from ``starts[r]``, each as node << 8 | mask, sorted by node.

    Ends early if ``stop[0]``.
    """
    rows = rows_per_block(num_walks)
    for b in range(share[0], (len(starts) + rows - 1) // rows, share[1]):
        block = new_block()
        current, keys = block[0], block[1]
        masks = np.empty(BLOCK, np.int64)
        row = b * rows
        end = min(row + rows, len(starts))
        fill(lengths[row : row + rows], 0)
        for first in range(0, num_walks, BLOCK):
            last = min(first + BLOCK, num_walks)
            count = enter(block, starts, row, end, num_walks, walk_length, first, seed)
            for i in range(count):
                masks[i] = sample_mask(keys[i], num_samples, chance)
            for step in range(1, walk_length + 1):
                if stop[0] != 0:
                    break
                advance(indptr, indices, alias, block, count, step)
                i = 0
                for r in range(row, end):
                    filled = lengths[r]
                    for _ in range(first, last):
                        v = current[i]
                        if v != DEAD and v != starts[r]:
                            visits[r, filled] = np.int64(v) << 8 | masks[i]
                            filled += 1
                        i += 1
                    lengths[r] = filled
        for r in range(row, end):
            if stop[0] == 0:
                visits[r, : lengths[r]].sort()


@parallel_kernel
def count_distinct(share: Any, visits: Any, lengths: Any, distinct: Any) -> None:
    """How many different nodes each row holds."""
    for r in rows_of(share, len(lengths)):
        previous, found = np.int64(-1), 0
        for i in range(lengths[r]):
            node = visits[r, i] >> 8
            if node != previous:
                found += 1
                previous = node
        distinct[r] = found


@parallel_kernel
def merge_visits(share: Any, visits: Any, lengths: Any, offsets: Any, nodes: Any, masks: Any, counts: Any) -> None:
    """One entry for each row and node: the union of its masks and the number of visits, from ``offsets[r]`` on."""
    for r in rows_of(share, len(lengths)):
        out = offsets[r] - 1
        previous = np.int64(-1)
        for i in range(lengths[r]):
            node = visits[r, i] >> 8
            if node != previous:
                out += 1
                previous = node
                nodes[out] = node
                masks[out] = 0
                counts[out] = 0
            masks[out] |= np.uint8(visits[r, i] & 255)
            counts[out] += 1


@kernel
def add_counts(nodes: Any, counts: Any, degree: Any, total: Any) -> None:
    """Add a piece of the bipartite graph to each node's number of starts and of visits."""
    for i in range(len(nodes)):
        degree[nodes[i]] += 1
        total[nodes[i]] += counts[i]


@kernel
def invert(nodes: Any, masks: Any, offsets: Any, first_start: Any, cursor: Any, starts: Any, start_masks: Any) -> None:
    """Write a piece of the bipartite graph, listed by start, into its lists by node; ``cursor`` moves along."""
    for r in range(len(offsets) - 1):
        for i in range(offsets[r], offsets[r + 1]):
            position = cursor[nodes[i]]
            starts[position] = first_start + r
            start_masks[position] = masks[i]
            cursor[nodes[i]] = position + 1


@parallel_kernel
def gains(share: Any, pointer: Any, starts: Any, masks: Any, bit: Any, covered: Any, out: Any) -> None:
    """For each node, how many starts it would cover that are not covered yet."""
    for u in rows_of(share, len(out)):
        out[u] = gain(u, pointer, starts, masks, bit, covered)


@kernel
def gain(u: Any, pointer: Any, starts: Any, masks: Any, bit: Any, covered: Any) -> Any:
    """The marginal coverage of one node; free of branches, as the bits are as good as random."""
    fresh = np.int64(0)
    for i in range(pointer[u], pointer[u + 1]):
        fresh += np.int64((masks[i] >> bit) & ~covered[starts[i]] & 1)
    return fresh


@kernel
def cover(u: Any, pointer: Any, starts: Any, masks: Any, bit: Any, covered: Any) -> None:
    """Mark the starts that ``u`` covers."""
    for i in range(pointer[u], pointer[u + 1]):
        covered[starts[i]] |= (masks[i] >> bit) & np.uint8(1)


@kernel
def cover_all(anchors: Any, pointer: Any, starts: Any, masks: Any, bit: Any, num_starts: Any) -> Any:
    """1 for each start that any of the anchors covers, else 0."""
    covered = np.zeros(num_starts, np.uint8)
    for u in anchors:
        cover(u, pointer, starts, masks, bit, covered)
    return covered


@kernel
def lazy_greedy(
    pointer: Any, starts: Any, masks: Any, bit: Any, num_starts: Any, order: Any, full_gain: Any, rank: Any,
    rounds: Any, chosen: Any, gained: Any,
) -> Any:  # fmt: skip
    """Algorithm 2 with lazy evaluation: fill ``chosen`` with the nodes of greatest marginal coverage, ties by ``rank``.

    ``order`` lists the nodes by (full_gain, rank), best first. A gain only falls while a round lasts, so a stale gain is an
    upper bound: a node whose fresh gain still beats every other bound is the choice of the plain greedy. When no node
    covers anything new, a new round starts with all starts uncovered; with ``rounds`` false the selection ends there.
    Returns how many were chosen.
    """
    taken = np.zeros(len(rank), np.bool_)
    covered = np.zeros(num_starts, np.uint8)
    heap = [(np.int64(0), np.int64(0), np.int64(0), np.int64(0))]
    heap.clear()
    picked, head, round_began = 0, 0, 0
    while picked < len(chosen):
        while head < len(order) and taken[order[head]]:
            head += 1
        bound = full_gain[order[head]] if head < len(order) else np.int64(0)
        if bound > 0 and (len(heap) == 0 or (-bound, rank[order[head]]) < (heap[0][0], heap[0][1])):
            u = np.int64(order[head])
            head += 1
            fresh = gain(u, pointer, starts, masks, bit, covered)
            heapq.heappush(heap, (-fresh, rank[u], u, np.int64(picked)))
        elif len(heap) == 0 or heap[0][0] == 0:
            if not rounds or picked == round_began:
                break
            head, round_began = 0, picked
            covered[:] = 0
            heap.clear()
        else:
            best, _, u, stamp = heapq.heappop(heap)
            if stamp < picked:
                fresh = gain(u, pointer, starts, masks, bit, covered)
                heapq.heappush(heap, (-fresh, rank[u], u, np.int64(picked)))
            else:
                cover(u, pointer, starts, masks, bit, covered)
                taken[u] = True
                chosen[picked], gained[picked] = u, -best
                picked += 1
    return picked


@parallel_kernel
def greedy_samples(
    share: Any, pointer: Any, starts: Any, masks: Any, bits: Any, num_starts: Any, rank: Any, by_rank: Any, rounds: Any,
    chosen: Any, gained: Any, picked: Any,
) -> None:  # fmt: skip
    """:func:`lazy_greedy` for each bit, one row of ``chosen`` and ``gained`` each; ``picked`` is how many each chose."""
    for s in range(share[0], len(bits), share[1]):
        nobody = np.zeros(num_starts, np.uint8)
        full_gain = np.zeros(len(rank), np.int64)
        for u in range(len(rank)):
            full_gain[u] = gain(u, pointer, starts, masks, bits[s], nobody)
        order = sort_by_gain(full_gain, by_rank, num_starts)
        picked[s] = lazy_greedy(
            pointer, starts, masks, bits[s], num_starts, order, full_gain, rank, rounds, chosen[s], gained[s]
        )


@kernel
def sort_by_gain(full_gain: Any, by_rank: Any, num_starts: Any) -> Any:
    """Nodes with a positive gain, greatest first, equal ones by rank: a counting sort."""
    begin = np.zeros(num_starts + 2, np.int64)
    for g in full_gain:
        begin[num_starts - g + 1] += 1
    for i in range(1, len(begin)):
        begin[i] += begin[i - 1]
    order = np.empty(begin[num_starts], np.int64)
    for u in by_rank:
        if full_gain[u] > 0:
            slot = num_starts - full_gain[u]
            order[begin[slot]] = u
            begin[slot] += 1
    return order


@parallel_kernel
def reached(
    share: Any, indptr: Any, indices: Any, alias: Any, starts: Any, num_walks: Any, walk_length: Any, seed: Any,
    is_anchor: Any, out: Any, stop: Any,
) -> None:  # fmt: skip
    """1 for each start from which a walk visits an anchor other than the start. Ends early if ``stop[0]``."""
    rows = rows_per_block(num_walks)
    for b in range(share[0], (len(starts) + rows - 1) // rows, share[1]):
        block = new_block()
        row = b * rows
        end = min(row + rows, len(starts))
        for first in range(0, num_walks, BLOCK):
            last = min(first + BLOCK, num_walks)
            count = enter(block, starts, row, end, num_walks, walk_length, first, seed)
            for step in range(1, walk_length + 1):
                if stop[0] != 0:
                    break
                advance(indptr, indices, alias, block, count, step)
                i = 0
                for r in range(row, end):
                    for _ in range(first, last):
                        v = block[0][i]
                        if v != DEAD and in_bitmap(is_anchor, v) and v != starts[r]:
                            out[r] = 1
                        i += 1

"""Numba kernels of anchor selection.

The bipartite graph of section 3.2 is kept once for all samples of walks. An entry (u, v) carries a byte whose bit s says
that a walk of sample s from v visits u. The highest bit stands for all walks.
"""

import heapq
from typing import Any

import numpy as np

from graphreach.jit import fill, kernel, on_helpers, parallel_kernel, rows_of

TAKEN = -1
"""Marks a chosen node. The others hold how many nodes were chosen when their gain was last computed."""


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


@kernel
def _gain(u: Any, pointer: Any, starts: Any, masks: Any, bit: Any, covered: Any) -> Any:
    """The marginal coverage of one node; free of branches, as the bits are as good as random."""
    fresh = np.int64(0)
    for i in range(pointer[u], pointer[u + 1]):
        fresh += np.int64((masks[i] >> bit) & ~covered[starts[i]] & 1)
    return fresh


@parallel_kernel
def gains(share: Any, pointer: Any, starts: Any, masks: Any, bits: Any, covered: Any, out: Any) -> None:
    """For each bit and node, how many starts it would cover that are not covered yet, ``[bits, n]``."""
    for u in rows_of(share, out.shape[1]):
        for s in range(len(bits)):
            out[s, u] = _gain(u, pointer, starts, masks, bits[s], covered)


@kernel
def _lazy_greedy(
    pointer: Any, starts: Any, masks: Any, by_rank: Any, rounds: Any, bit: Any, keys: Any, covered: Any, looked_at: Any,
    chosen: Any, gained: Any, stop: Any,
) -> Any:  # fmt: skip
    """Algorithm 2 with lazy evaluation: fill ``chosen`` with the nodes of greatest marginal coverage, ties by rank.

    A key is (num_starts - gain) * n + rank, so the least is the best; ``keys`` are those of all nodes while nothing is
    covered, sorted. A gain only falls while a round lasts, so a stale gain is an upper bound: a node whose fresh gain still
    beats every other bound is the choice of the plain greedy. When no node covers anything new, a new round starts with all
    starts uncovered; with ``rounds`` false the selection ends there. ``covered`` and ``looked_at`` are zero at first.
    Returns how many were chosen.
    """
    n, num_starts = len(by_rank), len(covered)
    no_gain = n * num_starts
    heap = [np.int64(0)]
    heap.clear()
    picked, head, round_began = 0, 0, 0
    while picked < len(chosen) and stop[0] == 0:
        while head < n and looked_at[by_rank[keys[head] % n]] == TAKEN:
            head += 1
        best = heap[0] if len(heap) > 0 else no_gain
        if head < n and keys[head] < min(best, no_gain):
            key = keys[head]
            head += 1
        elif best < no_gain:
            key = heapq.heappop(heap)
            u = by_rank[key % n]
            if looked_at[u] == picked:
                for i in range(pointer[u], pointer[u + 1]):
                    covered[starts[i]] |= (masks[i] >> bit) & np.uint8(1)
                looked_at[u] = TAKEN
                chosen[picked], gained[picked] = u, num_starts - key // n
                picked += 1
                continue
        else:
            if not rounds or picked == round_began:
                break
            head, round_began = 0, picked
            fill(covered, 0)
            heap.clear()
            continue
        u = by_rank[key % n]
        looked_at[u] = picked
        fresh = _gain(u, pointer, starts, masks, bit, covered)
        heapq.heappush(heap, (num_starts - fresh) * n + key % n)
    return picked


@on_helpers
def greedy_samples(
    share: Any, bits: Any, pointer: Any, starts: Any, masks: Any, by_rank: Any, rounds: Any, num_starts: Any, keys: Any,
    chosen: Any, gained: Any, picked: Any,
) -> None:  # fmt: skip
    """The greedy for each bit, one row of ``keys``, ``chosen`` and ``gained`` each; ``picked`` is how many each chose."""
    for s in range(share[0], len(bits), share[1]):
        covered, looked_at = np.zeros(num_starts, np.uint8), np.zeros(len(by_rank), np.int32)
        picked[s] = _lazy_greedy(
            pointer,
            starts,
            masks,
            by_rank,
            rounds,
            bits[s],
            keys[s],
            covered,
            looked_at,
            chosen[s],
            gained[s],
            share[2],
        )

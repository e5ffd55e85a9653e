"""Numba kernels that score pairs by their neighbourhoods."""

from typing import Any

import numpy as np
from numba import prange

from graphreach.jit import kernel, parallel_kernel

PIECES = 64
"""Pairs or sources are dealt out to this many pieces, each with scratch memory of its own."""

LOPSIDED = 16
"""Where one row is so many times longer than the other, its entries are looked up instead of merged."""


@kernel
def first_at_least(indices: Any, low: Any, high: Any, node: Any) -> Any:
    """The first place in a sorted row whose entry is at least ``node``."""
    while low < high:
        middle = (low + high) // 2
        if np.int64(indices[middle]) < node:
            low = middle + 1
        else:
            high = middle
    return low


@parallel_kernel
def shared_neighbours(
    indptr: Any, indices: Any, weights: Any, back_indptr: Any, back_indices: Any, back_weights: Any,
    sources: Any, targets: Any, value: Any,
) -> Any:  # fmt: skip
    """Sum over paths u - w - v of the product of their two weights and ``value[w]``."""
    out = np.zeros(len(sources), np.float64)
    for pair in prange(len(sources)):
        u, v = np.int64(sources[pair]), np.int64(targets[pair])
        i, i_end = np.int64(indptr[u]), np.int64(indptr[u + 1])
        j, j_end = np.int64(back_indptr[v]), np.int64(back_indptr[v + 1])
        skip_i = i_end - i > LOPSIDED * (j_end - j)
        skip_j = j_end - j > LOPSIDED * (i_end - i)
        total = 0.0
        while i < i_end and j < j_end:
            a, b = np.int64(indices[i]), np.int64(back_indices[j])
            if a == b:
                if weights is None:
                    total += value[a]
                else:
                    total += value[a] * weights[i] * back_weights[j]
                i += 1
                j += 1
            elif a < b:
                i = first_at_least(indices, i + 1, i_end, b) if skip_i else i + 1
            else:
                j = first_at_least(back_indices, j + 1, j_end, a) if skip_j else j + 1
        out[pair] = total
    return out


@kernel
def push(
    indptr: Any, indices: Any, weights: Any, inverse: Any, source: Any, damping: Any, epsilon: Any,
    rank: Any, rest: Any, waiting: Any, queue: Any, met: Any,
) -> Any:  # fmt: skip
    """Personalised PageRank of one source by forward push; ``rank`` holds it. Returns how many nodes of ``met`` to clear.

    ``rest`` is what has arrived at a node and not been passed on; a node passes it on while it is more than ``epsilon``
    times its number of edges. What comes to a dead end starts again at the source.
    """
    n = len(rank)
    rest[source] = 1.0
    queue[0], met[0] = source, source
    waiting[source] = True
    head, size, count = np.int64(0), np.int64(1), np.int64(1)
    while size > 0:
        v = queue[head]
        head = head + 1 if head + 1 < n else np.int64(0)
        size -= 1
        waiting[v] = False
        begin, end = np.int64(indptr[v]), np.int64(indptr[v + 1])
        moved = rest[v]
        rest[v] = 0.0
        rank[v] += (1.0 - damping) * moved
        for e in range(begin, max(end, begin + 1)):
            if begin == end:
                u, part = np.int64(source), damping * moved
            else:
                u, part = np.int64(indices[e]), damping * moved * inverse[v]
                if weights is not None:
                    part *= weights[e]
            if rest[u] == 0.0 and rank[u] == 0.0 and part > 0.0:
                met[count] = u
                count += 1
            rest[u] += part
            if not waiting[u] and rest[u] > epsilon * max(1, np.int64(indptr[u + 1]) - np.int64(indptr[u])):
                place = head + size
                queue[place if place < n else place - n] = u
                waiting[u] = True
                size += 1
    return count


@parallel_kernel
def pair_pagerank(
    indptr: Any, indices: Any, weights: Any, inverse: Any, sources: Any, pointer: Any, targets: Any,
    damping: Any, epsilon: Any, out: Any,
) -> None:  # fmt: skip
    """out[p] = personalised PageRank of targets[p] seen from its source; source j owns pointer[j] .. pointer[j + 1]."""
    n = len(indptr) - 1
    pieces = min(PIECES, max(1, len(sources)))
    for piece in prange(pieces):
        rank, rest = np.zeros(n, np.float64), np.zeros(n, np.float64)
        waiting = np.zeros(n, np.bool_)
        queue, met = np.empty(n, np.int64), np.empty(n + 1, np.int64)
        for j in range(np.int64(piece), len(sources), pieces):
            count = push(
                indptr, indices, weights, inverse, sources[j], damping, epsilon, rank, rest, waiting, queue, met
            )
            for p in range(pointer[j], pointer[j + 1]):
                out[p] = rank[targets[p]]
            for i in range(count):
                rank[met[i]] = 0.0
                rest[met[i]] = 0.0

"""Numba kernels for distances from every node to sets of nodes."""

from typing import Any

import numpy as np

from graphreach.jit import kernel, parallel_kernel

TILE = 8
"""Sets whose results are written together, as they lie side by side in a row."""

FAR = np.int64(2**62)
HOP = np.int64(2**32)
RANK = np.int64(2**32 - 1)


@kernel
def _search(indptr: Any, indices: Any, members: Any, rank: Any, limit: Any, key: Any, queue: Any) -> None:
    """Breadth-first search from all members: key = distance * 2^32 + lowest rank of a closest member.

    A node's closest members are those of its neighbours one hop nearer, so ranks are settled level by level.
    """
    n = len(key)
    for v in range(n):
        key[v] = FAR
    tail = 0
    for u in members:
        if key[u] == FAR:
            key[u] = rank[u]
            queue[tail] = u
            tail += 1
    head = 0
    while head < tail:
        v = queue[head]
        head += 1
        distance = key[v] // HOP
        everyone_found = tail == n and distance == key[queue[tail - 1]] // HOP
        if distance == limit or everyone_found:
            break
        candidate = key[v] + HOP
        for e in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            w = np.int64(indices[e])
            if candidate < key[w]:
                if key[w] == FAR:
                    queue[tail] = w
                    tail += 1
                key[w] = candidate


@parallel_kernel
def nearest_members(
    share: Any,
    indptr: Any,
    indices: Any,
    pointer: Any,
    members: Any,
    rank: Any,
    by_rank: Any,
    limit: Any,
    distance: Any,
    nearest: Any,
) -> None:
    """Distance and closest member of every node and set, ``[n, sets]``; -1 where no member is within the limit."""
    n, sets = distance.shape
    for tile in range(share[0], (sets + TILE - 1) // TILE, share[1]):
        keys, queue = np.empty((TILE, n), np.int64), np.empty(n, np.int64)
        begin, end = tile * TILE, min((tile + 1) * TILE, sets)
        for s in range(begin, end):
            _search(indptr, indices, members[pointer[s] : pointer[s + 1]], rank, limit, keys[s - begin], queue)
        for v in range(n):
            for s in range(begin, end):
                key = keys[s - begin, v]
                distance[v, s] = -1 if key == FAR else key // HOP
                nearest[v, s] = -1 if key == FAR else by_rank[key & RANK]

"""Numba kernels for distances in hops. ``distance`` is -1 everywhere between two searches: each clears what it touched."""

from typing import Any

import numpy as np

from graphreach.jit import kernel, parallel_kernel


@kernel
def bfs(indptr: Any, indices: Any, source: Any, distance: Any, queue: Any) -> Any:
    """Breadth-first search; ``queue`` holds the nodes met, nearest first. Returns how many, and the edges looked at."""
    distance[source] = 0
    queue[0] = source
    head, tail, edges = 0, 1, np.int64(0)
    while head < tail:
        v = queue[head]
        head += 1
        begin, end = np.int64(indptr[v]), np.int64(indptr[v + 1])
        edges += end - begin
        for e in range(begin, end):
            u = np.int64(indices[e])
            if distance[u] < 0:
                distance[u] = distance[v] + 1
                queue[tail] = u
                tail += 1
    return tail, edges


@kernel
def clear(distance: Any, queue: Any, count: Any) -> None:
    """Forget a search."""
    for i in range(count):
        distance[queue[i]] = -1


@kernel
def farthest(indptr: Any, indices: Any, source: Any, distance: Any, queue: Any) -> Any:
    """The last node met from ``source``, its distance, and the edges looked at."""
    count, edges = bfs(indptr, indices, source, distance, queue)
    last = queue[count - 1]
    hops = distance[last]
    clear(distance, queue, count)
    return last, hops, edges


@kernel
def midpoint(indptr: Any, indices: Any, source: Any, distance: Any, queue: Any) -> Any:
    """Sweep from ``source``: the distance of the farthest node, the node half-way to it, and the edges looked at."""
    count, edges = bfs(indptr, indices, source, distance, queue)
    v = queue[count - 1]
    hops = distance[v]
    for _ in range(hops // 2):
        for e in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            u = np.int64(indices[e])
            if distance[u] == distance[v] - 1:
                v = u
                break
    clear(distance, queue, count)
    return hops, v, edges


@kernel
def ifub(indptr: Any, indices: Any, seed: Any, lower: Any, budget: Any, distance: Any, queue: Any) -> Any:
    """Bounds of the diameter of the component of ``seed`` (iFUB after four sweeps), and the budget left.

    Nodes at level i of a search from a central node u can be ends of a path longer than 2 (i - 1) only if one of them
    has such an eccentricity; so the levels are searched from the outside in until that is ruled out.
    """
    centre = seed
    for _ in range(2):
        rim, _, edges = farthest(indptr, indices, centre, distance, queue)
        hops, centre, more = midpoint(indptr, indices, rim, distance, queue)
        budget -= edges + more
        lower = max(lower, hops)
    count, edges = bfs(indptr, indices, centre, distance, queue)
    budget -= edges
    order = queue[:count].copy()
    level = np.empty(count, np.int32)
    for i in range(count):
        level[i] = distance[order[i]]
    clear(distance, queue, count)
    lower = max(lower, level[count - 1])
    i = count - 1
    upper = 2 * level[i]
    while upper > lower and i >= 0 and budget > 0:
        here = level[i]
        while i >= 0 and level[i] == here and upper > lower and budget > 0:
            _, hops, edges = farthest(indptr, indices, order[i], distance, queue)
            budget -= edges
            lower = max(lower, hops)
            i -= 1
        if i < 0 or level[i] < here:
            upper = max(lower, 2 * (here - 1))
    return lower, max(lower, upper), budget


@kernel
def undirected_diameter(indptr: Any, indices: Any, seeds: Any, sizes: Any, budget: Any) -> Any:
    """Bounds over components, given largest first; one that is too small to matter is not searched."""
    n = len(indptr) - 1
    distance, queue = np.full(n, -1, np.int32), np.empty(n, np.int64)
    lower, upper = 0, 0
    for c in range(len(seeds)):
        if sizes[c] - 1 <= lower:
            break
        if budget <= 0 and c > 0:
            upper = max(upper, sizes[c] - 1)
            break
        lower, bound, budget = ifub(indptr, indices, seeds[c], lower, budget, distance, queue)
        upper = max(upper, bound)
    return lower, max(lower, upper)


@parallel_kernel
def all_eccentricities(share: Any, indptr: Any, indices: Any, out: Any) -> None:
    """For each node the longest of its shortest paths, by a search from it."""
    n = len(out)
    distance, queue = np.full(n, -1, np.int32), np.empty(n, np.int64)
    for source in range(share[0], n, share[1]):
        out[source] = farthest(indptr, indices, source, distance, queue)[1]


@kernel
def directed_sweeps(indptr: Any, indices: Any, back_indptr: Any, back_indices: Any, sources: Any) -> Any:
    """A lower bound of a directed diameter: forward to the farthest node, then backward from it, from each source."""
    n = len(indptr) - 1
    distance, queue = np.full(n, -1, np.int32), np.empty(n, np.int64)
    longest = 0
    for source in sources:
        last, hops, _ = farthest(indptr, indices, source, distance, queue)
        first, back, _ = farthest(back_indptr, back_indices, last, distance, queue)
        _, again, _ = farthest(indptr, indices, first, distance, queue)
        longest = max(longest, hops, back, again)
    return longest

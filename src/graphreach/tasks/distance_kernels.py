"""Numba kernels for distances of pairs in hops, and for nodes at a given distance.

Scratch arrays of distances are -1 everywhere between two searches: each search clears what it touched.
"""

from typing import Any

import numpy as np

from graphreach.jit import kernel, parallel_kernel
from graphreach.tasks.candidates import random_below
from graphreach.walks.diameter import clear
from graphreach.walks.rng import start_key

PIECES = 32
"""Queries are dealt out to this many pieces, each with scratch memory of its own."""

NO_LIMIT = 1 << 30

TRIES = 64


@kernel
def expand(indptr: Any, indices: Any, begin: Any, end: Any, here: Any, there: Any, queue: Any) -> Any:
    """One more level of a search from one side: the size of its queue, and whether it met the search from the other."""
    tail = end
    for i in range(begin, end):
        v = queue[i]
        for e in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            u = np.int64(indices[e])
            if here[u] < 0:
                here[u] = here[v] + 1
                queue[tail] = u
                tail += 1
                if there[u] >= 0:
                    return tail, True
    return tail, False


@kernel
def edges_of(indptr: Any, queue: Any, begin: Any, end: Any) -> Any:
    """Edges of the nodes in a piece of a queue."""
    total = np.int64(0)
    for i in range(begin, end):
        total += np.int64(indptr[queue[i] + 1]) - np.int64(indptr[queue[i]])
    return total


@kernel
def pair_distance(
    indptr: Any, indices: Any, back_indptr: Any, back_indices: Any, source: Any, target: Any, limit: Any,
    forth: Any, back: Any, queue: Any, back_queue: Any,
) -> Any:  # fmt: skip
    """Hops from source to target; -1 if there is no path, ``limit + 1`` if it is longer than that.

    Searches from both ends, always on the side that has fewer edges to look at; the first node that both have met lies on
    a shortest path, as the levels before it were complete.
    """
    if source == target:
        return np.int64(0)
    forth[source], queue[0] = 0, source
    back[target], back_queue[0] = 0, target
    begin, end, back_begin, back_end = np.int64(0), np.int64(1), np.int64(0), np.int64(1)
    hops, met = np.int64(0), False
    while not met and begin < end and back_begin < back_end and hops < limit:
        hops += 1
        if edges_of(indptr, queue, begin, end) <= edges_of(back_indptr, back_queue, back_begin, back_end):
            tail, met = expand(indptr, indices, begin, end, forth, back, queue)
            begin, end = end, tail
        else:
            tail, met = expand(back_indptr, back_indices, back_begin, back_end, back, forth, back_queue)
            back_begin, back_end = back_end, tail
    clear(forth, queue, end)
    clear(back, back_queue, back_end)
    if met:
        return hops
    return np.int64(-1) if begin == end or back_begin == back_end else np.int64(limit + 1)


@parallel_kernel
def pair_distances(
    share: Any, indptr: Any, indices: Any, back_indptr: Any, back_indices: Any, sources: Any, targets: Any, out: Any
) -> None:
    """Distances in hops, -1 where there is no path; the arrays after the first two are those of the transposed graph."""
    n, count = len(indptr) - 1, len(sources)
    pieces = min(PIECES, max(1, count))
    for piece in range(share[0], pieces, share[1]):
        forth, back = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
        queue, back_queue = np.empty(n, np.int64), np.empty(n, np.int64)
        for q in range(piece, count, pieces):
            ends = sources[q], targets[q]
            out[q] = pair_distance(
                indptr, indices, back_indptr, back_indices, *ends, NO_LIMIT, forth, back, queue, back_queue
            )


@kernel
def search_within(indptr: Any, indices: Any, source: Any, depth: Any, budget: Any, distance: Any, queue: Any) -> Any:
    """Breadth-first search up to ``depth`` hops (without end if negative); how many nodes it met, and if it came so far."""
    distance[source], queue[0] = 0, source
    head, tail = 0, 1
    while head < tail:
        v = queue[head]
        head += 1
        if distance[v] == depth:
            break
        begin, end = np.int64(indptr[v]), np.int64(indptr[v + 1])
        budget -= end - begin
        if budget < 0:
            return tail, False
        for e in range(begin, end):
            u = np.int64(indices[e])
            if distance[u] < 0:
                distance[u] = distance[v] + 1
                queue[tail] = u
                tail += 1
    return tail, True


@kernel
def pick(nodes: Any, distance: Any, wanted: Any, linked: Any, source: Any, key: Any) -> Any:
    """A random one of the nodes that are ``wanted`` hops away and not linked to the source, or -1."""
    count = np.int64(0)
    for node in nodes:
        if distance[node] == wanted and linked[node] != source:
            count += 1
    if count == 0:
        return np.int64(-1)
    rank = random_below(key, 0, count)
    for node in nodes:
        if distance[node] == wanted and linked[node] != source:
            if rank == 0:
                return np.int64(node)
            rank -= 1
    return np.int64(-1)


@parallel_kernel
def nodes_at_distance(
    share: Any, indptr: Any, indices: Any, back_indptr: Any, back_indices: Any, linked_indptr: Any, linked_indices: Any,
    sources: Any, wanted: Any, names: Any, seed: Any, budget: Any, out: Any,
) -> None:  # fmt: skip
    """For each query a random node ``wanted`` hops from its source (-1: out of its reach) not linked to it, or -1.

    Where the neighbourhood has at most ``budget`` edges, its nodes at that distance are listed. Where it has more, random
    nodes are measured, and listed only if none is right; either way each node that is right is as likely as the others.
    ``names`` are what a query's random numbers depend on.
    """
    n, count = len(indptr) - 1, len(sources)
    everyone = np.arange(n)
    pieces = min(PIECES, max(1, count))
    for piece in range(share[0], pieces, share[1]):
        forth, back = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
        queue, back_queue = np.empty(n, np.int64), np.empty(n, np.int64)
        linked = np.full(n, -1, np.int64)
        for q in range(piece, count, pieces):
            source, hops, key = np.int64(sources[q]), np.int64(wanted[q]), start_key(seed, names[q])
            for e in range(np.int64(linked_indptr[source]), np.int64(linked_indptr[source + 1])):
                linked[linked_indices[e]] = source
            found = np.int64(-1)
            met, complete = search_within(indptr, indices, source, hops, budget, forth, queue)
            if not complete:
                clear(forth, queue, met)
                limit = np.int64(NO_LIMIT) if hops < 0 else hops
                for attempt in range(TRIES):
                    node = random_below(key, attempt + 1, n)
                    if linked[node] != source and hops == pair_distance(
                        indptr, indices, back_indptr, back_indices, source, node, limit, forth, back, queue, back_queue
                    ):
                        found = node
                        break
                if found < 0:
                    met, complete = search_within(indptr, indices, source, hops, np.int64(1) << 62, forth, queue)
            if complete:
                found = pick(everyone if hops < 0 else queue[:met], forth, hops, linked, source, key)
                clear(forth, queue, met)
            out[q] = found

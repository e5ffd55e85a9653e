"""Distances in hops from every node to sets of nodes."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.jit import kernel, long_kernel
from graphreach.limits import check_memory
from graphreach.walks.rng import check_seed, hash_nodes
from graphreach.walks.walk_length import check_count

TILE = 8
"""Sets whose results are written together, as they lie side by side in a row."""

FAR = np.int64(2**62)
HOP = np.int64(2**32)
RANK = np.int64(2**32 - 1)


class SetDistances(NamedTuple):
    """How far each set is from each node, and by which member.

    Attributes:
        distance: Hops, ``[n, sets]``; -1 where no member is reached.
        nearest: Position of the closest member, ``[n, sets]``; -1 where there is none.
    """

    distance: NDArray[np.int32]
    nearest: NDArray[np.int32]


def search_sets(
    graph: Graph, pointer: NDArray[Any], members: NDArray[np.int64], max_distance: int | None = None, seed: int = 0
) -> SetDistances:
    """The distance in hops from every node to the closest member of each set, and that member.

    One breadth-first search per set, from all its members at once. In a directed graph it is the distance from the node to
    the member, along edges. Of several closest members, the one whose hash with ``seed`` is lowest counts, so the result
    depends neither on threads nor on the order of members.

    Args:
        graph: The graph.
        pointer: Where each set begins: set s is ``members[pointer[s] : pointer[s + 1]]``.
        members: Positions of the members.
        max_distance: Hops beyond which a member counts as not reached.
        seed: Random seed for breaking ties.
    """
    n, seed = graph.num_nodes, check_seed(seed)
    if n >= 2**31:
        raise InputError(f"graph must have fewer than 2**31 nodes for distances, got {n}")
    limit = -1 if max_distance is None else check_count("max_distance", max_distance)
    by_rank = np.argsort(hash_nodes(seed, np.arange(n)), kind="stable")
    rank = np.empty(n, np.int64)
    rank[by_rank] = np.arange(n)
    sets = len(pointer) - 1
    check_memory(8 * n * sets, f"distances of {n} nodes to {sets} sets", "give fewer sets at a time")
    distance, nearest = (np.empty((n, sets), np.int32) for _ in range(2))
    backward = graph.transpose()
    _nearest_members(backward.indptr, backward.indices, pointer, members, rank, by_rank, limit, distance, nearest)
    return SetDistances(distance, nearest)


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


@long_kernel
def _nearest_members(
    share: Any, indptr: Any, indices: Any, pointer: Any, members: Any, rank: Any, by_rank: Any, limit: Any,
    distance: Any, nearest: Any,
) -> None:  # fmt: skip
    """Distance and closest member of every node and set, ``[n, sets]``; -1 where no member is within the limit."""
    n, sets = distance.shape
    for tile in range(share[0], (sets + TILE - 1) // TILE, share[1]):
        keys, queue = np.empty((TILE, n), np.int64), np.empty(n, np.int64)
        begin, end = tile * TILE, min((tile + 1) * TILE, sets)
        for s in range(begin, end):
            if share[2][0] != 0:
                return
            _search(indptr, indices, members[pointer[s] : pointer[s + 1]], rank, limit, keys[s - begin], queue)
        for v in range(n):
            for s in range(begin, end):
                key = keys[s - begin, v]
                distance[v, s] = -1 if key == FAR else key // HOP
                nearest[v, s] = -1 if key == FAR else by_rank[key & RANK]

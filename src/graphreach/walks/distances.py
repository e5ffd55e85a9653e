"""Distances in hops from every node to sets of nodes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.interrupts import LONG
from graphreach.limits import check_memory
from graphreach.walks.distance_kernels import TILE, nearest_members
from graphreach.walks.random_walks import check_starts
from graphreach.walks.rng import check_seed, hash_nodes
from graphreach.walks.walk_length import check_count


class SetDistances(NamedTuple):
    """How far each set is from each node, and by which member.

    Attributes:
        distance: Hops, ``[n, sets]``; -1 where no member is reached.
        nearest: Position of the closest member, ``[n, sets]``; -1 where there is none.
    """

    distance: NDArray[np.int32]
    nearest: NDArray[np.int32]


def set_distances(
    graph: Graph, sets: Sequence[ArrayLike], max_distance: int | None = None, seed: int = 0
) -> SetDistances:
    """The distance in hops from every node to the closest member of each set, and that member.

    One breadth-first search a set, from all its members at once. In a directed graph it is the distance from the node to
    the member, along edges. Of several closest members, the one whose hash with ``seed`` is lowest counts, so the result
    depends neither on threads nor on the order of members.

    Args:
        graph: The graph.
        sets: Positions of the members of each set.
        max_distance: Hops beyond which a member counts as not reached.
        seed: Of the ties.

    Example:
        >>> import graphreach as gr
        >>> path = gr.Graph.from_edges([[0, 1, 2], [1, 2, 3]], num_nodes=5)
        >>> distance, nearest = set_distances(path, [[0, 3], [2]])
        >>> distance.T
        array([[ 0,  1,  1,  0, -1],
               [ 2,  1,  0,  1, -1]], dtype=int32)
        >>> nearest[:, 0]
        array([ 0,  0,  3,  3, -1], dtype=int32)
    """
    members = [check_starts(graph, each, "sets") for each in sets]
    pointer = np.cumsum([0, *(len(each) for each in members)])
    joined = np.concatenate([np.empty(0, np.uint32), *members]).astype(np.int64)
    return search_sets(graph, pointer, joined, max_distance, seed)


def search_sets(
    graph: Graph, pointer: NDArray[Any], members: NDArray[np.int64], max_distance: int | None = None, seed: int = 0
) -> SetDistances:
    """:func:`set_distances` for sets in one array: set s is ``members[pointer[s] : pointer[s + 1]]``."""
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
    size = max(TILE, LONG // max(1, len(graph.indices)) // TILE * TILE)
    for begin in range(0, sets, size):  # so that Python sees Ctrl-C between two calls
        part = slice(begin, begin + size)
        found = (distance, nearest) if size >= sets else (distance[:, part].copy(), nearest[:, part].copy())
        nearest_members(
            backward.indptr, backward.indices, pointer[begin : begin + size + 1], members, rank, by_rank, limit, *found
        )
        if size < sets:
            distance[:, part], nearest[:, part] = found
    return SetDistances(distance, nearest)

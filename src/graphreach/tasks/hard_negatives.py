"""Negatives that distance, or a shared neighbour, does not give away."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.progress import track
from graphreach.tasks import distance_kernels as kernels
from graphreach.tasks.pair_keys import Keys, Pairs, encode, first_free, unique

HardNegatives = Callable[[Graph, Pairs, Graph, Keys, np.random.Generator], Pairs]

ROUNDS = 16
"""Attempts at finding a pair that is still free."""

LISTED_EDGES = 1 << 14
"""A neighbourhood with more edges is not listed at first: in it, a random node is likely to be as far as wanted."""

QUERIES_PER_CALL = 1 << 12


def pair_distances(graph: Graph, pairs: Pairs) -> NDArray[np.int64]:
    """Hops of a shortest path from u to v for pairs ``[2, m]``, -1 where there is none."""
    back = graph.transpose()
    out = np.empty(pairs.shape[1], np.int64)
    for rows in _chunks(pairs.shape[1], "distances of pairs"):
        kernels.pair_distances(
            graph.indptr, graph.indices, back.indptr, back.indices, pairs[0, rows], pairs[1, rows], out[rows]
        )
    return out


def same_distance(graph: Graph, positives: Pairs, linked: Graph, taken: Keys, rng: np.random.Generator) -> Pairs:
    """For each positive an unlinked pair that is as many hops apart in ``graph``, which does not hold the positive's edge.

    The pair shares the positive's first node, its second, or an end of another positive at the same distance. A
    positive for which no such pair is found gets no negative. ``linked`` is the
    :func:`~graphreach.tasks.candidates.closed_graph` of all links, and ``taken`` holds sorted keys of pairs that may
    not be drawn.
    """
    distance = pair_distances(graph, positives)
    peers = _Peers(distance)
    out = np.full(positives.shape, -1, np.int64)
    for attempt in range(ROUNDS):
        missing = np.flatnonzero(out[0] < 0)
        if not len(missing):
            break
        model = missing if attempt < 2 else peers.draw(missing, rng)
        side = np.full(len(missing), attempt) if attempt < 2 else rng.integers(0, 2, len(missing))
        drawn = np.empty((2, len(missing)), np.int64)
        for kept, walked in ((0, graph), (1, graph.transpose())):
            here = side == kept
            ends = positives[kept, model[here]]
            drawn[kept, here] = ends
            drawn[1 - kept, here] = _at_distance(
                walked, ends, distance[missing[here]], linked, int(rng.integers(2**63))
            )
        fresh = _fresh(drawn, taken)
        out[:, missing[fresh]] = drawn[:, fresh]
        taken = unique(np.concatenate([taken, encode(drawn[:, fresh])]))
    return out[:, out[0] >= 0]


def common_neighbour(graph: Graph, positives: Pairs, linked: Graph, taken: Keys, rng: np.random.Generator) -> Pairs:
    """Unlinked pairs u, v with a path u - w - v in ``graph``, as many as there are positives or can be found.

    They are the ends of random paths of two edges, so pairs that share more neighbours come more often. The arguments
    are those of :func:`same_distance`.
    """
    back = graph.transpose()
    into, out_of = _row_sizes(back), _row_sizes(graph)
    paths = np.cumsum(into * out_of)
    found, wanted, stale = np.empty((2, 0), np.int64), positives.shape[1], 0
    while found.shape[1] < wanted and stale < ROUNDS and len(paths) and paths[-1] > 0:
        # A path is a middle node, an edge into it and an edge out of it: one number below the number of paths.
        path = rng.integers(0, paths[-1], max(1024, 4 * (wanted - found.shape[1])))
        middle = np.searchsorted(paths, path, side="right")
        path -= paths[middle] - into[middle] * out_of[middle]
        u = back.indices[back.indptr[middle].astype(np.int64) + path // out_of[middle]].astype(np.int64)
        v = graph.indices[graph.indptr[middle].astype(np.int64) + path % out_of[middle]].astype(np.int64)
        drawn = np.stack([u, v])[:, u != v]
        drawn = drawn[:, _fresh(drawn, taken)]
        stale = 0 if drawn.shape[1] else stale + 1
        found = np.concatenate([found, drawn], axis=1)
        taken = unique(np.concatenate([taken, encode(drawn)]))
    return found[:, :wanted]


HARD: dict[str, HardNegatives] = {"same-distance": same_distance, "common-neighbour": common_neighbour}


class _Peers:
    """Positives by their distance."""

    def __init__(self, distance: NDArray[np.int64]) -> None:
        self.order = np.argsort(distance, kind="stable")
        sorted_distance = distance[self.order]
        self.first = np.searchsorted(sorted_distance, distance)
        self.count = np.searchsorted(sorted_distance, distance, side="right") - self.first

    def draw(self, positives: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """For each of the positives one of those that are as far, perhaps itself."""
        drawn: NDArray[np.int64] = self.order[self.first[positives] + rng.integers(0, self.count[positives])]
        return drawn


def _row_sizes(graph: Graph) -> NDArray[np.int64]:
    pointers = graph.indptr.astype(np.int64)
    return pointers[1:] - pointers[:-1]


def _fresh(pairs: Pairs, taken: Keys) -> NDArray[np.int64]:
    """Positions of the pairs that were found (no -1), are not taken, and are the first of their like."""
    there = np.flatnonzero(pairs.min(axis=0) >= 0)
    return there[first_free(pairs[:, there], taken)]


def _at_distance(
    graph: Graph, sources: NDArray[np.int64], distance: NDArray[np.int64], linked: Graph, seed: int
) -> NDArray[np.int64]:
    back = graph.transpose()
    names, out = np.arange(len(sources)), np.empty(len(sources), np.int64)
    for rows in _chunks(len(sources), "pairs at equal distance"):
        kernels.nodes_at_distance(
            graph.indptr, graph.indices, back.indptr, back.indices, linked.indptr, linked.indices,
            sources[rows], distance[rows], names[rows], seed, LISTED_EDGES, out[rows],
        )  # fmt: skip
    return out


def _chunks(count: int, description: str) -> Iterator[slice]:
    begins = range(0, count, QUERIES_PER_CALL)
    for begin in track(begins, len(begins), description):
        yield slice(begin, begin + QUERIES_PER_CALL)

"""Link prediction: edges are hidden, and the graph that remains is all there is to see."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.build import CSR, compact
from graphreach.tasks.examples import PARTS, Examples, SplitRequest, empty_pairs, join_pairs, part_sizes, stream
from graphreach.tasks.pair_keys import Keys, Pairs, contains, draw_pairs, encode, num_pairs, turn, unique

TRAIN, VAL, TEST = range(3)


@dataclass(frozen=True, eq=False)
class _Links:
    """The linked pairs of a graph as sorted keys, and the part of each; both directions of an edge are in one part."""

    graph: Graph
    keys: Keys
    part: NDArray[np.int8]

    def taken(self, part: int) -> Keys:
        keys: Keys = self.keys[self.part == part]
        return keys

    @cached_property
    def closed(self) -> Graph:
        from graphreach.tasks.candidates import closed_graph

        return closed_graph(self.graph)


def split_links(graph: Graph, request: SplitRequest, whole: int | None = None) -> tuple[Graph, list[Examples]]:
    """The graph of training edges, and the pairs of each part; see :func:`graphreach.tasks.split`.

    A graph that belongs to one part as a ``whole`` has pairs of that part only. A training graph is seen whole, and its
    edges are the positives, as training edges are elsewhere. Of another graph the training share of the edges is seen, and
    the others are the positives.
    """
    keys = _linked_keys(graph)
    if whole == TRAIN:
        return _examples(_Links(graph, keys, np.zeros(len(keys), np.int8)), request, whole)
    shown = request.fractions[0]
    shares = request.fractions if whole is None else (shown, 0.0, 1 - shown)
    names = np.array([TRAIN, VAL, TEST] if whole is None else [TRAIN, VAL, whole], np.int8)
    order = np.repeat(names, part_sizes(len(keys), shares, "edges"))
    return _examples(_Links(graph, keys, stream(request.seed, "partition").permutation(order)), request, whole)


def _examples(links: _Links, request: SplitRequest, only: int | None) -> tuple[Graph, list[Examples]]:
    visible = _keep_edges(links.graph, links.taken(TRAIN))
    if num_pairs(links.graph.num_nodes) == len(links.keys):
        raise InputError(f"the graph must have unlinked pairs to draw negatives from, got all {len(links.keys)} linked")
    wanted = [part for part in range(3) if (links.part == part).any() and only in (None, part)]
    positives = {part: _positives(links, part, request.seed) for part in wanted}
    negatives = _negatives(links, visible, positives, request)
    parts = [empty_pairs() for _ in range(3)]
    for part in wanted:
        candidates = None
        if request.candidates and part != TRAIN:
            from graphreach.tasks.candidates import draw_candidates

            rng_seed = int(stream(request.seed, "candidates", part).integers(2**63))
            candidates = draw_candidates(links.closed, positives[part][0], request.candidates, rng_seed)
        parts[part] = join_pairs(positives[part], negatives[part], candidates)
    return visible, parts


def _negatives(links: _Links, visible: Graph, positives: dict[int, Pairs], request: SplitRequest) -> dict[int, Pairs]:
    """Test first, so that under ``clean`` each part can avoid what the ones before it took."""
    n = links.graph.num_nodes
    free = num_pairs(n) - len(links.keys)
    total = sum(each.shape[1] for each in positives.values())
    taken, out = links.keys, {}
    for part in sorted(positives, reverse=True):
        rng = stream(request.seed, "negatives", part)
        size = positives[part].shape[1]
        if request.clean and total > free:
            size = max(1, size * free // total)
        avoid = taken if request.clean or part != TRAIN else links.taken(TRAIN)
        if part == TRAIN or request.negatives == "uniform":
            drawn = draw_pairs(rng, n, size, avoid)
        else:
            from graphreach.tasks.hard_negatives import HARD

            drawn = HARD[request.negatives](visible, positives[part][:, :size], links.closed, avoid, rng)
        if not drawn.shape[1]:
            raise InputError(
                f"negatives={request.negatives!r} found no unlinked pair for {PARTS[part]} in {links.graph}"
                + ("" if request.negatives == "uniform" else "; use 'uniform'")
            )
        if request.clean:
            taken = unique(np.concatenate([taken, encode(drawn)]))
        out[part] = drawn
    return out


def _linked_keys(graph: Graph) -> Keys:
    edges = graph.edge_index
    return unique(encode(edges[:, edges[0] != edges[1]]))


def _positives(links: _Links, part: int, seed: int) -> Pairs:
    """The links of a part in random order; undirected ones turned one way or the other at random."""
    edges = links.graph.edge_index
    edges = edges[:, edges[0] != edges[1] if links.graph.directed else edges[0] < edges[1]]
    edges = edges[:, links.part[np.searchsorted(links.keys, encode(edges))] == part]
    rng = stream(seed, "turn", part)
    edges = edges[:, rng.permutation(edges.shape[1])]
    return edges if links.graph.directed else turn(rng, edges)


def without_links(graph: Graph, links: Pairs) -> Graph:
    """The graph with all its nodes but without the edges between the listed pairs, in either direction."""
    keys = _linked_keys(graph)
    return _keep_edges(graph, keys[~contains(unique(encode(links)), keys)])


def _keep_edges(graph: Graph, keys: Keys) -> Graph:
    """The graph with all its nodes and self-loops, and of the other edges those between linked pairs in ``keys``."""
    edges = graph.edge_index
    keep = edges[0] == edges[1]
    keep[~keep] = contains(keys, encode(edges[:, ~keep]))
    sizes = np.bincount(edges[0][keep], minlength=graph.num_nodes)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    weights = None if graph.weights is None else graph.weights[keep]
    csr: CSR = compact(indptr, graph.indices[keep], weights)
    return Graph(csr, graph.ids, graph.directed)

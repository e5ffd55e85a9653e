"""Link prediction: edges are hidden, and the graph that remains is all there is to see."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.build import CSR, compact
from graphreach.tasks.candidates import closed_graph, draw_candidates
from graphreach.tasks.examples import PARTS, Examples, empty_pairs, join_pairs
from graphreach.tasks.hard_negatives import HARD
from graphreach.tasks.pair_keys import Keys, Pairs, contains, draw_pairs, encode, num_pairs, turn, unique
from graphreach.tasks.parts import CANDIDATES, NEGATIVES, PARTITION, TURN, part_sizes, stream

TRAIN, VAL, TEST = range(3)


class LinkOptions(NamedTuple):
    """How links are split."""

    clean: bool
    fractions: tuple[float, float, float]
    negatives: str
    candidates: int
    seed: int


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
        return closed_graph(self.graph)


def split_links(graph: Graph, options: LinkOptions) -> tuple[Graph, Examples, Examples, Examples]:
    """The graph of training edges, and training, validation and test pairs; see :func:`graphreach.tasks.split`."""
    keys = _linked_keys(graph)
    sizes = part_sizes(len(keys), options.fractions, "edges")
    part = stream(options.seed, PARTITION).permutation(np.repeat(np.arange(3, dtype=np.int8), sizes))
    links = _Links(graph, keys, part)
    return _examples(links, options)


def hide_links(graph: Graph, part: int, options: LinkOptions) -> tuple[Graph, Examples]:
    """For a graph that belongs to one part as a whole: what of it can be seen, and its pairs.

    A training graph is seen whole, and its edges are the positives, as training edges are elsewhere. Of another graph
    the training share of the edges is seen, and the others are the positives.
    """
    keys = _linked_keys(graph)
    if part == TRAIN:
        assigned = np.zeros(len(keys), np.int8)
    else:
        shown = options.fractions[0]
        sizes = part_sizes(len(keys), (shown, 0.0, 1 - shown), "edges")
        order = np.repeat(np.array([TRAIN, part], np.int8), [sizes[0], sizes[2]])
        assigned = stream(options.seed, PARTITION).permutation(order)
    visible, *parts = _examples(_Links(graph, keys, assigned), options, only=part)
    return visible, parts[part]


def _examples(
    links: _Links, options: LinkOptions, only: int | None = None
) -> tuple[Graph, Examples, Examples, Examples]:
    visible = _keep_edges(links.graph, links.taken(TRAIN))
    if num_pairs(links.graph.num_nodes) == len(links.keys):
        raise InputError(f"the graph must have unlinked pairs to draw negatives from, got all {len(links.keys)} linked")
    wanted = [part for part in range(3) if (links.part == part).any() and only in (None, part)]
    positives = {part: _positives(links, part, options.seed) for part in wanted}
    negatives = _negatives(links, visible, positives, options)
    parts = [empty_pairs() for _ in range(3)]
    for part in wanted:
        candidates = None
        if options.candidates and part != TRAIN:
            rng_seed = int(stream(options.seed, CANDIDATES, part).integers(2**63))
            candidates = draw_candidates(links.closed, positives[part][0], options.candidates, rng_seed)
        parts[part] = join_pairs(positives[part], negatives[part], candidates)
    return visible, parts[TRAIN], parts[VAL], parts[TEST]


def _negatives(links: _Links, visible: Graph, positives: dict[int, Pairs], options: LinkOptions) -> dict[int, Pairs]:
    """Test first, so that under ``clean`` each part can avoid what the ones before it took."""
    n = links.graph.num_nodes
    free = num_pairs(n) - len(links.keys)
    total = sum(each.shape[1] for each in positives.values())
    taken, out = links.keys, {}
    for part in sorted(positives, reverse=True):
        rng = stream(options.seed, NEGATIVES, part)
        size = positives[part].shape[1]
        if options.clean and total > free:
            size = max(1, size * free // total)
        avoid = taken if options.clean or part != TRAIN else links.taken(TRAIN)
        if part == TRAIN or options.negatives == "uniform":
            drawn = draw_pairs(rng, n, size, avoid)
        else:
            drawn = HARD[options.negatives](visible, positives[part][:, :size], links.closed, avoid, rng)
        if not drawn.shape[1]:
            raise InputError(
                f"negatives={options.negatives!r} found no unlinked pair for {PARTS[part]} in {links.graph}"
                + ("" if options.negatives == "uniform" else "; use 'uniform'")
            )
        if options.clean:
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
    rng = stream(seed, TURN, part)
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

"""Link prediction: edges are hidden, and the graph that remains is all there is to see."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.build import CSR, compact
from graphreach.tasks.examples import PARTS, Examples, SplitRequest, empty_pairs, join_pairs, part_sizes, stream
from graphreach.tasks.pair_keys import Keys, Pairs, contains, decode, draw_pairs, encode, num_pairs, turn, unique

if TYPE_CHECKING:
    from graphreach.tasks.sides import Sides

TRAIN, VAL, TEST = range(3)


@dataclass(frozen=True, eq=False)
class Links:
    """The linked pairs of a graph as sorted keys, and the part of each; both directions of an edge are in one part.

    In a bipartite graph with ``sides``, negatives are pairs between the two sides.
    """

    graph: Graph
    keys: Keys
    part: NDArray[np.int8]
    sides: "Sides | None" = None

    def taken(self, part: int) -> Keys:
        """The links of a part."""
        keys: Keys = self.keys[self.part == part]
        return keys

    @cached_property
    def num_free(self) -> int:
        """How many pairs can be negatives."""
        n = self.graph.num_nodes
        return num_pairs(n) - len(self.keys) if self.sides is None else self.sides.num_free(self.keys)

    @cached_property
    def closed(self) -> Graph:
        """Each node linked to those it has a link with and to itself."""
        from graphreach.tasks.candidates import closed_graph

        return closed_graph(Graph.from_edges(decode(self.keys), self.graph.num_nodes))


def split_links(graph: Graph, request: SplitRequest, whole: int | None = None) -> tuple[Graph, list[Examples]]:
    """The graph of training edges, and the pairs of each part; see :func:`graphreach.tasks.split`.

    A graph that belongs to one part as a ``whole`` has pairs of that part only. A training graph is seen whole, and its
    edges are the positives, as training edges are elsewhere. Of another graph the training share of the edges is seen, and
    the others are the positives.
    """
    keys, sides = linked_keys(graph), find_sides(graph, request.bipartite)
    if whole == TRAIN:
        part = np.zeros(len(keys), np.int8)
    elif request.protocol == "time":
        from graphreach.tasks.time_split import cut_by_time

        part, current = cut_by_time(graph, keys, request.fractions)
        graph = _keep_entries(graph, current)
    else:
        shown = request.fractions[0]
        shares = request.fractions if whole is None else (shown, 0.0, 1 - shown)
        part = deal(keys, graph.num_nodes, shares, (TRAIN, VAL, TEST if whole is None else whole), request)
    return _examples(Links(graph, keys, part, sides), request, whole)


def find_sides(graph: Graph, bipartite: bool | None) -> "Sides | None":
    """The sides of a graph that is known to be bipartite or should be treated as such, else None."""
    if bipartite is False or (bipartite is None and graph.sides is None):
        return None
    from graphreach.tasks.sides import Sides

    return Sides.of(graph)


def deal(
    keys: Keys, num_nodes: int, shares: tuple[float, float, float], names: tuple[int, int, int], request: SplitRequest
) -> NDArray[np.int8]:
    """The part of each link, at random; a spanning forest is dealt to training first if it is to stay there."""
    sizes = part_sizes(len(keys), shares, "edges")
    free = np.ones(len(keys), np.bool_)
    if request.keep_connected:
        from graphreach.tasks.spanning_forest import spanning_forest

        free = ~spanning_forest(keys, num_nodes, stream(request.seed, "forest"))
    num_free, wanted = int(np.count_nonzero(free)), sizes[1] + sizes[2]
    if wanted > num_free:
        raise InputError(
            f"keep_connected=True must leave {wanted} of {len(keys)} links for validation and test, got {num_free} outside "
            "a spanning forest; lower their fractions, or set keep_connected=False"
        )
    order = np.repeat(np.array(names, np.int8), (num_free - wanted, *sizes[1:]))
    part = np.full(len(keys), TRAIN, np.int8)
    part[free] = stream(request.seed, "partition").permutation(order)
    return part


def _examples(links: Links, request: SplitRequest, only: int | None) -> tuple[Graph, list[Examples]]:
    visible = keep_edges(links.graph, links.taken(TRAIN))
    wanted = [part for part in range(3) if (links.part == part).any() and only in (None, part)]
    positives = {part: positives_of(links, part, request.seed) for part in wanted}
    negatives = draw_negatives(links, visible, positives, request)
    parts = [empty_pairs() for _ in range(3)]
    for part in wanted:
        candidates = None
        if request.candidates and part != TRAIN:
            rng_seed = int(stream(request.seed, "candidates", part).integers(2**63))
            candidates = _draw_candidates(links, positives[part][0], request.candidates, rng_seed)
        parts[part] = join_pairs(positives[part], negatives[part], candidates)
    return visible, parts


def _draw_candidates(links: Links, sources: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64]:
    from graphreach.tasks.candidates import draw_candidates, draw_candidates_across

    if links.sides is None:
        return draw_candidates(links.closed, sources, count, seed)
    return draw_candidates_across(links.closed, links.sides, sources, count, seed)


def draw_negatives(
    links: Links, visible: Graph, positives: dict[int, Pairs], request: SplitRequest,
    given: Mapping[int, Pairs] | None = None,
) -> dict[int, Pairs]:  # fmt: skip
    """One negative for each positive of each part, unless ``given`` has those of a part.

    Test first, so that under ``clean`` each part can avoid what the ones before it took.
    """
    _check_free(links, request)
    out = dict(given or {})
    total = sum(each.shape[1] for each in positives.values())
    taken = unique(np.concatenate([links.keys, *map(encode, out.values())])) if out else links.keys
    for part in sorted(positives.keys() - out.keys(), reverse=True):
        rng = stream(request.seed, "negatives", part)
        size = positives[part].shape[1]
        if request.clean and total > links.num_free:
            size = max(1, size * links.num_free // total)
        avoid = taken if request.clean or part != TRAIN else links.taken(TRAIN)
        how = "uniform" if part == TRAIN and request.negatives != "degree" else request.negatives
        drawn = _draw(links, visible, positives[part][:, :size], avoid, how, rng)
        if not drawn.shape[1]:
            raise InputError(
                f"negatives={request.negatives!r} found no unlinked pair for {PARTS[part]} in {links.graph}"
                + ("" if request.negatives == "uniform" else "; use 'uniform'")
            )
        if request.clean:
            taken = unique(np.concatenate([taken, encode(drawn)]))
        out[part] = drawn
    return out


def _draw(links: Links, visible: Graph, positives: Pairs, avoid: Keys, how: str, rng: np.random.Generator) -> Pairs:
    """Unlinked pairs, one for each positive as far as there are."""
    n, size, sides = links.graph.num_nodes, positives.shape[1], links.sides
    if how == "uniform":
        return draw_pairs(rng, n, size, avoid) if sides is None else sides.draw(rng, size, avoid)
    if how == "degree":
        from graphreach.tasks.degree_negatives import draw_by_degree

        return draw_by_degree(visible, size, avoid, rng, sides)
    from graphreach.tasks.hard_negatives import HARD

    drawn = HARD[how](visible, positives, links.closed, avoid, rng)
    return drawn if sides is None else drawn[:, sides.across(drawn)]


def _check_free(links: Links, request: SplitRequest) -> None:
    if not links.num_free:
        where = "" if links.sides is None else " between its two sides"
        raise InputError(
            f"the graph must have unlinked pairs{where} to draw negatives from, got all {len(links.keys)} linked"
        )
    if links.sides is not None and request.negatives == "common-neighbour":
        raise InputError(
            "negatives must not be 'common-neighbour' for a bipartite graph, where nodes that share a neighbour are on one "
            "side and never linked; use 'same-distance', or set bipartite=False"
        )


def linked_keys(graph: Graph) -> Keys:
    """Sorted keys of the pairs that have an edge."""
    edges = graph.edge_index
    return unique(encode(edges[:, edges[0] != edges[1]]))


def positives_of(links: Links, part: int, seed: int) -> Pairs:
    """The links of a part in random order; undirected ones turned one way or the other at random."""
    edges = links.graph.edge_index
    edges = edges[:, edges[0] != edges[1] if links.graph.directed else edges[0] < edges[1]]
    edges = edges[:, links.part[np.searchsorted(links.keys, encode(edges))] == part]
    rng = stream(seed, "turn", part)
    edges = edges[:, rng.permutation(edges.shape[1])]
    return edges if links.graph.directed else turn(rng, edges)


def without_links(graph: Graph, links: Pairs) -> Graph:
    """The graph with all its nodes but without the edges between the listed pairs, in either direction."""
    keys = linked_keys(graph)
    return keep_edges(graph, keys[~contains(unique(encode(links)), keys)])


def keep_edges(graph: Graph, keys: Keys) -> Graph:
    """The graph with all its nodes and self-loops, and of the other edges those between linked pairs in ``keys``."""
    edges = graph.edge_index
    keep = edges[0] == edges[1]
    keep[~keep] = contains(keys, encode(edges[:, ~keep]))
    return _keep_entries(graph, keep)


def _keep_entries(graph: Graph, keep: NDArray[np.bool_]) -> Graph:
    sizes = np.bincount(graph.edge_index[0][keep], minlength=graph.num_nodes)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    weights = None if graph.weights is None else graph.weights[keep]
    csr: CSR = compact(indptr, graph.indices[keep], weights)
    found = Graph(csr, graph.ids, graph.directed)
    found.sides = graph.sides
    return found

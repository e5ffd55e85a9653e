"""Who colludes, and which edges they add (section 4.5 of the paper)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import check_number, check_pairs
from graphreach.attacks.attack import MAX_EDGES, Attack, add_edges
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.tasks.pair_keys import decode, draw_distinct, encode, free_keys, num_pairs, unique
from graphreach.tasks.parts import stream
from graphreach.walks.rng import check_seed

CLIQUE, HUBS, NOISE, GROUP = range(100, 104)
"""What random numbers are for; none that a split uses, or colluders of its seed would all be training nodes."""


def clique(graph: Graph, fraction: float = 0.1, seed: int = 0) -> Attack:
    """Random nodes join each other, all with all: the paper's attack on pairwise node classification.

    In a directed graph there is an edge in both directions. With one seed, the colluders of a smaller fraction are among
    those of a larger one.

    Differs from the authors' code, which attacks the graph of same-label pairs, test pairs included, instead of the graph
    that the model reads.

    Args:
        graph: What message passing may see.
        fraction: Share of the nodes that collude; at least two do.
        seed: Of the nodes.

    Example:
        >>> ring = Graph.from_edges([range(40), [*range(1, 40), 0]])
        >>> attack = clique(ring, fraction=0.1)
        >>> len(attack.colluders), attack.involves(attack.edges, "both").all()
        (4, np.True_)
    """
    size = _group_size(graph, fraction)
    nodes = stream(check_seed(seed), CLIQUE).permutation(graph.num_nodes)[:size]
    return add_edges(graph, _all_pairs(nodes, size, graph.directed), nodes)


def hubs(graph: Graph, candidates: ArrayLike, fraction: float = 0.1, top: float = 0.02, seed: int = 0) -> Attack:
    """Nodes of unlinked pairs join a few hubs among themselves: the paper's attack on link prediction.

    Random pairs of ``candidates`` are taken whole until their ends are the wanted share of the nodes (one more, if the
    last pair has two new ends; all ends, if there are too few). The colluders of highest degree (both directions, sums of
    weights; of equal ones those drawn first) are the hubs. A hub is joined to every other colluder, in both directions
    if the graph is directed, so that the group's diameter is at most 2.

    Differs from the authors' code, whose graph holds the test edges, and whose hubs are those of the whole graph. "Top 2%"
    is read as 2% of the graph's nodes: of the colluders alone it would be one hub on a graph of 400 nodes.

    Args:
        graph: What message passing may see.
        candidates: Pairs ``[2, m]`` of positions, such as the negative test pairs.
        fraction: Share of the nodes that collude; at least two do.
        top: How many hubs there are, as a share of the graph's nodes; at least one.
        seed: Of the pairs.

    Example:
        >>> ring = Graph.from_edges([range(40), [*range(1, 40), 0]])
        >>> attack = hubs(ring, [[0, 5], [20, 30]], fraction=0.1)
        >>> len(attack.colluders), attack.edges.shape[1]
        (4, 3)
    """
    size = _group_size(graph, fraction)
    pairs = check_pairs(candidates, graph.num_nodes, "candidates")
    pairs = pairs[:, pairs[0] != pairs[1]]
    if not pairs.shape[1]:
        raise InputError("candidates must hold at least one pair of different nodes, got none")
    count = max(1, round(check_number("top", top, 0, 1, above=True) * graph.num_nodes))
    ends = pairs[:, stream(check_seed(seed), HUBS).permutation(pairs.shape[1])].T.ravel()
    is_new = np.zeros(len(ends), np.bool_)
    is_new[np.unique(ends, return_index=True)[1]] = True
    known = np.cumsum(is_new)[1::2]  # nodes met up to each pair
    last = min(int(np.searchsorted(known, size)), len(known) - 1)
    nodes = ends[: 2 * (last + 1)][is_new[: 2 * (last + 1)]]
    degree = graph.degree + graph.transpose().degree
    nodes = nodes[np.argsort(-degree[nodes], kind="stable")]
    return add_edges(graph, _all_pairs(nodes, min(count, len(nodes)), graph.directed), nodes)


def noise(graph: Graph, fraction: float = 0.1, seed: int = 0) -> Attack:
    """Random new edges anywhere: what is lost without any plan. There are no colluders, all pairs are concerned.

    Args:
        graph: What message passing may see.
        fraction: How many edges are added, as a share of those there are; all that are missing, if those are fewer.
        seed: Of the edges.

    Example:
        >>> ring = Graph.from_edges([range(40), [*range(1, 40), 0]])
        >>> noise(ring, fraction=0.1).edges.shape
        (2, 4)
    """
    share = check_number("fraction", fraction, 0)
    check_graph(graph)
    rng, n = stream(check_seed(seed), NOISE), graph.num_nodes
    size = _check_size(round(min(share * graph.num_edges, 2.0**62)))
    edges = graph.edge_index
    edges = edges[:, edges[0] != edges[1]]
    # Ordered pairs are unordered ones, twice.
    half = num_pairs(n)
    taken = encode(edges) + (half * (edges[0] > edges[1]) if graph.directed else 0)
    taken, population = unique(taken), half * (2 if graph.directed else 1)
    free = population - len(taken)
    keys = free_keys(draw_distinct(rng, free, min(size, free)), taken)
    pairs = decode(keys % max(half, 1))
    pairs = np.where(keys >= half, pairs[::-1], pairs)
    return add_edges(graph, pairs, np.empty(0, np.int64))


def _all_pairs(nodes: NDArray[np.int64], count: int, directed: bool) -> NDArray[np.int64]:
    """The first ``count`` nodes with each other and with all that follow them."""
    size = len(nodes)
    later = np.arange(size - 1, size - 1 - count, -1)
    _check_size(int(later.sum()))
    source = np.repeat(np.arange(count), later)
    target = np.arange(len(source)) - np.repeat(np.cumsum(later) - later, later) + source + 1
    pairs = nodes[np.stack([source, target])]
    return np.concatenate([pairs, pairs[::-1]], axis=1) if directed else pairs


def _check_size(edges: int) -> int:
    if edges > MAX_EDGES:
        raise InputError(f"fraction must add at most {MAX_EDGES:,} edges, got {edges:,}; choose a smaller one")
    return edges


def _group_size(graph: Graph, fraction: float) -> int:
    if check_graph(graph).num_nodes < 2:
        raise InputError(f"graph must have at least two nodes to collude, got {graph.num_nodes}")
    return max(2, round(check_number("fraction", fraction, 0, 1, above=True) * graph.num_nodes))

"""Who colludes, which edges they add, and the graph with these edges (section 4.5 of the paper)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import check_choice, check_number, check_pairs, to_integers
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.build import Edges, build_csr
from graphreach.graph.checks import check_graph
from graphreach.tasks.examples import stream
from graphreach.tasks.pair_keys import contains, decode, draw_distinct, encode, free_keys, num_pairs, unique
from graphreach.walks.rng import check_seed

MAX_EDGES = 50_000_000
"""Number of edges of a clique of ten thousand nodes; more is taken for a mistake in ``fraction``."""


@dataclass(frozen=True, eq=False, repr=False)
class Attack:
    """An attacked graph.

    Attributes:
        graph: The graph with the added edges, and nothing else changed: nodes, ids, weights and directions are the same.
        colluders: Positions of the nodes that attack, sorted ``[c]``; empty if the whole graph is meant.
        edges: What was added ``[2, m]``; an undirected edge once, the smaller position first.

    Example:
        >>> path = Graph.from_edges([[0, 1], [1, 2]])
        >>> attack = add_edges(path, np.array([[0, 0], [1, 2]]), np.array([0, 1, 2]))
        >>> attack
        Attack(3 colluders, 1 added edge, Graph(num_nodes=3, num_edges=3, directed=False, weighted=False))
    """

    graph: Graph
    colluders: NDArray[np.int64]
    edges: NDArray[np.int64]

    def involves(self, pairs: NDArray[np.int64], ends: str = "any") -> NDArray[np.bool_]:
        """Which pairs ``[2, m]`` have a colluder at an end (``"any"``) or at both (``"both"``); all without colluders.

        Example:
            >>> attack = add_edges(Graph.from_edges([[0, 1], [1, 2]]), np.array([[0], [2]]), np.array([0, 2]))
            >>> attack.involves(np.array([[0, 0], [1, 2]]), "both")
            array([False,  True])
        """
        check_choice("ends", ends, ("any", "both"))
        pairs = check_pairs(pairs, self.graph.num_nodes)
        if not len(self.colluders):
            return np.ones(pairs.shape[1], np.bool_)
        member = np.zeros(self.graph.num_nodes, np.bool_)
        member[self.colluders] = True
        source, target = member[pairs]
        out: NDArray[np.bool_] = source | target if ends == "any" else source & target
        return out

    def __repr__(self) -> str:
        added = self.edges.shape[1]
        return f"Attack({len(self.colluders)} colluders, {added} added edge{'' if added == 1 else 's'}, {self.graph})"


def add_edges(graph: Graph, pairs: NDArray[np.int64], colluders: NDArray[np.int64]) -> Attack:
    """Add edges to a graph; those that it has already stay as they are.

    In a weighted graph an added edge gets the mean weight of the others (1 without any), so walks take it like any other
    edge.

    Args:
        graph: The graph.
        pairs: Different pairs ``[2, m]`` of different nodes; ordered ones in a directed graph, else each once.
        colluders: Positions of the nodes that attack.

    Example:
        >>> road = Graph.from_edges([[0, 1], [1, 2]], edge_weight=[1.0, 3.0])
        >>> add_edges(road, np.array([[0], [2]]), np.array([0, 2])).graph.to_scipy().toarray()
        array([[0., 1., 2.],
               [1., 0., 3.],
               [2., 3., 0.]])
    """
    n, old = check_graph(graph).num_nodes, graph.edge_index
    pairs = check_pairs(pairs, n)
    colluders = to_integers("colluders", colluders)
    if colluders.ndim != 1 or (colluders.size and not 0 <= colluders.min() <= colluders.max() < n):
        raise InputError(f"colluders must be positions between 0 and {n - 1}, got {colluders.tolist()!r:.80}")
    if not graph.directed:
        pairs = np.sort(pairs, axis=0)
    pairs = pairs[:, ~contains(old[0] * n + old[1], pairs[0] * n + pairs[1])]
    pairs = pairs[:, np.lexsort((pairs[1], pairs[0]))]
    new = pairs if graph.directed else np.concatenate([pairs, pairs[::-1]], axis=1)
    source, target = np.concatenate([old, new], axis=1).astype(np.uint32)
    weights = None
    if graph.weights is not None:
        mean = float(graph.weights.mean()) if len(graph.weights) else 1.0
        weights = np.concatenate([graph.weights, np.full(new.shape[1], mean)])
    csr = build_csr(Edges(source, target, weights, graph.ids), directed=True, self_loops=True)
    return Attack(Graph(csr, graph.ids, graph.directed), np.sort(colluders), pairs)


def clique(graph: Graph, fraction: float = 0.1, seed: int = 0) -> Attack:
    """Link random nodes with each other, all with all: the paper's attack on pairwise node classification.

    In a directed graph there is an edge in both directions. With the same seed, the colluders of a smaller fraction are
    among those of a larger one.

    Differs from the authors' code, which attacks the graph of same-label pairs, test pairs included, instead of the graph
    that the model reads.

    Args:
        graph: What message passing may see.
        fraction: Share of the nodes that collude; at least two do.
        seed: Random seed for the choice of nodes.

    Example:
        >>> ring = Graph.from_edges([range(40), [*range(1, 40), 0]])
        >>> attack = clique(ring, fraction=0.1)
        >>> len(attack.colluders), attack.involves(attack.edges, "both").all()
        (4, np.True_)
    """
    size = _group_size(graph, fraction)
    nodes = stream(check_seed(seed), "clique").permutation(graph.num_nodes)[:size]
    return add_edges(graph, _all_pairs(nodes, size, graph.directed), nodes)


def hubs(graph: Graph, candidates: ArrayLike, fraction: float = 0.1, top: float = 0.02, seed: int = 0) -> Attack:
    """Link nodes of unlinked pairs to a few hubs among them: the paper's attack on link prediction.

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
        top: Number of hubs as a share of the graph's nodes; at least one.
        seed: Random seed for the choice of pairs.

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
    ends = pairs[:, stream(check_seed(seed), "hubs").permutation(pairs.shape[1])].T.ravel()
    is_new = np.zeros(len(ends), np.bool_)
    is_new[np.unique(ends, return_index=True)[1]] = True
    known = np.cumsum(is_new)[1::2]  # nodes met up to each pair
    last = min(int(np.searchsorted(known, size)), len(known) - 1)
    nodes = ends[: 2 * (last + 1)][is_new[: 2 * (last + 1)]]
    degree = graph.degree + graph.transpose().degree
    nodes = nodes[np.argsort(-degree[nodes], kind="stable")]
    return add_edges(graph, _all_pairs(nodes, min(count, len(nodes)), graph.directed), nodes)


def noise(graph: Graph, fraction: float = 0.1, seed: int = 0) -> Attack:
    """Add random edges anywhere, to compare with attacks that follow a plan. There are no colluders, and all pairs count.

    Args:
        graph: What message passing may see.
        fraction: Number of added edges as a share of the existing ones, or all missing edges if these are fewer.
        seed: Random seed for the choice of edges.

    Example:
        >>> ring = Graph.from_edges([range(40), [*range(1, 40), 0]])
        >>> noise(ring, fraction=0.1).edges.shape
        (2, 4)
    """
    share = check_number("fraction", fraction, 0)
    check_graph(graph)
    rng, n = stream(check_seed(seed), "noise"), graph.num_nodes
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
    _check_size(count * (2 * len(nodes) - count - 1) // 2)
    pairs = nodes[np.stack(np.triu_indices(count, 1, len(nodes)))]
    return np.concatenate([pairs, pairs[::-1]], axis=1) if directed else pairs


def _check_size(edges: int) -> int:
    if edges > MAX_EDGES:
        raise InputError(f"fraction must add at most {MAX_EDGES:,} edges, got {edges:,}; choose a smaller one")
    return edges


def _group_size(graph: Graph, fraction: float) -> int:
    if check_graph(graph).num_nodes < 2:
        raise InputError(f"graph must have at least two nodes to collude, got {graph.num_nodes}")
    return max(2, round(check_number("fraction", fraction, 0, 1, above=True) * graph.num_nodes))

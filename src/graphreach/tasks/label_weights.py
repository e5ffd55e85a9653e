"""Walks that prefer to stay among nodes known to be alike."""

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_number
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.build import CSR, check_weight_range
from graphreach.tasks.examples import Split, check_split
from graphreach.tasks.pair_keys import contains, encode


def label_weights(split: Split, same: float = 1.0, other: float = 0.01) -> Graph:
    """The split's graph with edge weights that lead walks along edges between nodes known to have one label.

    Known is what the training examples say: for nodes, that both ends are training nodes of one class; for pairs, that
    the ends are a positive training pair, in either direction. Such an edge weighs ``same``, every other one ``other``; a
    graph's own weights are multiplied by these.

    Differs from the authors' code, whose weights are made from validation and test labels as well.

    Args:
        split: A split of pairs or nodes.
        same: Weight of an edge between nodes known to be alike.
        other: Weight of every other edge.

    Example:
        >>> from graphreach.tasks import Examples, empty_pairs
        >>> graph = Graph.from_edges([[0, 1], [1, 2]])
        >>> train = Examples(np.array([[1, 2], [0, 1]]), np.array([1, 0]))
        >>> parts = Split("pair", graph, None, train, empty_pairs(), empty_pairs(), None, "published", 0)
        >>> label_weights(parts).to_scipy().toarray()
        array([[0.  , 1.  , 0.  ],
               [1.  , 0.  , 0.01],
               [0.  , 0.01, 0.  ]])
    """
    same, other = check_number("same", same, 0, above=True), check_number("other", other, 0, above=True)
    if check_split(split).task == "link":
        raise InputError("label_weights needs a split of task pair or node, got one of task link, which has no labels")
    graph = split.graph
    alike = _alike_nodes(split) if split.task == "node" else _alike_pairs(split)
    weights = np.where(alike, same, other)
    if graph.weights is not None:
        weights = weights * graph.weights
    check_weight_range(weights, "weights of edges times same and other")
    return Graph(CSR(graph.indptr, graph.indices, weights), graph.ids, graph.directed)


def _alike_nodes(split: Split) -> NDArray[np.bool_]:
    known = np.full(split.graph.num_nodes, -1, np.int64)
    known[split.train.index] = split.train.label
    source, target = known[split.graph.edge_index]
    alike: NDArray[np.bool_] = (source == target) & (source >= 0)
    return alike


def _alike_pairs(split: Split) -> NDArray[np.bool_]:
    edges, pairs = split.graph.edge_index, split.train.positives
    known = np.sort(encode(pairs[:, pairs[0] != pairs[1]]))
    alike: NDArray[np.bool_] = contains(known, encode(edges)) & (edges[0] != edges[1])
    return alike

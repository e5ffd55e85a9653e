"""What training labels say without a model: closure of pairs, and walks that stay among nodes of the same class."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array

from graphreach.arguments import check_choice, check_number, check_pairs
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.build import CSR, check_weight_range
from graphreach.tasks.examples import PARTS, Split, check_split
from graphreach.tasks.pair_keys import contains, encode


def closure(split: Split, part: str = "test") -> NDArray[np.float64]:
    """Score pairs by transitive closure: 1 if both nodes lie in one component of the training positives, else 0.

    It looks at no graph and learns nothing. Having the same label is transitive. So where training pairs are drawn from all
    nodes (protocols ``"published"`` and ``"clean"``), closure solves pairwise node classification, and the success of a
    model shows nothing. With ``"node-disjoint"`` all its scores are 0. It belongs in every table of that task.

    Args:
        split: A split of pairs.
        part: Which part to score.

    Returns:
        One score per pair, ``[m]``.

    Example:
        >>> from types import SimpleNamespace
        >>> import graphreach as gr
        >>> ring = gr.Graph.from_edges([range(20), [*range(1, 20), 0]])
        >>> parts = gr.tasks.split(SimpleNamespace(graph=ring, x=None, y=np.arange(20) % 2), "pair", "published")
        >>> gr.tasks.metrics("pair", gr.tasks.closure(parts), parts.test)["auc"]
        1.0
    """
    check_choice("part", part, PARTS)
    return closure_scores(split, check_split(split).parts()[part].index)


def closure_scores(split: Split, pairs: ArrayLike) -> NDArray[np.float64]:
    """Score any pairs ``[2, m]`` by transitive closure of a split's training positives; see :func:`closure`.

    Example:
        >>> from types import SimpleNamespace
        >>> import graphreach as gr
        >>> ring = gr.Graph.from_edges([range(20), [*range(1, 20), 0]])
        >>> parts = gr.tasks.split(SimpleNamespace(graph=ring, x=None, y=np.arange(20) % 2), "pair", "published")
        >>> gr.tasks.closure_scores(parts, [[0, 0], [2, 1]])
        array([1., 0.])
    """
    if check_split(split).task != "pair":
        raise InputError(f"closure needs a split of task pair, got one of task {split.task}")
    listed = check_pairs(pairs, split.graph.num_nodes)
    return same_component(split.train.positives, listed, split.graph.num_nodes).astype(np.float64)


def same_component(links: NDArray[np.int64], pairs: NDArray[np.int64], num_nodes: int) -> NDArray[np.bool_]:
    """Which pairs ``[2, m]`` lie in one component of the undirected graph of ``links`` ``[2, l]``."""
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(links.shape[1])
    _, component = connected_components(coo_array((ones, (links[0], links[1])), (num_nodes, num_nodes)), directed=False)
    together: NDArray[np.bool_] = component[pairs[0]] == component[pairs[1]]
    return together


def label_weights(split: Split, same: float = 1.0, other: float = 0.01) -> Graph:
    """The split's graph with edge weights that lead walks along edges between nodes known to have the same label.

    Only training examples count: for nodes, both ends must be training nodes of the same class; for pairs, the ends must
    be a positive training pair, in either direction. Such an edge has weight ``same``, every other edge ``other``. The
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
    return with_weights(graph, weights)


def with_weights(graph: Graph, weights: NDArray[np.float64]) -> Graph:
    """The graph with other weights, in the order of its edges."""
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

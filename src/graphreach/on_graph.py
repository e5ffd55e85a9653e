"""Estimators of a graph as scikit-learn's splitters want them: a row of X is a node, or a pair of nodes."""

import copy
from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if

from graphreach.arguments import check_flag, describe, pair_rows, to_array
from graphreach.errors import InputError
from graphreach.estimator import GraphReachEmbedding
from graphreach.graph import Graph
from graphreach.graph.build import CSR
from graphreach.io.graphs import as_graph
from graphreach.link_predictor import LinkPredictor
from graphreach.reach_classifier import ReachClassifier
from graphreach.training.pair_examples import read_kinds
from graphreach.vectors.output import FrameOutput

Method = TypeVar("Method", bound=Callable[..., Any])


def _if_there(name: str) -> Callable[[Method], Method]:
    """A method that there is only if the estimator has one of this name."""
    decorate: Callable[[Method], Method] = available_if(lambda self: hasattr(self.estimator, name))
    return decorate


class _LastFit:
    """The embedding that was fitted last; clones share it, and copies of other processes begin without one."""

    def __init__(self) -> None:
        self.key: Any = None
        self.embedding: GraphReachEmbedding | None = None

    def __reduce__(self) -> Any:
        return _LastFit, ()


class OnGraph(FrameOutput, BaseEstimator):  # type: ignore[misc]
    """An estimator that knows its graph, for scikit-learn's ``Pipeline``, ``cross_val_score`` and ``GridSearchCV``.

    These split the rows of X and y. Here a row of X is the id of a node, or a pair ``(u, v)`` of ids, and the graph is an
    argument:

    - With :class:`graphreach.GraphReachEmbedding`, X are nodes: a transformer to their vectors. The whole graph is embedded
      without any label, so a fold leaks nothing into its vectors. Equal parameters are fitted once.
    - With :class:`graphreach.ReachClassifier`, X are nodes and y their classes (or zeros and ones, ``[m, classes]``). The
      whole graph is read, and the labels of the training fold alone.
    - With :class:`graphreach.LinkPredictor`, X are pairs and y says which of them are linked. What is read is ``graph``
      with the pairs of the training fold whose y is 1 as edges, so no link of the test fold, and never a pair's own edge.
      So that this holds, ``graph`` must be without the links in X: ``graph.updated(remove=X[y == 1])``; other graphs are
      refused. Pairs whose y is 0 are asked about, not learned from: the predictor draws its own.

    Args:
        estimator: One of the three; its parameters are set by names such as ``estimator__num_anchors``.
        graph: A :class:`Graph`, a networkx, SciPy or PyG graph, a data frame of edges, or the path of a file. It has all
            nodes that are asked about.
        x: Attributes of its nodes, as the estimator takes them, or None.
        links: With ``LinkPredictor``, whether y says which pairs are linked. If not, y is any other relation of pairs, and
            the graph is read as it is, with the edge of a pair.

    Attributes:
        estimator_: The fitted estimator.
        classes_: Its classes, unless it is an embedding.

    Example:
        >>> import networkx as nx
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.model_selection import cross_val_score
        >>> from sklearn.pipeline import make_pipeline
        >>> import graphreach as gr
        >>> club = nx.karate_club_graph()
        >>> nodes, y = list(club), [club.nodes[node]["club"] for node in club]
        >>> vectors = gr.OnGraph(gr.GraphReachEmbedding("position", dim=16), club)
        >>> bool(cross_val_score(make_pipeline(vectors, LogisticRegression()), nodes, y).mean() > 0.9)
        True
        >>> bool(cross_val_score(gr.OnGraph(gr.ReachClassifier(), club), nodes, y).mean() > 0.9)
        True
    """

    def __init__(self, estimator: Any, graph: Any, x: Any = None, links: bool = True) -> None:
        self.estimator = estimator
        self.graph = graph
        self.x = x
        self.links = links
        self._last_fit = _LastFit()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the estimator.

        Args:
            X: Ids of nodes, ``[m]`` or ``[m, 1]``, or pairs of them, ``[m, 2]``: lists, arrays, Series or data frames.
            y: Classes of the nodes, or 1 and 0 for the pairs. An embedding ignores it.
        """
        links, graph = check_flag("links", self.links), as_graph(self.graph)
        if isinstance(self.estimator, GraphReachEmbedding):
            self._positions(X, graph)
            self.estimator_ = self._embed(graph)
        elif isinstance(self.estimator, ReachClassifier):
            self.estimator_ = clone(self.estimator).fit(graph, self._labels(X, y, graph), self.x)
        elif isinstance(self.estimator, LinkPredictor) and links:
            self.estimator_ = clone(self.estimator).fit(with_links(graph, X, y), self.x)
        elif isinstance(self.estimator, LinkPredictor):
            self.estimator_ = clone(self.estimator).fit(graph, self.x, X, y)
        else:
            raise InputError(
                "estimator must be a GraphReachEmbedding, a ReachClassifier or a LinkPredictor, got "
                + describe(self.estimator)
            )
        self._graph = graph
        return self

    @_if_there("transform")
    def transform(self, X: Any) -> Any:
        """Vectors of nodes, ``[m, dim]``, as :meth:`set_output` asks for them.

        Args:
            X: Ids of nodes.
        """
        positions = self._positions(X, self._fitted_graph())
        index = getattr(X, "index", None) if hasattr(X, "iloc") else None
        rows = self.estimator_.embedding_[positions]
        return self._in_container(rows, self.estimator_.ids_[positions] if index is None else index)

    @_if_there("transform")
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Embed the graph, and return the vectors of nodes.

        Args:
            X: Ids of nodes.
            y: Ignored; scikit-learn passes it.
        """
        return self.fit(X, y).transform(X)

    @_if_there("predict")
    def predict(self, X: Any) -> NDArray[Any]:
        """Classes of nodes, or 1 and 0 for pairs; see ``predict`` of the estimator.

        Args:
            X: Ids of nodes, or pairs.
        """
        return _plain(self._ask("predict", X))

    @_if_there("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes; see ``predict_proba`` of the estimator.

        Args:
            X: Ids of nodes, or pairs.
        """
        found: NDArray[np.float64] = self._ask("predict_proba", X)
        return found

    @_if_there("decision_function")
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Logits of pairs; see :meth:`graphreach.LinkPredictor.decision_function`.

        Args:
            X: Pairs.
        """
        found: NDArray[np.float64] = self._ask("decision_function", X)
        return found

    @_if_there("score")
    def score(self, X: Any, y: Any) -> float:
        """The share of nodes whose class is predicted right (with several labels micro F1), or the ROC AUC of pairs.

        Args:
            X: Ids of nodes, or pairs.
            y: Their true classes, or 1 and 0.
        """
        graph = self._fitted_graph()
        pairs = isinstance(self.estimator_, LinkPredictor)
        score: float = self.estimator_.score(X, y) if pairs else self.estimator_.score(self._labels(X, y, graph))
        return score

    @property
    def classes_(self) -> NDArray[Any]:
        """Classes in the order of the columns of probabilities."""
        return _plain(self.estimator_.classes_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns that :meth:`transform` gives.

        Args:
            input_features: Ignored; scikit-learn passes it.
        """
        names: NDArray[Any] = self.estimator_.get_feature_names_out()
        return names

    def _embed(self, graph: Graph) -> GraphReachEmbedding:
        """The embedding of the graph; that of the last fit of a clone if nothing is different."""
        sides = None if graph.sides is None else graph.sides.tobytes()
        key, last = (graph.content_hash, sides, self.estimator.get_params()), self._last_fit
        if self.x is not None or last.embedding is None or last.key != key:
            last.embedding, last.key = clone(self.estimator).fit(graph, x=self.x), None if self.x is not None else key
        return copy.copy(last.embedding)

    def _ask(self, name: str, X: Any) -> Any:
        graph, function = self._fitted_graph(), getattr(self.estimator_, name)
        return function(X if isinstance(self.estimator_, LinkPredictor) else graph.ids[self._positions(X, graph)])

    def _positions(self, X: Any, graph: Graph) -> NDArray[np.int64]:
        """Positions of nodes that are listed as ``[m]`` or ``[m, 1]``."""
        shape = tuple(getattr(X, "shape", ()))
        if len(shape) == 2 and shape[1] != 1:
            raise InputError(f"X must be ids of nodes, shape [m] or [m, 1], got shape {list(shape)}")
        nested = isinstance(X, list) and bool(X) and all(isinstance(row, list) and len(row) == 1 for row in X)
        return np.atleast_1d(graph.index_of([row[0] for row in X] if nested else X)).reshape(-1)

    def _labels(self, X: Any, y: Any, graph: Graph) -> Any:
        """Classes of nodes in a form that the classifier takes."""
        positions = self._positions(X, graph)
        found = to_array("y", y, "biufUO", "one class for each node of X, or a matrix of zeros and ones")
        if found.ndim not in (1, 2) or len(found) != len(positions):
            raise InputError(f"y must have one entry for each of {len(positions)} nodes, got shape {list(found.shape)}")
        if len(np.unique(positions)) < len(positions):
            raise InputError("X must name a node once, got one of them twice")
        if found.ndim == 1:
            return dict(zip(graph.ids[positions].tolist(), found.tolist(), strict=True))
        matrix = np.full((graph.num_nodes, found.shape[1]), -1.0)
        matrix[positions] = found
        return matrix

    def _fitted_graph(self) -> Graph:
        if not hasattr(self, "estimator_"):
            raise InputError("OnGraph must be fitted first: call fit(X, y)")
        return self._graph

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_clone__(self) -> Self:
        """An unfitted copy that shares the graph, which nothing changes."""
        made = type(self)(clone(self.estimator, safe=False), self.graph, self.x, self.links)
        made._last_fit = self._last_fit
        if hasattr(self, "_sklearn_output_config"):
            made._sklearn_output_config = dict(self._sklearn_output_config)
        return made

    @property
    def _estimator_type(self) -> str | None:
        """What scikit-learn before 1.6 asks for instead of tags."""
        return None if isinstance(self.estimator, GraphReachEmbedding) else "classifier"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        for name in ("estimator_type", "classifier_tags", "transformer_tags", "target_tags"):
            setattr(tags, name, getattr(inner, name))
        tags.input_tags.string = True
        return tags


def with_links(graph: Graph, X: Any, y: Any) -> Graph:
    """The graph with those of some pairs as edges whose y is 1; none of them may be there.

    Args:
        graph: The graph, without weights.
        X: Pairs of ids.
        y: 1 or 0 for each.

    Example:
        >>> path = Graph.from_edge_list([("a", "b")], nodes=["c"])
        >>> with_links(path, [("b", "c"), ("a", "c")], [1, 0]).edge_index.tolist()
        [[0, 1, 1, 2], [1, 0, 2, 1]]
    """
    first, second = pair_rows(X, "X")
    truth = read_kinds(y)
    if len(truth) != len(first):
        raise InputError(f"y must have one entry for each of {len(first)} pairs, got {len(truth)}")
    if graph.weighted:
        raise InputError("graph must have no weights where y says which pairs are linked, got a weighted one")
    links = [(u, v) for u, v, linked in zip(first, second, truth.tolist(), strict=True) if linked]
    there = _are_edges(graph, links)
    if there.any():
        raise InputError(
            f"graph must be without the links in X, as they would be known in every fold, got {np.count_nonzero(there)} of "
            f"{len(links)} of them: pass graph.updated(remove=X[y == 1])"
        )
    plain = Graph(
        CSR(graph.indptr, graph.indices, None), graph.ids, graph.directed
    )  # times would be asked of new edges
    plain.sides = graph.sides
    return plain.updated(add=links)


def _are_edges(graph: Graph, pairs: list[tuple[Any, Any]]) -> NDArray[np.bool_]:
    """Which pairs of ids are edges."""
    if not pairs or not len(graph.indices):
        return np.zeros(len(pairs), np.bool_)
    ends = [np.fromiter((pair[side] for pair in pairs), object, len(pairs)) for side in (0, 1)]
    first, second = (graph._lookup.positions(end) for end in ends)
    rows, columns = graph.edge_index
    keys, wanted = rows * graph.num_nodes + columns, first * graph.num_nodes + second
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found: NDArray[np.bool_] = (first >= 0) & (second >= 0) & (keys[at] == wanted)
    return found


def _plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels of one kind, such as booleans, as an array of that kind."""
    return np.array(labels.tolist()) if labels.dtype == object else labels

"""Classes of nodes by reachability: to anchors, and to the nodes whose class is known."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin

from graphreach.anchors.select_anchors import select_anchors
from graphreach.anchors.strategies import STRATEGIES
from graphreach.arguments import check_choice, check_whole, describe, to_integers, to_path
from graphreach.errors import InputError
from graphreach.estimator import as_graph
from graphreach.graph import Graph
from graphreach.graph.ids import few_ids, ids_array
from graphreach.nn.linear_classes import LinearClasses
from graphreach.reachability.classes import (
    Labelled,
    attribute_features,
    class_features,
    compact,
    directions,
    position_features,
    side_by_side,
)
from graphreach.tasks.dataset import Sample
from graphreach.tasks.node_labels import NodeLabels, label_numbers, read_labels
from graphreach.threads import one_blas_thread
from graphreach.training.class_choice import choose
from graphreach.training.logistic import block_scale, column_scale, probabilities, rows_of, scaled
from graphreach.training.trained_run import check_saved_ids, match_anchors, match_ids
from graphreach.walks.defaults import STRATEGY

ANCHORS = 128
"""Anchors of position; as good as 512."""

FOLDS = 10
"""Folds that labelled nodes are dealt in; a node's features come from the labels of the other folds."""

MOST_FITTED = 50_000
"""Labelled nodes that weights are fitted to at most; reachability of the classes is computed from all."""

ROWS = 1 << 14
"""Nodes whose logits are computed at a time."""

GROUPS = ("position", "classes", "attributes")
"""Groups of features."""


class ReachClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Predicts the classes of nodes from a graph and the known classes of some of them, as a scikit-learn estimator.

    A node is described by its position, which is the lift of its walks to anchors; by how much of its walks visit the
    labelled nodes of each class (without its own label); and by attributes of the nodes that walks meet, if there are any.
    Logistic regression reads each of these; penalties, and how much each is worth, are chosen by cross-validation of the
    labelled nodes, which also calibrates the probabilities. See :mod:`graphreach.reachability.classes`.

    Nodes that come later are predicted too: give the grown graph to :meth:`predict`. Anchors and labels are found in it by
    id. A node from which no anchor and no labelled node is reached has the classes' frequencies as probabilities, unless
    attributes say more.

    Args:
        num_anchors: Number of anchors, at most as many as the graph has nodes.
        strategy: How anchors are selected, see :func:`graphreach.select_anchors`.
        random_state: Random seed for walks, and for how labelled nodes are dealt in folds. The same seed gives the same
            probabilities bit for bit, on any number of threads.

    Attributes:
        classes_: The labels, sorted; columns of probabilities are in this order.
        multilabel_: Whether a node may have several labels.
        anchors_: Ids of the anchors.
        labelled_: Ids of the nodes whose labels are known.
        losses_: Log loss per node on held-out labelled nodes, of each model and of their sum (``"all"``); empty with fewer
            than 10 labels.
        shares_: The weight of each model in the sum.
        directed_: Whether the graph is directed.
        num_attributes_: Number of attributes, or None.
        model_: The linear model, :class:`graphreach.nn.linear_classes.LinearClasses`.

    Example:
        >>> import networkx as nx
        >>> import graphreach as gr
        >>> club = nx.karate_club_graph()
        >>> known = {node: club.nodes[node]["club"] for node in range(0, 34, 2)}
        >>> classifier = gr.ReachClassifier().fit(club, known)
        >>> classifier.predict([1, 33])
        array(['Mr. Hi', 'Officer'], dtype='<U7')
        >>> classifier.predict_proba([1, 33]).shape
        (2, 2)
    """

    losses_: dict[str, float]
    shares_: dict[str, float]
    _known: tuple[Graph, NDArray[np.float64]] | None

    def __init__(self, num_anchors: int = ANCHORS, strategy: str = STRATEGY, random_state: int = 0) -> None:
        self.num_anchors = num_anchors
        self.strategy = strategy
        self.random_state = random_state

    def fit(self, graph: Any, labels: Any, x: Any = None) -> Self:
        """Learn from the labels of some nodes.

        Args:
            graph: A :class:`graphreach.Graph`, a networkx, SciPy or PyG graph, or the path of a file.
            labels: A mapping from id to label; pairs ``(id, label)``; or one label per node in the order of the graph's
                ids, where ``None``, NaN and the integer -1 are unknown. For several labels per node, a mapping from id to
                lists or sets, or a matrix ``[n, classes]`` of zeros and ones, where a row of -1 or NaN is unknown.
            x: Attributes ``[n, d]`` in the order of the graph's ids, an array or a SciPy sparse matrix, or None.
        """
        self._check_parameters()
        known = as_graph(graph)
        found = read_labels(labels, known)
        attributes = _check_attributes(known, x)
        anchors = select_anchors(
            known, min(self.num_anchors, known.num_nodes), strategy=self.strategy, seed=self.random_state
        ).anchors
        order = np.random.default_rng(self.random_state).permutation(len(found.nodes))
        folds = np.empty(len(order), np.int64)
        folds[order] = np.arange(len(order)) % FOLDS
        self._known, self.losses_, self.shares_ = None, {}, {}
        self.classes_, self.multilabel_, self.directed_ = found.classes, found.several, known.directed
        self.num_attributes_ = None if attributes is None else int(attributes.shape[1])
        self.anchors_, self.labelled_ = known.ids[anchors], known.ids[found.nodes]
        with one_blas_thread():
            features = {"position": position_features(known, anchors), "classes": _reach(known, found, folds)}
            if attributes is not None:
                features["attributes"] = side_by_side(attribute_features(known, attributes))
            self.model_ = self._learn(features, found, folds, order, issparse(attributes))
            self._known = known, self._probabilities(known, features)
        return self

    def _learn(
        self, features: dict[str, Any], labels: NodeLabels, folds: NDArray[np.int64], order: NDArray[np.int64],
        sparse: bool,
    ) -> LinearClasses:  # fmt: skip
        """Fit the linear model; the scales of features become part of its weights."""
        weights: dict[str, NDArray[np.float64]] = {}
        bias, lonely = np.zeros(len(labels.classes)), (0.0, np.zeros(len(labels.classes)))
        if len(labels.classes) > 1 or labels.several:
            fitted = np.sort(order[:MOST_FITTED])
            rows = {name: rows_of(group, labels.nodes[fitted]) for name, group in features.items()}
            alone = self._reach_nothing(rows)
            groups, scales = {}, {}
            for name, group in rows.items():
                if name == "attributes":
                    scales[name] = block_scale(group, self.num_attributes_) if sparse else column_scale(group)
                    groups[name] = scaled(group, *scales[name])
                    continue
                scales[name] = column_scale(group[~alone] if not alone.all() else group)
                groups[name] = scaled(group, *scales[name])
                groups[name][alone] = 0  # neither here nor there, not the end of a scale
            among = np.searchsorted(fitted, order[:MOST_FITTED])
            chosen = choose(groups, labels.y[fitted].astype(np.float64), labels.several, among)
            self.losses_, self.shares_, bias, lonely = chosen.losses, chosen.shares, chosen.bias, chosen.lonely
            for name, weight in chosen.weights.items():
                mean, scale = scales[name]
                weights[name] = weight / scale[:, None]
                bias = bias - mean @ weights[name]
                if name == "attributes":
                    lonely = lonely[0], lonely[1] - lonely[0] * (mean @ weights[name])
        widths = {name: len(weight) for name, weight in weights.items()}
        model = LinearClasses(widths, len(labels.classes), len(folds), labels.several)
        model.labels.copy_(torch.from_numpy(labels.y))
        model.folds.copy_(torch.from_numpy(folds))
        model.bias.copy_(torch.from_numpy(bias))
        model.lonely_factor.fill_(lonely[0])
        model.lonely_bias.copy_(torch.from_numpy(lonely[1]))
        for name, weight in weights.items():
            model.weight(name).copy_(torch.from_numpy(weight))
        return model

    def predict_proba(self, ids: Any = None, graph: Any = None, x: Any = None) -> NDArray[np.float64]:
        """The probability of each class, ``[m, classes]``; with several labels per node that of having each label.

        A labelled node is predicted too, without its own label.

        Args:
            ids: Ids of nodes, by default all in the order of the graph's ids.
            graph: The graph that they are in, if it is not the one of :meth:`fit`: one that has grown or changed. A few
                anchors that are gone are named in a warning; a graph without more of them is refused.
            x: Attributes of that graph's nodes, if the classifier was fitted with them.
        """
        self._check_fitted()
        known, found = self._predicted(graph, x)
        return found.copy() if ids is None else found[np.atleast_1d(known.index_of(ids))]

    def predict(self, ids: Any = None, graph: Any = None, x: Any = None, counts: Any = None) -> NDArray[Any]:
        """The likeliest class of each node; with several labels per node zeros and ones, ``[m, classes]``.

        Args:
            ids: See :meth:`predict_proba`.
            graph: See :meth:`predict_proba`.
            x: See :meth:`predict_proba`.
            counts: For several labels per node, how many each of the nodes has: the likeliest so many are predicted. By
                default those with a probability of at least 0.5.
        """
        found = self.predict_proba(ids, graph, x)
        if not self.multilabel_:
            if counts is not None:
                raise InputError(f"counts must be None where each node has one label, got {describe(counts)}")
            likeliest: NDArray[Any] = self.classes_[found.argmax(axis=1)]
            return likeliest
        return (found >= 0.5).astype(np.int64) if counts is None else _likeliest(found, counts)

    def score(self, labels: Any, graph: Any = None, x: Any = None) -> float:
        """The share of nodes whose class is predicted right; for several labels per node the micro F1.

        With several labels, as many are predicted for a node as it has.

        Args:
            labels: True labels, in any form that :meth:`fit` takes.
            graph: See :meth:`predict_proba`.
            x: See :meth:`predict_proba`.
        """
        self._check_fitted()
        known, found = self._predicted(graph, x)
        truth = read_labels(labels, known)
        if truth.several != self.multilabel_:
            one, many = "one label per node", "several labels per node"
            wanted, got = (many, one) if self.multilabel_ else (one, many)
            raise InputError(f"labels must be {wanted}, as those of fit were, got {got}")
        place = label_numbers(truth, self.classes_)
        counts = np.minimum(truth.y.sum(axis=1), len(self.classes_)) if self.multilabel_ else np.ones(len(truth.nodes))
        predicted = _likeliest(found[truth.nodes], counts.astype(np.int64))
        right = float(np.sum(predicted[:, place[place >= 0]] * truth.y[:, place >= 0]))
        total = float(predicted.sum() + truth.y.sum())
        return 2 * right / total if total else 1.0

    def save(self, folder: str | Path) -> None:
        """Write the classifier to a folder, ``model.safetensors`` and ``config.json``; nothing is pickled."""
        self._check_fitted()
        path = to_path("folder", folder)
        classes = self.classes_.tolist()
        if not all(isinstance(label, bool | int | float | str) for label in classes):
            raise InputError("labels must be numbers or strings to be saved")
        self.model_.save_pretrained(
            path, estimator=self.get_params(), anchors=check_saved_ids(self.anchors_),
            labelled=check_saved_ids(self.labelled_), classes=classes, losses=self.losses_, shares=self.shares_,
            directed=self.directed_, num_attributes=self.num_attributes_,
        )  # fmt: skip

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """A classifier that :meth:`save` wrote, ready to predict the nodes of a graph that is given."""
        path = to_path("folder", folder)
        model = LinearClasses.from_pretrained(path)
        metadata: Any = model.metadata
        try:
            parameters = _part(metadata, "estimator", dict)
            unknown = [name for name in parameters if name not in cls().get_params()]
            if unknown:
                raise InputError(f"it has a parameter {unknown[0]!r}")
            estimator = cls(**parameters)
            estimator._check_parameters()
            estimator._read(metadata, model)
        except InputError as error:
            raise InputError(f"{path} must hold a saved ReachClassifier, but {error}") from None
        return estimator

    def _read(self, metadata: dict[str, Any], model: LinearClasses) -> None:
        """Take what was fitted from a saved model."""
        self.anchors_, self.labelled_, self.classes_ = (
            _values(metadata, name) for name in ("anchors", "labelled", "classes")
        )
        if len(self.labelled_) != len(model.labels) or len(self.classes_) != len(model.bias):
            raise InputError("it names other numbers of labelled nodes and classes than its weights are for")
        strange = [name for name in model.config["widths"] if name not in GROUPS]
        if strange:
            raise InputError(f"it reads a group {strange[0]!r:.80}")
        self.losses_, self.shares_ = (_part(metadata, name, dict) for name in ("losses", "shares"))
        self.directed_, self.num_attributes_ = (_part(metadata, "directed", bool), metadata.get("num_attributes"))
        if self.num_attributes_ is not None:
            check_whole("num_attributes", self.num_attributes_, 0)
        self.model_, self.multilabel_, self._known = model, model.several, None

    def _predicted(self, graph: Any, x: Any) -> tuple[Graph, NDArray[np.float64]]:
        """A graph and the probabilities of all its nodes."""
        if graph is None:
            if self._known is None:
                raise InputError("graph must be given to a classifier that was loaded from a folder, got None")
            if x is not None:
                raise InputError("x must come with the graph whose nodes it describes, got graph=None")
            return self._known
        known = as_graph(graph)
        if known.directed != self.directed_:
            kind = "directed" if self.directed_ else "undirected"
            raise InputError(f"graph must be {kind}, as the one of fit was, got {known}")
        attributes, groups = _check_attributes(known, x, self.num_attributes_), self.model_.config["widths"]
        features: dict[str, Any] = {}
        with one_blas_thread():
            if "position" in groups:
                features["position"] = self._position(known)
            if "classes" in groups:
                features["classes"] = _reach(known, *self._found_labels(known))
            if "attributes" in groups:
                features["attributes"] = side_by_side(attribute_features(known, attributes))
            return known, self._probabilities(known, features)

    def _found_labels(self, graph: Graph) -> tuple[NodeLabels, NDArray[np.int64]]:
        """Labels, and their folds, of the labelled nodes that a graph has."""
        positions = match_ids(self.labelled_.tolist(), graph.ids)
        found = np.flatnonzero(positions >= 0)
        if not len(found):
            raise InputError(
                f"graph must have nodes whose labels the classifier knows, such as {few_ids(self.labelled_)}, got one"
                " without any; fit on it"
            )
        found = found[np.argsort(positions[found], kind="stable")]
        labels = NodeLabels(positions[found], self.model_.labels.numpy()[found], self.classes_, self.multilabel_)
        return labels, self.model_.folds.numpy()[found]

    def _position(self, graph: Graph) -> NDArray[np.float32]:
        """Lift to the classifier's anchors; zero where an anchor is gone."""
        match = match_anchors(self.anchors_.tolist(), graph, remedy="fit on it")
        found = position_features(graph, match.positions)
        if not match.missing:
            return found
        sides = len(directions(graph))
        apart = found.reshape(graph.num_nodes, sides, len(match.columns), -1)
        wide = np.zeros((graph.num_nodes, sides, len(self.anchors_), apart.shape[-1]), np.float32)
        wide[:, :, match.columns] = apart
        return wide.reshape(graph.num_nodes, -1)

    def _probabilities(self, graph: Graph, features: dict[str, Any]) -> NDArray[np.float64]:
        """Probabilities of all nodes."""
        bias, count = self.model_.bias.numpy(), graph.num_nodes
        out = np.empty((count, len(bias)))
        for begin in range(0, count, ROWS):
            rows = np.arange(begin, min(begin + ROWS, count))
            here = {name: rows_of(features[name], rows) for name in self.model_.config["widths"]}
            parts = {name: group @ self.model_.weight(name).numpy() for name, group in here.items()}
            logits = sum(parts.values(), np.tile(bias, (len(rows), 1)))
            alone = self._reach_nothing(here)
            attributes = parts["attributes"][alone] if "attributes" in parts else 0.0
            logits[alone] = self.model_.lonely_bias.numpy() + float(self.model_.lonely_factor) * attributes
            out[rows] = probabilities(logits, self.multilabel_)
        return out

    def _reach_nothing(self, features: dict[str, Any]) -> NDArray[np.bool_]:
        """Rows from which neither an anchor nor a labelled node is reached; none if only attributes are read."""
        reached = []
        if "position" in features:
            reached.append(features["position"].any(axis=1))
        if "classes" in features:
            totals = features["classes"][:, len(self.classes_) :: len(self.classes_) + 1]
            reached.append(totals.any(axis=1))
        if not reached:
            count = next(iter(features.values())).shape[0] if features else 0
            return np.zeros(count, np.bool_)
        nothing: NDArray[np.bool_] = ~np.any(reached, axis=0)
        return nothing

    def _check_parameters(self) -> None:
        check_whole("num_anchors", self.num_anchors, 1)
        check_choice("strategy", self.strategy, ["greedy", *STRATEGIES])
        check_whole("random_state", self.random_state, 0, 2**32 - 1)

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise InputError("ReachClassifier must be fitted first: call fit(graph, labels)")


def _reach(graph: Graph, labels: NodeLabels, folds: NDArray[np.int64]) -> NDArray[np.float32]:
    return class_features(graph, Labelled(labels.nodes, labels.y.astype(np.float32), folds))


def _check_attributes(graph: Graph, x: Any, wanted: int | None = -1) -> Any:
    """Attributes as :func:`compact` stores them; ``wanted`` columns, or None at all, if the classifier knows that."""
    if x is None:
        if wanted is not None and wanted >= 0:
            raise InputError(f"x of {wanted} columns must be given, as the classifier was fitted with them, got None")
        return None
    if issparse(x):
        if x.shape[0] != graph.num_nodes or not np.isfinite(x.data).all():
            raise InputError(f"x must be finite and have {graph.num_nodes} rows, got {describe(x)}")
    else:
        x = Sample(graph, x).x
    if wanted is None or (wanted >= 0 and x.shape[1] != wanted):
        expected = "be None" if wanted is None else f"have {wanted} columns"
        raise InputError(f"x must {expected}, as the classifier was fitted so, got {describe(x)}")
    return compact(x)


def _likeliest(found: NDArray[np.float64], counts: Any) -> NDArray[np.int64]:
    """Ones at the likeliest labels of each node, as many as it has."""
    wanted = to_integers("counts", counts, f"one number of labels per node, shape [{len(found)}]")
    most = found.shape[1]
    if wanted.shape != (len(found),) or (len(wanted) and not 0 <= wanted.min() <= wanted.max() <= most):
        raise InputError(f"counts must be {len(found)} integers from 0 to {most}, one per node, got {describe(counts)}")
    rank = np.argsort(np.argsort(-found, axis=1, kind="stable"), axis=1)
    return (rank < wanted[:, None]).astype(np.int64)


def _part(metadata: Mapping[str, Any], name: str, kind: type) -> Any:
    value = metadata.get(name)
    if not isinstance(value, kind):
        raise InputError(f"its {name} is {describe(value)}")
    return value


def _values(metadata: Mapping[str, Any], name: str) -> NDArray[Any]:
    """A list of numbers or text, each once."""
    values = _part(metadata, name, list)
    if not values or not all(isinstance(each, bool | int | float | str) for each in values):
        raise InputError(f"its {name} are {describe(values)}")
    if len(set(values)) < len(values):
        raise InputError(f"its {name} are not each there once")
    return ids_array(values)

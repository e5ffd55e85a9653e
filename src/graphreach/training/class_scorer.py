"""Classes of one graph's nodes learned from reachability: features, the linear model, and what is kept of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse

from graphreach.anchors.select_anchors import select_anchors
from graphreach.anchors.strategies import STRATEGIES
from graphreach.arguments import check_choice, check_whole, describe
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.ids import few_ids, ids_array
from graphreach.graph.matching import check_saved_ids, match_ids
from graphreach.logistic import block_scale, column_scale, probabilities, rows_of, scaled
from graphreach.nn.linear_classes import LinearClasses
from graphreach.progress import Clock
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
from graphreach.tasks.node_labels import NodeLabels
from graphreach.threads import one_blas_thread
from graphreach.training.class_choice import Chosen, choose
from graphreach.training.trained_run import AnchorMatch, match_anchors
from graphreach.walks.defaults import STRATEGY

ANCHORS = 128
"""Anchors of position; as good as 512."""

FOLDS = 10
"""Folds that labelled nodes are dealt in; a node's features come from the labels of the other folds."""

MOST_FITTED = 50_000
"""Maximum number of labelled nodes that weights are fitted to; reachability of the classes is computed from all."""

ROWS = 1 << 14
"""Nodes whose logits are computed at a time."""

GROUPS = ("position", "classes", "attributes")
"""Groups of features."""


@dataclass(frozen=True)
class ClassOptions:
    """What can be chosen about learning classes of nodes, checked once for the estimator and for the harness.

    Attributes:
        num_anchors: Number of anchors, at most as many as the graph has nodes.
        strategy: How anchors are selected, see :func:`graphreach.select_anchors`.

    Example:
        >>> ClassOptions(num_anchors=0)
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: num_anchors must be an integer of at least 1, got 0
    """

    num_anchors: int = ANCHORS
    strategy: str = STRATEGY

    def __post_init__(self) -> None:
        check_whole("num_anchors", self.num_anchors, 1)
        check_choice("strategy", self.strategy, ["greedy", *STRATEGIES])

    def as_dict(self) -> dict[str, Any]:
        """Plain values, to be written."""
        return asdict(self)


@dataclass(eq=False)
class ClassScorer:
    """A linear model of nodes' classes, with all that is needed to predict the nodes of a graph that has grown.

    Attributes:
        model: The linear model, and the labels that it reads.
        classes: The labels, sorted; columns of probabilities are in this order.
        anchors: Ids of the anchors.
        labelled: Ids of the nodes whose labels are known.
        directed: Whether the graph is directed.
        num_attributes: Number of attributes, or None.
        losses: Log loss per node on held-out labelled nodes, of each model and of their sum; empty with few labels.
        shares: The weight of each model in the sum.
    """

    model: LinearClasses
    classes: NDArray[Any]
    anchors: NDArray[Any]
    labelled: NDArray[Any]
    directed: bool
    num_attributes: int | None
    losses: dict[str, float]
    shares: dict[str, float]

    def probabilities(self, graph: Graph, x: Any = None) -> NDArray[np.float64]:
        """The probability of each class for all nodes of a graph, ``[n, classes]``.

        A labelled node is predicted too, without its own label.

        Args:
            graph: The graph that was learned from, grown or changed; anchors and labels are found in it by id.
            x: Attributes of its nodes, if there were some to learn from.
        """
        if graph.directed != self.directed:
            kind = "directed" if self.directed else "undirected"
            raise InputError(f"graph must be {kind}, as the one of fit was, got {graph}")
        attributes, groups = check_attributes(graph, x, self.num_attributes), self.model.config["widths"]
        features: dict[str, Any] = {}
        with one_blas_thread():
            if "position" in groups:
                features["position"] = self._position(graph)
            if "classes" in groups:
                features["classes"] = _reach(graph, *self._found_labels(graph))
            if "attributes" in groups:
                features["attributes"] = side_by_side(attribute_features(graph, attributes))
            return self.decide(graph.num_nodes, features)

    def match(self, graph: Graph) -> AnchorMatch:
        """Where the anchors are in a graph; too many that are missing are refused."""
        return match_anchors(self.anchors.tolist(), graph, remedy="fit on it")

    def _found_labels(self, graph: Graph) -> tuple[NodeLabels, NDArray[np.int64]]:
        """Labels, and their folds, of the labelled nodes that a graph has."""
        positions = match_ids(self.labelled.tolist(), graph.ids)
        found = np.flatnonzero(positions >= 0)
        if not len(found):
            raise InputError(
                f"graph must have nodes whose labels the classifier knows, such as {few_ids(self.labelled)}, got one"
                " without any; fit on it"
            )
        found = found[np.argsort(positions[found], kind="stable")]
        labels = NodeLabels(positions[found], self.model.labels.numpy()[found], self.classes, self.model.several)
        return labels, self.model.folds.numpy()[found]

    def _position(self, graph: Graph) -> NDArray[np.float32]:
        """Lift to the classifier's anchors; zero where an anchor is gone."""
        match = self.match(graph)
        found = position_features(graph, match.positions)
        if not match.missing:
            return found
        sides = len(directions(graph))
        apart = found.reshape(graph.num_nodes, sides, len(match.columns), -1)
        wide = np.zeros((graph.num_nodes, sides, len(self.anchors), apart.shape[-1]), np.float32)
        wide[:, :, match.columns] = apart
        return wide.reshape(graph.num_nodes, -1)

    def decide(self, num_nodes: int, features: Mapping[str, Any]) -> NDArray[np.float64]:
        """Probabilities of all nodes from the groups of their features."""
        model = self.model
        out = np.empty((num_nodes, len(self.classes)))
        for begin in range(0, num_nodes, ROWS):
            rows = np.arange(begin, min(begin + ROWS, num_nodes))
            here = {name: rows_of(features[name], rows) for name in model.config["widths"]}
            parts = {name: group @ model.weight(name).numpy() for name, group in here.items()}
            logits = sum(parts.values(), np.tile(model.bias.numpy(), (len(rows), 1)))
            alone = _reach_nothing(here, len(self.classes))
            attributes = parts["attributes"][alone] if "attributes" in parts else 0.0
            logits[alone] = model.lonely_bias.numpy() + float(model.lonely_factor) * attributes
            out[rows] = probabilities(logits, model.several)
        return out

    def save(self, folder: str | Path, **metadata: Any) -> None:
        """Write ``model.safetensors`` and ``config.json`` to a folder; nothing is pickled."""
        classes = self.classes.tolist()
        if not all(isinstance(label, bool | int | float | str) for label in classes):
            raise InputError("labels must be numbers or strings to be saved")
        self.model.save_pretrained(
            folder, anchors=check_saved_ids(self.anchors), labelled=check_saved_ids(self.labelled), classes=classes,
            losses=self.losses, shares=self.shares, directed=self.directed, num_attributes=self.num_attributes,
            **metadata,
        )  # fmt: skip

    @classmethod
    def load(cls, folder: Path, what: str = "model of classes") -> tuple[Self, dict[str, Any]]:
        """What :meth:`save` wrote, and all metadata.

        Args:
            folder: The folder.
            what: What the folder should hold, for messages.
        """
        model = LinearClasses.from_pretrained(folder)
        metadata: dict[str, Any] = model.metadata  # type: ignore[assignment]
        try:
            return cls._read(model, metadata), metadata
        except InputError as error:
            raise InputError(f"{folder} must hold a saved {what}, but {error}") from None

    @classmethod
    def _read(cls, model: LinearClasses, metadata: Mapping[str, Any]) -> Self:
        anchors, labelled, classes = (_values(metadata, name) for name in ("anchors", "labelled", "classes"))
        if len(labelled) != len(model.labels) or len(classes) != len(model.bias):
            raise InputError("it names other numbers of labelled nodes and classes than its weights are for")
        strange = [name for name in model.config["widths"] if name not in GROUPS]
        if strange:
            raise InputError(f"it reads a group {strange[0]!r:.80}")
        losses, shares = (metadata_part(metadata, name, dict) for name in ("losses", "shares"))
        num_attributes = metadata.get("num_attributes")
        if num_attributes is not None:
            check_whole("num_attributes", num_attributes, 0)
        directed = metadata_part(metadata, "directed", bool)
        return cls(model, classes, anchors, labelled, directed, num_attributes, losses, shares)


def learn_classes(
    graph: Graph, labels: NodeLabels, x: Any, options: ClassOptions, seed: int = 0, clock: Clock | None = None
) -> tuple[ClassScorer, NDArray[np.float64]]:
    """Learn the classes of nodes from those that are known.

    Penalties, and how much each group of features is worth, are chosen by cross-validation of the labelled nodes.

    Args:
        graph: The graph.
        labels: What is known; nothing else is seen of other nodes' classes.
        x: Attributes ``[n, d]``, an array or a SciPy sparse matrix, or None.
        options: How anchors are selected.
        seed: Random seed for walks, and for how labelled nodes are dealt in folds.
        clock: Adds up the seconds of anchors, features and training.

    Returns:
        The scorer, and the probabilities of all nodes of the graph.
    """
    clock = Clock() if clock is None else clock
    attributes = check_attributes(graph, x)
    with clock.phase("anchors"):
        count = min(options.num_anchors, graph.num_nodes)
        anchors = select_anchors(graph, count, strategy=options.strategy, seed=seed).anchors
    order = np.random.default_rng(seed).permutation(len(labels.nodes))
    folds = np.empty(len(order), np.int64)
    folds[order] = np.arange(len(order)) % FOLDS
    width = None if attributes is None else int(attributes.shape[1])
    with one_blas_thread():
        with clock.phase("features"):
            features = {"position": position_features(graph, anchors), "classes": _reach(graph, labels, folds)}
            if attributes is not None:
                features["attributes"] = side_by_side(attribute_features(graph, attributes))
        with clock.phase("training"):
            block = width if issparse(attributes) else None
            model, chosen = _learn(features, labels, folds, order, block)
        losses, shares = ({}, {}) if chosen is None else (chosen.losses, chosen.shares)
        ids = graph.ids
        scorer = ClassScorer(
            model, labels.classes, ids[anchors], ids[labels.nodes], graph.directed, width, losses, shares
        )
        with clock.phase("scoring"):
            return scorer, scorer.decide(graph.num_nodes, features)


def _learn(
    features: dict[str, Any], labels: NodeLabels, folds: NDArray[np.int64], order: NDArray[np.int64],
    block: int | None,
) -> tuple[LinearClasses, Chosen | None]:  # fmt: skip
    """Fit the linear model; the scales of features become part of its weights.

    ``block`` is the number of attributes where they are sparse: their columns have one scale for each step.
    """
    count = len(labels.classes)
    weights: dict[str, NDArray[np.float64]] = {}
    bias, lonely, chosen = np.zeros(count), (0.0, np.zeros(count)), None
    if count > 1 or labels.several:
        fitted = np.sort(order[:MOST_FITTED])
        rows = {name: rows_of(group, labels.nodes[fitted]) for name, group in features.items()}
        alone = _reach_nothing(rows, count)
        groups, scales = {}, {}
        for name, group in rows.items():
            if name == "attributes":
                scales[name] = column_scale(group) if block is None else block_scale(group, block)
                groups[name] = scaled(group, *scales[name])
                continue
            scales[name] = column_scale(group[~alone] if not alone.all() else group)
            groups[name] = scaled(group, *scales[name])
            groups[name][alone] = 0  # neither here nor there, not the end of a scale
        among = np.searchsorted(fitted, order[:MOST_FITTED])
        chosen = choose(groups, labels.y[fitted].astype(np.float64), labels.several, among)
        bias, lonely = chosen.bias, chosen.lonely
        for name, weight in chosen.weights.items():
            mean, scale = scales[name]
            weights[name] = weight / scale[:, None]
            bias = bias - mean @ weights[name]
            if name == "attributes":
                lonely = lonely[0], lonely[1] - lonely[0] * (mean @ weights[name])
    model = LinearClasses({name: len(weight) for name, weight in weights.items()}, count, len(folds), labels.several)
    model.labels.copy_(torch.from_numpy(labels.y))
    model.folds.copy_(torch.from_numpy(folds))
    model.bias.copy_(torch.from_numpy(bias))
    model.lonely_factor.fill_(lonely[0])
    model.lonely_bias.copy_(torch.from_numpy(lonely[1]))
    for name, weight in weights.items():
        model.weight(name).copy_(torch.from_numpy(weight))
    return model, chosen


def _reach(graph: Graph, labels: NodeLabels, folds: NDArray[np.int64]) -> NDArray[np.float32]:
    return class_features(graph, Labelled(labels.nodes, labels.y.astype(np.float32), folds))


def _reach_nothing(features: Mapping[str, Any], num_classes: int) -> NDArray[np.bool_]:
    """Rows from which neither an anchor nor a labelled node is reached; none if only attributes are read."""
    reached = []
    if "position" in features:
        reached.append(features["position"].any(axis=1))
    if "classes" in features:
        totals = features["classes"][:, num_classes :: num_classes + 1]
        reached.append(totals.any(axis=1))
    if not reached:
        count = next(iter(features.values())).shape[0] if features else 0
        return np.zeros(count, np.bool_)
    nothing: NDArray[np.bool_] = ~np.any(reached, axis=0)
    return nothing


def check_attributes(graph: Graph, x: Any, wanted: int | None = -1) -> Any:
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


def metadata_part(metadata: Mapping[str, Any], name: str, kind: type) -> Any:
    """A part of what was saved, of the kind that it must be."""
    value = metadata.get(name)
    if not isinstance(value, kind):
        raise InputError(f"its {name} is {describe(value)}")
    return value


def _values(metadata: Mapping[str, Any], name: str) -> NDArray[Any]:
    """A list of numbers or text, each once."""
    values = metadata_part(metadata, name, list)
    if not values or not all(isinstance(each, bool | int | float | str) for each in values):
        raise InputError(f"its {name} are {describe(values)}")
    if len(set(values)) < len(values):
        raise InputError(f"its {name} are not each there once")
    return ids_array(values)

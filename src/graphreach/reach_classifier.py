"""Classes of nodes by reachability to anchors and to the nodes whose class is known."""

from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from graphreach.arguments import check_whole, describe, to_integers, to_path
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.io.graphs import as_graph
from graphreach.tasks.label_sets import likeliest_labels
from graphreach.tasks.node_labels import label_numbers, read_labels
from graphreach.training.class_scorer import ANCHORS, ClassOptions, ClassScorer, learn_classes, metadata_part
from graphreach.training.saved_models import check_saved
from graphreach.walks.defaults import STRATEGY


class ReachClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Predicts the classes of nodes from a graph and the known classes of some of them, as a scikit-learn estimator.

    A node is described by its position, which is the lift of its walks to anchors, and by how much its walks visit the
    labelled nodes of each class, without its own label. Where there are attributes, those of the nodes that walks meet
    are added. A logistic regression reads each of these. Cross-validation on the labelled nodes chooses the penalties
    and the weight of each part, and calibrates the probabilities. See :mod:`graphreach.reachability.classes`.

    To predict nodes that come later, give the grown graph to :meth:`predict`. Anchors and labels are found in it by id. If
    walks from a node reach no anchor and no labelled node, its probabilities are the frequencies of the classes, unless
    attributes say more.

    Args:
        num_anchors: Number of anchors, at most as many as the graph has nodes.
        strategy: How anchors are selected, see :func:`graphreach.select_anchors`.
        random_state: Random seed for walks, and for the folds of the labelled nodes. The same seed gives the same
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
            graph: A :class:`graphreach.Graph`, a networkx, SciPy or PyG graph, a data frame of edges, or a file's path.
            labels: A mapping from id to label; pairs ``(id, label)``; or one label per node in the order of the graph's
                ids, where ``None``, NaN and the integer -1 are unknown. For several labels per node, a mapping from id to
                lists or sets, or a matrix ``[n, classes]`` of zeros and ones, where a row of -1 or NaN is unknown. A pandas
                Series has ids in its index; a data frame has a column of ids, named id or node, and one of labels.
            x: Attributes ``[n, d]`` in the order of the graph's ids, an array or a SciPy sparse matrix, or None.
        """
        options, known = self._check_parameters(), as_graph(graph)
        scorer, found = learn_classes(known, read_labels(labels, known), x, options, self.random_state)
        self._keep(scorer)
        self._known = known, found
        return self

    def _keep(self, scorer: ClassScorer) -> None:
        """Keep what was learned, as attributes too."""
        self._scorer, self.model_, self.multilabel_ = scorer, scorer.model, scorer.model.several
        self.classes_, self.anchors_, self.labelled_ = scorer.classes, scorer.anchors, scorer.labelled
        self.directed_, self.num_attributes_ = scorer.directed, scorer.num_attributes
        self.losses_, self.shares_ = scorer.losses, scorer.shares

    def predict_proba(self, ids: Any = None, graph: Any = None, x: Any = None) -> NDArray[np.float64]:
        """The probability of each class, ``[m, classes]``; with several labels per node that of having each label.

        Labelled nodes are predicted as well, without their own labels.

        Args:
            ids: Ids of nodes, by default all in the order of the graph's ids.
            graph: The graph that they are in, if it is not the one of :meth:`fit`: one that has grown or changed. If
                a few anchors are gone, a warning names them; a graph without more of them is refused.
            x: Attributes of that graph's nodes, if the classifier was fitted with them.
        """
        self._check_fitted()
        known, found = self._predicted(graph, x)
        return found.copy() if ids is None else found[np.atleast_1d(known.index_of(ids))]

    def predict(self, ids: Any = None, graph: Any = None, x: Any = None, counts: Any = None) -> NDArray[Any]:
        """The most likely class of each node; with several labels per node zeros and ones, ``[m, classes]``.

        Args:
            ids: See :meth:`predict_proba`.
            graph: See :meth:`predict_proba`.
            x: See :meth:`predict_proba`.
            counts: For several labels per node, the number of labels of each node: as many of the most likely labels
                are predicted. By default those with a probability of at least 0.5.
        """
        found = self.predict_proba(ids, graph, x)
        if not self.multilabel_:
            if counts is not None:
                raise InputError(f"counts must be None where each node has one label, got {describe(counts)}")
            likeliest: NDArray[Any] = self.classes_[found.argmax(axis=1)]
            return likeliest
        return (found >= 0.5).astype(np.int64) if counts is None else _likeliest(found, counts)

    def score(self, labels: Any, graph: Any = None, x: Any = None) -> float:
        """The share of nodes with a correctly predicted class; for several labels per node the micro F1.

        With several labels, the number of predicted labels of a node is its true number.

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
        self._scorer.save(to_path("folder", folder), estimator=self.get_params())

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """A classifier that :meth:`save` wrote, ready to predict the nodes of a graph that is given.

        The folder ``model`` of a run of task ``node`` by method ``reach`` holds one too, whose classes are numbers.
        """
        path = to_path("folder", folder)
        check_saved(path, "ReachClassifier")
        scorer, metadata = ClassScorer.load(path, "ReachClassifier")
        try:
            parameters = metadata_part(metadata, "estimator", dict)
            unknown = [name for name in parameters if name not in cls().get_params()]
            if unknown:
                raise InputError(f"it has a parameter {unknown[0]!r}")
            estimator = cls(**parameters)
            estimator._check_parameters()
        except InputError as error:
            raise InputError(f"{path} must hold a saved ReachClassifier, but {error}") from None
        estimator._keep(scorer)
        estimator._known = None
        return estimator

    def _predicted(self, graph: Any, x: Any) -> tuple[Graph, NDArray[np.float64]]:
        """A graph and the probabilities of all its nodes."""
        if graph is None:
            if self._known is None:
                raise InputError("graph must be given to a classifier that was loaded from a folder, got None")
            if x is not None:
                raise InputError("x must come with the graph whose nodes it describes, got graph=None")
            return self._known
        known = as_graph(graph)
        return known, self._scorer.probabilities(known, x)

    def _check_parameters(self) -> ClassOptions:
        options = ClassOptions(self.num_anchors, self.strategy)
        check_whole("random_state", self.random_state, 0, 2**32 - 1)
        return options

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise InputError("ReachClassifier must be fitted first: call fit(graph, labels)")


def _likeliest(found: NDArray[np.float64], counts: Any) -> NDArray[np.int64]:
    """Ones at the most likely labels of each node, as many as it has."""
    wanted = to_integers("counts", counts, f"one number of labels per node, shape [{len(found)}]")
    most = found.shape[1]
    if wanted.shape != (len(found),) or (len(wanted) and not 0 <= wanted.min() <= wanted.max() <= most):
        raise InputError(f"counts must be {len(found)} integers from 0 to {most}, one per node, got {describe(counts)}")
    return likeliest_labels(found, wanted).astype(np.int64)

"""Links, or any other relation of pairs, learned from reachability."""

import math
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from graphreach.arguments import check_choice, check_number, check_whole, describe, pair_rows, to_array, to_path
from graphreach.auc import auc
from graphreach.errors import InputError
from graphreach.estimator import as_graph
from graphreach.graph import Graph
from graphreach.graph.ids import ids_array
from graphreach.nn.attributed_pair_head import AttributedPairHead
from graphreach.nn.pair_head import PairHead, fit_pair_head
from graphreach.nn.pretrained import saved_model
from graphreach.pairs import PairAttributes, PairFeatures, PairRecipe, check_attributes
from graphreach.pairs.recipe import NUM_ANCHORS
from graphreach.progress import track
from graphreach.tasks.pair_keys import draw_pairs, encode, unique
from graphreach.threads import one_blas_thread, one_torch_thread
from graphreach.training.attributed_pairs import AttributedPairs, AttributeExamples, attribute_names
from graphreach.training.link_folds import link_features
from graphreach.training.trained_run import check_anchor_ids, check_saved_ids, match_ids

LINKS = 50_000
"""Links that are learned from at most: more did not help, and one pass describes them."""

FEWEST_LINKS = 4
"""Links that a graph must have to learn from."""

SCORED = 1 << 18
"""Pairs that are described and scored at a time."""

SCORED_ATTRIBUTES = 1 << 15
"""The same where attributes are read, which take hundreds of columns."""

DRAWN, MOST_TIMES = 100_000, 5
"""Pairs that are no links to learn from beside attributes: of these each step takes others, up to so many for each link."""

BACKGROUND = 100
"""Training pairs kept to explain scores by: what a group of features adds is relative to them."""

ATTRIBUTE_MEMBERS = 3
"""Networks that read attributes at most; each takes many times as long as a perceptron."""

NEGATIVES = ("uniform", "degree")


class LinkPredictor(BaseEstimator):  # type: ignore[misc]
    r"""Probabilities of links, learned from reachability, as a scikit-learn estimator.

    A pair of nodes is described by direct reachability, by the positions of both relative to greedy anchors, by degrees and
    by return probabilities (:func:`graphreach.pair_features`), and a few small perceptrons read that. If nodes have
    attributes ``x``, cosines of these and the product of two rows of a graph convolutional network are read as well, by
    :class:`graphreach.nn.AttributedPairHead`. Without ``pairs``,
    :meth:`fit` learns the graph's own links: every link is described by a graph without it, as a link that is to be found
    has no edge yet. With ``pairs`` and ``y`` it learns any relation of pairs, such as being of one class.

    Features mean the same in every graph, so that a fitted predictor scores pairs of a graph that has grown, of nodes that
    it has never seen, and of other graphs.

    Args:
        negatives: Pairs that links are told apart from: ``"uniform"`` among all that are not linked, or ``"degree"``, both
            ends drawn in proportion to their degree, so that popularity alone says nothing (arXiv 2405.14985).
        steps: Largest number of jumps between the two nodes; ``"auto"`` is as many as the graph's paths want and the number
            of pairs allows.
        lengths: Jumps of the walks to anchors; ``"auto"`` chooses by the graph's diameter.
        num_anchors: Number of anchors, at most the number of nodes.
        method: ``"exact"`` powers of the transition matrix, ``"walks"`` that meet in the middle, or ``"auto"``.
        num_links: Links to learn from at most, drawn at random.
        hidden_channels: Width of the perceptrons.
        num_members: Number of perceptrons whose logits are averaged; with attributes at most three networks are.
        prior: The base rate that probabilities assume: the share of links among the pairs that will be asked about.
            ``"density"`` is the share of linked pairs among all pairs of the graph, right for pairs drawn at random; 0.5 is
            right where as many links as other pairs are asked about.
        random_state: Random seed. The same seed gives the same model bit for bit on any number of threads.

    Attributes:
        ids_: The ids of the graph's nodes.
        anchors_: Ids of the anchors.
        recipe_: Which features describe a pair; a :class:`graphreach.pairs.PairRecipe`.
        head_: The trained :class:`graphreach.nn.PairHead`, or :class:`graphreach.nn.AttributedPairHead` with attributes.
        prior_: The base rate as a number.
        auc_: AUC of the training pairs, each scored by a perceptron that was trained without it.
        classes_: ``[0, 1]``.
        feature_names_: Names of the features.

    Example:
        >>> import graphreach as gr
        >>> graph = gr.datasets.load("communities")[0].graph
        >>> links = gr.LinkPredictor(prior=0.5).fit(graph)
        >>> links.predict_proba([(0, 1), (0, 399)]).round(2)[:, 1]
        array([1., 0.])
    """

    _graph: Graph | None
    _known: "_Known | None"

    def __init__(
        self,
        negatives: str = "uniform",
        steps: int | str = "auto",
        lengths: tuple[int, ...] | str = "auto",
        num_anchors: int = NUM_ANCHORS,
        method: str = "auto",
        num_links: int = LINKS,
        hidden_channels: int = 64,
        num_members: int = 5,
        prior: float | str = "density",
        random_state: int = 0,
    ) -> None:
        self.negatives = negatives
        self.steps = steps
        self.lengths = lengths
        self.num_anchors = num_anchors
        self.method = method
        self.num_links = num_links
        self.hidden_channels = hidden_channels
        self.num_members = num_members
        self.prior = prior
        self.random_state = random_state

    def fit(self, graph: Any, x: Any = None, pairs: Any = None, y: Any = None) -> Self:
        """Learn the links of a graph, or a relation of listed pairs.

        Args:
            graph: A :class:`Graph`, a networkx, SciPy or PyG graph, or the path of a file.
            x: Attributes of the nodes ``[n, d]``, an array or a SciPy matrix, in the order of the graph's ids, or None.
            pairs: Rows ``(u, v)`` of node ids to learn from, or None for the graph's own links.
            y: 1 or 0 for each of ``pairs``: whether it is of the relation.
        """
        self._check_parameters()
        known = as_graph(graph)
        attributes = None if x is None else AttributeExamples(known, x)
        if (pairs is None) != (y is None):
            raise InputError(f"pairs and y must be given together, got {'y' if pairs is None else 'pairs'} alone")
        if pairs is None:
            listed, truth = self._link_examples(known, attributes is not None)
        else:
            listed, truth = _relation_examples(known, pairs, y)
        recipe = self._recipe(known, listed.shape[1], links=pairs is None)
        seen = _Known(known, recipe, None, self.random_state)
        own = None if attributes is None else attributes.x
        with one_blas_thread():
            if pairs is None:
                features = link_features(known, recipe, seen.features.anchors, listed, truth, self.random_state, own)
            else:
                features = seen.describe(listed)
                if own is not None:
                    features = np.concatenate([features, PairAttributes(known, own).describe(listed, False)], axis=1)
        if attributes is not None:
            return self._learn_attributes(seen, attributes, features, listed, truth, links=pairs is None)
        return self._learn([seen], features, truth, known, links=pairs is None)

    def _learn_attributes(
        self, seen: "_Known", attributes: AttributeExamples, features: NDArray[np.float32], pairs: NDArray[np.int64],
        truth: NDArray[np.int64], links: bool,
    ) -> Self:  # fmt: skip
        """The same with attributes of nodes."""
        head, unseen, kinds = attributes.learn(
            features, pairs, truth, links, self.random_state, hidden_channels=self.hidden_channels,
            num_members=min(self.num_members, ATTRIBUTE_MEMBERS),
        )  # fmt: skip
        seen.attributes = AttributedPairs(seen.graph, attributes.given, head, own_edge=not links)
        rng = np.random.default_rng([self.random_state, 1])
        background = seen.describe(pairs[:, np.sort(rng.permutation(len(truth))[:BACKGROUND])])
        return self._keep(seen, head, background, auc(unseen, kinds == 1), truth, links)

    def _learn(
        self, seen: "list[_Known]", features: NDArray[np.float32], truth: NDArray[np.int64], graph: Graph, links: bool
    ) -> Self:
        """Train the head on features of pairs, and keep what is needed to score others."""
        with one_torch_thread():
            head, unseen = fit_pair_head(
                torch.from_numpy(features), torch.from_numpy(truth).float(), self.random_state,
                hidden_channels=self.hidden_channels, num_members=self.num_members,
            )  # fmt: skip
        rng = np.random.default_rng([self.random_state, 1])
        background = features[np.sort(rng.permutation(len(features))[:BACKGROUND])]
        return self._keep(seen[0], head, background, auc(unseen.numpy(), truth == 1), truth, links)

    def _keep(
        self, known: "_Known", head: PairHead | AttributedPairHead, background: NDArray[np.float32], found: float,
        truth: NDArray[np.int64], links: bool,
    ) -> Self:  # fmt: skip
        """Keep what is needed to score pairs."""
        graph = known.graph
        self.head_, self._known, self._graph, self.background_ = head, known, graph, background
        self.recipe_, self.feature_names_ = known.features.recipe, _column_names(known.features.recipe, head)
        self.ids_, self.anchors_ = graph.ids, graph.ids[known.features.anchors]
        self.auc_, self.links_, self.classes_ = found, links, np.array([0, 1])
        self.prior_ = self._base_rate(graph, truth, links)
        return self

    def predict_proba(self, pairs: Any, graph: Any = None, x: Any = None) -> NDArray[np.float64]:
        """The probability that each pair is no link, and that it is one, ``[m, 2]``.

        It is calibrated on pairs that the network had not seen, and holds where the share of links among the pairs asked
        about is ``prior_``. An edge between the nodes of a pair is not looked at.

        Args:
            pairs: Rows ``(u, v)`` of node ids: a list of pairs or an array ``[m, 2]``.
            graph: The graph that they are in, if it is not the one that was learned from: one that has grown, or another.
                If it has all the anchors they stay, else it gets anchors of its own.
            x: Attributes of that graph's nodes, if the predictor was fitted with attributes.
        """
        logits = self.decision_function(pairs, graph, x) + math.log(self.prior_ / (1 - self.prior_))
        chance = 1 / (1 + np.exp(-np.clip(logits, -700, 700)))
        return np.stack([1 - chance, chance], axis=1)

    def predict(self, pairs: Any, graph: Any = None, x: Any = None) -> NDArray[np.int64]:
        """1 for pairs that are likelier a link than not, else 0, ``[m]``."""
        return (self.predict_proba(pairs, graph, x)[:, 1] > 0.5).astype(np.int64)

    def decision_function(self, pairs: Any, graph: Any = None, x: Any = None) -> NDArray[np.float64]:
        """Logits of pairs where half of them are links, ``[m]``; see :meth:`predict_proba`."""
        known = self._on(graph, x)
        first, second = pair_rows(pairs)
        if not first:
            return np.empty(0)
        return self._logits(known, np.stack([known.graph.index_of(first), known.graph.index_of(second)]))

    def score(self, pairs: Any, y: Any, graph: Any = None, x: Any = None) -> float:
        """The ROC AUC of pairs whose kinds are known.

        Args:
            pairs: See :meth:`predict_proba`.
            y: 1 or 0 for each pair.
            graph: See :meth:`predict_proba`.
            x: See :meth:`predict_proba`.
        """
        truth = _kinds(y)
        scores = self.decision_function(pairs, graph, x)
        if len(truth) != len(scores):
            raise InputError(f"y must have one entry for each of {len(scores)} pairs, got {len(truth)}")
        return auc(scores, truth == 1)

    def save(self, folder: str | Path) -> None:
        """Write the network, the anchors' ids and all parameters to a folder; nothing is pickled."""
        self._check_fitted()
        path = to_path("folder", folder)
        self.head_.save_pretrained(
            path, estimator=_plain(self.get_params()), anchors=check_saved_ids(self.anchors_),
            recipe=self.recipe_.as_dict(), prior=self.prior_, auc=self.auc_, links=self.links_,
            background=[[float(value) for value in row] for row in self.background_],
        )  # fmt: skip

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """A predictor that :meth:`save` wrote; give it a graph with the pairs."""
        path = to_path("folder", folder)
        head = _load_head(path)
        found: dict[str, Any] = head.metadata  # type: ignore[assignment]
        try:
            estimator = cls(**{**found["estimator"], "lengths": _lengths(found["estimator"]["lengths"])})
            estimator._check_parameters()
            recipe = {**found["recipe"], "lengths": tuple(found["recipe"]["lengths"])}
            estimator.recipe_ = PairRecipe(**recipe)
            estimator.anchors_ = ids_array(check_anchor_ids(found["anchors"], path) or [])
            estimator.background_ = np.array(found["background"], np.float32)
            estimator.prior_ = check_number("prior", found["prior"], 0, 1, above=True)
            estimator.auc_, estimator.links_ = float(found["auc"]), bool(found["links"])
        except (InputError, TypeError, ValueError, KeyError, AttributeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"{folder} must hold a saved LinkPredictor, but {reason}") from None
        estimator.head_, estimator.classes_ = head, np.array([0, 1])
        estimator.feature_names_ = _column_names(estimator.recipe_, head)
        width = head.width if isinstance(head, AttributedPairHead) else head.in_channels
        if len(estimator.feature_names_) != width:
            raise InputError(
                f"{folder} must hold a network of {len(estimator.feature_names_)} features, got one of {width}"
            )
        estimator._graph = estimator._known = None
        return estimator

    def _logits(self, known: "_Known", pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        size = SCORED if known.attributes is None else SCORED_ATTRIBUTES
        parts = [pairs[:, begin : begin + size] for begin in range(0, pairs.shape[1], size)]
        out = [self.logits(known.describe(part)) for part in track(parts, len(parts), "scoring pairs")]
        return np.concatenate(out) if out else np.empty(0)

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Logits of described pairs where half of them are links."""
        with one_torch_thread(), torch.no_grad():
            logits: NDArray[np.float64] = self.head_(torch.from_numpy(features)).double().numpy()
        return logits

    def _on(self, graph: Any, x: Any = None) -> "_Known":
        """What is known of a graph and its attributes, computed once for the one that was learned from."""
        self._check_fitted()
        if graph is None:
            if x is not None:
                raise InputError("x must be given together with the graph whose attributes it holds, got x alone")
            if self._known is None:
                raise InputError("graph must be given to a predictor that was loaded from a folder, got None")
            return self._known
        other = as_graph(graph)
        if x is None and self._known is not None and other is self._known.graph:
            return self._known
        at = match_ids(self.anchors_.tolist(), other.ids)
        known = _Known(other, self.recipe_, at if (at >= 0).all() else None, self.random_state)
        known.attributes = self._attributes(other, x)
        return known

    def _attributes(self, graph: Graph, x: Any) -> AttributedPairs | None:
        """What attributes of another graph say of its pairs."""
        head = self.head_
        if not isinstance(head, AttributedPairHead):
            if x is not None:
                raise InputError("x must be None, as the predictor was fitted without attributes of nodes")
            return None
        if x is None:
            raise InputError(
                f"x must be given, as the predictor was fitted with {head.node_channels} attributes, got None"
            )
        own = check_attributes(x, graph.num_nodes, head.node_channels)
        return AttributedPairs(graph, own, head, own_edge=not self.links_)

    def _link_examples(self, graph: Graph, attributes: bool = False) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Some links and as many pairs that are none, or a few times as many beside attributes."""
        edges = graph.edge_index
        links = edges[:, edges[0] != edges[1] if graph.directed else edges[0] < edges[1]]
        if links.shape[1] < FEWEST_LINKS:
            raise InputError(f"graph must have at least {FEWEST_LINKS} links to learn from, got {links.shape[1]}")
        rng = np.random.default_rng([self.random_state, 0])
        chosen = links[:, np.sort(rng.permutation(links.shape[1])[: self.num_links])]
        taken = unique(encode(links))
        times = min(max(1, DRAWN // chosen.shape[1]), MOST_TIMES) if attributes else 1
        others = NEGATIVE_DRAWS[self.negatives](rng, graph, times * chosen.shape[1], taken)
        if not others.shape[1]:
            raise InputError("graph must have pairs that are not linked to learn from, got none")
        truth = np.repeat([1, 0], [chosen.shape[1], others.shape[1]])
        return np.concatenate([chosen, others], axis=1), truth

    def _recipe(self, graph: Graph, num_pairs: int, links: bool) -> PairRecipe:
        given: dict[str, Any] = {"own_edge": not links, "num_anchors": min(self.num_anchors, graph.num_nodes)}
        given |= {name: getattr(self, name) for name in ("steps", "lengths", "method") if getattr(self, name) != "auto"}
        return PairRecipe.for_graph(graph, num_pairs, **given)

    def _base_rate(self, graph: Graph, truth: NDArray[np.int64], links: bool) -> float:
        if self.prior != "density":
            return float(self.prior)
        if not links:
            return float(np.clip(truth.mean(), 1e-9, 1 - 1e-9))
        n = graph.num_nodes
        rate = graph.num_edges / (n * (n - 1) / (1 if graph.directed else 2))
        return float(np.clip(rate, 1e-12, 1 - 1e-12))

    def _check_parameters(self) -> None:
        check_choice("negatives", self.negatives, NEGATIVES)
        check_choice("method", self.method, ("auto", "exact", "walks"))
        if self.steps != "auto":
            check_whole("steps", self.steps, 2, 64)
        if self.lengths != "auto":
            if not isinstance(self.lengths, tuple | list) or not self.lengths:
                raise InputError(f'lengths must be numbers of jumps or "auto", got {describe(self.lengths)}')
            for length in self.lengths:
                check_whole("lengths", length, 1, 1000)
        check_whole("num_anchors", self.num_anchors, 1)
        check_whole("num_links", self.num_links, FEWEST_LINKS)
        check_whole("hidden_channels", self.hidden_channels, 1, 2**16)
        check_whole("num_members", self.num_members, 1, 100)
        check_whole("random_state", self.random_state, 0, 2**32 - 1)
        if self.prior != "density" and not 0 < check_number("prior", self.prior, 0, 1, above=True) < 1:
            raise InputError(f'prior must be a share between 0 and 1, or "density", got {self.prior!r}')

    def _check_fitted(self) -> None:
        if not hasattr(self, "head_"):
            raise InputError("LinkPredictor must be fitted first: call fit(graph)")


class _Known:
    """A graph and what describes its pairs, computed at first use."""

    def __init__(self, graph: Graph, recipe: PairRecipe, anchors: NDArray[np.int64] | None, seed: int) -> None:
        self.graph = graph
        self.features = PairFeatures(graph, recipe, anchors, seed)
        self.attributes: AttributedPairs | None = None

    def describe(self, pairs: NDArray[np.int64]) -> NDArray[np.float32]:
        with one_blas_thread():
            found = self.features.describe(pairs, exclude_own_edge=not self.features.recipe.own_edge)
            return (
                found if self.attributes is None else np.concatenate([found, self.attributes.describe(pairs)], axis=1)
            )


def _column_names(recipe: PairRecipe, head: PairHead | AttributedPairHead) -> list[str]:
    """Names of all columns that a head reads."""
    names = PairFeatures.names_of(recipe)
    return names + attribute_names(head) if isinstance(head, AttributedPairHead) else names


def _load_head(path: Path) -> PairHead | AttributedPairHead:
    """The saved network, with attributes or without."""
    return (AttributedPairHead if saved_model(path) == AttributedPairHead.__name__ else PairHead).from_pretrained(path)


def _relation_examples(graph: Graph, pairs: Any, y: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first, second = pair_rows(pairs)
    truth = _kinds(y)
    if len(truth) != len(first):
        raise InputError(f"y must have one entry for each of {len(first)} pairs, got {len(truth)}")
    if not 0 < int(truth.sum()) < len(truth):
        raise InputError("y must have pairs of both kinds, 1 and 0, to learn from")
    return np.stack([graph.index_of(first), graph.index_of(second)]), truth


def _kinds(y: Any) -> NDArray[np.int64]:
    """Kinds of pairs as 0 and 1."""
    array = to_array("y", y)
    if array.ndim != 1 or not np.isin(array, (0, 1)).all():
        raise InputError(f"y must be a list of 1 and 0, got {describe(y)}")
    return array.astype(np.int64)


def _uniform(rng: np.random.Generator, graph: Graph, size: int, taken: NDArray[np.int64]) -> NDArray[np.int64]:
    return draw_pairs(rng, graph.num_nodes, size, taken)


def _by_degree(rng: np.random.Generator, graph: Graph, size: int, taken: NDArray[np.int64]) -> NDArray[np.int64]:
    """Different pairs outside ``taken`` whose ends are drawn in proportion to their degree: they are ends of edges."""
    found = np.empty((2, 0), np.int64)
    edges = graph.edge_index
    for _ in range(50):
        drawn = np.stack([edges[side][rng.integers(0, edges.shape[1], 2 * size)] for side in (0, 1)])
        drawn = np.concatenate([found, drawn[:, drawn[0] != drawn[1]]], axis=1)
        keys = encode(drawn)
        _, first = np.unique(keys, return_index=True)
        first = np.sort(first[~np.isin(keys[first], taken)])
        found = drawn[:, first[:size]]
        if found.shape[1] == size:
            break
    return found


NEGATIVE_DRAWS = {"uniform": _uniform, "degree": _by_degree}


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _lengths(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value

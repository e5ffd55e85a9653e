"""Links, or any other relation of pairs, learned from reachability."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_choice, check_flag, check_whole, describe, pair_rows, to_path
from graphreach.auc import auc
from graphreach.errors import InputError, needed_packages
from graphreach.explain.links import explain_links
from graphreach.explain.pair_groups import LinkExplanation
from graphreach.explain.reasons import link_reasons
from graphreach.graph import Graph
from graphreach.graph.ids import ids_array
from graphreach.io.graphs import as_graph, changed_graph
from graphreach.pairs import Recommendations, check_attributes
from graphreach.pairs.pair_network import PairNetwork
from graphreach.pairs.recommendations import best_new_links, recommend
from graphreach.parameters import Parameters
from graphreach.training.base_rate import check_prior
from graphreach.training.pair_examples import NEGATIVES, check_both_kinds, link_examples, read_kinds, relation_examples
from graphreach.training.pair_options import LINKS, PairOptions
from graphreach.training.pair_scorer import KnownGraph, PairScorer
from graphreach.training.saved_models import check_saved

PRETRAINED = Path(__file__).parent / "pretrained"


class LinkPredictor(Parameters):
    r"""Probabilities of links, learned from reachability, as a scikit-learn estimator.

    A pair of nodes is described by direct reachability, by the positions of both relative to greedy anchors, by degrees and
    by return probabilities (:func:`graphreach.pair_features`), and a few small perceptrons read that. If nodes have
    attributes ``x``, cosines of these and the product of two rows of a graph neural network are read as well, by
    :class:`graphreach.nn.AttributedPairHead`.

    Without ``pairs``, :meth:`fit` learns the graph's own links: every link is described by a graph without it, as a link
    that has to be found has no edge yet. With ``pairs`` and ``y`` it learns any relation of pairs, such as being of one
    class.

    Features mean the same in every graph, so that a fitted predictor scores pairs of a graph that has grown, of nodes that
    it has never seen, and of other graphs.

    A fitted predictor keeps its anchors by their ids. They were drawn by walks that depend on the order of the ids, unless
    all nodes are anchors: fitted to a graph whose nodes are renumbered, scores differ as with another ``random_state``.

    Args:
        negatives: Negative pairs for training: ``"uniform"`` draws among all unlinked pairs, ``"degree"`` draws both
            ends in proportion to their degree, so that popularity alone says nothing (arXiv 2405.14985).
        steps: Largest number of jumps between the two nodes; ``"auto"`` is as many as the graph's paths want and the number
            of pairs allows.
        lengths: Jumps of the walks to anchors; ``"auto"`` chooses by the graph's diameter.
        num_anchors: Number of anchors, at most the number of nodes; ``"auto"`` is 128, or 512 for a small graph in many
            pieces.
        method: ``"exact"`` powers of the transition matrix, ``"walks"`` that meet in the middle, or ``"auto"``.
        num_links: Links, or pairs of the relation, to learn from at most, and as many others, drawn at random.
        hidden_channels: Width of the perceptrons.
        num_members: Number of perceptrons whose logits are averaged; with attributes at most three networks are.
        prior: The base rate that probabilities assume: the share of links among the pairs that will be asked about.
            ``"density"`` is the share of linked pairs among all pairs of the graph that they are in, be it the training
            graph or another one. It is right for pairs drawn at random. In a graph with two kinds of nodes, only pairs
            between the two count. For another relation it is the share of that relation among the listed pairs. 0.5 is
            right if there are as many links as other pairs.
        start: What a head for the links of a small undirected graph (at most 10,000 links, no attributes) may start from:
            ``"pretrained"`` for the model in the package, the folder of a saved predictor of links, or None for nothing. It
            is kept if its loss on pairs that it was trained without is below that of a head that starts from nothing. The
            model in the package has seen links of well-known public graphs, which the page on pairs lists; measure on those
            with None. Where other arguments choose features or sizes, only a head that starts from nothing is trained.
        random_state: Random seed. The same seed gives the same model bit for bit on any number of threads.

    Attributes:
        ids_: The ids of the graph's nodes.
        anchors_: Ids of the anchors.
        recipe_: Which features describe a pair; a :class:`graphreach.pairs.PairRecipe`.
        head_: The trained :class:`graphreach.nn.PairHead`, or :class:`graphreach.nn.AttributedPairHead` with attributes.
        prior_: The base rate that was learned: the density of the graph, the share of the relation, or ``prior``.
        auc_: AUC of training pairs, each scored by a network that was trained without it.
        classes_: ``[0, 1]``.
        feature_names_: Names of the features.
        changed_: After :meth:`update`, ids of the nodes whose degree or reachability to or from the anchors it changed.

    Example:
        >>> import graphreach as gr
        >>> graph = gr.datasets.load("communities")[0].graph
        >>> links = gr.LinkPredictor(prior=0.5).fit(graph)
        >>> links.predict_proba([(1, 3), (1, 399)])[:, 1].round(1)
        array([1., 0.])
    """

    _graph: Graph | None
    _known: KnownGraph | None
    _x: Any = None

    def __init__(
        self,
        negatives: str = "uniform",
        steps: int | str = "auto",
        lengths: tuple[int, ...] | str = "auto",
        num_anchors: int | str = "auto",
        method: str = "auto",
        num_links: int = LINKS,
        hidden_channels: int = 64,
        num_members: int = 3,
        prior: float | str = "density",
        start: str | Path | None = "pretrained",
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
        self.start = start
        self.random_state = random_state

    def fit(self, graph: Any, x: Any = None, pairs: Any = None, y: Any = None) -> Self:
        """Learn the links of a graph, or a relation of listed pairs.

        Args:
            graph: A :class:`Graph`, a networkx, SciPy or PyG graph, a data frame of edges, or the path of a file.
            x: Attributes of the nodes ``[n, d]``, an array or a SciPy matrix, in the order of the graph's ids, or None.
            pairs: Rows ``(u, v)`` of node ids to learn from, or None for the graph's own links.
            y: 1 or 0 for each of ``pairs``: whether it is of the relation.
        """
        self._check_parameters()
        with needed_packages("LinkPredictor.fit"):
            from graphreach.training.pair_learning import learn_pairs

        known = as_graph(graph)
        attributes = None if x is None else check_attributes(x, known.num_nodes)
        if (pairs is None) != (y is None):
            raise InputError(f"pairs and y must be given together, got {'y' if pairs is None else 'pairs'} alone")
        if pairs is None:
            read = attributes is not None
            examples = link_examples(known, self.negatives, self.num_links, read, self.random_state)
        else:
            examples = relation_examples(known, pairs, y)
        scorer, seen = learn_pairs(
            [examples._replace(x=attributes)], self._options(), pairs is None, self.random_state, self.prior,
            start=self._start(),
        )  # fmt: skip
        self._keep(scorer)
        self._known, self._graph, self._x, self.ids_ = seen[0], known, attributes, known.ids
        self.__dict__.pop("changed_", None)
        return self

    def update(
        self, add: Any = None, remove: Any = None, weights: Any = None, *, graph: Any = None, x: Any = None
    ) -> Self:
        """Change the graph that is known: all methods then answer for it as it is now. What was learned stays.

        Answers are those of the same predictor about the changed graph, ``predict_proba(pairs, graph=changed)``, bit for
        bit. Anchors stay; only a predictor without anchors of its own, such as :meth:`pretrained`, chooses them on the
        changed graph.

        Args:
            add: Edges to add, as :meth:`graphreach.Graph.updated` takes them.
            remove: Edges to remove.
            weights: Edges with their new weights.
            graph: The changed graph itself, instead of what changes: one that :meth:`graphreach.Graph.updated` gave. A
                loaded or pretrained predictor gets its first graph this way.
            x: Attributes of all nodes of the changed graph, in the order of its ids, if the predictor was fitted with
                attributes; without new nodes those that are known stay.

        Example:
            >>> import graphreach as gr
            >>> graph = gr.datasets.load("communities")[0].graph
            >>> links = gr.LinkPredictor().fit(graph).update(add=[(0, 400)])
            >>> links.predict_proba([(1, 400)]).shape, bool(400 in links.changed_)
            ((1, 2), True)
        """
        self._check_fitted()
        before = self._known if graph is not None else self._on(None)
        changed = changed_graph(None if before is None else before.graph, add, remove, weights, graph)
        new = changed.num_nodes - (0 if before is None else before.graph.num_nodes)
        if x is None and self._x is not None and new:
            raise InputError(
                f"x must be given, attributes of all {changed.num_nodes} nodes, as {new} of them are new, got None"
            )
        attributes = self._x if x is None else x
        known = self._scorer.on(changed, x=attributes)
        moved = slice(None) if before is None else known.features.follow(before.features)
        self.changed_ = changed.ids[moved]
        self._known, self._graph, self._x, self.ids_ = known, changed, attributes, changed.ids
        return self

    def _keep(self, scorer: PairScorer) -> None:
        """Keep what was learned, as attributes too."""
        self._scorer, self.recipe_ = scorer, scorer.recipe
        self.anchors_ = ids_array([] if scorer.anchors is None else scorer.anchors)
        self.prior_, self.auc_, self.links_ = scorer.prior, scorer.auc, scorer.links
        self.background_, self.feature_names_ = scorer.background, scorer.names
        self.classes_ = np.array([0, 1])

    @property
    def head_(self) -> Any:
        """The trained network as a torch module."""
        self._check_fitted()
        return self._scorer.head

    def predict_proba(self, pairs: Any, graph: Any = None, x: Any = None) -> NDArray[np.float64]:
        """The probability that each pair is no link, and that it is one, ``[m, 2]``.

        It is calibrated on pairs that the network had not seen, and holds where the share of links among the pairs asked
        about is :meth:`rate`, by default the density of the graph. An edge between the nodes of a pair is not looked at.

        If neither node has an edge to others, structure says nothing. Unless training pairs were like that, the probability
        is the base rate itself; the same holds with :meth:`pretrained`. If only one node has no edges, the degree of the
        other still counts.

        Args:
            pairs: Rows ``(u, v)`` of node ids: a list of pairs, an array ``[m, 2]`` or a data frame of two columns.
            graph: The graph that they are in, if it is not the one that was learned from: one that has grown, or another.
                If it has all the anchors they stay, else it gets anchors of its own.
            x: Attributes of that graph's nodes, if the predictor was fitted with attributes.
        """
        known = self._on(graph, x)
        chance = self._scorer.probabilities(self._decide(known, pairs), self.rate(known.graph))
        return np.stack([1 - chance, chance], axis=1)

    def predict(self, pairs: Any, graph: Any = None, x: Any = None) -> NDArray[np.int64]:
        """1 for pairs that are likelier a link than not, else 0, ``[m]``."""
        return (self.predict_proba(pairs, graph, x)[:, 1] > 0.5).astype(np.int64)

    def decision_function(self, pairs: Any, graph: Any = None, x: Any = None) -> NDArray[np.float64]:
        """Logits of pairs where half of them are links, ``[m]``; see :meth:`predict_proba`."""
        return self._decide(self._on(graph, x), pairs)

    def _decide(self, known: KnownGraph, pairs: Any) -> NDArray[np.float64]:
        first, second = pair_rows(pairs)
        if not first:
            return np.empty(0)
        return self._scorer.score(known, np.stack([known.graph.index_of(first), known.graph.index_of(second)]))

    def rate(self, graph: Any = None) -> float:
        """The base rate that probabilities of a graph's pairs assume: its own density, unless ``prior`` is a number.

        Args:
            graph: See :meth:`predict_proba`.
        """
        self._check_fitted()
        return self._scorer.rate(self._on(None).graph if graph is None else as_graph(graph), self.prior)

    def new_links(self, top: int = 10, graph: Any = None, x: Any = None, why: bool = True) -> Recommendations:
        """The links that the whole graph is likeliest to get, each with what speaks for it.

        These are the best of all pairs that :meth:`recommend` scores for any node. In an undirected graph each pair is
        listed once. Blocks of nodes are scored one after the other and only the best pairs are kept, so that memory does
        not grow with the number of nodes.

        Args:
            top: Maximum number of links.
            graph: See :meth:`predict_proba`.
            x: See :meth:`predict_proba`.
            why: Whether to find a reason for each link, which takes up to some milliseconds. The reason is the common
                neighbours of both nodes; where there are none, the most likely path, the anchors near both nodes, or what
                else adds most to the score.

        Returns:
            Nodes, partners, probabilities, ranks and reasons as columns.

        Example:
            >>> import graphreach as gr
            >>> graph = gr.datasets.load("communities")[0].graph
            >>> found = gr.LinkPredictor.pretrained().new_links(3, graph)
            >>> print(found.rank, found.why[0].partition(":")[0])
            [1 2 3] 18 neighbours in common
        """
        known = self._on(graph, x)
        found = best_new_links(
            known.features, partial(self._scorer.score, known), self._chance(known), check_whole("top", top, 1)
        )
        return self._with_reasons(known, found) if check_flag("why", why) else found

    def _with_reasons(self, known: KnownGraph, found: Recommendations) -> Recommendations:
        pairs = np.stack([known.graph.index_of(found.node), known.graph.index_of(found.partner)])
        return replace(found, why=link_reasons(known, self._scorer, pairs))

    def recommend(
        self, nodes: Any = None, top: int = 10, graph: Any = None, x: Any = None, why: bool = False
    ) -> Recommendations:
        """The partners that nodes are likeliest to be linked to and are not yet.

        For each node up to 200 candidates are scored: those that walks of two and three steps reach most, and those in the
        nearest positions relative to the anchors. Where more than 400 million pairs
        of positions would have to be compared, as for all nodes of a graph with more than 20,000, only walks choose.

        In a directed graph partners are targets of edges from the node. In a graph that was read as one with two kinds of
        nodes (:attr:`graphreach.Graph.sides`), such as users and items, partners are of the other kind. Of a predictor that
        has learned another relation than being linked, partners may have an edge to the node, and be of its kind.

        Args:
            nodes: Ids of nodes, or one id; None for all nodes.
            top: Number of partners for each node; fewer where there are fewer candidates.
            graph: See :meth:`predict_proba`.
            x: See :meth:`predict_proba`.
            why: Whether to find a reason for each row; see :meth:`new_links`.

        Returns:
            Nodes, partners, probabilities and ranks as columns. A node without candidates, such as one without edges, has
            no row and is listed in ``without``.

        Example:
            >>> import graphreach as gr
            >>> graph = gr.datasets.load("communities")[0].graph
            >>> found = gr.LinkPredictor().fit(graph).recommend(0, top=3)
            >>> found.rank
            array([1, 2, 3])
        """
        known = self._on(graph, x)
        return Recommendations.join(known.graph, self._recommend(known, nodes, top, why))

    def recommend_blocks(
        self, nodes: Any = None, top: int = 10, graph: Any = None, x: Any = None, why: bool = False
    ) -> Iterator[Recommendations]:
        """What :meth:`recommend` returns, some nodes at a time, so that the whole need not be in memory."""
        return self._recommend(self._on(graph, x), nodes, top, why)

    def _recommend(self, known: KnownGraph, nodes: Any, top: int, why: bool) -> Iterator[Recommendations]:
        count = check_whole("top", top, 1)
        index = np.arange(known.graph.num_nodes) if nodes is None else np.atleast_1d(known.graph.index_of(nodes))
        _, first = np.unique(index, return_index=True)
        blocks = recommend(
            known.features, partial(self._scorer.score, known), self._chance(known), index[np.sort(first)], count
        )
        return (self._with_reasons(known, block) for block in blocks) if check_flag("why", why) else blocks

    def explain(self, pair: Any, graph: Any = None, x: Any = None) -> LinkExplanation:
        """Why a pair has its probability: what each group of features adds to its logit, paths and shared anchors.

        The groups are direct reachability, position, degree and return, and attributes if the predictor was fitted with
        them. Their contributions are Shapley values relative to training pairs, half of them links, and add up exactly to
        what :meth:`decision_function` gives for the pair alone. If the graph has the link, it is left out.

        Args:
            pair: Ids of two nodes.
            graph: See :meth:`predict_proba`.
            x: See :meth:`predict_proba`.

        Returns:
            The explanation; ``print`` it to read it.

        Example:
            >>> import graphreach as gr
            >>> graph = gr.datasets.load("communities")[0].graph
            >>> found = gr.LinkPredictor().fit(graph).explain((0, 1))
            >>> bool(abs(found.base + sum(found.groups.values()) - found.logit) < 1e-12)
            True
        """
        known = self._on(graph, x)
        ((first,), (second,)) = pair_rows([pair], "pair")
        ends = np.array([[known.graph.index_of(first)], [known.graph.index_of(second)]])
        (found,) = explain_links(known, self._scorer, ends, self.rate(known.graph))
        return found.explanation

    def _chance(self, known: KnownGraph) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        return partial(self._scorer.probabilities, prior=self.rate(known.graph))

    def score(self, pairs: Any, y: Any, graph: Any = None, x: Any = None) -> float:
        """The ROC AUC of pairs whose kinds are known.

        Args:
            pairs: See :meth:`predict_proba`.
            y: 1 or 0 for each pair.
            graph: See :meth:`predict_proba`.
            x: See :meth:`predict_proba`.
        """
        truth = read_kinds(y)
        scores = self.decision_function(pairs, graph, x)
        if len(truth) != len(scores):
            raise InputError(f"y must have one entry for each of {len(scores)} pairs, got {len(truth)}")
        check_both_kinds(truth, "score by")
        return auc(scores, truth == 1)

    def save(self, folder: str | Path) -> None:
        """Write the network, the anchors' ids and all parameters to a folder; nothing is pickled."""
        self._check_fitted()
        self._scorer.save(to_path("folder", folder), estimator=_plain(self.get_params()))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """A predictor that :meth:`save` wrote, or the folder ``model`` of a run of method ``reach``; give it a graph with
        the pairs."""
        check_saved(to_path("folder", folder), "LinkPredictor")
        scorer, found = PairScorer.load(Path(folder), "LinkPredictor")
        try:
            estimator = cls(**{**found["estimator"], "lengths": _lengths(found["estimator"]["lengths"])})
            estimator._check_parameters()
        except (InputError, TypeError, ValueError, KeyError, AttributeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"{folder} must hold a saved LinkPredictor, but {reason}") from None
        estimator._keep(scorer)
        estimator._graph = estimator._known = None
        return estimator

    @classmethod
    def pretrained(cls) -> Self:
        """A predictor that ships with the package and scores pairs of any undirected graph at once, without training.

        It was trained on links of generated and public graphs (``python -m tools.pretrain``), and judged on graphs that it
        was not trained on. Give it the graph with the pairs; probabilities assume the density of that graph.

        Example:
            >>> import graphreach as gr
            >>> graph = gr.datasets.load("communities")[0].graph
            >>> near, far = gr.LinkPredictor.pretrained().decision_function([(1, 3), (1, 399)], graph)
            >>> bool(near > far)
            True
        """
        scorer, _ = PairScorer.load(PRETRAINED, "LinkPredictor")
        estimator = cls(steps=scorer.recipe.steps, lengths=scorer.recipe.lengths)
        estimator._keep(scorer)
        estimator._graph = estimator._known = None
        return estimator

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Logits of described pairs where half of them are links."""
        return self._scorer.logits(features)

    def _on(self, graph: Any, x: Any = None) -> KnownGraph:
        """What is known of a graph and its attributes, computed once for the one that was learned from."""
        self._check_fitted()
        if graph is None:
            if x is not None:
                raise InputError("x must be given together with the graph whose attributes it holds, got x alone")
            if self._known is None:
                raise InputError("graph must be given to a predictor that was loaded, or is pretrained, got None")
            return self._known
        other = as_graph(graph)
        if x is None and self._known is not None and other is self._known.graph:
            return self._known
        return self._scorer.on(other, x=x)

    def _options(self) -> PairOptions:
        return PairOptions(**{name: getattr(self, name) for name in PairOptions.names()})

    def _start(self) -> PairScorer | None:
        """The scorer that a head may start from; None where the arguments ask for another kind of head."""
        usual = PairOptions(num_links=self.num_links)
        if self.start is None or self._options() != usual:
            if self.start is not None and self.start != "pretrained":
                other = next(name for name in usual.names() if getattr(self, name) != getattr(usual, name))
                raise InputError(
                    f"start must be None where {other} is given, as what it starts from has its own, got "
                    f"{describe(self.start)}"
                )
            return None
        folder = PRETRAINED if self.start == "pretrained" else to_path("start", self.start)
        check_saved(folder, "LinkPredictor", "start")
        scorer, _ = PairScorer.load(folder, "LinkPredictor")
        if not scorer.links or not isinstance(scorer.network, PairNetwork):
            raise InputError(f"start must be a predictor of links without attributes, got {describe(self.start)}")
        return scorer

    def _check_parameters(self) -> None:
        if self.start is not None and not isinstance(self.start, str | Path):
            raise InputError(f'start must be "pretrained", a folder or None, got {describe(self.start)}')
        check_choice("negatives", self.negatives, NEGATIVES)
        self._options()
        check_whole("random_state", self.random_state, 0, 2**32 - 1)
        check_prior(self.prior)

    def _check_fitted(self) -> None:
        if not hasattr(self, "_scorer"):
            raise InputError("LinkPredictor must be fitted first: call fit(graph)")


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    kinds = {tuple: list, Path: str}
    return {
        name: next((make(value) for kind, make in kinds.items() if isinstance(value, kind)), value)
        for name, value in values.items()
    }


def _lengths(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value

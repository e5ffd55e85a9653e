"""Pairs of one graph or of several learned from reachability: examples, features, the head, and what is kept of it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from graphreach.arguments import check_number
from graphreach.auc import auc
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.ids import ids_array
from graphreach.graph.matching import check_anchor_ids, check_saved_ids, match_ids
from graphreach.nn.attributed_pair_head import AttributedPairHead
from graphreach.nn.attributed_training import balanced_loss
from graphreach.nn.pair_head import PairHead, best_calibration, fit_pair_head
from graphreach.nn.perceptron_layers import read_in_blocks
from graphreach.nn.pretrained import saved_model
from graphreach.pairs import PairAttributes, PairFeatures, PairRecipe, check_attributes
from graphreach.pairs.attributes import AttributeScaling
from graphreach.pairs.features import PairFacts, both_isolated
from graphreach.progress import Clock, track
from graphreach.threads import one_blas_thread, one_torch_thread
from graphreach.training.attributed_pairs import AttributedPairs, AttributeExamples, attribute_names, learn_attributes
from graphreach.training.base_rate import density
from graphreach.training.link_folds import link_features
from graphreach.training.pair_options import FEWEST_LINKS, PairOptions, num_others

SCORED = 1 << 18
"""Pairs that are described and scored at a time."""

SCORED_ATTRIBUTES = 1 << 15
"""The same where attributes are read, which take hundreds of columns."""

ATTRIBUTE_MEMBERS = 3
"""Maximum number of networks that read attributes; each takes many times as long as a perceptron."""

FEW_LINKS = 10_000
"""Links of a graph at most whose head may start from another one."""

CALIBRATED = 100
"""Pairs of a kind at least by which a trained head is calibrated again."""

BACKGROUND = 100
"""Training pairs kept to explain scores by: what a group of features adds is relative to them."""

Pairs = NDArray[np.int64]


class PairExamples(NamedTuple):
    """Pairs of one graph to learn from.

    Attributes:
        graph: The graph, with the links among the pairs.
        pairs: Positions of the nodes, ``[2, m]``.
        y: 1 for links, or pairs of the relation, else 0, ``[m]``.
        x: Attributes of the nodes as :func:`graphreach.pairs.check_attributes` gives them, or None.
    """

    graph: Graph
    pairs: Pairs
    y: NDArray[np.int64]
    x: csr_array | None = None


class KnownGraph:
    """A graph and what describes its pairs; anchors are chosen at once, positions computed at first use.

    Args:
        graph: The graph.
        recipe: Which features describe a pair.
        anchors: Positions of the anchors, or None for some of its own.
        seed: Random seed of anchors and walks.
        attributes: What attributes of nodes say of pairs; None where a head does not read them, or is not trained yet.
    """

    def __init__(
        self, graph: Graph, recipe: PairRecipe, anchors: NDArray[np.int64] | None, seed: int,
        attributes: AttributedPairs | None = None,
    ) -> None:  # fmt: skip
        self.graph, self.attributes = graph, attributes
        with one_blas_thread():
            self.features = PairFeatures(graph, recipe, anchors, seed)

    def describe(self, pairs: Pairs) -> NDArray[np.float32]:
        """Features of pairs ``[2, m]``, those of a link by the graph without it unless the recipe reads the own edge."""
        with one_blas_thread():
            found = self.features.describe(pairs, exclude_own_edge=not self.features.recipe.own_edge)
            if self.attributes is None:
                return found
            return np.concatenate([found, self.attributes.describe(pairs)], axis=1)

    def facts(self, pairs: Pairs) -> tuple[NDArray[np.float32], PairFacts]:
        """Features of pairs as :meth:`describe` gives them, and what stands behind them."""
        with one_blas_thread():
            found, facts = self.features.facts(pairs, exclude_own_edge=not self.features.recipe.own_edge)
            if self.attributes is not None:
                found = np.concatenate([found, self.attributes.describe(pairs)], axis=1)
            return found, facts

    def parts(self, pairs: Pairs) -> list[Pairs]:
        """The pairs, as many at a time as are described at once."""
        size = SCORED if self.attributes is None else SCORED_ATTRIBUTES
        return [pairs[:, begin : begin + size] for begin in range(0, pairs.shape[1], size)]

    def describe_examples(self, examples: PairExamples, scaling: AttributeScaling | None = None) -> NDArray[np.float32]:
        """Features of pairs to learn from: links by folds without them, other relations as they are.

        Args:
            examples: The pairs.
            scaling: How their attributes are scaled, if they are read.
        """
        recipe, seed = self.features.recipe, self.features.seed
        x = None if scaling is None else scaling.apply(examples.x)
        if not recipe.own_edge:
            with one_blas_thread():
                return link_features(self.graph, recipe, self.features.anchors, examples.pairs, examples.y, seed, x)
        found = np.concatenate([self.describe(part) for part in self.parts(examples.pairs)])
        if x is None:
            return found
        with one_blas_thread():
            cosines = PairAttributes(self.graph, x).describe(examples.pairs, exclude_own_edge=False)
        return np.concatenate([found, cosines], axis=1)


@dataclass
class PairScorer:
    """A head that was trained on pairs, with all that is needed to score others of any graph.

    Attributes:
        head: The trained network.
        recipe: Which features describe a pair.
        anchors: Ids of the anchors; None if every graph has anchors of its own.
        prior: The base rate of the pairs that were learned from, or the one that was asked for.
        links: Whether links were learned, or another relation of pairs.
        auc: AUC of training pairs, each scored by a network that was trained without it.
        background: Features of some training pairs, ``[b, f]``.
        seed: Random seed of anchors and walks.
        needs_edges: Whether the logit of two nodes that have no edge to others is 0, the base rate, whatever the head says:
            structure says nothing of them, and it was trained on no such pair or on links alone.
    """

    head: PairHead | AttributedPairHead
    recipe: PairRecipe
    anchors: list[Any] | None
    prior: float
    links: bool
    auc: float
    background: NDArray[np.float32]
    seed: int
    needs_edges: bool = False

    @property
    def names(self) -> list[str]:
        """Names of all columns that the head reads."""
        own = PairFeatures.names_of(self.recipe)
        return own + attribute_names(self.head) if isinstance(self.head, AttributedPairHead) else own

    def on(self, graph: Graph, new_anchors: bool = False, x: Any = None) -> KnownGraph:
        """What is known of a graph: with the anchors of training if it has them all, else with anchors of its own.

        Args:
            graph: The graph.
            new_anchors: Whether it gets anchors of its own in any case.
            x: Attributes of its nodes, where the head was trained with attributes.
        """
        attributes = self._attributes(graph, x)
        return KnownGraph(graph, self.recipe, None if new_anchors else self._anchors(graph), self.seed, attributes)

    def _anchors(self, graph: Graph) -> NDArray[np.int64] | None:
        """Positions of the anchors of training in a graph that has them all."""
        at = None if self.anchors is None else match_ids(self.anchors, graph.ids)
        return at if at is not None and (at >= 0).all() else None

    def _attributes(self, graph: Graph, x: Any) -> AttributedPairs | None:
        head = self.head
        if not isinstance(head, AttributedPairHead):
            if x is not None:
                raise InputError("x must be None, as the predictor was fitted without attributes of nodes")
            return None
        if x is None:
            raise InputError(
                f"x must be given, as the predictor was fitted with {head.node_channels} attributes, got None"
            )
        own = check_attributes(x, graph.num_nodes, head.node_channels)
        return AttributedPairs(graph, own, head, own_edge=self.recipe.own_edge)

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Logits of described pairs where half of them are links."""
        with one_torch_thread(), torch.no_grad():
            logits: NDArray[np.float64] = read_in_blocks(self.head, torch.from_numpy(features)).double().numpy()
        if self.needs_edges:
            logits[both_isolated(features, self.names)] = 0.0
        return logits

    def score(self, known: KnownGraph, pairs: Pairs) -> NDArray[np.float64]:
        """Logits of pairs ``[2, m]`` of a graph where half of them are links, some at a time."""
        parts = known.parts(pairs)
        out = [self.logits(known.describe(part)) for part in track(parts, len(parts), "scoring pairs")]
        return np.concatenate(out) if out else np.empty(0)

    def calibrate_again(
        self, logits: Sequence[NDArray[Any] | None], y: Sequence[NDArray[Any]]
    ) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """Calibrate on pairs that are described by the graph as it is used, which folds of it are not quite.

        Args:
            logits: Of pairs of each graph that nothing was learned from.
            y: Their kinds.

        Returns:
            What turns logits from before into those that the scorer gives from now on; if there are fewer than
            :data:`CALIBRATED` pairs of a kind, nothing changes.
        """
        known = [each for each in zip(logits, y, strict=True) if each[0] is not None]
        truth = np.concatenate([kinds for _, kinds in known]) if known else np.empty(0)
        if min(np.count_nonzero(truth == kind) for kind in (0, 1)) < CALIBRATED:
            return lambda values: values
        scale, shift = best_calibration(np.concatenate([values for values, _ in known]), truth)
        before = self.head.calibration
        before.copy_(torch.stack([scale * before[0], scale * before[1] + shift]))
        return lambda values: scale * values + shift

    def rate(self, graph: Graph, prior: float | str = "density") -> float:
        """The base rate that probabilities of a graph's pairs assume.

        Args:
            graph: The graph that the pairs are asked in.
            prior: ``"density"`` for that of this graph where links were learned; of another relation, or where a number was
                asked for, it is that of training.
        """
        return density([graph]) if self.links and prior == "density" else self.prior

    def probabilities(self, logits: NDArray[np.float64], prior: float | None = None) -> NDArray[np.float64]:
        """Probabilities where the share of links among the pairs is ``prior``, by default that of training."""
        rate = self.prior if prior is None else prior
        shifted = np.clip(logits + math.log(rate / (1 - rate)), -700, 700)
        out: NDArray[np.float64] = 1 / (1 + np.exp(-shifted))
        return out

    def save(self, folder: str | Path, **metadata: Any) -> None:
        """Write the network, its recipe and the anchors' ids to a folder; nothing is pickled."""
        anchors = None if self.anchors is None else check_saved_ids(ids_array(self.anchors))
        self.head.save_pretrained(
            folder, anchors=anchors, recipe=self.recipe.as_dict(), prior=self.prior, auc=self.auc,
            links=self.links, seed=self.seed, background=[[float(value) for value in row] for row in self.background],
            needs_edges=self.needs_edges, **metadata,
        )  # fmt: skip

    @classmethod
    def load(cls, folder: Path, what: str = "model of pairs") -> tuple[Self, dict[str, Any]]:
        """What :meth:`save` wrote, and all metadata.

        Args:
            folder: The folder.
            what: What the folder should hold, for messages.
        """
        kind = AttributedPairHead if saved_model(folder) == AttributedPairHead.__name__ else PairHead
        head: PairHead | AttributedPairHead = kind.from_pretrained(folder)
        found: dict[str, Any] = head.metadata  # type: ignore[assignment]
        try:
            recipe = PairRecipe(**{**found["recipe"], "lengths": tuple(found["recipe"]["lengths"])})
            scorer = cls(
                head, recipe, check_anchor_ids(found["anchors"], folder),
                check_number("prior", found["prior"], 0, 1, above=True), bool(found["links"]), float(found["auc"]),
                np.array(found["background"], np.float32), int(found["seed"]), bool(found.get("needs_edges", False)),
            )  # fmt: skip
        except (InputError, TypeError, ValueError, KeyError, AttributeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"{folder} must hold a saved {what}, but {reason}") from None
        width = head.width if isinstance(head, AttributedPairHead) else head.in_channels
        if len(scorer.names) != width:
            raise InputError(f"{folder} must hold a network of {len(scorer.names)} features, got one of {width}")
        return scorer, found


def learn_pairs(
    parts: Sequence[PairExamples], options: PairOptions, links: bool, seed: int = 0,
    prior: float | str = "density", clock: Clock | None = None, start: PairScorer | None = None,
) -> tuple[PairScorer, list[KnownGraph]]:  # fmt: skip
    """Learn links, or another relation of pairs, from the pairs of one graph or of several.

    All graphs have one recipe and one head, as features mean the same in every graph; each has anchors of its own.

    Args:
        parts: Pairs of each graph; some may have none. Either all graphs have attributes of nodes or none has.
        options: How pairs are described and learned from.
        links: Whether links are learned: a link is then described by a graph without it.
        seed: Random seed of folds, anchors, walks and weights.
        prior: The base rate that probabilities assume, or ``"density"``: of links the share of linked pairs among all
            pairs of the graphs, of another relation that of the examples.
        clock: Adds up the seconds of anchors, features and training.
        start: A scorer of links to go on from. If there are few links, a head is trained from it as well, and the one is
            kept that has the lower loss on pairs that its members left out. It must read no attributes.

    Returns:
        The scorer, and what is known of each graph.
    """
    clock = Clock() if clock is None else clock
    attributed = _check_attributes(parts)
    chosen = _at_most(parts, options.num_links, num_others(options.num_links, attributed), seed)
    truth = np.concatenate([part.y for part in chosen])
    _check_kinds(truth, links)
    sizes = [part.pairs.shape[1] for part in chosen]
    largest = chosen[int(np.argmax(sizes))].graph
    with clock.phase("anchors"):
        recipe = options.recipe(largest, sum(sizes), links, max(part.graph.num_nodes for part in parts))
        known = [KnownGraph(part.graph, recipe, None, seed) for part in parts]
    with clock.phase("features"):
        both = [each for each in zip(known, chosen, strict=True) if each[1].pairs.shape[1]]
        scaling = AttributeScaling.of(csr_array(vstack([part.x for _, part in both]))) if attributed else None
        features = np.concatenate([own.describe_examples(part, scaling) for own, part in both])
        seen = both_isolated(features, known[0].features.names).any()
    with clock.phase("training"), one_torch_thread():
        widths = {"hidden_channels": options.hidden_channels, "num_members": options.num_members}
        learned = _learn(features, truth, seed, **widths) if scaling is None else _learn_attributes(
            known, chosen, features, scaling, options, seed
        )  # fmt: skip
    if start is not None and _can_start(start, chosen, links, attributed):
        second, again = _learn_from(start, known[0], chosen[0], seed, clock)
        if not learned.loss <= second.loss:  # also where there were too few pairs to leave any out
            recipe, learned, known = start.recipe, second, [again]
    anchors = largest.ids[known[0].features.anchors].tolist() if len(parts) == 1 else None
    rate = _base_rate(parts, truth, links) if isinstance(prior, str) else float(prior)
    scorer = PairScorer(learned.head, recipe, anchors, rate, links, learned.auc, learned.background, seed)
    scorer.needs_edges = links and not attributed and not seen
    return scorer, known


class _Learned(NamedTuple):
    """A trained head, AUC and loss of what its members left out, and what describes some training pairs."""

    head: PairHead | AttributedPairHead
    auc: float
    background: NDArray[np.float32]
    loss: float = math.nan


def _can_start(start: PairScorer, chosen: Sequence[PairExamples], links: bool, attributed: bool) -> bool:
    """Whether a head for these pairs could go on from another one: links of one small graph of the same kind."""
    few = len(chosen) == 1 and int(np.count_nonzero(chosen[0].y)) <= FEW_LINKS
    return few and links and start.links and not attributed and start.recipe.directed == chosen[0].graph.directed


def _learn_from(
    start: PairScorer, known: KnownGraph, examples: PairExamples, seed: int, clock: Clock
) -> tuple[_Learned, KnownGraph]:
    """Train perceptrons from those of another scorer, on the features that it reads."""
    assert isinstance(start.head, PairHead)
    with clock.phase("features"):
        same = known.features.recipe.num_anchors == min(start.recipe.num_anchors, known.graph.num_nodes)
        again = KnownGraph(known.graph, start.recipe, known.features.anchors if same else None, seed)
        features = again.describe_examples(examples)
    with clock.phase("training"), one_torch_thread():
        return _learn(features, examples.y, seed, start=start.head), again


def _learn(features: NDArray[np.float32], truth: NDArray[np.int64], seed: int, **arguments: Any) -> _Learned:
    """Train perceptrons on features of pairs."""
    head, unseen, rows = fit_pair_head(torch.from_numpy(features), torch.from_numpy(truth).float(), seed, **arguments)
    kinds = torch.from_numpy(truth)[rows].float()
    loss = float(balanced_loss(unseen, kinds)) if len(rows) else math.nan
    background = features[np.sort(np.random.default_rng([seed, 1]).permutation(len(features))[:BACKGROUND])]
    return _Learned(head, auc(unseen.numpy(), truth[rows.numpy()] == 1), background, loss)


def _learn_attributes(
    known: Sequence[KnownGraph], chosen: Sequence[PairExamples], features: NDArray[np.float32],
    scaling: AttributeScaling, options: PairOptions, seed: int,
) -> _Learned:  # fmt: skip
    """Train networks that read attributes too; from then on these describe the graphs' pairs."""
    own_edge = known[0].features.recipe.own_edge
    parts = [AttributeExamples(part.graph, part.pairs, part.y, scaling.apply(part.x)) for part in chosen if len(part.y)]
    head, unseen, kinds = learn_attributes(
        parts, features, scaling, not own_edge, seed, hidden_channels=options.hidden_channels,
        num_members=min(options.num_members, ATTRIBUTE_MEMBERS),
    )  # fmt: skip
    for own, part in zip(known, chosen, strict=True):
        own.attributes = AttributedPairs(own.graph, part.x, head, own_edge)
    truth = np.concatenate([part.y for part in chosen])
    rng = np.random.default_rng([seed, 1])  # of links there are fewer than of other pairs
    keep = np.zeros(len(truth), np.bool_)
    for kind in (0, 1):
        keep[rng.permutation(np.flatnonzero(truth == kind))[: BACKGROUND // 2]] = True
    places = np.split(keep, np.cumsum([len(part.y) for part in chosen])[:-1])
    background = [
        own.describe(part.pairs[:, place])
        for own, part, place in zip(known, chosen, places, strict=True)
        if place.any()
    ]
    return _Learned(head, auc(unseen, kinds == 1), np.concatenate(background))


def _check_attributes(parts: Sequence[PairExamples]) -> bool:
    """Whether the graphs have attributes: all as many of them, or none."""
    widths = [part.x.shape[1] for part in parts if part.x is not None]
    if widths and len(widths) < len(parts):
        raise InputError(
            f"attributes must be given for all graphs or for none, got them for {len(widths)} of {len(parts)}"
        )
    if len(set(widths)) > 1:
        raise InputError(f"attributes must be as many in all graphs, got {min(widths)} and {max(widths)}")
    return bool(widths)


def _at_most(parts: Sequence[PairExamples], links: int, others: int, seed: int) -> list[PairExamples]:
    """No more pairs of each kind than given, drawn at random from all graphs; in their order if there are fewer."""
    truth = np.concatenate([part.y for part in parts])
    keep = np.ones(len(truth), np.bool_)
    for kind, count in enumerate((others, links)):
        own = np.flatnonzero(truth == kind)
        keep[np.random.default_rng([seed, 2, kind]).permutation(own)[count:]] = False
    places = np.split(keep, np.cumsum([len(part.y) for part in parts])[:-1])
    return [
        part._replace(pairs=part.pairs[:, place], y=part.y[place]) for part, place in zip(parts, places, strict=True)
    ]


def _check_kinds(truth: NDArray[np.int64], links: bool) -> None:
    count = int(np.count_nonzero(truth))
    if links and count < FEWEST_LINKS:
        raise InputError(f"graph must have at least {FEWEST_LINKS} links to learn from, got {count}")
    if links and count == len(truth):
        raise InputError("graph must have pairs that are not linked to learn from, got none")
    if not 0 < count < len(truth):
        raise InputError("y must have pairs of both kinds, 1 and 0, to learn from")
    if not links and len(truth) == 2:  # the member that leaves both out would have nothing to learn from
        raise InputError("y must have at least 2 pairs of a kind to learn from, got 1 of each")


def _base_rate(parts: Sequence[PairExamples], truth: NDArray[np.int64], links: bool) -> float:
    if not links:
        return float(np.clip(truth.mean(), 1e-9, 1 - 1e-9))
    return density([part.graph for part in parts])

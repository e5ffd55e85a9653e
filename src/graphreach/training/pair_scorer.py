"""Pairs of one graph or of several learned from reachability: examples, features, the head, and what is kept of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray

from graphreach.arguments import check_number
from graphreach.auc import auc
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.ids import ids_array
from graphreach.nn.pair_head import PairHead, fit_pair_head
from graphreach.pairs import PairFeatures, PairRecipe
from graphreach.progress import track
from graphreach.threads import one_blas_thread, one_torch_thread
from graphreach.training.link_folds import link_features
from graphreach.training.methods import Clock
from graphreach.training.pair_options import FEWEST_LINKS, PairOptions
from graphreach.training.trained_run import check_anchor_ids, check_saved_ids, match_ids

SCORED = 1 << 18
"""Pairs that are described and scored at a time."""

BACKGROUND = 100
"""Training pairs kept to explain scores by: what a group of features adds is relative to them."""

Pairs = NDArray[np.int64]


class PairExamples(NamedTuple):
    """Pairs of one graph to learn from.

    Attributes:
        graph: The graph, with the links among the pairs.
        pairs: Positions of the nodes, ``[2, m]``.
        y: 1 for links, or pairs of the relation, else 0, ``[m]``.
    """

    graph: Graph
    pairs: Pairs
    y: NDArray[np.int64]


class KnownGraph:
    """A graph and what describes its pairs; anchors are chosen at once, positions computed at first use."""

    def __init__(self, graph: Graph, recipe: PairRecipe, anchors: NDArray[np.int64] | None, seed: int) -> None:
        self.graph = graph
        with one_blas_thread():
            self.features = PairFeatures(graph, recipe, anchors, seed)

    def describe(self, pairs: Pairs) -> NDArray[np.float32]:
        """Features of pairs ``[2, m]``, those of a link by the graph without it unless the recipe reads the own edge."""
        with one_blas_thread():
            return self.features.describe(pairs, exclude_own_edge=not self.features.recipe.own_edge)

    def describe_examples(self, examples: PairExamples) -> NDArray[np.float32]:
        """Features of pairs to learn from: links by folds without them, other relations as they are."""
        recipe, seed = self.features.recipe, self.features.seed
        if recipe.own_edge:
            return np.concatenate([self.describe(part) for part in _parts(examples.pairs)])
        with one_blas_thread():
            return link_features(self.graph, recipe, self.features.anchors, examples.pairs, examples.y, seed)


@dataclass
class PairScorer:
    """A head that was trained on pairs, with all that is needed to score others of any graph.

    Attributes:
        head: The trained network.
        recipe: Which features describe a pair.
        anchors: Ids of the anchors; None if every graph has anchors of its own.
        prior: The base rate that probabilities assume.
        links: Whether links were learned, or another relation of pairs.
        auc: AUC of training pairs, each scored by a perceptron that was trained without it.
        background: Features of some training pairs, ``[b, f]``.
        seed: Random seed of anchors and walks.
    """

    head: PairHead
    recipe: PairRecipe
    anchors: list[Any] | None
    prior: float
    links: bool
    auc: float
    background: NDArray[np.float32]
    seed: int

    def on(self, graph: Graph, new_anchors: bool = False) -> KnownGraph:
        """What is known of a graph: with the anchors of training if it has them all, else with anchors of its own."""
        at = None if self.anchors is None or new_anchors else match_ids(self.anchors, graph.ids)
        return KnownGraph(graph, self.recipe, at if at is not None and (at >= 0).all() else None, self.seed)

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Logits of described pairs where half of them are links."""
        with one_torch_thread(), torch.no_grad():
            logits: NDArray[np.float64] = self.head(torch.from_numpy(features)).double().numpy()
        return logits

    def score(self, known: KnownGraph, pairs: Pairs) -> NDArray[np.float64]:
        """Logits of pairs ``[2, m]`` of a graph where half of them are links, some at a time."""
        parts = _parts(pairs)
        out = [self.logits(known.describe(part)) for part in track(parts, len(parts), "scoring pairs")]
        return np.concatenate(out) if out else np.empty(0)

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
            **metadata,
        )  # fmt: skip

    @classmethod
    def load(cls, folder: Path, what: str = "model of pairs") -> tuple[Self, dict[str, Any]]:
        """What :meth:`save` wrote, and all metadata.

        Args:
            folder: The folder.
            what: What the folder should hold, for messages.
        """
        head = PairHead.from_pretrained(folder)
        found: dict[str, Any] = head.metadata  # type: ignore[assignment]
        try:
            recipe = PairRecipe(**{**found["recipe"], "lengths": tuple(found["recipe"]["lengths"])})
            scorer = cls(
                head, recipe, check_anchor_ids(found["anchors"], folder),
                check_number("prior", found["prior"], 0, 1, above=True), bool(found["links"]), float(found["auc"]),
                np.array(found["background"], np.float32), int(found["seed"]),
            )  # fmt: skip
        except (InputError, TypeError, ValueError, KeyError, AttributeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"{folder} must hold a saved {what}, but {reason}") from None
        names = PairFeatures.names_of(recipe)
        if len(names) != head.in_channels:
            raise InputError(f"{folder} must hold a network of {len(names)} features, got one of {head.in_channels}")
        return scorer, found


def learn_pairs(
    parts: Sequence[PairExamples], options: PairOptions, links: bool, seed: int = 0,
    prior: float | str = "density", clock: Clock | None = None,
) -> tuple[PairScorer, list[KnownGraph]]:  # fmt: skip
    """Learn links, or another relation of pairs, from the pairs of one graph or of several.

    All graphs have one recipe and one head, as features mean the same in every graph; each has anchors of its own.

    Args:
        parts: Pairs of each graph; some may have none.
        options: How pairs are described and learned from.
        links: Whether links are learned: a link is then described by a graph without it.
        seed: Random seed of folds, anchors, walks and weights.
        prior: The base rate that probabilities assume, or ``"density"``: of links the share of linked pairs among all
            pairs of the graphs, of another relation that of the examples.
        clock: Adds up the seconds of anchors, features and training.

    Returns:
        The scorer, and what is known of each graph.
    """
    clock = Clock() if clock is None else clock
    chosen = _at_most(parts, options.num_links, seed)
    truth = np.concatenate([part.y for part in chosen])
    _check_kinds(truth, links)
    sizes = [part.pairs.shape[1] for part in chosen]
    largest = chosen[int(np.argmax(sizes))].graph
    with clock.phase("anchors"):
        recipe = options.recipe(largest, sum(sizes), links, max(part.graph.num_nodes for part in parts))
        known = [KnownGraph(part.graph, recipe, None, seed) for part in parts]
    with clock.phase("features"):
        both = [each for each in zip(known, chosen, strict=True) if each[1].pairs.shape[1]]
        features = np.concatenate([own.describe_examples(part) for own, part in both])
    with clock.phase("training"), one_torch_thread():
        head, unseen, rows = fit_pair_head(
            torch.from_numpy(features), torch.from_numpy(truth).float(), seed,
            hidden_channels=options.hidden_channels, num_members=options.num_members,
        )  # fmt: skip
    background = features[np.sort(np.random.default_rng([seed, 1]).permutation(len(features))[:BACKGROUND])]
    anchors = largest.ids[known[0].features.anchors].tolist() if len(parts) == 1 else None
    rate = _base_rate(parts, truth, links) if isinstance(prior, str) else float(prior)
    return PairScorer(
        head, recipe, anchors, rate, links, auc(unseen.numpy(), truth[rows.numpy()] == 1), background, seed
    ), known


def _at_most(parts: Sequence[PairExamples], count: int, seed: int) -> list[PairExamples]:
    """No more than ``count`` pairs of each kind, drawn at random from all graphs; in their order if there are fewer."""
    truth = np.concatenate([part.y for part in parts])
    keep = np.ones(len(truth), np.bool_)
    for kind in (0, 1):
        own = np.flatnonzero(truth == kind)
        keep[np.random.default_rng([seed, 2, kind]).permutation(own)[count:]] = False
    places = np.split(keep, np.cumsum([len(part.y) for part in parts])[:-1])
    return [
        PairExamples(part.graph, part.pairs[:, place], part.y[place]) for part, place in zip(parts, places, strict=True)
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


def density(graphs: Sequence[Graph]) -> float:
    """The share of linked pairs among all pairs of the graphs, above 0 and below 1."""
    edges, pairs = 0.0, 0.0
    for graph in graphs:
        edges += graph.num_edges
        pairs += graph.num_nodes * (graph.num_nodes - 1) / (1 if graph.directed else 2)
    return float(np.clip(edges / max(1.0, pairs), 1e-12, 1 - 1e-12))


def _parts(pairs: Pairs) -> list[Pairs]:
    return [pairs[:, begin : begin + SCORED] for begin in range(0, pairs.shape[1], SCORED)]

"""Pairs of one graph or of several learned from reachability: the network is trained here, and scores elsewhere."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from graphreach.auc import auc
from graphreach.errors import InputError
from graphreach.nn.attributed_pair_head import AttributedPairHead
from graphreach.nn.attributed_training import balanced_loss
from graphreach.nn.pair_head import PairHead, fit_pair_head
from graphreach.pairs.attributes import AttributeScaling
from graphreach.pairs.features import both_isolated
from graphreach.pairs.pair_network import PairNetwork
from graphreach.progress import Clock
from graphreach.threads import one_torch_thread
from graphreach.training.attributed_pairs import AttributedPairs, AttributeExamples, learn_attributes
from graphreach.training.base_rate import density
from graphreach.training.pair_options import FEWEST_LINKS, PairOptions, num_others
from graphreach.training.pair_scorer import KnownGraph, PairExamples, PairScorer

ATTRIBUTE_MEMBERS = 3
"""Maximum number of networks that read attributes; each takes many times as long as a perceptron."""

FEW_LINKS = 10_000
"""Maximum number of links of a graph whose head may start from another one."""

BACKGROUND = 100
"""Training pairs kept to explain scores by: what a group of features adds is relative to them."""


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
    scorer = PairScorer(learned.network, recipe, anchors, rate, links, learned.auc, learned.background, seed)
    scorer.needs_edges = links and not attributed and not seen
    return scorer, known


class _Learned(NamedTuple):
    """A trained network, AUC and loss of what its members left out, and what describes some training pairs."""

    network: PairNetwork | AttributedPairHead
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
    with clock.phase("features"):
        same = known.features.recipe.num_anchors == min(start.recipe.num_anchors, known.graph.num_nodes)
        again = KnownGraph(known.graph, start.recipe, known.features.anchors if same else None, seed)
        features = again.describe_examples(examples)
    with clock.phase("training"), one_torch_thread():
        assert isinstance(start.network, PairNetwork)
        return _learn(features, examples.y, seed, start=PairHead.of(start.network)), again


def _learn(features: NDArray[np.float32], truth: NDArray[np.int64], seed: int, **arguments: Any) -> _Learned:
    """Train perceptrons on features of pairs."""
    head, unseen, rows = fit_pair_head(torch.from_numpy(features), torch.from_numpy(truth).float(), seed, **arguments)
    kinds = torch.from_numpy(truth)[rows].float()
    loss = float(balanced_loss(unseen, kinds)) if len(rows) else math.nan
    background = features[np.sort(np.random.default_rng([seed, 1]).permutation(len(features))[:BACKGROUND])]
    return _Learned(head.network(), auc(unseen.numpy(), truth[rows.numpy()] == 1), background, loss)


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

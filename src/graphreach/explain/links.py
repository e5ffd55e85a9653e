"""What is said of pairs besides their score: paths between both nodes, anchors that place them, and facts in words."""

from collections.abc import Mapping, Sequence
from math import expm1
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.explain.likely_paths import Path, separate_paths
from graphreach.explain.pair_groups import LinkExplanation, SharedAnchor, Shares, group_shares
from graphreach.graph.ids import plain_ids
from graphreach.pairs.direct import edge_weights, without_edges
from graphreach.pairs.features import RETURNS, PairFacts, PairFeatures, both_isolated
from graphreach.pairs.recipe import PairRecipe
from graphreach.threads import one_blas_thread
from graphreach.training.pair_scorer import KnownGraph, PairScorer

SHOWN = 3
"""Paths and anchors of an explanation."""

Row = NDArray[np.float32]
Shown = tuple[tuple[Any, ...], float]
"""Ids along a path, and its chance."""


class PlacedPair(NamedTuple):
    """An explanation with positions of the nodes that it names.

    Attributes:
        explanation: The explanation.
        nodes: Positions of both nodes.
        paths: The paths, by positions.
        anchors: Positions of the anchors.
        words: The facts without the paths and anchors, for a place that lists those by themselves.
    """

    explanation: LinkExplanation
    nodes: tuple[int, int]
    paths: tuple[Path, ...]
    anchors: tuple[int, ...]
    words: dict[str, str]


def explain_links(
    known: KnownGraph, scorer: PairScorer, pairs: NDArray[np.int64], prior: float | None = None,
    relation: str = "of the relation", num_anchors: int = SHOWN,
) -> list[PlacedPair]:  # fmt: skip
    """Explain the scores of pairs, whose features are computed together.

    Args:
        known: What describes pairs of the graph.
        scorer: What scores them.
        pairs: Positions of different nodes, ``[2, m]``.
        prior: The share of links that probabilities assume, by default that of training.
        relation: What a pair is if the answer is yes, unless links were learned.
        num_anchors: Number of anchors to name.
    """
    for pair in pairs.T[pairs[0] == pairs[1]][:1].tolist():
        raise InputError(f"pair must be two different nodes, got {plain_ids(known.graph.ids[pair])[0]!r} twice")
    if not pairs.shape[1]:
        return []
    rows, facts = known.facts(pairs)
    rate, name = scorer.prior if prior is None else prior, "a link" if scorer.links else relation
    with one_blas_thread():
        return [
            _explain(known.features, pair, scorer, row, facts.of(place), rate, name, num_anchors)
            for place, (pair, row) in enumerate(zip(pairs.T, rows, strict=True))
        ]


def _explain(
    features: PairFeatures, pair: NDArray[np.int64], scorer: PairScorer, row: Row, facts: PairFacts, prior: float,
    relation: str, num_anchors: int,
) -> PlacedPair:  # fmt: skip
    shares, graph = link_shares(scorer, row), features.graph
    columns = dict(zip(scorer.names, row.tolist(), strict=True))
    a, b = plain_ids(graph.ids[pair])
    there, back = (edge_weights(graph, way[:, None])[0] > 0 for way in (pair, pair[::-1]))
    left_out = not features.recipe.own_edge and (there or back)
    seen = without_edges(graph, pair[:, None]) if left_out else graph
    paths = separate_paths(seen, int(pair[0]), int(pair[1]), features.recipe.steps, SHOWN)
    named = tuple((tuple(plain_ids(graph.ids[list(path.nodes)])), path.chance) for path in paths)
    places, anchors = near_anchors(features, facts, num_anchors)
    words = {
        "direct": _direct(features, columns, named),
        "position": "" if anchors else "no anchor is near to both",
        "degree": _degree(facts, (a, b), graph.directed),
        "return": _return(facts, (a, b)),
        "attributes": _attributes(columns),
    }
    told = words | {
        "direct": words["direct"] + _path_list(named),
        "position": words["position"] + _anchor_list(anchors),
    }
    explanation = LinkExplanation(
        (a, b), float(scorer.probabilities(np.array([shares.logit]), prior)[0]), prior, shares.logit, shares.base,
        shares.groups, told, bool(left_out and there), named, anchors, relation,
    )  # fmt: skip
    return PlacedPair(explanation, (int(pair[0]), int(pair[1])), tuple(paths), places, words)


def link_shares(scorer: PairScorer, row: Row) -> Shares:
    """What each group of a pair's features adds to its logit."""
    shares = group_shares(scorer.logits, row, scorer.background, scorer.names)
    if scorer.needs_edges and both_isolated(row[None], scorer.names)[0]:  # the logit rests on the degrees alone
        return shares._replace(groups=dict.fromkeys(shares.groups, 0.0) | {"degree": shares.logit - shares.base})
    return shares


def near_anchors(
    features: PairFeatures, facts: PairFacts, most: int
) -> tuple[tuple[int, ...], tuple[SharedAnchor, ...]]:
    """The anchors with the largest log-lift that both nodes of a pair share: positions, and how near they are.

    In a directed graph walks go from the first node to the anchor and from there to the second.
    """
    first, second = facts.place
    shared = np.minimum(first, second)
    best = [place for place in np.argsort(-shared, kind="stable")[:most].tolist() if shared[place] > 0]
    found = features.anchors[best]
    return tuple(found.tolist()), tuple(
        SharedAnchor(name, expm1(float(first[place])), expm1(float(second[place])))
        for name, place in zip(plain_ids(features.graph.ids[found]), best, strict=True)
    )


def first_lift(recipe: PairRecipe, columns: Mapping[str, float]) -> tuple[int, float] | None:
    """The smallest number of jumps by which walks lead from one to the other, and how many times as often as by chance."""
    way = "forward" if recipe.directed else "lift"
    for step in range(recipe.first_step, recipe.steps + 1):
        lift = expm1(columns[f"direct.{way}_{step}"])
        if lift > 0:
            return step, lift
    return None


def _direct(features: PairFeatures, columns: Mapping[str, float], paths: Sequence[Shown]) -> str:
    found, last = first_lift(features.recipe, columns), features.recipe.steps
    if found is not None:
        jumps = f"{found[0]} jump{'' if found[0] == 1 else 's'}"
        return f"walks of {jumps} lead from one to the other {times_text(found[1])} times as often as by chance"
    if paths:  # walks that were drawn may miss what is there
        return f"walks of up to {last} jumps hardly ever lead from one to the other"
    return f"no walk of up to {last} jumps leads from one to the other"


def _path_list(paths: Sequence[Shown]) -> str:
    shown = ", ".join(" > ".join(map(str, nodes)) for nodes, _ in paths)
    return f", most often by {shown}" if shown else ""


def _anchor_list(anchors: Sequence[SharedAnchor]) -> str:
    if not anchors:
        return ""
    listed = ", ".join(f"{each.anchor} ({each.first:.3g} and {each.second:.3g} times)" for each in anchors)
    return f"the anchors nearest to both, and how many times as often as by chance walks meet them, are {listed}"


def _degree(facts: PairFacts, ids: tuple[Any, Any], directed: bool) -> str:
    ways = ("from", "to") if directed else ("of", "of")
    own = ", ".join(f"{value:g} {way} {name}" for value, way, name in zip(facts.degree, ways, ids, strict=True))
    return f"{own}, {times_text(float(facts.mean_degree))} on average"


def _return(facts: PairFacts, ids: tuple[Any, Any]) -> str:
    first, second = (_share(float(each.mean())) for each in facts.back)
    jumps = f"{RETURNS[0]} to {RETURNS[-1]} jumps"
    return (
        f"of walks of {jumps}, {first} of those from {ids[0]} and {second} of those from {ids[1]} end where they began"
    )


def times_text(value: float) -> str:
    """How many times, in words' precision: three digits, and whole numbers from 100 on."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _share(value: float) -> str:
    return f"{100 * value:.3g}%"


def _attributes(columns: Mapping[str, float]) -> str:
    cosines = [f"{value:.2f}" for name, value in columns.items() if name.startswith("attributes.cosine_")]
    if not cosines:
        return ""
    return f"the cosine of both is {cosines[0]}" + "".join(
        f", {value} with those within {hops} jump{'' if hops == 1 else 's'}"
        for hops, value in enumerate(cosines[1:], start=1)
    )

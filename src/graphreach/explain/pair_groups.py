r"""Why two nodes are likely to be linked: the logit taken apart over the groups of features that describe the pair.

The groups are few, so their Shapley values are computed exactly, over all subsets S. The value v(S) of a subset is the mean
logit over stored training pairs ("background") whose features in S are replaced by those of the pair. The contributions add
up to the pair's logit less that of the background.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import expm1, factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.explain.likely_paths import Path, likely_paths
from graphreach.graph import Graph
from graphreach.graph.ids import plain_ids
from graphreach.pairs.direct import edge_weights, without_edges
from graphreach.pairs.features import PairFeatures, both_isolated
from graphreach.pairs.position import in_degree, volume

SHOWN = 3
"""Paths and anchors of an explanation."""

Logits = Callable[[NDArray[np.float32]], NDArray[np.float64]]


class Shares(NamedTuple):
    """A logit as a sum.

    Attributes:
        base: The mean logit of the background.
        groups: What each group of features adds to it.
    """

    base: float
    groups: dict[str, float]


def group_shares(
    logits: Logits, row: NDArray[np.float32], background: NDArray[np.float32], names: Sequence[str]
) -> Shares:
    r"""Exact Shapley values of groups of features.

    .. math::
        \phi_g = \sum_{S \not\ni g} \frac{|S|! \, (G - |S| - 1)!}{G!} \left( v(S \cup g) - v(S) \right)

    Args:
        logits: Scores features ``[m, f]``.
        row: Features of the pair, ``[f]``.
        background: Features of other pairs, ``[b, f]``.
        names: Names of the features; a name begins with that of its group and a dot.

    Example:
        >>> double = lambda x: 2.0 * x[:, 0] + x[:, 1] * x[:, 2]
        >>> group_shares(double, np.ones(3, np.float32), np.zeros((1, 3), np.float32), ["a.x", "b.y", "c.z"])
        Shares(base=0.0, groups={'a': 2.0, 'b': 0.5, 'c': 0.5})
    """
    of_column = np.array([name.partition(".")[0] for name in names])
    groups = list(dict.fromkeys(of_column.tolist()))
    count = len(groups)
    subsets = [each for size in range(count + 1) for each in combinations(range(count), size)]
    mixed = np.tile(background, (len(subsets), 1, 1))
    for number, subset in enumerate(subsets):
        own = np.isin(of_column, [groups[each] for each in subset])
        mixed[number][:, own] = row[own]
    means = logits(mixed.reshape(-1, len(row))).reshape(len(subsets), -1).mean(axis=1)
    value = dict(zip(subsets, means.tolist(), strict=True))
    added = dict.fromkeys(groups, 0.0)
    for subset in subsets:
        for each in set(range(count)) - set(subset):
            weight = factorial(len(subset)) * factorial(count - len(subset) - 1) / factorial(count)
            added[groups[each]] += weight * (value[tuple(sorted((*subset, each)))] - value[subset])
    return Shares(value[()], added)


class SharedAnchor(NamedTuple):
    """An anchor that both nodes of a pair are placed by.

    Attributes:
        anchor: Its id.
        first: How many times as often as by chance walks go between the first node and it.
        second: The same of the second node.
    """

    anchor: Any
    first: float
    second: float


@dataclass(frozen=True, eq=False, repr=False)
class LinkExplanation:
    """Why a pair has its probability.

    Attributes:
        pair: Ids of both nodes.
        probability: The probability of a link.
        prior: The share of links among pairs that the probability assumes.
        logit: The score: ``base`` and the contributions of all groups together.
        base: The mean score of training pairs, half of them links.
        groups: What each group of features adds, by Shapley values.
        facts: The group's features in words.
        linked: Whether the graph has the link, which is then left out.
        relation: What a pair is if the answer is yes.
        paths: The likeliest paths between both, no two along one edge: ids, and the chance of a walk to follow it.
        anchors: The anchors that both are near to.
    """

    pair: tuple[Any, Any]
    probability: float
    prior: float
    logit: float
    base: float
    groups: dict[str, float]
    facts: dict[str, str]
    linked: bool
    paths: tuple[tuple[tuple[Any, ...], float], ...]
    anchors: tuple[SharedAnchor, ...]
    relation: str = "a link"

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values, ready for JSON."""
        plain = {name: getattr(self, name) for name in ("probability", "prior", "logit", "base", "groups", "linked")}
        return {
            "pair": list(self.pair),
            **plain,
            "paths": [{"nodes": list(nodes), "chance": chance} for nodes, chance in self.paths],
            "anchors": [each._asdict() for each in self.anchors],
        }

    def __str__(self) -> str:
        a, b = self.pair
        known = " (the graph has this link; it was left out)" if self.linked else ""
        lines = [
            f"{a} and {b}: probability {_chance(self.probability)} where {_odds(self.prior)} is {self.relation}{known}.",
            f"The score is {self.logit:+.2f}: {self.base:+.2f} is the mean of training pairs, and",
        ]
        for name, value in sorted(self.groups.items(), key=lambda item: -abs(item[1])):
            fact = self.facts.get(name, "")
            lines.append(f"  {TITLES.get(name, name)} {value:+.2f}" + (f": {fact}" if fact else ""))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"LinkExplanation({self.pair[0]!r}, {self.pair[1]!r}, probability={_chance(self.probability)})"


TITLES = {
    "direct": "direct reachability",
    "position": "position",
    "degree": "degrees",
    "return": "return",
    "attributes": "attributes",
}
"""Names of the groups in a text."""


def explain_link(
    features: PairFeatures, pair: tuple[int, int], logits: Logits, background: NDArray[np.float32],
    chance: Callable[[NDArray[np.float64]], NDArray[np.float64]], prior: float,
    attributes: Mapping[str, float] | None = None, relation: str = "a link", num_anchors: int = SHOWN,
    needs_edges: bool = False,
) -> LinkExplanation:  # fmt: skip
    """Explain the score of a pair of positions.

    Args:
        features: Describes pairs of the graph.
        pair: Positions of two different nodes.
        logits: Scores features ``[m, f]``.
        background: Features of training pairs.
        chance: Turns logits into probabilities.
        prior: The share of links that they assume.
        attributes: Columns of the pair from attributes of nodes that stand after its features, by name.
        relation: What a pair is if the answer is yes.
        num_anchors: Number of anchors to name.
        needs_edges: Whether two nodes without edges have a fixed logit, by their degrees alone.
    """
    listed = np.array(pair)[:, None]
    if pair[0] == pair[1]:
        raise InputError(
            f"pair must be two different nodes, got {plain_ids(features.graph.ids[list(pair)])[0]!r} twice"
        )
    edges = [bool(edge_weights(features.graph, way)[0] > 0) for way in (listed, listed[::-1])]
    if any(edges) and not features.recipe.own_edge:
        seen = without_edges(features.graph, listed)
        features = PairFeatures(seen, features.recipe, features.anchors, features.seed)
    row = features.describe(listed, exclude_own_edge=False)[0]
    more = dict(attributes or {})
    all_columns = np.concatenate([row, np.array(list(more.values()), np.float32)])
    shares = group_shares(logits, all_columns, background, [*features.names, *more])
    if needs_edges and both_isolated(row[None], features.names)[0]:
        fixed = float(logits(all_columns[None])[0])
        shares = Shares(shares.base, dict.fromkeys(shares.groups, 0.0) | {"degree": fixed - shares.base})
    logit = shares.base + sum(shares.groups.values())
    graph, (a, b) = features.graph, plain_ids(features.graph.ids[list(pair)])
    paths, anchors = _paths(graph, pair, features.recipe.steps), shared_anchors(features, pair, num_anchors)
    named = tuple((tuple(plain_ids(graph.ids[list(path.nodes)])), path.chance) for path in paths)
    facts = {
        "direct": _direct_fact(features, row, named),
        "position": _position_fact(anchors),
        "degree": _degree_fact(features, pair, (a, b)),
        "return": "how often walks from each come back to it",
        "attributes": _attributes_fact(more),
    }
    return LinkExplanation(
        (a, b), float(chance(np.array([logit]))[0]), prior, logit, shares.base, shares.groups, facts,
        edges[0] and not features.recipe.own_edge, named, anchors, relation,
    )  # fmt: skip


def _paths(graph: Graph, pair: tuple[int, int], longest: int) -> list[Path]:
    """The likeliest path, the likeliest one without its edges, and so on."""
    found: list[Path] = []
    while len(found) < SHOWN:
        (path,) = likely_paths(graph, pair[0], [pair[1]], longest)
        if path is None:
            break
        found.append(path)
        if len(found) < SHOWN:
            graph = without_edges(graph, np.array([path.nodes[:-1], path.nodes[1:]]))
    return found


def shared_anchors(features: PairFeatures, pair: tuple[int, int], most: int = SHOWN) -> tuple[SharedAnchor, ...]:
    """The anchors with the largest log-lift that both nodes of a pair share, the mean over the lengths of walks.

    In a directed graph walks go from the first node to the anchor and from there to the second.
    """
    second = "from" if features.graph.directed else "to"
    first = np.mean([rows[pair[0]] for rows in features.positions("to")], axis=0)
    other = np.mean([rows[pair[1]] for rows in features.positions(second)], axis=0)
    shared = np.minimum(first, other)
    best = [place for place in np.argsort(-shared, kind="stable")[:most].tolist() if shared[place] > 0]
    ids = plain_ids(features.graph.ids[features.anchors[best]])
    return tuple(
        SharedAnchor(name, expm1(float(first[place])), expm1(float(other[place])))
        for name, place in zip(ids, best, strict=True)
    )


def _direct_fact(
    features: PairFeatures, row: NDArray[np.float32], paths: Sequence[tuple[tuple[Any, ...], float]]
) -> str:
    way = "forward" if features.recipe.directed else "lift"
    steps = range(features.recipe.first_step, features.recipe.steps + 1)
    lifts = [expm1(float(row[features.names.index(f"direct.{way}_{t}")])) for t in steps]
    first = next((number for number, lift in enumerate(lifts) if lift > 0), None)
    if first is None:
        return f"no walk of up to {steps[-1]} jumps leads from one to the other"
    jumps = f"{steps[first]} jump{'' if steps[first] == 1 else 's'}"
    told = f"walks of {jumps} lead from one to the other {lifts[first]:.3g} times as often as by chance"
    shown = ", ".join(" > ".join(map(str, nodes)) for nodes, _ in paths)
    return told + (f", most often by {shown}" if shown else "")


def _position_fact(anchors: Sequence[SharedAnchor]) -> str:
    if not anchors:
        return "no anchor is near to both"
    listed = ", ".join(f"{each.anchor} ({each.first:.3g} and {each.second:.3g} times)" for each in anchors)
    return f"the anchors nearest to both, and how many times as often as by chance walks meet them, are {listed}"


def _degree_fact(features: PairFeatures, pair: tuple[int, int], ids: tuple[Any, Any]) -> str:
    graph = features.graph
    mean = volume(graph) / max(1, graph.num_nodes)
    if graph.directed:
        own = f"{graph.degree[pair[0]]:g} from {ids[0]}, {in_degree(graph)[pair[1]]:g} to {ids[1]}"
    else:
        own = f"{graph.degree[pair[0]]:g} of {ids[0]}, {graph.degree[pair[1]]:g} of {ids[1]}"
    return f"{own}, {mean:.3g} on average"


def _attributes_fact(columns: Mapping[str, float]) -> str:
    cosines = [f"{value:.2f}" for name, value in columns.items() if ".cosine_" in name]
    if not cosines:
        return ""
    return f"the cosine of both is {cosines[0]}" + "".join(
        f", {value} with those within {hops} jump{'' if hops == 1 else 's'}"
        for hops, value in enumerate(cosines[1:], start=1)
    )


def _chance(value: float) -> str:
    return f"{value:.2f}" if 0.005 <= value <= 0.995 else f"{value:.2g}" if value < 0.5 else f"{value:.4f}"


def _odds(prior: float) -> str:
    return f"1 in {1 / prior:,.0f} pairs" if prior < 0.1 else f"{prior:.0%} of pairs"

r"""Why two nodes are likely to be linked: the logit taken apart over the groups of features that describe the pair.

The groups are few, so their Shapley values are computed exactly, over all subsets S. The value v(S) of a subset is the mean
logit over stored training pairs ("background") whose features in S are replaced by those of the pair. The contributions add
up to the pair's logit less that of the background.

The value of all groups together is the logit as it is computed for the pair alone. Scored among others, the pair may have
one that differs by single precision, some 1e-7.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Logits = Callable[[NDArray[np.float32]], NDArray[np.float64]]


class Shares(NamedTuple):
    """A logit as a sum.

    Attributes:
        base: The mean logit of the background.
        groups: What each group of features adds to it.
        logit: What all add up to.
    """

    base: float
    groups: dict[str, float]
    logit: float


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
        Shares(base=0.0, groups={'a': 2.0, 'b': 0.5, 'c': 0.5}, logit=3.0)
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
    logit = value[subsets[-1]] = float(logits(row[None])[0])
    added = dict.fromkeys(groups, 0.0)
    for subset in subsets:
        for each in set(range(count)) - set(subset):
            weight = factorial(len(subset)) * factorial(count - len(subset) - 1) / factorial(count)
            added[groups[each]] += weight * (value[tuple(sorted((*subset, each)))] - value[subset])
    return Shares(value[()], added, logit)


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
        relation: What a pair is if the answer is yes, such as ``"of one class"``.
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
            f"{a} and {b}: probability {_chance(self.probability)} where {_odds(self.prior, self.relation)}{known}.",
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


def _chance(value: float) -> str:
    return f"{value:.2f}" if 0.005 <= value <= 0.995 else f"{value:.2g}" if value < 0.5 else f"{value:.4f}"


def _odds(prior: float, relation: str) -> str:
    if prior < 0.1:
        return f"1 in {1 / prior:,.0f} pairs is {relation}"
    return f"{prior:.0%} of pairs are {'links' if relation == 'a link' else relation}"

"""How far probabilities of pairs can be trusted: shares of positives with intervals, and in words."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.report.figures import wilson
from graphreach.tasks.calibration import SURE

TRUSTED, ROUGH = 0.05, 0.1
"""Expected calibration errors up to which probabilities hold, and hold roughly."""

FEW = 10
"""Pairs of a bin from which its deviation is told."""


class Bin(NamedTuple):
    """Pairs of about one probability.

    Attributes:
        chance: Their mean probability.
        share: The share of positives among them, at the base rate that the probabilities assume.
        low: Lower end of its 95% interval.
        high: Upper end.
        positives: Number of positives.
        pairs: Number of pairs.
    """

    chance: float
    share: float
    low: float
    high: float
    positives: int
    pairs: int


def calibration_bins(chances: NDArray[np.float64], labels: NDArray[np.int64], prior: float) -> list[Bin]:
    """Pairs by tenths of their probability; as examples seldom have the base rate, shares are converted to it.

    The interval is Wilson's for the pairs as they are, converted alike.

    Args:
        chances: Probabilities that assume the base rate, ``[m]``.
        labels: 1 or 0, ``[m]``; of both kinds there must be some.
        prior: The base rate.

    Example:
        >>> found = calibration_bins(np.array([0.75, 0.75, 0.75, 0.75]), np.array([1, 1, 0, 0]), 0.5)[0]
        >>> found.share, round(found.low, 2), round(found.high, 2), found.positives, found.pairs
        (0.5, 0.15, 0.85, 2, 4)
    """
    positive = labels == 1
    odds = prior / np.count_nonzero(positive) * np.count_nonzero(~positive) / (1 - prior)
    weight = np.where(positive, odds, 1.0)
    place = np.minimum((chances * SURE).astype(np.int64), SURE - 1)
    found = []
    for each in np.unique(place).tolist():
        own = place == each
        count, hits = int(np.count_nonzero(own)), int(np.count_nonzero(positive & own))
        share, low, high = (float(odds * p / (odds * p + 1 - p)) for p in wilson(hits, count))
        found.append(Bin(float(np.average(chances[own], weights=weight[own])), share, low, high, hits, count))
    return found


def trust(bins: list[Bin], error: float, noun: str, probabilities: bool = True) -> str:
    """How far probabilities can be trusted, in words.

    Args:
        bins: What :func:`calibration_bins` found of the test pairs.
        error: Their expected calibration error.
        noun: What positive pairs are, such as ``"links"``.
        probabilities: Whether scores are meant as probabilities.

    Example:
        >>> trust([Bin(0.8, 0.6, 0.5, 0.7, 60, 100), Bin(0.2, 0.25, 0.1, 0.4, 5, 20)], 0.15, "links")[:58]
        'Do not read the probabilities literally: they are off by 0'
    """
    count = sum(each.pairs for each in bins)
    how = "Probabilities can be trusted" if error <= TRUSTED else "Probabilities hold roughly"
    if not probabilities:
        how = "Scores of this model are no probabilities; read as such"
    elif error > ROUGH:
        how = "Do not read the probabilities literally"
    off = f"they are off by {error:.2f} on average over {count:,} test pairs"
    sure = [each for each in bins if each.pairs >= FEW]
    wrong = [each for each in sure if not each.low <= each.chance <= each.high]
    text = f"{how}{', ' if not probabilities else ': '}{off}."
    if not sure:
        return f"{text} No group has {FEW} pairs, too few to see more."
    if not wrong:
        groups = "The only group" if len(sure) == 1 else f"All {len(sure)} groups"
        return f"{text} {groups} of at least {FEW} pairs: the line lies within the 95% interval."
    worst = max(wrong, key=lambda each: abs(each.chance - each.share) * each.pairs)
    way = "fewer" if worst.share < worst.chance else "more"
    return (
        f"{text} {len(wrong)} of {len(sure)} groups of at least {FEW} pairs lie off the line by more than their 95% "
        f"interval: of the {worst.pairs:,} pairs at about {worst.chance:.2f}, {way} are {noun} than that, "
        f"{worst.share:.2f}."
    )

"""How far probabilities hold."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SURE = 10
"""Bins of the expected calibration error."""


class Reliability(NamedTuple):
    """How far probabilities hold.

    Attributes:
        error: The expected calibration error: the mean distance of a probability from the share of positives among the
            pairs that have about that probability.
        bins: For each bin with pairs the mean probability, the share of positives, and the share of all pairs in it.
    """

    error: float
    bins: list[tuple[float, float, float]]


def reliability(chances: NDArray[Any], labels: NDArray[Any], prior: float) -> Reliability | None:
    """How far probabilities hold where the share of positives is ``prior``; None without examples of both kinds.

    Examples seldom have that share, so both kinds are weighted to have it.

    Args:
        chances: Probabilities that assume the base rate, ``[m]``.
        labels: 1 or 0, ``[m]``.
        prior: The base rate.

    Example:
        >>> reliability(np.array([0.75, 0.75, 0.75, 0.75]), np.array([1, 1, 0, 0]), 0.5)
        Reliability(error=0.25, bins=[(0.75, 0.5, 1.0)])
    """
    positive = labels == 1
    if positive.all() or not positive.any():
        return None
    weight = np.where(positive, prior / np.count_nonzero(positive), (1 - prior) / np.count_nonzero(~positive))
    place = np.minimum((chances * SURE).astype(np.int64), SURE - 1)
    total, expected, seen = (np.bincount(place, each, SURE) for each in (weight, weight * chances, weight * positive))
    used = np.flatnonzero(total)
    bins = [(float(expected[i] / total[i]), float(seen[i] / total[i]), float(total[i])) for i in used]
    return Reliability(float(np.abs(expected - seen).sum()), bins)

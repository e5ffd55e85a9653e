"""How well scores rank: ROC AUC, the share of comparisons with a negative that a positive wins; average precision."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def count_concordant(
    scores: NDArray[Any], positive: NDArray[np.bool_], times: NDArray[Any] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Comparisons that the positive wins, where a tie counts one half, and all comparisons.

    Args:
        scores: One score per example, ``[m]``.
        positive: Which examples are positive, ``[m]``.
        times: How many times each example counts, ``[draws, m]``; by default once.

    Returns:
        Concordant comparisons and all comparisons, ``[draws]`` each.

    Example:
        >>> count_concordant(np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False]))
        (array([3.5]), array([4.]))
    """
    order = np.argsort(scores, kind="stable")
    values = scores[order]
    weight = np.ones((1, len(values)), np.int64) if times is None else times[:, order]
    if not len(values):
        return np.zeros(len(weight)), np.zeros(len(weight))
    ties = np.flatnonzero(np.concatenate([[True], values[1:] > values[:-1]]))  # where each group of equal scores begins
    won = np.add.reduceat(np.where(positive[order], weight, 0), ties, axis=1)
    lost = np.add.reduceat(weight, ties, axis=1) - won
    below = np.cumsum(lost, axis=1) - lost / 2
    return (won * below).sum(axis=1), (won.sum(axis=1) * lost.sum(axis=1)).astype(np.float64)


def auc(scores: NDArray[Any], positive: NDArray[np.bool_]) -> float:
    """The ROC AUC, nan without examples of both kinds or with a score that is nan.

    Example:
        >>> auc(np.array([0.9, 0.4, 0.4]), np.array([True, True, False]))
        0.75
    """
    (concordant,), (comparisons,) = count_concordant(scores, positive)
    return float(concordant / comparisons) if comparisons and not np.isnan(scores).any() else float("nan")


def average_precision(scores: NDArray[Any], positive: NDArray[np.bool_]) -> float:
    """The average precision: the mean over positives of the precision at their score, without interpolation.

    The same as scikit-learn's, whose import takes longer than training on a small graph.

    Args:
        scores: One score per example, ``[m]``.
        positive: Which examples are positive, ``[m]``, at least one.

    Example:
        >>> round(average_precision(np.array([0.9, 0.4, 0.2]), np.array([True, False, True])), 3)
        0.833
    """
    order = np.argsort(-scores, kind="stable")
    values = scores[order]
    last = np.flatnonzero(np.concatenate([values[1:] != values[:-1], [True]]))  # where each group of equal scores ends
    found = np.cumsum(positive[order], dtype=np.float64)[last]
    precision, recall = (found / (last + 1))[::-1], np.append((found / found[-1])[::-1], 0.0)
    return float(-np.sum(np.diff(recall) * precision))

"""Figures of a report: how sure an AUC is, how scores are spread, how far anchors reach."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.explain import Explainer
from graphreach.training.evaluation import rank_auc

LEVEL, DRAWS, WORK = 0.95, 1000, 100_000_000
BINS = 40
BLOCK = 4096


class Bounds(NamedTuple):
    """A figure and the ends of its 95% interval."""

    value: float
    low: float
    high: float


def auc_interval(scores: NDArray[Any], labels: NDArray[Any], seed: int = 0) -> Bounds:
    """The ROC AUC with a bootstrap interval: positives and negatives are drawn with replacement, each among their own.

    Example:
        >>> auc_interval(np.array([3.0, 2.0, 1.0, 0.0]), np.array([1, 1, 0, 0]))
        Bounds(value=1.0, low=1.0, high=1.0)
    """
    rng = np.random.default_rng(seed)
    sides = [np.sort(scores[labels == side]) for side in (1, 0)]
    if not all(map(len, sides)):
        return Bounds(float("nan"), float("nan"), float("nan"))
    draws = int(np.clip(WORK // len(scores), 100, DRAWS))
    found = np.array([_drawn_auc(*(rng.choice(side, len(side)) for side in sides)) for _ in range(draws)])
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Bounds(rank_auc(scores, labels), float(low), float(high))


def _drawn_auc(positives: NDArray[Any], negatives: NDArray[Any]) -> float:
    negatives.sort()
    below, above = np.searchsorted(negatives, positives, "left"), np.searchsorted(negatives, positives, "right")
    return float((below + above).mean() / 2 / len(negatives))


def histograms(scores: NDArray[Any], labels: NDArray[Any], bins: int = BINS) -> dict[str, Any]:
    """How many positives and negatives have a score in each of equal bins.

    Example:
        >>> histograms(np.array([0.0, 1.0, 2.0]), np.array([0, 1, 1]), 2)
        {'low': 0.0, 'high': 2.0, 'positives': [0, 2], 'negatives': [1, 0]}
    """
    low, high = (float(scores.min()), float(scores.max())) if len(scores) else (0.0, 1.0)
    high = high if high > low else low + 1.0
    counts = [np.histogram(scores[labels == side], bins, (low, high))[0].tolist() for side in (1, 0)]
    return {"low": low, "high": high, "positives": counts[0], "negatives": counts[1]}


def coverage_curve(explainer: Explainer) -> NDArray[np.float64]:
    """The share of nodes that can reach one of the first 1, 2, ..., k anchors (other than themselves), ``[k]``."""
    n, k = explainer.graph.num_nodes, len(explainer.anchors)
    first = np.zeros(k + 1, np.int64)
    for begin in range(0, n, BLOCK):
        nodes = np.arange(begin, min(begin + BLOCK, n))
        reached = explainer.rows(nodes)[0] > 0
        reached[nodes[:, None] == explainer.anchors] = False
        first += np.bincount(np.where(reached.any(1), reached.argmax(1), k), minlength=k + 1)
    share: NDArray[np.float64] = np.cumsum(first[:k]) / n
    return share

"""Figures of a report: how sure an AUC or an accuracy is, how scores are spread, how far probabilities and anchors go."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import to_array, to_finite
from graphreach.auc import auc, count_concordant
from graphreach.errors import InputError
from graphreach.explain import Explainer
from graphreach.tasks.label_sets import likeliest_labels, probable_labels
from graphreach.walks.rng import check_seed

Z = 1.959964
"""Quantile of the normal distribution for 95%."""

LEVEL, DRAWS, WORK = 0.95, 1000, 20_000_000
BINS = 40
BLOCK, HELD = 4096, 2_000_000


class Bounds(NamedTuple):
    """A figure and the ends of its 95% interval."""

    value: float
    low: float
    high: float


def wilson(hits: float, count: int) -> Bounds:
    """A share with Wilson's interval, which is none of width zero where all or no examples are hits.

    Example:
        >>> [round(each, 3) for each in wilson(40, 40)]
        [1.0, 0.912, 1.0]
    """
    middle, half = hits + Z**2 / 2, Z * np.sqrt(hits * (count - hits) / count + Z**2 / 4)
    low, high = np.clip([middle - half, middle + half], 0, count + Z**2) / (count + Z**2)
    return Bounds(hits / count, float(low), float(high))


def auc_interval(scores: NDArray[Any], labels: NDArray[Any], seed: int = 0) -> Bounds:
    """The ROC AUC with a bootstrap interval: positives and negatives are drawn with replacement, each among their own.

    Draws from examples that are ranked without a mistake make none either. The interval is then Wilson's for as many
    examples as there are of the rarer kind, since no AUC has a larger variance than such a share.

    Example:
        >>> auc_interval(np.array([3.0, 2.0, 1.0, 0.0]), np.array([1, 1, 0, 0])).high
        1.0
        >>> round(auc_interval(np.array([3.0, 2.0, 1.0, 0.0]), np.array([1, 1, 0, 0])).low, 3)
        0.342
    """
    rng = np.random.default_rng(check_seed(seed))
    scores, labels = to_finite("scores", scores), to_array("labels", labels)
    if scores.ndim != 1 or scores.shape != labels.shape:
        raise InputError(
            f"scores and labels must be lists of one length, got {list(scores.shape)}, {list(labels.shape)}"
        )
    positive = labels == 1
    if positive.all() or not positive.any():
        return Bounds(float("nan"), float("nan"), float("nan"))
    found = []
    for size in _pieces(int(np.clip(WORK // len(scores), 100, DRAWS)), max(1, HELD // len(scores))):
        times = np.empty((size, len(scores)), np.int64)
        for side in (positive, ~positive):
            times[:, side] = _draw(rng, int(side.sum()), size)
        concordant, comparisons = count_concordant(scores, positive, times)
        found.append(concordant / comparisons)
    rarer = int(min(positive.sum(), (~positive).sum()))
    return _bounds(auc(scores, positive), np.concatenate(found), rarer)


def node_intervals(scores: NDArray[Any], labels: NDArray[Any], seed: int = 0) -> dict[str, Bounds]:
    """Accuracy with Wilson's interval and one-vs-rest AUC with that of a bootstrap over the nodes, of ``[m, classes]``."""
    rng, count = np.random.default_rng(seed), len(labels)
    draws = int(np.clip(WORK // scores.size, 100, DRAWS))
    pieces = _pieces(draws, max(1, HELD // count))
    drawn = np.concatenate([weighted_auc(scores, labels, _draw(rng, count, size)) for size in pieces])
    once = float(weighted_auc(scores, labels, np.ones((1, count)))[0])
    right = int(np.count_nonzero(scores.argmax(1) == labels))
    rarest = int(np.unique(labels, return_counts=True)[1].min())
    return {"accuracy": wilson(right, count), "auc": _bounds(once, drawn, rarest)}


def label_intervals(scores: NDArray[Any], truth: NDArray[np.bool_], seed: int = 0) -> dict[str, Bounds]:
    """F1 by both protocols and AUC of several labels per node, ``[m, classes]``, with intervals of the same kind."""
    rng, count = np.random.default_rng(seed), len(truth)
    predicted = {"": likeliest_labels(scores, truth.sum(axis=1)), "_unknown": probable_labels(scores)}

    def measured(times: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
        found = {"auc": weighted_auc(scores, truth, times)}
        for name, labels in predicted.items():
            right, total = 2.0 * (times @ (truth & labels)), times @ (truth.astype(np.float64) + labels)
            found[f"micro_f1{name}"] = right.sum(axis=1) / total.sum(axis=1)
            each = np.divide(right, total, out=np.zeros_like(right), where=total > 0)
            found[f"macro_f1{name}"] = each.sum(axis=1) / np.count_nonzero(total, axis=1)
        return found

    draws = int(np.clip(WORK // scores.size, 100, DRAWS))
    pieces = [measured(_draw(rng, count, size)) for size in _pieces(draws, max(1, HELD // scores.size))]
    once = measured(np.ones((1, count)))
    drawn = {name: np.concatenate([each[name] for each in pieces]) for name in once}
    return {name: _bounds(float(once[name][0]), drawn[name], count) for name in once}


def weighted_auc(scores: NDArray[Any], labels: NDArray[Any], times: NDArray[Any]) -> NDArray[np.float64]:
    """One-vs-rest AUC averaged over the classes that occur, for examples that count ``times [draws, m]``, ``[draws]``.

    Labels are classes ``[m]`` or, of examples with several, booleans ``[m, classes]``.
    """
    sums, classes = np.zeros(len(times)), np.zeros(len(times))
    for each in range(labels.shape[1]) if labels.ndim == 2 else np.unique(labels):
        own = labels[:, each] if labels.ndim == 2 else labels == each
        concordant, pairs = count_concordant(scores[:, each], own, times)
        sums += np.divide(concordant, pairs, out=np.zeros(len(times)), where=pairs > 0)
        classes += pairs > 0
    means: NDArray[np.float64] = np.divide(sums, classes, out=np.full(len(times), np.nan), where=classes > 0)
    return means


def _draw(rng: np.random.Generator, count: int, draws: int) -> NDArray[np.int64]:
    """How many times each of ``count`` examples is drawn with replacement, ``[draws, count]``."""
    return rng.multinomial(count, np.full(count, 1 / count), draws)


def _pieces(total: int, most: int) -> list[int]:
    return [min(most, total - begin) for begin in range(0, total, most)]


def _bounds(value: float, draws: NDArray[np.float64], count: int) -> Bounds:
    """Quantiles of the draws; where all are alike, which says nothing, Wilson's interval for ``count`` examples."""
    known = draws[~np.isnan(draws)]
    if not len(known):
        return Bounds(value, float("nan"), float("nan"))
    if np.ptp(known) < 1e-12:
        return wilson(value * count, count)._replace(value=value)
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Bounds(value, float(low), float(high))


def histograms(
    scores: NDArray[Any], labels: NDArray[Any], bins: int = BINS, bounds: tuple[float, float] | None = None
) -> dict[str, Any]:
    """How many positives and negatives have a score in each of equal bins, between bounds or from the lowest score on."""
    found = (float(scores.min()), float(scores.max())) if len(scores) else (0.0, 1.0)
    low, high = found if bounds is None else bounds
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

"""Several labels per node: which are predicted, and how good the prediction is."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

COUNTS = ("known", "unknown")
"""Whether a prediction knows the number of labels of each node."""


class F1(NamedTuple):
    """F1 over all pairs of a node and a label, and the mean of the labels' F1."""

    micro: float
    macro: float


def likeliest_labels(probability: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.bool_]:
    """The most likely labels of each node, as many as it has; of equal ones the first.

    Args:
        probability: ``[m, classes]``; any scores that rank the labels of a node.
        counts: How many labels each node has, ``[m]``.

    Example:
        >>> likeliest_labels(np.array([[0.1, 0.3, 0.2], [0.9, 0.8, 0.7]]), np.array([2, 1]))
        array([[False,  True,  True],
               [ True, False, False]])
    """
    rank = np.argsort(np.argsort(-probability, axis=1, kind="stable"), axis=1)
    chosen: NDArray[np.bool_] = rank < np.asarray(counts)[:, None]
    return chosen


def probable_labels(probability: NDArray[Any]) -> NDArray[np.bool_]:
    """The labels of each node with a probability of at least 0.5, or else the most likely one.

    Example:
        >>> probable_labels(np.array([[0.1, 0.3, 0.2], [0.9, 0.8, 0.4]]))
        array([[False,  True, False],
               [ True,  True, False]])
    """
    chosen: NDArray[np.bool_] = probability >= 0.5
    chosen[np.arange(len(chosen)), probability.argmax(axis=1)] = True
    return chosen


def predicted_labels(probability: NDArray[Any], truth: NDArray[np.bool_], counts: str) -> NDArray[np.bool_]:
    """Labels by one of the two protocols of :data:`COUNTS`; of the truth only the numbers of labels are looked at."""
    return likeliest_labels(probability, truth.sum(axis=1)) if counts == "known" else probable_labels(probability)


def f1_scores(truth: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> F1:
    """Micro and macro F1 of predicted labels, ``[m, classes]`` each.

    Macro F1 is the mean over the labels that some node has or is predicted to have. With one class per node this is what
    :func:`sklearn.metrics.f1_score` gives. For a matrix, scikit-learn would also count a label that is neither there nor
    predicted, with zero.

    Example:
        >>> truth = np.array([[1, 0, 0], [1, 1, 0]]) == 1
        >>> f1_scores(truth, np.array([[1, 0, 0], [1, 0, 0]]) == 1)
        F1(micro=0.8, macro=0.5)
    """
    right = np.count_nonzero(truth & predicted, axis=0)
    total = np.count_nonzero(truth, axis=0) + np.count_nonzero(predicted, axis=0)
    there = total > 0
    if not there.any():
        return F1(0.0, 0.0)
    return F1(float(2 * right.sum() / total.sum()), float(np.mean(2 * right[there] / total[there])))

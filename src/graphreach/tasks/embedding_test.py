"""How much vectors of nodes say about the nodes' labels: the test by which embeddings are compared since DeepWalk."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_choice, check_number, check_whole, describe, to_array, to_finite, to_list
from graphreach.errors import InputError
from graphreach.logistic import Coefficients, fit_logistic, probabilities
from graphreach.progress import live
from graphreach.tasks.label_sets import COUNTS, F1, f1_scores, predicted_labels
from graphreach.threads import one_blas_thread

SHARES = (0.1, 0.5, 0.9)
"""Shares of the labelled nodes that are trained on."""

STRENGTHS = (0.25, 1.0, 4.0, 16.0, 64.0, 256.0)
"""Values of C to choose from, where the squared length of a row is one on average; the strongest penalty first."""

FOLDS = 3
"""Folds of the training part by which one of :data:`STRENGTHS` is chosen."""

ROUGH = 1e-4
"""Tolerance of the models by which a strength is chosen."""

UNLABELLED = -1


class EmbeddingScore(NamedTuple):
    """How well labels were predicted from vectors, with one share of the nodes to train on.

    Attributes:
        share: Share of the labelled nodes that the classifier is trained on.
        micro_f1: Mean of the micro F1 of the other nodes over the repeats.
        macro_f1: Mean of their macro F1.
        micro_f1_std: Standard deviation over the repeats (with n - 1), NaN for one repeat.
        macro_f1_std: The same of the macro F1.
        repeats: Number of random draws.
    """

    share: float
    micro_f1: float
    macro_f1: float
    micro_f1_std: float
    macro_f1_std: float
    repeats: int


def judge_embedding(
    vectors: Any,
    labels: Any,
    shares: Iterable[float] = SHARES,
    repeats: int = 10,
    seed: int = 0,
    counts: str = "known",
) -> list[EmbeddingScore]:
    r"""Judge vectors of nodes by the labels that a linear classifier predicts from them.

    This is the standard test of node embeddings, from the `"DeepWalk: Online Learning of Social Representations"
    <https://arxiv.org/abs/1403.6652>`_ paper. A random share of the labelled nodes trains one logistic regression per label
    (one-vs-rest, L2), which predicts the labels of the other nodes.

    Columns are centred by the training part. The strength of the penalty is chosen on the training part alone, so that
    neither the scale nor the place of the vectors matters: the :math:`C` of

    .. math::
        \tfrac{1}{2} \|w\|^2 + C \sum_i \log(1 + \exp(-y_i (w^\top x_i + b)))

    is one of 0.25, 1, 4, 16, 64 and 256, divided by the mean squared length of the centred rows. The one with the best
    micro F1 in a cross-validation of three folds is taken, of equal ones the smallest, and the classifier is fitted again
    to the whole training part.

    Args:
        vectors: One row per node, ``[n, d]``.
        labels: A matrix ``[n, classes]`` of booleans, or zeros and ones, if nodes have several labels; or the class of each
            node, ``[n]`` integers, where -1 is unknown. Nodes without a label are left out. Where vectors and labels are
            of pandas, labels are found by the index.
        shares: Shares of the labelled nodes to train on, between 0 and 1.
        repeats: Number of random draws of the training nodes. In one draw the nodes of a smaller share are among those of
            a larger one.
        seed: Random seed for the draws and for the folds.
        counts: With ``"known"`` the :math:`k` most likely labels of a node with :math:`k` labels are predicted, as in
            DeepWalk and node2vec. With ``"unknown"`` these are the labels with a probability of at least 0.5, or else
            the most likely one. Results with different protocols cannot be compared.

    Returns:
        One :class:`EmbeddingScore` per share. Macro F1 is over the labels that a test node has or is predicted to have. The
        same seed gives the same numbers bit for bit on any number of threads.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> label = rng.integers(0, 3, 300)
        >>> vectors = np.eye(3)[label] + 0.3 * rng.standard_normal((300, 3))
        >>> found = judge_embedding(vectors, label, shares=[0.5], repeats=3)[0]
        >>> round(found.micro_f1, 2), found.repeats
        (0.97, 3)
    """
    check_choice("counts", counts, COUNTS)
    check_whole("repeats", repeats, 1)
    check_whole("seed", seed, 0)
    x, y = _check(vectors, labels)
    parts = [_check_share(share, len(x)) for share in to_list("shares", shares, "a list of shares, such as [0.1, 0.5]")]
    found: list[list[F1]] = [[] for _ in parts]
    with one_blas_thread(), live("judging", repeats * len(parts), "classifier") as show:
        for repeat in range(repeats):
            order = np.random.default_rng([seed, repeat]).permutation(len(x))
            for place, (_, size) in enumerate(parts):
                show(repeat * len(parts) + place, "")
                found[place].append(_judge(x, y, order[:size], order[size:], counts))
    return [_score(share, each) for (share, _), each in zip(parts, found, strict=True)]


def _score(share: float, each: list[F1]) -> EmbeddingScore:
    micro, macro = np.array(each).mean(axis=0).tolist()
    micro_std, macro_std = np.array(each).std(axis=0, ddof=1).tolist() if len(each) > 1 else (float("nan"),) * 2
    return EmbeddingScore(share, micro, macro, micro_std, macro_std, len(each))


def _judge(
    x: NDArray[np.float64], y: NDArray[np.bool_], train: NDArray[np.int64], test: NDArray[np.int64], counts: str
) -> F1:
    """F1 on the test nodes."""
    mean = x[train].mean(axis=0)
    rows, truth = x[train] - mean, y[train]
    length = float(np.einsum("ij,ij->", rows, rows)) / len(rows) or 1.0
    penalties = [length / strength for strength in STRENGTHS]
    penalty = _choose(rows, truth, penalties, counts)
    fitted = fit_logistic([rows], truth.astype(np.float64), [penalty], several=True)
    return f1_scores(y[test], _predict(fitted, x[test] - mean, y[test], counts))


def _choose(x: NDArray[np.float64], y: NDArray[np.bool_], penalties: list[float], counts: str) -> float:
    """The penalty with the best micro F1 in cross-validation; rows are in random order."""
    if len(x) < FOLDS:
        return penalties[0]
    fold, truth = np.arange(len(x)) % FOLDS, y.astype(np.float64)
    predicted = np.zeros((len(penalties), *y.shape), np.bool_)
    for each in range(FOLDS):
        inside, outside = fold != each, fold == each
        start = None
        for place, penalty in enumerate(penalties):
            start = fit_logistic([x[inside]], truth[inside], [penalty], several=True, start=start, tolerance=ROUGH)
            predicted[place, outside] = _predict(start, x[outside], y[outside], counts)
    return penalties[int(np.argmax([f1_scores(y, labels).micro for labels in predicted]))]


def _predict(fitted: Coefficients, x: NDArray[np.float64], y: NDArray[np.bool_], counts: str) -> NDArray[np.bool_]:
    logits = fitted.logits([x])
    return predicted_labels(logits if counts == "known" else probabilities(logits, several=True), y, counts)


def _check(vectors: Any, labels: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Vectors and labels of the nodes that have labels."""
    labels = _in_order(labels, vectors)
    x = to_finite("vectors", vectors, "a matrix of numbers with one row per node").astype(np.float64)
    if x.ndim != 2 or not x.shape[1]:
        raise InputError(f"vectors must be a matrix with one row per node, got shape {list(x.shape)}")
    y = _label_matrix(labels.toarray() if hasattr(labels, "tocsr") else labels)
    if len(y) != len(x):
        raise InputError(f"labels must be of {len(x)} nodes, one per row of vectors, got {len(y)}")
    labelled = np.flatnonzero(y.any(axis=1))
    if len(labelled) < 2:
        raise InputError(f"labels must be known of at least 2 nodes, got {len(labelled)}")
    return x[labelled], y[labelled]


def _in_order(labels: Any, vectors: Any) -> Any:
    """Labels in the order of the rows of vectors where both are of pandas, with an index of ids."""
    if not (hasattr(labels, "iloc") and hasattr(vectors, "iloc")) or labels.index.equals(vectors.index):
        return labels
    if len(labels) == len(vectors) and labels.index.is_unique and labels.index.isin(vectors.index).all():
        return labels.loc[vectors.index]
    if labels.index.to_list() != list(range(len(labels))):
        raise InputError("labels must have the index of vectors, got another one")
    return labels


def _label_matrix(labels: Any) -> NDArray[np.bool_]:
    array = to_array("labels", labels, "biuf", "classes of the nodes, or a matrix of booleans")
    if array.ndim == 2 and np.isin(array, (0, 1)).all():
        matrix: NDArray[np.bool_] = array == 1
        return matrix
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array.size and array.min() < UNLABELLED):
        raise InputError(
            "labels must be one integer per node, -1 where it is unknown, or a matrix of booleans, [n, classes], got "
            + (describe(array) if array.ndim != 2 else "a matrix with other values than 0 and 1")
        )
    classes = np.unique(array[array != UNLABELLED])
    of_class: NDArray[np.bool_] = array[:, None] == classes
    return of_class


def _check_share(share: Any, num_nodes: int) -> tuple[float, int]:
    """A share, and how many nodes that is: at least one, and at least one less than all."""
    value = check_number("shares", share, 0, 1, above=True)
    if value == 1:
        raise InputError("shares must be below 1, so that there are nodes to predict, got 1")
    return value, min(max(1, round(value * num_nodes)), num_nodes - 1)

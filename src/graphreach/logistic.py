"""Logistic regression on groups of columns, each with a penalty of its own, for one label per row or several.

The minimum is found by L-BFGS in coordinates in which a bound of the Hessian is the identity: columns that say nearly the
same, as positions do, take some tens of iterations instead of hundreds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.sparse import csr_array, diags_array, issparse
from scipy.special import expit, log_softmax

BIAS_PENALTY = 1e-3
"""Keeps the bias finite where every row has a label."""

WIDEST = 1024
"""Columns up to which a group's Hessian is bounded as a matrix, beyond which its diagonal is."""

CURVATURE = 0.25
"""The greatest second derivative of the loss of one row by one logit."""

Group = Any
"""Columns ``[m, d]``: a dense array or a ``csr_array`` of doubles."""


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Weights of each group ``[d, classes]``, and the bias ``[classes]``."""

    weights: list[NDArray[np.float64]]
    bias: NDArray[np.float64]

    def logits(self, groups: Sequence[Group]) -> NDArray[np.float64]:
        """``[m, classes]``."""
        total = np.tile(self.bias, (groups[0].shape[0], 1))
        for group, weight in zip(groups, self.weights, strict=True):
            total += group @ weight
        return total


def fit_logistic(
    groups: Sequence[Group],
    y: NDArray[np.float64],
    penalties: Sequence[float],
    several: bool = False,
    start: Coefficients | None = None,
    tolerance: float = 1e-5,
    iterations: int = 200,
) -> Coefficients:
    r"""Minimise the log loss of all rows plus :math:`\sum_g \frac{\lambda_g}{2} \|W_g\|^2`.

    Args:
        groups: Columns of each group.
        y: Zeros and ones, ``[m, classes]``.
        penalties: :math:`\lambda_g` of each group.
        several: Whether a row may have several labels (one sigmoid per class) or has one (softmax).
        start: Coefficients to begin with.
        tolerance: Largest component of the gradient per row at the end.
        iterations: Maximum number of iterations.

    Example:
        >>> x = np.array([[-1.0], [-1.0], [1.0], [1.0]])
        >>> fitted = fit_logistic([x], np.eye(2)[[0, 0, 1, 1]], [1.0])
        >>> fitted.logits([x]).argmax(1)
        array([0, 0, 1, 1])
    """
    rows, classes = y.shape
    bounds = [_Bound(group, penalty) for group, penalty in zip(groups, penalties, strict=True)]
    bias_scale = 1 / np.sqrt(CURVATURE * rows + BIAS_PENALTY)
    cuts = np.cumsum([0, *(group.shape[1] * classes for group in groups), classes])

    def coefficients(u: NDArray[np.float64]) -> Coefficients:
        parts = [u[begin:end].reshape(-1, classes) for begin, end in pairwise(cuts)]
        weights = [bound.to_weights(part) for bound, part in zip(bounds, parts, strict=False)]
        return Coefficients(weights, parts[-1][0] * bias_scale)

    def loss(u: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        now = coefficients(u)
        value, residual = _loss(now.logits(groups), y, several)
        parts = []
        for group, weight, bound, penalty in zip(groups, now.weights, bounds, penalties, strict=True):
            value += penalty / 2 * float(np.sum(weight * weight))
            parts.append(bound.to_gradient(group.T @ residual + penalty * weight).ravel())
        value += BIAS_PENALTY / 2 * float(now.bias @ now.bias)
        parts.append((residual.sum(axis=0) + BIAS_PENALTY * now.bias) * bias_scale)
        return value, np.concatenate(parts)

    first = np.zeros(cuts[-1])
    if start is not None:
        begun = [bound.from_weights(weight).ravel() for bound, weight in zip(bounds, start.weights, strict=True)]
        first = np.concatenate([*begun, start.bias / bias_scale])
    limit = {"maxiter": iterations, "maxcor": 20, "gtol": tolerance * np.sqrt(rows), "ftol": 1e-10}
    found = minimize(loss, first, jac=True, method="L-BFGS-B", options=limit)
    return coefficients(found.x)


class _Bound:
    """Coordinates u = R w of a group's weights with R'R = curvature X'X + penalty, or its diagonal."""

    def __init__(self, group: Group, penalty: float) -> None:
        self.factor: NDArray[np.float64] | None = None
        if issparse(group) or group.shape[1] > WIDEST:
            squares = group.multiply(group).sum(axis=0) if issparse(group) else np.einsum("ij,ij->j", group, group)
            self.diagonal = np.sqrt(CURVATURE * np.asarray(squares).ravel() + penalty)[:, None]
        else:
            self.factor = cholesky(CURVATURE * (group.T @ group) + penalty * np.eye(group.shape[1]))

    def to_weights(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        w: NDArray[np.float64] = u / self.diagonal if self.factor is None else solve_triangular(self.factor, u)
        return w

    def from_weights(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        u: NDArray[np.float64] = w * self.diagonal if self.factor is None else self.factor @ w
        return u

    def to_gradient(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.factor is None:
            return gradient / self.diagonal
        out: NDArray[np.float64] = solve_triangular(self.factor, gradient, trans="T")
        return out


def _loss(logits: NDArray[np.float64], y: NDArray[np.float64], several: bool) -> tuple[float, NDArray[np.float64]]:
    """The summed log loss and its gradient by the logits."""
    if several:
        small = np.exp(-np.abs(logits))  # the sigmoid and its logarithm from one exponential, which never overflows
        value = float(np.sum(np.maximum(logits, 0) - y * logits + np.log(1 + small)))
        return value, np.where(logits >= 0, 1.0, small) / (1 + small) - y
    log_p = log_softmax(logits, axis=1)
    return -float(np.sum(y * log_p)), np.exp(log_p) - y


def log_loss(scores: NDArray[np.float64], y: NDArray[np.float64], several: bool) -> float:
    """The mean log loss of scores, which are logits: of a softmax, or of one sigmoid per class."""
    return _loss(scores, y, several)[0] / max(1, len(y))


def probabilities(logits: NDArray[np.float64], several: bool) -> NDArray[np.float64]:
    """The probability of each class, ``[m, classes]``."""
    out: NDArray[np.float64] = expit(logits) if several else np.exp(log_softmax(logits, axis=1))
    return out


def prior_logits(y: NDArray[np.float64], several: bool) -> NDArray[np.float64]:
    """Logits ``[classes]`` of a model that knows nothing but how frequent classes are."""
    share = (y.sum(axis=0) + 0.5) / (len(y) + (1 if several else y.shape[1] / 2))
    out: NDArray[np.float64] = np.log(share) - np.log1p(-share) if several else np.log(share)
    return out


def pool(
    each: Sequence[NDArray[np.float64]], y: NDArray[np.float64], several: bool
) -> tuple[NDArray[np.float64], float]:
    """Weights of several models' logits, none negative, and a shift, by which their sum has the least log loss.

    On rows that no model was fitted to this says how much each is worth, and calibrates the sum: for one model with one
    label per row it is temperature scaling. The shift is for several labels (Platt's scaling, the same for all classes); it
    changes no softmax.

    Example:
        >>> weights, shift = pool([np.array([[9.0, 0.0], [9.0, 0.0], [9.0, 0.0]])], np.eye(2)[[0, 0, 1]], several=False)
        >>> float(round(9 * weights[0], 2)), shift
        (0.69, 0.0)
    """

    def loss(u: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, residual = _loss(mixed(each, u[:-1], u[-1]), y, several)
        slope = [float(np.sum(residual * logits)) for logits in each]
        return value / len(y), np.array([*slope, float(residual.sum()) if several else 0.0]) / len(y)

    first = np.array([*np.full(len(each), 1 / len(each)), 0.0])
    limits = [(0.0, 5.0)] * len(each) + [(-5.0, 5.0)]
    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=limits)
    return found.x[:-1], float(found.x[-1])


def mixed(each: Sequence[NDArray[np.float64]], weights: Iterable[float], shift: float) -> NDArray[np.float64]:
    """The weighted sum of several models' logits."""
    total = np.full(each[0].shape, shift)
    for logits, weight in zip(each, weights, strict=True):
        total += weight * logits
    return total


def rows_of(group: Group, rows: NDArray[Any]) -> Group:
    """Some rows of a group as doubles."""
    return csr_array(group[rows]) if issparse(group) else np.asarray(group[rows], np.float64)


def column_scale(rows: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each column; one where a column is constant."""
    dense = rows.toarray() if issparse(rows) else rows
    mean, scale = dense.mean(axis=0), dense.std(axis=0)
    return mean, np.where(scale > 1e-9 * np.maximum(1, np.abs(mean)), scale, 1.0)


def block_scale(rows: Any, width: int | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """One scale for the columns of each step, such that rows have length one on average; zero entries stay zero.

    Columns of sparse attributes, such as words, are not standardised: that would make much of those that hardly occur.
    """
    squares = rows.multiply(rows).sum(axis=0) if issparse(rows) else np.einsum("ij,ij->j", rows, rows)
    columns = width or 1
    length = np.sqrt(np.asarray(squares).reshape(-1, columns).sum(axis=1) / max(1, rows.shape[0]))
    return np.zeros(rows.shape[1]), np.repeat(np.where(length > 0, length, 1.0), columns)


def scaled(rows: Any, mean: NDArray[np.float64], scale: NDArray[np.float64]) -> Any:
    """Rows on these scales; sparse ones, whose mean is taken for zero, stay sparse."""
    return csr_array(rows @ diags_array(1 / scale)) if issparse(rows) else (rows - mean) / scale

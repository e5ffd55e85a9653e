"""Fewer columns that keep most of many: truncated singular vectors and principal axes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

EXTRA, ROUNDS, LATER_ROUNDS = 10, 3, 1
"""Extra columns, and rounds of power iteration of the randomised decomposition: from scratch, and when it continues."""

NOTHING = 1e-9
"""A length below which a row or an axis is nothing."""

NEARLY_DEPENDENT = 1e-13
"""A share of the largest squared length below which a direction is left out as rounding."""

ROWS = 1 << 16
"""Rows that are read at a time."""

Matrix = NDArray[np.float32]


class Factors(NamedTuple):
    r"""A truncated singular value decomposition, :math:`M \approx U \Sigma V^T`.

    Attributes:
        left: ``[n, r]``.
        values: Singular values, ``[r]``, the largest first.
        right: ``[m, r]``.
    """

    left: Matrix
    values: Matrix
    right: Matrix


def truncated_svd(matrix: Any, rank: int, seed: int = 0, near: Matrix | None = None) -> Factors:
    """The largest singular values and vectors of a SciPy matrix, by random projection and power iteration.

    Args:
        matrix: ``[n, m]``.
        rank: How many; columns beyond what the matrix has are zero.
        seed: Random seed of the projection.
        near: Right vectors of a matrix that differs little, ``[m, rank]``, to go on from.

    Example:
        >>> from scipy.sparse import diags_array
        >>> truncated_svd(diags_array(np.array([1.0, 5.0, 3.0], np.float32)), 2).values.round(4).tolist()
        [5.0, 3.0]
    """
    n, m = matrix.shape
    width = min(rank + EXTRA, n, m)
    flipped = matrix.T.tocsr()
    first = np.random.default_rng(seed).standard_normal((m, width), np.float32)
    if near is not None:
        first[:, : min(near.shape[1], width)] = unit_rows(near.T).T[:, :width] * np.sqrt(m, dtype=np.float32)
    rows = matrix @ first
    for _ in range(ROUNDS if near is None else LATER_ROUNDS):
        rows = matrix @ (flipped @ _orthogonal(rows))
    basis = _orthogonal(rows, 2)
    inner = (flipped @ basis).astype(np.float64)
    squares, axes = np.linalg.eigh(inner.T @ inner)
    order = np.argsort(-squares, kind="stable")[:rank]
    values = np.sqrt(np.maximum(squares[order], 0.0))
    share = np.divide(1.0, values, out=np.zeros_like(values), where=values > NOTHING * max(1.0, values.max(initial=0)))
    left, right = basis @ axes[:, order].astype(np.float32), (inner @ axes[:, order] * share).astype(np.float32)
    left[:, share == 0] = 0.0
    return Factors(_padded(left, rank), _padded(values[None].astype(np.float32), rank)[0], _padded(right, rank))


def _orthogonal(rows: Matrix, times: int = 1) -> Matrix:
    """A basis of the columns, orthonormal up to rounding, by the eigenvectors of their products: in half the time of a
    QR decomposition. Columns beyond the rank are zero.

    Args:
        rows: The rows.
        times: How often; the second time takes away what rounding left where columns are nearly dependent.
    """
    for _ in range(times):
        squares, axes = np.linalg.eigh(_products(rows))
        kept = squares > NEARLY_DEPENDENT * max(squares.max(initial=0.0), np.finfo(np.float32).tiny)
        share = np.divide(1.0, np.sqrt(np.maximum(squares, 0.0)), out=np.zeros_like(squares), where=kept)
        rows = rows @ (axes * share).astype(np.float32)
    return rows


def _products(rows: Matrix) -> NDArray[np.float64]:
    """Products of all columns with each other."""
    inner = np.zeros((rows.shape[1], rows.shape[1]))
    for begin in range(0, len(rows), ROWS):
        block = rows[begin : begin + ROWS].astype(np.float64)
        inner += block.T @ block
    return inner


def _padded(rows: Matrix, width: int) -> Matrix:
    """Rows with columns of zeros up to a width."""
    out = np.zeros((len(rows), width), np.float32)
    out[:, : rows.shape[1]] = rows
    return out


class Axes(NamedTuple):
    """Principal axes.

    Attributes:
        mean: Mean of the columns, ``[m]``.
        axes: ``[m, r]``.
    """

    mean: Matrix
    axes: Matrix

    def apply(self, rows: Matrix) -> Matrix:
        """Rows ``[n, m]`` along the axes, ``[n, r]``."""
        out = np.empty((len(rows), self.axes.shape[1]), np.float32)
        for begin in range(0, len(rows), ROWS):
            out[begin : begin + ROWS] = (rows[begin : begin + ROWS] - self.mean) @ self.axes
        return out


def principal_axes(rows: Matrix, rank: int, power: float = 0.0) -> Axes:
    """The axes along which rows ``[n, m]`` differ most.

    Args:
        rows: The rows.
        rank: Number of axes; those beyond what there is are zero.
        power: An axis has the length of this power of the deviation along it, the longest 1; 0 for axes of length 1.
    """
    mean = rows.mean(0, dtype=np.float64).astype(np.float32)
    inner = np.zeros((rows.shape[1], rows.shape[1]))
    for begin in range(0, len(rows), ROWS):
        block = rows[begin : begin + ROWS] - mean
        inner += block.T @ block
    squares, axes = np.linalg.eigh(inner)
    order = np.argsort(-squares, kind="stable")[:rank]
    found = axes[:, order]
    largest = squares.max(initial=0.0)
    found[:, squares[order] <= NOTHING * max(1.0, largest)] = 0.0
    if power and largest > 0:
        found *= (np.maximum(squares[order], 0.0) / largest) ** (power / 2)
    return Axes(mean, _padded(found.astype(np.float32), rank))


def unit_rows(rows: Matrix) -> Matrix:
    """Rows of length 1; rows of zeros stay."""
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    out: Matrix = np.divide(rows, length, out=np.zeros_like(rows), where=length > NOTHING)
    return out


def rotation(both: Sequence[tuple[Matrix, Matrix]]) -> Matrix:
    """The orthogonal matrix by which rows come nearest to other rows (Procrustes).

    Args:
        both: Rows, and the rows that they should come near to.
    """
    inner = sum(rows.T.astype(np.float64) @ wanted for rows, wanted in both)
    left, _, right = np.linalg.svd(inner)
    found: Matrix = (left @ right).astype(np.float32)
    return found

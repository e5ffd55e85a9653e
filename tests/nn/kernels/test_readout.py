"""Kernels that fill rows to the end: numba's analysis of parallel code has dropped a slice before."""

import numpy as np
import pytest

from graphreach.nn.kernels import messages as message_kernels
from graphreach.nn.kernels import readout as readout_kernels

COUNT = np.array([3, 2, 1, 4, 2])
POINTER = np.concatenate([[0], np.cumsum(COUNT)])
COLUMN = np.concatenate([np.arange(k) for k in COUNT])
FIRST = np.zeros(5, np.int64)
WIDTH = 6


@pytest.mark.parametrize("column", [None, COLUMN], ids=["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_beyond_a_graphs_own_anchors_are_zero(column, dtype):
    rng = np.random.default_rng(0)
    T, F = rng.random((2, POINTER[-1])).astype(dtype)
    P, Q, w = (rng.random(shape).astype(dtype) for shape in ((5, 3), (4, 3), 3))
    expected = np.zeros((2, 5, WIDTH))
    for v, k in enumerate(COUNT):
        for i in range(k):
            t, f = T[POINTER[v] + i], F[POINTER[v] + i]
            expected[:, v, i] = t * P[v, 0] + f * Q[i, 0], np.maximum(t * P[v] + f * Q[i] + w, 0) @ w
    out = np.full((2, 5, WIDTH), np.nan, dtype)
    arguments = (T, F, POINTER, column, FIRST, None, P[:, 0].copy(), Q[:, 0].copy())
    readout_kernels.project_linear(*arguments, out[0])
    zero, QT = dtype(0), np.zeros((3, 16), dtype)
    QT[:, :4] = Q.T
    message_kernels.project(T, F, POINTER, column, FIRST, COUNT, None, WIDTH, zero, P, QT, w, zero, w, 2, out[1])
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    assert (out[:, np.arange(WIDTH) >= COUNT[:, None]] == 0).all()

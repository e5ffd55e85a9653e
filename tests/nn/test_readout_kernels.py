"""Kernels as compiled against the same code run by Python: numba's analysis of parallel code has dropped a slice before."""

import numpy as np
import pytest

from graphreach.nn import message_kernels, readout_kernels

COUNT = np.array([3, 2, 1, 4, 2])
POINTER = np.concatenate([[0], np.cumsum(COUNT)])
COLUMN = np.concatenate([np.arange(k) for k in COUNT])
FIRST = np.zeros(5, np.int64)
WIDTH = 6


def run_both(kernel, make_arguments, shape):
    """The output of the compiled and the plain kernel, from memory that is not a number."""
    out = [np.full(shape, np.nan, np.float32) for _ in range(2)]
    for function, each in zip((kernel, kernel.py_func), out, strict=True):
        function(*make_arguments, each)
    return out


@pytest.mark.parametrize("column", [None, COLUMN], ids=["dense", "csr"])
def test_columns_beyond_a_graphs_own_anchors_are_zero(column):
    rng = np.random.default_rng(0)
    T, F = rng.random((2, POINTER[-1]), np.float32)
    P, Q, w = (rng.random(shape, np.float32) for shape in ((5, 3), (4, 3), 3))
    linear = run_both(
        readout_kernels.project_linear, (T, F, POINTER, column, FIRST, P[:, 0].copy(), Q[:, 0].copy()), (5, WIDTH)
    )
    zero = np.float32(0)
    arguments = (T, F, POINTER, column, FIRST, COUNT, WIDTH, zero, P, Q, w, zero, w, 2)
    for compiled, plain in (linear, run_both(message_kernels.project, arguments, (5, WIDTH))):
        np.testing.assert_allclose(compiled, plain, rtol=1e-5)
        assert (compiled[np.arange(WIDTH) >= COUNT[:, None]] == 0).all()

"""Vectors inside kernels against NumPy."""

import numpy as np
import pytest
from numba import njit

from graphreach.nn.kernels import simd

TYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def numbers(shape, dtype, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@njit
def _arithmetic(a, b, out):
    one = simd.zeros(a, 2)
    for i in range(0, len(a), 2 * simd.lanes(a)):
        x, y = simd.load(a, i, one), simd.load(b, i, one)
        simd.store(out, (0, i), x * y + x)
        simd.store(out, (1, i), x - y)
        simd.store(out, (2, i), simd.larger(x, y))
        simd.store(out, (3, i), simd.where_above(x, y, one, x))
        simd.store(out, (4, i), simd.absolute(x))
        simd.store(out, (5, i), simd.with_sign(x, y))
        simd.store(out, (6, i), simd.spread(a[3], one))


@TYPES
def test_arithmetic(dtype):
    a, b = numbers((2, 48), dtype)
    out = np.full((7, 48), np.nan, dtype)
    _arithmetic(a, b, out)
    expected = [
        a * b + a,
        a - b,
        np.maximum(a, b),
        np.where(a > b, 0, a),
        abs(a),
        np.copysign(a, b),
        np.full(48, a[3]),
    ]
    np.testing.assert_allclose(out, expected, rtol=4 * np.finfo(dtype).eps, atol=np.finfo(dtype).eps)


@njit
def _reductions(a):
    one = simd.zeros(a, 1)
    return simd.total(simd.load(a, 1, one)), simd.largest(simd.load(a, 1, one)), simd.lanes(a)


@TYPES
def test_reductions_of_entries_at_any_place(dtype):
    a = numbers(40, dtype)
    total, largest, lanes = _reductions(a)
    assert lanes == 32 // a.itemsize
    np.testing.assert_allclose(total, a[1 : 1 + lanes].sum(), rtol=1e-5)
    assert largest == a[1 : 1 + lanes].max()


@njit
def _exp(a, out):
    one = simd.zeros(a, 1)
    for i in range(0, len(a), simd.lanes(a)):
        simd.store(out, i, simd.exp(simd.load(a, i, one)))


@TYPES
def test_exp_to_the_last_bits(dtype):
    info = np.finfo(dtype)
    lowest = -87 if dtype == np.float32 else -708
    x = np.concatenate([np.linspace(lowest * 0.999, 0, 20_000), np.linspace(-1, 0, 4_000)]).astype(dtype)
    out = np.empty_like(x)
    _exp(x, out)
    exact = np.exp(x.astype(np.longdouble))
    assert float(np.max(np.abs(out - exact) / exact)) < 2 * info.eps


@TYPES
def test_exp_of_very_small_numbers_is_zero(dtype):
    x = np.array([-np.inf, -1e30, -1e4, -800.0, 0.0, -0.0, -1e-30, -1e-8], dtype)
    out = np.empty_like(x)
    _exp(x, out)
    assert out[:4].tolist() == [0, 0, 0, 0]
    assert out[4:].tolist() == [1, 1, 1, 1] or dtype == np.float64
    assert out[4:7].tolist() == [1, 1, 1]


@TYPES
def test_not_a_number_stays_what_it_is(dtype):
    x, out = np.full(48, np.nan, dtype), np.empty((7, 48), dtype)
    _exp(x, out[0])
    assert np.isnan(out[0]).all()
    _arithmetic(x, np.zeros(48, dtype), out)
    assert np.isnan(out[2]).all()

"""Fewer columns: against NumPy's decompositions."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from graphreach.vectors.reduce import _orthogonal, principal_axes, rotation, truncated_svd, unit_rows


def random_matrix(seed, rows, columns, share=0.3):
    rng = np.random.default_rng(seed)
    return csr_array((rng.random((rows, columns)) * (rng.random((rows, columns)) < share)).astype(np.float32))


@given(st.integers(0, 100), st.integers(1, 12), st.integers(1, 12), st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_truncated_svd_is_the_best_approximation(seed, rows, columns, rank):
    matrix = random_matrix(seed, rows, columns)
    left, values, right = truncated_svd(matrix, rank)
    assert left.shape == (rows, rank)
    assert right.shape == (columns, rank)
    expected = np.zeros(rank)
    every = np.linalg.svd(matrix.toarray(), compute_uv=False)
    expected[: min(rank, len(every))] = every[:rank]
    np.testing.assert_allclose(values, expected, atol=1e-3)
    found = np.linalg.norm(matrix.toarray() - left * values @ right.T)
    np.testing.assert_allclose(found, np.sqrt((every[rank:] ** 2).sum()), atol=2e-3)


def test_truncated_svd_of_a_larger_matrix_and_of_nothing():
    blocks = np.kron(np.diag([9.0, 7.0, 5.0, 4.0, 3.0]), np.ones((60, 40)))
    matrix = csr_array(blocks.astype(np.float32) + random_matrix(1, 300, 200, 0.05).toarray())
    np.testing.assert_allclose(
        truncated_svd(matrix, 5).values, np.linalg.svd(matrix.toarray(), compute_uv=False)[:5], rtol=2e-3
    )
    left, values, right = truncated_svd(csr_array((4, 3), dtype=np.float32), 2)
    assert not left.any() and not values.any() and not right.any()  # noqa: PT018


def test_a_basis_spans_the_columns_and_has_zeros_beyond_their_rank():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((300, 20)) * np.logspace(0, -4, 20) @ rng.standard_normal((20, 20))
    basis = _orthogonal(rows.astype(np.float32), 2)
    np.testing.assert_allclose(basis.T @ basis, np.eye(20), atol=1e-5)
    np.testing.assert_allclose(basis @ (basis.T @ rows), rows, atol=1e-4)
    flat = np.outer(np.arange(1, 6), [1, 2, 3]).astype(np.float32)
    assert np.isclose(np.linalg.norm(_orthogonal(flat, 2), axis=0), [0, 0, 1]).all()


def test_principal_axes_are_those_of_the_covariance():
    rows = np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32) * np.arange(1, 7, dtype=np.float32)
    found = principal_axes(rows, 4)
    centred = rows - rows.mean(0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    expected = left * values
    np.testing.assert_allclose(np.abs(found.apply(rows)), np.abs(expected[:, :4]), atol=1e-3)


def test_axes_as_long_as_a_power_of_the_deviation():
    rows = np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32) * np.arange(1, 7, dtype=np.float32)
    plain, longer = principal_axes(rows, 4), principal_axes(rows, 4, power=0.5)
    deviation = plain.apply(rows).std(axis=0)
    np.testing.assert_allclose(longer.axes, plain.axes * np.sqrt(deviation / deviation[0]), rtol=1e-4)
    assert not principal_axes(np.ones((5, 3), np.float32), 2, power=0.5).axes.any()


def test_axes_beyond_the_rank_are_zero():
    rows = np.outer(np.arange(5), [1, 2, 3]).astype(np.float32)
    placed = principal_axes(rows, 5).apply(rows)
    assert placed.shape == (5, 5)
    assert placed[:, 0].any()
    assert not placed[:, 1:].any()


def test_rotation_finds_the_turn():
    rng = np.random.default_rng(2)
    rows, turn = rng.standard_normal((20, 4)), np.linalg.qr(rng.standard_normal((4, 4)))[0]
    np.testing.assert_allclose(rotation([(rows, rows @ turn)]), turn, atol=1e-6)


def test_rows_of_length_one_and_rows_of_zeros():
    found = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]], np.float32))
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.0, 0.0]])


def test_singular_vectors_found_from_near_ones_are_the_same():
    rng = np.random.default_rng(1)
    dense = (rng.random((60, 8)) @ rng.random((8, 50)) + 0.01 * rng.random((60, 50))).astype(np.float32)
    before = truncated_svd(csr_array(dense), 5)
    changed = csr_array(dense + 0.001 * rng.random((60, 50)).astype(np.float32))
    found, anew = truncated_svd(changed, 5, near=before.right), truncated_svd(changed, 5)
    np.testing.assert_allclose(found.values, anew.values, rtol=1e-3)
    rebuilt, expected = (each.left * each.values @ each.right.T for each in (found, anew))
    np.testing.assert_allclose(rebuilt, expected, atol=5e-3)

"""Sparse products, their gradients and what is left out of them."""

import numpy as np
import scipy.sparse
import torch

from graphreach.nn.sparse_rows import SparseRows, drop, random_mask


def matrix(seed=0):
    return scipy.sparse.random_array((12, 9), density=0.4, rng=np.random.default_rng(seed), dtype=np.float32).tocsr()


def test_products_and_gradients_are_those_of_the_dense_matrix():
    sparse, h = matrix(), torch.randn(9, 4, requires_grad=True)
    dense, g = torch.from_numpy(sparse.toarray()), torch.randn(12, 4)
    out = SparseRows(sparse).times(h)
    out.backward(g)
    torch.testing.assert_close(out, dense @ h)
    torch.testing.assert_close(h.grad, dense.T @ g)


def test_what_is_left_out_forwards_is_left_out_backwards():
    sparse, h = matrix(), torch.eye(9, requires_grad=True)
    out = SparseRows(sparse).times(h, 0.5, torch.Generator().manual_seed(0))
    out.backward(g := torch.randn(12, 9))
    kept = out.detach()
    torch.testing.assert_close(h.grad, kept.T @ g)
    before = torch.from_numpy(sparse.toarray())
    assert 0 < int((kept != 0).sum()) < int((before != 0).sum())
    torch.testing.assert_close(kept[kept != 0], 2 * before[kept != 0])


def test_shares_are_kept_and_seeds_repeat():
    masks = [random_mask(100_001, 0.7, torch.Generator().manual_seed(3)) for _ in range(2)]
    assert torch.equal(*masks)
    assert abs(float(masks[0].float().mean()) - 0.3) < 0.01
    h = torch.ones(1000, 100)
    assert drop(h, 0.5, None) is h
    assert abs(float(drop(h, 0.5, torch.Generator()).mean()) - 1) < 0.02

"""Dropout."""

import numpy as np
import pytest
import torch

from graphreach.nn.dropout import dropout, numbered_rows
from graphreach.nn.kernels.dropout import drop
from graphreach.walks.rng import GOLDEN, mix


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_drops_the_share_asked_for_and_keeps_the_mean(p):
    torch.manual_seed(0)
    x = dropout(torch.ones(200, 1000), p, training=True)
    dropped = (x == 0).double()
    assert dropped.mean().item() == pytest.approx(p, abs=5 * (p * (1 - p) / 200_000) ** 0.5)
    assert torch.allclose(x[x != 0], torch.tensor(1 / (1 - p), dtype=torch.float32))
    for by in (0, 1):  # no row or column is favoured: the shares' spread is that of independent draws
        count = dropped.size(by)
        assert dropped.mean(by).var().item() == pytest.approx(p * (1 - p) / count, rel=0.4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_literal(dtype):
    values = torch.randn(3000, dtype=dtype)
    out = np.empty(3000, values.numpy().dtype)
    drop(values.numpy(), 7, 0.3, 3, out)
    mask = 2**64 - 1
    for e in range(0, 3000, 37):
        bits = int(mix(np.uint64((int(mix(np.uint64(7))) + e * int(GOLDEN)) & mask))) >> 32
        expected = 0.0 if bits < round(0.3 * 2**32) else values[e].item() / 0.7
        assert out[e] == pytest.approx(expected, rel=1e-6)


def test_gradient_passes_where_values_do():
    x = torch.randn(40, 50, requires_grad=True)
    y = dropout(x, 0.25, training=True)
    y.backward(torch.ones_like(y))
    assert torch.allclose(x.grad * x.detach(), y.detach())
    assert 0 < (x.grad == 0).sum() < x.numel()


def test_repeats_with_the_seed_and_differs_without():
    x = torch.ones(5000)
    torch.manual_seed(3)
    first, second = dropout(x, 0.5, True), dropout(x, 0.5, True)
    torch.manual_seed(3)
    assert torch.equal(dropout(x, 0.5, True), first)
    assert not torch.equal(first, second)


def test_does_not_depend_on_threads():
    import numba

    x, results = torch.randn(123, 457), []
    for threads in {1, numba.config.NUMBA_NUM_THREADS}:
        numba.set_num_threads(threads)
        torch.manual_seed(1)
        results.append(dropout(x, 0.5, True))
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    assert all(torch.equal(each, results[0]) for each in results)


def test_nothing_happens_outside_training_or_at_zero_and_all_goes_at_one():
    x = torch.randn(10)
    assert dropout(x, 0.5, training=False) is x
    assert dropout(x, 0.0, training=True) is x
    assert dropout(x, 1.0, training=True).abs().sum() == 0


def test_other_types_are_left_to_pytorch():
    x = dropout(torch.ones(1000, dtype=torch.bfloat16), 0.5, training=True)
    assert x.dtype == torch.bfloat16
    assert set(x.tolist()) == {0.0, 2.0}


def test_empty_and_strided():
    assert dropout(torch.empty(0, 4), 0.5, True).shape == (0, 4)
    x = torch.randn(30, 20).t()
    y = dropout(x, 0.5, True)
    assert y.shape == x.shape
    assert torch.allclose(y[y != 0], 2 * x[y != 0])


@pytest.mark.parametrize("width", [1, 33])
def test_numbered_rows_drop_what_the_whole_matrix_would_and_so_do_their_gradients(width):
    whole = torch.randn(300, width, requires_grad=True)
    rows = torch.tensor([299, 0, 17, 17, 120])
    torch.manual_seed(2)
    expected = dropout(whole, 0.5, True)
    expected[rows].sum().backward()
    some = whole.detach()[rows].requires_grad_()
    torch.manual_seed(2)
    with numbered_rows(rows):
        found = dropout(some, 0.5, True)
    assert torch.equal(found, expected[rows])
    found.sum().backward()
    assert torch.equal(some.grad != 0, expected.detach()[rows] != 0)
    torch.manual_seed(2)
    assert torch.equal(dropout(whole, 0.5, True), expected)

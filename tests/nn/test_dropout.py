"""Dropout."""

import pytest
import torch

from graphreach.nn.node_model import dropout, numbered_rows


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


def test_nothing_happens_outside_training_or_at_zero_and_all_goes_at_one():
    x = torch.randn(10)
    assert torch.equal(dropout(x, 0.5, training=False), x)
    assert torch.equal(dropout(x, 0.0, training=True), x)
    assert dropout(x, 1.0, training=True).abs().sum() == 0


@pytest.mark.parametrize("width", [1, 33])
def test_numbered_rows_drop_what_the_whole_matrix_would_and_so_do_their_gradients(width):
    whole = torch.randn(300, width, requires_grad=True)
    rows = torch.tensor([299, 0, 17, 17, 120])
    torch.manual_seed(2)
    expected = dropout(whole, 0.5, True)
    expected[rows].sum().backward()
    some = whole.detach()[rows].requires_grad_()
    torch.manual_seed(2)
    with numbered_rows(rows, 300):
        found = dropout(some, 0.5, True)
    assert torch.equal(found, expected[rows])
    found.sum().backward()
    assert torch.equal(some.grad != 0, expected.detach()[rows] != 0)
    torch.manual_seed(2)
    assert torch.equal(dropout(whole, 0.5, True), expected)

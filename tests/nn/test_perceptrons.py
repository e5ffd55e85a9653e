"""Perceptrons trained side by side: the written-out gradient, dropout, threads."""

import itertools
import threading

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from torch.nn import functional

from graphreach.nn import perceptrons
from graphreach.nn.pair_head import PairHead, calibrate, fit_pair_head
from graphreach.nn.perceptrons import Perceptron, train_perceptrons

SIZES = (5, 7, 6, 1)


def layers(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [
        (torch.randn(inner, outer, generator=generator), torch.randn(1, outer, generator=generator))
        for inner, outer in itertools.pairwise(SIZES)
    ]


def examples(rows=40, seed=1):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, SIZES[0], generator=generator)
    return x, (x[:, 0] * x[:, 1] + x[:, 2] > 0).float()


def literal_gradients(own, x, y, kept, scale):
    """Gradients by autograd of the same perceptron written as PyTorch writes it."""
    own = [tuple(each.clone().requires_grad_() for each in layer) for layer in own]
    out = x
    for number, (weight, bias) in enumerate(own):
        out = out @ weight + bias
        if number < len(own) - 1:
            out = torch.relu(out)
            out = out * kept[number] * scale if kept else out
    functional.binary_cross_entropy_with_logits(out[:, 0], y).backward()
    return [each.grad for layer in own for each in layer]


@pytest.mark.parametrize("dropout", [0.0, 0.2, 0.5])
def test_the_gradient_is_that_of_autograd(dropout):
    x, y = examples()
    rows = torch.tensor([3, 1, 4, 15, 9, 26, 5, 35])
    own = Perceptron(layers(), len(rows), dropout, torch.Generator().manual_seed(2))
    own.find_gradient(x, y, rows)
    wanted = literal_gradients(layers(), x[rows], y[rows], own.kept, 256 / (256 - round(256 * dropout)))
    assert bool(own.kept) == (dropout > 0)
    for found, expected in zip([each for layer in own.gradients() for each in layer], wanted, strict=True):
        torch.testing.assert_close(found, expected)
    assert all(each.abs().sum() > 0 for each in wanted)


def test_dropout_keeps_the_share_it_should_and_draws_anew():
    x, y = examples(4096)
    own = Perceptron(layers(), 4096, 0.2, torch.Generator().manual_seed(0))
    own.find_gradient(x, y, torch.arange(4096))
    first = [each.clone() for each in own.kept]
    own.find_gradient(x, y, torch.arange(4096))
    for each, again in zip(first, own.kept, strict=True):
        assert each.float().mean().item() == pytest.approx(0.8, abs=0.01)
        assert each.float().mean(0).min() > 0.77  # every unit of them
        assert (each == again).float().mean().item() == pytest.approx(0.8**2 + 0.2**2, abs=0.02)


def test_steps_are_those_of_adamw():
    x, y = examples()
    own = Perceptron(layers(), len(y), 0.0, torch.Generator())
    wanted = own.parameters.clone().requires_grad_()
    optimiser = torch.optim.AdamW([wanted], lr=perceptrons.RATE, weight_decay=perceptrons.DECAY)
    for step in range(20):
        own.find_gradient(x, y, torch.arange(len(y)))
        wanted.grad = own.gradient.clone()
        optimiser.param_groups[0]["lr"] = rate = perceptrons.RATE / (1 + step)
        optimiser.step()
        own.step(rate)
    torch.testing.assert_close(own.parameters, wanted.detach())


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_calibration_is_where_the_likelihood_is_highest(scale):
    """Against a minimiser of SciPy's, also where the logits are much too large."""
    generator = torch.Generator().manual_seed(0)
    y = (torch.rand(500, generator=generator) < 0.3).float()
    logits = scale * (torch.randn(500, generator=generator) + y)
    head = PairHead(2)
    calibrate(head, logits, y)
    truth, values = y.double().numpy(), logits.double().numpy()
    weight = np.where(truth == 1, 0.5 / truth.sum(), 0.5 / (1 - truth).sum())

    def loss(at):
        margins = np.where(truth == 1, -1, 1) * (at[0] * values + at[1])
        return weight @ np.logaddexp(0, margins) + 1e-4 * ((at[0] - 1) ** 2 + at[1] ** 2)

    wanted = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-12, "maxiter": 5000})
    np.testing.assert_allclose(head.calibration.numpy(), np.maximum(wanted.x, [0.05, -np.inf]), rtol=1e-3, atol=1e-4)


def trained(members=3, seed=0, own=None):
    x, y = examples(600)
    weights = [torch.stack([layers(m)[number][0] for m in range(members)]) for number in range(3)]
    biases = [torch.stack([layers(m)[number][1] for m in range(members)]) for number in range(3)]
    train_perceptrons(weights, biases, x, y, own or [torch.arange(600)] * members, 0.2, seed)
    return weights + biases


@pytest.mark.parametrize("cpus", [1, 2, 5])
def test_the_number_of_threads_changes_no_bit(monkeypatch, cpus):
    wanted = trained()
    monkeypatch.setattr(perceptrons, "available_cpus", lambda: cpus)
    assert all(torch.equal(*both) for both in zip(trained(), wanted, strict=True))


def test_a_member_sees_its_own_rows_only():
    """Rows that no member is trained on change nothing; the seed does."""
    x, y = examples(600)
    rows = [torch.arange(500), torch.arange(500)]
    weights = [[torch.stack([layer[0]] * 2) for layer in layers()] for _ in range(2)]
    biases = [[torch.stack([layer[1]] * 2) for layer in layers()] for _ in range(2)]
    other = x.clone()
    other[500:] = 1e6
    for number, each in enumerate((x, other)):
        train_perceptrons(weights[number], biases[number], each, y, rows, seed=3)
    assert all(torch.equal(*both) for both in zip(weights[0], weights[1], strict=True))
    assert not torch.equal(weights[0][0][0], weights[0][0][1])  # each has an order of its own
    assert not torch.equal(trained(seed=1)[0], trained(seed=2)[0])


def test_what_a_member_raises_reaches_the_caller_and_ends_the_others():
    before = threading.active_count()
    with pytest.raises(IndexError):
        trained(own=[torch.arange(600), torch.arange(600) + 300, torch.arange(600)])
    assert threading.active_count() == before


def test_a_head_learns_what_no_linear_model_can():
    x, y = examples(4000)
    y = (x[:, 0] * x[:, 1] > 0).float()
    head, unseen, rows = fit_pair_head(x, y, seed=1)
    right = ((unseen > 0) == (y[rows] == 1)).float().mean()
    assert right > 0.9
    assert not head.training

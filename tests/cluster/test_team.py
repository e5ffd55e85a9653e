"""Shares of a step add up to the step, whoever takes them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.testing import assert_close

import graphreach as gr
from graphreach import datasets, training
from graphreach.cluster.team import ProcessTeam
from graphreach.training import Settings, inputs
from graphreach.training.inputs import Part, steps
from graphreach.training.trainer import Team

SETTINGS = {"epochs": 1, "num_anchors": 8}


@pytest.fixture(scope="module")
def data():
    return datasets.load("communities")


def made(data, monkeypatch, **settings):
    """Model and batches as the harness makes them."""
    found = {}
    monkeypatch.setattr(training.Trainer, "run", lambda self: found.update(trainer=self) or self.progress)
    monkeypatch.setattr(training.harness, "evaluate", lambda *args: ({}, [None] * len(data.samples)))
    with pytest.raises(IndexError):  # there are no losses
        training.run(data, Settings(**SETTINGS, **settings))
    return found["trainer"].model, found["trainer"].batches


def gradients(model, team, batch, part):
    model.zero_grad()
    model.train()
    torch.manual_seed(11)  # of dropout
    loss = team.loss(model, batch.inputs, part)
    loss.backward()
    return loss.detach(), [None if each.grad is None else each.grad.clone() for each in model.parameters()]


def check_shares_add_up(model, batch, part, workers):
    loss, expected = gradients(model, Team(), batch, part)
    shares = [gradients(model, ProcessTeam(rank, workers), batch, part) for rank in range(workers)]
    assert_close(sum(each for each, _ in shares), loss, rtol=1e-5, atol=1e-6)
    for whole, *own in zip(expected, *(each for _, each in shares), strict=True):
        assert all((each is None) == (whole is None) for each in own)
        if whole is not None:
            assert_close(sum(own), whole, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
@pytest.mark.parametrize("kind", ["link", "pair", "node", "dropout", "gcn", "pgnn-f"])
def test_gradients_of_the_shares_add_up(data, monkeypatch, kind, workers):
    settings = {
        "link": {}, "pair": {"task": "pair"}, "node": {"task": "node"}, "dropout": {"preset": "authors"},
        "gcn": {"method": "gcn", "dropout": 0.5}, "pgnn-f": {"method": "pgnn-f", "dropout": 0.5},
    }[kind]  # fmt: skip
    model, (batch,) = made(data, monkeypatch, **settings)
    check_shares_add_up(model, batch, batch.train, workers)


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize("kind", ["link", "node", "dropout", "identity"])
def test_gradients_of_the_shares_of_a_mini_batch_add_up(data, monkeypatch, kind, workers):
    monkeypatch.setattr(inputs, "WHOLE_GRAPH_NODES", 10)
    settings = {
        "link": {}, "node": {"task": "node"}, "dropout": {"preset": "authors"}, "identity": {"identity": True},
    }[kind]  # fmt: skip
    model, (batch,) = made(data, monkeypatch, **settings)
    assert batch.inputs.in_pieces
    part = next(steps(batch.train, 64, seed=1))
    check_shares_add_up(model, batch, part, workers)


def test_graphs_of_a_batch_weigh_as_much_when_they_are_shared(monkeypatch):
    rng = np.random.default_rng(0)
    samples = []
    for n in (30, 50):
        source = rng.integers(0, n, 4 * n)
        graph = gr.Graph.from_edges(np.stack([source, (source + rng.integers(1, 6, 4 * n)) % n]), num_nodes=n)
        samples.append(datasets.Sample(graph, None, None))
    model, (batch,) = made(datasets.Dataset("two", tuple(samples)), monkeypatch)
    assert batch.train.weight is not None
    check_shares_add_up(model, batch, batch.train, 3)


def test_a_step_of_fewer_examples_than_processes(data, monkeypatch):
    model, (batch,) = made(data, monkeypatch)
    check_shares_add_up(model, batch, batch.train.take(torch.tensor([4, 9])), 5)


def test_every_example_is_one_process_share():
    part = Part(torch.arange(14).view(2, 7), torch.ones(7), None, torch.arange(7.0))
    shares = [ProcessTeam(rank, 3).share(part) for rank in range(3)]
    assert torch.equal(torch.cat([own.index for own, _ in shares], 1), part.index)
    assert torch.equal(torch.cat([own.reach for own, _ in shares]), part.reach)
    assert torch.equal(torch.cat([place for _, place in shares]), torch.arange(7))
    assert sum(own.weight.sum() for own, _ in shares) == pytest.approx(1)
    unlike = replace(part, weight=torch.tensor([0.5, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05]))
    assert torch.equal(torch.cat([ProcessTeam(rank, 3).share(unlike)[0].weight for rank in range(3)]), unlike.weight)

"""Several graphs side by side give what each gives alone."""

import dataclasses

import pytest
import torch

import graphreach as gr
from graphreach.errors import InputError
from helpers import random_graph
from nn_literal import assert_near, force_plain, gradients

SIZES, COUNTS = (7, 20, 12), (3, 5, 1)

MODELS = [
    {},
    {"aggregation": "mean"},
    {"message_activation": "relu", "bias": True, "similarity_map": "learned"},
    {"aggregation": "mean", "message_activation": "relu"},
    {"similarity": False, "bias": True},
]
models = pytest.mark.parametrize("arguments", MODELS)


def reach_of(n, k, layout, hops=None):
    graph = random_graph(n, 2 * n, seed=n)
    options = {"method": "exact", "walk_length": hops or 2, "hops": hops, "layout": layout}
    return gr.reachability(graph, list(range(0, k)), **options).to_torch().to(torch.float64)


def sourced(n, k):
    generator = torch.Generator().manual_seed(n)
    T, F = torch.rand(2, n, k, generator=generator, dtype=torch.float64)
    return gr.nn.Positions.dense(T, F, torch.arange(n), source=torch.randint(n, (n, k), generator=generator))


KINDS = {
    "dense": lambda n, k: reach_of(n, k, "dense"),
    "csr": lambda n, k: reach_of(n, k, "csr"),
    "both": lambda n, k: reach_of(n, k, "csr" if n == 12 else "dense"),
    "source": sourced,
    "source-and-dense": lambda n, k: sourced(n, k) if n == 12 else reach_of(n, k, "dense"),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def check(model, alone):
    whole = gr.nn.Positions.batch(alone)
    xs = [torch.randn(each.num_nodes, 3, dtype=torch.float64, requires_grad=True) for each in alone]
    z = model(torch.cat(xs), whole)
    assert z.shape == (sum(SIZES), max(COUNTS))
    expected = [model(x, each) for x, each in zip(xs, alone, strict=True)]
    padded = torch.cat([torch.nn.functional.pad(each, (0, max(COUNTS) - each.size(1))) for each in expected])
    assert_near(z, padded, 1e-12)
    inputs = [*xs, *model.parameters()]
    for one, other in zip(gradients(z, inputs), gradients(padded, inputs), strict=True):
        assert_near(one, other, 1e-10)


@pytest.mark.parametrize("plain", [False, True], ids=["fused", "plain"])
@kinds
@models
def test_batch_equals_graphs_one_by_one(kind, arguments, plain, monkeypatch):
    if plain:
        force_plain(monkeypatch)
    alone = [KINDS[kind](n, k) for n, k in zip(SIZES, COUNTS, strict=True)]
    check(gr.nn.GraphReach(3, 8, output_activation="tanh", **arguments).double(), alone)


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_hops(layout):
    alone = [reach_of(n, k, layout, hops=2) for n, k in zip(SIZES, COUNTS, strict=True)]
    check(gr.nn.GraphReach(3, 8, similarity_map="learned", hops=2, output_activation="tanh").double(), alone)


@kinds
def test_batch_of_batches(kind):
    alone = [KINDS[kind](n, k) for n, k in zip(SIZES, COUNTS, strict=True)]
    flat, nested = gr.nn.Positions.batch(alone), gr.nn.Positions.batch([gr.nn.Positions.batch(alone[:2]), alone[2]])
    assert type(flat) is type(nested)
    for each in dataclasses.fields(flat):
        one, other = getattr(flat, each.name), getattr(nested, each.name)
        assert one == other if each.name == "width" else torch.equal(one, other)


def test_one_graph_stays_as_it_is():
    alone = reach_of(7, 3, "dense")
    batch = gr.nn.Positions.batch([alone])
    assert batch.rectangular
    assert torch.equal(batch.to_values, alone.to_values)


def test_errors():
    with pytest.raises(InputError, match="at least one graph, got none"):
        gr.nn.Positions.batch([])
    with pytest.raises(InputError, match="same hops, got 2 and None"):
        gr.nn.Positions.batch([reach_of(7, 3, "dense"), reach_of(7, 3, "dense", hops=2)])
    with pytest.raises(InputError, match="must all be dense where one has a source"):
        gr.nn.Positions.batch([reach_of(7, 3, "csr"), sourced(7, 3)])

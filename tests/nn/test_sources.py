"""Positions whose anchors differ by node: the closest member of a set of anchors, as in P-GNN."""

import pytest
import torch

import graphreach as gr
from graphreach.errors import InputError
from graphreach.nn import functional
from nn_literal import (
    SWITCHES,
    assert_near,
    assert_same_function,
    features,
    force_plain,
    gradients,
    in_single,
    literal_attention,
    literal_map,
    random_weights,
    switch_name,
)

N, K = 9, 4
HERE = [switches for switches in SWITCHES if "hops" not in switches]
with_switches = pytest.mark.parametrize("switches", HERE, ids=switch_name)
with_paths = pytest.mark.parametrize("plain", [False, True], ids=["fused", "plain"])


def case(dtype=torch.float64, n=N, k=K, seed=0, index=torch.int64):
    """Random similarities and, for each node and set, which node it is about; some repeat within a row."""
    generator = torch.Generator().manual_seed(seed)
    T, F = torch.rand(2, n, k, generator=generator, dtype=torch.float64)
    source = torch.randint(n, (n, k), generator=generator)
    source[0] = source[0, 0]
    positions = gr.nn.Positions.dense(T, F, torch.arange(n), source=source.to(index)).to(dtype)
    return positions, T, F, source


def literal_messages(layer, x, T, F, source):
    """Eqs. 4-5 with the anchor of each node's own entry."""
    if not layer.similarity:
        T, F = torch.ones_like(T), torch.ones_like(F)
    elif layer.similarity_map is not None:
        T, F = literal_map(layer.similarity_map, T), literal_map(layer.similarity_map, F)
    rows = [
        torch.stack([torch.cat([T[v, i] * x[v], F[v, i] * x[source[v, i]]]) for i in range(T.size(1))])
        for v in range(len(x))
    ]
    messages = torch.stack(rows) @ layer.weight
    messages = messages if layer.bias is None else messages + layer.bias
    return messages.relu() if layer.message_activation == "relu" else messages


def literal(layer, x, T, F, source):
    messages = literal_messages(layer, x, T, F, source)
    if isinstance(layer, gr.nn.ReachReadout):
        z = messages @ layer.weight_z
        return z if layer.bias_z is None else z + layer.bias_z
    if layer.aggregation == "mean":
        return messages.mean(1)
    return literal_attention(x @ layer.weight_self, messages, layer.weight_att[0], layer.att[0], 0.2)


LAYERS = {
    "mean": lambda **switches: gr.nn.ReachConv(3, 6, "mean", **switches),
    "attention": lambda **switches: gr.nn.ReachConv(3, 6, **switches),
    "readout": lambda **switches: gr.nn.ReachReadout(3, 6, **switches),
}
with_layers = pytest.mark.parametrize("name", LAYERS)


@with_paths
@with_switches
@with_layers
def test_layers_equal_the_equations(name, switches, plain, monkeypatch):
    if plain:
        force_plain(monkeypatch)
    layer = random_weights(LAYERS[name](**switches))
    x, (positions, T, F, source) = features(3, N), case()
    inputs = [x, *layer.parameters()]
    expected = literal(layer, x, T, F, source)
    assert_same_function(layer(x, positions), inputs, expected, inputs, 1e-10)

    single, x32 = in_single(layer), x.detach().float().requires_grad_()
    out = single(x32, case(torch.float32, index=torch.int32)[0])
    expected = literal(layer, x, T, F, source)
    assert_same_function(out, [x32, *single.parameters()], expected, inputs, 1e-5)


@with_layers
@pytest.mark.parametrize("switches", [{}, {"bias": True, "message_activation": "relu", "similarity_map": "learned"}])
def test_gradcheck(name, switches):
    layer = random_weights(LAYERS[name](**switches), seed=3)
    positions = case(n=5, k=3)[0]
    names, weights = zip(*layer.named_parameters(), strict=True)

    def function(x, *weights):
        return torch.func.functional_call(layer, dict(zip(names, weights, strict=True)), (x, positions))

    inputs = [features(3, 5), *(weight.detach().clone().requires_grad_() for weight in weights)]
    assert torch.autograd.gradcheck(function, inputs)


@with_layers
@with_switches
def test_sources_that_are_the_anchors_change_nothing(name, switches):
    layer = random_weights(LAYERS[name](**switches))
    _, T, F, _ = case()
    anchors = torch.tensor([5, 0, 8, 3])
    usual = gr.nn.Positions.dense(T, F, anchors)
    sourced = gr.nn.Positions.dense(T, F, torch.arange(N), source=anchors.expand(N, K))
    assert usual.rectangular
    assert not sourced.rectangular
    x = features(3, N)
    assert_same_function(layer(x, sourced), [x, *layer.parameters()], layer(x, usual), [x, *layer.parameters()], 1e-12)


@with_layers
def test_plain_path_goes_by_blocks(name, monkeypatch):
    layer = random_weights(LAYERS[name](message_activation="relu"))
    force_plain(monkeypatch)
    positions, x = gr.nn.Positions.batch([case(k=2)[0], case()[0]]), features(3, 2 * N)
    whole = layer(x, positions)
    monkeypatch.setattr(functional, "PLAIN_BLOCK", 4 * K * 6)
    assert_same_function(layer(x, positions), [x], whole, [x], 1e-12)


def test_hops():
    generator = torch.Generator().manual_seed(0)
    T, F = torch.rand(2, N, K, 3, generator=generator, dtype=torch.float64)
    source = torch.randint(N, (N, K), generator=generator)
    layer = random_weights(gr.nn.ReachConv(3, 6, similarity_map="learned", hops=3, message_activation="relu"))
    x = features(3, N)
    positions = gr.nn.Positions.dense(T, F, torch.arange(N), source=source)
    assert positions.hops == 3
    assert_near(layer(x, positions), literal(layer, x, T, F, source), 1e-10)


def test_model_trains_end_to_end():
    model = gr.nn.GraphReach(3, 8, aggregation="mean", message_activation="relu").double()
    positions, x = case()[0], features(3, N)
    z = model(x, positions)
    assert z.shape == (N, K)
    assert all(gradient.ne(0).any() for gradient in gradients(z, list(model.parameters())))


def test_to_keeps_the_source():
    positions = case()[0]
    assert torch.equal(positions.to(torch.float32).source, positions.source)
    assert torch.equal(positions.to("cpu").source, positions.source)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (torch.zeros(N, K + 1).long(), r"source must have the shape of to_anchors \[9, 4\], got \[9, 5\]"),
        (torch.full((N, K), N), "source must hold rows of anchor_index, 0 to 8, got 9 to 9"),
        (torch.full((N, K), -1), "source must hold rows of anchor_index, 0 to 8, got -1 to -1"),
    ],
)
def test_errors_of_source(source, message):
    with pytest.raises(InputError, match=message):
        gr.nn.Positions.dense(torch.ones(N, K), torch.ones(N, K), torch.arange(N), source=source)


def test_rows_are_not_taken_where_anchors_differ_by_node():
    with pytest.raises(InputError, match="rows must be taken from positions whose anchors are the same for all nodes"):
        case()[0].rows(torch.tensor([0]))

"""The head that reads attributes: what it computes, what its messages leave out, and that it repeats."""

import numpy as np
import pytest
import torch

import graphreach as gr
from graphreach.errors import InputError
from graphreach.nn import AttributedPairHead, attributed_training
from graphreach.nn.attributed_training import (
    READINGS,
    Examples,
    _calibrated_loss,
    _Trainer,
    balanced_loss,
    fit_attributed_pair_head,
    message_matrix,
    sum_of_losses,
)
from graphreach.nn.sparse_rows import SparseRows
from graphreach.pairs import AttributeScaling, check_attributes
from graphreach.training.link_folds import folds
from helpers import random_graph


def example(seed=0):
    """Links and other pairs of a graph, dealt into folds, with attributes."""
    graph = random_graph(40, 90, seed=seed)
    rng = np.random.default_rng(seed)
    edges = graph.edge_index
    links = edges[:, edges[0] < edges[1]]
    linked = {tuple(pair) for pair in edges.T.tolist()}
    others = [(u, v) for u in range(40) for v in range(u) if (u, v) not in linked]
    chosen = np.array(others)[rng.permutation(len(others))[: links.shape[1]]].T
    pairs = np.concatenate([links, chosen], axis=1)
    y = np.repeat([1, 0], [links.shape[1], chosen.shape[1]])
    found = folds(graph, pairs, y)
    part = np.empty(len(y), np.int64)
    for number, fold in enumerate(found):
        part[fold.rows] = number
    features = rng.normal(size=(len(y), 5)).astype(np.float32)
    x = check_attributes(rng.random((40, 12)) < 0.3, 40)
    return Examples(features, pairs, y, part, [fold.graph for fold in found], [x] * len(found))


def fitted(**arguments):
    examples = example()
    scaling = AttributeScaling.of(examples.x[0])
    examples = examples._replace(x=[scaling.apply(examples.x[0])] * len(examples.x))
    return fit_attributed_pair_head(examples, scaling, 3, gnn_channels=8, num_members=2, **arguments)


def test_rows_are_those_of_the_layers_of_pyg():
    conv = pytest.importorskip("torch_geometric.nn").GCNConv
    graph = random_graph(20, 40, seed=1)
    x = check_attributes(np.random.default_rng(0).random((20, 6)) < 0.4, 20)
    member = AttributedPairHead(3, 6, gnn_channels=7, num_members=1).members[0]
    h, edges = torch.from_numpy(x.toarray()), torch.from_numpy(graph.edge_index)
    for number, (weight, bias) in enumerate(zip(member.convs, member.conv_biases, strict=True)):
        layer = conv(*weight.shape)
        layer.lin.weight.data, layer.bias.data = weight.data.T, bias.data
        h = layer(h, edges)
        h = h.relu() if number == 0 else h
    torch.testing.assert_close(member.nodes(SparseRows(x), message_matrix(graph)), h)


def test_a_perceptron_of_own_attributes_is_added_to_the_rows():
    graph = random_graph(20, 40, seed=1)
    x = check_attributes(np.random.default_rng(0).normal(size=(20, 6)), 20)
    member = AttributedPairHead(3, 6, gnn_channels=7, num_members=1, own_attributes=True).members[0]
    rows, messages = SparseRows(x), message_matrix(graph)
    found = member.nodes(rows, messages)
    (first, second), (bias, last) = member.own, member.own_biases
    own = torch.relu(torch.from_numpy(x.toarray()) @ first + bias) @ second + last
    member.own = torch.nn.ParameterList()
    torch.testing.assert_close(found, member.nodes(rows, messages) + own)


def test_rows_read_apart_are_a_normed_sum_over_hops():
    graph = random_graph(20, 40, seed=1)
    x = check_attributes(np.random.default_rng(0).random((20, 6)) < 0.4, 20)
    member = AttributedPairHead(3, 6, gnn_channels=7, num_members=1, apart=True).members[0]
    with torch.no_grad():
        for parameter in (member.hops, member.conv_bias, member.norm_weight, member.norm_bias):
            parameter.copy_(torch.randn(parameter.shape))
    degree = 1 + np.array([(graph.edge_index[0] == node).sum() for node in range(20)])
    a = np.eye(20)
    for u, v in graph.edge_index.T:
        a[u, v] = 1.0
    a /= np.sqrt(np.outer(degree, degree))
    h = x.toarray() @ member.conv.detach().numpy() + member.conv_bias.detach().numpy()
    hops = member.hops.detach().numpy()
    found = member.nodes(SparseRows(x), message_matrix(graph)).detach().numpy()
    for node in range(20):
        row = hops[0] * h[node] + hops[1] * (a @ h)[node] + hops[2] * (a @ a @ h)[node]
        row = (row - row.mean()) / np.sqrt(row.var() + 1e-5)
        own = row * member.norm_weight.detach().numpy() + member.norm_bias.detach().numpy()
        assert found[node] == pytest.approx(own, abs=1e-4)


def test_logits_read_apart_are_added_and_each_perceptron_has_a_loss_of_its_own():
    member = AttributedPairHead(3, 6, gnn_channels=4, num_members=1, apart=True).members[0]
    features, products, y = torch.randn(9, 3), torch.randn(9, 4), torch.tensor([0.0, 1.0, 1.0] * 3)
    both = []
    for h, weights, biases in (
        (features, member.weights, member.biases),
        (products, member.product_weights, member.product_biases),
    ):
        h = torch.relu(torch.relu(h @ weights[0] + biases[0]) @ weights[1] + biases[1])
        both.append((h @ weights[2] + biases[2])[:, 0])
    torch.testing.assert_close(member(features, products), both[0] + both[1])
    torch.testing.assert_close(member.networks(features, products), torch.stack(both))
    found = sum_of_losses(member.networks(features, products), y)
    torch.testing.assert_close(found, balanced_loss(both[0], y) + balanced_loss(both[1], y))
    (alone,) = torch.autograd.grad(balanced_loss(both[0], y), member.weights[0], retain_graph=True)
    torch.testing.assert_close(torch.autograd.grad(found, member.weights[0])[0], alone)


def test_one_perceptron_reads_features_and_products_together():
    member = AttributedPairHead(3, 6, gnn_channels=4, num_members=1, linear=True).members[0]
    features, products = torch.randn(9, 3), torch.randn(9, 4)
    h = torch.cat([products, features], dim=1)
    h = torch.relu(torch.relu(h @ member.weights[0] + member.biases[0]) @ member.weights[1] + member.biases[1])
    torch.testing.assert_close(member(features, products), (h @ member.weights[2] + member.biases[2])[:, 0])
    assert not any("product" in name for name, _ in member.named_parameters())


@pytest.mark.parametrize("best", [0, 1])
def test_left_out_pairs_choose_how_links_are_read(monkeypatch, best):
    """The members are those of a head that was trained in that way alone, bit for bit."""
    alone, again, _ = fitted(**READINGS[best])
    losses = iter([float(number != best) for number in range(len(READINGS))])
    monkeypatch.setattr(attributed_training, "_calibrated_loss", lambda logits, y: next(losses))
    head, unseen, _ = fitted(links=True)
    assert head.config["apart"] is READINGS[best]["apart"]
    assert torch.equal(unseen, again)
    for name, value in head.state_dict().items():
        assert torch.equal(value, alone.state_dict()[name]), name


def test_the_loss_that_chooses_does_not_depend_on_the_scale_of_logits():
    logits, y = torch.randn(200), (torch.arange(200) % 2).float()
    logits = logits + y
    assert _calibrated_loss(10 * logits + 3, y) == pytest.approx(_calibrated_loss(logits, y), abs=1e-3)
    assert _calibrated_loss(logits, y) < _calibrated_loss(torch.randn(200), y)


def test_messages_of_a_directed_graph_go_both_ways():
    graph = gr.Graph.from_edges([[0], [1]], directed=True)
    other = gr.Graph.from_edges([[0], [1]])
    eye = torch.eye(2)
    assert torch.equal(message_matrix(graph).times(eye), message_matrix(other).times(eye))


def test_logits_are_the_calibrated_mean_of_the_members():
    head = AttributedPairHead(3, 6, gnn_channels=4, num_members=2)
    head.mean.copy_(torch.tensor([1.0, 2.0, 3.0]))
    head.calibration.copy_(torch.tensor([2.0, -1.0]))
    described = torch.randn(9, head.width)
    own = described[:, :3] - head.mean
    each = [member(own, described[:, 3 + 4 * i : 7 + 4 * i]) for i, member in enumerate(head.members)]
    torch.testing.assert_close(head(described), 2 * (each[0] + each[1]) / 2 - 1)


@pytest.mark.parametrize("apart", [False, True])
def test_a_link_does_not_see_itself_in_the_messages_of_its_own_step(apart):
    """Whatever edges the pairs of a fold have, planted or deleted, its step computes the same."""
    examples = example()
    trainer = _Trainer(examples, torch.from_numpy(examples.features))
    member = AttributedPairHead(5, 12, gnn_channels=8, num_members=1, apart=apart).members[0]
    graph = random_graph(40, 90, seed=0)
    row = int(np.flatnonzero((examples.part == 4) & (examples.y == 1))[0])
    u, v = examples.pairs[:, row]
    assert (((u, v) == graph.edge_index.T).all(1)).any()
    assert not (((u, v) == examples.messages[4].edge_index.T).all(1)).any()
    without = [message_matrix(each) for each in examples.messages]
    edges = graph.edge_index
    absent = gr.Graph.from_edges(
        edges[:, ~(((edges[0] == u) & (edges[1] == v)) | ((edges[0] == v) & (edges[1] == u)))], 40
    )
    again = folds_of(absent, examples)
    rows = torch.tensor([row])
    with_edge = trainer.scores(member, 4, rows)
    trainer.messages = [message_matrix(each) for each in again]
    assert torch.equal(trainer.scores(member, 4, rows), with_edge)
    trainer.messages = [message_matrix(graph)] * len(without)
    assert not torch.equal(trainer.scores(member, 4, rows), with_edge)


def folds_of(graph, examples):
    """The graphs of messages of the same folds in another graph."""
    from graphreach.pairs.direct import without_edges

    return [
        without_edges(graph, examples.pairs[:, (examples.part == number) & (examples.y == 1)])
        for number in range(len(examples.messages))
    ]


def test_every_step_takes_its_pairs_from_the_fold_that_its_messages_leave_out():
    examples = example()
    trainer = _Trainer(examples, torch.from_numpy(examples.features))
    held = trainer.held_out(0, 0)
    free = torch.ones(len(examples.y), dtype=torch.bool)
    free[held] = False
    steps = trainer.steps(free, torch.Generator().manual_seed(0))
    assert len(steps) == len(examples.messages) - 1
    for part, rows in steps:
        assert (examples.part[rows.numpy()] == part).all()
        assert 2 * examples.y[rows.numpy()].sum() == len(rows)
        linked = {tuple(pair) for pair in examples.messages[part].edge_index.T.tolist()}
        assert not linked & {tuple(pair) for pair in examples.pairs[:, rows.numpy()].T.tolist()}


@pytest.mark.parametrize("apart", [False, True])
def test_the_same_seed_gives_the_same_bits_and_leaves_the_generator_of_torch_alone(apart):
    state = torch.random.get_rng_state()
    (head, unseen, _), (other, again, _) = fitted(apart=apart), fitted(apart=apart)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.equal(unseen, again)
    for name, value in head.state_dict().items():
        assert torch.equal(value, other.state_dict()[name]), name


@pytest.mark.parametrize("reading", [{}, *READINGS])
def test_saved_and_loaded_bit_for_bit(tmp_path, reading):
    head, _, _ = fitted(**reading)
    head.save_pretrained(tmp_path)
    loaded = AttributedPairHead.from_pretrained(tmp_path)
    described = torch.randn(6, head.width)
    assert repr(loaded) == "AttributedPairHead(5, 12, gnn_channels=8, num_members=2)"
    assert torch.equal(loaded(described), head(described))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gnn_channels": 0}, "gnn_channels must be"),
        ({"attribute_dropout": 1.0}, "attribute_dropout must be"),
        ({"num_members": 0}, "num_members must be"),
        ({"apart": True, "linear": False}, "apart must be False where linear is False, got True"),
        ({"linear": 1}, "linear must be"),
    ],
)
def test_arguments_that_no_network_can_be_made_of_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        AttributedPairHead(3, 6, **arguments)

"""Position matrices: batches of graphs, mini-batches of nodes, both layouts."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

import graphreach as gr
from graphreach.errors import InputError
from helpers import random_graph
from nn_literal import (
    ANCHORS,
    NUM_NODES,
    assert_near,
    features,
    force_plain,
    ring_with_chords,
    small_matrices,
    small_positions,
    small_reach,
    with_layouts,
)

pytestmark = pytest.mark.filterwarnings("ignore:Sparse (CSR tensor support|invariant checks)")

SIZES = (7, 20, 12, 33)

MODELS = [
    {},
    {"aggregation": "mean"},
    {"message_activation": "relu", "bias": True, "similarity_map": "learned"},
    {"aggregation": "mean", "message_activation": "relu", "bias": True},
    {"aggregation": "mean", "similarity_map": "learned"},
    {"bias": True},
    {"similarity": False},
]
models = pytest.mark.parametrize("arguments", MODELS)


def graphs(layout, num_anchors):
    """PyG graphs of different sizes with reachability; one number of anchors, or one for each."""
    counts = num_anchors if isinstance(num_anchors, tuple) else (num_anchors,) * len(SIZES)
    out = []
    for seed, (n, k) in enumerate(zip(SIZES, counts, strict=True)):
        edges = torch.from_numpy(random_graph(n, 2 * n, seed=seed).edge_index.copy())
        data = Data(x=torch.randn(n, 3, generator=torch.Generator().manual_seed(seed)), edge_index=edges)
        out.append(gr.transforms.AddReachability(k, layout=layout, walk_length=2)(data))
    return out


def arguments_of(data, batch=None):
    prefix = "adj_" if "adj_to_anchors" in data else ""
    return data.x, data[f"{prefix}to_anchors"], data[f"{prefix}from_anchors"], data.anchor_index, batch


def check_batch(model, alone, batch):
    z = model(*arguments_of(batch, batch.batch))
    widest = max(data.anchor_index.numel() for data in alone)
    assert z.shape == (sum(SIZES), widest)
    for number, data in enumerate(alone):
        rows, k = z[batch.batch == number], data.anchor_index.numel()
        assert_near(rows[:, :k], model(*arguments_of(data)), 1e-5)
        assert rows[:, k:].eq(0).all()


@pytest.mark.parametrize("plain", [False, True], ids=["fused", "plain"])
@models
def test_batch_of_graphs_with_different_numbers_of_anchors(arguments, plain, monkeypatch):
    if plain:
        force_plain(monkeypatch)
    alone = graphs("csr", (3, 11, 1, 8))
    check_batch(gr.nn.GraphReach(3, 8, **arguments), alone, Batch.from_data_list(alone))


@pytest.mark.parametrize("plain", [False, True], ids=["fused", "plain"])
@models
def test_batch_of_graphs_with_one_number_of_anchors(arguments, plain, monkeypatch):
    if plain:
        force_plain(monkeypatch)
    alone = graphs("dense", 5)
    batch = Batch.from_data_list(alone)
    assert batch.to_anchors.shape == (sum(SIZES), 5)
    check_batch(gr.nn.GraphReach(3, 8, **arguments), alone, batch)


def test_gradients_of_a_batch_are_the_sum_of_those_alone():
    alone = graphs("csr", (3, 11, 1, 8))
    batch = Batch.from_data_list(alone)
    for arguments in MODELS:
        model = gr.nn.GraphReach(3, 8, output_activation="tanh", **arguments)
        weights = list(model.parameters())
        used = {"allow_unused": True, "materialize_grads": True}
        together = torch.autograd.grad(model(*arguments_of(batch, batch.batch)).sin().sum(), weights, **used)
        single = [torch.autograd.grad(model(*arguments_of(each)).sin().sum(), weights, **used) for each in alone]
        for one, others in zip(together, zip(*single, strict=True), strict=True):
            assert_near(one, sum(others), 2e-5)


def test_mean_divides_by_each_graphs_own_number_of_anchors():
    alone = graphs("csr", (3, 11, 1, 8))
    batch = Batch.from_data_list(alone)
    _, to, back, anchors, graph = arguments_of(batch, batch.batch)
    positions = gr.nn.Positions.compressed(to, back, anchors, graph)
    assert positions.num_anchors.unique().tolist() == [1, 3, 8, 11]
    conv = gr.nn.ReachConv(3, 4, aggregation="mean")
    T, F = to.to_dense(), back.to_dense()
    Q = batch.x[anchors] @ conv.weight[3:]
    expected = (T.sum(1, keepdim=True) * (batch.x @ conv.weight[:3]) + F @ Q) / positions.num_anchors.unsqueeze(1)
    assert_near(conv(batch.x, positions), expected, 1e-5)


@with_layouts
def test_data_loader(layout):
    alone = graphs(layout, 5)
    model = gr.nn.GraphReach(3, 8)
    expected = torch.cat([model(*arguments_of(data)) for data in alone])
    batches = [model(*arguments_of(batch, batch.batch)) for batch in DataLoader(alone, batch_size=3)]
    assert len(batches) == 2
    assert_near(torch.cat(batches), expected, 1e-5)


def test_batch_is_not_padded_to_the_largest_graph():
    alone = graphs("csr", (3, 11, 1, 8))
    batch = Batch.from_data_list(alone)
    positions = gr.nn.Positions.compressed(*arguments_of(batch, batch.batch)[1:])
    entries = sum(gr.nn.Positions.compressed(*arguments_of(data)[1:4]).to_values.numel() for data in alone)
    assert positions.to_values.numel() == entries


def test_hops_batch_too():
    model = gr.nn.GraphReach(3, 8, similarity_map="learned", hops=2)
    for layout in ("dense", "csr"):
        alone = []
        for data in graphs(layout, 5):
            anchors = data.anchor_index
            add = gr.transforms.AddReachability(anchors=anchors, layout=layout, walk_length=2, hops=2)
            alone.append(add(Data(x=data.x, edge_index=data.edge_index)))
        batch = Batch.from_data_list(alone)
        z = model(*arguments_of(batch, batch.batch))
        assert_near(z, torch.cat([model(*arguments_of(data)) for data in alone]), 1e-5)


@with_layouts
@models
@pytest.mark.parametrize("num_layers", [1, 2, 3])
def test_pieces_and_full_batch_give_the_same_embedding(layout, arguments, num_layers):
    graph = ring_with_chords()
    positions = gr.reachability(graph, range(1, 60, 5), walk_length=3, layout=layout).to_torch()
    model = gr.nn.GraphReach(3, 8, num_layers, **arguments)
    x = torch.randn(60, 3)
    expected = model(x, positions)
    for nodes in torch.randperm(60).split(17):
        rows = positions.rows(nodes)
        chosen = torch.cat([nodes, positions.anchor_index])
        z = model(x[chosen], rows)
        assert_near(z[: len(nodes)], expected[nodes], 1e-5)
        assert_near(z[len(nodes) :], expected[positions.anchor_index], 1e-5)


@with_layouts
def test_pieces_with_hops(layout):
    positions = small_positions(layout, torch.float32, hops=3)
    model = gr.nn.GraphReach(0, 8, similarity_map="learned", hops=3)
    nodes = torch.tensor([11, 2, 2])
    assert_near(model(None, positions.rows(nodes))[:3], model(None, positions)[nodes], 1e-5)


@with_layouts
def test_pieces_of_a_transductive_model(layout):
    positions = small_positions(layout, torch.float32)
    model = gr.nn.GraphReach(2, 8, num_nodes=NUM_NODES)
    x, nodes = features(2).detach().float(), torch.tensor([11, 0, 5])
    chosen = torch.cat([nodes, positions.anchor_index])
    z = model(x[chosen], positions.rows(nodes), node_index=chosen)
    assert_near(z[:3], model(x, positions)[nodes], 1e-5)


def test_gradients_of_pieces_add_up():
    positions = small_positions("csr", torch.float32)
    model = gr.nn.GraphReach(0, 8, output_activation="tanh")
    whole = torch.autograd.grad(model(None, positions).sin().sum(), list(model.parameters()))
    pieces = [model(None, positions.rows(nodes))[: len(nodes)] for nodes in torch.arange(NUM_NODES).split(5)]
    summed = torch.autograd.grad(sum(z.sin().sum() for z in pieces), list(model.parameters()))
    for one, other in zip(whole, summed, strict=True):
        assert_near(one, other, 1e-5)


def test_rows_of_a_batch_are_refused():
    batch = Batch.from_data_list(graphs("csr", (3, 11, 1, 8)))
    positions = gr.nn.Positions.compressed(*arguments_of(batch, batch.batch)[1:])
    with pytest.raises(InputError, match="rows must be taken from one graph's positions"):
        positions.rows(torch.tensor([0]))


@pytest.mark.parametrize("hops", [None, 3])
def test_compressed_holds_the_union_of_both_patterns(hops):
    positions, (T, F) = small_positions("csr", hops=hops), small_matrices(hops)
    used = (T != 0) | (F != 0)
    used = used.any(-1) if hops else used
    assert positions.to_values.size(0) == int(used.sum())
    node = torch.repeat_interleave(torch.arange(NUM_NODES), positions.pointer.diff())
    assert torch.equal(torch.stack([node, positions.column]), used.nonzero().t())
    assert torch.equal(positions.to_values, T[used])
    assert torch.equal(positions.from_values, F[used])


def test_properties():
    dense, csr = small_positions(), small_positions("csr")
    assert (dense.num_nodes, dense.width, dense.hops, dense.rectangular) == (NUM_NODES, 5, None, True)
    assert (csr.num_nodes, csr.width, csr.hops, csr.rectangular) == (NUM_NODES, 5, None, False)
    assert small_positions(hops=2).hops == 2
    assert torch.equal(dense.matrix(dense.to_values), small_matrices()[0])
    assert dense.to("cpu").to_values.dtype == torch.float64
    assert dense.to(torch.float32).pointer.dtype == torch.int64
    assert "_levels" not in repr(dense)


@with_layouts
@models
def test_positions_follow_the_precision_of_the_model(layout, arguments):
    model, x = gr.nn.GraphReach(3, 8, **arguments).double(), features(3)
    single = small_positions(layout, torch.float32)
    z = model(x, single)
    assert z.dtype == torch.float64
    assert_near(z, model(x, single.to(torch.float64)), 1e-12)
    assert single.in_precision(torch.float64) is single.in_precision(torch.float64)
    assert single.in_precision(torch.float32) is single


def test_to_torch_does_not_copy_dense_matrices():
    reach = small_reach()
    assert np.shares_memory(reach.to_anchors, reach.to_torch().to_values.numpy())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((torch.ones(4, 2), torch.ones(4, 3), torch.arange(2)), "from_anchors must have the shape of to_anchors"),
        ((torch.ones(4, 2), torch.ones(4, 2), torch.arange(3)), r"anchor_index must hold 2 rows \(one graph\), got 3"),
        ((torch.ones(4, 2), torch.ones(4, 2), torch.arange(4)), r"anchor_index must hold 2 rows \(one graph\), got 4"),
        (
            (torch.ones(4, 2), torch.ones(4, 2), torch.arange(3), torch.zeros(4, dtype=torch.long)),
            "anchor_index must hold a multiple of 2 rows, got 3",
        ),
    ],
)
def test_errors_of_dense(arguments, message):
    with pytest.raises(InputError, match=message):
        gr.nn.Positions.dense(*arguments)


def test_errors_of_compressed():
    csr = small_reach("csr")
    with pytest.raises(InputError, match=r"must be \[12, 2\] \(nodes by anchors\), got \[12, 5\] and \[12, 5\]"):
        gr.nn.Positions.compressed(csr.to_anchors, csr.from_anchors, torch.tensor(ANCHORS[:2]))

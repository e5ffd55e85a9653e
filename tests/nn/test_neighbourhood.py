"""GCN, GraphSAGE, GAT and GIN against PyG's own layers on the same weights."""

import copy

import numpy as np
import pytest
import torch
import torch_geometric.nn as pyg

import graphreach as gr
from graphreach.errors import InputError
from graphreach.nn.neighbourhood import local_branch
from helpers import random_graph
from nn_literal import assert_near, assert_same_function, random_weights

NAMES = ["gcn", "sage", "gat", "gin"]


def with_names(function):
    return pytest.mark.parametrize("kind", NAMES)(function)


def features(num_nodes, width, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(num_nodes, width, dtype=dtype, generator=generator).requires_grad_()


def bare(*arguments, **options):
    """Without scaling to unit rows, as PyG has it."""
    return gr.nn.Neighbourhood(*arguments, output_activation="identity", **options)


def pyg_layer(kind, conv):
    """A new layer of PyG as its users make it, with the same weights."""
    if kind == "gin":
        layer = pyg.GINConv(copy.deepcopy(conv.nn))
    elif kind == "gat":
        layer = pyg.GATConv(conv.in_channels, conv.out_channels, conv.heads, concat=conv.concat)
    else:
        layer = {"gcn": pyg.GCNConv, "sage": pyg.SAGEConv}[kind](conv.in_channels, conv.out_channels)
    layer.to(next(conv.parameters()).dtype).load_state_dict(conv.state_dict())
    return layer


def pyg_forward(model, x, edge_index, edge_weight=None):
    """The same model by layers of PyG, on edges as PyG has them."""
    convs = [pyg_layer(model.kind, conv) for conv in model.convs]
    h = x
    for i, conv in enumerate(convs):
        h = conv(h, edge_index) if edge_weight is None else conv(h, edge_index, edge_weight)
        h = h.relu() if i < len(convs) - 1 else h
    return h, [weight for conv in convs for weight in conv.parameters()]


@with_names
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("in_channels", [3, 20])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_same_numbers_as_pyg(kind, directed, in_channels, dtype, tolerance):
    graph = random_graph(30, 70, directed)
    adjacency = gr.nn.Adjacency.from_graph(graph)
    model = random_weights(bare(kind, in_channels, 8, out_channels=5, num_layers=3)).eval().to(dtype)
    x = features(30, in_channels, dtype)
    expected, weights = pyg_forward(model, x, torch.from_numpy(graph.edge_index))
    assert expected.shape == (30, 5)
    assert_same_function(model(x, adjacency), [x, *model.convs.parameters()], expected, [x, *weights], tolerance)


@pytest.mark.parametrize("directed", [False, True])
def test_gcn_honours_weights_as_pyg_does(directed):
    graph = random_graph(30, 70, directed, weighted=True)
    model = random_weights(bare("gcn", 4, 8)).eval()
    x = features(30, 4)
    weights = torch.from_numpy(graph.weights.copy())
    expected, parameters = pyg_forward(model, x, torch.from_numpy(graph.edge_index), weights)
    assert_same_function(model(x, graph), [x, *model.parameters()], expected, [x, *parameters], 1e-12)
    assert (model(x, graph) - model(x, gr.Graph.from_edges(graph.edge_index, 30, directed=directed))).abs().max() > 1e-3


def test_self_loops_as_in_pyg():
    edges = np.array([[0, 1, 2, 2], [1, 2, 2, 0]])
    graph = gr.Graph.from_edges(edges, 4, directed=True, self_loops=True)
    x = features(4, 3)
    for kind in NAMES:
        model = random_weights(bare(kind, 3, 4)).eval()
        assert_near(model(x, graph), pyg_forward(model, x, torch.from_numpy(edges))[0], 1e-12)


@pytest.mark.parametrize("kind", ["sage", "gin"])
def test_weights_of_mean_and_sum_are_repeated_edges(kind):
    """An edge of weight 2 counts as two edges, which PyG's layers take as they come."""
    graph = gr.Graph.from_edges([[0, 1, 3], [2, 2, 1]], 4, [2.0, 1.0, 3.0], directed=True)
    repeated = torch.tensor([[0, 0, 1, 3, 3, 3], [2, 2, 2, 1, 1, 1]])
    model = random_weights(bare(kind, 3, 4)).eval()
    x = features(4, 3)
    assert_near(model(x, graph), pyg_forward(model, x, repeated)[0], 1e-12)


def test_gat_ignores_weights():
    graph = random_graph(10, 20, weighted=True)
    plain = gr.Graph.from_edges(graph.edge_index, 10)
    model = gr.nn.Neighbourhood("gat", 3).eval()
    x = features(10, 3, torch.float32)
    assert torch.equal(model(x, graph), model(x, plain))


@with_names
def test_messages_go_along_edges(kind):
    graph = gr.Graph.from_edges([[0, 1], [1, 2]], directed=True)
    model = random_weights(bare(kind, 2, 4, num_layers=1)).eval()
    x = features(3, 2)
    first, second = (torch.autograd.grad(model(x, graph)[v].sum(), x)[0].abs().sum(1) > 0 for v in (0, 1))
    assert first.tolist() == [True, False, False]
    assert second.tolist() == [True, True, False]


def test_heads_of_gat():
    graph = random_graph(30, 70)
    model = random_weights(bare("gat", 4, 12, out_channels=5, heads=3)).eval()
    assert [(conv.heads, conv.out_channels, conv.concat) for conv in model.convs] == [(3, 4, True), (3, 5, False)]
    x = features(30, 4)
    expected, weights = pyg_forward(model, x, torch.from_numpy(graph.edge_index))
    assert_same_function(model(x, graph), [x, *model.parameters()], expected, [x, *weights], 1e-12)


@with_names
def test_gradients_by_differences(kind):
    adjacency = gr.nn.Adjacency.from_graph(random_graph(8, 14, directed=True))
    model = random_weights(gr.nn.Neighbourhood(kind, 3, 4)).eval()
    assert torch.autograd.gradcheck(lambda x: model(x, adjacency), [features(8, 3)])


def test_inputs_features_table_and_ones():
    graph = random_graph(6, 9)
    both = bare("sage", 3, 8, num_nodes=6)
    assert both.convs[0].in_channels == 11
    x = torch.ones(6, 3)
    assert both.eval()(x, graph).shape == (6, 8)
    part = random_graph(2, 1, seed=3)
    h = torch.cat([x[:2], both.table.weight[[4, 1]]], 1)
    expected, _ = pyg_forward(both, h, torch.from_numpy(part.edge_index))
    assert_near(both(x[:2], part, node_index=torch.tensor([4, 1])), expected, 1e-5)
    ones = bare("gin", 0, 8).eval()
    assert ones.convs[0].nn[0].in_features == 1
    assert_near(ones(None, graph), pyg_forward(ones, torch.ones(6, 1), torch.from_numpy(graph.edge_index))[0], 1e-5)


def test_projection_and_unit_rows():
    graph = random_graph(6, 9)
    model = gr.nn.Neighbourhood("gcn", 3, 8, input_projection=True).eval()
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    h, _ = pyg_forward(model, model.projection(x), torch.from_numpy(graph.edge_index))
    assert_near(model(x, graph), h / h.norm(dim=1, keepdim=True), 1e-5)


def test_dropout_between_layers_in_training_only():
    graph, x = random_graph(6, 9), torch.ones(6, 3)
    model = gr.nn.Neighbourhood("gcn", 3, 64)
    torch.manual_seed(0)
    assert not torch.equal(model(x, graph), model(x, graph))
    model.eval()
    assert torch.equal(model(x, graph), model(x, graph))
    assert torch.equal(gr.nn.Neighbourhood("gcn", 3, num_layers=1)(x, graph) > -9, torch.ones(6, 32, dtype=bool))


@with_names
def test_batch_gives_each_graphs_own_embedding(kind):
    graphs = [random_graph(7, 12), random_graph(4, 5, seed=1)]
    model = gr.nn.Neighbourhood(kind, 3, 8).eval()
    xs = [features(graph.num_nodes, 3, torch.float32) for graph in graphs]
    batch = gr.nn.Adjacency.batch([gr.nn.Adjacency.from_graph(graph) for graph in graphs])
    alone = torch.cat([model(x, graph) for x, graph in zip(xs, graphs, strict=True)])
    assert_near(model(torch.cat(xs), batch), alone, 1e-6)


@with_names
def test_learns_links(kind):
    """Two cliques: pairs inside are told from pairs across."""
    torch.manual_seed(0)
    inside = np.array([(u, v) for u in range(10) for v in range(u) if (u < 5) == (v < 5)]).T
    across = np.array([(u, v) for u in range(5) for v in range(5, 10)]).T
    adjacency = gr.nn.Adjacency.from_graph(gr.Graph.from_edges(inside))
    model = gr.nn.Neighbourhood(kind, num_nodes=10, dropout=0.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    pairs = torch.from_numpy(np.concatenate([inside, across], 1))
    labels = (torch.arange(pairs.size(1)) < inside.shape[1]).float()
    for _ in range(60):
        scores = model.score_pairs(model(None, adjacency), pairs)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert scores[labels == 1].min() > scores[labels == 0].max()


@with_names
def test_save_and_load(kind, tmp_path):
    model = gr.nn.Neighbourhood(kind, 3, 8, num_nodes=6, decoder="scaled", output_activation="tanh").eval()
    model.save_pretrained(tmp_path, note=1)
    loaded = gr.nn.Neighbourhood.from_pretrained(tmp_path)
    graph, x = random_graph(6, 9), torch.ones(6, 3)
    assert torch.equal(loaded(x, graph), model(x, graph))
    assert loaded.metadata == {"note": 1}
    assert repr(loaded) == repr(model) == f"Neighbourhood({kind}, 3, hidden_channels=8, num_layers=2)"


@with_names
def test_reset_draws_new_weights(kind):
    model = gr.nn.Neighbourhood(kind, 3, 8, num_nodes=6, decoder="scaled", input_projection=True)
    before = copy.deepcopy(model.state_dict())
    with torch.no_grad():
        model.decoder.scale.fill_(5.0)
    torch.manual_seed(1)
    model.reset_parameters()
    same = {name for name, value in model.state_dict().items() if torch.equal(value, before[name])}
    assert same == {name for name in before if "bias" in name and kind in ("gcn", "gat") and "convs" in name} | {
        "decoder.scale",
        "decoder.bias",
    } | {name for name in before if name.endswith("eps")}


def test_wrong_input():
    graph = random_graph(6, 9)
    for arguments, message in [
        ({"kind": "cnn"}, "kind must be one of gcn, sage, gat, gin, got 'cnn'"),
        ({"kind": "gcn", "num_layers": 0}, "num_layers must be an integer from 1 to 1024, got 0"),
        ({"kind": "gcn", "heads": 2}, "heads must be 1, or for gat a divisor of hidden_channels=32, got 2"),
        ({"kind": "gat", "heads": 5}, "heads must be 1, or for gat a divisor of hidden_channels=32, got 5"),
        (
            {"kind": "gcn", "output_activation": "relu"},
            "output_activation must be one of normalize, tanh, sigmoid, ident",
        ),
    ]:
        with pytest.raises(InputError, match=message):
            gr.nn.Neighbourhood(**arguments)
    with pytest.raises(InputError, match=r"x must have shape \[6, 3\], got None"):
        gr.nn.Neighbourhood("gcn", 3)(None, graph)
    with pytest.raises(InputError, match=r"x must have shape \[6, 3\], got \[5, 3\]"):
        gr.nn.Neighbourhood("gcn", 3)(torch.ones(5, 3), graph)
    with pytest.raises(InputError, match="the graph must have 7 nodes as the embedding table has, got 6"):
        gr.nn.Neighbourhood("gcn", num_nodes=7)(None, graph)


@pytest.mark.parametrize("directed", [False, True])
@with_names
def test_local_branch_gives_what_pygs_model_gives(kind, directed):
    graph = gr.Graph.from_edges([[0, 1, 2, 3, 3, 4], [1, 2, 3, 0, 3, 1]], directed=directed, num_nodes=6)
    branch = local_branch(kind, 4, 8, 3, 0.0).double()
    theirs = {"gcn": pyg.GCN, "sage": pyg.GraphSAGE, "gat": pyg.GAT, "gin": pyg.GIN}[kind](4, 8, 3).double()
    assert type(branch) is type(theirs)
    theirs.load_state_dict(branch.state_dict())
    x = features(6, 4)
    found = branch(x, gr.nn.Adjacency.from_graph(graph).adj_t(kind, x))
    expected = theirs(x, torch.from_numpy(graph.edge_index.copy()))
    assert_same_function(found, [x, *branch.parameters()], expected, [x, *theirs.parameters()], 1e-12)


def test_local_branch_of_none_and_of_unknown_names():
    assert local_branch(None, 4, 8, 2, 0.0) is None
    with pytest.raises(InputError, match="local must be one of gcn, sage, gat, gin or None, got 'cnn'"):
        local_branch("cnn", 4, 8, 2, 0.0)

"""The model against Algorithm 1, and what is said about it in the paper's Figure 1."""

import itertools
import logging
import shutil

import networkx as nx
import numpy as np
import pytest
import torch
import torch_geometric.nn as pyg
from torch_geometric.nn import GCN

import graphreach as gr
from graphreach.errors import InputError
from nn_literal import (
    ANCHORS,
    NUM_NODES,
    as_csr,
    assert_near,
    assert_same_function,
    features,
    gradients,
    in_single,
    literal_graph_reach,
    random_weights,
    ring_with_chords,
    small_matrices,
    small_positions,
    small_reach,
    with_layouts,
    with_switches,
)


def check_against_literal(model, layout="dense", width=4):
    model = random_weights(model)
    hops = model.config["hops"]
    x, (T, F) = features(width), small_matrices(hops)
    inputs = [x, *model.parameters()]
    expected = literal_graph_reach(model, x, T, F, ANCHORS)
    positions = small_positions(layout, hops=hops)
    assert_same_function(model(x, positions), inputs, expected, inputs, 1e-10)

    single, x32 = in_single(model), x.detach().float().requires_grad_()
    expected = literal_graph_reach(model, x, T, F, ANCHORS)
    out = single(x32, positions.to(torch.float32))
    assert_same_function(out, [x32, *single.parameters()], expected, inputs, 1e-5)


@with_layouts
@pytest.mark.parametrize("num_layers", [1, 2, 3])
@pytest.mark.parametrize("aggregation", ["mean", "attention"])
@pytest.mark.parametrize("output_activation", ["tanh", "sigmoid", "identity"])
def test_algorithm_1(layout, num_layers, aggregation, output_activation):
    check_against_literal(gr.nn.GraphReach(4, 6, num_layers, aggregation, output_activation=output_activation), layout)


@with_layouts
@with_switches
def test_algorithm_1_with_switches(layout, switches):
    check_against_literal(
        gr.nn.GraphReach(4, 6, 3, heads=2, input_projection=True, output_activation="tanh", **switches), layout
    )


@with_layouts
@pytest.mark.parametrize("aggregation", ["mean", "attention"])
def test_algorithm_1_with_rows_of_unit_length(layout, aggregation):
    # a bias keeps the rows of nodes that no anchor reaches from being zero, where the direction is not defined
    model = gr.nn.GraphReach(4, 6, 2, aggregation, bias=True)
    check_against_literal(model, layout)
    norms = model.double()(features(4), small_positions(layout)).norm(dim=-1)
    assert_near(norms, torch.ones(NUM_NODES), 1e-12)


@with_layouts
def test_gradcheck(layout):
    model = random_weights(gr.nn.GraphReach(3, 2, 2, message_activation="relu", bias=True), seed=3)
    positions = small_positions(layout)
    names, weights = zip(*model.named_parameters(), strict=True)

    def function(x, *weights):
        return torch.func.functional_call(model, dict(zip(names, weights, strict=True)), (x, positions))

    inputs = [features(3), *(weight.detach().clone().requires_grad_() for weight in weights)]
    assert torch.autograd.gradcheck(function, inputs)


@with_layouts
@with_switches
def test_permuting_nodes_permutes_output(layout, switches):
    model = random_weights(gr.nn.GraphReach(4, 6, 3, output_activation="identity", **switches))
    hops, order = switches.get("hops"), torch.randperm(NUM_NODES, generator=torch.Generator().manual_seed(0))
    x, (T, F) = features(4).detach(), small_matrices(hops)
    anchors = torch.argsort(order)[torch.tensor(ANCHORS)]
    if layout == "dense":
        permuted = gr.nn.Positions.dense(T[order], F[order], anchors)
    else:
        permuted = gr.nn.Positions.compressed(as_csr(T[order]), as_csr(F[order]), anchors, hops=hops)
    assert_near(model(x[order], permuted), model(x, small_positions(layout, hops=hops))[order], 1e-12)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_all_ways_to_give_reachability():
    model = gr.nn.GraphReach(4, 6)
    x, anchor_index = features(4).detach().float(), torch.tensor(ANCHORS)
    dense, csr = small_reach(), small_reach("csr")
    expected = model(x, dense)
    T, F = (torch.from_numpy(matrix) for matrix in (dense.to_anchors, dense.from_anchors))
    assert torch.equal(model(x, dense.to_torch()), expected)
    assert torch.equal(model(x, T, F, anchor_index), expected)
    assert torch.equal(model(x, T, F, anchor_index, torch.zeros(NUM_NODES, dtype=torch.long)), expected)
    sparse = [
        model(x, csr),
        model(x, csr.to_torch()),
        model(x, T.to_sparse_csr(), F.to_sparse_csr(), anchor_index),
        model(x, csr.to_anchors, csr.from_anchors, anchor_index),
    ]
    for z in sparse:
        assert_near(z, expected, 1e-6)


def test_without_features_every_node_has_the_feature_one():
    model = gr.nn.GraphReach(0, 6)
    with_ones = gr.nn.GraphReach(1, 6)
    with_ones.load_state_dict(model.state_dict())
    reach = small_reach()
    assert torch.equal(model(None, reach), with_ones(torch.ones(NUM_NODES, 1), reach))


def from_paths(*paths):
    return nx.Graph([edge for path in paths for edge in itertools.pairwise(path)])


# Figure 1 (a): nodes 0 and 5 have isomorphic 2-hop neighbourhoods (a triangle with a tail, 0-1-2-3-4 and 5-6-7-8-9) and
# hang on opposite ends of a body without symmetry.
TWO_TRIANGLES = from_paths([0, 1, 2, 3, 4, 10, 11, 12, 9, 8, 7, 6, 5], [0, 2], [5, 7], [10, 13, 14], [13, 15])


def marked_neighbourhood(graph, node):
    """The 2-hop neighbourhood with all that two layers see: the middle, and degrees in the whole graph."""
    near = nx.ego_graph(graph, node, radius=2)
    nx.set_node_attributes(near, {each: (each == node, graph.degree[each]) for each in near}, "mark")
    return near


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("aggregation", ["mean", "attention"])
@pytest.mark.parametrize("method", ["exact", "walks"])
def test_figure_1a_isomorphic_neighbourhoods_in_different_places(seed, aggregation, method):
    marked = (marked_neighbourhood(TWO_TRIANGLES, node) for node in (0, 5))
    assert nx.is_isomorphic(*marked, node_match=lambda one, other: one["mark"] == other["mark"])
    graph = gr.Graph.from_networkx(TWO_TRIANGLES)
    torch.manual_seed(seed)
    with torch.no_grad():
        local = GCN(1, 8, 2)(torch.ones(16, 1), torch.from_numpy(graph.edge_index.copy()))
        reach = gr.reachability(graph, gr.select_anchors(graph, 4, walk_length=5), method=method, walk_length=5)
        z = gr.nn.GraphReach(0, 8, aggregation=aggregation)(None, reach)
    assert_near(local[0], local[5], 1e-6)
    assert (z[0] - z[5]).abs().max() > 0.01


# Figure 1 (b): 2 and 3 are two steps from the anchors 0 and 1; 2 by one path to each, 3 by two.
ONE_AND_TWO_PATHS = from_paths([2, 4, 0], [2, 5, 1], [3, 6, 0], [3, 7, 0], [3, 8, 1], [3, 9, 1])


def literal_pgnn(distances, anchors, width, num_layers):
    """P-GNN's layer by shortest distances: messages relu((s h_v || s h_a) W), s = 1 / (d + 1); their mean, and M w."""
    h, s = torch.ones(len(distances), 1), 1 / (distances + 1)
    for _ in range(num_layers):
        W, w = torch.randn(2 * h.shape[1], width), torch.randn(width)
        pairs = [[torch.cat([s[v, i] * h[v], s[v, i] * h[a]]) for i, a in enumerate(anchors)] for v in range(len(h))]
        messages = torch.stack([torch.stack(row) for row in pairs]).matmul(W).relu()
        h, z = messages.mean(1), messages @ w
    return z


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("aggregation", ["mean", "attention"])
def test_figure_1b_equal_distances_but_different_numbers_of_paths(seed, aggregation):
    lengths = dict(nx.all_pairs_shortest_path_length(ONE_AND_TWO_PATHS))
    distances = torch.tensor([[lengths[v][a] for a in (0, 1)] for v in range(10)])
    assert distances[2].tolist() == distances[3].tolist() == [2, 2]
    torch.manual_seed(seed)
    by_distance = literal_pgnn(distances, [0, 1], 8, 2)
    assert torch.equal(by_distance[2], by_distance[3])
    reach = gr.reachability(gr.Graph.from_networkx(ONE_AND_TWO_PATHS), [0, 1], method="exact", walk_length=3)
    with torch.no_grad():
        z = gr.nn.GraphReach(0, 8, aggregation=aggregation, output_activation="identity")(None, reach)
    # a scale of the weights would move any fixed bound
    assert (z[2] - z[3]).abs().max() > 0.01 * z.abs().max()


def test_transductive_table_equals_one_hot_features():
    reach = small_reach()
    table = gr.nn.GraphReach(0, 6, num_nodes=NUM_NODES)
    one_hot = gr.nn.GraphReach(NUM_NODES, 6)
    E, conv = table.table.weight, table.convs[0]
    with torch.no_grad():
        state = one_hot.state_dict()
        state.update({name: value for name, value in table.state_dict().items() if name.startswith("readout")})
        state["convs.0.weight"] = torch.cat([E @ conv.weight[:6], E @ conv.weight[6:]])
        state["convs.0.weight_att"], state["convs.0.att"] = conv.weight_att, conv.att
        state["convs.0.weight_self"] = E
        one_hot.load_state_dict(state)
    assert_near(table(None, reach), one_hot(torch.eye(NUM_NODES), reach), 1e-5)


def test_transductive_has_no_square_matrix():
    n = 5000
    model = gr.nn.GraphReach(3, 8, num_nodes=n)
    shapes = [tuple(weight.shape) for weight in model.parameters()]
    assert (n, 8) in shapes
    assert sum(n in shape for shape in shapes) == 1
    assert sum(weight.numel() for weight in model.parameters()) < 10 * n


def test_transductive_appends_the_table_to_features():
    model = gr.nn.GraphReach(4, 6, num_nodes=NUM_NODES)
    x, reach = features(4).detach().float(), small_reach()
    plain = gr.nn.GraphReach(10, 6)
    plain.load_state_dict({name: value for name, value in model.state_dict().items() if name != "table.weight"})
    assert torch.equal(model(x, reach), plain(torch.cat([x, model.table.weight], -1), reach))
    with pytest.raises(InputError, match="the graph must have 9 nodes as the embedding table has, got 12"):
        gr.nn.GraphReach(0, 6, num_nodes=9)(None, reach)


@pytest.mark.parametrize("name", ["gcn", "sage", "gat", "gin"])
def test_local_branch_is_appended(name):
    model = gr.nn.GraphReach(4, 6, local=name)
    x, reach = features(4).detach().float(), small_reach()
    edge_index = torch.tensor([[0, 1, 2], [1, 2, 3]])
    z = model(x, reach, edge_index=edge_index)
    assert z.shape == (NUM_NODES, 5 + 6)
    local = {"gcn": pyg.GCN, "sage": pyg.GraphSAGE, "gat": pyg.GAT, "gin": pyg.GIN}[name](4, 6, 2)
    local.load_state_dict(model.local.state_dict())
    assert_near(z[:, 5:], torch.nn.functional.normalize(local(x, edge_index), dim=-1), 1e-5)
    with pytest.raises(InputError, match="edge_index must be given to a model with a local branch, got None"):
        model(x, reach)


def test_dropout_only_in_training():
    model = gr.nn.GraphReach(4, 32, dropout=0.5)
    x, reach = features(4).detach().float(), small_reach()
    assert not torch.equal(model(x, reach), model(x, reach))
    model.eval()
    assert torch.equal(model(x, reach), model(x, reach))


def test_heads_are_averaged_and_keep_the_width():
    model = gr.nn.GraphReach(4, 6, 3, heads=4)
    assert [conv.heads for conv in model.convs] == [4, 4]
    assert model(features(4).float(), small_reach()).shape == (NUM_NODES, 5)


def test_repr():
    assert (
        repr(gr.nn.GraphReach(4, 32, 3, "mean")) == "GraphReach(4, hidden_channels=32, num_layers=3, aggregation=mean)"
    )


def test_reset_parameters_reaches_every_part():
    model = gr.nn.GraphReach(
        4, 6, 2, num_nodes=NUM_NODES, input_projection=True, decoder="reach", local="gcn", similarity_map="learned"
    )
    for weight in model.parameters():
        torch.nn.init.constant_(weight, 7.0)
    model.reset_parameters()
    for name, weight in model.named_parameters():
        assert not weight.eq(7.0).any(), name


def test_reset_parameters_draws_new_weights():
    model = gr.nn.GraphReach(4, 6)
    reach, x = small_reach(), features(4).float()
    before = model(x, reach)
    model.reset_parameters()
    assert not torch.allclose(model(x, reach), before)


@with_switches
def test_state_dict_round_trip(switches):
    reach, x = small_reach(hops=switches.get("hops")), features(4).float()
    first, second = (gr.nn.GraphReach(4, 6, decoder="scaled", **switches) for _ in range(2))
    assert not torch.equal(first(x, reach), second(x, reach))
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(x, reach), second(x, reach))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_layers": 0}, "num_layers must be an integer from 1 to 1024, got 0"),
        ({"output_activation": "relu"}, "output_activation must be one of .*, got 'relu'"),
        ({"decoder": "mlp"}, "decoder must be"),
        ({"local": "gnn"}, "local must be one of gcn, sage, gat, gin or None, got 'gnn'"),
    ],
)
def test_errors_of_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        gr.nn.GraphReach(4, 6, **arguments)


def test_errors_of_inputs():
    model, reach = gr.nn.GraphReach(4, 6), small_reach()
    with pytest.raises(InputError, match=r"x must have shape \[12, 4\], got None"):
        model(None, reach)
    with pytest.raises(InputError, match=r"x must have shape \[12, 4\], got \[12, 3\]"):
        model(torch.ones(12, 3), reach)
    with pytest.raises(InputError, match="from_anchors and anchor_index must be given"):
        model(torch.ones(12, 4), torch.ones(12, 5))


AUTHORS = {"message_activation": "relu", "similarity_map": "learned", "bias": True, "input_projection": True}


@with_layouts
@pytest.mark.parametrize("method", ["exact", "walks"])
@pytest.mark.parametrize("arguments", [{}, {"aggregation": "mean"}, AUTHORS, {**AUTHORS, "aggregation": "mean"}])
def test_bfloat16_autocast(layout, method, arguments):
    torch.manual_seed(0)
    graph = ring_with_chords()
    positions = gr.reachability(graph, range(0, 60, 4), method=method, walk_length=4, layout=layout).to_torch()
    model = gr.nn.GraphReach(4, 16, decoder="scaled", **arguments)
    x, pairs = torch.randn(60, 4), torch.randint(60, (2, 40))

    def run():
        z = model(x, positions)
        return z, model.score_pairs(z, pairs)

    z, scores = run()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        z16, scores16 = run()
    assert_near(z16.detach(), z.detach(), 3e-2)
    assert_near(scores16.detach(), scores.detach(), 3e-2)
    # rounding the weights alone to bfloat16 moves the gradient by up to 3 in 100
    weights = list(model.parameters())
    flat, flat16 = (torch.cat([part.flatten() for part in gradients(each, weights)]) for each in (scores, scores16))
    assert (flat16 - flat).norm() <= 0.1 * flat.norm()


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("g++") or shutil.which("c++")), reason="needs a C++ compiler")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("arguments", [{}, AUTHORS], ids=["paper", "authors"])
def test_compiled_equals_eager(arguments, caplog):
    caplog.set_level(logging.WARNING)
    torch.manual_seed(0)
    torch.compiler.reset()
    reach = gr.reachability(ring_with_chords(), range(0, 60, 4), method="exact", walk_length=4)
    positions, x = reach.to_torch(), torch.randn(60, 4)
    model = gr.nn.GraphReach(4, 8, **arguments)
    compiled = torch.compile(model)
    z, expected = compiled(x, positions), model(x, positions)
    assert_near(z.detach(), expected.detach(), 1e-5)
    # the map's gradient sums 1,800 entries that cancel: either path is up to 1.5e-5 from double precision
    weights = list(model.parameters())
    for one, other in zip(gradients(z, weights), gradients(expected, weights), strict=True):
        assert_near(one, other, 5e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@with_layouts
@with_switches
def test_cuda_equals_cpu(layout, switches):
    reach = small_reach(layout, switches.get("hops"))
    model, x = gr.nn.GraphReach(4, 6, decoder="scaled", **switches), features(4).detach().float()
    expected = model(x, reach)
    pairs = torch.tensor([[0, 1], [2, 3]])
    scores = model.score_pairs(expected, pairs)
    z = model.cuda()(x.cuda(), reach.to_torch("cuda"))
    assert_near(z.cpu(), expected, 1e-5)
    assert_near(model.score_pairs(z, pairs.cuda()).cpu(), scores, 1e-5)


def test_output_is_dense_with_one_column_an_anchor():
    graph = ring_with_chords()
    for k in (1, 7, 60):
        anchors = np.arange(k)
        assert gr.nn.GraphReach(0, 4)(None, gr.reachability(graph, anchors, walk_length=2)).shape == (60, k)

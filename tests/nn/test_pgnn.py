"""P-GNN against the paper's equations with loops."""

import numba
import pytest
import torch

import graphreach as gr
from graphreach.errors import InputError
from helpers import random_graph
from nn_literal import (
    assert_near,
    assert_same_function,
    features,
    gradients,
    literal_map,
    random_weights,
    ring_with_chords,
)

GRAPH = random_graph(12, 14, seed=2)


def literal_layer(layer, x, similarity, source):
    """F(v, u) = s(v, u) (h_v || h_u), W, ReLU, for every node and set: [n, k, d']."""
    if layer.similarity_map is not None:
        similarity = literal_map(layer.similarity_map, similarity)
    rows = []
    for v in range(len(x)):
        messages = [similarity[v, s] * torch.cat([x[v], x[u]]) for s, u in enumerate(source[v])]
        rows.append(torch.stack([(m @ layer.weight + layer.bias).clamp(min=0) for m in messages]))
    return torch.stack(rows)


def literal_model(model, x, positions):
    similarity, source = (positions.matrix(values) for values in (positions.to_values.double(), positions.source))
    h = x @ model.projection.weight.T + model.projection.bias
    for conv in model.convs:
        h = literal_layer(conv, h, similarity, source).mean(1)
    z = literal_layer(model.readout, h, similarity, source) @ model.readout.weight_z + model.readout.bias_z
    return z / z.norm(dim=1, keepdim=True)


@pytest.mark.parametrize("max_distance", [None, 2])
@pytest.mark.parametrize("similarity_map", [None, "learned"])
@pytest.mark.parametrize("num_layers", [1, 2, 3])
def test_equals_the_equations(max_distance, similarity_map, num_layers):
    model = random_weights(gr.nn.PGNN(3, 6, num_layers, similarity_map=similarity_map)).eval()
    positions, x = gr.nn.anchor_sets(GRAPH, max_distance, seed=1), features(3)
    if max_distance:
        assert (positions.to_values == 0).any()
    inputs = [x, *model.parameters()]
    expected = literal_model(model, x, positions)
    assert_same_function(model(x, positions.to(torch.float64)), inputs, expected, inputs, 1e-6)


@pytest.mark.parametrize("similarity_map", [None, "learned"])
def test_gradients_by_differences(similarity_map):
    model = random_weights(gr.nn.PGNN(3, 4, similarity_map=similarity_map), seed=1).eval()
    positions = gr.nn.anchor_sets(GRAPH).to(torch.float64)
    assert torch.autograd.gradcheck(lambda x: model(x, positions), [features(3)])


def test_graph_stands_for_its_exact_distances():
    model = gr.nn.PGNN(hidden_channels=8).eval()
    assert torch.equal(model(None, GRAPH), model(None, gr.nn.anchor_sets(GRAPH, seed=0)))
    assert not torch.equal(model(None, GRAPH), model(None, gr.nn.anchor_sets(GRAPH, seed=1)))


def test_batch_gives_each_graphs_own_embedding():
    graphs = [random_graph(12, 20), random_graph(5, 6, seed=1)]
    model = random_weights(gr.nn.PGNN(3, 8)).eval()
    parts = [gr.nn.anchor_sets(graph).to(torch.float64) for graph in graphs]
    xs = [features(3, graph.num_nodes) for graph in graphs]
    z = model(torch.cat(xs), gr.nn.Positions.batch(parts))
    assert z.shape == (17, 9)
    assert_near(z[:12], model(xs[0], parts[0]), 1e-12)
    assert_near(z[12:, :4], model(xs[1], parts[1]), 1e-12)
    assert (z[12:, 4:] == 0).all()


def test_table_rows_and_dropout():
    model = gr.nn.PGNN(2, 8, num_nodes=12)
    positions, x = gr.nn.anchor_sets(GRAPH), torch.ones(12, 2)
    assert not torch.equal(model(x, positions), model(x, positions))
    model.eval()
    assert_near(model(x, positions, node_index=torch.arange(12)), model(x, positions), 1e-6)
    z = model(x, positions)
    assert all(gradient.ne(0).any() for gradient in gradients(z, list(model.parameters())))


def train(seed=0, epochs=60):
    """Link scores on a ring with chords, with new anchor sets every epoch."""
    torch.manual_seed(seed)
    graph = ring_with_chords(60)
    model = gr.nn.PGNN(hidden_channels=16, num_nodes=60, dropout=0.0, decoder="scaled")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    links = torch.from_numpy(graph.edge_index)
    pairs = torch.cat([links, torch.randint(60, links.shape)], 1)
    labels = (torch.arange(pairs.size(1)) < links.size(1)).float()
    losses = []
    for epoch in range(epochs):
        z = model(None, gr.nn.anchor_sets(graph, seed=epoch))
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model.score_pairs(z, pairs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, z.detach()


def test_learns_and_repeats():
    losses, z = train()
    assert losses[-1] < 0.8 * losses[0]
    again, same = train()
    assert losses == again
    assert torch.equal(z, same)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
def test_threads_do_not_matter():
    before, torch_before = numba.get_num_threads(), torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        numba.set_num_threads(1)
        one = train(epochs=5)
        numba.set_num_threads(2)
        two = train(epochs=5)
    finally:
        numba.set_num_threads(before)
        torch.set_num_threads(torch_before)
    assert one[0] == two[0]
    assert torch.equal(one[1], two[1])


def test_save_load_reset_and_repr(tmp_path):
    model = gr.nn.PGNN(3, 8, similarity_map="learned", decoder="scaled").eval()
    model.save_pretrained(tmp_path)
    loaded, x = gr.nn.PGNN.from_pretrained(tmp_path), torch.ones(12, 3)
    assert torch.equal(loaded(x, GRAPH), model(x, GRAPH))
    loaded.reset_parameters()
    assert not torch.equal(loaded(x, GRAPH), model(x, GRAPH))
    assert repr(model) == "PGNN(3, hidden_channels=8, num_layers=2)"


def test_wrong_input():
    with pytest.raises(InputError, match="structure must be what anchor_sets gives, or a Graph, got NoneType"):
        gr.nn.PGNN()(None, None)
    with pytest.raises(InputError, match="num_layers must be an integer from 1 to 1024, got 0"):
        gr.nn.PGNN(num_layers=0)

"""The model without structure."""

import pytest
import torch

import graphreach as gr
from graphreach.errors import InputError
from helpers import random_graph
from nn_literal import assert_near, assert_same_function, random_weights


def test_linear_layers_with_relu_between():
    model = random_weights(gr.nn.MLP(3, 8, out_channels=5, num_layers=3, output_activation="identity")).eval()
    x = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    h = x
    for i, layer in enumerate(model.layers):
        h = torch.stack([layer.weight @ row + layer.bias for row in h])
        h = h.clamp(min=0) if i < 2 else h
    inputs = [x, *model.parameters()]
    assert_same_function(model(x, None), inputs, h, inputs, 1e-12)


def test_structure_changes_nothing_but_tells_the_number_of_nodes():
    x, graph = torch.ones(6, 3), random_graph(6, 9)
    model = gr.nn.MLP(3).eval()
    assert torch.equal(model(x), model(x, graph))
    blind = gr.nn.MLP().eval()
    assert blind(None, graph).shape == (6, 32)
    assert_near(blind(None, graph)[0], blind(None, graph)[5], 1e-6)
    with pytest.raises(InputError, match="structure must tell the number of nodes if there are no features, got None"):
        blind(None)


def test_table_of_free_embeddings():
    model = gr.nn.MLP(2, 8, num_nodes=6).eval()
    x = torch.ones(6, 2)
    assert_near(model(x[:2], node_index=torch.tensor([5, 1])), model(x)[[5, 1]], 1e-6)
    alone = gr.nn.MLP(num_nodes=6).eval()
    assert alone(None).shape == (6, 32)
    assert_near(alone(None, node_index=torch.tensor([3])), alone(None)[3:4], 1e-6)


def test_dropout_activation_and_scores():
    model = gr.nn.MLP(3, 64, decoder="scaled")
    x = torch.randn(6, 3)
    assert not torch.equal(model(x), model(x))
    model.eval()
    z = model(x)
    assert torch.allclose(z.norm(dim=1), torch.ones(6))
    pairs = torch.tensor([[0, 1], [2, 3]])
    assert torch.allclose(model.score_pairs(z, pairs), (z[pairs[0]] * z[pairs[1]]).sum(1))


def test_save_load_reset_and_repr(tmp_path):
    model = gr.nn.MLP(3, 8, input_projection=True).eval()
    model.save_pretrained(tmp_path)
    loaded = gr.nn.MLP.from_pretrained(tmp_path)
    assert torch.equal(loaded(torch.ones(2, 3)), model(torch.ones(2, 3)))
    loaded.reset_parameters()
    assert not torch.equal(loaded(torch.ones(2, 3)), model(torch.ones(2, 3)))
    assert repr(model) == "MLP(3, hidden_channels=8, num_layers=2)"

"""Scores of pairs."""

import pytest
import torch

import graphreach as gr
from graphreach.errors import InputError
from nn_literal import assert_near, gradients

Z = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
PAIRS = torch.tensor([[0, 1, 2, 5], [1, 1, 4, 0]])
DOT = (Z[PAIRS[0]] * Z[PAIRS[1]]).sum(-1)


def test_dot_of_appendix_e():
    assert_near(gr.nn.DotDecoder()(Z, PAIRS), DOT, 1e-6)


def test_scaled_has_a_learned_scale_and_bias():
    decoder = gr.nn.ScaledDecoder()
    assert_near(decoder(Z, PAIRS), DOT, 1e-6)
    with torch.no_grad():
        decoder.scale.fill_(3.0)
        decoder.bias.fill_(-0.5)
    scores = decoder(Z, PAIRS)
    assert_near(scores, 3 * DOT - 0.5, 1e-5)
    scale, bias = torch.autograd.grad(scores.sum(), [decoder.scale, decoder.bias])
    assert_near(scale, DOT.sum(), 1e-5)
    assert bias.item() == 4
    decoder.reset_parameters()
    assert_near(decoder(Z, PAIRS), DOT, 1e-6)


@pytest.mark.parametrize("hops", [1, 3])
def test_reach_adds_weighted_logarithms_of_the_pairs_own_reachability(hops):
    decoder = gr.nn.ReachDecoder(hops)
    shape = (4, 2) if hops == 1 else (4, 2, hops)
    reach = torch.rand(shape, generator=torch.Generator().manual_seed(1))
    assert_near(decoder(Z, PAIRS, reach), DOT, 1e-6)
    weight = torch.linspace(-1, 1, 2 * hops)
    with torch.no_grad():
        decoder.weight.copy_(weight)
        decoder.scale.fill_(2.0)
        decoder.bias.fill_(0.25)
    logs = torch.log(1 + reach / 1e-3).reshape(4, -1)
    expected = 2 * DOT + 0.25 + sum(logs[:, j] * weight[j] for j in range(2 * hops))
    scores = decoder(Z, PAIRS, reach)
    assert_near(scores, expected, 1e-5)
    assert all(gradient.abs().sum() > 0 for gradient in gradients(scores, list(decoder.parameters())))
    decoder.reset_parameters()
    assert_near(decoder(Z, PAIRS, reach), DOT, 1e-6)


def test_reach_takes_what_pair_reachability_gives():
    graph = gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
    pairs = torch.tensor([[0, 1], [1, 3]])
    model = gr.nn.GraphReach(0, 4, decoder="reach")
    reach = torch.from_numpy(gr.pair_reachability(graph, pairs.numpy(), method="exact", walk_length=3))
    assert model.score_pairs(Z, pairs, reach).shape == (2,)
    hops = gr.nn.GraphReach(0, 4, similarity_map="learned", hops=3, decoder="reach")
    reach = torch.from_numpy(gr.pair_reachability(graph, pairs.numpy(), method="exact", walk_length=3, hops=3))
    assert hops.score_pairs(Z, pairs, reach).shape == (2,)


@pytest.mark.parametrize("reach", [None, torch.ones(3, 2), torch.ones(4, 2, 3), torch.ones(4, 1)])
def test_reach_checks_its_shape(reach):
    with pytest.raises(InputError, match=r"pair_reach must have shape \[4, 2, 1\], got"):
        gr.nn.ReachDecoder()(Z, PAIRS, reach)


@pytest.mark.parametrize("name", ["dot", "scaled", "reach"])
def test_no_pairs_no_scores(name):
    decoder = gr.nn.make_decoder(name)
    assert decoder(Z, torch.empty(2, 0, dtype=torch.long), torch.empty(0, 2)).shape == (0,)


def test_make_decoder_by_name_or_object():
    kinds = {"dot": gr.nn.DotDecoder, "scaled": gr.nn.ScaledDecoder, "reach": gr.nn.ReachDecoder}
    for name, kind in kinds.items():
        assert type(gr.nn.make_decoder(name)) is kind
    own = torch.nn.Identity()
    assert gr.nn.make_decoder(own) is own
    assert gr.nn.make_decoder("reach", 4).weight.shape == (8,)
    with pytest.raises(InputError, match="decoder must be one of dot, scaled, reach, lift or a module, got 'bilinear'"):
        gr.nn.make_decoder("bilinear")


def test_model_scores_by_its_decoder():
    model = gr.nn.GraphReach(0, 4, decoder="scaled")
    with torch.no_grad():
        model.decoder.bias.fill_(2.0)
    assert_near(model.score_pairs(Z, PAIRS), DOT + 2, 1e-5)
    assert gr.nn.GraphReach(0, 4, similarity_map="learned", hops=3, decoder="reach").decoder.hops == 3


def test_repr():
    for decoder, name in [
        (gr.nn.DotDecoder(), "DotDecoder()"),
        (gr.nn.ScaledDecoder(), "ScaledDecoder()"),
        (gr.nn.ReachDecoder(), "ReachDecoder()"),
    ]:
        assert repr(decoder) == name

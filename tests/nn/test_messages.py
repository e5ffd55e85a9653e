"""The last layer, which does not aggregate."""

import pytest
import torch

import graphreach as gr
from nn_literal import (
    ANCHORS,
    assert_same_function,
    features,
    in_single,
    literal_readout,
    random_weights,
    small_matrices,
    small_positions,
    with_layouts,
    with_switches,
)


@with_layouts
@with_switches
def test_algorithm_1_line_8(layout, switches):
    hops = switches.get("hops")
    readout = random_weights(gr.nn.ReachReadout(4, 6, **switches))
    x, (T, F) = features(4), small_matrices(hops)
    inputs = [x, *readout.parameters()]
    expected = literal_readout(readout, x, T, F, ANCHORS)
    assert_same_function(readout(x, small_positions(layout, hops=hops)), inputs, expected, inputs, 1e-10)

    single, x32 = in_single(readout), x.detach().float().requires_grad_()
    out = single(x32, small_positions(layout, torch.float32, hops))
    expected = literal_readout(readout, x, T, F, ANCHORS)
    assert_same_function(out, [x32, *single.parameters()], expected, inputs, 1e-5)


@with_layouts
@pytest.mark.parametrize("switches", [{}, {"bias": True, "message_activation": "relu", "similarity_map": "learned"}])
def test_gradcheck(layout, switches):
    readout = random_weights(gr.nn.ReachReadout(3, 2, **switches), seed=3)
    positions = small_positions(layout)
    names, weights = zip(*readout.named_parameters(), strict=True)

    def function(x, *weights):
        return torch.func.functional_call(readout, dict(zip(names, weights, strict=True)), (x, positions))

    inputs = [features(3), *(weight.detach().clone().requires_grad_() for weight in weights)]
    assert torch.autograd.gradcheck(function, inputs)


def test_repr():
    assert repr(gr.nn.ReachReadout(8, 32)) == "ReachReadout(8, 32)"


def test_reset_parameters_draws_new_weights():
    readout = gr.nn.ReachReadout(4, 6, bias=True)
    before = readout.weight_z.clone()
    torch.nn.init.ones_(readout.bias_z)
    readout.reset_parameters()
    assert not torch.equal(readout.weight_z, before)
    assert readout.bias_z.item() == 0

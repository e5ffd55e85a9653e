"""Fused kernels and plain PyTorch give the same numbers; sums do not depend on threads."""

import pytest
import torch

import graphreach as gr
from graphreach.nn import functional, fused
from nn_literal import (
    SWITCHES,
    assert_near,
    force_plain,
    gradients,
    ring_with_chords,
    switch_name,
    with_layouts,
    with_switches,
)

ANCHORS = list(range(0, 60, 4))


def larger_positions(layout, switches):
    hops = switches.get("hops")
    options = {"walk_length": hops or 3, "hops": hops, "layout": layout}
    return gr.reachability(ring_with_chords(), ANCHORS, method="exact", **options).to_torch()


def value_and_gradients(layer, x, positions):
    out = layer(x, positions)
    return [out.detach(), *gradients(out, [x, *layer.parameters()])]


def assert_paths_agree(layer, positions, monkeypatch):
    x = torch.randn(60, 8, generator=torch.Generator().manual_seed(0)).requires_grad_()
    fused = value_and_gradients(layer, x, positions)
    force_plain(monkeypatch)
    for one, other in zip(fused, value_and_gradients(layer, x, positions), strict=True):
        assert_near(one, other, 1e-5)


@with_layouts
@with_switches
@pytest.mark.parametrize("aggregation", ["mean", "attention"])
def test_fused_and_plain_layer_agree(layout, switches, aggregation, monkeypatch):
    torch.manual_seed(0)
    layer = gr.nn.ReachConv(8, 16, aggregation=aggregation, **switches)
    assert_paths_agree(layer, larger_positions(layout, switches), monkeypatch)


@with_layouts
@with_switches
def test_fused_and_plain_readout_agree(layout, switches, monkeypatch):
    torch.manual_seed(0)
    layer = gr.nn.ReachReadout(8, 16, **switches)
    assert_paths_agree(layer, larger_positions(layout, switches), monkeypatch)


@pytest.mark.parametrize("switches", SWITCHES[:4], ids=switch_name)
@with_layouts
def test_plain_path_goes_by_blocks(layout, switches, monkeypatch):
    layer = gr.nn.ReachConv(8, 16, **switches)
    positions = larger_positions(layout, switches)
    x = torch.randn(60, 8).requires_grad_()
    force_plain(monkeypatch)
    whole = value_and_gradients(layer, x, positions)
    monkeypatch.setattr(functional, "PLAIN_BLOCK", 7 * len(ANCHORS) * 16)
    for one, other in zip(whole, value_and_gradients(layer, x, positions), strict=True):
        assert_near(one, other, 1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_normalize_is_that_of_torch(dtype):
    x = torch.randn(200, 7, dtype=dtype)
    x[3] = 0
    x[4] = 1e-20
    x.requires_grad_()
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12
    out, expected = functional.normalize(x), torch.nn.functional.normalize(x, dim=-1)
    assert_near(out, expected, tolerance)
    assert out[3].eq(0).all()
    regular = torch.ones(200, dtype=torch.bool)
    regular[3:5] = False
    one, other = (gradients(each, [x])[0] for each in (out, expected))
    assert_near(one[regular], other[regular], tolerance)
    assert torch.isfinite(one).all()
    assert torch.allclose(one[3:5], other[3:5], rtol=1e-4)


def test_normalize_of_any_stride_and_no_rows():
    x = torch.randn(5, 9)
    assert_near(functional.normalize(x.t()), torch.nn.functional.normalize(x.t(), dim=-1), 1e-6)
    assert functional.normalize(torch.empty(0, 4)).shape == (0, 4)
    assert functional.normalize(torch.empty(4, 0)).shape == (4, 0)


def test_number_of_partial_sums_is_a_function_of_shapes():
    assert fused.num_parts(1000, 100) == 16
    assert fused.num_parts(3, 100) == 3
    assert fused.num_parts(0, 0) == 1
    assert fused.num_parts(10**6, 10**9) == 2


def test_gradients_of_strided_output():
    # a gradient that arrives expanded or transposed is read correctly
    layer = gr.nn.ReachConv(8, 16, message_activation="relu")
    positions = larger_positions("csr", {})
    x = torch.randn(60, 8)
    (expanded,) = torch.autograd.grad(layer(x, positions).sum(), [layer.weight])
    (plain,) = torch.autograd.grad((layer(x, positions) * torch.ones(60, 16)).sum(), [layer.weight])
    assert torch.equal(expanded, plain)

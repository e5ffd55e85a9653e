"""The learned function of the similarity."""

import dataclasses

import pytest
import torch

import graphreach as gr
from nn_literal import (
    assert_near,
    assert_same_function,
    force_plain,
    gradients,
    in_single,
    literal_map,
    random_weights,
    small_matrices,
    small_positions,
)


def dense(positions, values):
    return values.view(positions.num_nodes, positions.width)


@pytest.mark.parametrize("method", ["exact", "walks"])
@pytest.mark.parametrize("hops", [None, 1, 2, 4])
def test_map_is_a_network_on_every_entry(method, hops):
    network = random_weights(gr.nn.SimilarityMap(hops or 1))
    positions = small_positions(hops=hops, method=method)
    weights = list(network.parameters())
    background = network(positions)[2]
    for direction, S in enumerate(small_matrices(hops, method)):
        found = dense(positions, network(positions)[direction])
        assert_same_function(found, weights, literal_map(network, S), weights, 1e-10)
    zero = torch.zeros(1, 1, hops or 1, dtype=torch.float64)
    assert_near(background.view(1, 1), literal_map(network, zero), 1e-12)

    single = in_single(network)
    found = dense(positions, single(positions.to(torch.float32))[0])
    expected = literal_map(network, small_matrices(hops, method)[0])
    assert_same_function(found, list(single.parameters()), expected, weights, 1e-5)


def map_and_gradients(network, positions):
    to, back, background = network(positions)
    return [
        to.detach(),
        back.detach(),
        *gradients(torch.cat([to, back, background.view(1)]), list(network.parameters())),
    ]


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_looking_up_equals_mapping_every_entry(layout):
    network = gr.nn.SimilarityMap()
    positions = small_positions(layout, torch.float32, method="walks")
    assert positions.levels is not None
    looked_up = map_and_gradients(network, positions)
    fresh = dataclasses.replace(positions)
    vars(fresh)["levels"] = None  # as if there were too many
    mapped = map_and_gradients(network, fresh)
    for one, other in zip(looked_up, mapped, strict=True):
        assert_near(one, other, 1e-5)


@pytest.mark.parametrize("hops", [None, 3])
def test_fused_and_plain_map_agree(hops, monkeypatch):
    network = gr.nn.SimilarityMap(hops or 1)
    positions = small_positions("csr", torch.float32, hops)
    fused = map_and_gradients(network, positions)
    force_plain(monkeypatch)
    for one, other in zip(fused, map_and_gradients(network, positions), strict=True):
        assert_near(one, other, 1e-5)


@pytest.mark.parametrize("hops", [2, 4])
@pytest.mark.parametrize("nodes", [3, 600])
def test_entries_that_are_zero_are_mapped_once(hops, nodes, monkeypatch):
    path = gr.Graph.from_edges([list(range(nodes - 1)), list(range(1, nodes))])
    reach = gr.reachability(path, [0, nodes // 2], method="exact", hops=hops, layout="dense")
    positions = reach.to_torch().to(torch.float64)
    place, values = positions.filled[0]
    filled = int((positions.to_values.view(-1, hops) != 0).any(1).sum())
    assert values.shape == (hops, filled if nodes == 600 else positions.to_values.numel() // hops)
    assert len(place) == (filled if nodes == 600 else 0)
    network = random_weights(gr.nn.SimilarityMap(hops))
    fused = map_and_gradients(network, positions)
    force_plain(monkeypatch)
    for one, other in zip(fused, map_and_gradients(network, positions), strict=True):
        assert_near(one, other, 1e-10)


def test_gradcheck():
    network = random_weights(gr.nn.SimilarityMap(2), seed=5)
    positions = small_positions(hops=2)
    names, weights = zip(*network.named_parameters(), strict=True)

    def function(*weights):
        return torch.func.functional_call(network, dict(zip(names, weights, strict=True)), (positions,))

    assert torch.autograd.gradcheck(function, [weight.detach().clone().requires_grad_() for weight in weights])


def test_levels_are_the_different_values():
    positions = small_positions(method="walks", dtype=torch.float32)
    levels, *places = positions.levels
    different = 0
    for values, place in zip((positions.to_values, positions.from_values), places, strict=True):
        assert torch.equal(levels[place.long()], values)
        different += len(torch.unique(values))
    assert levels[0] == 0
    assert len(levels) == 1 + different
    assert positions.levels[0] is levels
    nodes = torch.tensor([3, 1])
    rows = positions.rows(nodes)
    assert rows.levels[0] is levels
    for values, place in zip((rows.to_values, rows.from_values), rows.levels[1:], strict=True):
        assert torch.equal(levels[place.long()], values)


def test_more_values_than_can_be_listed_are_mapped_one_by_one():
    values = torch.rand(200, 120)
    positions = gr.nn.Positions.dense(values, values.flip(0), torch.arange(120))
    assert positions.levels is None
    assert positions.to(torch.float64).levels is None


def test_repr_and_reset_parameters():
    network = gr.nn.SimilarityMap(4)
    assert repr(network) == "SimilarityMap(4, hidden_channels=32)"
    before = network.hidden.weight.clone()
    network.reset_parameters()
    assert not torch.equal(before, network.hidden.weight)

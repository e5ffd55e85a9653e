"""Named settings."""

import pytest
import torch

import graphreach as gr
from graphreach.errors import InputError
from graphreach.nn.presets import preset
from nn_literal import ring_with_chords


def test_names():
    assert list(gr.nn.PRESETS) == ["paper", "authors", "best"]


def test_paper_is_the_equations():
    settings = preset("paper")
    plain = gr.nn.GraphReach(0)
    chosen = gr.nn.GraphReach(0, **settings.model)
    assert chosen.config == plain.config
    assert settings.scale is None


def test_switches_are_off_by_default():
    config = gr.nn.GraphReach(4).config
    off = {"similarity_map": None, "message_activation": None, "hops": None, "local": None, "decoder": "dot"}
    assert {name: config[name] for name in off} == off
    assert config["similarity"] is True
    assert config["bias"] is False


def test_authors_has_what_reference_says():
    model = gr.nn.GraphReach(0, **preset("authors").model)
    conv = model.convs[0]
    assert conv.message_activation == "relu"
    assert conv.bias is not None
    assert conv.similarity_map is not None
    assert model.projection is not None
    assert conv.att.requires_grad
    assert preset("authors").scale == "counts"
    assert preset("authors").reachability["walk_length"] == 19


@pytest.mark.parametrize("name", ["paper", "authors", "best"])
def test_every_preset_trains(name):
    settings, graph = preset(name), ring_with_chords()
    reach = gr.reachability(graph, range(0, 60, 6), **settings.reachability).rescaled(settings.scale)
    model = gr.nn.GraphReach(0, 8, **settings.model)
    z = model(None, reach)
    assert z.shape == (60, 10)
    model.score_pairs(z, torch.tensor([[0, 1], [2, 3]])).sum().backward()
    assert all(weight.grad is not None for weight in model.parameters())


def test_unknown_name_suggests():
    with pytest.raises(
        InputError, match="preset must be one of paper, authors, best, got 'papre'; did you mean 'paper'"
    ):
        preset("papre")
    with pytest.raises(InputError, match=r"got 'xyz'$"):
        preset("xyz")

"""What suits a graph: steps by cost, lengths by distance."""

import numpy as np
import pytest

import graphreach as gr
from graphreach.errors import InputError
from graphreach.pairs import PairRecipe, recipe
from helpers import random_graph


def test_a_small_world_gets_short_walks_and_a_grid_long_ones():
    grid = gr.datasets.load("grid")[0].graph
    assert PairRecipe.for_graph(grid, 1000).lengths == recipe.LONG_LENGTHS
    assert PairRecipe.for_graph(grid, 1000).steps == recipe.LONG_STEPS
    small = random_graph(200, 2000, False, False)
    assert PairRecipe.for_graph(small, 1000) == PairRecipe(recipe.MOST_STEPS)


def test_more_pairs_get_fewer_steps_and_at_last_walks(monkeypatch):
    graph = random_graph(2000, 60_000, False, False)
    steps = []
    for budget in (10**10, 10**9, 7 * 10**8, 5 * 10**8, 10**7):
        monkeypatch.setattr(recipe, "BUDGET", budget)
        found = PairRecipe.for_graph(graph, 10**5)
        steps.append(found.steps if found.method == "exact" else 0)
    assert steps == sorted(steps, reverse=True)
    assert steps[0] == recipe.MOST_STEPS
    assert steps[-1] == 0
    assert any(recipe.STEPS <= each < recipe.MOST_STEPS for each in steps)


def test_what_is_given_stays():
    graph = random_graph(50, 100, True, False)
    found = PairRecipe.for_graph(graph, 10, steps=3, lengths=[2, 5], num_anchors=7)
    assert found == PairRecipe(3, (2, 5), 7, directed=True)
    assert PairRecipe.for_graph(graph, 10, method="walks").steps == 4
    assert PairRecipe(**{**found.as_dict(), "lengths": tuple(found.as_dict()["lengths"])}) == found


def test_a_graph_without_edges_has_a_recipe():
    graph = gr.Graph.from_edges(np.empty((2, 0), int), num_nodes=3)
    assert PairRecipe.for_graph(graph, 10).num_anchors == 3


@pytest.mark.parametrize("lengths", [(), (0,), (4, 5000)])
def test_lengths_are_numbers_of_jumps(lengths):
    with pytest.raises(InputError, match="lengths must be"):
        PairRecipe(lengths=lengths)


def test_auto_is_chosen_on_the_graph_that_pairs_are_in(monkeypatch):
    graph = random_graph(500, 5000, False, False)
    assert PairRecipe(6, method="auto").resolved(graph).method == "exact"
    monkeypatch.setattr(recipe, "BUDGET", 10**6)
    assert PairRecipe(6, method="auto").resolved(graph) == PairRecipe(6, method="walks")
    assert PairRecipe(6).resolved(graph).method == "exact"


def test_a_graph_in_many_pieces_gets_more_anchors(monkeypatch):
    paths = np.arange(1800).reshape(-1, 3)
    edges = np.concatenate([paths[:, :2], paths[:, 1:]]).T
    assert PairRecipe.for_graph(gr.Graph.from_edges(edges), 100).num_anchors == 512
    assert PairRecipe.for_graph(gr.Graph.from_edges(edges[:, edges.max(0) < 180]), 100).num_anchors == 128
    assert PairRecipe.for_graph(gr.Graph.from_edges(paths[:, :2].T), 100).num_anchors == 128  # pairs have no third node
    long = np.stack([np.arange(1800, 9000), np.arange(1801, 9001)])
    assert PairRecipe.for_graph(gr.Graph.from_edges(np.concatenate([edges, long], axis=1)), 100).num_anchors == 128
    monkeypatch.setattr("graphreach.pairs.recipe.PIECES_NODES", 1000)
    assert PairRecipe.for_graph(gr.Graph.from_edges(edges), 100).num_anchors == 128

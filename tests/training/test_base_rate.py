"""Base rates, counted by hand."""

import numpy as np
import polars as pl
import pytest

import graphreach as gr
from graphreach.errors import InputError
from graphreach.pairs.direct import without_edges
from graphreach.tasks import split
from graphreach.tasks.link_split import keep_edges
from graphreach.training.base_rate import check_prior, density
from helpers import path

FRAME = pl.DataFrame({"user": ["a", "a", "b", "c"], "item": ["x", "y", "y", "x"]})


def test_density_counts_pairs_once_and_directions_twice():
    assert density([path(4)]) == 3 / 6
    assert density([path(4, directed=True)]) == 3 / 12
    assert density([path(4), path(3)]) == 5 / 9


@pytest.mark.parametrize("directed", [False, True])
def test_of_two_kinds_of_nodes_pairs_between_them_count(directed):
    assert density([gr.Graph.from_frame(FRAME, directed=directed)]) == 4 / 6
    assert density([gr.Graph.from_frame(FRAME, bipartite=False)]) == 4 / 10


def test_edges_both_ways_between_two_kinds_of_nodes():
    graph = gr.Graph.from_frame(FRAME, directed=True)
    both = gr.Graph.from_edges(np.concatenate([graph.edge_index, graph.edge_index[::-1][:, :1]], 1), directed=True)
    both.sides = graph.sides
    assert density([both]) == 5 / 12


def test_a_graph_without_some_links_keeps_its_two_kinds_of_nodes():
    graph = gr.Graph.from_frame(FRAME)
    fewer = without_edges(graph, graph.edge_index[:, :1])
    assert density([fewer]) == 3 / 6
    assert keep_edges(graph, np.empty(0, np.int64)).sides.tolist() == graph.sides.tolist()
    many = gr.Graph.from_frame(pl.DataFrame({"user": np.repeat(np.arange(10), 4), "item": np.arange(40) % 13}))
    seen = split(gr.datasets.Sample(many), "link").graph
    assert density([seen]) == seen.num_edges / 130


@pytest.mark.parametrize("prior", ["foo", 0, 1, 1.5, -0.1, None, True, float("nan")])
def test_priors_are_shares_or_density(prior):
    with pytest.raises(InputError, match=r'^prior must be "density" or a share between 0 and 1, got '):
        check_prior(prior)
    check_prior("density")
    check_prior(np.float32(0.5))

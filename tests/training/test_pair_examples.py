"""Pairs to learn from."""

import numpy as np
import polars as pl
import pytest

import graphreach as gr
from graphreach.errors import InputError
from graphreach.training.pair_examples import link_examples, relation_examples
from helpers import path, random_graph


def two_kinds(directed=False):
    rng = np.random.default_rng(0)
    linked = np.argwhere(rng.random((15, 9)) < 0.3)
    return gr.Graph.from_frame(pl.DataFrame({"user": linked[:, 0], "item": linked[:, 1]}), directed=directed)


def edges_of(graph):
    return {tuple(edge) for edge in graph.edge_index.T.tolist()}


@pytest.mark.parametrize("negatives", ["uniform", "degree"])
@pytest.mark.parametrize("directed", [False, True])
def test_others_are_between_the_two_kinds_of_nodes(negatives, directed):
    graph = two_kinds(directed)
    found = link_examples(graph, negatives, 1000, False, 0)
    others = found.pairs[:, found.y == 0]
    assert (graph.sides[others].sum(axis=0) == 1).all()
    assert others.shape[1] == graph.num_edges
    assert not edges_of(graph).intersection(map(tuple, others.T.tolist()))
    if directed:
        assert (graph.sides[others[0]] == 0).all()


@pytest.mark.parametrize("negatives", ["uniform", "degree"])
def test_others_of_a_graph_with_one_kind_of_nodes(negatives):
    graph = random_graph(30, 60)
    found = link_examples(graph, negatives, 20, False, 0)
    links, others = ({tuple(pair) for pair in found.pairs[:, found.y == kind].T.tolist()} for kind in (1, 0))
    assert len(links) == len(others) == 20
    assert links < edges_of(graph)
    assert not others & edges_of(graph)


def test_what_links_cannot_be_learned_from():
    full = gr.Graph.from_frame(pl.DataFrame({"user": [0, 0, 1, 1], "item": [0, 1, 0, 1]}))
    with pytest.raises(InputError, match="between its two kinds of nodes that are not linked to learn from, got none"):
        link_examples(full, "uniform", 10, False, 0)
    with pytest.raises(InputError, match="at least 4 links to learn from, got 2"):
        link_examples(path(3), "uniform", 10, False, 0)


def test_a_pair_that_is_listed_as_both_kinds_is_refused():
    sentence = r"^y must be the same wherever a pair is listed, got both 1 and 0 for 2 and 0$"
    with pytest.raises(InputError, match=sentence):
        relation_examples(path(4), [(0, 1), (2, 0), (0, 2)], [1, 1, 0])
    directed = path(4, directed=True)
    assert relation_examples(directed, [(0, 1), (2, 0), (0, 2)], [1, 1, 0]).pairs.shape == (2, 3)
    with pytest.raises(InputError, match=sentence):
        relation_examples(directed, [(2, 0), (2, 0)], [1, 0])
    assert relation_examples(path(4), [(0, 1), (1, 0), (0, 2)], [1, 1, 0]).y.tolist() == [1, 1, 0]


@pytest.mark.parametrize("kind", [0, 1])
def test_pairs_of_one_kind_are_refused(kind):
    with pytest.raises(
        InputError, match=f"^y must have pairs of both kinds, 1 and 0, to learn from, got {kind} alone$"
    ):
        relation_examples(path(4), [(0, 1), (0, 2)], [kind, kind])

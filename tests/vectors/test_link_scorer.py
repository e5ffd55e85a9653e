"""Links by vectors alone: which pairs a scorer learns from."""

import numpy as np
import polars as pl
import pytest

import graphreach as gr
from graphreach.vectors import link_scorer
from graphreach.vectors.link_scorer import fit_with_links
from helpers import random_graph


class Recorded:
    """Vectors that say nothing, and remember which pairs they were asked about."""

    def __init__(self):
        self.asked = []

    def columns(self, pairs):
        self.asked.append(pairs)
        return np.random.default_rng(len(self.asked)).random((pairs.shape[1], 2), np.float32)

    def alike(self, pairs):
        return np.zeros(pairs.shape[1], np.float32)


def others_of(graph):
    vectors = Recorded()
    fit_with_links(graph, lambda *_: vectors, 0)
    return vectors.asked[1]


@pytest.mark.parametrize("directed", [False, True])
def test_other_pairs_are_between_the_two_kinds_of_nodes(directed):
    rng = np.random.default_rng(0)
    linked = np.argwhere(rng.random((40, 30)) < 0.2)
    graph = gr.Graph.from_frame(pl.DataFrame({"user": linked[:, 0], "item": linked[:, 1]}), directed=directed)
    others = others_of(graph)
    assert (graph.sides[others].sum(axis=0) == 1).all()
    assert set(graph.sides[others[0]].tolist()) == ({0} if directed else {0, 1})


def test_a_graph_with_one_kind_of_nodes_has_pairs_among_all():
    graph = random_graph(40, 200)
    rng = np.random.default_rng([0, 0x6C696E6B])
    count = int(link_scorer.HELD_OUT * graph.num_edges)
    drawn = rng.integers(0, 40, (2, 2 * count))
    dense = graph.to_scipy().toarray() > 0
    free = drawn[:, (drawn[0] != drawn[1]) & ~dense[drawn[0], drawn[1]]]
    assert np.array_equal(others_of(graph), free[:, :count])

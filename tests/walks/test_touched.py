"""The estimate of what an update costs against walks that are counted."""

import numpy as np
import pytest

import graphreach as gr
from graphreach import InputError
from graphreach.walks.touched import touched_shares


def counted(graph, pairs, num_walks=200, length=6):
    """Visits to the ends of pairs in all steps but the last, per walk, from walks themselves."""
    walks = gr.random_walks(graph, num_walks=num_walks, walk_length=length)[:, :, :-1]
    visits = np.bincount(walks[walks >= 0].ravel(), minlength=graph.num_nodes) / (graph.num_nodes * num_walks)
    return float((visits[pairs[0]] if graph.directed else visits[pairs].sum(axis=0)).mean())


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_expected_visits_are_those_of_walks(directed, weighted):
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 60, (2, 200)) ** 2 // 60  # some nodes have many edges
    weight = rng.uniform(0.1, 5.0, 200) if weighted else None
    graph = gr.Graph.from_edges(ends, num_nodes=60, edge_weight=weight, directed=directed, reduce="sum")
    found = touched_shares(graph, 6)
    every = np.indices((60, 60)).reshape(2, -1)
    if directed:
        assert found.random_pairs == pytest.approx(counted(graph, every), rel=0.02)
        assert found.at_edges == pytest.approx(counted(graph, graph.edge_index), rel=0.05)
    else:
        assert found.random_pairs == pytest.approx(min(1.0, counted(graph, every)), rel=0.02)
        assert found.at_edges == pytest.approx(min(1.0, counted(graph, graph.edge_index)), rel=0.05)


def test_a_share_is_never_more_than_all_walks():
    assert touched_shares(gr.Graph.from_edges([[0], [1]]), 10) == (1.0, 1.0)


def test_a_graph_without_edges():
    assert touched_shares(gr.Graph.from_edges(np.empty((2, 0), int), num_nodes=4), 3).at_edges == 0.0


def test_odd_lengths_are_refused():
    with pytest.raises(InputError, match="walk_length must be a positive integer, got 0"):
        touched_shares(gr.Graph.from_edges([[0], [1]]), 0)

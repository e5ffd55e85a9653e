"""Walks that meet in the middle against dense powers: without bias, and the same on any number of threads."""

import numba
import numpy as np
import pytest

from graphreach.pairs.direct import edge_weights, exact_between, sampled_between, without_edges
from graphreach.pairs.meeting import meeting_powers
from helpers import KIND_NAMES, KINDS, matrix_powers, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)


@kinds
@pytest.mark.parametrize("num_walks", [2, 60])
def test_meetings_estimate_the_powers(directed, weighted, num_walks):
    """With two walks the first step is sampled at most nodes, with sixty it is exact everywhere."""
    graph = random_graph(30, 160, directed, weighted)
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 30, (2, 60))
    dense, repeats = matrix_powers(graph, 6), 6000 // num_walks
    found = np.array([meeting_powers(graph, pairs, num_walks, seed) for seed in range(repeats)])
    error = found.std(axis=0) / np.sqrt(repeats)
    for column in range(found.shape[2]):
        expected = dense[column + 1][pairs[0], pairs[1]]
        away = np.abs(found[:, :, column].mean(axis=0) - expected)
        assert (away <= 5 * error[:, column] + 1e-12).all()


@kinds
def test_meetings_do_not_depend_on_threads(directed, weighted):
    graph = random_graph(60, 200, directed, weighted)
    pairs = np.random.default_rng(1).integers(0, 60, (2, 300))
    before = numba.get_num_threads()
    found = []
    try:
        for count in (1, before):
            numba.set_num_threads(count)
            found.append(meeting_powers(graph, pairs, 16, 5))
    finally:
        numba.set_num_threads(before)
    assert (found[0] == found[1]).all()
    assert (meeting_powers(graph, pairs[:, 7:9], 16, 5) == found[0][7:9]).all()


@kinds
def test_edges_between_pairs_are_found_and_taken_out(directed, weighted):
    graph = random_graph(40, 120, directed, weighted)
    pairs = np.random.default_rng(2).integers(0, 40, (2, 200))
    matrix = graph.to_scipy().toarray()
    assert (edge_weights(graph, pairs) == matrix[pairs[0], pairs[1]]).all()
    matrix[pairs[0], pairs[1]] = matrix[pairs[1], pairs[0]] = 0
    left = without_edges(graph, pairs)
    assert (left.to_scipy().toarray() == matrix).all()
    assert left.directed == graph.directed
    assert (left.ids == graph.ids).all()


@kinds
def test_one_step_is_exact(directed, weighted):
    graph = random_graph(40, 160, directed, weighted)
    pairs = graph.edge_index[:, :50]
    sampled, exact = sampled_between(graph, pairs, 4, 8, 0), exact_between(graph, pairs, 4, 4)
    np.testing.assert_allclose(sampled[:, :, :2], exact[:, :, :2])

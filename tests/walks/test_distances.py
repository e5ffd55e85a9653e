"""Distances to sets of nodes against networkx."""

import networkx as nx
import numba
import numpy as np
import pytest

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.walks.rng import hash_nodes
from helpers import KIND_NAMES, KINDS, cycle, grid, path, random_graph, set_distances


def literal(graph, sets, max_distance, seed):
    """All shortest paths, then for each node and set the closest member, ties by the hash."""
    G = nx.DiGraph()
    G.add_nodes_from(range(graph.num_nodes))
    G.add_edges_from(graph.edge_index.T.tolist())
    lengths = dict(nx.all_pairs_shortest_path_length(G))
    order = hash_nodes(seed, np.arange(graph.num_nodes))
    distance = np.full((graph.num_nodes, len(sets)), -1)
    nearest = np.full((graph.num_nodes, len(sets)), -1)
    for v in range(graph.num_nodes):
        for s, members in enumerate(sets):
            reached = [(lengths[v][u], order[u], u) for u in members if u in lengths[v]]
            if reached and (max_distance is None or min(reached)[0] <= max_distance):
                distance[v, s], _, nearest[v, s] = min(reached)
    return distance, nearest


def random_sets(num_nodes, seed=0, count=19):
    rng = np.random.default_rng(seed)
    return [rng.choice(num_nodes, rng.integers(1, num_nodes), replace=False) for _ in range(count)]


@pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
@pytest.mark.parametrize("num_edges", [20, 60, 200])
@pytest.mark.parametrize("max_distance", [None, 1, 2, 3])
def test_random_graphs(directed, weighted, num_edges, max_distance):
    graph = random_graph(50, num_edges, directed, weighted, seed=num_edges)
    sets = [*random_sets(50), [7], [], [3, 3, 9]]
    distance, nearest = set_distances(graph, sets, max_distance, seed=5)
    expected = literal(graph, sets, max_distance, 5)
    np.testing.assert_array_equal(distance, expected[0])
    np.testing.assert_array_equal(nearest, expected[1])


@pytest.mark.parametrize("graph", [grid(7), cycle(12), path(9, directed=True)], ids=["grid", "cycle", "directed path"])
def test_shapes_with_many_ties(graph):
    sets = random_sets(graph.num_nodes, count=30)
    for seed in range(3):
        found = set_distances(graph, sets, seed=seed)
        for actual, expected in zip(found, literal(graph, sets, None, seed), strict=True):
            np.testing.assert_array_equal(actual, expected)


def test_by_hand():
    """0 -> 1 -> 2, node 3 alone: from 0 two hops to 2, from 2 no way back."""
    graph = Graph.from_edges([[0, 1], [1, 2]], 4, directed=True)
    distance, nearest = set_distances(graph, [[2], [0, 3]])
    assert distance.tolist() == [[2, 0], [1, -1], [0, -1], [-1, 0]]
    assert nearest.tolist() == [[2, 0], [2, -1], [2, -1], [-1, 3]]


def test_ties_depend_on_the_seed_only():
    graph, sets = cycle(30), [[0, 10, 20], [20, 0, 10]]
    first = set_distances(graph, sets, seed=1).nearest
    np.testing.assert_array_equal(first[:, 0], first[:, 1])
    assert any((set_distances(graph, sets, seed=seed).nearest != first).any() for seed in range(2, 9))


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
def test_threads_do_not_matter():
    graph, sets = random_graph(400, 900), random_sets(400, count=50)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = set_distances(graph, sets)
        numba.set_num_threads(2)
        two = set_distances(graph, sets)
    finally:
        numba.set_num_threads(before)
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)


def test_wrong_input():
    with pytest.raises(InputError, match="max_distance must be a positive integer, got 0"):
        set_distances(cycle(5), [[0]], max_distance=0)
    with pytest.raises(InputError, match="seed must be an integer from 0"):
        set_distances(cycle(5), [[0]], seed=-1)


def test_nothing():
    assert set_distances(cycle(5), []).distance.shape == (5, 0)
    assert set_distances(Graph.from_edges(np.empty((2, 0), int), 2), [[1]]).distance.tolist() == [[-1], [0]]

"""Candidates against rows of dense matrices."""

import sys

import numpy as np
import polars as pl
import pytest

from graphreach.graph import Graph
from graphreach.pairs import PairFeatures, PairRecipe
from graphreach.pairs.candidates import candidates
from helpers import KIND_NAMES, KINDS, cycle, matrix_powers, path, random_graph


def described(graph, **recipe):
    recipe = {"lengths": (3,), "num_anchors": min(8, graph.num_nodes), "directed": graph.directed} | recipe
    return PairFeatures(graph, PairRecipe(steps=3, **recipe))


@pytest.fixture
def three_steps(monkeypatch):
    monkeypatch.setattr(sys.modules[candidates.__module__], "FAR", 3)


def scores(graph):
    """What ranks candidates: P^2 + P^3, and in a directed graph P + P^2 + P^3 back."""
    powers = matrix_powers(graph, 3)
    both = [powers[1] + powers[2], powers.sum(axis=0).T]
    linked = (graph.to_scipy().toarray() > 0) | np.eye(graph.num_nodes, dtype=bool)
    return [np.where(linked, 0, each) for each in (both if graph.directed else both[:1])]


def partners(pairs, node):
    return set(pairs[1, pairs[0] == node].tolist())


@pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
def test_all_that_walks_reach_where_there_is_room(directed, weighted, three_steps):
    graph = random_graph(60, 90, directed, weighted)
    pairs = candidates(described(graph), np.arange(60), 1000, nearest=False)
    expected = np.logical_or.reduce([each > 0 for each in scores(graph)])
    assert np.array_equal(pairs, np.stack(np.nonzero(expected)))


@pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
def test_the_best_of_a_row_are_kept(directed, weighted, three_steps):
    graph = random_graph(60, 150, directed, weighted)
    pairs = candidates(described(graph), np.arange(60), 8, nearest=False)
    for u in range(60):
        found, allowed = partners(pairs, u), set()
        for each in scores(graph):
            own = each[u]
            count = min(8 // (2 if directed else 1), np.count_nonzero(own))
            limit = np.sort(own)[::-1][count - 1] if count else np.inf
            assert set(np.flatnonzero(own > limit * (1 + 1e-12)).tolist()) <= found
            allowed |= set(np.flatnonzero(own >= limit * (1 - 1e-12)).tolist())
        assert found <= allowed
        assert len(found) <= 8


def test_nearest_positions_are_those_of_a_dense_product():
    graph = random_graph(50, 120)
    features = described(graph, lengths=(2, 5))
    alike = np.zeros((50, 50))
    for rows in features.positions():
        length = np.linalg.norm(rows.astype(float), axis=1)
        alike += rows.astype(float) @ rows.T / (np.outer(length, length) + 0.01)
    alike[(graph.to_scipy().toarray() > 0) | np.eye(50, dtype=bool)] = 0
    nodes = np.array([7, 3, 20])
    walked = candidates(features, nodes, 12, nearest=True)
    reached = candidates(features, nodes, 9, nearest=False)
    for u in nodes:
        near = set(np.argsort(-alike[u])[:3].tolist())
        assert partners(walked, u) == near | partners(reached, u)


def test_neither_links_nor_the_node_itself():
    graph = Graph.from_edges([[0, 1, 2, 3, 3], [1, 2, 3, 0, 3]], self_loops=True)
    pairs = candidates(described(graph), np.arange(4))
    assert sorted(zip(*pairs.tolist(), strict=True)) == [(0, 2), (1, 3), (2, 0), (3, 1)]


def test_links_are_candidates_of_another_relation():
    pairs = candidates(described(path(4), own_edge=True), np.array([0]), nearest=False)
    assert partners(pairs, 0) == {1, 2, 3}


def test_nodes_without_edges_have_none():
    graph = Graph.from_edges([[0, 1], [1, 2]], 5)
    pairs = candidates(described(graph), np.array([4, 0, 3]))
    assert pairs.tolist() == [[0], [2]]
    assert candidates(described(graph), np.empty(0, np.int64)).shape == (2, 0)


def test_directed_candidates_are_reached_or_reach(three_steps):
    graph = path(6, directed=True)
    pairs = candidates(described(graph), np.array([2]), nearest=False)
    assert partners(pairs, 2) == {0, 1, 4, 5}  # 1 -> 2 is an edge, 2 -> 1 is none


def test_listed_nodes_have_the_candidates_that_they_have_among_all():
    graph = random_graph(300, 1200, seed=3)
    features = described(graph)
    every = candidates(features, np.arange(300), 20)
    for u in (0, 17, 299):
        assert np.array_equal(candidates(features, np.array([u]), 20), every[:, every[0] == u])
    order = candidates(features, np.array([17, 0]), 20)
    assert np.array_equal(order, np.concatenate([every[:, every[0] == u] for u in (17, 0)], axis=1))


def test_hubs_cost_no_more_than_the_budget():
    """A leaf of a star with more leaves than the budget: some of them, not all."""
    leaves = 1 << 17
    star = Graph.from_edges([np.zeros(leaves, np.int64), np.arange(1, leaves + 1)])
    pairs = candidates(described(star, num_anchors=1), np.array([5]), 50, nearest=False)
    assert pairs.shape[1] == 50


def test_small_shares_wait_where_the_budget_is_short():
    """Node 0 has a hub and a friend; the friend's friends pass more to each and come first."""
    leaves = 1 << 17
    hub, friend, close = 1, 2, [3, 4, 5]
    far = np.arange(6, 6 + leaves)
    source = np.concatenate([[0, 0], np.full(3, friend), np.full(leaves, hub)])
    graph = Graph.from_edges([source, np.concatenate([[hub, friend], close, far])])
    pairs = candidates(described(graph, num_anchors=1), np.array([0]), 6, nearest=False)
    assert set(close) <= partners(pairs, 0)


def test_steps_go_on_where_few_are_reached():
    features = described(cycle(30))
    assert partners(candidates(features, np.array([0]), 100, nearest=False), 0) == {*range(2, 13), *range(18, 29)}
    assert partners(candidates(features, np.array([0]), 4, nearest=False), 0) == {2, 3, 27, 28}


def test_a_ring_has_what_is_two_and_three_steps_away(three_steps):
    pairs = candidates(described(cycle(20)), np.array([0]), nearest=False)
    assert partners(pairs, 0) == {2, 3, 17, 18}


def two_kinds(directed=False, seed=0):
    """Users and items, and for each node those of the other kind that it has no edge with."""
    linked = np.random.default_rng(seed).random((30, 20)) < 0.15
    users, items = np.nonzero(linked)
    frame = pl.DataFrame({"user": users, "item": items})
    return Graph.from_frame(frame, directed=directed)


@pytest.mark.parametrize("nearest", [False, True])
def test_candidates_are_of_the_other_kind(nearest):
    graph = two_kinds()
    pairs = candidates(described(graph), np.arange(graph.num_nodes), 1000, nearest=nearest)
    side, dense = graph.sides, graph.to_scipy().toarray()
    assert (side[pairs].sum(axis=0) == 1).all()
    assert not dense[pairs[0], pairs[1]].any()
    free = (side[:, None] != side) & (dense == 0)
    assert pairs.shape[1] == free.sum()  # the graph is connected, and there is room for all


def test_the_best_of_the_other_kind_are_kept(three_steps):
    graph = two_kinds()
    own = matrix_powers(graph, 3)[2]
    pairs = candidates(described(graph), np.array([3]), 4, nearest=False)
    free = np.flatnonzero((graph.sides != graph.sides[3]) & (graph.to_scipy().toarray()[3] == 0))
    best = free[np.argsort(-own[3, free], kind="stable")[:4]]
    assert own[3, pairs[1]].sum() == pytest.approx(own[3, best].sum())


def test_another_relation_may_hold_within_a_kind():
    graph = two_kinds()
    pairs = candidates(described(graph, own_edge=True), np.arange(graph.num_nodes), 1000, nearest=False)
    assert {0, 1, 2} == set(graph.sides[pairs].sum(axis=0).tolist())


def test_where_all_edges_leave_one_kind_the_other_has_no_candidates():
    graph = two_kinds(directed=True)
    pairs = candidates(described(graph), np.arange(graph.num_nodes), 1000)
    assert not (graph.sides[pairs[0]] == 1).any()
    assert not (graph.sides[pairs[1]] == 0).any()

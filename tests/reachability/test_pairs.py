"""Reachability of listed pairs against dense powers and literal counts."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.reachability import pair_reachability, reachability
from graphreach.walks import random_walks
from helpers import KIND_NAMES, KINDS, count_visits, cycle, matrix_powers, path, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
N = 50
# positions up to 49, so self pairs and repeats are among them
PAIRS = np.concatenate(
    [np.random.default_rng(0).integers(0, N, (300, 2)).T, [[3, 4, 1, 1, 2], [3, 4, 2, 2, 1]]], axis=1
)
U, V = PAIRS


@kinds
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("num_edges", [60, 150, 600])
def test_eq1_of_pairs_is_the_mean_of_the_powers(directed, weighted, length, num_edges):
    graph = random_graph(N, num_edges, directed, weighted, seed=length)
    mean = matrix_powers(graph, length).mean(axis=0)
    got = pair_reachability(graph, PAIRS, walk_length=length)
    assert got.dtype == np.float32
    assert got.shape == (PAIRS.shape[1], 2)
    assert np.abs(got - np.stack([mean[U, V], mean[V, U]], axis=1)).max() < 1e-6


@kinds
@pytest.mark.parametrize("hops", [1, 2, 3, 6])
def test_hops_of_pairs_are_the_powers(directed, weighted, hops):
    graph = random_graph(N, 150, directed, weighted, seed=hops)
    powers = matrix_powers(graph, hops)
    got = pair_reachability(graph, PAIRS, hops=hops)
    assert got.shape == (PAIRS.shape[1], 2, hops)
    assert np.abs(got[:, 0] - powers[:, U, V].T).max() < 1e-6
    assert np.abs(got[:, 1] - powers[:, V, U].T).max() < 1e-6


@kinds
@settings(deadline=None, max_examples=30)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), min_size=1, max_size=40),
    length=st.integers(1, 5),
    num_edges=st.integers(1, 80),
)
def test_any_list_of_pairs(directed, weighted, pairs, length, num_edges):
    """Few targets are pulled, many are spread: either way the numbers are those of the powers."""
    graph = random_graph(20, num_edges, directed, weighted, seed=num_edges)
    mean = matrix_powers(graph, length).mean(axis=0)
    u, v = np.array(pairs).T
    got = pair_reachability(graph, [u, v], walk_length=length)
    assert np.abs(got - np.stack([mean[u, v], mean[v, u]], axis=1)).max() < 1e-6


@kinds
@pytest.mark.parametrize("num_walks", [7, 600])
def test_walks_of_pairs_equal_literal_counts(directed, weighted, num_walks):
    graph = random_graph(N, 150, directed, weighted)
    counts, _ = count_visits(random_walks(graph, num_walks=num_walks, walk_length=4, seed=6), N)
    options = {"method": "walks", "num_walks": num_walks, "seed": 6}
    share = counts / num_walks
    hops = pair_reachability(graph, PAIRS, hops=4, **options)
    assert np.abs(hops[:, 0] - share[U, V]).max() < 1e-6
    assert np.abs(hops[:, 1] - share[V, U]).max() < 1e-6
    total = pair_reachability(graph, PAIRS, walk_length=4, **options)
    assert np.abs(total - np.stack([share[U, V], share[V, U]], axis=1).mean(axis=2)).max() < 1e-6


@pytest.mark.parametrize("method", ["exact", "walks"])
@kinds
def test_pairs_agree_with_anchors(directed, weighted, method):
    graph = random_graph(N, 150, directed, weighted)
    reach = reachability(graph, np.arange(N), method, walk_length=4, num_walks=20, layout="dense")
    got = pair_reachability(graph, PAIRS, method, walk_length=4, num_walks=20)
    assert np.abs(got[:, 0] - reach.to_anchors[U, V]).max() < 1e-6
    assert np.abs(got[:, 0] - reach.from_anchors[V, U]).max() < 1e-6


@pytest.mark.parametrize("method", ["exact", "walks"])
def test_pairs_do_not_depend_on_the_others(method):
    graph = random_graph(N, 150, weighted=True)
    whole = pair_reachability(graph, PAIRS, method)
    order = np.random.default_rng(1).permutation(PAIRS.shape[1])[:40]
    assert np.abs(pair_reachability(graph, PAIRS[:, order], method) - whole[order]).max() < 1e-6
    assert np.abs(pair_reachability(graph, PAIRS[::-1], method) - whole[:, ::-1]).max() < 1e-6


def test_sources_come_in_pieces(monkeypatch):
    graph = random_graph(N, 150, directed=True)
    exact, walks = (pair_reachability(graph, PAIRS, method) for method in ("exact", "walks"))
    monkeypatch.setattr(importlib.import_module("graphreach.reachability.pairs"), "SOURCES_PER_CALL", 7)
    monkeypatch.setattr(importlib.import_module("graphreach.walks.engine"), "STEPS_PER_CALL", 3 * 250)
    assert np.array_equal(pair_reachability(graph, PAIRS), exact)
    assert np.array_equal(pair_reachability(graph, PAIRS, "walks"), walks)


def test_more_sources_than_pieces():
    graph = cycle(1000)
    pairs = np.stack([np.arange(1000), (np.arange(1000) + 1) % 1000])
    assert np.abs(pair_reachability(graph, pairs, hops=1)[:, :, 0] - 0.5).max() < 1e-7


@pytest.mark.parametrize("method", ["exact", "walks"])
def test_dead_ends_and_isolated_nodes(method):
    graph = Graph.from_edges([[0, 1], [1, 2]], num_nodes=4, directed=True)
    got = pair_reachability(graph, [[0, 2, 3, 3], [2, 0, 3, 0]], method, walk_length=2)
    assert got.tolist() == [[0.5, 0], [0, 0.5], [0, 0], [0, 0]]


@pytest.mark.parametrize("method", ["exact", "walks"])
def test_no_pairs(method):
    assert pair_reachability(cycle(5), [], method).shape == (0, 2)
    assert pair_reachability(cycle(5), np.empty((2, 0), int), method, hops=3).shape == (0, 2, 3)


def test_walk_length_of_the_diameter():
    by_name, by_number = (pair_reachability(path(5), [[0], [4]], walk_length=w) for w in ("diameter", 4))
    assert by_name.tolist() == by_number.tolist() == [[1 / 32, 1 / 32]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pairs": [[0], [5]]}, "pairs must hold positions between 0 and 4, got 5"),
        ({"pairs": [[-1], [0]]}, "pairs must hold positions between 0 and 4, got -1"),
        ({"pairs": [0, 1]}, r"pairs must be an integer array of shape \[2, m\], got shape \[2\] of int64$"),
        ({"pairs": [[0, 1], [1, 2], [2, 3]]}, r"got shape \[3, 2\] of int64; transpose it"),
        ({"pairs": [[0.0], [1.0]]}, r"pairs must be an integer array of shape \[2, m\], got shape \[2, 1\] of float64"),
        ({"method": "auto"}, "method must be one of exact, walks, got 'auto'"),
        ({"walk_length": 0}, "walk_length must be a positive integer, got 0"),
        ({"walk_length": "long"}, "walk_length must be a positive integer or \"diameter\", got 'long'"),
        ({"hops": 0}, "hops must be a positive integer, got 0"),
        ({"num_walks": 0}, "num_walks must be a positive integer, got 0"),
        ({"seed": -1}, r"seed must be an integer from 0 to 2\*\*63 - 1, got -1"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(InputError, match=message):
        pair_reachability(cycle(5), **{"pairs": [[0], [1]], **arguments})


def test_products_that_vanish_do_no_harm():
    n = 60
    source, target = np.nonzero(~np.eye(n, dtype=bool))
    weight = np.where(target == (source + 1) % n, 1e100, 1e-100)
    graph = Graph.from_edges([source, target], n, weight, directed=True)
    pairs = np.stack(np.meshgrid(range(n), range(n))).reshape(2, -1)
    found = pair_reachability(graph, pairs, hops=6)[:, 0]
    steps = (pairs[1] - pairs[0]) % n  # all the weight goes round the ring
    np.testing.assert_allclose(found, steps[:, None] == np.arange(1, 7), atol=1e-12)

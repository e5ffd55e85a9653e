"""Ways to choose anchors: consensus of greedy runs, random, degree, PageRank."""

import networkx as nx
import numpy as np
import pytest
from literal import plain_consensus, rank_of, reachability_sets, walked

from graphreach.anchors.bipartite import BipartiteGraph
from graphreach.anchors.strategies import STRATEGIES, check_chosen, consensus, degree, pagerank, random
from graphreach.errors import InputError
from graphreach.graph import Graph
from helpers import KIND_NAMES, KINDS, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)


@kinds
@pytest.mark.parametrize("seed", range(4))
def test_consensus_of_section_3_2_equals_the_literal_one(directed, weighted, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 50))
    graph = random_graph(n, 2 * n, directed, weighted, seed)
    bipartite = walked(graph, np.arange(n, dtype=np.uint32), 9, 3, seed)
    sets, visits = reachability_sets(graph, range(n), 9, 3, seed)
    for k in (1, 5, n // 2, n):
        assert consensus(bipartite, k).tolist() == plain_consensus(sets, rank_of(visits, seed), k)


def sampled_sets(samples, rank):
    """A bipartite graph in which node u covers the starts ``samples[s][u]`` in sample s."""
    n, pointer, starts, masks = len(rank), [0], [], []
    for u in range(n):
        for start in range(16):
            mask = sum(1 << s for s, rho in enumerate(samples) if start in rho.get(u, ()))
            if mask:
                starts.append(start)
                masks.append(mask | 128)
        pointer.append(len(starts))
    parts = np.array(pointer), np.array(starts, np.uint32), np.array(masks, np.uint8)
    return BipartiteGraph(*parts, np.zeros(n, int), np.array(rank), 16)


def test_votes_come_before_coverage():
    """Node 0 wins three samples by little, node 1 two by far."""
    small, large = {0: {0, 1}, 1: {2}}, {0: {0}, 1: set(range(2, 14))}
    walks = sampled_sets([small, small, small, large, large], rank=[1, 0])
    assert consensus(walks, 1).tolist() == [0]


def test_coverage_comes_before_rank():
    walks = sampled_sets([{0: {0}, 1: {1, 2}}] * 5, rank=[0, 1])
    assert consensus(walks, 2).tolist() == [1, 0]


def test_rank_decides_the_rest():
    walks = sampled_sets([{0: {0}, 1: {1}, 2: {2}}] * 5, rank=[2, 0, 1])
    assert consensus(walks, 3).tolist() == [1, 2, 0]


def test_random_is_a_seeded_sample():
    graph = random_graph(200, 400)
    anchors = random(graph, 20, seed=1)
    assert len(set(anchors.tolist())) == 20
    assert np.array_equal(anchors, random(graph, 20, seed=1))
    assert np.array_equal(anchors, random(graph, 50, seed=1)[:20])
    assert not np.array_equal(anchors, random(graph, 20, seed=2))


def test_random_is_uniform():
    graph = random_graph(20, 40)
    counts = np.bincount(np.concatenate([random(graph, 5, seed) for seed in range(1000)]), minlength=20)
    assert np.abs(counts - 250).max() < 5 * np.sqrt(1000 * 0.25 * 0.75)


def test_degree_is_the_weighted_in_degree():
    graph = Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 1]], edge_weight=[1, 5, 2, 3], directed=True)
    assert degree(graph, 3, seed=0).tolist() == [2, 1, 3]


@kinds
def test_degree_sorts_by_in_degree(directed, weighted):
    graph = random_graph(60, 200, directed, weighted)
    in_degree = graph.to_scipy().toarray().sum(axis=0)
    order = degree(graph, 60, seed=0)
    assert sorted(order.tolist()) == list(range(60))
    assert (np.diff(in_degree[order]) <= 1e-9).all()


def test_ties_are_broken_by_the_seed():
    graph = Graph.from_edges([np.arange(30), (np.arange(30) + 1) % 30])
    orders = {tuple(degree(graph, 30, seed).tolist()) for seed in range(3)}
    assert len(orders) == 3


@kinds
def test_pagerank_sorts_by_the_pagerank_of_networkx(directed, weighted):
    graph = random_graph(60, 130, directed, weighted, seed=2)
    kind = nx.DiGraph if directed else nx.Graph
    G = nx.from_scipy_sparse_array(graph.to_scipy(), create_using=kind)
    score = nx.pagerank(G, tol=1e-12, max_iter=1000)
    order = pagerank(graph, 60, seed=0)
    assert sorted(order.tolist()) == list(range(60))
    assert (np.diff([score[u] for u in order]) <= 1e-9).all()


def test_registry():
    assert {"random": random, "degree": degree, "pagerank": pagerank} == STRATEGIES


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ([0], r"strategy mine must return 2 integer positions, got an array of shape \(1,\) of int64"),
        ([0.0, 1.0], r"strategy mine must return 2 integer positions, got an array of shape \(2,\) of float64"),
        (None, "a function that returns 2 positions, got None"),
        ([1, 1], "strategy mine must return different positions between 0 and 8"),
        ([0, 9], "strategy mine must return different positions between 0 and 8"),
        ([-1, 0], "strategy mine must return different positions between 0 and 8"),
    ],
)
def test_what_a_strategy_may_not_return(chosen, message):
    with pytest.raises(InputError, match=message):
        check_chosen(chosen, 2, 9, "mine")


def test_what_a_strategy_may_return():
    chosen = check_chosen((8, 3), 2, 9, "mine")
    assert chosen.tolist() == [8, 3]
    assert chosen.dtype == np.int64

"""Attacked graphs: the graph, the added edges, and nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

from graphreach import Graph, InputError
from graphreach.attacks import add_edges, clique, hubs, noise
from helpers import random_graph

graphs = st.builds(
    random_graph,
    num_nodes=st.integers(2, 30),
    num_edges=st.integers(1, 80),
    directed=st.booleans(),
    weighted=st.booleans(),
    seed=st.integers(0, 1000),
)
fractions = st.sampled_from([0.01, 0.1, 0.34, 1.0])
seeds = st.integers(0, 2**63 - 1)


def draw_candidates(graph, seed):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, graph.num_nodes, (2, 20))
    pairs[1] = np.where(pairs[0] == pairs[1], (pairs[1] + 1) % graph.num_nodes, pairs[1])
    return pairs


def make(kind, graph, fraction, seed):
    if kind == "hubs":
        return hubs(graph, draw_candidates(graph, seed), fraction, seed=seed)
    return {"clique": clique, "noise": noise}[kind](graph, fraction, seed)


def as_dict(graph):
    weights = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    return dict(zip(map(tuple, graph.edge_index.T.tolist()), weights.tolist(), strict=True))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["clique", "hubs", "noise"]), graphs, fractions, seeds)
def test_the_attacked_graph_is_the_graph_plus_the_edges_exactly(kind, graph, fraction, seed):
    attack = make(kind, graph, fraction, seed)
    old, new = as_dict(graph), as_dict(attack.graph)
    added = {tuple(edge) for edge in attack.edges.T.tolist()}
    if not graph.directed:
        assert all(u < v for u, v in added)
        added |= {(v, u) for u, v in added}
    assert len(added) == attack.edges.shape[1] * (1 if graph.directed else 2)
    assert not added & old.keys()
    assert new.keys() == old.keys() | added
    assert all(new[edge] == weight for edge, weight in old.items())
    assert attack.graph.weighted == graph.weighted
    assert attack.graph.directed == graph.directed
    assert attack.graph.ids is graph.ids
    if graph.weighted:
        mean = graph.weights.mean() if len(graph.weights) else 1.0
        assert all(new[edge] == mean for edge in added)
    rebuilt = Graph.from_edges(
        attack.graph.edge_index, graph.num_nodes, attack.graph.weights, graph.directed, ids=graph.ids
    )
    assert rebuilt.content_hash == attack.graph.content_hash


@settings(max_examples=40, deadline=None)
@given(graphs, fractions, seeds)
def test_a_clique_is_complete(graph, fraction, seed):
    attack = clique(graph, fraction, seed)
    assert len(attack.colluders) == max(2, round(fraction * graph.num_nodes))
    within = attack.graph.to_scipy().toarray()[np.ix_(attack.colluders, attack.colluders)] > 0
    assert (within | np.eye(len(within), dtype=bool)).all()
    assert attack.involves(attack.edges, "both").all()


@settings(max_examples=40, deadline=None)
@given(graphs, fractions, seeds, st.sampled_from([0.02, 0.2]))
def test_hubs_bring_the_group_within_two_hops(graph, fraction, seed, top):
    candidates = draw_candidates(graph, seed)
    attack = hubs(graph, candidates, fraction, top, seed)
    ends, wanted = np.unique(candidates), max(2, round(fraction * graph.num_nodes))
    assert np.isin(attack.colluders, ends).all()
    assert min(wanted, len(ends)) <= len(attack.colluders) <= wanted + 1
    group = attack.graph.to_scipy()[attack.colluders][:, attack.colluders]
    assert shortest_path(group, unweighted=True).max() <= 2
    degree = graph.to_scipy().sum(axis=0) + graph.to_scipy().sum(axis=1)
    count = min(max(1, round(top * graph.num_nodes)), len(attack.colluders))
    joined = attack.graph.to_scipy().toarray()[np.ix_(attack.colluders, attack.colluders)] > 0
    full = attack.colluders[(joined | np.eye(len(joined), dtype=bool)).all(axis=1)]
    best = np.sort(degree[attack.colluders])[::-1][:count]
    assert (np.sort(degree[full])[::-1][: len(best)] >= best - 1e-9).all()


@settings(max_examples=40, deadline=None)
@given(graphs, st.floats(0, 3), seeds)
def test_noise_adds_as_many_edges_as_asked_or_all_that_are_missing(graph, fraction, seed):
    attack = noise(graph, fraction, seed)
    n = graph.num_nodes
    missing = n * (n - 1) // (1 if graph.directed else 2) - graph.num_edges
    assert attack.edges.shape[1] == min(round(fraction * graph.num_edges), missing)
    assert not len(attack.colluders)
    assert attack.involves(attack.edges, "both").all()


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(["clique", "hubs", "noise"]), graphs, fractions, seeds)
def test_same_seed_same_attack(kind, graph, fraction, seed):
    one, two = (make(kind, graph, fraction, seed) for _ in range(2))
    assert one.graph.content_hash == two.graph.content_hash
    np.testing.assert_array_equal(one.colluders, two.colluders)


def test_seeds_differ_and_small_groups_are_within_large_ones():
    graph = random_graph(200, 600)
    assert set(clique(graph, 0.05, 3).colluders) < set(clique(graph, 0.2, 3).colluders)
    for kind in ("clique", "hubs", "noise"):
        assert make(kind, graph, 0.1, 1).graph.content_hash != make(kind, graph, 0.1, 2).graph.content_hash


def test_self_loops_and_ids_stay():
    graph = Graph.from_edges([[0, 1, 2], [0, 2, 3]], edge_weight=[5.0, 1.0, 3.0], ids=list("dcba"), self_loops=True)
    attack = add_edges(graph, np.array([[0, 1, 3], [1, 2, 0]]), np.array([0, 1]))
    assert attack.graph.ids.tolist() == list("abcd")
    dense, before = attack.graph.to_scipy().toarray(), graph.to_scipy().toarray()
    assert (dense[before > 0] == before[before > 0]).all()
    assert dense[3, 3] == 5.0


def test_all_colluders_of_highest_degree_are_hubs_of_a_star():
    star = Graph.from_edges([[0] * 9, range(1, 10)], num_nodes=20)
    attack = hubs(star, [[0, 11, 13], [10, 12, 14]], fraction=0.3, top=0.02)
    assert attack.edges.tolist() == [[0] * 5, [10, 11, 12, 13, 14]]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda g: clique(g, 0), "fraction must be above 0 and at most 1, got 0"),
        (lambda g: clique(g, 1.5), "fraction must be above 0 and at most 1, got 1.5"),
        (lambda g: clique(g, "all"), "fraction must be above 0 and at most 1, got 'all'"),
        (lambda g: clique(g, 0.1, -1), "seed must be an integer"),
        (lambda g: hubs(g, [[0, 1]]), r"candidates must be an integer array of shape \[2, m\]"),
        (lambda g: hubs(g, [[0], [99]]), "candidates must hold positions between 0 and 5, got 99"),
        (lambda g: hubs(g, [[], []]), "candidates must hold at least one pair"),
        (lambda g: hubs(g, [[1], [1]]), "candidates must hold at least one pair of different nodes"),
        (lambda g: hubs(g, [[0], [1]], top=2), "top must be above 0 and at most 1, got 2"),
        (lambda g: noise(g, -0.1), "fraction must be a number of at least 0, got -0.1"),
        (lambda g: noise(g, float("nan")), "fraction must be a number of at least 0, got nan"),
        (lambda g: clique(Graph.from_edges([[], []], num_nodes=1)), "graph must have at least two nodes"),
        (lambda g: clique(Graph.from_edges([[0], [1]], num_nodes=20_000), 1.0), "must add at most 50,000,000 edges"),
        (lambda g: clique(g).involves(np.zeros((2, 0), int), "all"), 'ends must be "any" or "both"'),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    graph = Graph.from_edges([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    with pytest.raises(InputError, match=sentence) as caught:
        call(graph)
    assert "\n" not in str(caught.value)

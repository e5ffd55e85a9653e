"""The bipartite graph of walks and greedy coverage (section 3.2, App. C, Algorithm 2 of App. D)."""

import importlib
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from literal import plain_greedy, rank_of, reachability_sets, walked

from graphreach.anchors.bipartite import NUM_SAMPLES, SAMPLE_SHARE, BipartiteGraph
from graphreach.graph import Graph
from graphreach.walks import random_walks
from graphreach.walks.rng import start_key, walk_key
from graphreach.walks.visits import ALL_WALKS, sample_mask
from helpers import KIND_NAMES, KINDS, TRIANGLE_AND_PATH, cycle, grid, path, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
BITS = (*range(NUM_SAMPLES), ALL_WALKS)


def all_starts(graph):
    return np.arange(graph.num_nodes, dtype=np.uint32)


def entries(bipartite, bit):
    """rho(u) of each node, in the sample ``bit``."""
    pieces = itertools.pairwise(bipartite.pointer.tolist())
    return [
        set(bipartite.starts[begin:end][bipartite.masks[begin:end] >> bit & 1 == 1].tolist()) for begin, end in pieces
    ]


@kinds
@pytest.mark.parametrize("num_walks", [4, 50, 600])
def test_equals_the_literal_bipartite_graph(directed, weighted, num_walks):
    graph = random_graph(30, 50, directed, weighted, seed=num_walks)
    starts = np.array([3, 17, 4, 29, 0, 11, 12], np.uint32)
    bipartite = walked(graph, starts, num_walks, walk_length=5, seed=7)
    sets, visits = reachability_sets(graph, starts, num_walks, 5, seed=7)
    for bit in BITS:
        assert entries(bipartite, bit) == sets[bit]
    assert bipartite.visits.tolist() == visits.tolist()
    assert bipartite.num_starts == 7
    rank = rank_of(visits, 7)
    assert bipartite.rank.tolist() == [rank[u] for u in range(30)]


def test_a_start_does_not_cover_itself():
    bipartite = walked(cycle(6), all_starts(cycle(6)), num_walks=20, walk_length=6, seed=0)
    assert all(u not in rho for u, rho in enumerate(entries(bipartite, ALL_WALKS)))


def test_entries_are_different_and_all_walks_hold_every_sample():
    graph = grid(5)
    bipartite = walked(graph, all_starts(graph), 30, 6, seed=0)
    for u in range(25):
        starts = bipartite.starts[bipartite.pointer[u] : bipartite.pointer[u + 1]]
        assert len(np.unique(starts)) == len(starts)
    assert (bipartite.masks >> ALL_WALKS == 1).all()


def test_walks_are_collected_in_chunks(monkeypatch):
    graph = random_graph(50, 100)
    whole = walked(graph, all_starts(graph), 10, 5, seed=1)
    monkeypatch.setattr(importlib.import_module("graphreach.walks.engine"), "STEPS_PER_CALL", 7 * 50)
    parts = walked(graph, all_starts(graph), 10, 5, seed=1)
    for name in ("pointer", "starts", "masks", "visits", "rank"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))


def walk_masks(seed, starts, num_walks):
    keys = [np.uint64(start_key(seed, start)) for start in range(starts)]
    masks = [sample_mask(np.uint64(walk_key(key, w)), 5, SAMPLE_SHARE) for key in keys for w in range(num_walks)]
    return np.array(masks)[:, None] >> np.arange(8) & 1


def test_samples_hold_30_percent_of_the_walks():
    bits = walk_masks(0, 200, 50)
    assert (bits[:, ALL_WALKS] == 1).all()
    assert (bits[:, NUM_SAMPLES:ALL_WALKS] == 0).all()
    deviation = math.sqrt(SAMPLE_SHARE * (1 - SAMPLE_SHARE) / len(bits))
    assert np.abs(bits[:, :NUM_SAMPLES].mean(axis=0) - 0.3).max() < 4 * deviation


def test_samples_are_drawn_apart_from_each_other_and_from_the_steps():
    bits = walk_masks(0, 200, 50)[:, :NUM_SAMPLES]
    correlation = np.corrcoef(bits.T)
    assert np.abs(correlation - np.eye(NUM_SAMPLES)).max() < 0.05
    left = (
        random_walks(cycle(200), num_walks=50, walk_length=1)[:, :, 1].ravel()
        == (np.repeat(np.arange(200), 50) - 1) % 200
    )
    assert np.abs(np.corrcoef(left, bits.T)[0, 1:]).max() < 0.05


def test_samples_are_of_whole_walks():
    """On a directed path with one walk a start, all entries of a start share its walk's mask."""
    graph = path(12, directed=True)
    bipartite = walked(graph, all_starts(graph), 1, 11, seed=3)
    for start in range(11):
        assert len(set(bipartite.masks[bipartite.starts == start].tolist())) == 1


@kinds
@pytest.mark.parametrize("seed", range(8))
def test_algorithm_2_lazy_equals_plain(directed, weighted, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 60))
    graph = random_graph(n, int(rng.integers(n, 4 * n)), directed, weighted, seed)
    num_walks, length = int(rng.integers(1, 12)), int(rng.integers(1, 6))
    bipartite = walked(graph, all_starts(graph), num_walks, length, seed)
    sets, visits = reachability_sets(graph, range(n), num_walks, length, seed)
    rank = rank_of(visits, seed)
    for k, rounds in itertools.product((1, n // 2, n), (True, False)):
        for bit, (chosen, gained) in zip(BITS, bipartite.greedy(k, BITS, rounds), strict=True):
            assert (chosen.tolist(), gained.tolist()) == plain_greedy(sets[bit], rank, k, rounds)


def from_sets(rho, num_starts):
    """A bipartite graph with given reachability sets; nodes in their own order."""
    pointer = np.concatenate([[0], np.cumsum([len(s) for s in rho])])
    starts = np.array([i for s in rho for i in sorted(s)], np.uint32)
    visits = np.diff(pointer)
    return BipartiteGraph(pointer, starts, np.full(len(starts), 128, np.uint8), visits, np.arange(len(rho)), num_starts)


set_families = st.lists(st.sets(st.integers(0, 9), max_size=6), min_size=1, max_size=9)


@settings(deadline=None, max_examples=75)
@given(rho=set_families, k=st.integers(1, 9), rounds=st.booleans())
def test_algorithm_2_on_any_sets(rho, k, rounds):
    ((chosen, gained),) = from_sets(rho, 10).greedy(k, rounds=rounds)
    rank = dict(enumerate(range(len(rho))))
    assert (chosen.tolist(), gained.tolist()) == plain_greedy(rho, rank, min(k, len(rho)), rounds)


@settings(deadline=None, max_examples=75)
@given(rho=set_families, data=st.data())
def test_app_c_coverage_is_monotone_and_submodular(rho, data):
    bipartite = from_sets(rho, 10)
    nodes = range(len(rho))
    large = data.draw(st.lists(st.sampled_from(nodes), unique=True))
    small = data.draw(st.lists(st.sampled_from(large), unique=True)) if large else []
    extra = data.draw(st.sampled_from(nodes))

    def f(anchors):
        return bipartite.covered_by(np.array(anchors, np.int64))

    assert f(large) == len(set().union(*(rho[u] for u in large)))
    assert f(small) <= f(large) <= f([*large, extra])
    assert f([*small, extra]) - f(small) >= f([*large, extra]) - f(large)


@settings(deadline=None, max_examples=75)
@given(rho=set_families, k=st.integers(1, 4))
def test_greedy_guarantee_and_bound_on_any_sets(rho, k):
    k = min(k, len(rho))
    bipartite = from_sets(rho, 10)
    optimum = max(len(set().union(*(rho[u] for u in A))) for A in itertools.combinations(range(len(rho)), k))
    ((chosen, gained),) = bipartite.greedy(k, rounds=False)
    assert bipartite.covered_by(chosen) == gained.sum()
    assert optimum * (1 - 1 / math.e) <= gained.sum() <= optimum
    assert optimum <= bipartite.optimum_bound(k) <= 10


@kinds
@pytest.mark.parametrize("seed", range(5))
def test_greedy_guarantee_on_walks(directed, weighted, seed):
    """The corollary of section 3.2, against the best of all sets of three anchors."""
    graph = random_graph(12, 16, directed, weighted, seed)
    bipartite = walked(graph, all_starts(graph), num_walks=2, walk_length=2, seed=seed)
    sets, _ = reachability_sets(graph, range(12), 2, 2, seed)
    rho = sets[ALL_WALKS]
    optimum = max(len(rho[a] | rho[b] | rho[c]) for a, b, c in itertools.combinations(range(12), 3))
    ((chosen, _),) = bipartite.greedy(3, rounds=False)
    reached = bipartite.covered_by(chosen)
    assert (1 - 1 / math.e) * optimum <= reached <= optimum <= bipartite.optimum_bound(3)


def test_bound_is_tight_where_greedy_is_optimal():
    assert from_sets([{0, 1, 2}, {3, 4}, {5}], 8).optimum_bound(2) == 5


def test_rounds_begin_anew_after_saturation():
    """Node 0 covers all four starts; a second round finds the next best instead of stopping."""
    bipartite = from_sets([{0, 1, 2, 3}, {0, 1}, {2, 3}, {0}], 4)
    ((chosen, gained),) = bipartite.greedy(4)
    assert (chosen.tolist(), gained.tolist()) == ([0, 1, 2, 3], [4, 2, 2, 1])
    ((chosen, gained),) = bipartite.greedy(4, rounds=False)
    assert (chosen.tolist(), gained.tolist()) == ([0], [4])


def test_greedy_ends_when_no_node_covers_anything():
    bipartite = from_sets([{0}, set(), {1}], 2)
    ((chosen, _),) = bipartite.greedy(3)
    assert chosen.tolist() == [0, 2]


def test_six_nodes_by_hand():
    """With walks of one jump, 2 covers 0, 1 and 3; then 3 (4 is new) ties with 1 and 0 (2 is new)."""
    graph = Graph.from_edges(TRIANGLE_AND_PATH, 6)
    bipartite = walked(graph, all_starts(graph), num_walks=100, walk_length=1, seed=0)
    assert entries(bipartite, ALL_WALKS) == [{1, 2}, {0, 2}, {0, 1, 3}, {2, 4}, {3}, set()]
    ((chosen, gained),) = bipartite.greedy(6, rounds=False)
    assert (chosen.tolist(), gained.tolist()) == ([2, 3], [3, 2])
    assert bipartite.optimum_bound(2) == 5

"""Anchor selection from end to end."""

import importlib
import math
import re

import networkx as nx
import numpy as np
import pytest
from literal import plain_consensus, rank_of, reachability_sets, walked

import graphreach as gr
from graphreach.anchors import AnchorSet, select_anchors
from graphreach.anchors.select_anchors import MEASURE, SELECT, _sample, reached_starts, resolve_num_anchors
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.walks.engine import LocalWalker
from graphreach.walks.visits import ALL_WALKS
from helpers import KIND_NAMES, KINDS, cycle, grid, path, random_graph

module = importlib.import_module("graphreach.anchors.select_anchors")
kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)


def all_starts(graph):
    return np.arange(graph.num_nodes, dtype=np.uint32)


@kinds
def test_greedy_is_the_consensus_and_reports_its_coverage(directed, weighted):
    graph = random_graph(60, 100, directed, weighted, seed=5)
    result = select_anchors(graph, 6, num_walks=4, walk_length=3, seed=9)
    sets, visits = reachability_sets(graph, range(60), 4, 3, seed=9)
    assert result.anchors.tolist() == plain_consensus(sets, rank_of(visits, 9), 6)
    covered = set().union(*(sets[ALL_WALKS][u] for u in result))
    assert result.coverage == result.coverage_lower == len(covered) / 60
    bound = walked(graph, all_starts(graph), 4, 3, seed=9).optimum_bound(6) / 60
    assert result.coverage <= result.upper_bound == bound
    assert (result.num_starts, result.num_nodes, result.strategy) == (60, 60, "greedy")


@pytest.fixture(scope="module")
def grid_anchors():
    return select_anchors(grid(20))


def distance_to_nearest(anchors):
    """On the grid, in hops."""
    rows, columns = np.divmod(np.arange(400), 20)
    return np.min([abs(rows - a // 20) + abs(columns - a % 20) for a in anchors], axis=0)


def anchors_in_blocks(anchors):
    counts = np.zeros((20, 20), int)
    counts.ravel()[np.asarray(anchors)] = 1
    return counts.reshape(4, 5, 4, 5).sum(axis=(1, 3))


def test_anchors_spread_over_the_whole_grid(grid_anchors):
    """With the default seed; about one seed in four leaves one of the sixteen blocks empty, see the next test."""
    assert len(grid_anchors) == 64
    assert anchors_in_blocks(grid_anchors).min() >= 1
    assert distance_to_nearest(grid_anchors).max() <= 6
    assert grid_anchors.coverage == 1


@pytest.mark.parametrize("seed", range(20))
def test_anchors_spread_over_the_grid_with_any_seed(seed):
    anchors = select_anchors(grid(20), seed=seed)
    assert (anchors_in_blocks(anchors) == 0).sum() <= 2
    assert distance_to_nearest(anchors).max() <= 8


def test_new_rounds_reach_the_worst_off_starts_more_often_than_fillers():
    """Without rounds each sample saturates after a few anchors, and the rest are the most visited nodes.

    Compared is how many anchors reach the 5% of starts that are reached by fewest, on average over seeds; distances to
    the nearest anchor are no better with rounds.
    """
    graph = grid(20)
    with_rounds, with_fillers = [], []
    for seed in range(20):
        bipartite = walked(graph, all_starts(graph), 50, 38, seed)
        votes = np.zeros(400, int)
        for chosen, _ in bipartite.greedy(64, bits=range(5), rounds=False):
            assert len(chosen) < 16
            votes[chosen] += 1
        fillers = np.lexsort((bipartite.rank, -votes))[:64]
        for anchors, out in ((select_anchors(graph, seed=seed), with_rounds), (fillers, with_fillers)):
            pieces = [bipartite.starts[bipartite.pointer[u] : bipartite.pointer[u + 1]] for u in anchors]
            out.append(np.quantile(np.bincount(np.concatenate(pieces), minlength=400), 0.05))
    assert np.mean(with_rounds) > np.mean(with_fillers) + 0.5


def test_anchors_depend_on_the_seed_only(grid_anchors):
    assert np.array_equal(select_anchors(grid(20)), grid_anchors)
    assert not np.array_equal(select_anchors(grid(20), seed=1), grid_anchors)


def test_fewer_visitable_nodes_than_anchors():
    """Only the centre is ever visited; the others fill up, each once."""
    star = Graph.from_edges([np.arange(1, 10), np.zeros(9, int)], directed=True)
    result = select_anchors(star, 5)
    assert result[0] == 0
    assert len(set(result)) == 5
    assert result.coverage == result.upper_bound == 0.9


def test_graph_without_edges():
    result = select_anchors(Graph.from_edges(np.empty((2, 0), int), num_nodes=7), 3)
    assert len(set(result)) == 3
    assert result.coverage == result.upper_bound == 0


def test_directed_graph_with_dead_ends():
    result = select_anchors(path(10, directed=True), 2)
    assert result[0] == 9
    assert result.coverage == result.upper_bound == 0.9


def test_all_nodes_as_anchors():
    result = select_anchors(cycle(9), 9)
    assert sorted(result) == list(range(9))
    assert result.coverage == 1


@pytest.mark.parametrize("strategy", ["random", "degree", "pagerank"])
@kinds
def test_other_strategies_report_true_coverage(strategy, directed, weighted):
    graph = random_graph(80, 100, directed, weighted, seed=1)
    result = select_anchors(graph, 5, strategy=strategy, num_walks=3, walk_length=3, seed=4)
    assert np.array_equal(result, gr.anchors.STRATEGIES[strategy](graph, 5, 4))
    covered = reached_starts(LocalWalker(graph), all_starts(graph), result.anchors, 3, 3, 4)
    assert 0 < covered < 80
    assert result.coverage == result.coverage_lower == covered / 80
    movable = np.count_nonzero(graph.degree) / 80
    assert result.coverage <= result.upper_bound == movable < 1
    assert result.strategy == strategy


def test_upper_bound_does_not_count_nodes_that_only_loop():
    graph = Graph.from_edges([[0, 1, 2], [0, 2, 1]], num_nodes=4, directed=True, self_loops=True)
    assert select_anchors(graph, 1, strategy="degree", walk_length=2).upper_bound == 0.5


def test_a_users_function():
    def every_other(graph, num_anchors, seed):
        assert (graph.num_nodes, num_anchors, seed) == (10, 5, 3)
        return range(0, 10, 2)

    result = select_anchors(cycle(10), 0.5, strategy=every_other, seed=3, num_walks=20)
    assert result.anchors.tolist() == [0, 2, 4, 6, 8]
    assert result.strategy == "every_other"
    assert result.coverage == 1


def test_a_users_object():
    class Fixed:
        def __call__(self, graph, num_anchors, seed):
            return np.arange(num_anchors, dtype=np.uint16)

    result = select_anchors(cycle(10), 2, strategy=Fixed())
    assert (result.anchors.tolist(), result.strategy) == ([0, 1], "Fixed")


def test_a_misbehaving_function():
    def twice(graph, num_anchors, seed):
        return [4, 4]

    with pytest.raises(InputError, match="strategy twice must return different positions between 0 and 9"):
        select_anchors(cycle(10), 2, strategy=twice)


@pytest.mark.parametrize(
    ("num_anchors", "num_nodes", "want"),
    [
        (7, 400, 7),
        (np.int32(7), 400, 7),
        (1, 1, 1),
        (400, 400, 400),
        (0.025, 400, 10),
        (1.0, 400, 400),
        (1e-9, 400, 1),
        (np.float64(0.5), 10, 5),
        ("log2", 400, 64),
        ("log2", 1, 1),
        ("log2", 2, 1),
        ("log2", 5, 4),
        ("log2", 10, 9),
        ("log2", 63, 25),
        ("log2", 64, 36),
    ],
)
def test_number_of_anchors(num_anchors, num_nodes, want):
    assert resolve_num_anchors(num_anchors, num_nodes) == want


@pytest.mark.parametrize("n", range(1, 20))
def test_log2_is_at_most_n(n):
    assert resolve_num_anchors("log2", n) == max(1, min(n, math.floor(math.log2(n)) ** 2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_anchors": 11}, "num_anchors must be between 1 and 10 (the number of nodes), got 11"),
        ({"num_anchors": 0}, "num_anchors must be between 1 and 10 (the number of nodes), got 0"),
        ({"num_anchors": -2}, "num_anchors must be between 1 and 10 (the number of nodes), got -2"),
        ({"num_anchors": 1.5}, "num_anchors as a share must be above 0 and at most 1, got 1.5"),
        ({"num_anchors": 0.0}, "num_anchors as a share must be above 0 and at most 1, got 0.0"),
        ({"num_anchors": math.nan}, "num_anchors as a share must be above 0 and at most 1, got nan"),
        ({"num_anchors": "sqrt"}, "num_anchors must be a number, a share or \"log2\", got 'sqrt'"),
        ({"num_anchors": True}, 'num_anchors must be a number, a share or "log2", got True'),
        ({"num_anchors": None}, 'num_anchors must be a number, a share or "log2", got None'),
        ({"num_anchors": [3]}, 'num_anchors must be a number, a share or "log2", got [3]'),
        (
            {"strategy": "gredy"},
            "strategy must be one of greedy, random, degree, pagerank or a function, got 'gredy'; did you mean 'greedy'?",
        ),
        (
            {"strategy": "xyz"},
            "strategy must be one of greedy, random, degree, pagerank or a function, got 'xyz'",
        ),
        ({"strategy": None}, "strategy must be one of"),
        ({"num_walks": 0}, "num_walks must be a positive integer, got 0"),
        ({"walk_length": 0}, "walk_length must be a positive integer, got 0"),
        ({"walk_length": "long"}, "walk_length must be a positive integer or \"diameter\", got 'long'"),
        ({"seed": -5}, "seed must be an integer from 0 to 2**63 - 1, got -5"),
        ({"num_starts": 0}, "num_starts must be a positive integer, got 0"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(InputError, match=re.escape(message)):
        select_anchors(cycle(10), **arguments)


def test_no_nodes_to_choose_from():
    with pytest.raises(InputError, match="graph must have at least one node to choose anchors from, got none"):
        resolve_num_anchors("log2", 0)


@pytest.fixture(scope="module")
def large():
    return Graph.from_networkx(nx.barabasi_albert_graph(3000, 2, seed=0))


@pytest.mark.parametrize("seed", range(6))
def test_bounds_from_samples_hold(large, seed):
    """On sampled starts the truth, computed from all starts, lies between the bounds."""
    options = {"num_walks": 2, "walk_length": 3, "seed": seed}
    sampled = select_anchors(large, 20, num_starts=500, **options)
    truth = reached_starts(LocalWalker(large), all_starts(large), sampled.anchors, 2, 3, seed) / 3000
    best_known = select_anchors(large, 20, **options).coverage
    assert sampled.num_starts == 500
    assert sampled.coverage_lower <= truth <= sampled.upper_bound
    assert best_known <= sampled.upper_bound
    assert 0 < sampled.coverage_lower < sampled.coverage < sampled.upper_bound
    assert abs(sampled.coverage - truth) < 5 * math.sqrt(0.25 / 500)
    at_random = select_anchors(large, 20, "random", **options).coverage
    assert truth > 2 * at_random


@pytest.mark.parametrize("strategy", ["degree", "random"])
def test_other_strategies_on_samples(large, strategy):
    sampled = select_anchors(large, 20, strategy, num_walks=2, walk_length=3, num_starts=500)
    truth = reached_starts(LocalWalker(large), all_starts(large), sampled.anchors, 2, 3, 0) / 3000
    assert sampled.coverage_lower <= truth <= sampled.upper_bound
    assert abs(sampled.coverage - truth) < 5 * math.sqrt(0.25 / 500)


def test_samples_of_starts_are_independent():
    select, measure = _sample(10_000, 2000, 0 ^ SELECT), _sample(10_000, 2000, 0 ^ MEASURE)
    for sample in (select, measure):
        assert len(np.unique(sample)) == 2000
        assert abs(sample.mean() / 10_000 - 0.5) < 5 * math.sqrt(1 / 12 / 2000)
    shared = len(np.intersect1d(select, measure))
    assert abs(shared - 400) < 5 * math.sqrt(2000 * 0.2 * 0.8)


def test_many_visits_turn_to_a_sample_by_themselves(monkeypatch):
    graph = cycle(1000)
    assert select_anchors(graph, 5, num_walks=10, walk_length=10).num_starts == 1000
    monkeypatch.setattr(module, "MAX_VISITS", 20_000)
    assert select_anchors(graph, 5, num_walks=10, walk_length=10).num_starts == 200
    monkeypatch.setattr(module, "MAX_VISITS", 1)
    assert select_anchors(graph, 5, num_walks=10, walk_length=10).num_starts == 1


def test_more_starts_than_nodes_are_all_nodes():
    assert np.array_equal(select_anchors(cycle(20), 4, num_starts=99), select_anchors(cycle(20), 4))


def test_result_works_as_an_array():
    result = select_anchors(cycle(30), 4)
    assert isinstance(result, AnchorSet)
    assert np.asarray(result).dtype == np.int64
    assert np.array_equal(np.asarray(result, np.uint8), result.anchors)
    assert list(result) == result.anchors.tolist()
    assert result[1:].tolist() == result.anchors[1:].tolist()
    assert np.arange(30)[result].tolist() == result.anchors.tolist()
    assert gr.random_walks(cycle(30), result, num_walks=1, walk_length=1)[:, 0, 0].tolist() == list(result)
    assert gr.reachability(cycle(30), result, walk_length=2).anchors.tolist() == list(result)


def test_repr():
    assert repr(select_anchors(cycle(4), 1, num_walks=30)) == (
        "AnchorSet(1 anchor of 4 nodes, coverage=0.75, upper_bound=0.75, strategy=greedy)"
    )
    assert repr(select_anchors(path(3), 2, "degree")).startswith("AnchorSet(2 anchors of 3 nodes, coverage=1.00")


def test_a_share_may_be_any_kind_of_float():
    assert len(select_anchors(Graph.from_edges([[0, 1, 2], [1, 2, 3]]), np.float32(0.5))) == 2

"""Random walks: shape, edges, repeatability, and the distribution that section 2 of the paper gives them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.walks import random_walks
from graphreach.walks.engine import STEPS_PER_CALL, row_chunks, transitions
from graphreach.walks.kernels import BLOCK, build_alias
from helpers import (
    KIND_NAMES,
    KINDS,
    TRIANGLE_AND_PATH,
    cycle,
    matrix_powers,
    path,
    random_graph,
    transition_matrix,
)

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)


def test_shape_and_type():
    walks = random_walks(Graph.from_edges(TRIANGLE_AND_PATH), starts=[3, 0], num_walks=4, walk_length=7)
    assert walks.shape == (2, 4, 8)
    assert walks.dtype == np.int32
    assert (walks[:, :, 0] == [[3], [0]]).all()


def test_starts_default_to_all_nodes_and_counts_to_the_papers():
    walks = random_walks(Graph.from_edges(TRIANGLE_AND_PATH, 6))
    assert walks.shape == (6, 50, 21)
    assert (walks[:, :, 0] == np.arange(6)[:, None]).all()


@kinds
def test_every_step_is_an_edge_and_a_walk_ends_only_at_a_dead_end(directed, weighted):
    graph = random_graph(40, 60, directed, weighted, seed=3)
    P = transition_matrix(graph)
    walks = random_walks(graph, num_walks=30, walk_length=9)
    here, there = walks[:, :, :-1].ravel(), walks[:, :, 1:].ravel()
    moved = there >= 0
    assert (P[here[moved], there[moved]] > 0).all()
    stopped = ~moved
    assert stopped.any()
    assert ((here[stopped] < 0) | (P[here[stopped]].sum(axis=1) == 0)).all()


def test_isolated_start():
    walks = random_walks(Graph.from_edges(TRIANGLE_AND_PATH, 6), starts=[5], num_walks=3, walk_length=4)
    assert walks.tolist() == [[[5, -1, -1, -1, -1]] * 3]


def test_dead_end_of_a_directed_path():
    walks = random_walks(path(4, directed=True), num_walks=2, walk_length=3)
    assert walks[:, 0].tolist() == [[0, 1, 2, 3], [1, 2, 3, -1], [2, 3, -1, -1], [3, -1, -1, -1]]


def test_self_loops_are_walked_when_kept():
    graph = Graph.from_edges([[0], [0]], directed=True, self_loops=True)
    assert (random_walks(graph, num_walks=2, walk_length=5) == 0).all()


def test_no_starts():
    assert random_walks(cycle(4), starts=[], num_walks=2, walk_length=3).shape == (0, 2, 4)


def test_walk_length_of_the_diameter():
    assert random_walks(path(6), num_walks=1, walk_length="diameter").shape == (6, 1, 6)


@kinds
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**63 - 1), order=st.permutations(range(30)), count=st.integers(1, 30))
def test_walks_do_not_depend_on_the_other_starts(directed, weighted, seed, order, count):
    graph = random_graph(30, 60, directed, weighted)
    walks = random_walks(graph, num_walks=7, walk_length=6, seed=seed)
    starts = order[:count]
    assert np.array_equal(random_walks(graph, starts, num_walks=7, walk_length=6, seed=seed), walks[starts])


def test_repeated_starts_repeat_their_walks():
    walks = random_walks(cycle(20), starts=[4, 4], num_walks=5)
    assert np.array_equal(walks[0], walks[1])


@kinds
def test_more_walks_than_a_block_begin_with_fewer(directed, weighted):
    graph = random_graph(12, 30, directed, weighted)
    many = random_walks(graph, num_walks=1300, walk_length=5, seed=2)
    assert many.shape[1] > 2 * BLOCK
    for few in (1, 3, BLOCK - 1, BLOCK, BLOCK + 1):
        assert np.array_equal(random_walks(graph, num_walks=few, walk_length=5, seed=2), many[:, :few])


@kinds
def test_longer_walks_begin_with_shorter_ones(directed, weighted):
    graph = random_graph(25, 60, directed, weighted)
    long = random_walks(graph, num_walks=9, walk_length=33, seed=1)
    assert np.array_equal(random_walks(graph, num_walks=9, walk_length=10, seed=1), long[:, :, :11])


def test_seeds_give_different_walks():
    graph = random_graph(50, 300)
    walks = [random_walks(graph, num_walks=5, seed=seed) for seed in (0, 1, 2**63 - 1)]
    assert not np.array_equal(walks[0], walks[1])
    assert not np.array_equal(walks[0], walks[2])


def assert_fits(counts, probability):
    """Chi-square of counts [rows, n] against probabilities, pooled over rows."""
    expected = counts.sum(axis=1, keepdims=True) * probability
    possible = probability > 0
    assert (counts[~possible] == 0).all()
    statistic = ((counts - expected)[possible] ** 2 / expected[possible]).sum()
    freedom = (possible.sum(axis=1) - 1).sum()
    p_value = stats.chi2.sf(statistic, freedom)
    # a value next to 1 would be as suspicious as one next to 0: numbers that are too even are not random
    assert 1e-4 < p_value < 1 - 1e-4


@kinds
def test_transition_probabilities_of_section_2(directed, weighted):
    graph = random_graph(20, 90, directed, weighted, seed=4)
    P = transition_matrix(graph)
    walks = random_walks(graph, num_walks=20_000, walk_length=1, seed=8)
    counts = np.array([np.bincount(row[row >= 0], minlength=20) for row in walks[:, :, 1]])
    assert_fits(counts, P)


@kinds
def test_each_later_step_follows_the_transition_matrix_too(directed, weighted):
    graph = random_graph(15, 70, directed, weighted, seed=4)
    walks = random_walks(graph, num_walks=3000, walk_length=6, seed=9)
    here, there = walks[:, :, 3:-1].ravel(), walks[:, :, 4:].ravel()
    moved = there >= 0
    counts = np.zeros((15, 15))
    np.add.at(counts, (here[moved], there[moved]), 1)
    assert_fits(counts, transition_matrix(graph))


@kinds
def test_visits_at_each_step_tend_to_the_powers(directed, weighted):
    graph = random_graph(16, 40, directed, weighted, seed=6)
    num_walks, length = 20_000, 5
    walks = random_walks(graph, num_walks=num_walks, walk_length=length, seed=3)
    for t, power in enumerate(matrix_powers(graph, length), 1):
        share = np.array([np.bincount(row[row >= 0], minlength=16) for row in walks[:, :, t]]) / num_walks
        deviation = np.sqrt(power * (1 - power) / num_walks)
        assert (np.abs(share - power) <= 5 * deviation + 1e-9).all()


def test_walks_of_one_start_are_independent():
    walks = random_walks(Graph.from_edges([[0, 0], [1, 2]]), starts=[0], num_walks=40_000, walk_length=3)[0]
    pairs = np.bincount((walks[:-1, 1] - 1) * 2 + walks[1:, 1] - 1, minlength=4)
    within = np.bincount((walks[:, 1] - 1) * 2 + walks[:, 3] - 1, minlength=4)
    for counts in (pairs, within):
        assert stats.chisquare(counts).pvalue > 1e-4


def alias_probabilities(weights):
    """What a walker does with the table of one node, exactly: pick an entry, then its own target or the alias."""
    n = len(weights)
    indptr, indices = np.array([0, n], np.uint32), np.arange(n, dtype=np.uint16)
    table = np.empty(3 * len(indices), np.uint32)
    build_alias(indptr, indices, np.asarray(weights, np.float64), table)
    table = table.reshape(n, 3).astype(np.int64)
    assert (table[:, 1] == np.arange(n)).all()
    own = table[:, 0] / 2**32
    return (np.bincount(table[:, 1], own, n) + np.bincount(table[:, 2], 1 - own, n)) / n


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=60))
@settings(deadline=None)
def test_alias_table_holds_the_transition_probabilities(weights):
    weights = np.array(weights)
    assert np.abs(alias_probabilities(weights) - weights / weights.sum()).max() < 1e-8


@pytest.mark.parametrize(
    "weights",
    [
        [1.0],
        [1.0, 1.0, 1.0],
        [1e-300, 1.0],
        [1e300, 1e-300, 1e300],
        [5e-324, 5e-324],
        [1.0] * 4999 + [1e12],
        1.0 / np.arange(1, 20_000),
        np.full(65_536, 0.1),
    ],
    ids=["one", "equal", "tiny", "far-apart", "subnormal", "hub", "harmonic", "many-equal"],
)
def test_alias_table_of_extreme_weights(weights):
    weights = np.array(weights)
    assert np.abs(alias_probabilities(weights) - weights / weights.sum()).max() < 1e-8


def test_alias_table_is_made_once_for_a_graph():
    graph = random_graph(10, 20, weighted=True)
    assert transitions(graph) is transitions(graph)
    assert transitions(random_graph(10, 20)).alias is None


def test_chunks_cover_all_rows_once():
    rows = [i for chunk in row_chunks(1000, STEPS_PER_CALL // 7, "walking") for i in range(1000)[chunk]]
    assert rows == list(range(1000))
    assert list(row_chunks(2, 10 * STEPS_PER_CALL, "walking")) == [slice(0, 1), slice(1, 2)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"starts": [0, 4]}, "starts must be between 0 and 3, got 4"),
        ({"starts": [-1]}, "starts must be between 0 and 3, got -1"),
        ({"starts": [0.5]}, r"starts must be a one-dimensional array of integer positions, got shape \(1,\) of float64;"),
        ({"starts": ["a"]}, r"graph.index_of\(ids\) turns ids into positions"),
        ({"starts": [[0, 1]]}, r"got shape \(1, 2\) of int64"),
        ({"starts": [True, False]}, r"got shape \(2,\) of bool"),
        ({"num_walks": 0}, "num_walks must be a positive integer, got 0"),
        ({"num_walks": 2.0}, "num_walks must be a positive integer, got 2.0"),
        ({"num_walks": True}, "num_walks must be a positive integer, got True"),
        ({"walk_length": -3}, "walk_length must be a positive integer, got -3"),
        ({"walk_length": "long"}, "walk_length must be a positive integer or \"diameter\", got 'long'"),
        ({"seed": -1}, r"seed must be an integer from 0 to 2\*\*63 - 1, got -1"),
        ({"seed": 2**63}, r"seed must be an integer from 0 to 2\*\*63 - 1, got 9223372036854775808"),
        ({"seed": None}, r"seed must be an integer from 0 to 2\*\*63 - 1, got None"),
    ],
)  # fmt: skip
def test_errors(arguments, message):
    with pytest.raises(InputError, match=message):
        random_walks(cycle(4), **arguments)

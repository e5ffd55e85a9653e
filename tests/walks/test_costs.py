"""Walks, matrices and distances that would take too long or too much memory are refused before they are allocated."""

import numpy as np
import pytest

import graphreach as gr
from graphreach.errors import InputError
from graphreach.limits import MAX_PRODUCTS, MAX_STEPS, check_products, check_steps
from graphreach.reachability.sampled import MAX_ORDER_WALKS
from graphreach.walks.second_order_walks import second_order_walks
from helpers import cycle, path, set_distances

GB = 10**9


@pytest.fixture(autouse=True)
def one_gigabyte(monkeypatch):
    monkeypatch.setenv("GRAPHREACH_MEMORY_LIMIT", str(GB))


WALKERS = {
    "random_walks": lambda **options: gr.random_walks(cycle(6), **options),
    "second_order_walks": lambda **options: second_order_walks(cycle(6), **options),
    "reachability": lambda **options: gr.reachability(cycle(6), [0], **options),
    "reachability-csr": lambda **options: gr.reachability(cycle(6), [0], layout="csr", **options),
    "pair_reachability": lambda **options: gr.pair_reachability(cycle(6), [[0], [1]], "walks", **options),
    "select_anchors": lambda **options: gr.select_anchors(cycle(6), 2, **options),
}
TOO_MUCH = r"steps, which would take about .* at most 1e\+15 are allowed|GB of memory, more than the 1 GB there are"
walkers = pytest.mark.parametrize("walk", WALKERS.values(), ids=WALKERS)


@walkers
@pytest.mark.parametrize("num_walks", [10**18, 2**63 - 1])
def test_walks_of_too_many_steps_are_refused(walk, num_walks):
    with pytest.raises(InputError, match=TOO_MUCH):
        walk(num_walks=num_walks, walk_length=20)


@walkers
def test_numbers_beyond_64_bits_are_refused(walk):
    with pytest.raises(InputError, match=r"num_walks must be a positive integer below 2\*\*63, got one of 16610 bits"):
        walk(num_walks=10**5000, walk_length=3)


@walkers
def test_steps_in_all_count(walk):
    with pytest.raises(InputError, match=TOO_MUCH):
        walk(num_walks=10**12, walk_length=2**20 - 1)


@pytest.mark.parametrize("walk", [WALKERS[name] for name in WALKERS if name != "pair_reachability"])
def test_walks_that_do_not_fit_into_memory_are_refused(walk):
    with pytest.raises(InputError, match=r"would take .* of memory, more than the 1 GB there are"):
        walk(num_walks=10**9, walk_length=20)


@walkers
@pytest.mark.parametrize("value", [1e9, np.float64(2), True, "5", None, 0, -1, float("nan"), [5]])
def test_counts_are_positive_integers(walk, value):
    with pytest.raises(InputError, match="num_walks must be a positive integer, got"):
        walk(num_walks=value, walk_length=3)


@walkers
@pytest.mark.parametrize("value", [1e9, True, 2**20, 10**18, float("nan"), -1, None])
def test_walk_length_is_an_integer_within_bounds(walk, value):
    with pytest.raises(InputError, match="walk_length must be"):
        walk(num_walks=2, walk_length=value)


@walkers
@pytest.mark.parametrize("value", [float("nan"), True, 1.0, -1, 2**63, None, np.ma.masked])
def test_seed_is_an_integer(walk, value):
    with pytest.raises(InputError, match="seed must be an integer from 0 to"):
        walk(num_walks=2, walk_length=3, seed=value)


@pytest.mark.parametrize("hops", [10**12, 2**20])
def test_hops_within_bounds(hops):
    for method in ("walks", "exact"):
        with pytest.raises(InputError, match=f"hops must be at most 1048575, got {hops}"):
            gr.reachability(cycle(6), [0], method, hops=hops)
        with pytest.raises(InputError, match=f"hops must be at most 1048575, got {hops}"):
            gr.pair_reachability(cycle(6), [[0], [1]], method, hops=hops)


def test_hops_as_a_float_are_refused():
    with pytest.raises(InputError, match="hops must be a positive integer, got 1000000000000"):
        gr.reachability(cycle(6), [0], hops=1e12)


@pytest.mark.parametrize("method", ["walks", "exact"])
def test_dense_matrices_that_do_not_fit_are_refused(method):
    with pytest.raises(InputError, match=r"1000 nodes and 1000 anchors by 1000 hops would take .* GB of memory"):
        gr.reachability(cycle(1000), range(1000), method, hops=1000, layout="dense")


def test_exact_blocks_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"would take .* GB of memory"):
        gr.reachability(cycle(1000), range(64), "exact", hops=10**5, layout="csr")
    with pytest.raises(InputError, match=r"multiplications where 1e.11 are allowed"):
        gr.reachability(path(3), [0], "exact", "order", walk_length=2**20 - 1, layout="csr", num_walks=1)


def test_pairs_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="reachability of 1000 pairs, 100000 numbers each way would take"):
        gr.pair_reachability(cycle(1000), np.stack([np.arange(1000), np.arange(1000)]), hops=10**5)


def test_distances_that_do_not_fit_are_refused(monkeypatch):
    graph = cycle(1000)
    monkeypatch.setenv("GRAPHREACH_MEMORY_LIMIT", "10000")
    with pytest.raises(InputError, match="distances of 1000 nodes to 5 sets would take"):
        set_distances(graph, [[0]] * 5)


def test_order_counts_fit_into_64_bits():
    with pytest.raises(InputError, match=f'num_walks must be at most {MAX_ORDER_WALKS} with similarity="order"'):
        gr.reachability(path(2), [0], similarity="order", num_walks=MAX_ORDER_WALKS + 1, walk_length=1)
    assert MAX_ORDER_WALKS * 2**40 < 2**63 <= (MAX_ORDER_WALKS + 1) * 2**40


def test_limits_are_reached():
    check_steps(1, 1, MAX_STEPS)
    check_products(1, 1, MAX_PRODUCTS)
    with pytest.raises(InputError, match="products"):
        check_products(1, 1, MAX_PRODUCTS + 1)


MASKED = np.ma.masked_array([0, 1], mask=[False, True])


@pytest.mark.parametrize("values", [MASKED, [True, False], [0.0, np.nan], [[0], [1, 2]], "ab", {0: 1}, iter([0])])
def test_positions_that_are_none(values):
    graph = cycle(6)
    for name, function in (
        ("anchors", lambda: gr.reachability(graph, values)),
        ("starts", lambda: gr.random_walks(graph, values)),
        ("pairs", lambda: gr.pair_reachability(graph, values)),
    ):
        with pytest.raises(InputError, match=name):
            function()


@pytest.mark.parametrize("graph", [None, "graph", 5, gr.Graph, [[0, 1]]])
def test_graphs_that_are_none(graph):
    for function in (
        lambda: gr.reachability(graph, [0]),
        lambda: gr.random_walks(graph),
        lambda: gr.pair_reachability(graph, [[0], [1]]),
        lambda: gr.diameter(graph),
        lambda: second_order_walks(graph),
    ):
        with pytest.raises(InputError, match="graph must be"):
            function()


@pytest.mark.parametrize("budget", [-1, 1.5, True, None])
def test_budget_of_the_diameter(budget):
    with pytest.raises(InputError, match="budget must be an integer of at least 0"):
        gr.diameter(cycle(5), budget)

"""Exact reachability against dense matrix powers and literal first passages (Eq. 1 and App. A in expectation)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.reachability import exact, reachability
from helpers import KIND_NAMES, KINDS, cycle, first_passages, matrix_powers, path, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
layouts = pytest.mark.parametrize("layout", ["dense", "csr"])
N = 75


def some_anchors(k, seed=0):
    return np.random.default_rng(seed).permutation(N)[:k]


def dense(matrix):
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


@kinds
@layouts
@pytest.mark.parametrize("k", [1, 64, 66])
def test_eq1_is_the_mean_of_the_powers(directed, weighted, layout, k):
    graph, anchors, length = random_graph(N, 150, directed, weighted), some_anchors(k), 6
    mean = matrix_powers(graph, length).mean(axis=0)
    reach = reachability(graph, anchors, "exact", walk_length=length, layout=layout)
    assert reach.layout == layout
    assert reach.to_anchors.dtype == reach.from_anchors.dtype == np.float32
    assert np.abs(dense(reach.to_anchors) - mean[:, anchors]).max() < 1e-6
    assert np.abs(dense(reach.from_anchors) - mean[anchors].T).max() < 1e-6


@kinds
@pytest.mark.parametrize("k", [3, 66])
def test_hops_are_the_powers(directed, weighted, k):
    graph, anchors, length = random_graph(N, 150, directed, weighted), some_anchors(k), 4
    powers = matrix_powers(graph, length)
    reach = reachability(graph, anchors, "exact", hops=length, layout="dense")
    assert reach.to_anchors.shape == reach.from_anchors.shape == (N, k, length)
    assert np.abs(reach.to_anchors - powers[:, :, anchors].transpose(1, 2, 0)).max() < 1e-6
    assert np.abs(reach.from_anchors - powers[:, anchors].transpose(2, 1, 0)).max() < 1e-6


@kinds
@pytest.mark.parametrize("length", [1, 2, 6])
def test_app_a_is_the_sum_over_first_passages(directed, weighted, length):
    graph, anchors, num_walks = random_graph(N, 150, directed, weighted), some_anchors(66), 50
    expected = num_walks * (first_passages(graph, length) / np.arange(1, length + 1)[:, None, None]).sum(axis=0)
    reach = reachability(graph, anchors, "exact", "order", num_walks, length, layout="dense")
    assert np.abs(reach.to_anchors - expected[:, anchors]).max() < 1e-6 * num_walks
    assert np.abs(reach.from_anchors - expected[anchors].T).max() < 1e-6 * num_walks
    assert reach.to_anchors.min() >= 0
    assert reach.from_anchors.min() >= 0
    assert max(reach.to_anchors.max(), reach.from_anchors.max()) <= num_walks * (1 + 1e-6)


@kinds
@pytest.mark.parametrize("options", [{}, {"similarity": "order"}, {"hops": 3}], ids=["frequency", "order", "hops"])
def test_dense_and_csr_hold_the_same_numbers(directed, weighted, options):
    graph, anchors = random_graph(N, 150, directed, weighted), some_anchors(66)
    options = {"walk_length": 3, **options}
    full = reachability(graph, anchors, "exact", layout="dense", **options)
    compressed = reachability(graph, anchors, "exact", layout="csr", **options)
    for name in ("to_anchors", "from_anchors"):
        matrix = getattr(compressed, name)
        assert (matrix.data != 0).all()
        assert np.array_equal(matrix.toarray(), getattr(full, name).reshape(N, -1))


@pytest.mark.parametrize("weighted", [False, True])
def test_detailed_balance(weighted):
    graph, anchors = random_graph(N, 100, weighted=weighted), some_anchors(20)
    assert (graph.degree == 0).any()
    reach = reachability(graph, anchors, "exact", walk_length=7, layout="dense")
    left, right = graph.degree[:, None] * reach.to_anchors, graph.degree[anchors] * reach.from_anchors
    assert np.abs(left - right).max() < 1e-5
    # the same numbers where no balance is used: as a directed graph with both directions listed
    both = Graph.from_scipy(graph.to_scipy(), directed=True)
    direct = reachability(both, anchors, "exact", walk_length=7, layout="dense")
    assert both.directed
    assert np.abs(direct.from_anchors - reach.from_anchors).max() < 1e-6


def test_detailed_balance_with_self_loops():
    graph = Graph.from_edges([[0, 0, 1, 2], [0, 1, 2, 3]], edge_weight=[2, 1, 3, 1], self_loops=True)
    mean = matrix_powers(graph, 5).mean(axis=0)
    reach = reachability(graph, [0, 3], "exact", walk_length=5)
    assert np.abs(reach.from_anchors - mean[[0, 3]].T).max() < 1e-6


@kinds
@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), length=st.integers(1, 12))
def test_eq1_columns_of_from_anchors_sum_to_one(directed, weighted, seed, length):
    """... unless walks meet dead ends; then they sum to less."""
    graph = random_graph(40, 60, directed, weighted, seed)
    reach = reachability(graph, np.arange(40), "exact", walk_length=length, layout="dense")
    survival = matrix_powers(graph, length).sum(axis=2).mean(axis=0)
    assert np.abs(reach.from_anchors.sum(axis=0) - survival).max() < 1e-5
    # with every node an anchor the rows of to_anchors hold the same sums
    assert np.abs(reach.to_anchors.sum(axis=1) - survival).max() < 1e-5


def test_eq1_sums_without_dead_ends():
    reach = reachability(cycle(30), np.arange(30), "exact", walk_length=9)
    assert np.abs(reach.from_anchors.sum(axis=0) - 1).max() < 1e-5
    assert np.abs(reach.to_anchors.sum(axis=1) - 1).max() < 1e-5
    few = reachability(cycle(30), [0, 1], "exact", walk_length=9)
    assert np.abs(few.from_anchors.sum(axis=0) - 1).max() < 1e-5
    assert few.to_anchors.sum(axis=1).max() < 0.9


def test_eq1_sums_with_dead_ends():
    reach = reachability(path(4, directed=True), [0, 2, 3], "exact", walk_length=4)
    assert reach.from_anchors.sum(axis=0).tolist() == [0.75, 0.25, 0]


def test_first_return_of_an_anchor_to_itself():
    reach = reachability(cycle(3, directed=True), [0], "exact", "order", num_walks=6, walk_length=7)
    assert reach.to_anchors[:, 0].tolist() == [2, 3, 6]
    assert np.allclose(reach.from_anchors[:, 0], [2, 6, 3], atol=1e-5)


def test_hops_of_one():
    reach = reachability(cycle(4), [0], "exact", hops=1)
    assert reach.to_anchors[:, 0, 0].tolist() == [0, 0.5, 0, 0.5]


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 600])
def test_any_number_of_rows(n):
    """Kernels take 256 rows at a time."""
    graph = random_graph(n, 3 * n, directed=True, weighted=n > 2, seed=1)
    anchors = np.arange(0, n, max(1, n // 70))
    mean = matrix_powers(graph, 3).mean(axis=0)
    reach = reachability(graph, anchors, "exact", walk_length=3, layout="dense")
    assert np.abs(reach.to_anchors - mean[:, anchors]).max() < 1e-6
    assert np.abs(reach.from_anchors - mean[anchors].T).max() < 1e-6


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_sums_at_a_hub_are_right(directed, weighted):
    """300,000 numbers of single precision are added up at the centre."""
    leaves = np.arange(1, 300_001)
    centre = np.zeros_like(leaves)
    edges = np.array([leaves, centre])
    edges = np.concatenate([edges, edges[::-1]], axis=1) if directed else edges
    weights = np.full(edges.shape[1], 0.1) if weighted else None
    star = Graph.from_edges(edges, edge_weight=weights, directed=directed)
    reach = reachability(star, [0, 1], "exact", walk_length=4, layout="dense")
    assert np.abs(reach.from_anchors.sum(axis=0, dtype=np.float64) - 1).max() < 1e-5
    assert np.abs(reach.to_anchors[:, 0] - 0.5).max() < 1e-5
    assert abs(reach.from_anchors[0, 1] - 0.5) < 1e-5


def test_costly_order_is_refused_and_names_walks(monkeypatch):
    graph = random_graph(50, 200, directed=True)
    cost = 50 * len(graph.indices) * 4
    monkeypatch.setattr(exact, "MAX_ORDER_COST", cost)
    reachability(graph, [0], "exact", "order", walk_length=5)
    monkeypatch.setattr(exact, "MAX_ORDER_COST", cost - 1)
    sentence = (
        'needs the return probabilities of all 50 nodes, .* multiplications where .* are allowed; use method="walks"'
    )
    with pytest.raises(InputError, match=sentence):
        reachability(graph, [0], "exact", "order", walk_length=5)
    reachability(graph, [0], "exact", "frequency", walk_length=5)
    reachability(graph, [0], "walks", "order", walk_length=5)


def test_order_is_refused_beyond_the_stated_cost():
    graph = random_graph(30_000, 200_000)
    with pytest.raises(InputError, match=r'similarity="order" with method="exact" needs .* 1e\+11 are allowed'):
        reachability(graph, [0], "exact", "order", walk_length=20)


@pytest.mark.parametrize("scale", [1e-60, 1e-44, 1e39])
def test_the_scale_of_weights_does_not_matter(scale):
    rng = np.random.default_rng(0)
    edges, weights = rng.integers(0, 30, (2, 120)), rng.random(120) + 0.1
    plain, scaled = (
        reachability(Graph.from_edges(edges, 30, weights * c, directed=True), [1, 2], "exact", walk_length=4)
        for c in (1.0, scale)
    )
    np.testing.assert_allclose(scaled.to_anchors, plain.to_anchors, atol=1e-6)
    np.testing.assert_allclose(scaled.from_anchors, plain.from_anchors, atol=1e-6)

"""Reachability by walks against literal counts of stored walks (Eq. 1 and App. A)."""

import importlib

import numpy as np
import pytest

from graphreach.graph import Graph
from graphreach.reachability import reachability, sampled
from graphreach.walks import random_walks
from helpers import KIND_NAMES, KINDS, count_visits, cycle, matrix_powers, path, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
layouts = pytest.mark.parametrize("layout", ["dense", "csr"])
N, LENGTH = 70, 6


def dense(matrix):
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


@pytest.fixture(scope="module", params=KINDS, ids=KIND_NAMES)
def counted(request):
    """A graph, its anchors (more than 64), and literal counts for 5, 60 and 600 walks."""
    graph = random_graph(N, 140, *request.param)
    walks = random_walks(graph, num_walks=600, walk_length=LENGTH, seed=3)
    anchors = np.random.default_rng(1).permutation(N)[:66]
    return graph, anchors, {m: count_visits(walks[:, :m], N) for m in (5, 60, 600)}


@layouts
@pytest.mark.parametrize("num_walks", [5, 60, 600])
def test_eq1_is_the_share_of_visits(counted, layout, num_walks):
    graph, anchors, counts = counted
    share = counts[num_walks][0].sum(axis=2) / (num_walks * LENGTH)
    reach = reachability(graph, anchors, num_walks=num_walks, walk_length=LENGTH, seed=3, layout=layout)
    assert (reach.layout, reach.method, reach.similarity) == (layout, "walks", "frequency")
    assert reach.to_anchors.dtype == reach.from_anchors.dtype == np.float32
    assert np.abs(dense(reach.to_anchors) - share[:, anchors]).max() < 1e-6
    assert np.abs(dense(reach.from_anchors) - share[anchors].T).max() < 1e-6


@layouts
@pytest.mark.parametrize("num_walks", [5, 60, 600])
def test_app_a_is_the_sum_of_inverse_first_steps(counted, layout, num_walks):
    graph, anchors, counts = counted
    order = counts[num_walks][1]
    reach = reachability(
        graph, anchors, similarity="order", num_walks=num_walks, walk_length=LENGTH, seed=3, layout=layout
    )
    assert np.abs(dense(reach.to_anchors) - order[:, anchors]).max() < 1e-6 * num_walks
    assert np.abs(dense(reach.from_anchors) - order[anchors].T).max() < 1e-6 * num_walks
    assert 0 <= dense(reach.to_anchors).min() <= dense(reach.to_anchors).max() <= num_walks


@layouts
@pytest.mark.parametrize("num_walks", [5, 60, 600])
def test_hops_are_the_shares_of_walks_at_each_step(counted, layout, num_walks):
    graph, anchors, counts = counted
    share = counts[num_walks][0] / num_walks
    reach = reachability(graph, anchors, num_walks=num_walks, hops=LENGTH, seed=3, layout=layout)
    to, back = (dense(m).reshape(N, 66, LENGTH) for m in (reach.to_anchors, reach.from_anchors))
    assert np.abs(to - share[:, anchors]).max() < 1e-6
    assert np.abs(back - share[anchors].transpose(1, 0, 2)).max() < 1e-6
    if layout == "csr":
        assert reach.to_anchors.shape == reach.from_anchors.shape == (N, 66 * LENGTH)


@layouts
def test_hops_sum_to_the_frequency(counted, layout):
    graph, anchors, _ = counted
    hops = reachability(graph, anchors, hops=LENGTH, seed=3, layout="dense")
    total = reachability(graph, anchors, walk_length=LENGTH, seed=3, layout=layout)
    for name in ("to_anchors", "from_anchors"):
        assert np.abs(getattr(hops, name).mean(axis=2) - dense(getattr(total, name))).max() < 1e-6


@pytest.mark.parametrize("options", [{}, {"similarity": "order"}, {"hops": 4}], ids=["frequency", "order", "hops"])
def test_dense_and_csr_hold_the_same_numbers(counted, options):
    graph, anchors, _ = counted
    options = {"walk_length": 4, "num_walks": 30, **options}
    full = reachability(graph, anchors, layout="dense", **options)
    compressed = reachability(graph, anchors, layout="csr", **options)
    for name in ("to_anchors", "from_anchors"):
        matrix = getattr(compressed, name)
        assert (matrix.data != 0).all()
        assert np.array_equal(matrix.toarray(), getattr(full, name).reshape(N, -1))


def test_rows_are_counted_in_pieces(monkeypatch):
    graph, anchors = random_graph(100, 300, weighted=True), np.arange(0, 100, 7)
    whole = {layout: reachability(graph, anchors, walk_length=5, layout=layout) for layout in ("dense", "csr")}
    monkeypatch.setattr(importlib.import_module("graphreach.walks.engine"), "STEPS_PER_CALL", 9 * 250)
    monkeypatch.setattr(sampled, "CSR_ROWS", 4)
    for layout, want in whole.items():
        got = reachability(graph, anchors, walk_length=5, layout=layout)
        assert np.array_equal(dense(got.to_anchors), dense(want.to_anchors))
        assert np.array_equal(dense(got.from_anchors), dense(want.from_anchors))


@kinds
def test_eq1_columns_of_from_anchors_sum_to_one(directed, weighted):
    """... where no walk dies, else to the share of steps that were taken."""
    graph = random_graph(N, 140, directed, weighted)
    reach = reachability(graph, np.arange(N), walk_length=5, num_walks=40, seed=2, layout="dense")
    alive = (random_walks(graph, num_walks=40, walk_length=5, seed=2)[:, :, 1:] >= 0).mean(axis=(1, 2))
    assert np.abs(reach.from_anchors.sum(axis=0) - alive).max() < 1e-5
    assert np.abs(reach.to_anchors.sum(axis=1) - alive).max() < 1e-5
    assert (alive == 1).any()


def test_the_start_is_not_a_visit():
    reach = reachability(path(3, directed=True), [0, 1], walk_length=2, num_walks=4)
    assert reach.to_anchors.tolist() == [[0, 0.5], [0, 0], [0, 0]]
    order = reachability(path(3, directed=True), [0, 1], similarity="order", walk_length=2, num_walks=4)
    assert order.to_anchors.tolist() == [[0, 4], [0, 0], [0, 0]]
    assert order.from_anchors.tolist() == [[0, 0], [4, 0], [2, 4]]


def test_first_return_of_an_anchor_to_itself():
    reach = reachability(cycle(3, directed=True), [0], similarity="order", num_walks=6, walk_length=7)
    assert reach.to_anchors[:, 0].tolist() == [2, 3, 6]
    assert reach.from_anchors[:, 0].tolist() == [2, 6, 3]


def test_hops_of_one():
    reach = reachability(path(2), [0], hops=1)
    assert reach.to_anchors.tolist() == [[[0]], [[1]]]


@layouts
def test_graph_without_edges(layout):
    graph = Graph.from_edges(np.empty((2, 0), int), num_nodes=3)
    for method in ("walks", "exact"):
        reach = reachability(graph, [1], method, layout=layout)
        assert dense(reach.to_anchors).tolist() == dense(reach.from_anchors).tolist() == [[0]] * 3


@kinds
def test_error_falls_like_one_over_the_root_of_the_number_of_walks(directed, weighted):
    graph, length = random_graph(60, 200, directed, weighted, seed=1), 5
    mean = matrix_powers(graph, length).mean(axis=0)
    counts = 2 ** np.arange(4, 13, 2)
    for name, truth in (("to_anchors", mean), ("from_anchors", mean.T)):
        errors = []
        for num_walks in counts:
            reach = reachability(graph, np.arange(60), num_walks=int(num_walks), walk_length=length, seed=4)
            errors.append(np.sqrt(((getattr(reach, name) - truth) ** 2).mean()))
        slope = np.polyfit(np.log(counts), np.log(errors), 1)[0]
        assert -0.6 < slope < -0.4


@kinds
def test_order_tends_to_the_exact_one(directed, weighted):
    graph = random_graph(40, 120, directed, weighted, seed=1)
    options = {"similarity": "order", "num_walks": 4000, "walk_length": 5, "layout": "dense"}
    walks, exact = (reachability(graph, np.arange(40), method, **options) for method in ("walks", "exact"))
    for name in ("to_anchors", "from_anchors"):
        # each of n_w terms lies in [0, 1]: their sum deviates by at most sqrt(n_w) / 2, here five times that
        assert np.abs(getattr(walks, name) - getattr(exact, name)).max() < 2.5 * np.sqrt(4000)

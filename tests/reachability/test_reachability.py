"""The public function: choices, defaults, errors."""

import importlib

import numpy as np
import pytest

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.reachability import reachability
from graphreach.reachability.reachability import cheaper_method
from helpers import KIND_NAMES, KINDS, TRIANGLE_AND_PATH, cycle, path, random_graph

# the function of the same name hides the module
module = importlib.import_module("graphreach.reachability.reachability")


def test_six_nodes_by_hand():
    """One jump: a neighbour is reached with one over the degree of the node that the walk starts from."""
    graph = Graph.from_edges(TRIANGLE_AND_PATH, 6)
    reach = reachability(graph, [2, 5], "exact", walk_length=1)
    assert np.allclose(reach.to_anchors.T, [[1 / 2, 1 / 2, 0, 1 / 2, 0, 0], [0] * 6])
    assert np.allclose(reach.from_anchors.T, [[1 / 3, 1 / 3, 0, 1 / 3, 0, 0], [0] * 6])


def test_defaults():
    reach = reachability(path(6), [0, 3])
    assert (reach.method, reach.similarity, reach.num_walks, reach.walk_length) == ("walks", "frequency", 50, 5)
    assert (reach.hops, reach.seed, reach.layout) == (None, 0, "dense")
    assert (reach.num_nodes, reach.num_anchors) == (6, 2)
    assert reach.anchors.tolist() == [0, 3]


def test_what_did_not_enter_is_not_recorded():
    exact = reachability(path(6), [0], "exact", num_walks=7, seed=7)
    assert (exact.num_walks, exact.seed) == (None, None)
    assert reachability(path(6), [0], "exact", "order", num_walks=7).num_walks == 7


def test_repr():
    assert repr(reachability(path(6), [0, 3], hops=2, layout="csr")) == (
        "Reachability(num_nodes=6, num_anchors=2, method=walks, similarity=frequency, walk_length=2, hops=2, layout=csr)"
    )


def test_columns_follow_the_order_of_the_anchors():
    graph = random_graph(30, 90, directed=True, weighted=True)
    for method in ("walks", "exact"):
        one, other = (reachability(graph, anchors, method, walk_length=4) for anchors in ([4, 9, 2], [2, 4, 9]))
        assert np.array_equal(one.to_anchors[:, [2, 0, 1]], other.to_anchors)
        assert np.array_equal(one.from_anchors[:, [2, 0, 1]], other.from_anchors)


@pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
@pytest.mark.parametrize("similarity", ["frequency", "order"])
def test_auto_is_one_of_the_two(directed, weighted, similarity):
    sparse = random_graph(300, 450, directed, weighted)
    dense = random_graph(300, 20_000, directed, weighted)
    for graph, num_walks, expected in ((sparse, 5000, "exact"), (dense, 1, "walks")):
        options = {"similarity": similarity, "num_walks": num_walks, "walk_length": 4}
        automatic = reachability(graph, [0, 5], "auto", **options)
        chosen = reachability(graph, [0, 5], expected, **options)
        assert automatic.method == expected
        assert np.array_equal(automatic.to_anchors, chosen.to_anchors)
        assert np.array_equal(automatic.from_anchors, chosen.from_anchors)


def test_auto_never_picks_an_order_that_is_refused():
    graph = random_graph(30_000, 200_000)
    assert cheaper_method(graph, 64, "order", num_walks=10**9, length=20) == "walks"
    assert cheaper_method(graph, 64, "frequency", num_walks=10**9, length=20) == "exact"


def test_auto_weighs_anchors():
    graph = random_graph(500, 1500)
    assert cheaper_method(graph, 64, "frequency", 50, 10) == "exact"
    assert cheaper_method(graph, 500, "frequency", 50, 10) == "walks"


def test_auto_layout_is_dense_until_that_is_large(monkeypatch):
    monkeypatch.setattr(module, "DENSE_BYTES", 2 * 4 * 10 * 3)
    assert reachability(cycle(10), [0, 1, 2], walk_length=2).layout == "dense"
    assert reachability(cycle(10), [0, 1, 2, 3], walk_length=2).layout == "csr"
    assert reachability(cycle(10), [0, 1], hops=2).layout == "csr"
    assert reachability(cycle(10), [0, 1, 2, 3], "exact", walk_length=2).layout == "dense"
    assert reachability(cycle(10), [0, 1, 2, 3], walk_length=2, layout="dense").layout == "dense"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"anchors": []}, "anchors must hold at least one position, got none"),
        ({"anchors": [1, 2, 1]}, "anchors must be different positions, got some more than once"),
        ({"anchors": [10]}, "anchors must be between 0 and 9, got 10"),
        ({"anchors": [-1]}, "anchors must be between 0 and 9, got -1"),
        ({"anchors": ["a"]}, "anchors must be a one-dimensional array of integer positions, got shape"),
        ({"anchors": 3}, r"anchors must be a one-dimensional array of integer positions, got shape \(\) of int64"),
        ({"method": "sampled"}, "method must be one of walks, exact, auto, got 'sampled'"),
        ({"similarity": "cosine"}, "similarity must be one of frequency, order, got 'cosine'"),
        ({"layout": "coo"}, "layout must be one of dense, csr, auto, got 'coo'"),
        ({"hops": 2, "similarity": "order"}, 'hops must be None with similarity="order", which is a sum over steps'),
        ({"hops": 0}, "hops must be a positive integer, got 0"),
        ({"num_walks": 0}, "num_walks must be a positive integer, got 0"),
        ({"walk_length": 0}, "walk_length must be a positive integer, got 0"),
        ({"walk_length": "long"}, "walk_length must be a positive integer or \"diameter\", got 'long'"),
        ({"seed": 0.5}, r"seed must be an integer from 0 to 2\*\*63 - 1, got 0.5"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(InputError, match=message):
        reachability(cycle(10), **{"anchors": [0], **arguments})

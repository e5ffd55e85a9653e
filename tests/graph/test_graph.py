"""Graph: merging, order of ids, CSR, hash, errors; the six-node graph can be checked by hand."""

import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.graph import Graph

# 0 - 1 - 2 - 0 is a triangle, 2 - 3 - 4 a path, 5 stands alone.
TRIANGLE_AND_PATH = [[0, 1, 2, 2, 3], [1, 2, 0, 3, 4]]

edge_lists = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=40)
weights = st.integers(1, 9).map(float)


def index_of(pairs):
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T


def test_six_nodes():
    graph = Graph.from_edges(TRIANGLE_AND_PATH, num_nodes=6)
    assert graph.indptr.tolist() == [0, 2, 4, 7, 9, 10, 10]
    assert graph.indices.tolist() == [1, 2, 0, 2, 0, 1, 3, 2, 4, 3]
    assert graph.degree.tolist() == [2, 2, 3, 2, 1, 0]
    assert graph.ids.tolist() == [0, 1, 2, 3, 4, 5]
    assert (graph.num_nodes, graph.num_edges, graph.weighted, graph.weights) == (6, 5, False, None)


def test_six_nodes_directed_and_weighted():
    graph = Graph.from_edges(TRIANGLE_AND_PATH, 6, [1, 2, 3, 4, 5], directed=True)
    assert graph.indptr.tolist() == [0, 1, 2, 4, 5, 5, 5]
    assert graph.indices.tolist() == [1, 2, 0, 3, 4]
    assert graph.weights.tolist() == [1, 2, 3, 4, 5]
    assert graph.degree.tolist() == [1, 2, 7, 5, 0, 0]
    assert graph.num_edges == 5


def test_repr():
    assert repr(Graph.from_networkx(nx.karate_club_graph(), weight=None)) == (
        "Graph(num_nodes=34, num_edges=78, directed=False, weighted=False)"
    )


@pytest.mark.parametrize(
    ("num_nodes", "expected"), [(2**16, np.uint16), (2**16 + 1, np.uint32)], ids=["small", "large"]
)
def test_smallest_integer_types(num_nodes, expected):
    graph = Graph.from_edges([[0], [num_nodes - 1]], num_nodes)
    assert graph.indices.dtype == expected
    assert graph.indptr.dtype == np.uint32
    assert graph.indices.tolist() == [num_nodes - 1, 0]


def test_arrays_are_read_only():
    graph = Graph.from_edges([[0], [1]], edge_weight=[1.0])
    for array in (graph.indptr, graph.indices, graph.weights, graph.ids, graph.degree):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_input_is_neither_changed_nor_frozen():
    index, weight, ids = np.array([[0, 1], [1, 0]]), np.array([2.0, 2.0]), np.array(["b", "a"])
    Graph.from_edges(index, edge_weight=weight, ids=ids)
    assert index.tolist() == [[0, 1], [1, 0]]
    assert weight.tolist() == [2, 2]
    index[0, 0], weight[0], ids[0] = 1, 1.0, "c"


def test_unweighted_repeats_and_reverse_pairs_are_one_edge():
    assert Graph.from_edges([[0, 0, 1], [1, 1, 0]]).num_edges == 1
    assert Graph.from_edges([[0, 0, 1], [1, 1, 0]], directed=True).num_edges == 2


def test_weighted_repeats_in_one_direction_are_added():
    assert Graph.from_edges([[0, 0], [1, 1]], edge_weight=[1, 2]).weights.tolist() == [3, 3]
    assert Graph.from_edges([[0, 0, 1], [1, 1, 0]], None, [1, 2, 5], True).weights.tolist() == [3, 5]


def test_both_directions_with_equal_weights_are_one_edge():
    assert Graph.from_edges([[0, 1], [1, 0]], edge_weight=[2, 2]).weights.tolist() == [2, 2]
    # Repeats are added before directions are compared, and 0.1 + 0.2 counts as 0.3.
    assert Graph.from_edges([[0, 0, 1], [1, 1, 0]], edge_weight=[0.1, 0.2, 0.3]).num_edges == 1


def test_both_directions_with_unequal_weights_are_an_error():
    with pytest.raises(InputError, match=r"undirected edge between 'a' and 'b' has different weights"):
        Graph.from_edge_list([("a", "b", 1.0), ("b", "a", 3.0)])


@pytest.mark.parametrize(("reduce", "expected"), [("sum", 4), ("mean", 2), ("max", 3), ("min", 1)])
def test_reduce(reduce, expected):
    graph = Graph.from_edges([[0, 1], [1, 0]], edge_weight=[1, 3], reduce=reduce)
    assert graph.weights.tolist() == [expected, expected]


def test_reduce_leaves_edges_in_one_direction_alone():
    assert Graph.from_edges([[0, 1], [1, 2]], edge_weight=[1, 3], reduce="mean").weights.tolist() == [
        1,
        1,
        3,
        3,
    ]


@pytest.mark.parametrize("directed", [False, True])
def test_self_loops_are_dropped_unless_asked_for(directed):
    edges = [[0, 1, 2], [0, 2, 2]]
    assert Graph.from_edges(edges, directed=directed).num_edges == 1
    kept = Graph.from_edges(edges, edge_weight=[5, 1, 7], directed=directed, self_loops=True)
    assert kept.num_edges == 3
    assert kept.degree.tolist() == ([5, 1, 8] if not directed else [5, 1, 7])


def test_zero_weights_are_dropped_and_their_nodes_kept():
    graph = Graph.from_edge_list([("a", "b", 1.0), ("b", "c", 0.0)])
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert graph.num_edges == 1


def test_no_edges():
    graph = Graph.from_edges(np.empty((2, 0), np.int64), num_nodes=3)
    assert (graph.num_edges, graph.degree.tolist()) == (0, [0, 0, 0])
    assert Graph.from_edges(np.empty((2, 0)), 3, edge_weight=[], directed=True).transpose().num_edges == 0


def test_ids_are_sorted_and_positions_follow():
    graph = Graph.from_edges([[0, 1], [1, 2]], ids=["c", "a", "b"], directed=True)
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert {(graph.ids[u], graph.ids[v]) for u, v in graph.edge_index.T} == {("c", "a"), ("a", "b")}


def test_ids_of_mixed_kinds():
    ids = ["b", 10, (2, "x"), 2.5, None, frozenset({1}), (2, 1), "a", True]
    graph = Graph.from_edge_list([(ids[0], each) for each in ids])
    assert graph.ids.tolist() == [True, 2.5, 10, "a", "b", None, frozenset({1}), (2, 1), (2, "x")]
    assert [graph.index_of(each) for each in graph.ids] == list(range(9))
    assert graph.index_of([(2, 1), np.int64(10), 1]).tolist() == [7, 2, 0]


def test_index_of():
    graph = Graph.from_edge_list([(30, 10), (10, 20)])
    assert graph.index_of(20) == 1
    assert isinstance(graph.index_of(np.int64(20)), int)
    assert graph.index_of((30, 10)).tolist() == [2, 0]
    assert graph.index_of(np.array([[10, 20]], dtype=np.uint8)).tolist() == [[0, 1]]
    assert graph.index_of([]).tolist() == []
    assert graph.index_of([30.0]).tolist() == [2]


def test_index_of_unknown_ids():
    graph = Graph.from_edge_list([("a", "b")])
    with pytest.raises(InputError, match=r"ids must be ids of nodes \(such as 'a', 'b'\), got 'x'$"):
        graph.index_of("x")
    with pytest.raises(InputError, match=r"got 1, 2, 3 and 2 more"):
        graph.index_of([1, "a", 2, 3, 4, 5])
    with pytest.raises(InputError, match="ids must be hashable"):
        graph.index_of([["a"]])
    with pytest.raises(InputError, match="got 7"):
        Graph.from_edges([[0], [1]]).index_of(np.array([0, 7]))


def test_transpose():
    graph = Graph.from_edges([[0, 0, 1], [1, 2, 2]], edge_weight=[1, 2, 3], directed=True)
    assert graph.transpose().edge_index.tolist() == [[1, 2, 2], [0, 0, 1]]
    assert graph.transpose().weights.tolist() == [1, 2, 3]
    assert graph.transpose().transpose() is graph
    undirected = Graph.from_edges([[0], [1]])
    assert undirected.transpose() is undirected


def test_content_hash_covers_ids_weights_and_directedness():
    both = [[0, 1], [1, 0]]
    graphs = [
        Graph.from_edges(both),
        Graph.from_edges(both, directed=True),
        Graph.from_edges(both, edge_weight=[1, 1]),
        Graph.from_edges(both, edge_weight=[2, 2]),
        Graph.from_edges(both, num_nodes=3),
        Graph.from_edges(both, ids=["0", "1"]),
        Graph.from_edges(both, ids=[0, 2]),
        Graph.from_edges(both, ids=[0, "1"]),
    ]
    assert len({graph.content_hash for graph in graphs}) == len(graphs)
    assert all(len(graph.content_hash) == 64 for graph in graphs)


@given(edge_lists, st.randoms(use_true_random=False), st.booleans())
def test_order_of_edges_changes_nothing(pairs, random, directed):
    rows = [(u, v, 0.1 * (u + v + 1)) for u, v in pairs]
    graph = Graph.from_edge_list(rows, directed, reduce="sum")
    random.shuffle(rows)
    assert Graph.from_edge_list(rows, directed, reduce="sum").content_hash == graph.content_hash


@given(edge_lists, st.booleans())
def test_repeats_change_nothing(pairs, directed):
    graph = Graph.from_edges(index_of(pairs), 8, directed=directed)
    again = pairs * 2 if directed else pairs + [(v, u) for u, v in pairs]
    assert Graph.from_edges(index_of(again), 8, directed=directed).content_hash == graph.content_hash


@given(edge_lists, st.booleans(), st.booleans())
def test_agrees_with_networkx(pairs, directed, self_loops):
    reference = nx.MultiDiGraph() if directed else nx.MultiGraph()
    reference.add_nodes_from(range(8))
    # Listed in one direction only: networkx adds parallel edges whichever way they run.
    rows = [(u, v) if directed else (min(u, v), max(u, v)) for u, v in pairs if self_loops or u != v]
    reference.add_edges_from((u, v, {"weight": 1.0 + u + v}) for u, v in rows)
    dense = nx.to_numpy_array(reference, nodelist=range(8))
    weight = [1.0 + u + v for u, v in rows]
    graph = Graph.from_edges(index_of(rows), 8, weight, directed, self_loops=self_loops)
    np.testing.assert_allclose(graph.to_scipy().toarray(), dense)
    np.testing.assert_allclose(graph.degree, dense.sum(axis=1))
    np.testing.assert_allclose(graph.transpose().to_scipy().toarray(), dense.T)
    converted = Graph.from_networkx(reference, self_loops=self_loops)
    np.testing.assert_allclose(converted.to_scipy().toarray(), dense)


def test_many_nodes_agree_with_scipy():
    from scipy.sparse import coo_array

    rng = np.random.default_rng(0)
    n, m = 70_000, 300_000
    index, weight = rng.integers(0, n, (2, m)), rng.integers(1, 9, m).astype(float)
    expected = coo_array((weight, tuple(index)), shape=(n, n)).tocsr()
    expected.setdiag(0)
    expected.eliminate_zeros()
    directed = Graph.from_edges(index, n, weight, directed=True)
    assert (directed.to_scipy() != expected).nnz == 0
    undirected = Graph.from_edges(index, n, weight, reduce="sum")
    assert (undirected.to_scipy() != expected + expected.T).nnz == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"edge_index": [[0, 1], [1, 2], [2, 3]]},
            r"edge_index must have shape \[2, m\], got \[3, 2\]; transpose",
        ),
        ({"edge_index": [0, 1]}, r"edge_index must have shape \[2, m\], got \[2\]"),
        ({"edge_index": [[0, 1], [1]]}, "rows of unequal length"),
        ({"edge_index": [[0.5], [1]]}, "edge_index must hold integers, got float64"),
        ({"edge_index": [["a"], ["b"]]}, r"edge_index must hold integers.*Graph.from_edge_list"),
        ({"edge_index": [[0], [-1]]}, "edge_index must hold positions between 0 and 0, got -1"),
        ({"edge_index": [[0], [5]], "num_nodes": 3}, "edge_index must hold positions between 0 and 2, got 5"),
        ({"edge_index": [[], []]}, "num_nodes must be at least 1, got 0"),
        ({"num_nodes": 2.5}, "num_nodes must be a whole number, got 2.5"),
        ({"ids": ["a"]}, "ids must hold one id for each of the 2 nodes|positions between 0 and 0"),
        ({"ids": ["a", "a"]}, "ids must be distinct, got 'a' more than once"),
        ({"ids": [1, float("nan")]}, "node ids must equal themselves|missing"),
        (
            {"edge_weight": [1, 2]},
            r"edge_weight must hold one number per edge, shape \(1,\), got shape \(2,\)",
        ),
        ({"edge_weight": ["x"]}, "edge_weight must hold numbers"),
        ({"edge_weight": [1j]}, "edge_weight must hold numbers"),
        ({"edge_weight": [-1.0]}, "edge_weight must be finite and not negative, got -1.0 at position 0"),
        ({"edge_weight": [np.nan]}, "got nan at position 0"),
        ({"edge_weight": [np.inf]}, "got inf at position 0"),
        ({"edge_weight": [0.0]}, "edge_weight must have at least one positive weight, got 1 zero"),
        ({"reduce": "median"}, "reduce must be 'sum', 'mean', 'max', 'min' or None, got 'median'"),
        ({"directed": "yes"}, "directed must be True or False, got 'yes'"),
        ({"num_nodes": 2**33}, r"at most 2\*\*32 nodes"),
    ],
)
def test_from_edges_errors(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        Graph.from_edges(**{"edge_index": [[0], [1]]} | arguments)


def test_sum_of_repeats_must_be_finite():
    with pytest.raises(InputError, match="between 1e-100 and"):
        Graph.from_edges([[0, 0], [1, 1]], edge_weight=[1e308, 1e308])


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        ([], "at least one edge"),
        ([(1,)], r"pairs \(u, v\) or triples"),
        ([(1, 2), (1, 2, 3.0)], "some of each"),
        ([([1], 2)], r"node ids must be hashable, got \[1\] of type list"),
        ([(1, 2, "x")], "weight must hold numbers"),
        ([(1, float("nan"))], "must"),
    ],
)
def test_from_edge_list_errors(edges, sentence):
    with pytest.raises(InputError, match=sentence):
        Graph.from_edge_list(edges)


def test_import_is_light():
    code = (
        "import sys, graphreach.graph as g; g.Graph.from_edges([[0], [1]]);"
        "heavy = {'torch', 'matplotlib', 'polars', 'pandas', 'networkx'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_weights_whose_sum_is_infinite_are_refused():
    with pytest.raises(InputError, match="edge_weight must be 0 or between 1e-100 and"):
        Graph.from_edges([[0, 1, 0], [1, 2, 2]], edge_weight=[1e308, 1e308, 1.5e308])


def test_reading_and_time_are_none_without_a_file():
    graph = Graph.from_edges([[0], [1]])
    assert graph.reading is None
    assert graph.time is None

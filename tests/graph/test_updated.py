"""Graph.updated against building the graph from its final edges with the same order of nodes."""

import copy
import pickle
from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import graphreach as gr
from graphreach.graph import Graph, updated
from graphreach.graph.build import Edges
from graphreach.graph.graph import build_graph
from graphreach.graph.ids import ids_array
from graphreach.graph.updated import in_order
from helpers import KIND_NAMES, KINDS, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
nodes = st.integers(0, 9) | st.sampled_from([17, 12])
steps = st.lists(st.tuples(nodes, nodes, st.integers(1, 8)), max_size=6)
STARTS = {False: [(1, 2), (2, 5), (5, 5), (0, 7)], True: [(1, 2, 1.0), (2, 5, 2.0), (5, 5, 1.0), (0, 7, 0.5)]}


def key(u, v, directed):
    return (u, v) if directed else (min(u, v), max(u, v))


def from_scratch(ids, edges, directed, weighted):
    """The graph of a dictionary of edges with its nodes in this order."""
    place = {value: i for i, value in enumerate(ids)}
    ends = np.array([[place[end] for end in edge] for edge in edges], np.uint32).reshape(-1, 2).T
    weights = np.array(list(edges.values())) if weighted else None
    return build_graph(Edges(*ends, weights, ids_array(ids)), directed, None, True)


def assert_same(graph, expected):
    assert graph.num_nodes == expected.num_nodes
    assert graph.weighted is expected.weighted
    assert graph.num_edges == expected.num_edges
    for name in ("indptr", "indices", "weights"):
        found, wanted = getattr(graph, name), getattr(expected, name)
        assert (found is None) is (wanted is None)
        if found is not None:
            assert found.dtype == wanted.dtype
            assert not found.flags.writeable
            assert found.tobytes() == wanted.tobytes(), name
    assert graph.ids.tolist() == expected.ids.tolist()
    assert graph.content_hash == expected.content_hash


def draw_batch(data, edges, directed, weighted):
    """Edges to add, to remove and to weigh anew, none of which is in two of these."""
    there = sorted(edges)
    gone = data.draw(st.lists(st.sampled_from(there), max_size=3, unique=True)) if there else []
    kept = [edge for edge in there if edge not in gone]
    heavy = data.draw(st.lists(st.sampled_from(kept), max_size=3, unique=True)) if kept and weighted else []
    taken = {*gone, *heavy}
    add = [(u, v, float(w)) for u, v, w in data.draw(steps) if key(u, v, directed) not in taken]
    if not directed:  # an edge listed both ways would need equal sums
        add = [(*key(u, v, directed), w) for u, v, w in add]
    return add, gone, [(*edge, 0.25 * data.draw(st.integers(1, 9))) for edge in heavy]


@kinds
@pytest.mark.parametrize("share", [0, 8, 1000], ids=["never joined", "joined late", "joined early"])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_any_updates_equal_building_from_the_final_edges(directed, weighted, share, data):
    graph = Graph.from_edge_list(STARTS[weighted], directed, self_loops=True)
    edges = {key(*row[:2], directed): row[2] if weighted else 1.0 for row in STARTS[weighted]}
    ids = graph.ids.tolist()
    for _ in range(data.draw(st.integers(1, 4))):
        add, remove, weights = draw_batch(data, edges, directed, weighted)
        alone = data.draw(st.lists(st.integers(0, 30), max_size=2))
        loops = data.draw(st.booleans())
        rows = data.draw(st.permutations(add))
        rows = rows if weighted else [row[:2] for row in rows]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(updated, "SHARE_JOINED", share)
            graph = graph.updated(rows, remove, weights or None, nodes=alone, self_loops=loops)
        ids += sorted({end for u, v, _ in add for end in (u, v)}.union(alone) - set(ids))
        for u, v, w in add:
            if u != v or loops:
                edge = key(u, v, directed)
                edges[edge] = edges.get(edge, 0.0) + w if weighted else 1.0
        for edge in remove:
            del edges[edge]
        edges |= {(u, v): w for u, v, w in weights}
        if data.draw(st.booleans()):
            check_rows(graph, from_scratch(ids, edges, directed, weighted), data)
    assert_same(graph, from_scratch(ids, edges, directed, weighted))


def check_rows(graph, expected, data):
    wanted = data.draw(st.lists(st.integers(0, graph.num_nodes - 1), max_size=5))
    for found, right in zip(graph.rows(wanted), expected.rows(wanted), strict=True):
        np.testing.assert_array_equal(found, right)
    assert graph.num_edges == expected.num_edges


@kinds
def test_batches_that_commute_give_the_same(directed, weighted):
    rng = np.random.default_rng(0)
    pairs = rng.permutation([(u, v) for u in range(40) for v in range(u)])[:300]
    rows = [(int(u), int(v), 0.5 + k % 4) if weighted else (int(u), int(v)) for k, (u, v) in enumerate(pairs)]
    start = Graph.from_edge_list(rows[:100], directed, nodes=range(40))
    removed = [row[:2] for row in rows[:50]]
    batches = [{"add": rows[100:200]}, {"remove": removed}, {"add": rows[200:]}]
    graphs = []
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        graph = start
        for number in order:
            graph = graph.updated(**batches[number])
        graphs.append(graph)
    graphs.append(start.updated(add=rows[:99:-1], remove=removed))
    assert len({graph.content_hash for graph in graphs}) == 1
    assert_same(graphs[0], from_scratch(range(40), {row[:2]: [*row, 1.0][2] for row in rows[50:]} if directed else
                {key(*row[:2], False): [*row, 1.0][2] for row in rows[50:]}, directed, weighted))  # fmt: skip


@kinds
def test_many_single_updates_keep_few_layers(directed, weighted):
    graph = start = random_graph(2000, 20_000, directed, weighted)
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 2100, (400, 2))
    for u, v in pairs.tolist():
        graph = graph.updated(add=[(u, v, 1.0)] if weighted else [(u, v)])
        assert len(vars(graph).get("_layers", ())) <= 8
    new = sorted(set(pairs.ravel().tolist()) - set(range(2000)))
    whole = start.updated(add=np.column_stack([pairs, np.ones(400)]) if weighted else pairs)
    assert whole.ids[2000:].tolist() == new
    ordered = in_order(graph, whole.ids)
    if not weighted:  # sums of several additions round otherwise
        assert_same(ordered, whole)
    assert ordered.num_edges == whole.num_edges
    again = in_order(ordered, graph.ids)
    assert again.content_hash == graph.content_hash


def test_positions_are_part_of_the_content():
    one = Graph.from_edge_list([(1, 2)]).updated(add=[(2, 9)]).updated(add=[(2, 5)])
    other = Graph.from_edge_list([(1, 2), (2, 9), (2, 5)])
    assert one.ids.tolist() == [1, 2, 9, 5]
    assert one.content_hash != other.content_hash == in_order(one, other.ids).content_hash
    assert in_order(other, one.ids).content_hash == one.content_hash
    with pytest.raises(gr.InputError, match="ids must be those of the 4 nodes of the graph, got 3"):
        in_order(one, other.ids[:3])
    with pytest.raises(gr.InputError, match="ids must be distinct"):
        in_order(one, np.array([1, 1, 2, 9]))


def test_more_nodes_than_the_small_index_type_holds():
    graph = Graph.from_edges([[0, 5], [1, 2**16 - 1]], 2**16)
    grown = graph.updated(add=[(2**16 - 1, 70_000)])
    assert (graph.indices.dtype, grown.indices.dtype) == (np.uint16, np.uint32)
    assert grown.rows([2**16])[1].tolist() == [2**16 - 1]
    assert grown.indices[-3:].tolist() == [5, 2**16, 2**16 - 1]


PAIRS = [("b", "c"), ("c", "new")]


@pytest.mark.parametrize(
    "add",
    [
        PAIRS,
        iter(PAIRS),
        np.array(PAIRS),
        np.array(PAIRS, object),
        pl.DataFrame(PAIRS, schema=["source", "target"], orient="row"),
        pl.LazyFrame(PAIRS, schema=["source", "target"], orient="row"),
        pd.DataFrame(PAIRS, columns=["from", "to"]),
        Graph.from_edge_list(PAIRS),
        Graph.from_edge_list(PAIRS, directed=True),
    ],
    ids=["list", "iterator", "array", "objects", "polars", "lazy", "pandas", "graph", "directed graph"],
)
def test_forms_of_edges(add):
    graph = Graph.from_edge_list([("a", "b")])
    whole = graph.updated(add=add)
    assert whole.ids.tolist() == ["a", "b", "c", "new"]
    assert whole.indices.tolist() == [1, 0, 2, 1, 3, 2]
    if not hasattr(add, "__next__"):
        again = whole.updated(remove=add)
        assert (again.num_edges, again.num_nodes) == (1, 4)


@pytest.mark.parametrize(
    "add",
    [
        [(1, 2, 3.0), (2, 4, 0.5)],
        np.array([(1, 2, 3.0), (2, 4, 0.5)]),
        pl.DataFrame({"source": [1, 2], "target": [2, 4], "weight": [3.0, 0.5]}),
        Graph.from_edge_list([(1, 2, 3.0), (2, 4, 0.5)]),
    ],
    ids=["list", "array", "polars", "graph"],
)
def test_forms_of_weighted_edges(add):
    graph = Graph.from_edge_list([(1, 2, 1.0)]).updated(add=add)
    assert graph.ids.tolist() == [1, 2, 4]
    assert graph.ids.dtype == np.int64
    assert graph.weights.tolist() == [4.0, 4.0, 0.5, 0.5]
    assert graph.updated(remove=Graph.from_edge_list([(4, 2, 9.0)])).num_edges == 1


def test_torch_tensors_are_arrays():
    torch = pytest.importorskip("torch")
    assert Graph.from_edge_list([(1, 2)]).updated(add=torch.tensor([[2, 3]])).num_edges == 2


@pytest.mark.parametrize(
    "nothing",
    [
        [],
        np.empty((0, 2), int),
        pl.DataFrame({"source": [], "target": []}),
        pl.LazyFrame(schema={"source": pl.String, "target": pl.String}),
        pd.DataFrame({"from": [], "to": []}),
        Graph.from_edges(np.empty((2, 0), int), num_nodes=1),
    ],
    ids=["list", "array", "polars", "lazy", "pandas", "graph"],
)
def test_a_batch_may_be_empty(nothing):
    timed = Graph.from_frame(pl.DataFrame({"source": [0], "target": [1], "when": [3]}), time="when")
    for graph in (Graph.from_edge_list([(0, 1)]), Graph.from_edge_list([(0, 1, 2.0)]), timed):
        assert graph.updated(add=nothing, remove=nothing).content_hash == graph.content_hash


def test_repeats_and_zeros_are_merged_as_when_reading():
    graph = Graph.from_edge_list([(0, 1, 1.0)])
    both = graph.updated(add=[(1, 2, 2.0), (2, 1, 2.0), (0, 3, 0.0), (1, 0, 0.5), (1, 0, 0.5)])
    assert both.ids.tolist() == [0, 1, 2, 3]
    assert both.to_scipy().toarray().tolist() == [[0, 2, 0, 0], [2, 0, 2, 0], [0, 2, 0, 0], [0, 0, 0, 0]]
    twice = graph.updated(add=[(1, 2, 2.0), (1, 2, 2.0)], weights=[(0, 1, 3.0), (1, 0, 3.0)])
    assert twice.weights.tolist() == [3, 3, 4, 4]
    assert graph.updated(add=[(5, 0, 0.0)]).num_nodes == 3


def test_nothing_changes():
    graph = Graph.from_edge_list([(0, 1), (2, 2)])
    for same in (graph.updated(), graph.updated(add=[]), graph.updated(add=[(1, 0), (0, 0)], nodes=[2])):
        assert_same(same, graph)


@pytest.mark.parametrize(
    ("start", "add", "ids"),
    [
        ([(7, 8)], [(7, "x")], [7, 8, "x"]),
        ([(7, 8)], [(7.0, 9.0)], [7, 8, 9]),
        ([(7, 8)], [(7, 2.5), (8, 2**70)], [7, 8, 2.5, 2**70]),
        ([(0.5, 2.0)], [(2, 3)], [0.5, 2.0, 3.0]),
        ([("a", "b")], [("a", 7), ("b", "long" * 20)], ["a", "b", 7, "long" * 20]),
        ([("a", "b")], [("a", "abcdef"), ("b", "")], ["a", "b", "", "abcdef"]),
        ([(1, "a")], [(("t", 1), True)], [1, "a", ("t", 1)]),
        ([(2**60, 1)], [(2**60 + 1, 0.5)], [1, 2**60, 0.5, 2**60 + 1]),
    ],
)
def test_new_ids_leave_known_ones_as_they_are(start, add, ids):
    graph = Graph.from_edge_list(start).updated(add=add)
    late = Graph.from_edge_list(start)
    for edge in add:
        late = late.updated(add=[edge])
    assert graph.ids.tolist() == ids
    assert [type(value) for value in graph.ids.tolist()] == [type(value) for value in ids]
    assert graph.ids.dtype.kind == ids_array(ids).dtype.kind
    assert sorted(map(repr, late.ids.tolist())) == sorted(map(repr, ids))
    assert graph.index_of(ids_array(ids)).tolist() == list(range(len(ids)))
    assert graph.index_of(ids).tolist() == list(range(len(ids)))


UNWEIGHTED = Graph.from_edge_list([(0, 1), (1, 2)])
DIRECTED = Graph.from_edge_list([(0, 1), (1, 2)], directed=True)
WEIGHTED = Graph.from_edge_list([(0, 1, 1.0), (1, 2, 2.0)])
FRAME = pl.DataFrame({"source": [0], "target": [2], "weight": [1.0]})


@pytest.mark.parametrize(
    ("graph", "change", "message"),
    [
        (
            UNWEIGHTED,
            {"remove": [(0, 2), (2, 1)]},
            r"remove must list edges that are in the graph, got \(0, 2\), which",
        ),
        (UNWEIGHTED, {"remove": [(0, 2), (2, 2)]}, r"got \(0, 2\) and 1 more that are not"),
        (DIRECTED, {"remove": [(1, 0)]}, r"got \(1, 0\), which is not"),
        (WEIGHTED, {"weights": [(0, 2, 1.0)]}, r"weights must list edges that are in the graph, got \(0, 2\)"),
        (UNWEIGHTED, {"remove": [(0, 9)]}, r"remove must list edges between nodes of the graph .*got an edge of 9"),
        (UNWEIGHTED, {"remove": [("x", 0)]}, "got an edge of 'x'"),
        (UNWEIGHTED, {"add": [(0, 7)], "remove": [(0, 7)]}, "got an edge of 7"),
        (UNWEIGHTED, {"add": [(0, 1)], "remove": [(1, 0)]}, r"must not list the same edge, got \(0, 1\) in two"),
        (WEIGHTED, {"remove": [(0, 1)], "weights": [(1, 0, 2.0)]}, r"same edge, got \(0, 1\) in two"),
        (WEIGHTED, {"add": [(0, 1)]}, r"add must be triples \(u, v, weight\) for a weighted graph"),
        (UNWEIGHTED, {"add": [(0, 1, 2.0)]}, r"add must be pairs \(u, v\) for an unweighted graph"),
        (UNWEIGHTED, {"add": FRAME}, r"add must be pairs \(u, v\) for an unweighted graph"),
        (UNWEIGHTED, {"weights": [(0, 1, 2.0)]}, "weights must be None for an unweighted graph"),
        (WEIGHTED, {"weights": [(0, 1)]}, r"weights must be triples \(u, v, weight\)"),
        (WEIGHTED, {"weights": [(0, 1, 0.0)]}, "weights must be positive, got 0; to remove an edge"),
        (
            WEIGHTED,
            {"weights": [(0, 1, 1.0), (1, 0, 2.0)]},
            r"weights must give an edge one weight, got two for \(0, 1\)",
        ),
        (WEIGHTED, {"add": [(0, 2, 1.0), (2, 0, 2.0)]}, r"add must give an undirected edge equal weights.*\(0, 2\)"),
        (WEIGHTED, {"add": [(0, 2, -1.0)]}, "weights of add must be finite and not negative, got -1.0 at position 0"),
        (WEIGHTED, {"add": [(0, 2, float("nan"))]}, "weights of add must be finite and not negative, got nan"),
        (WEIGHTED, {"add": [(0, 2, "heavy")]}, "weights of add must hold numbers"),
        (WEIGHTED, {"remove": [(0, 1, 1.0)]}, "remove must be pairs .* without weights"),
        (UNWEIGHTED, {"add": [(0, 1), (0, 1, 2)]}, "add must be all pairs"),
        (UNWEIGHTED, {"add": [(0,)]}, r"add must be pairs \(u, v\) or triples"),
        (UNWEIGHTED, {"add": "ab"}, "add must be pairs .*got 'ab'"),
        (UNWEIGHTED, {"add": 3}, "add must be pairs .*got 3"),
        (UNWEIGHTED, {"add": nx.path_graph(3)}, "add must be edges or a Graph, got .*; Graph.from_networkx makes"),
        (UNWEIGHTED, {"remove": sparse.eye(3)}, "remove must be edges or a Graph, got .*; Graph.from_scipy makes"),
        (UNWEIGHTED, {"add": np.zeros((2, 5), int)}, r"add must be an array \[m, 2\] of ids.*; transpose it"),
        (UNWEIGHTED, {"add": np.zeros(4)}, r"add must be an array \[m, 2\]"),
        (UNWEIGHTED, {"add": np.ma.masked_equal([[0, 1]], 1)}, "add must not have masked values"),
        (UNWEIGHTED, {"add": [(float("nan"), 1)]}, "node ids must"),
        (UNWEIGHTED, {"add": [([1], 1)]}, "ids must be hashable"),
        (UNWEIGHTED, {"nodes": "abc"}, "nodes must be several ids, got the text 'abc'"),
        (UNWEIGHTED, {"nodes": 3}, "nodes must be several ids, got 3"),
        (UNWEIGHTED, {"self_loops": 1}, "self_loops must be True or False"),
        (UNWEIGHTED, {"add": [(0, 1)], "time": [1]}, "time must be None for a graph without times"),
        (UNWEIGHTED, {"time": [1]}, "time must be None where no edges are added"),
    ],
)
def test_what_does_not_fit_is_refused(graph, change, message):
    before = graph.content_hash
    with pytest.raises(gr.InputError, match=message):
        graph.updated(**change)
    assert graph.content_hash == before


def test_rows_are_those_of_nodes():
    with pytest.raises(gr.InputError, match="nodes must be positions between 0 and 2, got 3"):
        UNWEIGHTED.rows([0, 3])
    with pytest.raises(gr.InputError, match="nodes must be positions between 0 and 2, got -1"):
        UNWEIGHTED.rows(-1)
    ptr, targets, weights = WEIGHTED.updated(add=[(2, 0, 1.0)]).rows([2, 0, 2])
    assert (ptr.tolist(), targets.tolist(), weights.tolist()) == ([0, 2, 4, 6], [0, 1, 1, 2, 0, 1], [1, 2, 1, 1, 1, 2])


TIMES = pl.DataFrame({"source": ["a", "b", "a"], "target": ["b", "c", "b"], "time": [10, 20, 30]})


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("share", [0, 1000], ids=["never joined", "joined early"])
def test_times_of_entries_are_the_latest_and_the_earliest(directed, share, monkeypatch):
    monkeypatch.setattr(updated, "SHARE_JOINED", share)
    graph = Graph.from_frame(TIMES, directed=directed, time="time")
    more = pl.DataFrame({"source": ["b", "a", "c"], "target": ["c", "d", "c"], "time": [5, 40, 1]})
    grown = graph.updated(add=more).updated(nodes=["e"]).updated(remove=[("a", "b")])
    whole = Graph.from_frame(pl.concat([TIMES[[1]], more]), directed=directed, time="time", nodes=["a", "e"])
    assert_same(grown, whole)
    assert grown.time.tolist() == whole.time.tolist()
    assert grown.first_time.tolist() == whole.first_time.tolist()
    listed = graph.updated(add=[("b", "c"), ("a", "d"), ("c", "c")], time=[5, 40, 1]).updated(remove=[("a", "b")])
    assert listed.time.tolist() == whole.time.tolist()
    merged = graph.updated(add=whole)
    assert merged.first_time.tolist() == graph.updated(add=more).first_time.tolist()
    assert (
        in_order(grown, whole.ids[::-1]).updated(nodes=[1]).first_time.tolist()
        == in_order(whole, whole.ids[::-1]).first_time.tolist()
    )


def test_times_are_needed_where_there_are_some():
    graph = Graph.from_frame(TIMES, time="time")
    with pytest.raises(gr.InputError, match="time must have a number per added edge, as the graph has times, got None"):
        graph.updated(add=[("a", "c")])
    with pytest.raises(gr.InputError, match="time must have 1 numbers, one per added edge, got shape \\[2\\]"):
        graph.updated(add=[("a", "c")], time=[1, 2])
    with pytest.raises(gr.InputError, match="time must be finite"):
        graph.updated(add=[("a", "c")], time=[float("nan")])
    assert graph.updated(remove=[("a", "b")]).time.tolist() == [20, 20]


USERS = pl.DataFrame({"user": ["ann", "bob"], "item": ["x", "y"]})


def test_new_nodes_are_on_the_side_that_their_edges_imply():
    graph = Graph.from_frame(USERS, nodes=["zoe"])
    assert dict(zip(graph.ids, graph.sides, strict=True)) == {"ann": 0, "bob": 0, "x": 1, "y": 1, "zoe": -1}
    grown = graph.updated(add=[("x", "cid"), ("dan", "cup"), ("zoe", "cup"), ("new", "cid")], nodes=["alone"])
    assert dict(zip(grown.ids[5:], grown.sides[5:], strict=True)) == {
        "alone": -1, "cid": 0, "cup": 1, "dan": 0, "new": 1,
    }  # fmt: skip
    assert grown.sides[grown.index_of("zoe")] == 0
    assert grown.updated(remove=[("ann", "x")]).sides.tolist() == grown.sides.tolist()
    for edges in ([("ann", "bob")], [("ann", "p"), ("p", "y")], [("p", "q"), ("q", "r")]):
        with pytest.raises(gr.InputError, match="add must list edges between the two kinds of nodes, got"):
            graph.updated(add=edges)


@kinds
def test_updated_graphs_are_graphs(directed, weighted):
    start = random_graph(30, 60, directed, weighted)
    change = {"add": [(0, 40, 1.0)] if weighted else [(0, 40)]}
    for make in (lambda graph: pickle.loads(pickle.dumps(graph)), copy.copy, copy.deepcopy):
        grown = make(start.updated(**change))
        assert_same(grown, start.updated(**change))
        assert type(grown) is Graph
    grown = start.updated(**change)
    assert repr(grown).startswith("Graph(num_nodes=31, ")
    assert "indices" not in vars(grown)
    assert grown.transpose().transpose() is grown
    assert grown.to_scipy().shape == (31, 31)
    assert grown.degree[30] == (0 if directed else 1)
    assert gr.random_walks(grown, [0], 2, 3).shape == (1, 2, 4)
    same = Graph.from_scipy(grown.to_scipy(), directed=directed, ids=[*range(30), 40])
    assert same.content_hash == grown.content_hash


def test_walks_that_never_left_from_a_changed_node_are_the_same():
    start = random_graph(300, 500)
    before = gr.random_walks(start, num_walks=4, walk_length=3)
    grown = start.updated(add=[(0, 1000)])
    after = gr.random_walks(grown, np.arange(300), num_walks=4, walk_length=3)
    left = (before[..., :-1] == 0).any(axis=-1)
    np.testing.assert_array_equal(before[~left], after[~left])


def test_graphs_made_from_each_other_share_the_arrays_below():
    graphs = [random_graph(1000, 5000)]
    for node in range(5):
        graphs.append(graphs[-1].updated(add=[(node, 999)]))
    assert all(graph._base is graphs[0] for graph in graphs[1:])
    assert graphs[3].indices.size
    assert graphs[3]._base is None
    later = graphs[3].updated(add=[(7, 8)])
    assert later._base is graphs[3]
    assert [a.num_edges <= b.num_edges for a, b in pairwise(graphs)] == [True] * 5

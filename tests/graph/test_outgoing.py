"""Graphs to other libraries and back, exactly."""

import itertools
from types import SimpleNamespace

import networkx as nx
import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import graphreach as gr
from graphreach.graph.convert import number_columns, object_column
from graphreach.graph.graph import build_graph

IDS = {
    "positions": list(range(12)),
    "integers": [5, -3, 2**40, 17, 8, 9, 100, 101, 7, 6, 1, 0],
    "floats": [0.5, 1.25, -2.0, 3.0, 1e300, 7.0, 8.5, 9.5, 0.1, 0.2, 0.3, -0.7],
    "text": ["ann", "bob", "7", "é", "a b", "cid", "dan", "", "x,y", "eve", "fay", "z" * 80],
    "tuples": [(1, 2), (1, "a"), ("b",), (3,), (4, 5), (0, 0), (9,), (8,), (7,), (6, 6), ("c", 1), (2, 2)],
    "mixed": [1, "1", 2.5, "ann", 7, "b", 0, "c", -4, "d", 3, "e"],
}


@st.composite
def graphs(draw, kinds=tuple(IDS)):
    """Graphs with ids of each kind, weights, times, self-loops, nodes without edges, two kinds of nodes."""
    ids, directed, bipartite = draw(st.sampled_from(kinds).map(IDS.get)), draw(st.booleans()), draw(st.booleans())
    left, right = (ids[:6], ids[6:]) if bipartite else (ids, ids)
    ends = draw(st.lists(st.tuples(st.sampled_from(left), st.sampled_from(right)), min_size=1, max_size=20))
    numbers = st.floats(0.01, 1000)
    edges = number_columns(*(object_column([pair[end] for pair in ends]) for end in (0, 1)), None, ids)
    if draw(st.booleans()):
        edges = edges._replace(weights=np.array(draw(st.lists(numbers, min_size=len(ends), max_size=len(ends)))))
    if draw(st.booleans()):
        edges = edges._replace(time=np.array(draw(st.lists(numbers, min_size=len(ends), max_size=len(ends)))))
    edges = edges._replace(two_kinds=bipartite)
    return build_graph(edges, directed, None if directed else "sum", self_loops=True)


def check_equal(found, graph, **without):
    assert found.content_hash == graph.content_hash
    assert [type(each) for each in found.ids.tolist()] == [type(each) for each in graph.ids.tolist()]
    for name in ("indptr", "indices", "weights", "time", "first_time", "sides"):
        expected = without[name] if name in without else getattr(graph, name)
        assert (getattr(found, name) is None) == (expected is None), name
        if expected is not None:
            np.testing.assert_array_equal(getattr(found, name), expected, strict=True)


@settings(deadline=None, max_examples=150)
@given(graphs())
def test_networkx_holds_everything(graph):
    G = graph.to_networkx()
    assert (G.number_of_nodes(), G.number_of_edges()) == (graph.num_nodes, graph.num_edges)
    check_equal(gr.Graph.from_networkx(G, self_loops=True), graph)


@settings(deadline=None, max_examples=100)
@given(graphs())
def test_pyg_holds_everything_but_the_direction_and_the_order_of_ids(graph):
    data = graph.to_pyg(torch.float64)
    assert data.num_nodes == graph.num_nodes
    check_equal(gr.Graph.from_pyg(data, graph.directed, ids=graph.ids, self_loops=True), graph)
    own = data.ids.tolist() if torch.is_tensor(data.get("ids")) else data.get("ids", list(range(12)))
    assert own == graph.ids.tolist()


@settings(deadline=None, max_examples=100)
@given(graphs(), st.sampled_from(["polars", "pandas"]))
def test_frames_hold_everything_but_directions_lonely_nodes_and_two_kinds(graph, kind):
    frame = graph.to_frame(kind)
    assert len(frame) == graph.num_edges
    back = gr.Graph.from_frame(
        frame, "source", "target", directed=graph.directed, nodes=graph.ids, bipartite=False, self_loops=True
    )
    check_equal(back, graph, sides=None)


@settings(deadline=None, max_examples=50)
@given(graphs(kinds=("text",)), st.sampled_from(["polars", "pandas"]))
def test_names_of_columns_tell_two_kinds_of_text_ids(graph, kind):
    frame = graph.to_frame(kind, source="user", target="item")
    back = gr.Graph.from_frame(frame, directed=graph.directed, nodes=graph.ids, self_loops=True)
    if graph.sides is not None:
        check_equal(back, graph)


@settings(deadline=None, max_examples=100)
@given(graphs())
def test_scipy_holds_edges_and_weights(graph):
    back = gr.Graph.from_scipy(graph.to_scipy(), graph.directed, ids=graph.ids, self_loops=True)
    nothing = {"time": None, "first_time": None, "sides": None}
    if graph.weighted and (graph.weights == 1).all():
        assert not back.weighted
    else:
        check_equal(back, graph, **nothing)


def test_networkx_has_the_usual_attributes():
    frame = pl.DataFrame(
        {"user": ["u1", "u1", "u2"], "item": ["i1", "i1", "i2"], "weight": [1.0, 2.0, 4.0], "time": [5, 3, 9]}
    )
    G = gr.Graph.from_frame(frame).to_networkx()
    assert dict(G.nodes(data="bipartite")) == {"i1": 1, "i2": 1, "u1": 0, "u2": 0}
    assert G.edges["u1", "i1"] == {"weight": 3.0, "time": 5.0, "first_time": 3.0}
    assert nx.is_bipartite(G)


def test_two_kinds_of_nodes_are_read_from_networkx_where_edges_are_between_them():
    women = nx.davis_southern_women_graph()
    graph = gr.Graph.from_networkx(women)
    assert graph.sides.tolist() == [women.nodes[node]["bipartite"] for node in graph.ids.tolist()]
    women.add_edge("E1", "E2")
    assert gr.Graph.from_networkx(women).sides is None


def test_times_that_some_edge_lacks_are_not_read():
    G = nx.Graph([(0, 1, {"time": 3.0}), (1, 2, {"time": 5})])
    assert gr.Graph.from_networkx(G).time.tolist() == [3, 3, 5, 5]
    assert gr.Graph.from_networkx(G, time=None).time is None
    for wrong in (None, "monday", float("nan")):
        G.edges[1, 2]["time"] = wrong
        assert gr.Graph.from_networkx(G).time is None


def test_first_times_after_the_latest_are_not_read():
    G = nx.Graph([(0, 1, {"time": 3.0, "first_time": 4.0})])
    assert gr.Graph.from_networkx(G).first_time.tolist() == [3, 3]
    frame = pl.DataFrame({"source": [0], "target": [1], "time": [3], "first_time": [4]})
    assert gr.Graph.from_frame(frame).first_time.tolist() == [3, 3]
    earlier = gr.Graph.from_frame(frame.with_columns(first_time=2))
    assert earlier.first_time.tolist() == [2, 2]
    assert earlier.reading.ignored == ()


def test_weights_are_single_precision_for_pyg_unless_that_loses_one():
    graph = gr.Graph.from_edge_list([(0, 1, 0.1)])
    assert graph.to_pyg().edge_weight.dtype == torch.float32
    small = gr.Graph.from_edge_list([(0, 1, 1e-60)])
    with pytest.raises(
        gr.InputError, match=r"dtype must be one that holds all weights, .* got torch.float32 and 1e-60"
    ):
        small.to_pyg()
    with pytest.raises(gr.InputError, match="dtype must be a floating-point type of torch"):
        small.to_pyg(torch.int64)


def test_order_of_an_updated_graph_is_kept_by_pyg_as_it_stands():
    graph = gr.Graph.from_edge_list([("b", "c")]).updated(add=[("c", "a")])
    data = graph.to_pyg()
    assert data.ids == ["b", "c", "a"]
    np.testing.assert_array_equal(data.edge_index.numpy(), graph.edge_index)
    assert gr.Graph.from_networkx(graph.to_networkx()).ids.tolist() == ["a", "b", "c"]


def test_from_pyg_keeps_the_order_of_nodes_unless_it_is_given_ids():
    data = SimpleNamespace(edge_index=np.array([[0], [1]]), num_nodes=2, ids=["z", "a"])
    assert gr.Graph.from_pyg(data).ids.tolist() == [0, 1]
    assert gr.Graph.from_pyg(data, ids=data.ids).edge_index.tolist() == [[1], [0]]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"kind": "arrow"}, 'kind must be "polars" or "pandas", got \'arrow\''),
        ({"source": "target"}, "source and target must be two names, got 'target' for both"),
        ({"source": "time"}, "source must be a name for a column other than weight or time, got 'time'"),
    ],
)
def test_frames_refuse(arguments, sentence):
    with pytest.raises(gr.InputError) as caught:
        gr.Graph.from_edge_list([(0, 1)]).to_frame(**arguments)
    assert str(caught.value) == sentence


def test_networkx_has_no_node_none():
    with pytest.raises(gr.InputError, match="graph must have ids that networkx can hold, got None"):
        gr.Graph.from_edge_list([(0, None)]).to_networkx()


@pytest.mark.parametrize("kind", ["polars", "pandas"])
@pytest.mark.parametrize("name", ["text", "mixed", "tuples"])
def test_results_have_frames_with_ids(kind, name):
    ids = IDS[name]
    graph = gr.Graph.from_edge_list([*itertools.pairwise(ids), (ids[0], ids[6])], nodes=ids)
    anchors = gr.select_anchors(graph, 3)
    frame = anchors.to_frame(graph.ids, kind)
    assert list(frame["anchor"]) == graph.ids[anchors.anchors].tolist()
    reach = gr.reachability(graph, anchors, method="exact", walk_length=3)
    frame = reach.to_frame(graph.ids, kind)
    rows = zip(*(list(frame[column]) for column in ("node", "anchor", "to_anchor", "from_anchor")), strict=True)
    found = {(graph.index_of([u])[0], graph.index_of([a])[0]): (to, back) for u, a, to, back in rows}
    for v in range(graph.num_nodes):
        for i, a in enumerate(anchors.anchors.tolist()):
            expected = (reach.to_anchors[v, i], reach.from_anchors[v, i])
            assert found.get((v, a), (0, 0)) == expected
    recommended = gr.LinkPredictor.pretrained().recommend(top=2, graph=graph)
    assert list(recommended.to_frame(kind)["partner"]) == recommended.partner.tolist()


def test_frames_of_results_have_positions_or_ids_of_all_nodes():
    path = gr.Graph.from_edge_list([("a", "b"), ("b", "c")])
    reach = gr.reachability(path, [0], method="exact", walk_length=2, hops=2, layout="csr")
    assert reach.to_frame().columns == ["node", "anchor", "hop", "to_anchor", "from_anchor"]
    assert reach.to_frame()["node"].to_list() == [0, 1, 2]
    with pytest.raises(gr.InputError, match="ids must hold one id for each of the 3 nodes, got 2"):
        reach.to_frame(["a", "b"])


def test_an_embedding_has_the_columns_of_its_file(tmp_path):
    from graphreach.io.embeddings import read_embedding, write_embedding

    graph = gr.datasets.load("communities")[0].graph
    fitted = gr.GraphReachEmbedding("position", dim=4).fit(graph)
    write_embedding(tmp_path / "z.parquet", fitted.ids_, [fitted.embedding_], 4)
    assert fitted.to_frame().equals(pl.read_parquet(tmp_path / "z.parquet"))
    np.testing.assert_array_equal(
        read_embedding(tmp_path / "z.parquet")[1], fitted.to_frame("pandas").to_numpy()[:, 1:]
    )

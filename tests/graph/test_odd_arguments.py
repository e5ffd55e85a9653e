"""Arguments of the wrong kind: a sentence that names the argument, never another exception."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.io import read_graph

ODD = [
    None,
    7,
    2.5,
    "text",
    b"bytes",
    {},
    {"a": 1},
    [],
    [None],
    [[]],
    object(),
    lambda: 0,
    (x for x in [1]),
    np.array(3),
]


def kind(value):
    return f"{type(value).__name__}"


@pytest.mark.parametrize("value", ODD, ids=kind)
@pytest.mark.parametrize(
    "call",
    [
        lambda value: Graph.from_edges(value),
        lambda value: Graph.from_edges([[0], [1]], ids=value if value is not None else 3),
        lambda value: Graph.from_edges([[0], [1]], edge_weight=value if value is not None else "x"),
        lambda value: Graph.from_edges([[0], [1]], num_nodes=value if value is not None and value != 7 else "x"),
        lambda value: Graph.from_edge_list(value),
        lambda value: Graph.from_edge_list([value]),
        lambda value: Graph.from_networkx(value),
        lambda value: Graph.from_scipy(value),
        lambda value: Graph.from_pyg(value),
        lambda value: Graph.from_frame(value),
        lambda value: read_graph(value),
    ],
    ids=["edges", "ids", "weight", "n", "list", "edge", "networkx", "scipy", "pyg", "frame", "read"],
)
def test_values_of_any_kind(call, value):
    with pytest.raises(InputError) as error:
        call(value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", ["yes", 2, 2.5, [], {}, object()], ids=kind)
@pytest.mark.parametrize(
    "argument", ["directed", "self_loops", "reduce", "nodes", "bipartite", "header", "comments", "ids"]
)
def test_options_of_any_kind(tmp_path, argument, value):
    path = tmp_path / "e.csv"
    path.write_text("1,2\n2,3\n")
    if argument == "nodes" and value in ([], {}):
        return
    if argument == "comments" and value == "yes":
        return
    with pytest.raises(InputError) as error:
        read_graph(path, **{argument: value})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("argument", ["source", "target", "weight", "time"])
@pytest.mark.parametrize("value", [True, 2.5, [], {}, -1, 99, b"u", float("nan")], ids=repr)
def test_columns_of_any_kind(tmp_path, argument, value):
    path = tmp_path / "e.csv"
    path.write_text("u,v,w\n1,2,3\n2,3,4\n")
    for call in (read_graph, lambda _, **arguments: Graph.from_frame(pd.read_csv(path), **arguments)):
        with pytest.raises(InputError):
            call(path, **{argument: value})


def test_generators_of_edges_and_nodes():
    graph = Graph.from_edge_list(((i, i + 1) for i in range(3)), nodes=(i for i in [9]))
    assert graph.ids.tolist() == [0, 1, 2, 3, 9]


def test_masked_arrays():
    masked = np.ma.array([[0, 1], [1, 2]], mask=[[0, 0], [0, 1]])
    with pytest.raises(InputError, match="edge_index must not have masked values, got 1"):
        Graph.from_edges(masked)
    with pytest.raises(InputError, match="edge_weight must not have masked values, got 1"):
        Graph.from_edges([[0, 1], [1, 2]], edge_weight=np.ma.array([1.0, 2.0], mask=[0, 1]))
    with pytest.raises(InputError, match="ids must not have masked values, got 1"):
        Graph.from_edges([[0], [1]], ids=np.ma.array([5, 6], mask=[0, 1]))
    with pytest.raises(InputError, match="edges must not have masked values"):
        Graph.from_edge_list(np.ma.array([[5, 6]], mask=[[0, 1]]))
    assert Graph.from_edges(np.ma.array([[0, 1], [1, 2]])).num_edges == 2


def test_text_is_no_weight():
    with pytest.raises(InputError, match="edge_weight must hold numbers"):
        Graph.from_edges([[0], [1]], edge_weight=["2"])
    with pytest.raises(InputError, match="weight must hold numbers"):
        Graph.from_edge_list([(0, 1, "2")])
    with pytest.raises(InputError, match="edge attribute 'weight' must hold numbers"):
        Graph.from_networkx(nx.Graph([(0, 1, {"weight": "2"})]))
    with pytest.raises(InputError, match="edge_weight must hold numbers"):
        Graph.from_edges([[0], [1]], edge_weight=np.array(["2020-01-01"], "M8[D]"))


def test_number_of_nodes_that_does_not_fit(monkeypatch):
    monkeypatch.setenv("GRAPHREACH_MEMORY_LIMIT", str(10**9))
    for arguments in ({"edge_index": [[0], [10**9]]}, {"edge_index": [[0], [1]], "num_nodes": 10**9}):
        with pytest.raises(InputError, match="would take 24 GB of memory"):
            Graph.from_edges(**arguments)
    with pytest.raises(InputError, match="would take 24 GB of memory"):
        Graph.from_scipy(scipy.sparse.coo_array(([1], ([0], [1])), shape=(10**9, 10**9)))


# Frames.


def test_repeated_columns_of_pandas():
    frame = pd.DataFrame([[1, 2, 3], [2, 3, 4]], columns=["a", "a", "b"])
    graph = Graph.from_frame(frame)
    assert graph.ids.tolist() == [1, 2, 3]
    with pytest.raises(InputError, match="source='a' is the name of 2 columns of frame"):
        Graph.from_frame(frame, source="a")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_get_the_same_care(make):
    frame = make({"weight": [2.5, 3.5], "a": [1, 2], "b": [2, 3], "rating": [5, 4], "time": [10, 20]})
    graph = Graph.from_frame(frame)
    assert graph.ids.tolist() == [1, 2, 3]
    assert graph.reading.columns == {"source": "a", "target": "b", "weight": "weight", "time": "time"}
    assert graph.reading.ignored == ("rating",)
    assert graph.time.tolist() == [10, 10, 20, 20]
    assert Graph.from_frame(frame, time=False).time is None
    assert str(graph.reading).startswith("read the frame as frame: source 'a'")
    users = make({"user_id": [1, 2], "item_id": [1, 1]})
    assert Graph.from_frame(users).num_nodes == 3
    assert Graph.from_frame(users, bipartite=False).num_nodes == 2


def test_index_in_a_frame():
    assert Graph.from_frame(pd.DataFrame({"Unnamed: 0": [0, 1], "s": [7, 8], "t": [8, 9]})).ids.tolist() == [7, 8, 9]
    assert Graph.from_frame(pl.DataFrame({"": [0, 1], "s": [7, 8], "t": [8, 9]})).ids.tolist() == [7, 8, 9]


def test_dates_in_a_frame():
    dates = pd.to_datetime(["1970-01-02", "1970-01-03"])
    frame = pd.DataFrame({"u": [1, 2], "v": [2, 3], "when": dates})
    assert Graph.from_frame(frame).time.tolist() == [86400, 86400, 172800, 172800]


def test_adjacency_as_a_frame_is_refused():
    frame = nx.to_pandas_adjacency(nx.karate_club_graph())
    with pytest.raises(InputError, match=r"look like an adjacency matrix; pass Graph.from_scipy"):
        Graph.from_frame(frame)
    with pytest.raises(InputError, match="look like an adjacency matrix"):
        Graph.from_frame(nx.to_pandas_adjacency(nx.path_graph(["x", "y", "z"])))


def test_integers_of_128_bits():
    frame = pl.DataFrame({"u": [1, 2**70], "v": [2, 3], "w": [4, 5]}, schema=dict.fromkeys("uvw", pl.Int128))
    graph = Graph.from_frame(frame)
    assert graph.ids.tolist() == [1, 2, 3, 2**70]
    assert graph.weights.tolist() == [4, 4, 5, 5]


def test_index_of_a_frame_in_another_order():
    frame = pl.DataFrame({"index": [2, 0, 1], "A": ["a", "b", "c"], "B": ["b", "c", "a"]})
    assert Graph.from_frame(frame).ids.tolist() == ["a", "b", "c"]

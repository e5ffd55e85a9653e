"""Graphs that are written and read back as they were."""

import contextlib

import numpy as np
import pytest

import graphreach as gr
from graphreach import InputError
from graphreach.io.files import new_folder
from graphreach.io.saved_graph import read_saved_graph, write_graph

GRAPHS = {
    "integers": lambda: gr.Graph.from_edge_list([(5, 1), (1, -3)]),
    "weights": lambda: gr.Graph.from_edge_list([(0.5, 1.5, 2.0), (1.5, 4.0, 0.25)]),
    "text": lambda: gr.Graph.from_edge_list([("ann", "böb"), ("böb", "x" * 70)], directed=True),
    "several kinds": lambda: gr.Graph.from_edge_list([("ann", 7), (7, 2**70)]),
    "no edges": lambda: gr.Graph.from_edge_list([], nodes=["a"]),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_is_read_back_as_it_was(name, tmp_path):
    graph = GRAPHS[name]()
    write_graph(tmp_path / "graph.npz", graph)
    found = read_saved_graph(tmp_path / "graph.npz")
    assert found.ids.tolist() == graph.ids.tolist()
    assert found.ids.dtype == graph.ids.dtype
    assert found.directed == graph.directed
    for part in ("indptr", "indices", "weights"):
        a, b = getattr(found, part), getattr(graph, part)
        assert (a is None) == (b is None)
        if b is not None:
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
    assert found.content_hash == graph.content_hash


def test_times_and_sides_stay(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("user,item,time\n1,1,5\n2,1,6\n")
    graph = gr.read_graph(path)
    write_graph(tmp_path / "graph.npz", graph)
    found = read_saved_graph(tmp_path / "graph.npz")
    for part in ("time", "first_time", "sides"):
        np.testing.assert_array_equal(getattr(found, part), getattr(graph, part))


def test_ids_in_another_order_than_sorted_stay_in_it(tmp_path):
    graph = gr.Graph.from_edges([[0, 1], [1, 2]])
    other = gr.Graph(gr.graph.build.CSR(graph.indptr, graph.indices, None), np.array(["c", "a", "b"]), False)
    write_graph(tmp_path / "graph.npz", other)
    assert read_saved_graph(tmp_path / "graph.npz").ids.tolist() == ["c", "a", "b"]


def test_ids_that_files_cannot_hold_are_refused(tmp_path):
    with pytest.raises(InputError, match="node ids must be numbers or strings to be saved"):
        write_graph(tmp_path / "graph.npz", gr.Graph.from_edge_list([((1, 2), (3, 4))]))


@pytest.mark.parametrize("change", ["indices", "hash", "indptr", "ids", "format"])
def test_a_file_that_has_changed_is_refused(change, tmp_path):
    path = tmp_path / "graph.npz"
    write_graph(path, gr.Graph.from_edges([[0, 1, 2], [1, 2, 3]]))
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    other = {"hash": np.array("other"), "format": np.array(2), "ids": np.arange(3)}
    arrays[change] = other[change] if change in other else arrays[change][::-1]
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=r"graph\.npz must hold (a graph that graphreach|the graph that was) saved"):
        read_saved_graph(path)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_saved_graph(tmp_path / "graph.npz")
    (tmp_path / "graph.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match="but it is not or is damaged"):
        read_saved_graph(tmp_path / "graph.npz")


def test_a_folder_is_there_only_if_all_went_well(tmp_path):
    with contextlib.suppress(RuntimeError), new_folder(tmp_path / "run") as folder:
        (folder / "file").write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with new_folder(tmp_path / "run") as folder:
        (folder / "inner").mkdir()
        (folder / "inner" / "file").write_text("whole")
        assert not (tmp_path / "run").exists()
    assert (tmp_path / "run" / "inner" / "file").read_text() == "whole"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]

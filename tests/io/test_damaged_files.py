"""Damaged and hostile files: one sentence, no crash, nothing allocated that does not fit."""

import contextlib
import gzip
import io
import json
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.io import parquet, read_graph
from graphreach.io.numpy_files import load_all_arrays
from graphreach.io.parquet import quiet_panics

MATRIX = scipy.sparse.csr_array([[0, 2.0, 0], [2.0, 0, 1.0], [0, 1.0, 0]])


def refuse(path, sentence, **arguments):
    with pytest.raises(InputError, match=sentence) as error:
        read_graph(path, **arguments)
    assert "\n" not in str(error.value)


# Arrays.


def test_ids_of_two_dimensions(tmp_path):
    with pytest.raises(InputError, match=r"ids must have one dimension, got shape \[2, 2\]"):
        Graph.from_edges([[0], [1]], ids=np.array([["a", "b"], ["c", "d"]]))
    np.savez(tmp_path / "e.npz", edge_index=[[0], [1]], ids=np.array([["a", "b"], ["c", "d"]]))
    refuse(tmp_path / "e.npz", "ids must have one dimension")


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"num_nodes": [1, 2]}, r"must hold one number as num_nodes, got int64 of shape \(2,\)"),
        ({"num_nodes": "three"}, "must hold one number as num_nodes"),
        ({"num_nodes": 2.5}, "must hold one number as num_nodes"),
        ({"directed": "yes"}, "must hold one number as directed"),
        ({"edge_weight": ["x"]}, "edge_weight must hold numbers"),
        ({"ids": np.zeros(2, dtype=[("a", int)])}, "must hold arrays of numbers or text, got .* in array ids"),
        ({"num_nodes": 2**40}, r"at most 2\*\*32 nodes"),
        ({"edge_index": [["a"], ["b"]]}, "edge_index must hold integers"),
        ({"edge_index": 5}, r"edge_index must have shape \[2, m\]"),
    ],
)
def test_odd_arrays_of_npz(tmp_path, arrays, sentence):
    np.savez(tmp_path / "e.npz", **({"edge_index": [[0], [1]]} | arrays))
    refuse(tmp_path / "e.npz", sentence)


@pytest.mark.parametrize("name", ["matrix.npz", "arrays.npz"])
def test_cut_and_flipped_npz(tmp_path, name):
    path = tmp_path / name
    if name == "matrix.npz":
        scipy.sparse.save_npz(path, MATRIX)
    else:
        np.savez_compressed(path, edge_index=[[0], [1]], ids=["a", "b"])
    whole = path.read_bytes()
    for position in range(0, len(whole), 7):
        for damaged in (whole[:position], whole[:position] + b"\xa5" + whole[position + 1 :]):
            path.write_bytes(damaged)
            with contextlib.suppress(InputError):
                read_graph(path)


def npy(shape, kind="<f8"):
    """The header of an array whose numbers are not there."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"shape": shape, "fortran_order": False, "descr": kind})
    return stream.getvalue()


def test_arrays_that_declare_more_than_there_is(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHREACH_MEMORY_LIMIT", str(10**9))
    path = tmp_path / "e.npz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("edge_index.npy", npy((2, 10**11)))
    refuse(path, r"truncated or damaged: array edge_index .* takes 1600000000000 bytes")
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("edge_index.npy", npy((2, 1000)))
    refuse(path, "truncated or damaged: array edge_index")


def test_zip_that_unpacks_to_too_much(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHREACH_MEMORY_LIMIT", str(10**6))
    path = tmp_path / "e.npz"
    np.savez_compressed(path, edge_index=np.zeros((2, 10**6), np.int8))
    assert path.stat().st_size < 10**4
    with pytest.raises(InputError, match="GRAPHREACH_MEMORY_LIMIT"):
        load_all_arrays(path)


# Sparse matrices.


def corrupt(name, values):
    matrix = MATRIX.copy()
    setattr(matrix, name, np.array(values, dtype=getattr(matrix, name).dtype))
    return matrix


CORRUPT = {
    "index beyond": corrupt("indices", [9, 0, 2, 1]),
    "negative index": corrupt("indices", [-5, 0, 2, 1]),
    "pointer beyond": corrupt("indptr", [0, 1, 3, 4000]),
    "pointer falls": corrupt("indptr", [0, 3, 1, 4]),
    "too few indices": corrupt("indices", [1]),
    "too few pointers": corrupt("indptr", [0, 4]),
}


@pytest.mark.parametrize("name", CORRUPT)
def test_corrupt_csr(tmp_path, name):
    matrix = CORRUPT[name]
    with pytest.raises(InputError, match="A must be a sound sparse matrix, but"):
        Graph.from_scipy(matrix)
    path = tmp_path / "m.npz"
    np.savez(path, data=matrix.data, indices=matrix.indices, indptr=matrix.indptr, shape=[3, 3], format=b"csr")
    refuse(path, "sound sparse matrix|its matrix is damaged")


def test_corrupt_coo():
    matrix = MATRIX.tocoo()
    matrix.coords[0][0] = 7
    with pytest.raises(InputError, match="A must be a sound sparse matrix"):
        Graph.from_scipy(matrix)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_all_formats_of_scipy(tmp_path, kind, make):
    scipy.sparse.save_npz(tmp_path / "m.npz", make(MATRIX).asformat(kind))
    assert read_graph(tmp_path / "m.npz").content_hash == Graph.from_scipy(MATRIX).content_hash


@pytest.mark.parametrize(
    "arrays",
    [
        {"format": b"csr", "shape": [3, 3], "data": [1.0], "indices": [0.5], "indptr": [0, 1, 1, 1]},
        {"format": b"coo", "shape": [3, 3], "data": [1.0], "row": [9], "col": [0]},
        {"format": b"coo", "shape": [2**50, 2**50], "data": [1.0], "row": [0], "col": [1]},
        {"format": b"xyz", "shape": [3, 3], "data": [1.0]},
        {"format": b"csr", "shape": [3]},
        {"format": [1, 2], "shape": [3, 3]},
        {"format": b"\xff", "shape": [3, 3]},
        {"format": b"csr", "shape": [3, 3], "data": ["a"], "indices": [0], "indptr": [0, 1, 1, 1]},
    ],
)
def test_odd_matrices_of_npz(tmp_path, arrays):
    np.savez(tmp_path / "m.npz", **arrays)
    refuse(tmp_path / "m.npz", "m.npz|at most")


# Matrix Market.

MTX = "%%MatrixMarket matrix coordinate real symmetric\n%\n3 3 2\n2 1 1.5\n3 2 2\n"


def test_mtx_is_read_as_scipy_reads_it(tmp_path):
    rng = np.random.default_rng(0)
    for symmetric in (True, False):
        dense = np.triu(rng.integers(0, 4, (20, 20)), 1)
        dense = dense + dense.T if symmetric else dense
        for matrix in (scipy.sparse.coo_array(dense), dense, scipy.sparse.coo_array(dense * 0.5)):
            path = tmp_path / "m.mtx"
            scipy.io.mmwrite(path, matrix)
            expected = Graph.from_scipy(scipy.sparse.csr_array(scipy.io.mmread(path)), ids=np.arange(1, 21))
            assert read_graph(path).content_hash == expected.content_hash
        scipy.io.mmwrite(path, scipy.sparse.coo_array(dense), field="pattern")
        assert not read_graph(path).weighted


def test_mtx_may_be_packed_and_untidy(tmp_path):
    path = tmp_path / "m.mtx.gz"
    path.write_bytes(gzip.compress(MTX.replace("2 1 1.5", "% note\n\n  2   1\t1.5 ").encode()))
    graph = read_graph(path)
    assert (graph.ids.tolist(), graph.weights.tolist(), graph.directed) == ([1, 2, 3], [1.5, 1.5, 2, 2], False)


@pytest.mark.parametrize("cut", range(0, len(MTX) - 2))
def test_cut_mtx(tmp_path, cut):
    path = tmp_path / "m.mtx"
    path.write_text(MTX[:cut])
    refuse(path, r"m.mtx (must|has nothing in column \d in line \d$)")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (MTX.replace("3 3 2", "1000000000000 1000000000000 2"), r"at most 2\*\*32 nodes, got 1000000000000"),
        (MTX.replace("3 3 2", "3000000000 3000000000 2"), "a graph of 3000000000 nodes .* would take 72 GB of memory"),
        (MTX.replace("3 3 2", "3 3 1000000000000"), "must hold 1000000000000 entries, as it declares, got 2"),
        (MTX.replace("3 3 2", "3 4 2"), "must hold a square matrix, got 3 rows and 4 columns"),
        (MTX.replace("3 3 2", "3 3 -2"), "it has no line with its size in line 3"),
        (MTX.replace("3 3 2", "0 0 0"), "must hold a matrix with rows"),
        (MTX.replace("3 2 2", "3 9 2"), "rows and columns from 1 to 3, got 9"),
        (MTX.replace("3 2 2", "0 2 2"), "rows and columns from 1 to 3, got 0"),
        (MTX.replace("3 2 2", "3 2 x"), "must have a number in column 3, got 'x' in line 5"),
        (MTX.replace("3 2 2", "3 2"), "has nothing in column 3 in line 5"),
        (MTX.replace("3 2 2", "3 2 2 2"), "must have 3 fields per line, got 4 in line 5"),
        (MTX.replace("3 2 2", "3 2 -2"), "the values of .* must be finite and not negative, got -2.0"),
        (MTX.replace("3 2 2", "3 \0 2"), "NUL byte|binary data"),
        (MTX.replace("real", "complex"), "must hold a real matrix, general or symmetric, got complex symmetric"),
        (MTX.replace("symmetric", "skew-symmetric"), "got real skew-symmetric"),
        (MTX.replace("coordinate", "array"), "it has no line with its size"),
        (MTX.replace("MatrixMarket", "Matrix"), "its first line is not"),
    ],
)
def test_odd_mtx(tmp_path, monkeypatch, content, sentence):
    monkeypatch.setenv("GRAPHREACH_MEMORY_LIMIT", str(10**10))
    (tmp_path / "m.mtx").write_text(content)
    refuse(tmp_path / "m.mtx", sentence)


# Gzip.


def test_gzip_that_unpacks_to_too_much(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHREACH_MEMORY_LIMIT", str(10**8))
    path = tmp_path / "e.txt.gz"
    path.write_bytes(gzip.compress(b"1 2\n" * 2**24, 1))
    assert path.stat().st_size < 10**6
    refuse(path, "GRAPHREACH_MEMORY_LIMIT")


def test_gzip_that_grows_without_bound(tmp_path, monkeypatch):
    monkeypatch.setattr("graphreach.io.open_file.UNPACKED_FREELY", 2**20)
    path = tmp_path / "e.txt.gz"
    path.write_bytes(gzip.compress(b"1 2\n" * 2**20))
    refuse(path, "must not unpack to more than 200 times its size")


# Parquet.


def test_damaged_parquet_is_one_sentence_without_a_backtrace(tmp_path):
    path = tmp_path / "e.parquet"
    pl.DataFrame({"u": list(range(50)), "v": [f"n{i}" for i in range(50)]}).write_parquet(path)
    code = """
import sys
from graphreach.errors import InputError
from graphreach.io import read_graph
path = sys.argv[1]
whole = open(path, "rb").read()
for position in range(4, len(whole), 5):
    for damaged in (whole[:position], whole[:position] + bytes([whole[position] ^ 0x55]) + whole[position + 1 :]):
        open(path, "wb").write(damaged)
        try:
            read_graph(path)
        except InputError as error:
            assert str(error).count(chr(10)) == 0
"""
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_parquet_on_which_polars_aborts():
    """A damaged length asks for 2 exabytes, and Rust ends the process that does."""
    refuse(Path(__file__).parent / "files" / "damaged_length.parquet", "must be a Parquet file, .* damaged")


def test_parquet_is_read_where_no_process_can_be_started(tmp_path, monkeypatch):
    path = tmp_path / "e.parquet"
    pl.DataFrame({"u": [1], "v": [2]}).write_parquet(path)
    checker = parquet._Checker()
    monkeypatch.setattr(parquet, "_checker", checker)
    monkeypatch.setattr("sys.executable", str(tmp_path / "nowhere"))
    assert read_graph(path).num_edges == 1
    assert checker.process is None


def test_parquet_with_the_index_of_pandas(tmp_path):
    path = tmp_path / "e.parquet"
    frame = pl.DataFrame({"__index_level_0__": [5, 6], "a": [1, 2], "b": [2, 3], "rating": [5, 4]})
    frame.write_parquet(path)
    graph = read_graph(path)
    assert graph.ids.tolist() == [1, 2, 3]
    assert graph.reading.columns == {"source": "a", "target": "b"}
    assert graph.reading.ignored == ("__index_level_0__", "rating")
    assert any("--weight rating" in sentence for sentence in graph.reading.assumed)


def test_parquet_of_users_items_and_dates(tmp_path):
    path = tmp_path / "e.parquet"
    frame = pl.DataFrame({"user": [1, 2], "item": [1, 1], "when": ["1970-01-02", "1970-01-03"]})
    frame.with_columns(pl.col("when").str.to_date()).write_parquet(path)
    graph = read_graph(path, directed=True)
    assert graph.ids.tolist() == ["item:1", "user:1", "user:2"]
    assert graph.time.tolist() == [86400, 172800]


def test_parquet_of_a_matrix_is_refused(tmp_path):
    pl.DataFrame(np.eye(9, k=1)).write_parquet(tmp_path / "e.parquet")
    refuse(tmp_path / "e.parquet", "its 9 rows and columns look like an adjacency matrix")


# GraphML and other networks.

GRAPHML = (
    '<?xml version="1.0" encoding="utf-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    '<graph edgedefault="undirected"><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>'
)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (GRAPHML.replace(' target="b"', ""), "name source and target of every edge, got no target in edge 1"),
        (GRAPHML.replace(' source="a"', ' source=""'), "got no source in edge 1"),
        (GRAPHML.replace("</graphml>", '<graph edgedefault="directed"/></graphml>'), "must hold one graph, got 2"),
        (GRAPHML.replace('id="a"', ""), "must have an id for every node"),
        (GRAPHML.replace("utf-8", "utf-99"), "must be a GraphML file, as its suffix says, but"),
        (GRAPHML.replace("utf-8", "utf-16"), "must be a GraphML file, as its suffix says, but"),
        (GRAPHML.replace("utf-8", "shift_jis"), "must be a GraphML file, as its suffix says, but|multi-byte"),
        (GRAPHML.replace('"a"/>', '"\x01"/>'), "must be a GraphML file, as its suffix says, but"),
        (GRAPHML[:100], "must be a GraphML file, as its suffix says, but"),
        (GRAPHML.replace("<graphml", "<graphs").replace("/graphml", "/graphs"), "must be a GraphML file"),
    ],
)
def test_odd_graphml(tmp_path, content, sentence):
    (tmp_path / "g.graphml").write_text(content)
    refuse(tmp_path / "g.graphml", sentence)


def test_attributes_of_graphml_are_named(tmp_path):
    nx.write_graphml(nx.Graph([("a", "b", {"weight": 2.0, "km": 3})]), tmp_path / "g.graphml")
    reading = read_graph(tmp_path / "g.graphml").reading
    assert (reading.columns, reading.ignored) == ({"weight": "weight"}, ("km",))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[1]", "it is not an object with nodes and links"),
        ("{", "must be a node-link JSON file"),
        ("[" * 100_000, "must be a node-link JSON file"),
        ('{"nodes": 5, "links": []}', "its nodes are not a list of objects"),
        ('{"nodes": [{"id": 1}]}', "its links are not a list of objects"),
        ('{"nodes": [{"id": [1]}], "links": []}', "must have a number or text as id"),
        ('{"nodes": [{"id": 1}], "links": [{"source": 1}]}', "as target in every node and link, got None"),
        ('{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}', "must link its nodes, got the unknown 2"),
        ('{"links": [{"source": 1, "target": 2, "weight": "x"}]}', "must have a number as 'weight' in every link"),
        ('{"links": [{"source": 1, "target": 2}], "directed": 1}', "directed is 1 and not true or false"),
        ('{"nodes": [{"name": "a"}], "links": [{"source": 0, "target": 5}]}', "positions from 0 to 0, got 5"),
        ('{"nodes": [], "links": []}', "at least one edge or named node"),
    ],
)
def test_odd_json(tmp_path, content, sentence):
    (tmp_path / "g.json").write_text(content)
    refuse(tmp_path / "g.json", sentence)


def test_formats_of_networks(tmp_path):
    G = nx.Graph([("a", "b", {"weight": 2.0}), ("b", "c", {"weight": 3.0})])
    G.add_node("d")
    expected = Graph.from_networkx(G).content_hash
    nx.write_gml(G, tmp_path / "g.gml")
    nx.write_gexf(G, tmp_path / "g.gexf")
    (tmp_path / "g.json").write_text(json.dumps(nx.node_link_data(G, edges="links")))
    (tmp_path / "h.json").write_text(json.dumps(nx.node_link_data(G, edges="edges")))
    for name in ("g.gml", "g.gexf", "g.json", "h.json"):
        assert read_graph(tmp_path / name).content_hash == expected, name
    nx.write_adjlist(G, tmp_path / "g.adjlist")
    assert read_graph(tmp_path / "g.adjlist").content_hash == Graph.from_networkx(G, weight=None).content_hash
    D = nx.DiGraph([(1, 2)])
    (tmp_path / "g.json").write_text(json.dumps(nx.node_link_data(D, edges="links")))
    assert read_graph(tmp_path / "g.json").directed
    d3 = {"nodes": [{"name": "x"}, {"name": "y"}], "links": [{"source": 0, "target": 1, "value": 4}]}
    (tmp_path / "g.json").write_text(json.dumps(d3))
    graph = read_graph(tmp_path / "g.json")
    assert (graph.ids.tolist(), graph.weights.tolist()) == (["x", "y"], [4, 4])


def test_adjlist_of_integers_and_lonely_nodes(tmp_path):
    (tmp_path / "g.adjlist").write_text("#comment\n1 2 3\n2\n 4\n")
    graph = read_graph(tmp_path / "g.adjlist")
    assert (graph.ids.tolist(), graph.num_edges) == ([1, 2, 3, 4], 2)
    (tmp_path / "g.adjlist").write_text("1\n2\n")
    assert read_graph(tmp_path / "g.adjlist").num_edges == 0


@pytest.mark.parametrize("name", ["com-x.ungraph", "edges", "out.karate", "e.edges", "u.data", "e.gz", "e.ungraph.gz"])
def test_other_names_of_text(tmp_path, name):
    content = b"1 2\n2 3\n"
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert read_graph(tmp_path / name).num_edges == 2


def test_format_of_a_file_without_suffix(tmp_path):
    path = tmp_path / "graph"
    scipy.sparse.save_npz(tmp_path / "m.npz", MATRIX)
    pl.DataFrame({"u": [1], "v": [2]}).write_parquet(tmp_path / "e.parquet")
    nx.write_gml(nx.path_graph(2), tmp_path / "g.gml")
    for name, kind in (("m.npz", "npz"), ("e.parquet", "parquet"), ("g.gml", "gml")):
        path.write_bytes((tmp_path / name).read_bytes())
        assert read_graph(path).reading.format == kind
    for content, kind in ((MTX, "mtx"), (GRAPHML, "graphml"), ('{"links": [{"source": 1, "target": 2}]}', "json")):
        path.write_text(content)
        assert read_graph(path).reading.format == kind


def test_format_can_be_said(tmp_path):
    path = tmp_path / "graph.xyz"
    path.write_text(MTX)
    assert read_graph(path, format="mtx").num_edges == 2
    refuse(path, r"path must end in .*; format= \(--format\) reads other names")
    refuse(path, "format must be one of text, edgelist, .*, got 'xls'", format="xls")
    refuse(path, "format must be one of .*, got 3", format=3)


def test_standard_input(monkeypatch):
    def give(content):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    give(b"1 2\n2 3\n")
    assert read_graph("-").num_edges == 2
    give(gzip.compress(b"1 2\n2 3\n"))
    assert read_graph("-").num_edges == 2
    give(MTX.encode())
    graph = read_graph("-")
    assert (graph.reading.path, graph.reading.format) == ("-", "mtx")
    give(b"")
    refuse("-", "standard input must hold edges, but it is empty")
    give(gzip.compress(b"1 2\n")[:-9])
    refuse("-", "standard input cannot be read, or is a damaged or truncated gzip file")


@pytest.mark.parametrize("content", ['1 2\n2 3\n"', '1,2\n2,3\n"', 'a\tb\nb\tc\n"x'])
def test_quote_that_is_not_closed_is_no_panic(tmp_path, capfd, content):
    (tmp_path / "e.txt").write_text(content)
    refuse(tmp_path / "e.txt", "e.txt")
    assert capfd.readouterr().err == ""


def test_standard_error_is_passed_on_without_a_panic(capfd):
    with quiet_panics():
        os.write(2, b"said\n")
    assert capfd.readouterr().err == "said\n"


def test_pipe(tmp_path):
    """A pipe can be read only once, so its format must not be found out by another reading."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("".join(f"{i} {i + 1}\n" for i in range(5000)),))
    writer.start()
    graph = read_graph(path)
    writer.join()
    assert (graph.num_edges, graph.reading.path) == (5000, str(path))


def test_devices_are_no_files():
    refuse("/dev/zero", "path must be a file, got /dev/zero, which is none")

"""Files: every format, text in all its shapes, the real data sets, and a sentence for each thing wrong."""

import gzip
import shutil

import networkx as nx
import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.io import read_graph

PATH_OF_THREE = Graph.from_edge_list([(1, 2), (2, 3)])


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


@pytest.mark.parametrize("zipped", ["", ".gz"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".edg", ".edgelist", ".CSV"])
@pytest.mark.parametrize(
    "content",
    [
        "1\t2\n2\t3\n",
        "1,2\n2,3",
        "1;2\n2;3\n",
        "1|2\n2|3\n",
        "1 2\n2 3\n",
        "  1   2 \n2 \t 3\n",
        "1, 2\n2, 3\n",
        "1\t2\r\n2\t3\r\n",
        "1 2\r\n2 3\r\n",
        "\ufeff1,2\n2,3\n",
        '"1","2"\n"2","3"\n',
        "# SNAP\n# FromNodeId\tToNodeId\n1\t2\n2\t3\n",
        "% konect\n1 2\n# and\n\n2 3\n%\n",
        "1,2\n#,\n\n2,3\n\n",
        "source,target\n1,2\n2,3\n",
        "\n# c\nu v\n1 2\n2 3\n",
        "left;right\n1;2\n2;3\n",
        "\ufeffsource,target\r\n1,2\r\n2,3\r\n",
        "2,1\n3,2\n1,2\n2,2\n",
        "1,2\n  # indented\n   \n 2 ,3\n",
        "\ufeff1 2\n\n2 3\n",
    ],
)
def test_text_of_any_shape(write, content, suffix, zipped):
    graph = read_graph(write(f"edges{suffix}{zipped}", content))
    assert graph.content_hash == PATH_OF_THREE.content_hash


def test_named_columns(write):
    path = write("edges.csv", "kind,to,from,capacity,weight\nroad,a,b,5,1\nroad,b,c,7,2\n")
    graph = read_graph(path, directed=True)
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert graph.edge_index.tolist() == [[1, 2], [0, 1]]
    assert graph.weights.tolist() == [1, 2]
    assert read_graph(path, weight="capacity").weights.tolist() == [5, 5, 7, 7]
    assert not read_graph(path, weight=False).weighted
    assert read_graph(path, source="kind", target=1).ids.tolist() == ["a", "b", "road"]


def test_third_column_without_header_is_the_weight(write):
    path = write("edges.txt", "1 2 0.5\n2 3 2\n")
    assert read_graph(path).weights.tolist() == [0.5, 0.5, 2, 2]
    assert not read_graph(path, weight=False).weighted
    assert not read_graph(write("more.txt", "1 2 0.5 7\n2 3 2 8\n")).weighted
    assert read_graph(write("more.txt", "1 2 0.5 7\n2 3 2 8\n"), weight=3).weights.tolist() == [7, 7, 8, 8]
    assert not read_graph(write("kind.txt", "1 2 friend\n2 3 foe\n")).weighted
    assert not read_graph(write("header.csv", "u,v,capacity\n1,2,0.5\n")).weighted


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        ("007,8\n8,9\n", ["007", "8", "9"]),
        ("7,8\n8,+9\n", ["+9", "7", "8"]),
        ("7;8\n8;09\n", ["09", "7", "8"]),
        ("7|8\n8|-0\n", ["-0", "7", "8"]),
        ("7,8\n8,x\n", ["7", "8", "x"]),
        ("7,8\n8,1.0\n", ["1.0", "7", "8"]),
        ("7,8\n8,99999999999999999999\n", ["7", "8", "99999999999999999999"]),
        ("-7,8\n8,0\n", [-7, 0, 8]),
        ("1,2,007\n2,3,008\n", [1, 2, 3]),
        ("a b,é\né,c\n", ["a b", "c", "é"]),
        ('"Smith, J",b\nb,"say ""hi"""\n', ["Smith, J", "b", 'say "hi"']),
        ("NA,null\nnull,nan\n", ["NA", "nan", "null"]),
    ],
)
def test_ids_keep_their_spelling(write, content, ids):
    assert read_graph(write("edges.csv", content), weight=False).ids.tolist() == ids


def test_ids_beyond_the_first_rows(write):
    rows = "".join(f"{i}\t{i + 1}\n" for i in range(1000))
    assert read_graph(write("edges.tsv", rows)).ids.dtype == np.int64
    assert read_graph(write("edges.tsv", rows + "5\tx\n")).ids.tolist()[:2] == ["0", "1"]
    assert "007" in read_graph(write("edges.tsv", rows + "5\t007\n")).ids
    assert read_graph(write("edges.tsv", rows), ids="str").ids.tolist()[:3] == ["0", "1", "10"]
    assert read_graph(write("edges.tsv", rows + "5\t0007\n"), ids="int").num_nodes == 1001


def test_scattered_integer_ids(write):
    graph = read_graph(write("edges.tsv", f"{2**62}\t-5\n-5\t{10**12}\n"))
    assert graph.ids.tolist() == [-5, 10**12, 2**62]
    assert graph.degree.tolist() == [2, 1, 1]


def test_edgelist_of_networkx(tmp_path):
    path = tmp_path / "karate.edgelist"
    G = nx.karate_club_graph()
    nx.write_edgelist(G, path, data=False)
    assert read_graph(path).num_edges == 78
    nx.write_edgelist(G, path)
    assert read_graph(path, weight=False).num_edges == 78
    nx.write_weighted_edgelist(G, path)
    assert read_graph(path).content_hash == Graph.from_networkx(G).content_hash


def test_header_can_be_said(write):
    assert read_graph(write("edges.csv", "ann,bob\nbob,cid\n"), header=True).ids.tolist() == ["bob", "cid"]
    assert read_graph(write("edges.csv", "source,target\nbob,cid\n"), header=False).num_nodes == 4
    assert read_graph(write("edges.csv", "ann,bob\nbob,cid\n")).num_nodes == 3


def test_comments_can_be_said(write):
    assert read_graph(write("edges.csv", "#a,#b\n#b,#c\n"), comments="").ids.tolist() == ["#a", "#b", "#c"]


def test_nodes_are_kept(write):
    path = write("edges.csv", "1,2\n2,3\n")
    assert read_graph(path, nodes=[7, 1]).ids.tolist() == [1, 2, 3, 7]
    assert read_graph(path, nodes=["x"]).ids.tolist() == [1, 2, 3, "x"]
    assert read_graph(path, nodes=write("nodes.txt", "id\n0\n9\n")).ids.tolist() == [0, 1, 2, 3, 9]
    assert read_graph(path, nodes=write("nodes.csv.gz", "name,id\nx,9\n")).ids.tolist() == [
        "1",
        "2",
        "3",
        "x",
    ]
    assert read_graph(path, nodes=write("nodes.txt", "a\nb\n")).ids.tolist() == ["1", "2", "3", "a", "b"]


def test_parquet(tmp_path):
    path = tmp_path / "edges[1].parquet"
    pl.DataFrame({"src": ["a", "b"], "dst": ["b", "c"], "w": [1, 2], "other": [0, 0]}).write_parquet(path)
    graph = read_graph(path, nodes=["z"])
    assert graph.ids.tolist() == ["a", "b", "c", "z"]
    assert graph.weights.tolist() == [1, 1, 2, 2]


def test_npz_of_scipy(tmp_path):
    path = tmp_path / "matrix.npz"
    A = scipy.sparse.csr_array([[0, 2.0], [2.0, 0]])
    scipy.sparse.save_npz(path, A)
    assert read_graph(path).content_hash == Graph.from_scipy(A).content_hash
    assert read_graph(path, directed=True).num_edges == 2
    assert not read_graph(path, weight=False).weighted


def test_npz_of_arrays(tmp_path):
    path = tmp_path / "edges.npz"
    np.savez(path, edge_index=[[0, 1], [1, 2]], edge_weight=[1.0, 2.0], ids=["c", "a", "b"], directed=True)
    graph = read_graph(path, nodes=["d"])
    assert graph.ids.tolist() == ["a", "b", "c", "d"]
    assert graph.edge_index.tolist() == [[0, 2], [1, 0]]
    assert graph.weights.tolist() == [2, 1]
    assert graph.directed


def test_mtx(tmp_path):
    path = tmp_path / "matrix.mtx"
    scipy.io.mmwrite(path, scipy.sparse.coo_array([[0, 1.5, 0], [1.5, 0, 2], [0, 2, 0]]), symmetry="symmetric")
    graph = read_graph(path)
    assert (graph.ids.tolist(), graph.directed, graph.num_edges) == ([1, 2, 3], False, 2)
    assert graph.weights.tolist() == [1.5, 1.5, 2, 2]
    scipy.io.mmwrite(path, scipy.sparse.coo_array([[0, 1], [0, 0]]), symmetry="general")
    assert read_graph(path).directed
    assert not read_graph(path, directed=False).directed


@pytest.mark.parametrize("make", [nx.Graph, nx.DiGraph])
def test_graphml(tmp_path, make):
    path = tmp_path / "graph.graphml"
    G = make([("b", "a", {"weight": 2.0, "length": 3.0})])
    G.add_node("c")
    nx.write_graphml(G, path)
    graph = read_graph(path)
    assert graph.content_hash == Graph.from_networkx(G).content_hash
    assert graph.directed == G.is_directed()
    assert read_graph(path, weight="length", directed=False).weights.tolist() == [3, 3]
    with pytest.raises(InputError, match="weight='cost' is not an attribute of the edges"):
        read_graph(path, weight="cost")


@pytest.mark.parametrize(
    ("name", "arguments", "nodes", "edges"),
    [
        ("graphs/ca-AstroPh.txt.gz", {}, 18_772, 198_050),
        ("graphs/ca-AstroPh.txt.gz", {"self_loops": True}, 18_772, 198_110),
        ("graphs/email-Enron.txt.gz", {}, 36_692, 183_831),
        ("graphs/soc-Epinions1.txt.gz", {"directed": True}, 75_879, 508_837),
        ("graphs/chicago_regional.csv.gz", {"directed": True, "weight": "capacity"}, 12_979, 39_018),
        ("graphs/facebook_edges.csv.gz", {"self_loops": True}, 22_470, 171_002),
        ("email/email.txt", {"directed": True, "self_loops": True}, 1_005, 25_571),
        ("email/email.txt", {}, 1_005, 16_064),
    ],
)
def test_real_graphs(data_root, name, arguments, nodes, edges):
    graph = read_graph(data_root / name, **arguments)
    assert (graph.num_nodes, graph.num_edges) == (nodes, edges)
    assert graph.weighted == ("weight" in arguments)


@pytest.mark.parametrize(
    ("name", "content", "arguments", "sentence"),
    [
        ("e.csv", "", {}, r"e.csv must hold edges, but it is empty$"),
        ("e.csv.gz", "", {}, "e.csv.gz must hold edges, but it is empty"),
        ("e.txt", "# nothing\n\n", {}, "e.txt must hold edges, but it is empty or holds only comments"),
        ("e.csv", "source,target\n", {}, "e.csv must hold edges, but it has only a header"),
        (
            "e.csv",
            "u,v\n1,2\n",
            {"weight": "w"},
            "weight='w' is not a column of .*e.csv; its columns are 'u', 'v'",
        ),
        (
            "e.csv",
            "from,too\n1,2\n",
            {"target": "to"},
            "target='to' is not a column of .*; did you mean 'too'",
        ),
        ("e.txt", "1\n2\n", {}, "e.txt must have at least two columns, got one"),
        ("e.csv", "#\nu,v,w\n1,2,3\n\n2,3,x\n", {}, "must have a number in column 'w', got 'x' in line 5$"),
        ("e.txt", "1 2 3\n" * 300 + "1 2 x\n", {}, "must have a number in column 3, got 'x' in line 301$"),
        (
            "e.csv",
            "u,v\n1,2\n2,x\n",
            {"ids": "int"},
            r"an integer in column 'v' \(ids='int'\), got 'x' in line 3$",
        ),
        (
            "e.csv",
            "u,v,w\n1,2,3\n2,3,-1\n",
            {},
            "finite weights from 0 on in column 'w' .*, got -1.0 in line 3$",
        ),
        ("e.csv", "u,v,w\n1,2,3\n2,3,nan\n", {}, "got nan in line 3$"),
        ("e.csv", "u,v,w\n1,2,inf\n2,3,1\n", {}, "got inf in line 2$"),
        ("e.csv", "u,v,w\n1,2,0\n2,3,0\n", {}, "column 'w' of .* must have at least one positive weight"),
        ("e.csv", "1,2\n2,\n", {}, "has nothing in column 2 in line 2$"),
        ("e.csv", "a,b\n ,c\n", {}, "has nothing in column 1 in line 2$"),
        ("e.tsv", "1\t2\n" * 300 + "3\n", {}, "has nothing in column 2 in line 301$"),
        ("e.csv", "1,2\n3,4,5\n", {}, "must have 2 fields per line, got 3 in line 2$"),
        ("e.csv", "1,2\r3,4\r", {}, "e.csv is not a table of text: new-line character"),
        ("e.csv", '"a,b\nb,c\n', {}, "e.csv"),
        ("e.csv", "u,v\n1,2\n", {"source": "u", "target": "u"}, "source and target must be two columns of .*, got 'u'"),
        ("e.edgelist", "0 1 {'weight': 2}\n", {}, "must have weights in a column, got dictionaries"),
        ("e.csv", b"a,\xff\n", {}, "e.csv is not text in UTF-8"),
        ("e.tsv", b"a\tb\n" * 300 + b"a\t\xff\n", {}, "e.tsv is not text in UTF-8"),
        (
            "e.xlsx",
            "1,2\n",
            {},
            r"path must end in .csv .tsv .* \(or these with .gz\) or .parquet .*, got e.xlsx",
        ),
        ("e.parquet", "1,2\n", {}, "e.parquet must be a Parquet file, as its suffix says, but it is not"),
        (
            "e.npz",
            "1,2\n",
            {},
            "e.npz must be a .npz file of plain arrays of numbers or text, as its suffix says, but it is not or is damaged",
        ),
        ("e.mtx", "1 2\n", {}, "e.mtx must be a Matrix Market file, as its suffix says, but"),
        ("e.graphml", "1,2\n", {}, "e.graphml must be a GraphML file, as its suffix says, but"),
        ("e.graphml", "<html></html>", {}, "e.graphml must be a GraphML file, as its suffix says, but"),
        (
            "e.csv",
            gzip.compress(b"1,2\n", mtime=0),
            {},
            "e.csv must be text, as its suffix says, but it is a gzip file",
        ),
        ("e.csv", b"PAR1....", {}, "e.csv must be text, as its suffix says, but it is a Parquet file"),
        ("e.txt", b"1 2\n\0\0", {}, "e.txt must be text, as its suffix says, but it holds binary data"),
        ("e.csv", "1,2\n", {"ids": "float"}, "ids must be 'auto', 'int' or 'str', got 'float'"),
        ("e.csv", "1,2\n", {"directed": 1}, "directed must be True, False or None, got 1"),
        ("e.csv", "1,2\n", {"comments": "#%;:/"}, "comments must be at most four ASCII characters"),
        ("e.csv", "1,2\n", {"nodes": "nowhere.txt"}, "there is no file nowhere.txt"),
        ("e.csv", "1,2,1\n2,1,3\n", {}, r"between 1 and 2 has different weights .*\(--reduce\).*\(--directed\)"),
    ],
)
def test_errors(write, name, content, arguments, sentence):
    with pytest.raises(InputError, match=sentence) as error:
        read_graph(write(name, content), **arguments)
    assert "\n" not in str(error.value)


def test_gzip_errors(tmp_path):
    path = tmp_path / "e.csv.gz"
    path.write_bytes(b"1,2\n")
    with pytest.raises(InputError, match="must be a gzip file, as its suffix says, but it is not"):
        read_graph(path)
    path.write_bytes(gzip.compress(b"1,2\n" * 1000)[:-12])
    with pytest.raises(InputError, match="is a damaged or truncated gzip file"):
        read_graph(path)


def test_missing_files(write, tmp_path):
    write("edges.csv", "1,2\n")
    with pytest.raises(InputError, match=r"there is no file .*edgs.csv; did you mean .*edges.csv\?"):
        read_graph(tmp_path / "edgs.csv")
    with pytest.raises(InputError, match=r"there is no file .*nothing.txt$"):
        read_graph(tmp_path / "far" / "nothing.txt")
    with pytest.raises(InputError, match="path must be a file, got the folder"):
        read_graph(tmp_path)
    with pytest.raises(InputError, match="path must be a file's name, got 7"):
        read_graph(7)


def test_binary_errors(tmp_path):
    path = tmp_path / "e.npz"
    np.savez(path, other=[1])
    with pytest.raises(InputError, match=r"must hold edge_index or a scipy sparse matrix, got arrays \['other'\]"):
        read_graph(path)
    np.savez(path, edge_index=np.array([[None], [None]]))
    with pytest.raises(
        InputError, match=r"must hold plain arrays of numbers or text, got Python objects in array edge_index"
    ):
        read_graph(path)
    np.savez(path, edge_index=[[0], [5]], num_nodes=2)
    with pytest.raises(InputError, match="edge_index must hold positions between 0 and 1, got 5"):
        read_graph(path)
    np.save(tmp_path / "e.npy", [1])
    shutil.move(tmp_path / "e.npy", path)
    with pytest.raises(InputError, match=r"e\.npz must"):
        read_graph(path)
    path = tmp_path / "e.parquet"
    pl.DataFrame({"u": [1], "v": [2], "w": ["x"]}).write_parquet(path)
    with pytest.raises(InputError, match=r"column 'w' of .* must hold a number in every row, got String"):
        read_graph(path)
    pl.DataFrame({"u": [], "v": []}).write_parquet(path)
    with pytest.raises(InputError, match="must hold edges, but it is empty"):
        read_graph(path)


def test_a_weight_named_in_the_first_line_makes_it_a_header(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("a,b,weight\nx,y,1\nx,z,far\n")
    with pytest.raises(InputError, match="far"):
        read_graph(path)

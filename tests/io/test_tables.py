import csv
import gzip
import io
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphreach as gr
from graphreach.io.tables import read_labels, read_links, read_nodes, read_pair_labels, read_pairs
from table_helpers import NUMBERS, TOWNS, message

# Labels


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.csv.gz", "t.tsv.gz", "t.TXT.GZ"])
@pytest.mark.parametrize("separator", [",", "\t", ";", " ", "   "])
@pytest.mark.parametrize("header", ["", "id{}label\n", "# comment\n"])
def test_labels_of_any_separator_and_header(write, name, separator, header):
    rows = [("voss", "red"), ("ås", "blue"), ("bergen", "red")]
    text = header.format(separator) + "".join(f"{node}{separator}{label}\n" for node, label in rows)
    y, classes = read_labels(write(text, name), TOWNS)
    assert classes == ["blue", "red"]
    assert y.dtype == np.int64
    assert y.tolist() == [1, -1, 1, 0]


@pytest.mark.parametrize("text", ["-2 10\n30 9\n7 10\n", "id label\n-2 10\n30 9\n7 10\n"])
def test_labels_that_are_integers_sort_as_integers(write, text):
    y, classes = read_labels(write(text, "t.txt"), NUMBERS)
    assert classes == [9, 10]
    assert all(type(each) is int for each in classes)
    assert y.tolist() == [1, -1, 1, 0]


def test_labels_with_leading_zeros_are_text(write):
    assert read_labels(write("5,01\n7,1\n"), NUMBERS)[1] == ["01", "1"]


def test_rows_without_label_say_nothing(write):
    y, classes = read_labels(write("id,label\noslo,\nvoss,a\nvoss,\nbergen,b\n"), TOWNS)
    assert (y.tolist(), classes) == ([1, -1, 0, -1], ["a", "b"])


@pytest.mark.parametrize(
    ("header", "arguments"),
    [
        ("size,team,town", {"id": "town", "label": "team"}),
        ("size,team,town", {"id": 2, "label": 1}),
        ("size,team,town", {"id": "2", "label": "1"}),
        ("size,class,Node", {}),
        ("size,TARGET,id", {}),
        ("y,team,id", {"label": "team"}),
        ("id,team,town", {"id": "town", "label": "team"}),
    ],
)
def test_columns_of_labels(write, header, arguments):
    path = write(f"{header}\n3,red,oslo\n4,blue,voss\n")
    y, classes = read_labels(path, TOWNS, **arguments)
    assert (y.tolist(), classes) == ([-1, 1, 0, -1], ["blue", "red"])


def test_label_column_before_ids(write):
    assert read_labels(write("label,town\nred,oslo\n"), TOWNS, label="label")[0].tolist() == [-1, 0, -1, -1]
    assert read_labels(write("town,id\nred,oslo\n"), TOWNS)[0].tolist() == [-1, 0, -1, -1]


def test_a_first_line_with_a_node_is_no_header(write):
    # "y" is a usual name of labels, and a class of its own here.
    assert read_labels(write("oslo,y\nvoss,n\n"), TOWNS)[1] == ["n", "y"]
    # Text above numbers looks like a header, but oslo is a node.
    graph = gr.Graph.from_edge_list([("oslo", "5"), ("5", "6")])
    assert read_labels(write("oslo,a\n5,b\n6,a\n"), graph)[0].tolist() == [1, 0, 0]


def test_header_that_only_names_tell(write):
    y, classes = read_labels(write("town,team\noslo,red\n"), TOWNS, label="team")
    assert (y.tolist(), classes) == ([-1, 0, -1, -1], ["red"])


def test_labels_from_parquet(write_frame):
    path = write_frame({"id": ["voss", "oslo"], "label": ["b", "a"], "more": [1, 2]})
    assert read_labels(path, TOWNS)[0].tolist() == [-1, 0, 1, -1]
    kinds = {
        "float": pl.Series([2.0, float("nan"), None, 1.0]),
        "bool": pl.Series([True, None, None, False]),
        "category": pl.Series(["2", None, None, "1"], dtype=pl.Categorical),
        "small": pl.Series([2, None, None, 1], dtype=pl.UInt8),
    }
    path = write_frame({"id": [7, 5, 30, -2]} | kinds)
    for name in kinds:
        y, classes = read_labels(path, NUMBERS, label=name)
        assert y.tolist() == [0, -1, 1, -1], name
        assert classes == ([False, True] if name == "bool" else [1, 2])


def test_unknown_ids_are_ignored_with_a_warning(write):
    path = write("id,label\noslo,a\nrome,b\nparis,c\nrome,d\n")
    with pytest.warns(UserWarning, match=r"has 2 ids that are not nodes .*: 'rome', 'paris'$") as caught:
        y, classes = read_labels(path, TOWNS)
    assert caught[0].filename == __file__
    assert (y.tolist(), classes) == ([-1, 0, -1, -1], ["a"])


def test_only_unknown_ids_are_an_error(write):
    text = message(read_labels, write("id,label\nrome,a\nparis,b\nlima,c\nbern,d\n"), TOWNS)
    assert "'rome', 'paris', 'lima' and 1 more" in text
    assert "'bergen', 'oslo', 'voss'" in text


def test_one_label_a_node(write):
    assert read_labels(write("oslo,a\noslo,a\nvoss,b\n"), TOWNS)[0].tolist() == [-1, 0, 1, -1]


def test_several_labels_a_node(write):
    lines = []
    y, classes = read_labels(write("oslo,a\nvoss,b\noslo,c\noslo,a\n"), TOWNS, report=lines.append)
    assert (y.dtype, classes) == (np.bool_, ["a", "b", "c"])
    assert y.astype(int).tolist() == [[0, 0, 0], [1, 0, 1], [0, 1, 0], [0, 0, 0]]
    assert "3 labels of 2 of 4 nodes; 1 of 2 nodes have several labels: up to 2, 1.5 on average" in lines[0]


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("id,team,size\noslo,red,3\n", {}, "'id', 'team', 'size'"),
        ("id,team\noslo,red\n", {"label": "taem"}, "label='taem' is not a column"),
        ("id,team\noslo,red\n", {"label": 2}, "its columns are 'id', 'team'"),
        ("id,team\noslo,red\n", {"id": "id", "label": "id"}, "two columns"),
        ("id,team\noslo,red\n", {"id": True}, "id=True"),
        ("oslo\nvoss\n", {}, "one of labels"),
        ("id,label\n", {}, "only a header"),
        ("# nothing\n", {}, "only comments"),
        ("", {}, "empty"),
        ("id,label\noslo,\n", {}, "got none"),
        ("id,label\noslo,a\n,b\n", {}, "nothing in column 'id' in line 3"),
        ("id,label\noslo,a\nvoss,b,c\n", {}, "must have 2 fields per line, got 3 in line 3"),
        (b"id,label\noslo,\xff\n", {}, "UTF-8"),
    ],
)
def test_unusable_labels(write, text, arguments, expected):
    assert expected in message(read_labels, write(text), TOWNS, **arguments)


def test_unusable_labels_of_parquet(write_frame, write):
    assert "whole numbers" in message(read_labels, write_frame({"id": ["oslo"], "y": [0.5]}), TOWNS)
    assert "whole numbers" in message(read_labels, write_frame({"id": ["oslo"], "y": [np.inf]}), TOWNS)
    assert "whole numbers" in message(read_labels, write_frame({"id": ["oslo"], "y": [[1]]}), TOWNS)
    assert "must be text" not in message(read_labels, write_frame({"id": [1.5], "y": [1]}), TOWNS)
    assert "is empty" in message(read_labels, write_frame({"id": pl.Series([], dtype=pl.String), "y": []}), TOWNS)
    assert "damaged" in message(read_labels, write("id,y\n", "t.parquet"), TOWNS)


def test_unusable_paths(tmp_path, write):
    assert "there is no file" in message(read_labels, tmp_path / "none.csv", TOWNS)
    assert ".parquet" in message(read_labels, write("a", "t.xlsx"), TOWNS)
    assert "path must end in" in message(read_labels, write("a", "t.npy"), TOWNS)
    assert "file's name" in message(read_labels, 3, TOWNS)
    (tmp_path / "folder.csv").mkdir()
    assert "folder" in message(read_labels, tmp_path / "folder.csv", TOWNS)
    (tmp_path / "t.csv.gz").write_bytes(b"id,label\n")
    assert "gzip" in message(read_labels, tmp_path / "t.csv.gz", TOWNS)


TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="\t,;|", exclude_categories=["Zs", "Cc", "Cs"]), min_size=1
)
# (a separator in every line would be taken for the file's)
IDS = st.one_of(
    st.dictionaries(TEXT.filter(lambda text: text[0] not in "#%\ufeff"), TEXT, min_size=2, max_size=8),
    st.dictionaries(st.integers(-(2**63), 2**63 - 1), TEXT, min_size=2, max_size=8),
)


@settings(max_examples=60, deadline=None)
@given(IDS, st.sampled_from(",\t;|"), st.booleans())
def test_labels_against_the_csv_module(tmp_path_factory, labels, separator, header):
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator="\n")
    writer.writerows([["id", "label"]] * header + list(labels.items()))
    path = tmp_path_factory.mktemp("tables") / "t.csv"
    path.write_text(file.getvalue(), encoding="utf-8")
    graph = gr.Graph.from_edge_list([], nodes=labels)
    y, classes = read_labels(path, graph, **({"label": "label"} if header else {}))
    assert [str(classes[each]) for each in y] == [labels[node] for node in graph.ids.tolist()]
    assert classes == sorted(set(classes))


# Pairs and nodes


@pytest.mark.parametrize(
    "text",
    [
        "oslo ås\nvoss oslo\nvoss oslo\n",
        "oslo,ås,0.5\nvoss,oslo,1\nvoss,oslo,x\n",
        "u,v\noslo,ås\nvoss,oslo\nvoss,oslo\n",
        "n\ttarget\tsource\n1\tås\toslo\n2\toslo\tvoss\n3\toslo\tvoss\n",
        "# c\nFrom;To\n oslo ;ås\n\nvoss;oslo\r\nvoss; oslo",
    ],
)
def test_pairs(write, text):
    pairs = read_pairs(write(text), TOWNS).positions
    assert pairs.dtype == np.int64
    assert pairs.tolist() == [[1, 2, 2], [3, 1, 1]]


def test_pairs_of_parquet_and_of_one_column_twice(write_frame, write):
    assert read_pairs(write_frame({"dst": [5, 7], "src": [30, -2]}), NUMBERS).positions.tolist() == [[3, 0], [1, 2]]
    assert read_pairs(write("a b\n5 7\n"), NUMBERS).positions.tolist() == [[1], [2]]
    assert read_pairs(write("5 5\n"), NUMBERS).positions.tolist() == [[1], [1]]


def test_unknown_ends_of_pairs(write):
    text = message(read_pairs, write("oslo rome\nlima paris\nbern rome\n"), TOWNS)
    assert "got 4 that are none: 'lima', 'bern', 'rome' and 1 more" in text
    assert "'bergen'" in text
    assert "two columns of ids" in message(read_pairs, write("oslo\nvoss\n"), TOWNS)
    assert "only a header" in message(read_pairs, write("u,v\n"), TOWNS)


@pytest.mark.parametrize(
    "text",
    ["oslo,voss,1\nvoss,ås,0\n", "source,target,y\noslo,voss,1\nvoss,ås,0\n", "w,y,u,v\n3,1,oslo,voss\n4,0,voss,ås\n"],
)
def test_pair_labels(write, text):
    index, label = read_pair_labels(write(text), TOWNS)
    assert label.dtype == np.int64
    assert (index.tolist(), label.tolist()) == ([[1, 2], [2, 3]], [1, 0])


def test_pair_labels_of_parquet(write_frame):
    path = write_frame({"u": [5, 7], "v": [7, 5], "label": [True, False], "target": [1, 2]})
    assert read_pair_labels(path, NUMBERS)[1].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u,v\noslo,voss\n", "column named label"),
        ("u,v,a,b\noslo,voss,1,1\n", "'u', 'v', 'a', 'b'"),
        ("u,v,y\noslo,voss,1\noslo,ås,2\n", "0 or 1 in column 'y', got '2' in line 3"),
        ("u,v,y\noslo,voss,\noslo,ås,1\n", "0 or 1 in column 'y', got None in line 2"),
        ("u,v,y\noslo,voss,yes\noslo,ås,1\n", "got 'yes'"),
    ],
)
def test_unusable_pair_labels(write, text, expected):
    assert expected in message(read_pair_labels, write(text), TOWNS)


@pytest.mark.parametrize(
    ("text", "links", "others"),
    [
        ("oslo,voss\nvoss,ås\n", [[1, 2], [2, 3]], None),
        ("u,v,weight\noslo,voss,1\nvoss,ås,0\n", [[1, 2], [2, 3]], None),
        ("oslo,voss,1\nvoss,ås,0\n", [[1], [2]], [[2], [3]]),
        ("u,v,label\noslo,voss,0\nvoss,ås,1\n", [[2], [3]], [[1], [2]]),
        ("u,v,km,label\noslo,voss,7,1\nvoss,ås,9,1\n", [[1, 2], [2, 3]], None),
    ],
)
def test_links_with_and_without_labels(write, text, links, others):
    said = []
    found = read_links(write(text), TOWNS, said.append)
    assert found[0].tolist() == links
    assert found[1] is None if others is None else found[1].tolist() == others
    assert ("all pairs are links" in said[0]) == (",1" not in text or "weight" in text)


def test_unusable_links(write):
    assert "0 or 1 in column" in message(read_links, write("oslo,voss,3\nvoss,ås,0\n"), TOWNS)
    assert "nowhere" in message(read_links, write("oslo,voss\nvoss,nowhere\n"), TOWNS)


@pytest.mark.parametrize("text", ["voss\noslo\nvoss\n", "id\nvoss\noslo\nvoss", "a,node\n1,voss\n2,oslo\n3,voss\n"])
def test_nodes(write, text):
    nodes = read_nodes(write(text), TOWNS).positions
    assert (nodes.dtype, nodes.tolist()) == (np.int64, [2, 1, 2])


def test_names_with_glob_characters(write, write_frame):
    assert read_nodes(write("oslo\n", "a[1]*.csv"), TOWNS).positions.tolist() == [1]
    assert read_nodes(write_frame({"id": ["oslo"]}, "b[1]*.parquet"), TOWNS).positions.tolist() == [1]


# Real tables


def test_email_labels(data_root):
    graph = gr.read_graph(data_root / "email" / "email.txt")
    path = data_root / "email" / "email_labels.txt"
    rows = dict(tuple(map(int, line.split())) for line in path.read_text().splitlines())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y, classes = read_labels(path, graph)
    assert classes == sorted({rows[node] for node in graph.ids.tolist()})
    assert [classes[each] for each in y] == [rows[node] for node in graph.ids.tolist()]


def test_facebook_classes(data_root):
    graph = gr.read_graph(data_root / "graphs" / "facebook_edges.csv.gz")
    path = data_root / "graphs" / "facebook_target.csv.gz"
    with gzip.open(path, "rt") as file:
        rows = {int(row["id"]): int(row["target"]) for row in csv.DictReader(file)}
    for arguments in ({}, {"label": "target"}, {"id": 0, "label": 1}):
        y, classes = read_labels(path, graph, **arguments)
        assert classes == [0, 1, 2, 3]
        assert y.tolist() == [rows[node] for node in graph.ids.tolist()]
    assert "its columns are 'id', 'target'" in message(read_labels, path, graph, label="page_type")

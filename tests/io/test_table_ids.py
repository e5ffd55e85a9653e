import polars as pl
import pytest

import graphreach as gr
from graphreach.io.tables import read_labels, read_nodes, read_pairs
from table_helpers import NUMBERS, TOWNS, message

MIXED = gr.Graph.from_edge_list([(7, "ann"), ("ann", (1, 2))])  # 7, 'ann', (1, 2)


def test_nodes_of_numbers(write, write_frame):
    assert read_nodes(write("number\n30\n-2\n"), NUMBERS).positions.tolist() == [3, 0]
    assert read_nodes(write("\ufeff30\n-2\n"), NUMBERS).positions.tolist() == [3, 0]
    assert read_nodes(write('"30"\n"-2"\n'), NUMBERS).positions.tolist() == [3, 0]
    for kind in (pl.Int8, pl.UInt64, pl.Float64, pl.String, pl.Categorical):
        column = (
            pl.Series(["30", "5"]).cast(kind) if kind in (pl.String, pl.Categorical) else pl.Series([30, 5], dtype=kind)
        )
        assert read_nodes(write_frame({"id": column}), NUMBERS).positions.tolist() == [3, 1]


def test_kinds_of_ids_must_agree(write, write_frame):
    assert "integers, as the graph's ids are, in column 1, got '007' in line 2" in message(
        read_nodes, write("5\n007\n"), NUMBERS
    )
    assert "got '5.0'" in message(read_nodes, write("7\n5.0\n"), NUMBERS)
    assert f"got '{2**63}'" in message(read_nodes, write(f"7\n{2**63}\n"), NUMBERS)
    assert "got 5.5 in row 1" in message(read_nodes, write_frame({"id": [5.0, 5.5]}), NUMBERS)
    assert "must have ids in column 'id', got List" in message(read_nodes, write_frame({"id": [[1], [2]]}), NUMBERS)
    assert "must have text" in message(read_nodes, write_frame({"id": [5.5]}), TOWNS)
    assert "nothing in column 'id' in row 1" in message(read_nodes, write_frame({"id": ["oslo", None]}), TOWNS)


def test_ids_of_text_stand_as_they_are(write, write_frame):
    graph = gr.Graph.from_edge_list([("007", "7"), ("7", "a,b"), ("a,b", 'say "hi"'), ("a,b", "x" * 100)])
    assert graph.ids.dtype == object
    expected = [graph.index_of(each) for each in ("7", "007", "a,b", 'say "hi"', "x" * 100)]
    text = f'id,n\n7,1\n007,1\n"a,b",1\n"say ""hi""",1\n{"x" * 100},1\n'
    assert read_nodes(write(text), graph).positions.tolist() == expected
    graph = gr.Graph.from_edge_list([("007", "7")])
    assert read_nodes(write("7\n007\n"), graph).positions.tolist() == [1, 0]
    assert read_nodes(write_frame({"id": [7, 7]}), graph).positions.tolist() == [1, 1]


def test_ids_of_other_kinds_compare_by_their_text(write):
    assert read_nodes(write('"(1, 2)",a\nann,b\n7,c\n'), MIXED).positions.tolist() == [2, 1, 0]
    halves = gr.Graph.from_edge_list([(0.5, 1.5)])
    assert read_nodes(write("1.5\n0.5\n"), halves).positions.tolist() == [1, 0]
    assert "numbers, as the graph's ids are" in message(read_nodes, write("0.5\nx\n"), halves)


def test_ids_that_two_nodes_have_as_text_are_refused(write):
    graph = gr.Graph.from_edge_list([(1, "1"), ("1", "ann")])
    assert "two nodes that are written '1' (a number and text), in column 1 in line 2" in message(
        read_nodes, write("ann\n1\n"), graph
    )
    assert read_nodes(write("ann\n"), graph).positions.tolist() == [2]


def test_whole_floats_are_ids_of_text(write_frame):
    graph = gr.Graph.from_edge_list([("7", "8"), ("8", "x")])
    assert read_nodes(write_frame({"id": [8.0, 7.0]}), graph).positions.tolist() == [1, 0]
    for wrong in (float("inf"), 7.5, 2.0**60):
        assert "must have text" in message(read_nodes, write_frame({"id": [8.0, wrong]}), graph)


def test_known_pairs_and_the_ids_that_are_unknown(write):
    path = write("u,v\noslo,rome\noslo,voss\nlima,rome\n\nvoss,oslo\n")
    index, rows, unknown = read_pairs(path, TOWNS, strict=False)
    assert (index.tolist(), rows.tolist(), unknown) == ([[1, 2], [2, 1]], [1, 3], ["lima", "rome"])
    index, rows, unknown = read_pairs(write("a b\nc d\n"), TOWNS, strict=False)
    assert (index.shape, rows.shape, unknown) == ((2, 0), (0,), ["a", "c", "b", "d"])
    assert "nothing in column 'v' in line 2" in message(
        read_pairs, write("u,v\noslo,\noslo,voss\n"), TOWNS, strict=False
    )


def test_unknown_ids_may_be_of_another_kind(write, write_frame):
    positions, rows, unknown = read_nodes(write("5\nx\n007\n99\n30\n5\n"), NUMBERS, strict=False)
    assert (positions.tolist(), rows.tolist(), unknown) == ([1, 3, 1], [0, 4, 5], ["x", "007", "99"])
    positions, rows, unknown = read_nodes(write_frame({"id": [5.5, 5.0]}), NUMBERS, strict=False)
    assert (positions.tolist(), rows.tolist(), unknown) == ([1], [1], [5.5])
    positions, rows, unknown = read_nodes(write_frame({"id": [2**63, 5]}), NUMBERS, strict=False)
    assert (positions.tolist(), unknown) == ([1], [2**63])
    positions, rows, unknown = read_nodes(
        write_frame({"id": [7, 8]}), gr.Graph.from_edge_list([("7", "x")]), strict=False
    )
    assert (positions.tolist(), unknown) == ([0], [8])


TAGS = gr.Graph.from_edge_list([("#love", "#peace"), ("#peace", "x"), ("x", "y")])  # #love, #peace, x, y


@pytest.mark.parametrize("head", ["", "# my tags\n", "id,label\n", "% a comment\nid,label\n"])
def test_ids_that_begin_as_comments_do_are_rows(write, head):
    y, classes = read_labels(write(head + "#love,a\n#peace,b\nx,a\n"), TAGS)
    assert (y.tolist(), classes) == ([0, 1, 0, -1], ["a", "b"])
    assert "line 3" in message(read_labels, write("# tags\n#love,a\nx\ny,a\n"), TAGS)


def test_comments_within_the_data_are_counted_and_said(write):
    lines = []
    read_labels(write("# before\noslo,a\n# within\nvoss,b\n% too\nbergen,a\n"), TOWNS, report=lines.append)
    assert "2 lines within the data skipped as comments" in lines[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"id,label\n" + b"oslo,a\n" * 2000 + b"vo\0ss,b\n", "a NUL byte in line 2002"),
        (b"id,label\noslo,a\nvo\x01ss,b\n", "column 'id', got the control character in 'vo\\x01ss' in line 3"),
        (b"id,label\noslo,a\nvoss,b\x07\n", "column 'label', got the control character in 'b\\x07' in line 3"),
    ],
)
def test_binary_data_in_a_text_file_is_refused_with_its_line(write, text, expected):
    assert expected in message(read_labels, write(text), TOWNS)

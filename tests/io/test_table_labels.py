import numpy as np
import polars as pl
import pytest

import graphreach as gr
from graphreach.io.tables import read_labels
from table_helpers import NUMBERS, TOWNS, message

PATH = gr.Graph.from_edges([range(99), range(1, 100)])


def rows(labels):
    return "id,age,label\n" + "".join(f'{node},30,"{label}"\n' for node, label in enumerate(labels))


def test_floats_as_labels_raise_a_question(write, write_frame):
    values = np.linspace(0, 1, 100) ** 2
    text = message(read_labels, write(rows(values)), PATH)
    assert "100 different numbers, such as 0.00010203 in line 3" in text
    assert "regression target or the wrong column? The columns are 'id', 'age', 'label'" in text
    text = message(read_labels, write_frame({"id": range(100), "y": values}), PATH)
    assert "such as 0.00010203 in row 1; is this a regression target" in text
    # A few such numbers are no classes either.
    assert "0.5 in line 2" in message(read_labels, write(rows([0.5, 1.5] * 50)), PATH)
    assert "regression" in message(read_labels, write(rows(["1e-05", "0.1", "3"])), PATH)


def test_whole_floats_are_classes(write, write_frame):
    expected = ([0, 1, 2, 0], [1, 2, 3])
    for labels in (["1.0", "2.0", "3.0", "1.0"], ["1.0", "2", "3.", "1"], ["1.0", "2e0", "3.0", "1.0"]):
        y, classes = read_labels(write(rows(labels)), PATH)
        assert (y[:4].tolist(), classes) == expected
        assert all(type(each) is int for each in classes)
    y, classes = read_labels(write_frame({"id": [0, 1, 2, 3], "y": [1.0, 2.0, 3.0, 1.0]}), PATH)
    assert (y[:4].tolist(), classes) == expected


def test_nan_beside_numbers_is_no_label(write):
    y, classes = read_labels(write(rows(["1.0", "nan", "2.0", "NaN"])), PATH)
    assert (y[:4].tolist(), classes) == ([0, -1, 1, -1], [1, 2])
    assert read_labels(write(rows(["nan", "naan"])), PATH)[1] == ["naan", "nan"]


@pytest.mark.parametrize("cell", ["0,1", "0;1", "0|1", "[0, 1]", "0 1", "1,2,3", "-1,2"])
def test_several_labels_in_a_cell_raise_a_question(write, cell):
    text = message(read_labels, write(rows(["0", cell, "1"])), PATH)
    assert f"got {cell!r} in column 'label' in line 3" in text
    assert "several labels in one cell?" in text


def test_names_with_commas_are_classes_unless_their_parts_are(write, write_frame):
    names = ["Arts, Music", "Sports", "Arts, Music"]
    assert read_labels(write(rows(names)), PATH)[1] == ["Arts, Music", "Sports"]
    text = message(read_labels, write(rows([*names, "Arts", "Music"])), PATH)
    assert "'Arts, Music' in column 'label' in line 2" in text
    # Rows of unknown nodes and of no label do not shift the row that is named.
    frame = {"id": [0, 1, 2, 3], "y": [None, "a", "b", "a;b"]}
    assert "'a;b' in column 'y' in row 3" in message(read_labels, write_frame(frame), PATH)


def test_nearly_as_many_classes_as_nodes_raise_a_question(write):
    text = message(read_labels, write(rows([f"name {i}" for i in range(100)])), PATH)
    assert "got 100 different labels in 100 rows; is this a quantity, a name or the wrong column?" in text
    assert "got 51 different labels" in message(read_labels, write(rows([i % 51 for i in range(100)])), PATH)
    assert len(read_labels(write(rows([i % 50 for i in range(100)])), PATH)[1]) == 50
    assert len(read_labels(write(rows(range(19))), PATH)[1]) == 19


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,label\noslo,a\nvoss\nbergen,b\n", "line 3 has no ',', as the others have"),
        ("id,size,label\noslo,1,a\n# a note\nvoss,2\n", "must have 3 fields"),
        ("id label\noslo a\nvoss\n", "got 1 in line 3"),
        ("id,label\noslo,a\nvoss,a,b\n", "got 3 in line 3"),
    ],
)
def test_rows_too_short_or_too_long_are_named(write, text, expected):
    assert expected in message(read_labels, write(text), TOWNS)


def test_unknown_kinds_of_labels(write_frame):
    for column in (pl.Series([[1], [2]]), pl.Series([{"a": 1}, {"a": 2}]), pl.Series([b"a", b"b"])):
        assert "text or whole numbers" in message(read_labels, write_frame({"id": [5, 7], "y": column}), NUMBERS)

import numpy as np
import polars as pl
import pytest

from graphreach.io.tables import read_features
from table_helpers import NUMBERS, TOWNS, message


def expected_features(graph, rows):
    return np.array([rows[node] for node in graph.ids.tolist()], np.float32)


ROWS = {"voss": [1, 2.5], "oslo": [-3e-5, 0.1], "ås": [4, 5], "bergen": [7, 1e10]}


@pytest.mark.parametrize("separator", [",", "\t", ";", " ", ", "])
@pytest.mark.parametrize("header", ["", "id{0}age{0}height\n", '""{0}0{0}1\n'])
@pytest.mark.parametrize("name", ["t.csv", "t.txt.gz"])
def test_features_of_text(write, separator, header, name):
    text = header.format(separator) + "".join(f"{k}{separator}{a}{separator}{b}\n" for k, (a, b) in ROWS.items())
    x = read_features(write(text, name), TOWNS)
    assert (x.dtype, x.flags.c_contiguous) == (np.float32, True)
    np.testing.assert_array_equal(x, expected_features(TOWNS, ROWS))


def test_features_of_padded_ids(write):
    text = "id ,a,b\n" + "".join(f" {node} ,{a},{b}\n" for node, (a, b) in ROWS.items())
    np.testing.assert_array_equal(read_features(write(text), TOWNS), expected_features(TOWNS, ROWS))


def test_features_of_integer_ids_and_any_column_of_ids(write):
    path = write("a,node,b\n1,30,2\n3,-2,4\n5,7,6\n7,5,8\n")
    expected = [[3, 4], [7, 8], [5, 6], [1, 2]]
    assert read_features(path, NUMBERS).tolist() == expected
    assert read_features(path, NUMBERS, id="node").tolist() == expected
    assert read_features(path, NUMBERS, id=1).tolist() == expected


def test_features_of_parquet(write_frame):
    path = write_frame(
        {
            "a": [True, False, True, False],
            "list": [[1, 2], [3, 4], [5, 6], [7, 8]],
            "id": list(ROWS),
            "b": pl.Series([1.5, 2.5, 3.5, 4.5], dtype=pl.Float64),
            "array": pl.Series([[1.0], [2.0], [3.0], [4.0]], dtype=pl.Array(pl.Float32, 1)),
        }
    )
    rows = {"voss": [1, 1, 2, 1.5, 1], "oslo": [0, 3, 4, 2.5, 2], "ås": [1, 5, 6, 3.5, 3], "bergen": [0, 7, 8, 4.5, 4]}
    np.testing.assert_array_equal(read_features(path, TOWNS), expected_features(TOWNS, rows))


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int8, np.bool_, ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_features_of_numpy(tmp_path, kind, order):
    array = np.asarray(np.arange(12).reshape(4, 3) % 2, dtype=kind, order=order)
    np.save(tmp_path / "x.npy", array)
    np.savez(tmp_path / "x.npz", x=array, other=3)
    for name in ("x.npy", "x.npz"):
        x = read_features(tmp_path / name, TOWNS)
        assert (x.dtype, x.flags.c_contiguous, x.flags.writeable) == (np.float32, True, True)
        np.testing.assert_array_equal(x, array.astype(np.float32))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,a\noslo,1\nvoss,2\n", "2 have none: 'bergen', 'ås'"),
        ("id,a\noslo,1\nvoss,2\nbergen,3\nås,4\noslo,1\n", "'oslo' more than once"),
        ("id,a,b\noslo,1,1\nvoss,2,nan\nbergen,3,1\nås,4,1\n", "finite 32-bit numbers in column 'b', got nan"),
        ("id,a,b\noslo,1,1\nvoss,-inf,1\nbergen,3,1\nås,4,1\n", "column 'a', got -inf"),
        ("id,a,b\noslo,1,1\nvoss,1e300,1\nbergen,3,1\nås,4,1\n", "column 'a', got inf"),
        ("oslo,1,1\nvoss,1,red\nbergen,3,1\nås,4,1\n", "number in column 3, got 'red' in line 2"),
        ("id,a\noslo,1\nvoss,\nbergen,3\nås,4\n", "nothing in column 'a' in line 3"),
        ("id\noslo\nvoss\nbergen\nås\n", "columns of numbers"),
    ],
)
def test_unusable_features(write, text, expected):
    assert expected in message(read_features, write(text), TOWNS)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (["a", "b", "c", "d"], "numbers in column 'x', got String"),
        ([1, 2, None, 4], "nothing in column 'x' in row 2"),
        ([[1], [2, 3], [4], [5]], "lists of one length in column 'x', got 1 to 2"),
        ([[], [], [], []], "lists of one length in column 'x', got 0 to 0"),
        ([[1], [None], [2], [3]], "column 'x', got nan"),
        ([["a"], ["b"], ["c"], ["d"]], "numbers in column 'x'"),
        ([1.0, 2.0, 3.0, np.nan], "column 'x', got nan"),
        ([1.0, 2.0, 3.0, 1e39], "column 'x', got inf"),
    ],
)
def test_unusable_features_of_parquet(write_frame, column, expected):
    assert expected in message(read_features, write_frame({"id": list(ROWS), "x": column}), TOWNS)


def test_unusable_features_of_numpy(tmp_path, write):
    def save(array):
        np.save(tmp_path / "x.npy", array)
        return tmp_path / "x.npy"

    assert "[4, d], one row per node, got [3, 2]" in message(read_features, save(np.zeros((3, 2))), TOWNS)
    assert "got [4]" in message(read_features, save(np.zeros(4)), TOWNS)
    assert "got [4, 0]" in message(read_features, save(np.zeros((4, 0))), TOWNS)
    assert "got complex" in message(read_features, save(np.zeros((4, 2), complex)), TOWNS)
    assert "plain numbers" in message(read_features, save(np.zeros((4, 2), object)), TOWNS)
    assert "in column 1" in message(read_features, save([[0, 1], [1, np.nan], [0, 0], [0, 0]]), TOWNS)
    assert "in column 0" in message(read_features, save(np.full((4, 2), 1e300)), TOWNS)
    np.savez(tmp_path / "x.npz", z=np.zeros((4, 2)))
    assert "['z']" in message(read_features, tmp_path / "x.npz", TOWNS)
    np.savez(tmp_path / "x.npz", x=np.zeros((4, 2), object))
    assert "plain numbers" in message(read_features, tmp_path / "x.npz", TOWNS)
    for name in ("y.npy", "y.npz"):
        assert "plain numbers" in message(read_features, write("no", name), TOWNS)


def test_features_of_unknown_nodes_are_ignored(write):
    text = "id,a\nrome,9\n" + "".join(f"{node},{a}\n" for node, (a, _) in ROWS.items())
    with pytest.warns(UserWarning, match="1 ids that are not nodes"):
        x = read_features(write(text), TOWNS)
    assert x[:, 0].tolist() == expected_features(TOWNS, ROWS)[:, 0].tolist()

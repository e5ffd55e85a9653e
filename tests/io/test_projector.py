import numpy as np
import polars as pl
import pytest

import graphreach as gr
from graphreach.io.projector import write_projector

Z = np.array([[0.5, 1.0], [2.0, -1e-7], [0.0, 3.0]])


def test_a_single_column_has_no_header(tmp_path):
    write_projector(tmp_path / "new" / "folder", Z, np.array([7, 8, 9]))
    folder = tmp_path / "new" / "folder"
    assert sorted(path.name for path in folder.iterdir()) == ["metadata.tsv", "projector_config.pbtxt", "vectors.tsv"]
    assert (folder / "vectors.tsv").read_text() == "0.5\t1.0\n2.0\t-1e-7\n0.0\t3.0\n"
    assert (folder / "metadata.tsv").read_text() == "7\n8\n9\n"
    config = (folder / "projector_config.pbtxt").read_text()
    assert 'tensor_path: "vectors.tsv"' in config
    assert 'metadata_path: "metadata.tsv"' in config


def test_more_columns_have_a_header(tmp_path):
    write_projector(tmp_path, Z.astype(np.float32), ['say "hi"', "b,c", "å"], {"class": [0, 1, 1], "x y": [0.5, 1, 2]})
    frame = pl.read_csv(tmp_path / "metadata.tsv", separator="\t", quote_char=None)
    assert frame.columns == ["id", "class", "x y"]
    assert frame["id"].to_list() == ['say "hi"', "b,c", "å"]
    assert frame["class"].to_list() == [0, 1, 1]


def test_many_rows_are_written_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("graphreach.io.projector.BLOCK_ENTRIES", 8)
    z = np.random.default_rng(0).standard_normal((50, 3))
    write_projector(tmp_path, z, range(50))
    np.testing.assert_allclose(np.loadtxt(tmp_path / "vectors.tsv"), z, rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([1.0], ["a"]), "vectors must have shape [n, d], got an array of shape [1]"),
        (([[np.inf]], ["a"]), "vectors must be finite, got 1 that are not"),
        ((Z, ["a", "b"]), "ids must have one value for each of 3 vectors, got an array of shape [2]"),
        ((Z, ["a", "b\t", "c"]), "ids must be without tabs and line ends, and not empty, in a .tsv file, got 'b\\t'"),
        ((Z, ["a", "", "c"]), "and not empty, in a .tsv file, got ''"),
        ((Z, "abc", None), "ids must be"),
        ((Z, [1, 2, 3], {"class": ["x", "y\n", "z"]}), "class must be without tabs and line ends"),
        ((Z, [1, 2, 3], {"a\tb": [1, 2, 3]}), "columns must be without tabs and line ends"),
        ((Z, [1, 2, 3], {"id": [1, 2, 3]}), "columns must not be named 'id'"),
        ((Z, [1, 2, 3], [1, 2, 3]), "columns must be a mapping from names to values, got [1, 2, 3]"),
    ],
)
def test_mistakes_leave_nothing(tmp_path, arguments, sentence):
    with pytest.raises(gr.InputError) as caught:
        write_projector(tmp_path / "folder", *arguments)
    assert sentence in str(caught.value)
    assert not (tmp_path / "folder").exists()

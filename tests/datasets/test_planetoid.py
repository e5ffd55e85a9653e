import pickle
import shutil

import numpy as np
import pytest

from graphreach.datasets import load, planetoid
from graphreach.errors import InputError

COUNTS = {
    "cora": (2_708, 5_278, 1_433, 7),
    "citeseer": (3_327, 4_552, 3_703, 6),
    "pubmed": (19_717, 44_324, 500, 3),
}
LISTED = {"cora": 5_429, "citeseer": 4_732, "pubmed": 44_338}
"""Half of all entries in the lists of neighbours: the edges of the paper's Table 2 (5.4K, 4.7K)."""


def read(data_root, name, part):
    """The standard reader; only for the files of the mirror, whose checksums other tests verify."""
    with (data_root / name / f"ind.{name}.{part}").open("rb") as file:
        return planetoid._Reader(file, encoding="latin1").load()


@pytest.mark.parametrize("name", COUNTS)
def test_counts(data_root, name):
    dataset = load(name, data_root)
    assert (dataset.num_nodes, dataset.num_edges, dataset.num_features, dataset.num_classes) == COUNTS[name]
    lists = read(data_root, name, "graph")
    assert sum(map(len, lists.values())) == 2 * LISTED[name]


@pytest.mark.parametrize("name", COUNTS)
def test_edges_against_the_lists(data_root, name):
    (sample,) = load(name, data_root)
    expected = {
        frozenset((u, v)) for u, neighbours in read(data_root, name, "graph").items() for v in neighbours if u != v
    }
    assert {frozenset(edge) for edge in sample.graph.edge_index.T.tolist()} == expected
    assert sample.graph.ids.tolist() == list(range(COUNTS[name][0]))


@pytest.mark.parametrize("name", COUNTS)
def test_rows_against_the_files(data_root, name):
    (sample,) = load(name, data_root)
    assert (sample.x.dtype, sample.y.dtype) == (np.float32, np.int64)
    x, y = np.full_like(sample.x, np.nan), np.full_like(sample.y, -1)
    known = read(data_root, name, "allx")
    x[: known.shape[0]], y[: known.shape[0]] = known.toarray(), read(data_root, name, "ally").argmax(axis=1)
    rows, classes = read(data_root, name, "tx").toarray(), read(data_root, name, "ty")
    lines = (data_root / name / f"ind.{name}.test.index").read_text().split()
    for line, row, one_hot in zip(lines, rows, classes, strict=True):
        x[int(line)], y[int(line)] = row, one_hot.argmax()
    unknown = np.flatnonzero(y < 0)
    assert len(unknown) == (15 if name == "citeseer" else 0)
    x[unknown], y[unknown] = 0, 0
    np.testing.assert_array_equal(sample.x, x)
    np.testing.assert_array_equal(sample.y, y)


def test_first_rows_are_those_of_x_and_y(data_root):
    """The two files that are not read hold nothing else."""
    x, allx = read(data_root, "cora", "x").toarray(), read(data_root, "cora", "allx").toarray()
    np.testing.assert_array_equal(x, allx[: len(x)])


def test_pickles_are_not_read_before_their_checksum(data_root, tmp_path, monkeypatch):
    shutil.copytree(data_root / "cora", tmp_path / "cora", copy_function=shutil.copy)
    (tmp_path / "cora").chmod(0o700)
    path = tmp_path / "cora" / "ind.cora.allx"
    path.chmod(0o600)
    path.write_bytes(pickle.dumps(np.zeros(3)))
    monkeypatch.setattr(planetoid, "read_pickle", lambda data: pytest.fail("a pickle was read"))
    with pytest.raises(InputError, match=r"ind\.cora\.allx must be the file that cora is known by"):
        load("cora", tmp_path)

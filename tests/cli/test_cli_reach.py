import json

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from typer.testing import CliRunner

import graphreach as gr
from graphreach.cli import app
from graphreach.io import results
from graphreach.io.results import read_anchors, write_reachability
from graphreach.reachability.cache import result_arrays


@pytest.fixture
def expected(roads):
    graph = gr.read_graph(roads)
    anchors = gr.select_anchors(graph, 3, seed=1)
    return graph, gr.reachability(graph, anchors, seed=1)


def rows_of(graph, reach):
    """The long form, the slow way."""
    rows = {}
    for v, node in enumerate(graph.ids.tolist()):
        for i, anchor in enumerate(graph.ids[reach.anchors].tolist()):
            pair = float(reach.to_anchors[v, i]), float(reach.from_anchors[v, i])
            if any(pair):
                rows[node, anchor] = pair
    return rows


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("block", [1, 5, 1 << 20])
def test_parquet_is_long_with_ids(run, roads, expected, tmp_path, layout, block, monkeypatch):
    monkeypatch.setattr(results, "BLOCK_ENTRIES", block)
    path = tmp_path / "reach.parquet"
    result = run("reach", roads, "-o", path, "-k", 3, "--seed", 1, "--layout", layout)
    assert (result.exit_code, result.stdout) == (0, "")
    frame = pl.read_parquet(path)
    assert frame.schema == {
        "node": pl.String,
        "anchor": pl.String,
        "to_anchor": pl.Float32,
        "from_anchor": pl.Float32,
    }
    assert {(node, anchor): (to, back) for node, anchor, to, back in frame.iter_rows()} == rows_of(*expected)


def test_npz_needs_no_pickle(run, roads, expected, tmp_path):
    path = tmp_path / "reach.npz"
    run("reach", roads, "-o", path, "-k", 3, "--seed", 1)
    graph, reach = expected
    with np.load(path, allow_pickle=False) as file:
        np.testing.assert_array_equal(file["to_anchors"], reach.to_anchors)
        np.testing.assert_array_equal(file["from_anchors"], reach.from_anchors)
        assert file["ids"].tolist() == graph.ids.tolist()
        assert file["anchors"].tolist() == graph.ids[reach.anchors].tolist()
        parameters = json.loads(str(file["parameters"]))
    assert parameters == {
        "method": "walks",
        "similarity": "frequency",
        "num_walks": 50,
        "walk_length": 4,
        "hops": None,
        "seed": 1,
    }


def test_npz_with_csr_parts(run, roads, expected, tmp_path):
    path = tmp_path / "reach.npz"
    run("reach", roads, "-o", path, "-k", 3, "--seed", 1, "--layout", "csr")
    with np.load(path, allow_pickle=False) as file:
        parts = tuple(file[f"from_anchors_{part}"] for part in ("data", "indices", "indptr"))
        matrix = csr_array(parts, shape=file["from_anchors_shape"])
    np.testing.assert_array_equal(matrix.toarray(), expected[1].from_anchors)


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_hops_are_a_column(run, roads, tmp_path, layout):
    path = tmp_path / "reach.parquet"
    run("reach", roads, "-o", path, "-k", 2, "--hops", 3, "--method", "exact", "--layout", layout)
    frame = pl.read_parquet(path)
    assert frame.columns == ["node", "anchor", "hop", "to_anchor", "from_anchor"]
    graph = gr.read_graph(roads)
    anchors = gr.select_anchors(graph, 2)
    reach = gr.reachability(graph, anchors, method="exact", hops=3)
    assert set(frame["hop"]) == {1, 2, 3}
    for node, anchor, hop, to, back in frame.iter_rows():
        v, i = graph.index_of(node), anchors.anchors.tolist().index(graph.index_of(anchor))
        assert (to, back) == (reach.to_anchors[v, i, hop - 1], reach.from_anchors[v, i, hop - 1])


@pytest.mark.parametrize("suffix", ["txt", "csv", "json"])
def test_anchors_are_reused(run, roads, tmp_path, suffix):
    anchors, path = tmp_path / f"anchors.{suffix}", tmp_path / "reach.parquet"
    run("anchors", roads, "-k", 2, "--strategy", "random", "--seed", 9, "-o", anchors)
    chosen = run("anchors", roads, "-k", 2, "--strategy", "random", "--seed", 9).stdout.split()
    assert run("reach", roads, "-o", path, "--anchors", anchors, "--method", "exact").exit_code == 0
    assert set(pl.read_parquet(path)["anchor"]) == set(chosen)


def test_anchors_of_integer_ids_are_reused(run, tmp_path):
    graph, anchors, path = tmp_path / "edges.txt", tmp_path / "a.json", tmp_path / "reach.parquet"
    graph.write_text("10 20\n20 30\n")
    anchors.write_text("[20]")
    assert run("reach", graph, "-o", path, "--anchors", anchors).exit_code == 0
    assert pl.read_parquet(path)["anchor"].to_list() == [20, 20, 20]


def test_anchors_by_kind_and_by_text(tmp_path):
    graph = gr.Graph.from_edge_list([(1, "1"), ("1", "b"), ("b", (2, 3))])
    path = tmp_path / "a.json"
    path.write_text('["b", 1, "1", "(2, 3)"]')
    ids = graph.ids[read_anchors(path, graph)].tolist()
    assert ids == ["b", 1, "1", (2, 3)]


def test_ids_of_other_kinds_are_written_as_text(tmp_path):
    graph = gr.Graph.from_edge_list([((0, 0), (0, 1)), ((0, 1), (1, 1))])
    reach = gr.reachability(graph, [1], walk_length=2)
    for suffix in results.REACH_SUFFIXES:
        write_reachability(tmp_path / f"reach{suffix}", graph.ids, reach, result_arrays(reach))
    with np.load(tmp_path / "reach.npz", allow_pickle=False) as file:
        assert file["anchors"].tolist() == ["(0, 1)"]
    assert set(pl.read_parquet(tmp_path / "reach.parquet")["anchor"]) == {"(0, 1)"}


def test_order_similarity_and_auto_method(run, roads, tmp_path):
    path = tmp_path / "reach.npz"
    result = run("reach", roads, "-o", path, "--similarity", "order", "--method", "auto", "--walk-length", 3)
    assert result.exit_code == 0
    assert "similarity=order" in result.stderr


def test_cache_is_filled_and_used(run, roads, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHREACH_CACHE", str(tmp_path / "cache"))
    first, second = tmp_path / "first.npz", tmp_path / "second.npz"
    run("reach", roads, "-o", first, "--cache")
    (stored,) = (tmp_path / "cache").rglob("*.npz")
    written = stored.stat().st_mtime_ns
    run("reach", roads, "-o", second, "--cache")
    assert stored.stat().st_mtime_ns == written
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("suffix", ["parquet", "npz"])
def test_failure_midway_leaves_the_old_file(run, roads, tmp_path, monkeypatch, suffix):
    path = tmp_path / f"reach.{suffix}"
    path.write_text("old")

    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(results, "_long_form", fail)
    monkeypatch.setattr(np.lib.format, "write_array", fail)
    result = CliRunner().invoke(app, ["reach", str(roads), "-o", str(path), "-k", "2"])
    assert result.exit_code == 1
    assert path.read_text() == "old"
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([path.name, roads.name])


def test_exit_and_message_when_the_disk_is_full(run, roads, tmp_path, monkeypatch):
    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    target = tmp_path / "reach.npz"
    result = run("reach", roads, "-o", target)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == f"graphreach: error: {target}: No space left on device"

"""graphreach nearest."""

import json

import numpy as np
import polars as pl
import pytest

import graphreach as gr
from graphreach.cli import nearest
from graphreach.io.embeddings import SUFFIXES, write_embedding


@pytest.fixture
def vectors():
    return np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)


@pytest.fixture
def embedding(tmp_path, vectors):
    path = tmp_path / "z.parquet"
    write_embedding(path, np.array([f"street {i}" for i in range(30)]), [vectors], 4)
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("metric", ["cosine", "dot"])
def test_listed_nodes_of_any_file(run, tmp_path, vectors, suffix, metric):
    path = tmp_path / f"z{suffix}"
    write_embedding(path, np.arange(30) * 10, [vectors], 4)
    done = run("nearest", path, "--id", 70, "--id", 0, "--top", 3, "--metric", metric)
    assert done.exit_code == 0, done.output
    frame = pl.read_csv(done.stdout.encode())
    positions, scores = gr.nearest_nodes(vectors, [7, 0], 3, metric)
    assert frame.columns == ["node", "partner", "similarity", "rank"]
    assert frame["node"].to_list() == [70] * 3 + [0] * 3
    assert frame["partner"].to_list() == (positions * 10).ravel().tolist()
    assert frame["similarity"].to_list() == pytest.approx(scores.ravel().tolist(), rel=1e-4)
    assert frame["rank"].to_list() == [1, 2, 3] * 2


def test_all_nodes_to_files(run, embedding, tmp_path, monkeypatch):
    monkeypatch.setattr(nearest, "ROWS", 7)
    written = []
    for suffix in ("csv", "parquet", "json"):
        path = tmp_path / f"near.{suffix}"
        done = run("nearest", embedding, "--all", "--top", 2, "-o", path)
        assert done.exit_code == 0, done.output
        assert done.stdout == ""
        assert f"60 rows are in {path}" in done.stderr
        written.append(getattr(pl, f"read_{suffix}")(path))
    assert written[0].equals(written[1])
    assert written[0].equals(written[2].select(written[0].columns))
    printed = json.loads(run("nearest", embedding, "--all", "--top", 2, "--json").stdout)
    assert pl.DataFrame(printed).equals(written[0])
    alone = run("nearest", embedding, "--id", "street 7", "--top", 2, "--json").stdout
    assert json.loads(alone) == [row for row in printed if row["node"] == "street 7"]


def test_one_node_has_no_partners(run, tmp_path):
    (tmp_path / "z.csv").write_text("id,z0\na,1\n")
    done = run("nearest", tmp_path / "z.csv", "--id", "a")
    assert (done.exit_code, done.stdout) == (0, "node,partner,similarity,rank\n")


def test_many_nodes(run, embedding, monkeypatch):
    sentence = "nearest nodes of so many nodes are approximate; --exact compares all pairs"
    expected = run("nearest", embedding, "--all").stdout
    monkeypatch.setattr(nearest, "EXACT_NODES", 20)
    assert sentence in run("nearest", embedding, "--all").stderr
    for words in (("--all", "--exact"), ("--all", "--metric", "dot"), ("--id", "street 1")):
        assert sentence not in run("nearest", embedding, *words).stderr
    assert run("nearest", embedding, "--all", "--exact").stdout == expected


def test_mistakes_are_one_line(run, embedding, tmp_path):
    (tmp_path / "twice.csv").write_text("id,z0\na,1\nb,2\na,3\n")
    (tmp_path / "nan.csv").write_text("id,z0\na,1\nb,NaN\n")
    for words, sentence in (
        ((embedding,), "one of --id (with the id of a node, repeatable) and --all must be given, got neither"),
        ((embedding, "--all", "--id", "street 1"), "must be given, got both"),
        ((embedding, "--id", "stret 12"), "got 'stret 12'; did you mean 'street 12'?"),
        ((embedding, "--id", "street 1", "--exact"), "--exact must go with --all"),
        (
            (embedding, "--all", "--metric", "dott"),
            "--metric must be \"cosine\" or \"dot\", got 'dott'; did you mean 'dot'?",
        ),
        (
            (embedding, "--all", "-o", tmp_path / "out.xlsx"),
            "--output must end in .csv, .parquet or .json, got out.xlsx",
        ),
        ((tmp_path / "none.csv", "--all"), "none.csv"),
        ((tmp_path / "twice.csv", "--all"), "ids must be distinct, got 'a' more than once"),
        ((tmp_path / "nan.csv", "--all"), "vectors must be finite, got 1 that are not"),
    ):
        done = run("nearest", *words)
        assert done.exit_code == 2, (words, done.output)
        assert sentence in done.stderr
        assert len(done.stderr.splitlines()) == 1

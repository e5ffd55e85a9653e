"""``graphreach evaluate-embedding`` on embeddings of all formats, with labels of one and of several kinds."""

import json

import numpy as np
import polars as pl
import pytest

import graphreach as gr
from graphreach.io.embeddings import write_embedding

NAMES = np.array([f"street {i}" for i in range(40)])
INTERESTS = [["go"], ["go", "chess"], ["chess"], ["judo", "go"]]


def vectors(ids=NAMES, seed=0):
    rng = np.random.default_rng(seed)
    kind = np.arange(len(ids)) % 4
    return (np.eye(4)[kind] + 0.2 * rng.standard_normal((len(ids), 4))).astype(np.float32)


@pytest.fixture
def several(tmp_path):
    """Interests of 36 of the streets, and of two that have no vector."""
    rows = [(name, each) for at, name in enumerate(NAMES[:36]) for each in INTERESTS[at % 4]]
    rows += [("nowhere", "go"), ("nowhere", "judo"), ("elsewhere", "go")]
    pl.DataFrame(rows, schema=["id", "label"], orient="row").write_csv(tmp_path / "labels.csv")
    return tmp_path / "labels.csv"


def truth():
    classes = ["chess", "go", "judo"]
    return np.array([[each in INTERESTS[at % 4] for each in classes] for at in range(36)])


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npy", ".npz"])
@pytest.mark.parametrize("counts", ["known", "unknown"])
def test_embeddings_of_all_formats(run, tmp_path, several, suffix, counts):
    path = tmp_path / f"z{suffix}"
    shuffled = np.random.default_rng(1).permutation(40)
    write_embedding(path, NAMES[shuffled], [vectors()[shuffled]], 4)
    result = run("evaluate-embedding", path, "--labels", several, "--repeats", 2, "--counts", counts, "--json")
    assert result.exit_code == 0
    assert "36 nodes have a vector and labels" in result.stderr
    assert "18 of 36 nodes have several labels: up to 2, 1.5 on average" in result.stderr
    assert "left out: 4 nodes with a vector but no label" in result.stderr
    assert "left out: 2 nodes with labels but no vector" in result.stderr
    found = json.loads(result.stdout)
    assert {key: found[key] for key in ("nodes", "without_labels", "without_vector", "labels")} == {
        "nodes": 36, "without_labels": 4, "without_vector": 2, "labels": 3,
    }  # fmt: skip
    assert [each["share"] for each in found["scores"]] == [0.1, 0.5, 0.9]
    assert found["scores"][2]["micro_f1"] > 0.85


def test_numbers_are_those_of_the_library(run, tmp_path, several):
    path = tmp_path / "z.npz"
    write_embedding(path, NAMES, [vectors()], 4)
    result = run("evaluate-embedding", path, "--labels", several, "--shares", "0.3,0.6", "--repeats", 3, "--json")
    expected = gr.tasks.judge_embedding(vectors()[:36], truth(), [0.3, 0.6], 3)
    # Nodes of the file are in the order of its rows.
    assert json.loads(result.stdout)["scores"] == [each._asdict() for each in expected]


def test_word2vec_text_of_a_stranger_and_a_table(run, tmp_path):
    path, labels = tmp_path / "z.emb", tmp_path / "labels.txt"
    rows = vectors(range(40))
    path.write_text("40 4\n" + "".join(f"{at} {' '.join(map(str, row))}\n" for at, row in enumerate(rows)))
    labels.write_text("".join(f"{at} {at % 4}\n" for at in range(40)))
    output = tmp_path / "scores.csv"
    result = run("evaluate-embedding", path, "--labels", labels, "--repeats", 1, "-o", output)
    assert result.exit_code == 0
    assert "40 nodes have a vector and labels" in result.stderr
    assert "left out" not in result.stderr
    assert "micro F1" in result.stdout
    assert "±" not in result.stdout
    frame = pl.read_csv(output)
    assert frame["share"].to_list() == [0.1, 0.5, 0.9]
    assert frame["micro_f1_std"].null_count() == 3
    assert "±" in run("evaluate-embedding", path, "--labels", labels, "--repeats", 2).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shares", "half"], "--shares must be numbers with commas between, such as 0.1,0.5, got 'half'"),
        (["--shares", "1.5"], "shares must be above 0 and at most 1, got 1.5"),
        (["--counts", "some"], '--counts must be "known" or "unknown", got \'some\''),
        (["-o", "scores.txt"], "--output must end in .csv or .parquet, got scores.txt"),
    ],
)
def test_refused_options(run, tmp_path, several, options, message):
    write_embedding(tmp_path / "z.npz", NAMES, [vectors()], 4)
    result = run("evaluate-embedding", tmp_path / "z.npz", "--labels", several, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_ids_that_are_there_twice_are_refused(run, tmp_path, several):
    write_embedding(tmp_path / "z.npz", np.array(["a", "b", "a"]), [vectors()[:3]], 4)
    result = run("evaluate-embedding", tmp_path / "z.npz", "--labels", several)
    assert result.exit_code == 2
    assert "must have each id once, got 'a' more than once" in result.stderr


def test_labels_of_other_nodes_are_refused(run, tmp_path, several):
    write_embedding(tmp_path / "z.npz", np.array(["a", "b", "c"]), [vectors()[:3]], 4)
    result = run("evaluate-embedding", tmp_path / "z.npz", "--labels", several)
    assert result.exit_code == 2
    assert "must have ids of nodes (such as 'a', 'b', 'c')" in result.stderr


def test_a_file_without_vectors_is_refused(run, tmp_path, several):
    (tmp_path / "z.emb").write_text("0 1\n")
    for words in (("evaluate-embedding", "--labels", several), ("nearest", "--all")):
        result = run(words[0], tmp_path / "z.emb", *words[1:])
        assert result.exit_code == 2
        assert "z.emb must hold vectors, got none" in result.stderr

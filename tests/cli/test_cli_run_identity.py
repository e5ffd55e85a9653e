"""A run's folder answers for the data it was trained on, and for no others."""

import json

import numpy as np
import pytest

QUICK = ("--set", "num_anchors=4", "--set", "evaluate_every=1", "--epochs", "2")


def write_edges(path, seed, edges=150):
    ends = np.random.default_rng(seed).integers(0, 40, (2, edges))
    path.write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in ends.T))
    return path


@pytest.fixture
def two(tmp_path):
    return write_edges(tmp_path / "a.csv", 0), write_edges(tmp_path / "b.csv", 1)


def refused(done, *words):
    assert done.exit_code == 2, done.output
    last = done.stderr.splitlines()[-1]
    assert all(word in last for word in ("holds a run on", "choose another folder, or delete it", *words)), last


def test_train_on_another_graph_in_the_same_folder_is_refused_and_the_source_stays(run, two, tmp_path):
    folder = tmp_path / "run"
    assert run("train", two[0], "--model", "graphreach", "-o", folder, *QUICK).exit_code == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    refused(run("train", two[1], "--model", "graphreach", "-o", folder, *QUICK), "another graph")
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    assert json.loads((folder / "source.json").read_text())["graph"] == str(two[0])


def test_the_file_grew(run, two, tmp_path):
    assert run("train", two[0], "--model", "graphreach", "-o", tmp_path / "run", *QUICK).exit_code == 0
    grown = write_edges(tmp_path / "more.csv", 2, 400).read_text().partition("\n")[2]
    two[0].write_text(two[0].read_text() + grown)
    again = run("train", two[0], "--model", "graphreach", "-o", tmp_path / "run", *QUICK)
    refused(again, "40 nodes and", "there, 40 nodes and")


def test_the_same_graph_elsewhere_is_the_same_run(run, two, tmp_path):
    first = run("train", two[0], "--model", "graphreach", "-o", tmp_path / "run", *QUICK, "--json")
    moved = two[0].rename(tmp_path / "moved.csv")
    again = run("train", moved, "--model", "graphreach", "-o", tmp_path / "run", *QUICK, "--json")
    assert json.loads(again.stdout) == json.loads(first.stdout)
    assert json.loads((tmp_path / "run" / "source.json").read_text())["graph"] == str(moved)


@pytest.mark.parametrize(
    ("option", "there", "here"),
    [
        ("--labels", "id,label\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(40)),
         "id,label\n" + "".join(f"{i},{'xy'[i // 20]}\n" for i in range(40))),
        ("--labels", "id,label\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(40)),
         "id,label\n" + "".join(f"{i},{'uv'[i % 2]}\n" for i in range(40))),
        ("--features", "id,u\n" + "".join(f"{i},{i}\n" for i in range(40)),
         "id,u\n" + "".join(f"{i},{i * i}\n" for i in range(40))),
    ],
    ids=["other labels", "other names of classes", "other features"],
)  # fmt: skip
def test_other_labels_and_features_are_refused(run, two, tmp_path, option, there, here):
    table = tmp_path / "table.csv"
    words = ("train", two[0], "--model", "graphreach", "-o", tmp_path / "run", option, table, *QUICK)
    words += ("--task", "node") if option == "--labels" else ("--task", "link")
    table.write_text(there)
    done = run(*words)
    assert done.exit_code == 0, done.output
    table.write_text(here)
    refused(run(*words), f"other {option[2:]}")


def test_a_grown_graph_keeps_its_anchors_and_another_one_is_refused(run, two, tmp_path):
    folder, truth = tmp_path / "run", tmp_path / "truth.csv"
    assert run("train", two[0], "--model", "graphreach", "-o", folder, *QUICK).exit_code == 0
    truth.write_text("source,target,label\n1,2,1\n1,30,0\n5,6,1\n7,31,0\n")
    grown, other = tmp_path / "grown.csv", tmp_path / "other.csv"
    grown.write_text(two[0].read_text() + "3,a new one\n")
    words = ("evaluate", folder, "--pairs", truth, "--json")
    same, more = run(*words), run(*words, "--graph", grown)
    assert more.exit_code == 0, more.output
    assert "lacks" not in more.stderr
    for name, value in json.loads(same.stdout).items():
        assert json.loads(more.stdout)[name] == pytest.approx(value, abs=0.26)
    other.write_text("source,target\n" + "".join(f"n{a},n{b}\n" for a, b in np.arange(60).reshape(-1, 2)))
    done = run("predict", folder, "--pairs", truth, "--graph", other)
    assert done.exit_code == 2
    assert "without 4 of 4" in done.stderr
    assert "--new-anchors" in done.stderr
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("source,target\nn0,n1\n")
    assert run("predict", folder, "--pairs", pairs, "--graph", other, "--new-anchors").exit_code == 0


def test_predict_says_that_the_runs_graph_has_changed(run, two, tmp_path):
    folder, pairs = tmp_path / "run", tmp_path / "pairs.csv"
    assert run("train", two[0], "--model", "graphreach", "-o", folder, *QUICK).exit_code == 0
    pairs.write_text("source,target\n1,2\n")
    assert "has changed" not in run("predict", folder, "--pairs", pairs).stderr
    two[0].write_text(two[1].read_text())
    done = run("predict", folder, "--pairs", pairs)
    assert done.exit_code == 0, done.output
    assert "warning: the run's graph has changed since it was trained, it is another graph (40 nodes and" in done.stderr
    done = run("report", folder, "-o", tmp_path / "page.html")
    assert done.exit_code == 2
    assert "RUN must have the graph and labels it was trained with, got another graph" in done.stderr

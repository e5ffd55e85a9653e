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
    assert run("train", two[0], "-o", folder, *QUICK).exit_code == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    refused(run("train", two[1], "-o", folder, *QUICK), "another graph")
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    assert json.loads((folder / "source.json").read_text())["graph"] == str(two[0])


def test_the_file_grew(run, two, tmp_path):
    assert run("train", two[0], "-o", tmp_path / "run", *QUICK).exit_code == 0
    grown = write_edges(tmp_path / "more.csv", 2, 400).read_text().partition("\n")[2]
    two[0].write_text(two[0].read_text() + grown)
    refused(run("train", two[0], "-o", tmp_path / "run", *QUICK), "40 nodes and", "there, 40 nodes and")


def test_the_same_graph_elsewhere_is_the_same_run(run, two, tmp_path):
    first = run("train", two[0], "-o", tmp_path / "run", *QUICK, "--json")
    moved = two[0].rename(tmp_path / "moved.csv")
    again = run("train", moved, "-o", tmp_path / "run", *QUICK, "--json")
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
    words = ("train", two[0], "-o", tmp_path / "run", option, table, *QUICK)
    words += ("--task", "node") if option == "--labels" else ("--task", "link")
    table.write_text(there)
    done = run(*words)
    assert done.exit_code == 0, done.output
    table.write_text(here)
    refused(run(*words), f"other {option[2:]}")

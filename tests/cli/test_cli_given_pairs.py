"""train and compare on links that the user has drawn, on the past, and on two kinds of nodes."""

import json

import numpy as np
import polars as pl
import pytest

import graphreach as gr

FAST = ("--model", "common-neighbours")
QUICK = ("--model", "graphreach", "--set", "num_anchors=6", "--set", "evaluate_every=2", "--epochs", "4")


@pytest.fixture
def tables(streets, tmp_path):
    """Tables of streets, 15 links to test on and 10 to choose by, which the graph holds."""
    edges = pl.read_csv(streets["graph"]).filter(pl.col("from") != pl.col("to"))
    edges = edges.filter(
        pl.struct(low=pl.min_horizontal("from", "to"), high=pl.max_horizontal("from", "to")).is_unique()
    )
    chosen = edges.sample(25, seed=0, shuffle=True)
    files = {"graph": streets["graph"], "test": tmp_path / "test.csv", "val": tmp_path / "val.csv"}
    chosen[:15].rename({"from": "u", "to": "v"}).write_csv(files["test"])
    chosen[15:].rename({"from": "u", "to": "v"}).write_csv(files["val"])
    return files


def test_links_of_the_test_are_those_of_the_file(run, tables, tmp_path):
    folder = tmp_path / "run"
    words = ("--test-pairs", tables["test"], "--val-pairs", tables["val"])
    done = run("train", tables["graph"], *words, "-o", folder, *FAST, "--json")
    assert done.exit_code == 0, done.output
    assert "all pairs are links" in done.stderr
    record = json.loads(done.stdout)
    assert record["settings"]["protocol"] == "given"
    assert record["test_examples"] == 30
    assert record["leaks"] == ["link, given: no leak"]
    source = json.loads((folder / "source.json").read_text())
    assert (source["test_pairs"], source["val_pairs"]) == (str(tables["test"]), str(tables["val"]))
    assert run("train", tables["graph"], *words, "-o", folder, *FAST, "--json").exit_code == 0
    edges = tables["test"].read_text().splitlines()
    tables["test"].write_text("\n".join(edges[:-3]) + "\n")
    other = run("train", tables["graph"], *words, "-o", folder, *FAST)
    assert other.exit_code == 2
    assert "another split of the data" in other.stderr


def test_labels_of_the_pairs_are_their_truth(run, tables, tmp_path):
    graph = gr.read_graph(tables["graph"])
    linked = graph.to_scipy().toarray() > 0
    others = np.argwhere(~linked & (np.arange(40)[:, None] < np.arange(40)))[:40]
    rows = [f"{graph.ids[u]},{graph.ids[v]},0" for u, v in others]
    lines = tables["test"].read_text().splitlines()
    tables["test"].write_text("\n".join([lines[0] + ",label", *(f"{line},1" for line in lines[1:]), *rows]) + "\n")
    done = run("train", tables["graph"], "--test-pairs", tables["test"], "-o", tmp_path / "run", *FAST, "--json")
    assert json.loads(done.stdout)["test_examples"] == 55
    wrong = tmp_path / "wrong.csv"
    wrong.write_text(tables["test"].read_text() + lines[1] + ",0\n")
    done = run("train", tables["graph"], "--test-pairs", wrong, "-o", tmp_path / "wrong", *FAST)
    assert done.exit_code == 2
    assert "1 of 41 test negatives are validation or test positives" in done.stderr


def test_a_run_on_given_pairs_can_be_looked_at(run, tables, tmp_path):
    folder = tmp_path / "run"
    done = run("train", tables["graph"], "--test-pairs", tables["test"], "-o", folder, *QUICK)
    assert done.exit_code == 0, done.output
    assert "leak check: link, given: no leak" in done.stdout
    attacked = run("attack", folder)
    assert attacked.exit_code == 0, attacked.output
    tables["test"].unlink()
    gone = run("attack", folder)
    assert gone.exit_code == 2
    assert f"RUN must have its test pairs at {tables['test']}" in gone.stderr


def test_compare_takes_them_too(run, tables, tmp_path):
    words = ("--models", "common-neighbours,adamic-adar", "--seeds", 2, "--json", "-o", tmp_path / "runs")
    done = run("compare", tables["graph"], "--test-pairs", tables["test"], *words)
    assert done.exit_code == 0, done.output
    assert [row["model"] for row in json.loads(done.stdout)] == ["common-neighbours", "adamic-adar"]
    assert "link, split given" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--val-pairs", "val.csv"], "--val-pairs must go with --test-pairs, got val.csv without"),
        (["--protocol", "given"], "--test-pairs must be given for protocol 'given'"),
        (["--test-pairs", "test.csv", "--protocol", "clean"], "--test-pairs must go without a protocol"),
        (["--test-pairs", "test.csv", "--task", "pair"], "--test-pairs must go with task link, got task pair"),
        (
            ["--test-pairs", "test.csv", "--keep-connected"],
            "--keep-connected must go without --test-pairs, as they are the",
        ),
        (["--test-pairs", "missing.csv"], "missing.csv"),
    ],
)
def test_wrong_words_are_one_line(run, tables, tmp_path, words, sentence):
    done = run("train", tables["graph"], *words, "-o", tmp_path / "run", *FAST)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_data_set_has_its_own_pairs(run, tables, tmp_path):
    done = run("train", "grid", "--test-pairs", tables["test"], "-o", tmp_path / "run", *FAST)
    assert done.exit_code == 2
    assert "--test-pairs must go with a file" in done.stderr


def test_the_past_and_the_future(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = "".join(f"{1600000000 + i} {u} {v}\n" for i, (u, v) in enumerate(rng.integers(0, 40, (300, 2)).tolist()))
    (tmp_path / "log.txt").write_text(rows)
    done = run("train", tmp_path / "log.txt", "--protocol", "time", "-o", tmp_path / "run", *FAST, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["leaks"] == ["link, time: no leak"]
    said = "edges have times; --protocol time trains on the past, and this split is random"
    assert said not in done.stderr
    words = ("--model", "common-neighbours", "-o")
    assert said in run("train", tmp_path / "log.txt", *words, tmp_path / "random").stderr
    words = ("--models", "common-neighbours", "--seeds", 1, "-o", tmp_path / "runs")
    assert said in run("compare", tmp_path / "log.txt", *words).stderr
    (tmp_path / "plain.txt").write_text("".join(row.partition(" ")[2] for row in rows.splitlines(keepends=True)))
    done = run("train", tmp_path / "plain.txt", "--protocol", "time", "-o", tmp_path / "other", *FAST)
    assert done.exit_code == 2
    assert "protocol 'time' must have a graph with times of its edges" in done.stderr


def test_negatives_of_two_kinds_of_nodes_are_said(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = "".join(f"{u},{v}\n" for u, v in zip(rng.integers(0, 30, 200), rng.integers(0, 20, 200), strict=True))
    (tmp_path / "ratings.csv").write_text("user,item\n" + rows)
    said = "negatives are between the two kinds of nodes; --set bipartite=false draws them among all"
    folder = tmp_path / "run"
    done = run("train", tmp_path / "ratings.csv", "-o", folder, "--model", "reachability", "--json")
    assert done.exit_code == 0, done.output
    assert said in done.stderr
    done = run("train", tmp_path / "ratings.csv", "-o", tmp_path / "all", *FAST, "--set", "bipartite=false")
    assert done.exit_code == 0, done.output
    assert said not in done.stderr


def test_settings_of_the_split(run, streets, tmp_path):
    words = ("--set", "negatives=degree", "--set", "keep_connected=true", "--json")
    done = run("train", streets["graph"], "-o", tmp_path / "run", *FAST, *words)
    settings = json.loads(done.stdout)["settings"]
    assert (settings["negatives"], settings["keep_connected"], settings["bipartite"]) == ("degree", True, None)

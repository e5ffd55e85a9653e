"""train, predict, evaluate, compare and embed on files with the user's own ids."""

import json

import numpy as np
import polars as pl
import pytest

QUICK = ("--set", "num_anchors=6", "--set", "evaluate_every=2", "--epochs", "4")


@pytest.fixture
def town(tmp_path):
    """Two quarters of streets, with districts and sizes."""
    rng = np.random.default_rng(0)
    names = np.array([f"street {i}" for i in range(40)])
    half = rng.integers(0, 20, (2, 90))
    ends = np.concatenate([half, rng.integers(20, 40, (2, 90)), [[0], [20]]], 1)
    files = {"graph": tmp_path / "town.csv", "labels": tmp_path / "labels.csv", "features": tmp_path / "x.parquet"}
    pl.DataFrame({"from": names[ends[0]], "to": names[ends[1]]}).write_csv(files["graph"])
    pl.DataFrame({"id": names, "label": ["west"] * 20 + ["east"] * 20}).write_csv(files["labels"])
    pl.DataFrame({"id": names, "a": rng.random(40), "b": rng.random(40)}).write_parquet(files["features"])
    return files


def test_train_predict_and_evaluate_links(run, town, tmp_path):
    folder = tmp_path / "run"
    done = run("train", town["graph"], "--task", "link", "--model", "graphreach", "-o", folder, *QUICK, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["settings"]["task"] == "link"
    assert json.loads((folder / "record.json").read_text())["metrics"]["test"]
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("source,target\nstreet 1,street 2\nstreet 1,street 30\n")
    table = pl.read_csv(run("predict", folder, "--pairs", pairs).stdout.encode())
    assert table.columns == ["source", "target", "score", "rank", "percentile"]
    assert table["source"].to_list() == ["street 1", "street 1"]
    assert table["score"].is_between(0, 1).all()
    out = tmp_path / "scores.parquet"
    assert run("predict", folder, "--pairs", pairs, "-o", out).exit_code == 0
    assert pl.read_parquet(out)["score"].to_list() == pytest.approx(table["score"].to_list(), abs=1e-6)
    assert "test auc" in run("evaluate", folder).stdout
    truth = tmp_path / "truth.csv"
    truth.write_text("source,target,label\nstreet 1,street 2,1\nstreet 1,street 30,0\n")
    assert set(json.loads(run("evaluate", folder, "--pairs", truth, "--json").stdout)) == {"auc", "ap"}


def test_unknown_ids_get_a_sentence_that_lists_a_few(run, town, tmp_path):
    folder = tmp_path / "run"
    run("train", town["graph"], "--model", "graphreach", "-o", folder, *QUICK)
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("source,target\nstreet 1,nowhere\nelsewhere,street 30\n")
    done = run("predict", folder, "--pairs", pairs)
    assert done.exit_code == 2
    assert "nowhere" in done.stderr.splitlines()[-1]


def test_classes_of_nodes_by_name(run, town, tmp_path):
    folder = tmp_path / "run"
    options = ("--labels", town["labels"], "--features", town["features"])
    done = run("train", town["graph"], "--task", "node", *options, "--model", "graphreach", "-o", folder, *QUICK)
    assert done.exit_code == 0, done.output
    nodes = tmp_path / "nodes.csv"
    nodes.write_text('id\n"street 3"\n"street 33"\n')
    done = run("predict", folder, "--nodes", nodes, "--json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    assert [row["node"] for row in rows] == ["street 3", "street 33"]
    assert {row["class"] for row in rows} <= {"west", "east"}
    assert rows[0]["p_east"] + rows[0]["p_west"] == pytest.approx(1, abs=1e-5)
    assert "accuracy" in run("evaluate", folder, "--labels", town["labels"]).stdout


def test_a_grown_graph_and_a_graph_that_has_moved(run, town, tmp_path):
    folder, grown = tmp_path / "run", tmp_path / "grown.csv"
    run("train", town["graph"], "--model", "graphreach", "-o", folder, *QUICK)
    grown.write_text(town["graph"].read_text() + "street 1,new street\n")
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("source,target\nstreet 1,new street\n")
    assert run("predict", folder, "--pairs", pairs).exit_code == 2
    assert run("predict", folder, "--pairs", pairs, "--graph", grown).exit_code == 0
    town["graph"].unlink()
    done = run("predict", folder, "--pairs", pairs)
    assert done.exit_code == 2
    assert "--graph must be given" in done.stderr


def test_interrupted_and_repeated_trainings(run, town, tmp_path):
    folder = tmp_path / "run"
    first = run("train", town["graph"], "--model", "graphreach", "-o", folder, *QUICK, "--json")
    again = run("train", town["graph"], "--model", "graphreach", "-o", folder, *QUICK, "--json")
    assert json.loads(first.stdout) == json.loads(again.stdout)
    other = run("train", town["graph"], "--model", "graphreach", "-o", folder, *QUICK, "--seed", 5)
    assert other.exit_code == 2
    assert "seed 0 there and 5 here" in other.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--set", "epoch=3"], "did you mean 'epochs'"),
        (["--task", "nodes"], "task: input should be"),
        (["--model", "graphreech"], "did you mean 'graphreach'"),
        (["--task", "node"], "label"),
        (["--config", "missing.yaml"], "does not exist"),
    ],
)
def test_bad_settings_are_one_line(run, town, tmp_path, words, sentence):
    done = run("train", town["graph"], "-o", tmp_path / "run", *words)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_config_file_and_data_set_by_name(run, tmp_path):
    config = tmp_path / "settings.yaml"
    config.write_text("task: link\nmethod: gcn\nepochs: 2\nevaluate_every: 1\n")
    done = run("train", "grid", "--config", config, "-o", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("gcn, link: test auc")


def test_compare_shows_a_table_and_a_chart(run, town, tmp_path):
    folder = tmp_path / "comparison"
    words = (
        "compare",
        town["graph"],
        "--models",
        "graphreach,gcn,common-neighbours",
        "--seeds",
        2,
        "-o",
        folder,
        *QUICK,
    )
    done = run(*words)
    assert done.exit_code == 0, done.output
    for word in ("graphreach", "gcn", "common-neighbours", "±", "seconds"):
        assert word in done.stdout
    assert (folder / "comparison.png").read_bytes().startswith(b"\x89PNG")
    rows = json.loads(run(*words, "--json").stdout)
    assert [row["model"] for row in rows] == ["graphreach", "gcn", "common-neighbours"]


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npy", ".npz", ".emb"])
def test_embed_writes_the_users_ids(run, town, tmp_path, suffix):
    from graphreach.io.embeddings import read_embedding

    out = tmp_path / f"emb{suffix}"
    if suffix == ".emb":
        town["graph"].write_text(town["graph"].read_text().replace("street ", "street_"))
    done = run("embed", town["graph"], "--method", "paper", "-o", out, "-k", 5, "--epochs", 4, "--no-compare", "--json")
    assert done.exit_code == 0, done.output
    ids, z = read_embedding(out)
    assert z.shape == (40, 5)
    assert sorted(ids.tolist())[0].startswith("street")
    record = json.loads(done.stdout)
    assert list(record["auc"]) == ["graphreach"]
    assert {"reading", "anchors", "reachability", "training", "writing", "total"} <= record["seconds"].keys()


def test_embed_with_features(run, town, tmp_path):
    from graphreach.io.embeddings import read_embedding

    out = tmp_path / "emb.csv"
    done = run(
        "embed",
        town["graph"],
        "--method",
        "paper",
        "--features",
        town["features"],
        "-o",
        out,
        "-k",
        5,
        "--epochs",
        4,
        "--no-compare",
    )
    assert done.exit_code == 0, done.stderr
    ids, z = read_embedding(out)
    assert z.shape == (len(ids), 5 + 32)  # of the anchors, and of the neighbourhood branch beside


def test_embed_compares_on_request(run, town, tmp_path):
    done = run(
        "embed", town["graph"], "--method", "paper", "-o", tmp_path / "emb.csv", "-k", 5, "--epochs", 4, "--compare"
    )
    assert done.exit_code == 0, done.output
    for word in ("graphreach", "common-neighbours", "node2vec"):
        assert word in done.stdout


def test_embed_refuses_before_it_works(run, town, tmp_path):
    assert "must end in" in run("embed", town["graph"], "--method", "paper", "-o", tmp_path / "emb.xlsx").stderr
    tiny = tmp_path / "tiny.csv"
    tiny.write_text("a,b\nb,c\n")
    assert "at least 10 edges" in run("embed", tiny, "--method", "paper", "-o", tmp_path / "emb.csv").stderr
    other = run("embed", town["graph"], "--method", "paper", "-o", tmp_path / "emb.csv", "--set", "method=gcn")
    assert "method must be graphreach, as embed makes its embeddings, got 'gcn'" in other.stderr


def test_verbose_prints_every_setting_of_the_run(run, town, tmp_path):
    words = ("train", town["graph"], "--model", "graphreach", "-o", tmp_path / "run", "--verbose", *QUICK)
    done = run(*words)
    assert done.exit_code == 0, done.output
    for line in ("method: graphreach", "reachability: method exact, similarity frequency", "training: epochs"):
        assert f"graphreach: {line}" in done.stderr
    done = run(
        "embed", town["graph"], "--method", "paper", "-o", tmp_path / "z.npy", "-k", 5, "--epochs", 2, "--verbose"
    )
    assert "graphreach: anchors: num_anchors 5, strategy greedy" in done.stderr


def test_embed_of_a_few_links_says_that_none_is_held_out(run, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("source,target\na,b\nb,c\nc,a\n")
    done = run("embed", path, "-o", tmp_path / "z.csv", "--dim", 6, "--json")
    assert done.exit_code == 0
    assert "too few links to hold any out" in done.stderr
    found = json.loads(done.stdout)
    assert (found["auc"], found["held_out_links"], found["width"]) == ({}, 0, 6)


def test_negatives_and_a_connected_training_graph_are_options(run, town, tmp_path):
    words = ("--negatives", "degree", "--keep-connected", "--set", "fractions=[0.6,0.2,0.2]", "--json")
    done = run("train", town["graph"], "--model", "common-neighbours", "-o", tmp_path / "run", *words)
    assert done.exit_code == 0, done.output
    chosen = json.loads(done.stdout)["settings"]
    assert chosen["negatives"] == "degree"
    assert chosen["keep_connected"] is True
    words = ("--models", "common-neighbours", "--seeds", 1, "-o", tmp_path / "runs", *words)
    assert run("compare", town["graph"], *words).exit_code == 0
    record = json.loads((tmp_path / "runs" / "runs" / "common-neighbours-0" / "record.json").read_text())
    assert (record["settings"]["negatives"], record["settings"]["keep_connected"]) == ("degree", True)
    done = run("train", town["graph"], "--model", "common-neighbours", "-o", tmp_path / "plain", "--json")
    assert json.loads(done.stdout)["settings"]["keep_connected"] is False


def test_negatives_that_there_are_not(run, town, tmp_path):
    done = run("train", town["graph"], "--negatives", "nearby", "-o", tmp_path / "run")
    assert done.exit_code == 2
    assert "got 'nearby'" in done.stderr

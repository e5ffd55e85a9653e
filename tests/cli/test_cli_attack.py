"""graphreach attack on runs of files and of data sets by name."""

import json

import polars as pl
import pytest

SHORT = ("--set", "evaluate_every=2", "--epochs", "4")
QUICK = ("--set", "num_anchors=6", "--set", "evaluate_every=2", "--epochs", "4")


def test_links_of_a_file(run, streets, tmp_path):
    folder = tmp_path / "run"
    run("train", streets["graph"], "--task", "link", "--model", "graphreach", "-o", folder, *QUICK)
    done = run("attack", folder, "--fraction", 0.2)
    assert done.exit_code == 0, done.output
    for word in ("hubs on graphreach, link: 5 groups", "AUC before", "after", "change", "any", "both"):
        assert word in done.stdout
    rows = json.loads(run("attack", folder, "--kind", "noise", "--groups", 2, "--json").stdout)
    assert rows["kind"] == "noise"
    assert rows["any"]["before"] == pytest.approx(
        json.loads((folder / "record.json").read_text())["metrics"]["test"]["auc"]
    )
    one, two = (run("attack", folder, "--seed", seed, "--json").stdout for seed in (1, 1))
    assert one == two


def test_pairs_of_a_file_remember_their_labels(run, streets, tmp_path):
    folder = tmp_path / "run"
    run(
        "train",
        streets["graph"],
        "--task",
        "pair",
        "--labels",
        streets["labels"],
        "--model",
        "pgnn-e",
        "--protocol",
        "published",
        "-o",
        folder,
        *SHORT,
    )
    found = json.loads(run("attack", folder, "--json").stdout)
    assert found == json.loads(run("attack", folder, "--labels", streets["labels"], "--json").stdout)
    assert (found["kind"], found["method"], found["colluders"]) == ("clique", "pgnn-e", [4] * 5)
    done = run("attack", folder, "--labels", streets["labels"], "--kind", "hubs")
    assert done.exit_code == 2
    assert "task link" in done.stderr


def test_a_run_without_a_model_cannot_be_attacked(run, streets, tmp_path):
    folder = tmp_path / "run"
    run("train", streets["graph"], "--task", "link", "--model", "common-neighbours", "-o", folder)
    done = run("attack", folder)
    assert done.exit_code == 2
    assert f"must be of a run with a model, got {folder}, whose method common-neighbours has none" in done.stderr


def test_a_curve_with_its_plot_and_its_figures(run, tmp_path):
    folder, plot = tmp_path / "run", tmp_path / "curve.png"
    run("train", "communities", "--task", "pair", "--model", "pgnn-e", "-o", folder, *SHORT)
    done = run("attack", folder, "--curve", "0.05,0.1", "--groups", 2, "--plot", plot, "--json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    assert [row["fraction"] for row in rows] == [0.05, 0.1]
    assert plot.read_bytes().startswith(b"\x89PNG")
    table = pl.read_csv(tmp_path / "curve.csv")
    assert table["any_after"].to_list() == pytest.approx([row["any"]["after"] for row in rows])


def test_mistakes_are_one_line(run, streets, tmp_path):
    folder = tmp_path / "run"
    run("train", streets["graph"], "--model", "graphreach", "-o", folder, *QUICK)
    for words, sentence in (
        (("--curve", "0.1;0.2"), "--curve must be numbers"),
        (("--plot", tmp_path / "plot.xlsx"), "--plot must end in .png, .pdf or .svg"),
        (("--kind", "hub"), "did you mean 'hubs'"),
        (("--fraction", "7"), "fraction must be above 0 and at most 1, got 7.0"),
    ):
        done = run("attack", folder, *words)
        assert done.exit_code == 2
        assert sentence in done.stderr
        assert len(done.stderr.splitlines()) == 1
    streets["graph"].write_text(streets["graph"].read_text() + "street 1,new street\n")
    assert "graph and labels it was trained with" in run("attack", folder).stderr
    streets["graph"].unlink()
    assert "where it is not any more" in run("attack", folder).stderr


def test_a_run_of_nodes_is_refused(run, streets, tmp_path):
    folder = tmp_path / "run"
    run(
        "train",
        streets["graph"],
        "--task",
        "node",
        "--labels",
        streets["labels"],
        "--model",
        "gcn",
        "-o",
        folder,
        *SHORT,
    )
    done = run("attack", folder, "--labels", streets["labels"])
    assert done.exit_code == 2
    assert "task node" in done.stderr

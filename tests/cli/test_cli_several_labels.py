"""Nodes with several labels from a table to a run, predictions, metrics and a report."""

import json

import numpy as np
import polars as pl
import pytest

import graphreach as gr
from graphreach.tasks.label_sets import f1_scores, likeliest_labels, probable_labels

NAMES = np.array([f"street {i}" for i in range(80)])


def write_nodes(path, names):
    pl.DataFrame({"id": names, "size": range(len(names))}).write_csv(path)


def interests(at):
    """Quarters of 40 streets each, whose streets share one label; every second one has another beside it."""
    return [("west", "east")[at // 40], *(("old", "new")[at // 40] for _ in range(at % 2))]


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """Files of a graph of two quarters and of its labels, and a run on them."""
    from typer.testing import CliRunner

    from graphreach.cli import app

    folder = tmp_path_factory.mktemp("town")
    rng = np.random.default_rng(0)
    ends = np.concatenate([rng.integers(0, 40, (2, 300)), rng.integers(40, 80, (2, 300)), [[0], [40]]], 1)
    pl.DataFrame({"from": NAMES[ends[0]], "to": NAMES[ends[1]]}).write_csv(folder / "streets.csv")
    rows = [(name, label) for at, name in enumerate(NAMES[:70]) for label in interests(at)]
    pl.DataFrame(rows, schema=["id", "label"], orient="row").write_csv(folder / "labels.csv")
    words = ["train", folder / "streets.csv", "--labels", folder / "labels.csv", "-o", folder / "run", "--json"]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.stderr
    return folder, result


CLASSES = ["east", "new", "old", "west"]
METRICS = {"micro_f1", "macro_f1", "micro_f1_unknown", "macro_f1_unknown", "auc"}


def test_training_says_what_was_read_and_measures_by_both_protocols(town):
    _, result = town
    assert "35 of 70 nodes have several labels: up to 2, 1.5 on average" in result.stderr
    record = json.loads(result.stdout)
    assert set(record["metrics"]["test"]) == METRICS
    assert record["test_examples"] == 7
    assert record["metrics"]["test"]["micro_f1"] > 0.6


def test_metrics_are_those_of_the_stored_probabilities(town):
    folder, result = town
    graph = gr.read_graph(folder / "streets.csv")
    truth = np.array([[each in interests(int(str(name).split()[1])) for each in CLASSES] for name in graph.ids])
    truth[[int(str(name).split()[1]) >= 70 for name in graph.ids]] = False
    split = gr.tasks.split(gr.datasets.Sample(graph, y=truth), "node", seed=0)
    outcome = gr.training.run(
        gr.datasets.Sample(graph, y=truth), gr.training.Settings(task="node", method="reach"), None
    )
    scores, label = outcome.scores["test"][0], split.test.label
    known, free = (
        f1_scores(label, likeliest_labels(scores, label.sum(axis=1))),
        f1_scores(label, probable_labels(scores)),
    )
    expected = {
        "micro_f1": known.micro, "macro_f1": known.macro, "micro_f1_unknown": free.micro, "macro_f1_unknown": free.macro,
    }  # fmt: skip
    found = json.loads(result.stdout)["metrics"]["test"]
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    np.testing.assert_array_equal(outcome.scores["test"][0], np.load(folder / "run" / "scores.npz")["test_0"])


def test_predictions_have_one_row_for_each_label(run, town):
    folder, _ = town
    nodes = folder / "nodes.csv"
    write_nodes(nodes, ["street 71", "street 3", "street 78"])
    result = run("predict", folder / "run", "--nodes", nodes)
    assert result.exit_code == 0
    assert "one row for each label with a probability of at least 0.5" in result.stderr
    frame = pl.read_csv(result.stdout.encode())
    assert frame.columns == ["node", "class", *(f"p_{each}" for each in CLASSES)]
    assert frame["node"].unique(maintain_order=True).to_list() == ["street 71", "street 3", "street 78"]
    for node, *_ in frame.group_by("node"):
        own = frame.filter(pl.col("node") == node[0])
        chances = dict(zip(CLASSES, own.row(0)[2:], strict=True))
        likely = [each for each, chance in chances.items() if chance >= 0.5] or [max(chances, key=chances.get)]
        assert own["class"].to_list() == likely
    assert frame.filter(pl.col("node") == "street 71")["class"][0] == "east"


def test_predictions_are_a_table_of_labels(run, town, tmp_path):
    folder, _ = town
    nodes, found = tmp_path / "nodes.csv", tmp_path / "found.csv"
    write_nodes(nodes, NAMES)
    assert run("predict", folder / "run", "--nodes", nodes, "-o", found).exit_code == 0
    result = run("evaluate", folder / "run", "--labels", found, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["micro_f1_unknown"] == 1


def test_all_nodes_are_predicted_where_none_are_named(run, town, tmp_path):
    """The README's "graphreach predict run" was refused."""
    folder, _ = town
    nodes = tmp_path / "nodes.csv"
    write_nodes(nodes, gr.read_graph(folder / "streets.csv").ids)
    named, whole = run("predict", folder / "run", "--nodes", nodes), run("predict", folder / "run")
    assert (whole.exit_code, whole.stdout) == (0, named.stdout)
    assert "all nodes of the graph are predicted" in whole.stderr


def test_evaluation_of_the_run_and_of_other_labels(run, town, tmp_path):
    folder, trained = town
    assert (
        json.loads(run("evaluate", folder / "run", "--json").stdout)["test"]
        == (json.loads(trained.stdout)["metrics"]["test"])
    )
    assert "micro_f1_unknown" in run("evaluate", folder / "run").stdout
    labels = tmp_path / "labels.csv"
    labels.write_text("id,label\n" + "".join(f"street {at},{interests(at)[0]}\n" for at in range(70, 80)))
    found = run("evaluate", folder / "run", "--labels", labels, "--json")
    assert found.exit_code == 0
    assert json.loads(found.stdout)["micro_f1"] >= 0.9


def test_a_run_of_one_class_per_node_refuses_several(run, town, streets, tmp_path):
    assert run("train", streets["graph"], "--labels", streets["labels"], "-o", tmp_path / "run").exit_code == 0
    labels = tmp_path / "more.csv"
    labels.write_text("id,label\nstreet 1,west\nstreet 1,east\n")
    result = run("evaluate", tmp_path / "run", "--labels", labels)
    assert result.exit_code == 2
    assert "--labels must have one label per node, as those of the run had" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "--model", "graphreach", "-o"], "must be reach where nodes have several labels, got 'graphreach'"),
        (["train", "--model", "reach+gcn", "-o"], "must be reach where nodes have several labels, got 'reach+gcn'"),
        (["train", "--task", "pair", "-o"], "y must be one class per node for task pair, got nodes with several labels"),
        (["compare", "-o"], "must be reach where nodes have several labels, got 'graphreach'"),
    ],
)  # fmt: skip
def test_what_learns_one_class_per_node_is_refused(run, town, tmp_path, words, message):
    folder, _ = town
    verb, *others = words
    result = run(verb, folder / "streets.csv", "--labels", folder / "labels.csv", *others, tmp_path / "new")
    assert result.exit_code == 2
    assert message in result.stderr


def test_reports_explanations_and_the_classifier_of_the_run(run, town, tmp_path):
    folder, _ = town
    assert run("explain", folder / "run", "--node", "street 3").exit_code == 0
    classifier = gr.ReachClassifier.load(folder / "run" / "model")
    assert classifier.multilabel_
    result = run("report", folder / "run", "-o", tmp_path / "report.html")
    assert result.exit_code == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "micro_f1_unknown" in page
    assert "several labels" in page


def test_labels_colour_the_nodes_of_a_report_on_links(run, town, tmp_path):
    folder, _ = town
    words = ("--labels", folder / "labels.csv", "--task", "link")
    assert run("train", folder / "streets.csv", *words, "-o", tmp_path / "links").exit_code == 0
    result = run("report", tmp_path / "links", "-o", tmp_path / "report.html")
    assert result.exit_code == 0, result.stderr
    assert "several labels" in (tmp_path / "report.html").read_text(encoding="utf-8")

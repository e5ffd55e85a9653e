"""The page as text: what it holds, and what it must not."""

import base64
import json
import re

import numpy as np
import pytest

import graphreach as gr
from graphreach.report import content, drawing
from report_helpers import NODES, data_of


def test_the_page_stands_alone(quarters):
    page = quarters.page.read_text()
    assert page.startswith("<!doctype html>")
    assert "://" not in page
    assert not re.search(r"<(link|iframe|object|embed)\b|@import|url\(", page)
    assert "default-src 'none'" in page
    assert "two &lt;b&gt;quarters&lt;/b&gt; - graphreach</title>" in page
    assert page.count("</script>") == 2
    assert len(page) < 300_000


def test_its_data_are_those_of_the_run(quarters):
    found, graph = data_of(quarters.page.read_text()), quarters.data[0].graph
    record = json.loads((quarters.run / "record.json").read_text())
    assert found["nodes"]["ids"] == graph.ids.tolist()
    assert found["metrics"]["test"]["auc"] == pytest.approx(record["metrics"]["test"]["auc"], rel=1e-5)
    low, high = found["metrics"]["intervals"]["auc"]
    assert low <= found["metrics"]["test"]["auc"] <= high
    assert len(found["curves"]["loss"]) == 12
    assert [epoch for epoch, _ in found["curves"]["auc"]] == [2, 4, 6, 8, 10, 12]
    split = gr.tasks.split(quarters.data[0], "link")
    assert sum(found["scores"]["positives"]) == split.test.label.sum()
    assert len(found["coverage"]) == len(found["anchors"]["nodes"]) == 8
    assert [group["name"] for group in found["groups"]] == ["label", "community"]
    ends = np.frombuffer(base64.b64decode(found["edges"]["ends"]["data"]), np.uint8)
    assert len(ends) == 2 * graph.num_edges
    assert any("held out" in note for note in found["notes"])


def test_listed_pairs_add_up_and_are_what_they_say(quarters):
    found, graph = data_of(quarters.page.read_text()), quarters.data[0].graph
    split = gr.tasks.split(quarters.data[0], "link")
    with np.load(quarters.run / "scores.npz") as file:
        recorded = dict(zip(map(tuple, split.test.index.T.tolist()), file["test_0"].tolist(), strict=True))
    linked = graph.to_scipy().toarray() > 0
    for each in found["lists"]:
        scores = [pair["score"] for pair in each["pairs"]]
        assert scores == sorted(scores, reverse=each["name"] != "missed")
        for pair in each["pairs"]:
            parts = [value for _, value in pair["terms"]] + [anchor["adds"] for anchor in pair["anchors"]]
            assert sum(parts) + pair["others"]["adds"] == pytest.approx(pair["score"], abs=1e-4)
            assert linked[tuple(pair["nodes"])] == (each["name"] == "missed")
            if each["name"] != "new":
                assert pair["score"] == pytest.approx(recorded[tuple(pair["nodes"])], rel=1e-4, abs=1e-5)


def test_large_graphs_are_shown_in_part(quarters, monkeypatch):
    monkeypatch.setattr(drawing, "MAX_NODES", 30)
    monkeypatch.setattr(drawing, "SAMPLE", 30)
    monkeypatch.setattr(drawing, "MAX_EDGES", 10)
    monkeypatch.setattr(content, "REACH_BYTES", 200)
    monkeypatch.setattr("graphreach.report.pair_content.LISTED", 1)
    found = data_of(gr.report.make_report(quarters.run, quarters.data))
    assert 30 <= len(found["nodes"]["ids"]) < 60
    assert found["anchors"]["reach"]["anchors"] < 8
    text = " ".join([*found["notes"], found["detail"]["drawn"]])
    drawn = len(found["nodes"]["ids"])
    for words in (f"{drawn} of 60 nodes drawn", "10 of the", "edges between these nodes", "of 8 anchors"):
        assert words in text
    label = found["groups"][0]
    assert sum(label["totals"]) == 60 > len(base64.b64decode(label["of"]["data"])) == drawn
    assert all(each["drawn"] <= each["nodes"] for each in found["detail"]["circles"])


@pytest.mark.parametrize("preset", ["paper", "authors"])
def test_pairs_of_one_class_weighted_directed_and_labelled_in_part(tmp_path, preset):
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 40, (2, 200))
    graph = gr.Graph.from_edges(ends, 40, edge_weight=rng.random(200), directed=True, reduce="sum")
    y = np.arange(40) % 3 - (np.arange(40) == 5) * 10
    x = rng.normal(size=(40, 3)).astype(np.float32)
    sample = gr.datasets.Sample(graph, x, np.maximum(y, -1))
    settings = gr.training.Settings(
        task="pair", preset=preset, num_anchors=5, epochs=2, evaluate_every=1, walk_weights="train-labels"
    )
    gr.training.run(sample, settings, tmp_path)
    found = data_of(gr.report.make_report(tmp_path, sample))
    assert not any("other scores" in note for note in found["notes"])
    assert found["groups"][0]["names"] == ["class 0", "class 1", "class 2", "without label"]
    assert [each["title"] for each in found["lists"]] == ["Best new pairs", "Missed pairs", "Believed pairs"]
    assert found["graph"] == {"nodes": 40, "edges": graph.num_edges, "directed": True, "weighted": True}


def test_a_run_without_its_checkpoint_has_no_curve_of_losses(quarters, tmp_path):
    assert len(content.read_losses(quarters.run / "checkpoint.safetensors")) == 12
    assert content.read_losses(tmp_path / "checkpoint.safetensors") == []


def test_what_cannot_be_reported_on_is_one_sentence(quarters, tmp_path):
    grid = gr.datasets.load("grid")
    with pytest.raises(gr.InputError, match="what the run was trained with"):
        gr.report.make_report(quarters.run, grid)
    settings = gr.training.Settings(method="gcn", epochs=1, evaluate_every=1)
    gr.training.run(grid, settings, tmp_path / "gcn")
    with pytest.raises(gr.InputError, match="method graphreach"):
        gr.report.make_report(tmp_path / "gcn", grid)
    with pytest.raises(gr.InputError, match="number must be 1, the only graph of the run, got 2"):
        gr.report.make_report(quarters.run, quarters.data, number=2)


def test_other_data_of_the_same_size_are_told_apart_by_their_scores(quarters):
    """Edges that the run has not seen, as many as it has."""
    sample = quarters.data[0]
    shuffled = np.random.default_rng(0).permutation(NODES)[sample.graph.edge_index]
    graph = gr.Graph.from_edges(shuffled, NODES)
    other = gr.datasets.Sample(gr.Graph.from_scipy(graph.to_scipy(), False, ids=sample.graph.ids), None, sample.y)
    assert other.graph.num_edges == sample.graph.num_edges
    found = data_of(gr.report.make_report(quarters.run, other))
    assert "other scores here than the run recorded" in found["notes"][0]
    assert not any("other scores" in note for note in data_of(quarters.page.read_text())["notes"])

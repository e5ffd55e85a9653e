"""Pages of one graph of a run on several."""

import json

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import graphreach as gr
from graphreach.explain import Explainer
from graphreach.report.new_pairs import score_pairs
from report_helpers import data_of, some_graphs

QUICK = {"epochs": 2, "evaluate_every": 1}


def recorded(folder, number):
    """Stored test scores of a graph."""
    with np.load(folder / "scores.npz") as file:
        return file[f"test_{number - 1}"]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_each_graph_is_shown_with_the_scores_that_were_stored(several, number):
    splits = gr.tasks.split_dataset(several.data, "link")
    test, scores = splits[number - 1].test, recorded(several.run, number)
    found = data_of(gr.report.make_report(several.run, several.data, number=number))
    assert found["title"] == f"some, graph {number} of 3"
    assert found["graph"]["nodes"] == several.data[number - 1].graph.num_nodes
    assert found["metrics"]["test"]["auc"] == pytest.approx(roc_auc_score(test.label, scores), rel=1e-5)
    assert sum(found["scores"]["positives"]) == test.label.sum()
    assert len(found["anchors"]["nodes"]) == min(16, several.data[number - 1].graph.num_nodes)
    known = dict(zip(map(tuple, test.index.T.tolist()), scores.tolist(), strict=True))
    listed = [pair for each in found["lists"] if each["name"] != "new" for pair in each["pairs"]]
    assert len(listed) >= 4
    for pair in listed:
        assert pair["score"] == pytest.approx(known[tuple(pair["nodes"])], rel=1e-4, abs=1e-5)
    assert not any("other scores" in note for note in found["notes"])


def test_the_run_over_all_graphs_is_in_a_note(several):
    found = data_of(several.page.read_text())
    run = json.loads((several.run / "record.json").read_text())["metrics"]["test"]
    assert found["title"] == "some, graph 2 of 3"  # the largest, which has most test pairs
    assert "This is graph 2 of 3" in found["notes"][0]
    assert f"Over all 3 graphs the mean of their test AUCs is {run['auc']:.4f}" in found["notes"][0]
    assert f"all their pairs together is {run['pooled_auc']:.4f}" in found["notes"][0]
    assert len(found["record"]["leaks"]) == 1
    assert "<title>some, graph 2 of 3 - graphreach</title>" in several.page.read_text()


@pytest.mark.parametrize("preset", ["best", "paper", "authors"])
@pytest.mark.parametrize("weights", [None, "train-labels"])
def test_a_graph_alone_has_the_scores_it_had_among_others(tmp_path, preset, weights):
    """Anchors are selected again, and the embedding has no columns of larger graphs."""
    data = some_graphs((9, 20, 40))
    settings = gr.training.Settings(task="pair", protocol="published", preset=preset, walk_weights=weights, **QUICK)
    gr.training.run(data, settings, tmp_path)
    for number, split in enumerate(gr.tasks.split_dataset(data, "pair", "published"), 1):
        walked = None if weights is None else gr.tasks.label_weights(split)
        explainer = Explainer(gr.training.TrainedRun(tmp_path), split.graph, walk_graph=walked)
        found = score_pairs(explainer, split.test.index)
        np.testing.assert_allclose(found, recorded(tmp_path, number), rtol=1e-4, atol=1e-5)


def test_a_graph_without_test_pairs_is_shown_without_figures(tmp_path):
    data = some_graphs((20, 24, 28, 32))
    gr.training.run(data, gr.training.Settings(task="pair", protocol="graph-disjoint", **QUICK), tmp_path)
    splits = gr.tasks.split_dataset(data, "pair", "graph-disjoint")
    trained = next(number for number, split in enumerate(splits, 1) if not len(split.test))
    tested = next(number for number, split in enumerate(splits, 1) if len(split.test))
    found = data_of(gr.report.make_report(tmp_path, data, number=trained))
    assert found["metrics"] == {"val": found["metrics"]["val"], "test": {}, "intervals": {}}
    assert any("no test pairs" in note for note in found["notes"])
    assert any("Over the only graph with test pairs" in note for note in found["notes"])
    assert data_of(gr.report.make_report(tmp_path, data))["title"] == f"some, graph {tested} of 4"


def test_numbers_and_data_that_do_not_fit_are_one_sentence(several, tmp_path):
    for number in (0, 4, -1):
        with pytest.raises(gr.InputError, match=f"number must be from 1 to 3, the graphs of the run, got {number}"):
            gr.report.make_report(several.run, several.data, number=number)
    with pytest.raises(gr.InputError, match="trained with, 3 graphs, got one graph"):
        gr.report.make_report(several.run, several.data[0])
    gr.training.run(several.data, gr.training.Settings(identity=True, num_anchors=4, **QUICK), tmp_path)
    with pytest.raises(gr.InputError, match="92 nodes that the run learned vectors of"):
        gr.report.make_report(tmp_path, several.data)

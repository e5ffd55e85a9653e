"""What the page of a run of method reach says of a pair, against graphreach explain."""

import json

import numpy as np
import pytest

import graphreach as gr
from graphreach.explain.reach_explainer import explain_reach_pair
from graphreach.training.loaded_run import load_run
from report_helpers import data_of


def pairs_of(found):
    return [(each["name"], pair) for each in found["lists"] for pair in each["pairs"]]


def test_a_listed_pair_is_explained_as_by_the_command(reached):
    found, run = data_of(reached.page.read_text()), load_run(reached.run)
    split = gr.tasks.split(reached.data[0], "link")
    ids = found["nodes"]["ids"]
    assert {name for name, _ in pairs_of(found)} == {"new", "missed", "believed"}
    for _, pair in pairs_of(found):
        ends = split.graph.index_of([ids[node] for node in pair["nodes"]])
        expected = explain_reach_pair(run, split.graph, tuple(ends.tolist()))
        assert pair["probability"] == pytest.approx(expected.probability, rel=1e-4)
        assert {each["name"]: each["adds"] for each in pair["groups"]} == pytest.approx(expected.groups, abs=1e-4)
        sizes = [abs(each["adds"]) for each in pair["groups"]]
        assert sizes == sorted(sizes, reverse=True)
        total = pair["base"][1] + sum(each["adds"] for each in pair["groups"])
        assert total == pytest.approx(pair["score"], abs=1e-4)
        shown = [(tuple(ids[node] for node in path["nodes"]), path["chance"]) for path in pair["paths"]]
        assert [nodes for nodes, _ in shown] == [nodes for nodes, _ in expected.paths]
        assert [chance for _, chance in shown] == pytest.approx([chance for _, chance in expected.paths], rel=1e-4)
        anchors = [(ids[each["node"]], *each["lift"]) for each in pair["anchors"]]
        assert [name for name, *_ in anchors] == [each.anchor for each in expected.anchors]
        lifts = [[each.first, each.second] for each in expected.anchors]
        np.testing.assert_allclose([lift for _, *lift in anchors], lifts, rtol=1e-4)
        for each in pair["groups"]:
            assert expected.facts[each["name"]].startswith(each["words"])
            assert each["words"] or (each["name"] == "position" and anchors)
    assert any(pair["paths"] and pair["anchors"] for _, pair in pairs_of(found))


def test_many_pairs_are_described_together(reached, monkeypatch):
    described = []
    facts = gr.pairs.PairFeatures.facts

    def count(self, pairs, *arguments, **options):
        described.append(pairs.shape[1])
        return facts(self, pairs, *arguments, **options)

    monkeypatch.setattr(gr.pairs.PairFeatures, "facts", count)
    found = data_of(gr.report.make_report(reached.run, reached.data))
    assert described == [len(each["pairs"]) for each in found["lists"]]


def test_the_calibration_is_that_of_the_record(reached):
    found = data_of(reached.page.read_text())["calibration"]
    recorded = json.loads((reached.run / "record.json").read_text())["calibration"]
    errors = {part: each["prior"] for part, each in found["errors"].items()}
    assert {"prior": found["prior"], **errors} == pytest.approx(recorded, rel=1e-4)

"""Pages of runs that tell nodes' classes."""

import base64
import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score

import graphreach as gr
from graphreach.report.figures import label_intervals, node_intervals, weighted_auc
from graphreach.report.node_content import margins, mistakes
from report_helpers import data_of

KINDS = {"Uint8": np.uint8, "Uint16": np.uint16}


def unpack(packed):
    return np.frombuffer(base64.b64decode(packed["data"]), KINDS[packed["type"]])


@pytest.fixture(scope="module")
def found(classified):
    return data_of(classified.page.read_text())


@pytest.fixture(scope="module")
def test_part(classified):
    """Test nodes, their labels, and the probabilities that were stored."""
    test = gr.tasks.split(classified.data[0], "node").test
    with np.load(classified.run / "scores.npz") as file:
        return test.index, test.label, file["test_0"]


def test_metrics_are_as_recorded_with_intervals_around_them(classified, found, test_part):
    record = json.loads((classified.run / "record.json").read_text())["metrics"]["test"]
    for name in ("accuracy", "auc"):
        assert found["metrics"]["test"][name] == pytest.approx(record[name], rel=1e-5)
        low, high = found["metrics"]["intervals"][name]
        assert low <= record[name] <= high
    right = (test_part[2].argmax(1) == test_part[1]).sum()
    assert sum(found["scores"]["positives"]) == right
    assert sum(found["scores"]["negatives"]) == len(test_part[1]) - right
    assert found["task"] == "node"
    assert [epoch for epoch, _ in found["curves"]["accuracy"]] == [2, 4, 6]


def test_probabilities_of_test_nodes_are_those_stored(found, test_part):
    nodes, _, scores = test_part
    width = found["predictions"]["width"]
    classes, shares = (unpack(found["predictions"][key]).reshape(-1, width) for key in ("classes", "shares"))
    np.testing.assert_array_equal(classes[nodes, 0], scores.argmax(1))
    np.testing.assert_allclose(
        shares[nodes] / 65535, np.take_along_axis(scores, classes[nodes].astype(int), 1), atol=2e-5
    )
    predicted = found["groups"][1]
    assert (predicted["name"], predicted["names"], predicted["like"]) == ("predicted class", ["west", "<i>east</i>"], 0)
    np.testing.assert_array_equal(unpack(predicted["of"]), classes[:, 0])
    part = unpack(found["predictions"]["part"])
    assert set(np.flatnonzero(part == 3)) == set(nodes)
    assert not any("other scores" in note for note in found["notes"])


def test_lists_are_of_wrong_and_of_unsure_test_nodes(found, test_part):
    nodes, label, scores = test_part
    wrong, unsure = ([each["node"] for each in part["nodes"]] for part in found["lists"])
    assert [each["name"] for each in found["lists"]] == ["wrong", "unsure"]
    assert set(wrong) == set(nodes[scores.argmax(1) != label])
    best = dict(zip(nodes.tolist(), scores.max(1).tolist(), strict=True))
    assert wrong == sorted(wrong, key=lambda node: -best[node])
    assert unsure[0] == nodes[np.abs(scores[:, 0] - scores[:, 1]).argmin()]
    for each in found["lists"][1]["nodes"]:
        assert "anchors are within reach" in each["words"][1]
        assert all(way["to"] > 0 or way["back"] > 0 for way in each["anchors"])
        assert all(way["path"]["nodes"][0] == each["node"] for way in each["anchors"] if way["path"])


def test_a_label_that_is_unlikely_is_among_the_probabilities(tmp_path):
    rng = np.random.default_rng(2)
    graph = gr.Graph.from_edges(rng.integers(0, 90, (2, 400)), 90)
    y = np.where(np.arange(90) < 80, np.arange(90) % 8, -1)
    data = gr.datasets.Sample(graph, None, y)
    gr.training.run(data, gr.training.Settings(task="node", num_anchors=5, epochs=2, evaluate_every=1), tmp_path)
    found = data_of(gr.report.make_report(tmp_path, data))
    classes = unpack(found["predictions"]["classes"]).reshape(90, 5)
    assert (classes[:80] == y[:80, None]).any(1).all()
    assert unpack(found["groups"][0]["of"])[80:].tolist() == [8] * 10
    assert found["groups"][0]["names"][8] == "without label"


def test_intervals_of_accuracy_and_auc():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, 600)
    scores = np.exp(rng.normal(size=(600, 3)) + 2 * np.eye(3)[label])
    scores = (scores / scores.sum(1, keepdims=True)).round(2)
    found = node_intervals(scores, label)
    assert found["accuracy"].value == accuracy_score(label, scores.argmax(1))
    assert found["auc"].value == pytest.approx(roc_auc_score(label[:, None] == np.arange(3), scores, average="macro"))
    deviation = np.sqrt(found["accuracy"].value * (1 - found["accuracy"].value) / 600)
    assert found["accuracy"].high - found["accuracy"].low == pytest.approx(2 * 1.96 * deviation, rel=0.15)
    assert found["auc"].low < found["auc"].value < found["auc"].high
    assert node_intervals(scores, label) == found
    assert node_intervals(scores, label, seed=1) != found


def test_weighted_auc_counts_examples_so_many_times():
    rng = np.random.default_rng(1)
    label, scores = rng.integers(0, 4, 50), rng.random((50, 4)).round(1)
    times = rng.multinomial(50, np.full(50, 0.02), 5)
    each = [np.mean([roc_auc_score(label == c, scores[:, c], sample_weight=row) for c in range(4)]) for row in times]
    np.testing.assert_allclose(weighted_auc(scores, label, times), each)


def test_mistakes_and_margins_of_nothing_and_of_one_class():
    assert mistakes(np.empty((0, 3)), np.empty(0, int)).tolist() == []
    assert margins(np.ones((2, 1))).tolist() == [1.0, 1.0]


def test_mistakes_and_margins_of_several_labels():
    scores = np.array([[0.9, 0.8, 0.1], [0.7, 0.2, 0.6], [0.95, 0.9, 0.9]])
    label = np.array([[1, 1, 0], [0, 1, 1], [1, 1, 1]]) == 1
    assert mistakes(scores, label).tolist() == [1]
    np.testing.assert_allclose(margins(scores, label), [0.7, 0.4, 1.0])


def test_intervals_of_several_labels():
    rng = np.random.default_rng(0)
    label = rng.random((300, 4)) < 0.4
    label[:, 0] |= ~label.any(axis=1)
    scores = np.clip(0.3 * label + 0.7 * rng.random((300, 4)), 0, 1)
    expected = gr.tasks.metrics("node", scores, gr.tasks.Examples(np.arange(300), label))
    found = label_intervals(scores, label)
    assert {name: each.value for name, each in found.items()} == pytest.approx(expected)
    assert all(each.low < each.value < each.high for each in found.values())
    assert label_intervals(scores, label) == found


def test_pages_of_several_labels(many_labels):
    outcome, y, found = many_labels.outcome, many_labels.y, data_of(many_labels.page.read_text())
    assert found["metrics"]["test"] == pytest.approx(outcome.test)
    assert set(found["metrics"]["intervals"]) <= set(outcome.test)
    assert found["groups"][0]["names"] == ["west", "east", "old", "several labels", "without label"]
    own = unpack(found["groups"][0]["of"])
    assert set(own[:4]) == {4}
    assert (own == 3).tolist() == (np.count_nonzero(y, axis=1) > 1).tolist()
    truth = found["predictions"]["truth"]
    classes, ends = unpack(truth["classes"]), unpack(truth["ends"])
    assert np.split(classes, ends[:-1])[6].tolist() == np.flatnonzero(y[6]).tolist()
    assert ends[-1] == len(classes) == y.sum()

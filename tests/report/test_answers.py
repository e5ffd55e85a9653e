"""What the page says of a run, against scikit-learn and by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, multilabel_confusion_matrix, precision_recall_fscore_support

import graphreach as gr
from graphreach.report import answers
from graphreach.report.calibration import Bin, calibration_bins, trust
from graphreach.report.figures import Bounds
from graphreach.report.reasons import between, why_near
from graphreach.tasks import Examples
from graphreach.tasks.calibration import reliability

NONE = float("nan")


def test_class_rows_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth, guess = rng.integers(0, 5, (2, 80))
    expected = precision_recall_fscore_support(truth, guess, labels=range(5), zero_division=0)
    rows = answers.class_rows(truth, guess, 7)
    assert [row.number for row in rows] == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(np.array([row[1:] for row in rows]).T, expected)
    several, predicted = rng.random((2, 40, 4)) < 0.4
    expected = precision_recall_fscore_support(several, predicted, zero_division=0)
    np.testing.assert_allclose(np.array([row[1:] for row in answers.class_rows(several, predicted, 4)]).T, expected)
    counts = multilabel_confusion_matrix(several, predicted)
    assert [row.support for row in answers.class_rows(several, predicted, 4)] == counts[:, 1].sum(1).tolist()


def test_the_majority_is_that_of_training_and_is_measured_on_the_test_nodes():
    train = Examples(np.arange(5), np.array([1, 1, 1, 0, 2]))
    test = Examples(np.arange(5, 9), np.array([0, 0, 1, 2]))
    scores = np.eye(3)[[0, 1, 1, 2]]
    found = answers.on_classes(scores, test, train, Bounds(0.75, 0.4, 1.0), ["a", "b", "c"])
    assert found.majority == 1
    assert found.baseline == accuracy_score(test.label, np.ones(4)) == 0.25
    text = " ".join(found.sentences)
    for words in ("Of 4 held-out nodes", "3 correctly", "Always saying “b”", "clearly better", "only 4 nodes"):
        assert words in text
    beaten = answers.on_classes(scores, test, train, Bounds(0.25, 0.1, 0.2), ["a", "b", "c"])
    assert "no better than that" in beaten.sentences[-1]
    unsure = answers.on_classes(scores, test, train, Bounds(0.3, 0.2, 0.4), ["a", "b", "c"])
    assert "no more than chance can explain" in unsure.sentences[-1]


def test_the_baseline_of_several_labels_gives_every_node_the_most_frequent_ones():
    rng = np.random.default_rng(1)
    labels = rng.random((60, 4)) < np.array([0.8, 0.6, 0.3, 0.1])
    labels[~labels.any(1), 0] = True
    train, test = Examples(np.arange(30), labels[:30]), Examples(np.arange(30, 60), labels[30:])
    bounds = dict.fromkeys(("micro_f1", "macro_f1", "micro_f1_unknown", "macro_f1_unknown"), Bounds(0.9, 0.88, 0.92))
    found = answers.on_labels(test, train, bounds)
    usual = np.argsort(-train.label.mean(0), kind="stable")
    known = np.zeros_like(test.label)
    for row, count in zip(known, test.label.sum(1), strict=True):
        row[usual[:count]] = True
    assert found.baseline["micro_f1"] == pytest.approx(f1_score(test.label, known, average="micro"))
    free = np.tile(train.label.mean(0) >= 0.5, (30, 1))
    assert found.baseline["micro_f1_unknown"] == pytest.approx(f1_score(test.label, free, average="micro"))
    assert f"{int(test.label.sum())} labels, of 4 kinds" in found.sentences[0]
    assert f"{found.baseline['macro_f1']:.3f}" in found.sentences[1]


def test_sentences_on_pairs():
    graph = gr.Graph.from_edges([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]], 6)
    test = Examples(np.array([[0, 1, 4], [2, 3, 5]]), np.array([1, 1, 0]))
    found = answers.on_pairs("link", test, Bounds(1.0, 1.0, 1.0), graph)
    assert found.baseline == 1.0
    assert found.sentences[0].startswith("On 3 held-out pairs, 2 links and 1 pair without a link, the model ranks")
    assert "counting common neighbours reaches 100%. The result is very good." in found.sentences[1]
    guessed = answers.on_pairs("pair", test, Bounds(0.6, 0.45, 0.8), graph).sentences
    assert "cannot be told from guessing" in guessed[1]
    assert "as only 1 pair of two classes was held out" in guessed[1]
    nothing = answers.on_pairs(
        "link", Examples(np.empty((2, 0), int), np.empty(0, int)), Bounds(NONE, NONE, NONE), graph
    )
    assert nothing.sentences == ["Nothing is measured on this graph, as no pairs were held out."]
    of_one = answers.on_pairs("link", Examples(np.array([[0], [2]]), np.array([1])), Bounds(NONE, NONE, NONE), graph)
    assert "of one kind" in of_one.sentences[0]
    assert of_one.baseline is None


def test_bins_are_those_of_the_calibration_error_with_intervals_that_hold():
    rng = np.random.default_rng(2)
    chances = rng.random(4000)
    label = (rng.random(4000) < chances).astype(int)
    prior = 0.2
    bins = calibration_bins(chances, label, prior)
    expected = reliability(chances, label, prior)
    np.testing.assert_allclose([each[:2] for each in bins], [each[:2] for each in expected.bins])
    assert sum(each.pairs for each in bins) == 4000
    assert sum(each.positives for each in bins) == label.sum()
    assert all(each.low < each.share < each.high for each in bins)
    hold = 0
    for seed in range(100):
        again = np.random.default_rng(seed)
        drawn = (again.random(200) < 0.73).astype(int)
        drawn[:2] = (0, 1)
        (only,) = calibration_bins(np.full(200, 0.73), drawn, float(drawn.mean()))
        hold += only.low <= 0.73 <= only.high
    assert 88 <= hold <= 100


def test_words_on_trust():
    held = Bin(0.8, 0.78, 0.7, 0.85, 78, 100)
    off = Bin(0.9, 0.5, 0.4, 0.6, 50, 100)
    assert trust([held], 0.02, "links").startswith("Probabilities can be trusted: they are off by 0.02")
    assert "The only group of" in trust([held], 0.02, "links")
    assert "1 of 2 groups" in trust([held, off], 0.2, "links")
    assert "fewer are links than that, 0.50." in trust([held, off], 0.2, "links")
    assert trust([off], 0.2, "links", False).startswith("Scores of this model are no probabilities")
    assert "too few to see more" in trust([held._replace(pairs=4)], 0.07, "links")


@pytest.mark.parametrize("directed", [False, True])
def test_nodes_between_two_are_those_of_a_dense_matrix(directed):
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 30, (2, 150))
    graph = gr.Graph.from_edges(ends[:, ends[0] != ends[1]], 30, directed=directed, reduce="max")
    dense = graph.to_scipy().toarray() > 0
    for a, b in rng.integers(0, 30, (20, 2)):
        if a != b:
            expected = set(np.flatnonzero(dense[a] & dense[:, b])) - {a, b}
            assert set(between(graph, a, b).tolist()) == expected


def test_reasons_name_what_lies_between():
    star = gr.Graph.from_edges([[0] * 5 + [6] * 5, [1, 2, 3, 4, 5] * 2])
    assert why_near(star, 0, 6) == "5 neighbours in common: 1, 2, 3 and 2 more"
    path = gr.Graph.from_edges([[0, 1, 2], [1, 2, 3]])
    assert why_near(path, 0, 2) == "1 neighbour in common: 1"
    ways = [SimpleNamespace(nodes=(0, 1, 2, 3))]
    assert why_near(path, 0, 3, ways) == "no neighbour in common, but a path by 1 > 2"
    assert why_near(path, 0, 3) == "no neighbour in common"
    triangle = gr.Graph.from_edges([[0, 1, 2], [1, 2, 0]])
    assert why_near(triangle, 0, 1) == "linked, with 1 neighbour in common: 2"
    assert why_near(path, 0, 1, ways) == "linked, with no neighbour in common"

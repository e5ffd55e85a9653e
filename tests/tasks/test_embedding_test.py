"""The test of embeddings against the same protocol with scikit-learn's classifiers and F1."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_limits

import graphreach as gr
from graphreach.tasks.embedding_test import FOLDS, STRENGTHS
from graphreach.tasks.label_sets import predicted_labels


def problem(nodes=150, columns=5, classes=4, seed=0):
    """Vectors, and labels of which most nodes have several."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((nodes, columns)) * 10.0 ** rng.uniform(-1, 1, columns) + 3
    logits = (x - 3) @ rng.standard_normal((columns, classes)) / 3
    y = logits + rng.logistic(size=logits.shape) > 0.5
    y[np.arange(nodes), logits.argmax(axis=1)] = True
    return x, y


def literal(x, y, size, seed, counts):
    """One draw, by scikit-learn's classifiers."""
    order = np.random.default_rng([seed, 0]).permutation(len(x))
    train, test = order[:size], order[size:]
    inside = x[train] - x[train].mean(axis=0)
    strengths = np.array(STRENGTHS) / np.mean(np.sum(inside**2, axis=1))

    def predict(c, known, labels, asked, truth):
        each = LogisticRegression(C=c, tol=1e-8, solver="newton-cholesky")
        found = OneVsRestClassifier(each).fit(known, labels).predict_proba(asked)
        return predicted_labels(found, truth, counts)

    def validated(c):
        out, fold = np.zeros_like(y[train]), np.arange(size) % FOLDS
        for each in range(FOLDS):
            inner, outer = fold != each, fold == each
            out[outer] = predict(c, inside[inner], y[train][inner], inside[outer], y[train][outer])
        return f1_score(y[train], out, average="micro")

    best = strengths[np.argmax([validated(c) for c in strengths])]
    predicted = predict(best, inside, y[train], x[test] - x[train].mean(axis=0), y[test])
    return [f1_score(y[test], predicted, average=average) for average in ("micro", "macro")]


@pytest.mark.parametrize("counts", ["known", "unknown"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_several_labels_are_judged_as_scikit_learn_would(seed, counts):
    x, y = problem(seed=seed)
    found = gr.tasks.judge_embedding(x, y, [0.5], repeats=1, seed=seed, counts=counts)[0]
    assert [found.micro_f1, found.macro_f1] == pytest.approx(literal(x, y, 75, seed, counts), abs=1e-12)


def test_one_class_per_node_is_judged_as_scikit_learn_would():
    x, y = problem(seed=3)
    label = y.argmax(axis=1)
    found = gr.tasks.judge_embedding(x, label, [0.4], repeats=1, seed=3)[0]
    assert [found.micro_f1, found.macro_f1] == pytest.approx(literal(x, np.eye(4)[label] == 1, 60, 3, "known"))


def test_means_and_deviations_are_over_the_draws():
    x, y = problem()
    found = gr.tasks.judge_embedding(x, y, [0.2, 0.8], repeats=4)
    assert [each.share for each in found] == [0.2, 0.8]
    for each in found:
        assert each.repeats == 4
        assert 0 < each.micro_f1_std < 0.2
        assert 0 < each.macro_f1_std < 0.2
    assert found[1].micro_f1 > found[0].micro_f1
    one = gr.tasks.judge_embedding(x, y, [0.2], repeats=1)[0]
    assert math.isnan(one.micro_f1_std)
    assert math.isnan(one.macro_f1_std)


@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_scale_and_place_of_the_vectors_do_not_matter(factor):
    x, y = problem()
    before, after = (gr.tasks.judge_embedding(each, y, [0.5], repeats=3)[0] for each in (x, (x - 20) * factor))
    assert after == pytest.approx(before, abs=0.005)


def test_nodes_without_labels_are_left_out():
    x, y = problem()
    wide, more = np.vstack([x, np.full((7, 5), 1e6)]), np.vstack([y, np.zeros((7, 4), bool)])
    assert gr.tasks.judge_embedding(wide, more, [0.5], 2) == gr.tasks.judge_embedding(x, y, [0.5], 2)
    label = y.argmax(axis=1)
    longer = np.append(label, np.full(7, -1))
    assert gr.tasks.judge_embedding(wide, longer, [0.5], 2) == gr.tasks.judge_embedding(x, label, [0.5], 2)


def test_forms_of_labels():
    x, y = problem()
    expected = gr.tasks.judge_embedding(x, y, [0.5], 2)
    assert gr.tasks.judge_embedding(x.tolist(), y.astype(float), (0.5,), 2) == expected
    assert gr.tasks.judge_embedding(x, csr_array(y.astype(np.int64)), np.array([0.5]), 2) == expected


def test_numbers_of_classes_do_not_matter():
    x, y = problem()
    label = y.argmax(axis=1)
    assert gr.tasks.judge_embedding(x, label * 1000 + 7, [0.5], 2) == gr.tasks.judge_embedding(x, label, [0.5], 2)


@pytest.mark.parametrize("counts", ["known", "unknown"])
def test_classes_that_the_training_part_lacks_are_never_predicted(counts):
    rng = np.random.default_rng(0)
    x, label = rng.standard_normal((40, 3)), np.arange(40)  # each class once
    found = gr.tasks.judge_embedding(x, label, [0.5], 2, counts=counts)[0]
    assert (found.micro_f1, found.macro_f1) == (0, 0)
    label = np.r_[np.zeros(39, int), 1]
    found = gr.tasks.judge_embedding(x, label, [0.1], 3, counts=counts)[0]
    assert found.micro_f1 > 0.9


@pytest.mark.parametrize("nodes", [2, 3, 4, 5])
def test_very_few_nodes(nodes):
    found = gr.tasks.judge_embedding(np.ones((nodes, 2)), np.zeros(nodes, int), [0.01, 0.5, 0.99], 2)
    assert [each.micro_f1 for each in found] == [1, 1, 1]


def test_numbers_of_threads_do_not_matter():
    x, y = problem(400, 20)
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads):
            found.append(gr.tasks.judge_embedding(x, y, [0.5], 2))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vectors": np.zeros(6)}, r"vectors must be a matrix with one row per node, got shape \[6\]"),
        ({"vectors": np.full((6, 2), np.nan)}, "vectors must be finite, got 12 that are not"),
        ({"labels": [0, 1, 0]}, "labels must be of 6 nodes, one per row of vectors, got 3"),
        ({"labels": [-1] * 6}, "labels must be known of at least 2 nodes, got 0"),
        ({"labels": [-2] * 6}, "labels must be one integer per node, -1 where it is unknown, or a matrix"),
        ({"labels": [0.5] * 6}, "labels must be one integer per node, -1 where it is unknown, or a matrix"),
        ({"labels": np.full((6, 2), 3)}, "got a matrix with other values than 0 and 1"),
        ({"labels": "abcdef"}, "labels must be classes of the nodes, or a matrix of booleans, got 'abcdef'"),
        ({"shares": [1]}, "shares must be below 1, so that there are nodes to predict, got 1"),
        ({"shares": [0]}, "shares must be above 0 and at most 1, got 0"),
        ({"shares": 0.5}, r"shares must be a list of shares, such as \[0.1, 0.5\], got 0.5"),
        ({"repeats": 0}, "repeats must be an integer of at least 1, got 0"),
        ({"counts": "knwon"}, 'counts must be "known" or "unknown", got \'knwon\'; did you mean'),
    ],
)
def test_refused_arguments(change, message):
    arguments = {"vectors": np.arange(12).reshape(6, 2), "labels": [0, 1, 0, 1, 0, 1]} | change
    with pytest.raises(gr.InputError, match=message):
        gr.tasks.judge_embedding(**arguments)

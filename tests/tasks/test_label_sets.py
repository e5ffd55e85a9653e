"""Predicted labels and their F1 against scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from graphreach.tasks.label_sets import f1_scores, likeliest_labels, predicted_labels, probable_labels


@pytest.mark.parametrize("seed", range(5))
def test_f1_of_several_labels_is_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    truth, predicted = rng.random((2, 30, 6)) < 0.3
    truth[:, 4] = predicted[:, 4] = predicted[:, 5] = False
    there = np.flatnonzero(truth.any(axis=0) | predicted.any(axis=0))
    found = f1_scores(truth, predicted)
    assert found.micro == pytest.approx(f1_score(truth, predicted, average="micro"))
    assert found.macro == pytest.approx(f1_score(truth, predicted, average="macro", labels=there))


def test_f1_of_one_class_per_node_is_scikit_learns():
    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(0, 5, (2, 40))
    predicted[predicted == 3] = 2
    truth[truth == 3] = 6
    found = f1_scores(np.eye(8)[truth] == 1, np.eye(8)[predicted] == 1)
    assert found.micro == pytest.approx(np.mean(truth == predicted))
    assert found.macro == pytest.approx(f1_score(truth, predicted, average="macro"))


def test_nothing_to_predict_is_zero():
    assert f1_scores(np.zeros((3, 2), bool), np.zeros((3, 2), bool)) == (0.0, 0.0)


def test_the_two_protocols():
    probability = np.array([[0.9, 0.8, 0.1], [0.2, 0.1, 0.3], [0.5, 0.5, 0.5]])
    truth = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 1]]) == 1
    assert predicted_labels(probability, truth, "known").tolist() == likeliest_labels(probability, [1, 2, 2]).tolist()
    assert likeliest_labels(probability, [1, 2, 2]).astype(int).tolist() == [[1, 0, 0], [1, 0, 1], [1, 1, 0]]
    assert predicted_labels(probability, truth, "unknown").tolist() == probable_labels(probability).tolist()
    assert probable_labels(probability).astype(int).tolist() == [[1, 1, 0], [0, 0, 1], [1, 1, 1]]

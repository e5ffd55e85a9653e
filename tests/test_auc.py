import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from graphreach.auc import auc, average_precision


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30))
def test_it_is_the_auc_of_scikit_learn(rows):
    scores, labels = np.array([row[0] for row in rows], float), np.array([int(row[1]) for row in rows])
    if len(set(labels)) < 2:
        assert math.isnan(auc(scores, labels == 1))
    else:
        assert abs(auc(scores, labels == 1) - roc_auc_score(labels, scores)) < 1e-12


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=30))
def test_average_precision_is_that_of_scikit_learn(rows):
    scores, labels = np.array([row[0] for row in rows], float), np.array([True, *(row[1] for row in rows[1:])])
    assert average_precision(scores, labels) == average_precision_score(labels, scores)


def test_average_precision_of_many_scores_is_that_of_scikit_learn_bit_for_bit():
    rng = np.random.default_rng(0)
    for digits in (1, 3, 17):
        scores = rng.normal(size=5000).round(digits)
        labels = rng.random(5000) < 1 / (1 + np.exp(-scores))
        assert average_precision(scores, labels) == average_precision_score(labels, scores)

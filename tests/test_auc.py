import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from graphreach.auc import auc


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30))
def test_it_is_the_auc_of_scikit_learn(rows):
    scores, labels = np.array([row[0] for row in rows], float), np.array([int(row[1]) for row in rows])
    if len(set(labels)) < 2:
        assert math.isnan(auc(scores, labels == 1))
    else:
        assert abs(auc(scores, labels == 1) - roc_auc_score(labels, scores)) < 1e-12

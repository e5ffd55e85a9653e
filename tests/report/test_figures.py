"""Figures against slower ways to them."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

import graphreach as gr
from graphreach.explain import Explainer
from graphreach.report.figures import auc_interval, coverage_curve, histograms, label_intervals, node_intervals
from graphreach.report.new_pairs import new_pairs, score_pairs
from graphreach.tasks.pair_keys import encode, unique


def test_auc_and_its_interval():
    rng = np.random.default_rng(0)
    label = np.repeat([1, 0], 400)
    scores = rng.normal(size=800).round(1) + label
    found = auc_interval(scores, label)
    assert found.value == pytest.approx(roc_auc_score(label, scores))
    assert found.low < found.value < found.high
    # Hanley and McNeil's deviation for this AUC and as many examples
    q1, q2 = found.value / (2 - found.value), 2 * found.value**2 / (1 + found.value)
    variance = found.value * (1 - found.value) + 399 * (q1 + q2 - 2 * found.value**2)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * np.sqrt(variance / 400**2), rel=0.2)
    assert np.isnan(auc_interval(scores[:4], label[:4]).low)


@pytest.mark.parametrize(("links", "others"), [(3, 3), (40, 9)])
def test_the_interval_of_an_auc_without_mistakes_is_that_of_a_share(links, others):
    label = np.repeat([1, 0], [links, others])
    found = auc_interval(label + np.linspace(0, 0.5, len(label)), label)
    share = binomtest(min(links, others), min(links, others)).proportion_ci(method="wilson")
    assert found.value == 1
    assert (found.low, found.high) == pytest.approx((share.low, share.high))


def test_one_held_out_node_gives_no_interval_of_width_zero():
    for found in (
        label_intervals(np.array([[0.9, 0.2, 0.6]]), np.array([[True, False, True]])),
        node_intervals(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1])),
    ):
        wide = {name: each.high - each.low > 0.3 for name, each in found.items() if not np.isnan(each.value)}
        assert len(wide) >= 2
        assert all(wide.values()), found


def test_histograms_count_all():
    found = histograms(np.array([1.0, 1.0, 1.0]), np.array([1, 0, 0]))
    assert (sum(found["positives"]), sum(found["negatives"])) == (1, 2)


def explainer_of(quarters):
    run = gr.training.TrainedRun(quarters.run)
    return Explainer(run, gr.tasks.split(quarters.data[0], "link").graph)


def test_coverage_grows_to_what_all_anchors_reach(quarters):
    explainer = explainer_of(quarters)
    curve = coverage_curve(explainer)
    to = explainer.reach.to_anchors.sum(2)
    to[explainer.anchors, np.arange(8)] = 0
    assert curve.tolist() == [(to[:, : j + 1] > 0).any(1).mean() for j in range(8)]


def test_new_pairs_are_the_best_of_all_unknown_ones(quarters):
    explainer = explainer_of(quarters)
    n = explainer.graph.num_nodes
    known = unique(encode(explainer.graph.edge_index))
    every = np.stack(np.triu_indices(n, 1))
    unknown = every[:, ~np.isin(encode(every), known)]
    best = np.sort(score_pairs(explainer, unknown))[::-1][:10]
    pairs, scores = new_pairs(explainer, known, 10)
    np.testing.assert_allclose(scores, best)
    assert not np.isin(encode(pairs), known).any()

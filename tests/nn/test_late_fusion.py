"""Two scorers together, with the weight chosen on validation pairs."""

import inspect

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import graphreach as gr
from graphreach.errors import InputError


def scorers(noise_first, noise_second, size=2000, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, size)
    return *(labels + noise * rng.normal(size=size) for noise in (noise_first, noise_second)), labels


def test_recovers_the_better_scorer():
    good, bad, labels = scorers(0.3, 50.0)
    assert gr.nn.LateFusion().fit(good, bad, labels).weight_ <= 0.1
    assert gr.nn.LateFusion().fit(bad, good, labels).weight_ >= 0.9


def test_two_independent_scorers_do_better_together_on_other_pairs():
    fusion = gr.nn.LateFusion().fit(*scorers(0.8, 0.8))
    first, second, labels = scorers(0.8, 0.8, seed=1)
    fused = roc_auc_score(labels, fusion.score(first, second))
    assert fused > max(roc_auc_score(labels, first), roc_auc_score(labels, second)) + 0.02
    assert 0.3 < fusion.weight_ < 0.7


def test_formula():
    first, second, labels = scorers(0.5, 0.7, size=50)
    fusion = gr.nn.LateFusion(steps=5).fit(first, second, labels)
    assert fusion.weight_ in (0, 0.25, 0.5, 0.75, 1)
    a, b = ((each - each.mean()) / each.std() for each in (first, second))
    aucs = [roc_auc_score(labels, (1 - w) * a + w * b) for w in np.linspace(0, 1, 5)]
    assert fusion.auc_ == pytest.approx(aucs)
    assert aucs[int(4 * fusion.weight_)] == max(aucs)
    np.testing.assert_allclose(fusion.score(first, second), (1 - fusion.weight_) * a + fusion.weight_ * b)


def test_scale_of_a_scorer_does_not_matter():
    first, second, labels = scorers(0.5, 0.7)
    weight = gr.nn.LateFusion().fit(first, second, labels).weight_
    assert gr.nn.LateFusion().fit(1000 * first - 7, second, labels).weight_ == weight


def test_scores_of_test_pairs_take_no_labels_and_change_nothing():
    assert list(inspect.signature(gr.nn.LateFusion.score).parameters) == ["self", "first", "second"]
    fusion = gr.nn.LateFusion().fit(*scorers(0.5, 0.7))
    before = (fusion.weight_, list(fusion.mean_), list(fusion.std_))
    alone = fusion.score([0.5], [2.0])
    among_others = fusion.score([0.5, 99.0], [2.0, -99.0])
    assert alone[0] == among_others[0]
    assert before == (fusion.weight_, fusion.mean_, fusion.std_)


def test_constant_scorer_is_no_division_by_zero():
    _, second, labels = scorers(0.5, 0.7)
    fusion = gr.nn.LateFusion().fit(np.ones(len(labels)), second, labels)
    assert np.isfinite(fusion.score([1.0], [0.3])).all()


def test_errors():
    with pytest.raises(InputError, match=r"equally long, got \[2, 3, 2\]"):
        gr.nn.LateFusion().fit([1, 2], [1, 2, 3], [0, 1])
    with pytest.raises(InputError, match="labels must hold both classes, got one"):
        gr.nn.LateFusion().fit([1, 2], [1, 2], [1, 1])


def test_repr_and_a_score_before_fit():
    assert repr(gr.nn.LateFusion(11)) == "LateFusion(steps=11)"
    with pytest.raises(InputError, match="LateFusion must be fitted first"):
        gr.nn.LateFusion().score([0.0], [1.0])

"""Logistic regression against scikit-learn's, and sums of models."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from graphreach import logistic
from graphreach.logistic import fit_logistic, log_loss, mixed, pool, prior_logits, probabilities
from graphreach.training.class_choice import choose


def problem(rows=200, columns=6, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns)) @ rng.normal(size=(columns, columns))  # columns that say nearly the same
    label = (x @ rng.normal(size=(columns, classes)) + rng.gumbel(size=(rows, classes))).argmax(axis=1)
    return x, label, np.eye(classes)[label]


@pytest.mark.parametrize("penalty", [0.1, 10.0])
@pytest.mark.parametrize("kind", ["dense", "sparse", "wide"])
def test_one_label_per_row_as_scikit_learn(penalty, kind, monkeypatch):
    x, label, y = problem()
    if kind == "wide":
        monkeypatch.setattr(logistic, "WIDEST", 2)
    own = fit_logistic([csr_array(x) if kind == "sparse" else x], y, [penalty], tolerance=1e-7, iterations=2000)
    other = LogisticRegression(C=1 / penalty, max_iter=10_000, tol=1e-8).fit(x, label)
    np.testing.assert_allclose(probabilities(own.logits([x]), False), other.predict_proba(x), atol=2e-4)


def test_several_labels_per_row_are_one_model_per_label():
    x, _, _ = problem()
    y = (x[:, :3] > 0.3).astype(float)
    own = fit_logistic([x], y, [2.0], several=True, tolerance=1e-7, iterations=2000)
    for label in range(3):
        other = LogisticRegression(C=1 / 2.0, max_iter=10_000, tol=1e-8).fit(x, y[:, label])
        np.testing.assert_allclose(
            probabilities(own.logits([x]), True)[:, label], other.predict_proba(x)[:, 1], atol=1e-3
        )


def test_groups_have_penalties_of_their_own():
    x, _, y = problem()
    groups = [x[:, :2], csr_array(x[:, 2:])]
    together = fit_logistic(groups, y, [3.0, 3.0], tolerance=1e-8, iterations=2000)
    one = fit_logistic([x], y, [3.0], tolerance=1e-8, iterations=2000)
    np.testing.assert_allclose(together.logits(groups), one.logits([x]), atol=1e-3)
    apart = fit_logistic(groups, y, [3.0, 1e6])
    assert np.abs(apart.weights[1]).max() < 1e-3 < np.abs(apart.weights[0]).max()


def test_a_start_changes_the_way_and_not_the_end():
    x, _, y = problem()
    cold = fit_logistic([x], y, [1.0], tolerance=1e-8, iterations=2000)
    warm = fit_logistic([x], y, [1.0], start=fit_logistic([x], y, [100.0]), tolerance=1e-8, iterations=2000)
    np.testing.assert_allclose(warm.logits([x]), cold.logits([x]), atol=1e-3)


@pytest.mark.parametrize("several", [False, True])
def test_a_class_that_every_row_has_keeps_weights_finite(several):
    x, _, _ = problem()
    y = np.zeros((200, 2))
    y[:, 0] = 1
    found = fit_logistic([x], y, [1.0], several)
    assert np.isfinite(found.bias).all()
    assert probabilities(found.logits([x]), several)[:, 0].min() > 0.9


def test_a_pool_finds_the_model_that_knows():
    _, _, y = problem(500)
    good, noise = 3 * y, np.random.default_rng(1).normal(size=y.shape)
    weights, shift = pool([good, noise], y, several=False)
    assert weights[0] > 1
    assert weights[1] < 0.2
    assert shift == 0
    assert log_loss(mixed([good, noise], weights, shift), y, False) < log_loss(good, y, False)


@pytest.mark.parametrize("several", [False, True])
def test_a_pool_calibrates(several):
    """Logits that are three times too sure are put right."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(20_000, 3))
    p = probabilities(logits, several)
    y = (rng.random(p.shape) < p) if several else np.eye(3)[(logits + rng.gumbel(size=p.shape)).argmax(axis=1)]
    shifted = 3 * logits + (1.5 if several else 0)
    weights, shift = pool([shifted], y.astype(float), several)
    assert weights[0] == pytest.approx(1 / 3, rel=0.05)
    assert shift == pytest.approx(-0.5 if several else 0, abs=0.05)


def test_prior_logits_are_frequencies():
    _, _, y = problem(3000)
    np.testing.assert_allclose(probabilities(prior_logits(y, False)[None], False)[0], y.mean(axis=0), atol=1e-3)
    np.testing.assert_allclose(probabilities(prior_logits(y, True)[None], True)[0], y.mean(axis=0), atol=1e-3)


def test_a_group_that_says_nothing_has_little_weight():
    x, _, y = problem(400)
    noise = np.random.default_rng(1).normal(size=(400, 50))
    order = np.random.default_rng(2).permutation(400)
    found = choose({"position": noise, "classes": x}, y, False, order)
    assert found.losses["all"] <= found.losses["classes"] + 1e-3 < found.losses["position"]
    assert found.shares.get("position", 0) < 0.2
    nothing = choose({"position": noise}, y, False, order)
    logits = noise @ nothing.weights.get("position", np.zeros((50, 3))) + nothing.bias
    np.testing.assert_allclose(probabilities(logits, False).mean(axis=0), y.mean(axis=0), atol=0.05)


def test_too_few_to_validate_are_all_read_by_one_model():
    x, _, y = problem(6)
    found = choose({"position": x, "classes": x}, y, False, np.arange(6))
    assert found.losses == {}
    assert found.shares == {"position+classes": 1.0}

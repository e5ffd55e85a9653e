"""The bootstrap on assessments whose truth is known."""

import numpy as np
import pytest

from graphreach import InputError
from graphreach.attacks import Assessment, Tally, interval

GROUPS = 5


def make(rng, seed, loss, empty=False):
    """A run whose groups lose about ``loss``; what run and group have in common is added to it."""
    positives, negatives = rng.integers(20, 40, (2, GROUPS)) * (0 if empty else 1)
    comparisons = positives * negatives
    after = comparisons * np.clip(1 - loss, 0, 1)
    tally = Tally(*(tuple(each.tolist()) for each in (positives, negatives, comparisons.astype(float), after)))
    return Assessment("clique", 0.1, seed, "", "pair", (40,) * GROUPS, (700,) * GROUPS, tally, tally)


def pair_of_methods(rng, runs, difference):
    first, second = [], []
    for seed in range(runs):
        shared = 0.2 + rng.normal(0, 0.05) + rng.normal(0, 0.03, GROUPS)
        own = rng.normal(0, 0.02) + rng.normal(0, 0.02, GROUPS)
        first.append(make(np.random.default_rng(seed), seed, shared + difference + own))
        second.append(make(np.random.default_rng(seed), seed, shared))
    return first, second


def literal(first, second, samples, seed):
    """The same draws, run by run and group by group."""
    rng = np.random.default_rng(seed)
    runs = rng.integers(len(first), size=(samples, len(first), 1))
    groups = rng.integers(GROUPS, size=(samples, len(first), GROUPS))
    out = []
    for sample in range(samples):
        losses = []
        for each in (first, second):
            total = won = lost = 0.0
            for place, run in enumerate(runs[sample, :, 0]):
                tally = each[run].any
                for group in groups[sample, place]:
                    total += tally.positives[group] * tally.negatives[group]
                    won += tally.concordant_before[group]
                    lost += tally.concordant_after[group]
            losses.append((won - lost) / total)
        out.append(losses[0] - losses[1])
    return np.quantile(out, [0.025, 0.975])


def test_against_loops():
    first, second = pair_of_methods(np.random.default_rng(0), 4, 0.1)
    found = interval(first, second, samples=50, seed=3)
    assert (found.low, found.high) == pytest.approx(tuple(literal(first, second, 50, 3)))
    sums = [sum((each.any for each in runs[1:]), runs[0].any) for runs in (first, second)]
    assert found.difference == pytest.approx(sums[0].loss - sums[1].loss)


def test_the_interval_covers_the_truth_most_of_the_time():
    rng = np.random.default_rng(1)
    covered = 0
    for trial in range(60):
        found = interval(*pair_of_methods(rng, 10, 0.1), samples=500, seed=trial)
        assert found.low <= found.difference <= found.high
        covered += found.low <= 0.1 <= found.high
    assert covered >= 50  # ten clusters: a little below 95%


def test_pairing_removes_what_runs_have_in_common():
    first, second = pair_of_methods(np.random.default_rng(2), 10, 0.1)
    found = interval(first, second, samples=2000)
    assert found.high - found.low < 0.05
    turned = interval(second, first, samples=2000)
    assert turned == pytest.approx((-found.difference, -found.high, -found.low))
    assert interval(first, first) == (0, 0, 0)


def test_same_seed_same_interval():
    both = pair_of_methods(np.random.default_rng(3), 3, 0.1)
    assert interval(*both, seed=1) == interval(*both, seed=1)
    assert interval(*both, seed=1) != interval(*both, seed=2)


def test_nothing_to_compare_is_nan():
    empty = [make(np.random.default_rng(0), 0, np.zeros(GROUPS), empty=True)]
    assert np.isnan(interval(empty, empty)).all()


def test_bad_input_gets_one_sentence():
    first, second = pair_of_methods(np.random.default_rng(0), 2, 0.1)
    for call, sentence in (
        (lambda: interval(first, second[:1]), "same number of runs, at least one, got 2 and 1"),
        (lambda: interval([], []), "got 0 and 0"),
        (lambda: interval(first, second[::-1]), "same task, kind, fraction and seed"),
        (lambda: interval(first, second, "all"), 'which must be "any" or "both"'),
        (lambda: interval(first, second, samples=0), "samples must be a positive integer"),
    ):
        with pytest.raises(InputError, match=sentence):
            call()

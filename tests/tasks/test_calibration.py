"""The expected calibration error."""

import numpy as np
import pytest

from graphreach.tasks.calibration import reliability


def test_probabilities_that_hold_have_no_error_at_their_base_rate():
    """Drawn from what they say, at a base rate of 0.1, and asked about with as many of one kind as of the other."""
    rng = np.random.default_rng(0)
    chances = rng.beta(0.5, 4.5, 200_000)
    label = (rng.random(len(chances)) < chances).astype(int)
    kept = np.concatenate([np.flatnonzero(label == kind)[:15_000] for kind in (0, 1)])
    found = reliability(chances[kept], label[kept], label.mean())
    assert found.error < 0.005
    assert sum(share for *_, share in found.bins) == pytest.approx(1)
    assert reliability(chances[kept], label[kept], 0.5).error > 0.2
    assert reliability(np.full(4, 0.9), np.array([1, 0, 0, 1]), 0.5).error == pytest.approx(0.4)
    assert reliability(np.ones(3), np.ones(3), 0.5) is None
    assert reliability(np.empty(0), np.empty(0), 0.5) is None

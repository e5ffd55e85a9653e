"""Coverage on a second sample of starts, and the bounds in the docstring of select_anchors."""

import math

import numpy as np
import pytest

from graphreach.anchors.select_anchors import coverage_lower, optimum_upper, reached_starts
from graphreach.walks import random_walks
from graphreach.walks.engine import LocalWalker
from helpers import KIND_NAMES, KINDS, cycle, random_graph


@pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
@pytest.mark.parametrize("num_walks", [3, 700])
def test_reached_starts_equals_the_stored_walks(directed, weighted, num_walks):
    graph = random_graph(60, 80, directed, weighted)
    starts, anchors = np.arange(0, 60, 2, dtype=np.uint32), np.array([0, 3, 8, 50])
    walks = random_walks(graph, starts, num_walks, 4, seed=2)
    visits = (walks[:, :, 1:, None] == anchors).any(axis=(1, 2))
    visits &= starts[:, None] != anchors
    want = int(visits.any(axis=1).sum())
    assert 0 < want < 30
    assert reached_starts(LocalWalker(graph), starts, anchors, num_walks, 4, seed=2) == want


def test_return_to_the_start_is_not_reaching_an_anchor():
    graph = cycle(2)
    assert reached_starts(LocalWalker(graph), np.arange(2, dtype=np.uint32), [0], 5, 4, seed=0) == 1


@pytest.mark.parametrize(("covered", "size"), [(0, 10), (1, 10), (70, 100), (100, 100), (5000, 10_000)])
def test_bounds_are_those_of_the_docstring(covered, size):
    a = math.log(100)
    lower = ((math.sqrt(covered + 2 * a / 9) - math.sqrt(a / 2)) ** 2 - a / 18) / size
    upper = (math.sqrt(covered + a / 2) + math.sqrt(a / 2)) ** 2 / size
    assert coverage_lower(covered, size) == pytest.approx(min(covered / size, max(0, lower)))
    assert optimum_upper(covered, size) == pytest.approx(min(1, upper))
    assert coverage_lower(covered, size) <= covered / size <= optimum_upper(covered, size)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_bounds_hold_with_probability_of_99_percent(share):
    drawn = np.random.default_rng(0).binomial(300, share, 5000)
    assert np.mean([coverage_lower(int(c), 300) > share for c in drawn]) <= 0.01
    assert np.mean([optimum_upper(int(c), 300) < share for c in drawn]) <= 0.01


def test_bounds_close_in_with_more_starts():
    widths = [optimum_upper(n // 2, n) - coverage_lower(n // 2, n) for n in (100, 10_000, 1_000_000)]
    assert widths[0] > 5 * widths[1] > 25 * widths[2]

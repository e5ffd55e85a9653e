"""Cutting into parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.tasks.examples import check_fractions, cut, part_sizes, stream

PAPER = (0.8, 0.1, 0.1)


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(760, (608, 76, 76)), (5278, (4222, 528, 528)), (10, (8, 1, 1)), (9, (7, 1, 1)), (5, (3, 1, 1)), (3, (1, 1, 1))],
)
def test_sizes_of_the_paper(count, sizes):
    assert part_sizes(count, PAPER, "edges") == sizes


@given(st.integers(3, 10**7), st.floats(0.01, 0.9), st.floats(0, 1))
def test_sizes_add_up_and_no_part_with_a_share_is_empty(count, train, rest):
    fractions = (train, (1 - train) * rest, 1 - train - (1 - train) * rest)
    sizes = part_sizes(count, fractions, "edges")
    assert sum(sizes) == count
    for size, fraction in zip(sizes, fractions, strict=True):
        assert (size > 0) == (fraction > 0)
        assert abs(size - count * fraction) < 3


def test_too_few():
    with pytest.raises(InputError, match="at least 3 edges to split, got 2"):
        part_sizes(2, PAPER, "edges")
    assert part_sizes(2, (0.5, 0, 0.5), "edges") == (1, 0, 1)
    assert part_sizes(1, (1, 0, 0), "edges") == (1, 0, 0)


def test_cut_is_a_partition_in_order():
    parts = cut(np.arange(25), PAPER, "nodes")
    assert [len(part) for part in parts] == [20, 2, 3]
    assert np.array_equal(np.concatenate(parts), np.arange(25))


@pytest.mark.parametrize(
    "fractions", [(0.8, 0.1), (0.8, 0.1, 0.2), (0, 0.5, 0.5), (1.1, -0.1, 0), "abc", None, (1, None, 0)]
)
def test_fractions_must_be_shares(fractions):
    with pytest.raises(InputError, match="fractions must be three shares"):
        check_fractions(fractions)


def test_streams_differ_and_repeat():
    one, two = "negatives", "candidates"
    keys = [(0, one, 2), (0, one, 1), (0, two, 1), (1, one, 2), (0, one, 2)]
    draws = [stream(*key).random() for key in keys]
    assert len(set(draws)) == 4
    assert draws[0] == draws[-1]

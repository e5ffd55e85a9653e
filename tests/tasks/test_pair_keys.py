"""Pairs as numbers, against lists of all pairs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphreach.tasks.pair_keys import (
    contains,
    decode,
    draw_distinct,
    draw_pairs,
    encode,
    free_keys,
    num_pairs,
    turn,
    unique,
)


def test_keys_number_all_pairs_without_a_gap():
    pairs = np.array(list(combinations(range(30), 2))).T
    keys = encode(pairs)
    assert sorted(keys.tolist()) == list(range(num_pairs(30)))
    assert np.array_equal(encode(pairs[::-1]), keys)
    assert np.array_equal(decode(keys), pairs)


@given(st.integers(0, 2**31), st.integers(0, 2**31))
def test_decoding_large_keys_is_exact(u, v):
    if u == v:
        v += 1
    pair = np.array([[min(u, v)], [max(u, v)]])
    assert np.array_equal(decode(encode(pair)), pair)


@pytest.mark.parametrize("high", [2, 3, 94906267, 2**31, 3_037_000_499])
def test_decoding_at_the_edge_of_a_row(high):
    """The first and the last key of a row, where a rounded root would fall into the next."""
    first = high * (high - 1) // 2
    keys = np.array([first - 1, first])
    assert np.array_equal(decode(keys), [[high - 2, 0], [high - 1, high]])


@given(st.sets(st.integers(0, 40)), st.lists(st.integers(-3, 45), max_size=30))
def test_contains_is_membership(taken, keys):
    got = contains(np.array(sorted(taken), np.int64), np.array(keys, np.int64))
    assert got.tolist() == [key in taken for key in keys]


@given(st.sets(st.integers(0, 40)))
def test_free_keys_are_those_not_taken(taken):
    free = [key for key in range(60) if key not in taken]
    got = free_keys(np.arange(len(free)), np.array(sorted(taken), np.int64))
    assert got.tolist() == free


@given(st.lists(st.integers(-5, 5)))
def test_unique_sorts_and_drops_repeats(keys):
    assert unique(np.array(keys, np.int64)).tolist() == sorted(set(keys))


@given(st.integers(1, 200), st.data())
def test_distinct_numbers_are_distinct(population, data):
    size = data.draw(st.integers(0, population))
    got = draw_distinct(np.random.default_rng(0), population, size)
    assert len(got) == len(set(got.tolist())) == size
    assert not size or 0 <= got.min() <= got.max() < population


@pytest.mark.parametrize(("population", "size"), [(10, 1), (10, 5), (10, 10), (40, 4)])
def test_distinct_numbers_are_all_as_likely(population, size):
    """Both ways of drawing: sums of many draws are near their expectation, in every place of the result."""
    rng = np.random.default_rng(1)
    draws = np.array([draw_distinct(rng, population, size) for _ in range(4000)])
    for place in range(size):
        counts = np.bincount(draws[:, place], minlength=population)
        expected = 4000 / population
        assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)


def test_pairs_are_drawn_outside_the_taken_ones():
    taken = np.arange(0, num_pairs(12), 2)
    seen = set()
    for seed in range(60):
        pairs = draw_pairs(np.random.default_rng(seed), 12, 7, taken)
        keys = set(encode(pairs).tolist())
        assert len(keys) == 7
        seen |= keys
    assert seen == set(range(1, num_pairs(12), 2))


def test_more_pairs_than_there_are():
    assert draw_pairs(np.random.default_rng(0), 5, 100, np.array([0, 3])).shape == (2, 8)
    assert draw_pairs(np.random.default_rng(0), 3, 2, np.arange(3)).shape == (2, 0)


def test_turning_is_even_handed():
    pairs = np.array([np.zeros(2000, int), np.ones(2000, int)])
    turned = turn(np.random.default_rng(0), pairs)
    assert np.array_equal(np.sort(turned, axis=0), pairs)
    assert 850 < turned[0].sum() < 1150

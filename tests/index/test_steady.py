"""Tables that walkers draw from: fair, the same however they came about, and hardly other when a row changes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphreach.index.steady import tables
from graphreach.walks.kernels import DEAD
from graphreach.walks.rng import GOLDEN, mix

rows = st.lists(st.sets(st.integers(0, 300), max_size=40), min_size=1, max_size=4)


def packed(listed):
    pointer = np.cumsum([0, *map(len, listed)]).astype(np.int64)
    return pointer, np.array([node for row in listed for node in sorted(row)], np.uint32)


def table_of(row):
    return tables(*packed([row]))[1]


def draw(table, bits):
    """Literally: the place that the upper 32 bits say, and again with further bits while it is free."""
    while True:
        place = int(bits) >> 32
        node = table[(place * len(table)) >> 32]
        if node != DEAD:
            return node
        with np.errstate(over="ignore"):
            bits = mix.py_func(np.uint64(bits) + GOLDEN)


@given(rows)
def test_a_table_has_its_row_and_at_least_as_many_free_places(listed):
    begin, places = tables(*packed(listed))
    for row, first, end in zip(listed, begin[:-1], begin[1:], strict=True):
        table = places[first:end]
        assert set(table[table != DEAD].tolist()) == row
        assert len(table) >= 2 * len(row)
        assert len(table) & (len(table) - 1) == 0


@settings(max_examples=300)
@given(rows, st.data())
def test_a_table_does_not_depend_on_how_it_came_about(listed, data):
    before = [*packed(listed), *tables(*packed(listed))]
    after = [row ^ data.draw(st.sets(st.integers(0, 300), max_size=6)) for row in listed]
    followed, anew = tables(*packed(after), before), tables(*packed(after))
    for a, b in zip(followed, anew, strict=True):
        assert a.tolist() == b.tolist()


@pytest.mark.parametrize("degree", [1, 2, 3, 7, 30])
def test_draws_are_fair(degree):
    row = set(np.random.default_rng(degree).choice(1000, degree, replace=False).tolist())
    table, count = table_of(row), 4000
    bits = np.random.default_rng(0).integers(0, 2**64, count, dtype=np.uint64)
    drawn = [draw(table, each) for each in bits]
    assert set(drawn) <= row
    often = np.array([drawn.count(node) for node in row]) / count
    assert np.abs(often - 1 / degree).max() < 5 * np.sqrt(1 / degree / count)


@pytest.mark.parametrize("degree", [20, 40, 90])
def test_one_neighbour_more_turns_few_draws(degree):
    rng, turned = np.random.default_rng(0), []
    bits = rng.integers(0, 2**64, 400, dtype=np.uint64)
    for _ in range(20):
        row = set(rng.choice(10_000, degree, replace=False).tolist())
        before, after = table_of(row), table_of(row | {10_001})
        if len(before) == len(after):  # once in a while a table doubles, and half of its draws are others
            turned.append(np.mean([draw(before, each) != draw(after, each) for each in bits]))
    assert len(turned) > 10
    assert np.mean(turned) < 3 / degree

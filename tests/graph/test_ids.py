"""Numbering ids: every path agrees with sorting them."""

import datetime
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.graph.ids import _encode_colliding_strings, canonical_text, encode_ids, ids_array, rank_ids, sort_ids

dense = st.integers(-50, 50)
scattered = st.integers(-(2**63), 2**63 - 1)
texts = st.text(max_size=20)


def check(columns, values):
    ids, codes = encode_ids(columns)
    assert ids.tolist() == sorted(set().union(*values))
    for code, column in zip(codes, values, strict=True):
        assert code.dtype == np.uint32
        assert ids[code].tolist() == list(column)


@given(st.lists(dense, min_size=1), st.lists(dense))
def test_dense_integers(first, second):
    check([np.array(first), np.array(second, dtype=np.int64)], [first, second])


@settings(deadline=None)  # the first call may compile a kernel
@given(st.lists(scattered, min_size=1), st.lists(scattered))
def test_scattered_integers(first, second):
    check([np.array(first), np.array(second, dtype=np.int64)], [first, second])


def test_many_scattered_integers():
    values = np.random.default_rng(0).integers(0, 2**62, 300_000)
    ids, (codes,) = encode_ids([values])
    np.testing.assert_array_equal(ids, np.unique(values))
    np.testing.assert_array_equal(ids[codes], values)


@settings(deadline=None)  # the first call may compile a kernel
@given(st.lists(texts, min_size=1), st.lists(texts))
def test_strings(first, second):
    check([pl.Series(first), pl.Series(second, dtype=pl.String)], [first, second])
    ids, codes = _encode_colliding_strings([pl.Series(first), pl.Series(second, dtype=pl.String)])
    assert ids[codes[0]].tolist() == first


def test_strings_keep_trailing_nulls_and_length():
    check([np.array(["a", "a\0", "b" * 500], dtype=object)], [["a", "a\0", "b" * 500]])


@given(st.lists(st.one_of(dense, texts, st.floats(allow_nan=False), st.tuples(dense, texts)), min_size=1))
def test_objects_do_not_depend_on_order(values):
    distinct = list(dict.fromkeys(values))
    assert sort_ids(distinct) == sort_ids(distinct[::-1])


def test_order_of_kinds():
    day, later = datetime.date(2020, 9, 1), datetime.date(2020, 10, 1)
    values = ["a", later, Decimal("1.5"), b"x", day, 1, frozenset({2, "b"}), frozenset({1}), None, True and 2]
    assert sort_ids(values) == [1, Decimal("1.5"), 2, "a", None, b"x", day, later, frozenset({1}), frozenset({2, "b"})]


def test_values_that_cannot_be_compared_are_sorted_by_text():
    assert sort_ids([2 + 1j, 1 + 1j]) == [1 + 1j, 2 + 1j]


def test_ids_array():
    assert ids_array([2**70, 1]).dtype == object
    assert ids_array([(1, 2), (3, 4)]).tolist() == [(1, 2), (3, 4)]
    assert ids_array([]).dtype == np.int64


def test_canonical_text_does_not_depend_on_hash_order():
    assert canonical_text(frozenset({"b", "a"})) == "frozenset(str('a'),str('b'))"


def test_rank_ids():
    assert rank_ids([3, 1, 2])[1].tolist() == [2, 0, 1]
    with pytest.raises(InputError, match="ids must be distinct, got 1 more than once"):
        rank_ids([1, 1.0])

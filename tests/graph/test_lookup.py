"""Positions of ids in any order, and of ids that joined later."""

import pickle
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.graph.ids import ids_array
from graphreach.graph.lookup import IdLookup

integers = st.integers(-(2**63), 2**63 - 1)
small = st.integers(-5, 20)
numbers = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(max_size=70)
KINDS = [small, integers, numbers, texts, small | texts, small | numbers, st.tuples(small, texts) | small]


@pytest.mark.parametrize("kind", KINDS, ids=["small", "integers", "floats", "text", "mixed", "numbers", "tuples"])
@given(data=st.data())
def test_positions_are_those_of_a_dictionary(kind, data):
    values = data.draw(st.lists(kind, min_size=1, unique=True))
    first = data.draw(st.integers(1, len(values)))
    second = data.draw(st.integers(first, len(values)))
    lookup = IdLookup(ids_array(values[:first]))
    for begin, end in ((first, second), (second, len(values))):
        lookup = lookup.extended(ids_array(values[begin:end]))
    wanted = data.draw(st.lists(kind | st.sampled_from([3, 3.0, "3", True, Decimal(3), 2**70, 2**53 + 1, 0.5, "\0"])))
    position = {value: i for i, value in enumerate(values)}
    column = np.fromiter(wanted, object, len(wanted))
    assert lookup.positions(column).tolist() == [position.get(value, -1) for value in wanted]
    assert lookup.positions(ids_array(wanted)).tolist() == [position.get(value, -1) for value in wanted]
    assert lookup.ids.tolist() == values
    assert lookup.ids.dtype.kind == ids_array(values).dtype.kind
    assert pickle.loads(pickle.dumps(lookup)).ids.tolist() == values


@pytest.mark.parametrize("ids", [[3, 1, 2], [2.5, 0.5], ["b", "a", "ab"], [5, 6, 7], [1]])
def test_arrays_in_any_order_and_of_other_widths(ids):
    lookup = IdLookup(np.array(ids))
    assert lookup.find(ids).tolist() == list(range(len(ids)))
    assert lookup.find(np.array(ids)[::-1]).tolist() == list(range(len(ids)))[::-1]
    assert lookup.positions(np.array(["abc", "a\0b", ""])).tolist() == [-1] * 3
    assert lookup.positions(np.array([2**64 - 1], np.uint64)).tolist() == [-1]
    assert lookup.positions(np.array([-(2**63), 2**63 - 1])).tolist() == [-1, -1]


def test_large_integers_are_not_rounded_to_floats():
    assert IdLookup(np.array([2.0**53])).positions(np.array([2**53 + 1, 2**53])).tolist() == [-1, 0]
    assert IdLookup(np.array([2**53 + 1])).positions(np.array([2.0**53])).tolist() == [-1]


def test_lookups_made_from_the_same_one_do_not_see_each_other():
    first = IdLookup(np.array([1, 2])).extended(np.array([7]))
    one, other = first.extended(np.array([8])), first.extended(np.array(["x", "y"]))
    assert (one.ids.tolist(), other.ids.tolist()) == ([1, 2, 7, 8], [1, 2, 7, "x", "y"])
    assert other.positions(np.array([8, 7])).tolist() == [-1, 2]
    assert first.positions(ids_array([8, "x", 7])).tolist() == [-1, -1, 2]
    with pytest.raises(InputError, match="such as 1, 2\\), got 8"):
        first.find(8)


def test_a_tuple_may_be_one_late_id():
    late = ids_array([("a", 1)])
    lookup = IdLookup(np.array([1, 2])).extended(late)
    assert lookup.find(("a", 1)) == 2
    assert lookup.find([("a", 1), 2]).tolist() == [2, 1]

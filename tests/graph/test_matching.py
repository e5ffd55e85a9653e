"""Ids of one graph found in another; test_estimator.py has those of anchors."""

import numpy as np
import pytest

from graphreach.errors import InputError
from graphreach.graph.ids import ids_array
from graphreach.graph.matching import find_ids


@pytest.mark.parametrize("ids", [[3, 7, 20], ["20", "3", "7"], [3, "7", 20], [3.0, 7.0, 20.5]])
def test_numbers_and_their_text_are_one_id(ids):
    known = ids_array(ids)
    place = {str(each).removesuffix(".0"): k for k, each in enumerate(known.tolist())}
    for wanted in ([7, 3], ["7", "3"], [7.0, 3.0], [np.int64(7), np.str_("3")]):
        assert find_ids(wanted, known, "pairs").tolist() == [place["7"], place["3"]]
    assert find_ids([], known, "pairs").shape == (0,)


@pytest.mark.parametrize("wrong", ["x", 8, None, ["3"], {3}, 3.5])
@pytest.mark.parametrize("ids", [[0, 3, 7], ["0", "3", "None"], [0, 3, "None"]])
def test_what_is_no_id_is_named(ids, wrong):
    with pytest.raises(InputError, match=r"pairs must hold ids of nodes \(such as .*\), got "):
        find_ids([3, wrong], ids_array(ids), "pairs")

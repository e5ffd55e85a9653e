"""The diagrams of calls show the code as it is."""

import pytest

from tools.calls import RUNS, Call, diagram, draw, stored


@pytest.mark.parametrize("name", RUNS)
def test_stored_diagrams_are_those_of_the_code(name):
    assert stored(name).read_text(encoding="utf-8") == diagram(name), "python -m tools.calls draws them again"


def test_an_arrow_for_each_call_between_lanes_in_order():
    text = draw([Call("estimator", "training", "run"), Call("training", "anchors", "select_anchors")], "two calls")
    assert text.index(">estimator<") < text.index(">training<") < text.index(">anchors<")
    assert text.count("<path d=") == 3 + 2
    assert text.index(">run<") < text.index(">select_anchors<")

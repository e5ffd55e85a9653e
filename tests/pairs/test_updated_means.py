"""Rows that are computed anew after a change, against all rows computed from the changed graph."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphreach as gr
from graphreach.pairs import updated_means as module
from graphreach.pairs.position import mean_powers
from graphreach.pairs.updated_means import updated_means

LENGTHS = (2, 5)


def road(n, directed=False, weighted=False, seed=0):
    """A long path with a few short cuts between near nodes."""
    rng = np.random.default_rng(seed)
    near = rng.integers(0, n - 4, n // 5)
    ends = np.concatenate([[np.arange(n - 1), np.arange(1, n)], [near, near + rng.integers(2, 4, len(near))]], axis=1)
    ends = np.unique(ends, axis=1)
    weight = rng.uniform(0.1, 3.0, ends.shape[1]) if weighted else None
    return gr.Graph.from_edges(ends, n, weight, directed=directed)


def check(graph, after, direction, anchors):
    before = mean_powers(graph, anchors, LENGTHS, direction).nodes
    found = updated_means(graph, before, after, anchors, LENGTHS, direction)
    for own, expected in zip(found.means, mean_powers(after, anchors, LENGTHS, direction).nodes, strict=True):
        np.testing.assert_array_equal(own, expected)
    return found


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@given(data=st.data())
@settings(deadline=None, max_examples=25)
def test_rows_are_those_of_the_changed_graph_bit_for_bit(directed, weighted, data):
    graph = road(400, directed, weighted)
    at = data.draw(st.integers(0, 390))
    add = data.draw(st.lists(st.tuples(st.integers(at, at + 8), st.integers(395, 402)), max_size=3, unique=True))
    source, target = graph.edge_index
    gone = data.draw(st.sets(st.integers(0, len(source) - 1), max_size=2))
    remove = {
        tuple(sorted(pair)) if not directed else pair for pair in ((int(source[i]), int(target[i])) for i in gone)
    }
    add = [pair for pair in add if pair[0] != pair[1] and pair not in remove and pair[::-1] not in remove]
    wanted = [(*pair, 1.5) for pair in add] if weighted else add
    after = graph.updated(add=wanted or None, remove=sorted(remove) or None)
    anchors = np.sort(np.random.default_rng(1).choice(400, 70, replace=False))
    for direction in ("to", "from"):
        check(graph, after, direction, anchors)


def test_few_rows_are_computed_where_a_change_is_far_from_most_nodes():
    graph = road(2000)
    after = graph.updated(add=[(1000, 1003), (1003, 5000)])
    found = check(graph, after, "to", np.arange(0, 2000, 20))
    assert found.touched is not None
    assert 5 < len(found.touched) < 60
    assert {1000, 1003, 2000} <= {*found.touched.tolist()}
    assert check(graph, graph, "to", np.arange(0, 2000, 20)).touched.tolist() == []


def test_all_rows_are_computed_where_a_change_is_near_to_most_nodes(monkeypatch):
    star = gr.Graph.from_edges([[0] * 50, range(1, 51)])
    after = star.updated(add=[(1, 2)])
    assert check(star, after, "to", np.arange(10)).touched is None
    monkeypatch.setattr(module, "WHOLE", 2.0)
    assert len(check(star, after, "to", np.arange(10)).touched) == 51

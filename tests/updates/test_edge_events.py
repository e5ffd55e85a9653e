"""Edges that are added and removed one by one, against a dictionary that does the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphreach as gr
from graphreach.updates.edge_events import EdgeEvents, apply_events, first_impossible

EVENTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 4), st.booleans()), max_size=20)


def events_of(rows, weighted):
    columns = list(zip(*rows, strict=True)) or [()] * 4
    weights = np.array(columns[2], float) if weighted else None
    return EdgeEvents(
        np.array(columns[0], np.int64), np.array(columns[1], np.int64), weights, np.array(columns[3], bool)
    )


def one_by_one(edges, rows, directed, self_loops):
    """Edges after the rows, and the number of the first one that removes what is not there."""
    edges = dict(edges)
    for number, (u, v, weight, added) in enumerate(rows):
        if u == v and not self_loops:
            continue
        key = (u, v) if directed else (min(u, v), max(u, v))
        if added:
            edges[key] = edges.get(key, 0) + weight
        elif key not in edges:
            return edges, number
        else:
            del edges[key]
    return edges, None


def edges_of(graph):
    source, target = graph.ids[graph.edge_index]
    weights = np.ones(len(source)) if graph.weights is None else graph.weights
    listed = zip(source.tolist(), target.tolist(), weights.tolist(), strict=True)
    return {(u, v): weight for u, v, weight in listed if graph.directed or u <= v}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("self_loops", [False, True])
@settings(deadline=None)
@given(rows=EVENTS)
def test_events_together_are_events_one_by_one(weighted, directed, self_loops, rows):
    begin = [(0, 1, 2.0), (1, 2, 1.0), (2, 3, 4.0)]
    graph = gr.Graph.from_edge_list(begin if weighted else [row[:2] for row in begin], directed)
    expected, wrong = one_by_one(edges_of(graph), rows, directed, self_loops)
    assert first_impossible(graph, events_of(rows, weighted), self_loops) == wrong
    possible = rows if wrong is None else rows[:wrong]
    found = apply_events(graph, events_of(possible, weighted), self_loops)
    if weighted:
        assert edges_of(found.graph) == expected
    else:
        assert set(edges_of(found.graph)) == set(expected)
    named = {node for u, v, _, added in possible if added for node in (u, v)}
    assert set(found.graph.ids.tolist()) == {0, 1, 2, 3} | named
    assert found.graph.ids[:4].tolist() == [0, 1, 2, 3]
    assert found.counts["new_nodes"] == found.graph.num_nodes - 4
    assert {*found.graph.ids[found.ends].tolist()} == {n for u, v, *_ in possible for n in (u, v)} & {
        *found.graph.ids.tolist()
    }


def test_counts_by_hand():
    graph = gr.Graph.from_edge_list([(0, 1), (1, 2)])
    rows = [(0, 1, 1, True), (2, 9, 1, True), (9, 2, 1, True), (1, 2, 1, False), (5, 5, 1, True)]
    found = apply_events(graph, events_of(rows, False))
    assert found.counts == {"added": 1, "there_already": 1, "removed": 1, "new_nodes": 2}
    assert found.graph.ids.tolist() == [0, 1, 2, 5, 9]


def test_an_edge_of_weight_zero_is_none():
    graph = gr.Graph.from_edge_list([(0, 1, 2.0)])
    rows = EdgeEvents(np.array([1]), np.array([2]), np.array([0.0]), np.array([True]))
    found = apply_events(graph, rows)
    assert (found.graph.num_nodes, found.graph.num_edges, found.counts["added"]) == (3, 1, 0)

"""Candidates for ranking."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.tasks import split
from graphreach.tasks.candidates import closed_graph, draw_candidates
from helpers import KIND_NAMES, KINDS, random_graph


def allowed_targets(graph, source):
    edges = graph.edge_index
    near = set(edges[1][edges[0] == source].tolist()) | set(edges[0][edges[1] == source].tolist())
    return set(range(graph.num_nodes)) - near - {source}


@settings(deadline=None, max_examples=60)
@given(num_nodes=st.integers(2, 20), num_edges=st.integers(0, 60), directed=st.booleans(), data=st.data())
def test_candidates_are_different_and_unlinked(num_nodes, num_edges, directed, data):
    graph = random_graph(num_nodes, num_edges, directed, seed=num_edges)
    allowed = [allowed_targets(graph, source) for source in range(num_nodes)]
    count = data.draw(st.integers(1, num_nodes))
    sources = np.array([v for v in range(num_nodes) if len(allowed[v]) >= count] * 2, np.int64)
    rows = draw_candidates(closed_graph(graph), sources, count, seed=5)
    assert rows.shape == (len(sources), count)
    for source, row in zip(sources, rows.tolist(), strict=True):
        assert len(set(row)) == count
        assert set(row) <= allowed[source]


@pytest.mark.parametrize("count", [2, 5])
def test_each_allowed_target_is_as_likely(count):
    """Few and many of the allowed: two ways of drawing."""
    graph = Graph.from_edges([[0, 0, 0, 5], [2, 4, 9, 6]])
    allowed = sorted(allowed_targets(graph, 0))
    rows = draw_candidates(closed_graph(graph), np.zeros(6000, np.int64), count, seed=1)
    expected = 6000 * count / len(allowed)
    counts = np.bincount(rows.ravel(), minlength=10)
    assert sorted(np.flatnonzero(counts)) == allowed
    assert np.abs(counts[allowed] - expected).max() < 5 * np.sqrt(expected)


@pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
def test_candidates_of_a_split_avoid_all_positives(directed, weighted):
    graph = random_graph(50, 200, directed, weighted)
    parts = split(SimpleNamespace(graph=graph, x=None, y=None), "link", candidates=20)
    assert parts.train.candidates is None
    for part in (parts.val, parts.test):
        assert part.candidates.shape == (part.positives.shape[1], 20)
        for source, row in zip(part.positives[0], part.candidates.tolist(), strict=True):
            assert len(set(row)) == 20
            assert set(row) <= allowed_targets(graph, source)


def test_too_many_candidates():
    star = Graph.from_edges([[0, 0, 0, 0, 5], [1, 2, 3, 4, 6]])
    with pytest.raises(InputError, match="candidates must be at most 2, the nodes that node 0 is not linked to, got 3"):
        draw_candidates(closed_graph(star), np.array([1, 0]), 3, seed=0)


@pytest.mark.parametrize("candidates", [-1, 2.0, True])
def test_candidates_must_be_a_count(candidates):
    with pytest.raises(InputError, match="candidates must be an integer of at least 0"):
        split(SimpleNamespace(graph=random_graph(9, 20), x=None, y=None), "link", candidates=candidates)

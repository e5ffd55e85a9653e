"""Most travelled paths against all paths of small graphs."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphreach as gr
from graphreach.explain import Path, likely_paths
from graphreach.explain.likely_paths import separate_paths
from helpers import cycle, random_graph


def by_enumeration(graph, start, target, max_length):
    """The chance of the best path among all walks without repetition."""
    adjacency = graph.to_scipy().toarray()
    degree = adjacency.sum(1)
    best = 0.0
    others = [node for node in range(graph.num_nodes) if node not in (start, target)]
    for between in range(max_length):
        for middle in itertools.permutations(others, between):
            path = (start, *middle, target)
            chances = [adjacency[u, v] / degree[u] if degree[u] else 0.0 for u, v in itertools.pairwise(path)]
            best = max(best, float(np.prod(chances)))
    return best


@settings(max_examples=40, deadline=None)
@given(st.data(), st.booleans(), st.integers(1, 5))
def test_paths_are_the_best_of_all(data, directed, max_length):
    edges = data.draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=14))
    weights = data.draw(st.lists(st.integers(1, 4), min_size=len(edges), max_size=len(edges)))
    graph = gr.Graph.from_edges(
        np.array(edges).T, 6, edge_weight=np.array(weights, float), directed=directed, reduce="sum"
    )
    for target, path in enumerate(likely_paths(graph, 0, range(6), max_length)):
        if target == 0:
            assert path == Path((0,), 1.0)
            continue
        best = by_enumeration(graph, 0, target, max_length)
        assert (path is None) == (best == 0)
        if path is not None:
            assert path.chance == pytest.approx(best)
            assert path.nodes[0] == 0
            assert path.nodes[-1] == target
            assert len(path.nodes) - 1 <= max_length


def test_a_longer_path_may_be_likelier_and_may_be_too_long():
    # 0 - 1 - 2 is certain step by step but for the weak edge 0 - 2.
    graph = gr.Graph.from_edges([[0, 0, 1], [1, 2, 2]], edge_weight=[3.0, 1.0, 9.0], directed=True)
    assert likely_paths(graph, 0, [2], 2)[0] == Path((0, 1, 2), 0.75)
    assert likely_paths(graph, 0, [2], 1)[0] == Path((0, 2), 0.25)


def test_bad_positions_are_one_sentence():
    graph = gr.Graph.from_edges([[0], [1]])
    with pytest.raises(gr.InputError, match="targets"):
        likely_paths(graph, 0, [2], 2)
    with pytest.raises(gr.InputError, match="max_length"):
        likely_paths(graph, 0, [1], 0)


def test_paths_share_no_edge():
    found = separate_paths(cycle(6), 0, 3, 5, 3)
    assert sorted(path.nodes for path in found) == [(0, 1, 2, 3), (0, 5, 4, 3)]
    assert [path.chance for path in found] == pytest.approx([1 / 8, 1 / 8])


@pytest.mark.parametrize("weighted", [False, True])
def test_separate_paths_have_the_chance_of_walks_in_the_whole_graph(weighted):
    graph = random_graph(12, 30, weighted=weighted)
    matrix = graph.to_scipy().toarray()
    share = matrix / matrix.sum(axis=1, keepdims=True)
    used = set()
    for path in separate_paths(graph, 0, 7, 6, 5):
        steps = list(itertools.pairwise(path.nodes))
        assert path.chance == pytest.approx(np.prod([share[u, v] for u, v in steps]))
        assert used.isdisjoint(steps)
        used |= {*steps, *((v, u) for u, v in steps)}
    assert used


def test_no_targets_have_no_paths():
    assert likely_paths(cycle(6), 0, [], 3) == []

"""A spanning forest that stays in training."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.tasks import check_leaks, split
from graphreach.tasks.link_split import linked_keys
from graphreach.tasks.pair_keys import decode
from graphreach.tasks.spanning_forest import spanning_forest
from helpers import KIND_NAMES, KINDS, cycle, path, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)


def sample(graph):
    return SimpleNamespace(graph=graph, x=None, y=None)


def components(graph):
    return connected_components(graph.to_scipy(), connection="weak")


@kinds
@settings(deadline=None, max_examples=40)
@given(num_nodes=st.integers(2, 30), num_edges=st.integers(1, 60), seed=st.integers(0, 2**40))
def test_it_has_one_tree_for_each_component(directed, weighted, num_nodes, num_edges, seed):
    graph = random_graph(num_nodes, num_edges, directed, weighted, seed % 1000)
    keys = linked_keys(graph)
    kept = spanning_forest(keys, num_nodes, np.random.default_rng(seed))
    count, label = components(graph)
    assert kept.sum() == num_nodes - count
    forest = Graph.from_edges(decode(keys[kept]), num_nodes)
    assert np.array_equal(components(forest)[1], label)


def test_every_tree_comes_out():
    square = linked_keys(cycle(4))
    trees = {tuple(spanning_forest(square, 4, np.random.default_rng(seed))) for seed in range(60)}
    assert len(trees) == len(list(combinations(range(4), 3)))


@kinds
@pytest.mark.parametrize("protocol", ["published", "clean"])
@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**40))
def test_the_graph_of_a_split_stays_together(directed, weighted, protocol, seed):
    graph = random_graph(40, 160, directed, weighted, seed % 1000)
    parts = split(sample(graph), "link", protocol, seed=seed, keep_connected=True)
    assert np.array_equal(components(parts.graph)[1], components(graph)[1])
    check_leaks(parts)
    plain = split(sample(graph), "link", protocol, seed=seed)
    pairs = len(linked_keys(graph))
    for name in ("val", "test"):
        ours, theirs = (linked_keys_of(each.parts()[name].positives) for each in (parts, plain))
        assert len(ours) == len(theirs)
    assert len(linked_keys(parts.graph)) == len(linked_keys(plain.graph)) <= pairs
    again = split(sample(graph), "link", protocol, seed=seed, keep_connected=True)
    assert np.array_equal(again.test.index, parts.test.index)


def linked_keys_of(pairs):
    return {frozenset(pair) for pair in pairs.T.tolist()}


def test_too_few_other_links_are_refused_with_figures():
    with pytest.raises(
        InputError,
        match=r"keep_connected=True must leave 4 of 20 links for validation and test, got 1 outside a spanning",
    ):
        split(sample(cycle(20)), "link", keep_connected=True)
    with pytest.raises(InputError, match="must leave 4 of 20 links for validation and test, got 0"):
        split(sample(path(21)), "link", keep_connected=True)


@pytest.mark.parametrize(
    ("task", "options", "sentence"),
    [
        ("pair", {"keep_connected": True}, "keep_connected must be False for task pair"),
        ("link", {"keep_connected": True, "protocol": "time"}, "keep_connected must be False for protocol 'time'"),
        ("link", {"keep_connected": "yes"}, "keep_connected must be True or False"),
    ],
)
def test_wrong_arguments(task, options, sentence):
    with pytest.raises(InputError, match=sentence):
        split(SimpleNamespace(graph=cycle(20), x=None, y=np.arange(20) % 2), task, **options)

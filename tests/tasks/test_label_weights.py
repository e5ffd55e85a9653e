"""Weights from training labels, and from nothing else."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.tasks import Examples, label_weights, split
from helpers import KIND_NAMES, KINDS, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)


def make(task, directed=False, weighted=False, protocol="published", seed=0):
    graph = random_graph(40, 200, directed, weighted, seed)
    y = np.random.default_rng(seed).integers(0, 3, 40)
    return y, split(SimpleNamespace(graph=graph, x=None, y=y), task, protocol, seed=seed)


@kinds
def test_weights_of_nodes(directed, weighted):
    y, parts = make("node", directed, weighted)
    known = set(parts.train.index.tolist())
    whole, got = parts.graph.to_scipy().toarray(), label_weights(parts, same=2.0, other=0.5).to_scipy().toarray()
    for u in range(40):
        for v in range(40):
            alike = u in known and v in known and y[u] == y[v]
            assert got[u, v] == whole[u, v] * (2.0 if alike else 0.5)


@kinds
@pytest.mark.parametrize("protocol", ["published", "node-disjoint"])
def test_weights_of_pairs(directed, weighted, protocol):
    _, parts = make("pair", directed, weighted, protocol)
    known = {frozenset(pair) for pair in parts.train.positives.T.tolist()}
    whole, got = parts.graph.to_scipy().toarray(), label_weights(parts).to_scipy().toarray()
    for u in range(40):
        for v in range(40):
            assert got[u, v] == whole[u, v] * (1.0 if frozenset((u, v)) in known else 0.01)
    assert (got == whole).any()
    weights = label_weights(parts)
    assert (weights.directed, weights.num_edges) == (directed, parts.graph.num_edges)


@settings(deadline=None, max_examples=20)
@given(st.sampled_from(["node", "pair"]), st.integers(0, 50))
def test_labels_of_validation_and_test_change_nothing(task, seed):
    """The node task: the same training labels, every other label changed. The pair task: every other pair turned over."""
    _, parts = make(task, seed=seed)
    before = label_weights(parts)
    changed = {}
    for name in ("val", "test"):
        part = getattr(parts, name)
        changed[name] = Examples(part.index, (part.label + 1) % 3 if task == "node" else 1 - part.label)
    after = label_weights(replace(parts, **changed))
    assert before.content_hash == after.content_hash


def test_the_whole_way_from_changed_labels_of_nodes():
    """Labels of unseen nodes changed before the split: same training nodes, same weights."""
    y, parts = make("node")
    other = y.copy()
    for part in (parts.val, parts.test):
        other[part.index] = (other[part.index] + 1) % 3
    again = split(SimpleNamespace(graph=parts.graph, x=None, y=other), "node")
    assert not np.array_equal(again.test.label, parts.test.label)
    assert label_weights(parts).content_hash == label_weights(again).content_hash


def test_the_whole_way_from_changed_labels_of_unseen_nodes_in_pairs():
    y, parts = make("pair", protocol="node-disjoint")
    other, known = y.copy(), np.unique(parts.train.index)
    unseen = np.setdiff1d(np.arange(40), known)
    other[unseen] = (other[unseen] + 1) % 3
    again = split(SimpleNamespace(graph=parts.graph, x=None, y=other), "pair", "node-disjoint")
    assert not np.array_equal(again.test.index, parts.test.index)
    assert label_weights(parts).content_hash == label_weights(again).content_hash


def test_wrong_arguments():
    _, parts = make("pair")
    for options in ({"same": 0}, {"other": -1.0}, {"other": float("inf")}, {"same": float("nan")}):
        with pytest.raises(InputError, match="must be a positive number"):
            label_weights(parts, **options)
    links = split(SimpleNamespace(graph=parts.graph, x=None, y=None), "link")
    with pytest.raises(InputError, match="needs a split of task pair or node, got one of task link"):
        label_weights(links)

"""Transitive closure of training pairs."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.tasks import closure, closure_scores, metrics, split
from graphreach.tasks.labels import same_component
from helpers import path

pair = st.tuples(st.integers(0, 14), st.integers(0, 14))


@given(st.lists(pair, max_size=20), st.lists(pair, max_size=20))
def test_components_of_pairs(links, pairs):
    G = nx.Graph(links)
    G.add_nodes_from(range(15))
    component = {node: i for i, nodes in enumerate(nx.connected_components(G)) for node in nodes}
    got = same_component(np.array(links, int).reshape(-1, 2).T, np.array(pairs, int).reshape(-1, 2).T, 15)
    assert got.tolist() == [component[u] == component[v] for u, v in pairs]


@pytest.mark.parametrize(("protocol", "auc"), [("published", 1.0), ("clean", 1.0), ("node-disjoint", 0.5)])
def test_closure_solves_what_it_can(protocol, auc):
    y = np.arange(120) % 4
    parts = split(SimpleNamespace(graph=path(120), x=None, y=y), "pair", protocol)
    for name in ("val", "test"):
        scores = closure(parts, name)
        assert metrics("pair", scores, parts.parts()[name])["auc"] == auc
        assert np.array_equal(scores, closure_scores(parts, parts.parts()[name].index))
    assert (closure(parts, "train")[parts.train.label == 1] == 1).all()


def test_closure_of_other_tasks():
    parts = split(SimpleNamespace(graph=path(20), x=None, y=None), "link")
    with pytest.raises(InputError, match="closure needs a split of task pair, got one of task link"):
        closure(parts)
    with pytest.raises(InputError, match="part must be one of train, val, test, got 'all'"):
        closure(parts, "all")

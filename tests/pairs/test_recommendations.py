"""The best of each node, whatever scores the pairs."""

import numpy as np
import polars as pl
import pytest

from graphreach.graph import Graph
from graphreach.pairs import PairFeatures, PairRecipe, Recommendations, recommendations
from graphreach.pairs.candidates import candidates
from graphreach.pairs.recommendations import best_new_links, recommend
from helpers import random_graph


def described(graph):
    return PairFeatures(graph, PairRecipe(steps=3, lengths=(3,), num_anchors=5, directed=graph.directed))


def some_scores(pairs):
    """Many equal ones among them."""
    return ((pairs[0] * 7 + pairs[1] * 13) % 5).astype(float)


def best(features, nodes, top, **more):
    blocks = recommend(features, some_scores, lambda scores: scores / 10, np.asarray(nodes), top, **more)
    return Recommendations.join(features.graph, blocks)


@pytest.mark.parametrize("directed", [False, True])
def test_the_best_candidates_in_order(directed):
    graph = random_graph(40, 90, directed)
    features = described(graph)
    nodes = [30, 2, 11]
    found = best(features, nodes, 4)
    pairs = candidates(features, np.array(nodes))
    rows = []
    for u in nodes:
        own = pairs[:, pairs[0] == u]
        order = sorted(range(own.shape[1]), key=lambda i, own=own: (-some_scores(own)[i], own[1, i]))[:4]
        rows += [(u, own[1, i], some_scores(own)[i] / 10, rank + 1) for rank, i in enumerate(order)]
    assert list(zip(*found.columns().values(), strict=True)) == rows


def test_blocks_say_what_the_whole_says(monkeypatch):
    features = described(random_graph(40, 90))
    whole = best(features, range(40), 3)
    monkeypatch.setattr(recommendations, "NODES", 7)
    parts = best(features, range(40), 3)
    for name, column in whole.columns().items():
        assert np.array_equal(column, parts.columns()[name])
    alone = best(features, [13], 3)
    assert np.array_equal(alone.partner, whole.partner[whole.node == 13])


def test_ids_and_nodes_without_candidates():
    graph = Graph.from_edge_list([("ann", "bob"), ("bob", "cid")], nodes=["dot"])
    found = best(described(graph), range(4), 3)
    assert list(zip(found.node, found.partner, strict=True)) == [("ann", "cid"), ("cid", "ann")]
    assert found.without.tolist() == ["bob", "dot"]
    assert repr(found) == "Recommendations(2 rows of 2 nodes, 2 without candidates)"


def test_nothing_asked():
    found = best(described(random_graph(10, 20)), np.empty(0, np.int64), 3)
    assert len(found) == 0
    assert repr(found) == "Recommendations(0 rows of 0 nodes)"


def test_more_partners_than_candidates_by_default():
    features = described(random_graph(40, 90))
    assert len(best(features, [0], 30, per_node=2)) > 8


def brute_force(features, top, per_node):
    """The best of all nodes' candidates, pair by pair."""
    graph, scored = features.graph, {}
    for u in range(graph.num_nodes):
        for v in candidates(features, np.array([u]), per_node, nearest=True)[1].tolist():
            pair = (u, v) if graph.directed else (min(u, v), max(u, v))
            scored[pair] = some_scores(np.array(pair)[:, None])[0]
    order = sorted(scored, key=lambda pair: (-scored[pair], pair))[:top]
    return [(*pair, scored[pair] / 10, rank) for rank, pair in enumerate(order, 1)]


@pytest.mark.parametrize("block", [1, 7, 1000])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("top", "per_node"), [(1, 8), (25, 8), (25, 200), (10_000, 200)])
def test_new_links_are_the_best_of_all_candidates(monkeypatch, directed, block, top, per_node):
    monkeypatch.setattr(recommendations, "NODES", block)
    features = described(random_graph(40, 90, directed))
    found = best_new_links(features, some_scores, lambda scores: scores / 10, top, per_node)
    assert list(zip(*found.columns().values(), strict=True)) == brute_force(features, top, per_node)
    pairs = {frozenset(pair) if not directed else pair for pair in zip(found.node, found.partner, strict=True)}
    assert len(pairs) == len(found)


def test_new_links_of_two_kinds_of_nodes_begin_at_the_sources():
    edges = {"user": ["zoe", "zoe", "yan", "yan", "xia"], "item": ["ale", "bun", "bun", "cup", "cup"]}
    graph = Graph.from_frame(pl.DataFrame(edges), source="user", target="item", bipartite=True)
    found = best_new_links(described(graph), some_scores, lambda scores: scores, 10)
    free = {(f"user:{u}", f"item:{v}") for u in edges["user"] for v in edges["item"]}
    free -= {(f"user:{u}", f"item:{v}") for u, v in zip(*edges.values(), strict=True)}
    assert set(zip(found.node.tolist(), found.partner.tolist(), strict=True)) == free


def test_new_links_of_nothing():
    graph = Graph.from_edges(np.empty((2, 0), np.int64), num_nodes=3)
    found = best_new_links(described(graph), some_scores, lambda scores: scores, 10)
    assert len(found) == 0
    assert found.without.tolist() == [0, 1, 2]

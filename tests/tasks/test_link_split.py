"""Splits of links against sets of pairs, written out."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.io import read_graph
from graphreach.tasks import check_leaks, split
from helpers import KIND_NAMES, KINDS, grid, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
protocols = pytest.mark.parametrize("protocol", ["published", "clean"])


def sample(graph):
    return SimpleNamespace(graph=graph, x=None, y=None)


def ordered(pairs):
    return [tuple(pair) for pair in np.asarray(pairs).T.tolist()]


def unordered(pairs):
    return {frozenset(pair) for pair in ordered(pairs)}


def links(graph):
    """Unordered pairs that have an edge, one way or the other."""
    return unordered(graph.edge_index) - {frozenset([v]) for v in range(graph.num_nodes)}


def non_links(graph):
    return {frozenset(pair) for pair in combinations(range(graph.num_nodes), 2)} - links(graph)


@kinds
@protocols
@settings(deadline=None, max_examples=40)
@given(num_nodes=st.integers(4, 25), num_edges=st.integers(4, 80), seed=st.integers(0, 2**40))
def test_invariants(directed, weighted, protocol, num_nodes, num_edges, seed):
    graph = random_graph(num_nodes, num_edges, directed, weighted, seed % 1000)
    free = non_links(graph)
    assume(len(links(graph)) >= 3 and len(free) >= 3)
    parts = split(sample(graph), "link", protocol, seed=seed)
    examples = list(parts.parts().values())
    positives = [unordered(part.positives) for part in examples]
    negatives = [unordered(part.negatives) for part in examples]

    # a partition of the links: nothing lost, nothing twice, no pair in two parts in either direction
    assert set.union(*positives) == links(graph)
    assert sum(map(len, positives)) == len(links(graph))
    counts = graph.num_edges
    assert sum(part.positives.shape[1] for part in examples) == counts
    if directed:
        every = np.concatenate([part.positives for part in examples], axis=1)
        assert sorted(ordered(every)) == sorted(ordered(graph.edge_index))

    # the graph that can be seen: the training links, with their weights, and all nodes
    assert links(parts.graph) == positives[0]
    assert parts.graph.num_nodes == num_nodes
    assert parts.graph.directed == directed
    assert np.array_equal(parts.graph.ids, graph.ids)
    whole, seen = graph.to_scipy().toarray(), parts.graph.to_scipy().toarray()
    for u in range(num_nodes):
        for v in range(num_nodes):
            assert seen[u, v] == (whole[u, v] if frozenset((u, v)) in positives[0] else 0)

    # negatives: one for each positive, or all there are
    for name, part, negative in zip(("train", "val", "test"), examples, negatives, strict=True):
        assert part.label.tolist() == [1] * part.positives.shape[1] + [0] * len(negative)
        assert part.negatives.shape[1] == len(negative)
        allowed = free if name != "train" or protocol == "clean" else free | positives[1] | positives[2]
        assert negative <= allowed
        if protocol == "published":
            assert len(negative) == min(part.positives.shape[1], len(allowed))
    if protocol == "clean":
        assert not negatives[0] & negatives[1]
        assert not negatives[0] & negatives[2]
        assert not negatives[1] & negatives[2]
        if counts <= len(free):
            assert [len(negative) for negative in negatives] == [part.positives.shape[1] for part in examples]
    check_leaks(parts)


@kinds
def test_seeds(directed, weighted):
    graph = random_graph(40, 200, directed, weighted)
    first, again, other = (split(sample(graph), "link", "published", seed=seed, candidates=5) for seed in (3, 3, 4))
    for name in ("train", "val", "test"):
        a, b, c = (getattr(each, name) for each in (first, again, other))
        assert np.array_equal(a.index, b.index)
        assert not np.array_equal(a.index, c.index)
        if name != "train":
            assert np.array_equal(a.candidates, b.candidates)
    assert first.graph.content_hash == again.graph.content_hash != other.graph.content_hash
    assert first.seed == 3


def test_positives_and_training_do_not_depend_on_the_kind_of_negatives():
    graph = random_graph(60, 200)
    plain = split(sample(graph), "link", "published")
    for options in ({"negatives": "same-distance"}, {"negatives": "common-neighbour"}, {"candidates": 4}):
        other = split(sample(graph), "link", "published", **options)
        assert np.array_equal(plain.train.index, other.train.index)
        assert np.array_equal(plain.test.positives, other.test.positives)


@protocols
def test_every_allowed_pair_is_drawn_for_some_seed_and_no_other(protocol):
    """The literal rules on a graph of seven nodes, by the union of many seeds."""
    graph = Graph.from_edges([[0, 1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 6, 3]])
    drawn = {"train": set(), "val": set(), "test": set()}
    wrong = 0
    for seed in range(300):
        parts = split(sample(graph), "link", protocol, seed=seed)
        for name, part in parts.parts().items():
            drawn[name] |= unordered(part.negatives)
        held_out = unordered(parts.val.positives) | unordered(parts.test.positives)
        wrong += len(held_out & unordered(parts.train.negatives))
    assert drawn["val"] == drawn["test"] == non_links(graph)
    every_pair = non_links(graph) | links(graph)
    assert drawn["train"] == (non_links(graph) if protocol == "clean" else every_pair)
    # Published: 5 of the 14 non-links and 2 held-out links.
    assert wrong == 0 if protocol == "clean" else 0.8 < wrong / 300 / (2 * 5 / 16) < 1.2


def test_undirected_pairs_are_turned_at_random():
    parts = split(sample(random_graph(200, 2000)), "link", "published")
    for pairs in (parts.train.positives, parts.train.negatives):
        assert 0.4 < np.mean(pairs[0] < pairs[1]) < 0.6


def test_reciprocal_edges_stay_together():
    """Else the reverse of a test edge could be seen."""
    edges = np.array(list(combinations(range(9), 2))[::2]).T
    graph = Graph.from_edges(np.concatenate([edges, edges[::-1]], axis=1), directed=True)
    parts = split(sample(graph), "link", "published")
    for part in parts.parts().values():
        pairs = set(ordered(part.positives))
        assert {(v, u) for u, v in pairs} == pairs


def test_self_loops_are_seen_and_no_links():
    graph = Graph.from_edges([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 0]], self_loops=True)
    parts = split(sample(graph), "link", "published")
    assert parts.graph.to_scipy().toarray()[0, 0] == 1
    assert all((part.index[0] != part.index[1]).all() for part in parts.parts().values())


def test_ids_and_features_are_kept():
    graph = Graph.from_edge_list([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
    x = np.eye(5, dtype=np.float32)
    parts = split(SimpleNamespace(graph=graph, x=x, y=None), "link", "published")
    assert parts.graph.ids.tolist() == list("abcde")
    assert np.array_equal(parts.x, x)


@protocols
@pytest.mark.parametrize("missing", [1, 3])
def test_almost_complete_graphs_have_fewer_negatives(protocol, missing):
    pairs = np.array(list(combinations(range(8), 2))[missing:]).T
    graph = Graph.from_edges(pairs)
    if protocol == "clean" and missing < 3:
        with pytest.raises(InputError, match="found no unlinked pair for"):
            split(sample(graph), "link", protocol)
        return
    parts = split(sample(graph), "link", protocol)
    assert 1 <= parts.val.negatives.shape[1] <= missing
    assert parts.train.negatives.shape[1] >= 1


def test_complete_graph():
    graph = Graph.from_edges(np.array(list(combinations(range(6), 2))).T)
    with pytest.raises(InputError, match="must have unlinked pairs to draw negatives from, got all 15 linked"):
        split(sample(graph), "link", "published")


@pytest.mark.parametrize("edges", [[[], []], [[0], [1]], [[0, 1], [1, 2]]])
def test_too_few_edges(edges):
    graph = Graph.from_edges(np.array(edges, np.int64), num_nodes=5)
    with pytest.raises(InputError, match=f"at least 3 edges to split, got {len(edges[0])}"):
        split(sample(graph), "link", "published")


def test_counts_on_a_grid():
    """Grid of the paper: 760 edges, 608 of them for training."""
    parts = split(sample(grid(20)), "link", "published")
    assert [len(part) for part in parts.parts().values()] == [1216, 152, 152]
    assert parts.graph.num_edges == 608


def test_counts_on_email(data_root):
    graph = read_graph(data_root / "email" / "email.txt", directed=False)
    parts = split(sample(graph), "link", "published")
    total = sum(part.positives.shape[1] for part in parts.parts().values())
    assert total == graph.num_edges == 16064
    assert parts.graph.num_edges == 12851
    report = check_leaks(parts)
    # 3,213 held-out links among 492,659 pairs that are no training links: 2.6% of them by chance
    expected = 12851 * 3213 / (graph.num_nodes * (graph.num_nodes - 1) / 2 - 12851)
    found = report.false_negatives_val + report.false_negatives_test
    assert abs(found - expected) < 5 * np.sqrt(expected)

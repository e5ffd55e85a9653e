"""Negatives whose ends are drawn in proportion to training degree."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.tasks import check_leaks, split
from graphreach.tasks.degree_negatives import draw_by_degree
from graphreach.tasks.pair_keys import encode, unique
from helpers import KIND_NAMES, KINDS, path, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)


def sample(graph):
    return SimpleNamespace(graph=graph, x=None, y=None)


def keys_of(pairs):
    return {frozenset(pair) for pair in pairs.T.tolist()}


def no_keys():
    return np.empty(0, np.int64)


@kinds
@settings(deadline=None, max_examples=40)
@given(num_nodes=st.integers(4, 25), num_edges=st.integers(4, 60), seed=st.integers(0, 2**40))
def test_pairs_are_different_and_unlinked_and_their_ends_have_edges(directed, weighted, num_nodes, num_edges, seed):
    graph = random_graph(num_nodes, num_edges, directed, weighted, seed % 1000)
    taken = unique(encode(graph.edge_index))
    rng = np.random.default_rng(seed)
    pairs = draw_by_degree(graph, 30, taken, rng)
    found = keys_of(pairs)
    assert len(found) == pairs.shape[1] <= 30
    assert all(len(pair) == 2 for pair in found)
    assert not found & keys_of(graph.edge_index)
    out_degree, in_degree = np.diff(graph.indptr.astype(int)), np.diff(graph.transpose().indptr.astype(int))
    assert (out_degree[pairs[0]] > 0).all()
    assert (in_degree[pairs[1]] > 0).all()


def test_both_ends_are_as_likely_as_their_degrees():
    """A directed graph, where out-degrees and in-degrees differ; weights and self-loops do not count."""
    edges = [[0, 0, 0, 1, 2, 2, 5], [3, 4, 5, 3, 3, 4, 5]]
    graph = Graph.from_edges(edges, 6, [1, 9, 1, 1, 5, 1, 7.0], directed=True, self_loops=True)
    rng = np.random.default_rng(0)
    drawn = np.concatenate([draw_by_degree(graph, 1, no_keys(), rng) for _ in range(12000)], axis=1)
    for side, degree in ((0, [3, 1, 2, 0, 0, 0]), (1, [0, 0, 0, 3, 2, 1])):
        counts = np.bincount(drawn[side], minlength=6)
        assert np.abs(counts / 12000 - np.array(degree) / 6).max() < 0.02


def test_few_pairs_are_all_found_and_none_ends():
    star = Graph.from_edges([[0, 0, 0], [1, 2, 3]], 6)
    taken = unique(encode(star.edge_index))
    pairs = draw_by_degree(star, 10, taken, np.random.default_rng(0))
    assert keys_of(pairs) == {frozenset(pair) for pair in ((1, 2), (1, 3), (2, 3))}
    empty = Graph.from_edges(np.empty((2, 0), int), 3)
    assert draw_by_degree(empty, 10, no_keys(), np.random.default_rng(0)).shape == (2, 0)


@kinds
@pytest.mark.parametrize("protocol", ["published", "clean"])
def test_a_split_draws_all_parts_by_degree(directed, weighted, protocol):
    rng = np.random.default_rng(1)
    popular = np.minimum(rng.geometric(0.02, (2, 1500)), 200) - 1
    graph = Graph.from_edges(popular, 400, directed=directed)
    uniform, by_degree = (split(sample(graph), "link", protocol, negatives=how) for how in ("uniform", "degree"))
    degree = np.bincount(by_degree.graph.edge_index.ravel(), minlength=400)
    for part in ("train", "val", "test"):
        ours, plain = by_degree.parts()[part], uniform.parts()[part]
        assert np.array_equal(ours.positives, plain.positives)
        assert ours.negatives.shape == plain.negatives.shape
        assert degree[ours.negatives].mean() > 3 * degree[plain.negatives].mean()
        assert (degree[ours.negatives] > 0).all()
    assert by_degree.negatives == "degree"
    check_leaks(by_degree)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**40), directed=st.booleans())
def test_no_pair_is_in_two_parts_and_a_seed_repeats(seed, directed):
    graph = random_graph(30, 60, directed, seed=seed % 100)
    assume(graph.num_edges > 20)
    parts = split(sample(graph), "link", negatives="degree", seed=seed)
    check_leaks(parts)
    again = split(sample(graph), "link", negatives="degree", seed=seed)
    for name, part in parts.parts().items():
        assert np.array_equal(part.index, again.parts()[name].index)


def test_popularity_says_little_once_negatives_are_as_popular():
    """The bias that the split is made against: the product of degrees finds links among uniform negatives."""
    rng = np.random.default_rng(0)
    weight = 1 / np.arange(1, 1001)
    ends = rng.choice(1000, (2, 4000), p=weight / weight.sum())
    graph = Graph.from_edges(ends, 1000)

    def auc(how):
        parts = split(sample(graph), "link", negatives=how)
        degree = parts.graph.degree
        scores = degree[parts.test.index[0]] * degree[parts.test.index[1]]
        links, others = scores[parts.test.label == 1], scores[parts.test.label == 0]
        return (links[:, None] > others).mean() + (links[:, None] == others).mean() / 2

    assert auc("uniform") > 0.8
    assert auc("degree") < 0.65


def test_a_graph_without_such_pairs_is_refused():
    with pytest.raises(InputError, match=r"negatives='degree' found no unlinked pair for test in .*use 'uniform'"):
        split(sample(path(3)), "link", negatives="degree", fractions=(0.5, 0, 0.5))

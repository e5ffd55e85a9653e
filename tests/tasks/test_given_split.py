"""Splits whose links of validation and test are given."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphreach.datasets import Sample
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.tasks import (
    GivenPairs,
    LeakError,
    check_leaks,
    metrics,
    score,
    split,
    split_given,
)
from helpers import KIND_NAMES, KINDS, cycle, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)


def unordered(pairs):
    return {frozenset(pair) for pair in np.asarray(pairs).T.tolist()}


def some_links(graph, count, seed=0):
    """Linked pairs, no pair twice, in random order and direction."""
    edges = np.random.default_rng(seed).permutation(graph.edge_index.T)
    first = {frozenset(pair): pair for pair in edges.tolist() if pair[0] != pair[1]}
    return np.array(list(first.values())[:count]).T


@kinds
@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**40), has_validation=st.booleans())
def test_examples_are_those_given_and_out_of_the_graph(directed, weighted, seed, has_validation):
    graph = random_graph(30, 120, directed, weighted, seed % 1000)
    pairs = some_links(graph, 20, seed % 7)
    test, val = pairs[:, :12], pairs[:, 12:] if has_validation else None
    parts = split_given(graph, test, val, seed=seed)
    assert np.array_equal(parts.test.positives, test)
    assert val is None or np.array_equal(parts.val.positives, val)
    positives = [unordered(part.positives) for part in parts.parts().values()]
    assert set.union(*positives) == unordered(graph.edge_index) - {frozenset([v]) for v in range(30)}
    assert sum(map(len, positives)) == len(set.union(*positives))
    assert unordered(parts.graph.edge_index) == positives[0]
    negatives = [unordered(part.negatives) for part in parts.parts().values()]
    assert not set.union(*negatives) & unordered(graph.edge_index)
    assert len(set.union(*negatives)) == sum(map(len, negatives))
    assert (parts.protocol, parts.task) == ("given", "link")
    assert "no leak" in str(check_leaks(parts))


def test_links_that_are_not_in_the_graph_may_be_given():
    """Published files often keep the training links apart."""
    graph = cycle(30)
    parts = split_given(graph, [[0, 3], [15, 20]], [[5], [22]])
    assert parts.graph.content_hash == graph.content_hash
    assert len(parts.val) == 2
    assert not unordered(parts.train.negatives) & unordered([[0, 3, 5], [15, 20, 22]])


def test_negatives_are_those_given_and_training_avoids_them():
    graph = cycle(12)
    wrong = np.array([[0, 1, 2, 3, 4, 5], [2, 3, 4, 5, 6, 7]])
    parts = split_given(graph, [[0], [1]], [[4], [5]], test_negatives=wrong, val_negatives=[[0, 8], [2, 11]])
    assert np.array_equal(parts.test.negatives, wrong)
    assert parts.val.negatives.tolist() == [[0, 8], [2, 11]]
    assert not unordered(parts.train.negatives) & (unordered(wrong) | {frozenset((8, 11))})


def test_validation_is_drawn_from_the_links_left():
    graph = random_graph(60, 300)
    test = some_links(graph, 30)
    left = graph.num_edges - 30
    parts = split_given(graph, test, fractions=(0.6, 0.2, 0.2))
    assert parts.val.positives.shape[1] == left - int(left * 0.75)
    whole = split_given(graph, test, fractions=(0.8, 0, 0.2))
    assert (len(whole.val), whole.train.positives.shape[1]) == (0, left)
    others = split_given(graph, test, seed=1)
    assert unordered(others.val.positives) != unordered(split_given(graph, test).val.positives)


def test_other_options_of_a_split_go_with_it():
    graph = random_graph(60, 300)
    test = some_links(graph, 30)
    parts = split_given(graph, test, negatives="degree", keep_connected=True)
    assert parts.negatives == "degree"
    own = SimpleNamespace(graph=graph, x=np.ones((60, 2)), y=None)
    assert split_given(own, test).x.shape == (60, 2)
    via = split(Sample(graph, given=GivenPairs(test)), "link", "given", negatives="degree", keep_connected=True)
    assert np.array_equal(via.train.index, parts.train.index)


def test_candidates_are_targets_or_pairs():
    graph = cycle(20)
    targets = split_given(graph, [[0, 7], [1, 6]], test_candidates=[[5, 9, 11], [1, 2, 3]]).test
    assert targets.candidate_pairs.tolist() == [[0, 0, 0, 7, 7, 7], [5, 9, 11, 1, 2, 3]]
    either_end = [[[0, 5], [9, 1]], [[7, 3], [12, 6]]]
    pairs = split_given(graph, [[0, 7], [1, 6]], test_candidates=either_end).test
    assert pairs.candidate_pairs.tolist() == [[0, 9, 7, 12], [5, 1, 3, 6]]
    assert repr(pairs) == "Examples(4 pairs, 2 positive, 2 candidates each)"
    held_out = split_given(graph, [[0, 7], [1, 6]], test_candidates=[[[7, 6]], [[0, 1]]]).test
    assert held_out.candidates.shape == (2, 1, 2)  # a link of the test may be a candidate of another


@pytest.mark.parametrize("shape", [(2,), (3, 4), (2, 4, 3), (2, 1, 2, 2)])
def test_candidates_of_another_shape_are_refused(shape):
    with pytest.raises(InputError, match=r"candidates must have one row for each of 2 positives, \[2, c\] targets or"):
        split_given(cycle(20), [[0, 7], [1, 6]], test_candidates=np.full(shape, 12))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"val_pairs": [[3, 1], [4, 0]]}, r"1 of 2 test positives are validation positives too, such as \(0, 1\)"),
        ({"val_pairs": [[3, 0], [4, 1]]}, r"1 of 2 test positives are validation positives too, such as \(0, 1\)"),
        ({"test_negatives": [[0, 3], [5, 4]]}, r"1 of 2 test negatives are edges of the graph, such as \(3, 4\)"),
        ({"test_negatives": [[0, 7], [5, 8]]}, r"1 of 2 test negatives are validation or test positives, .*\(7, 8\)"),
        (
            {"val_pairs": [[3], [4]], "val_negatives": [[0], [1]]},
            r"1 of 1 validation negatives are validation or test positives, such as \(0, 1\)",
        ),
        ({"test_candidates": [[5, 9], [9, 3]], "val_pairs": [[3], [4]]}, None),
        ({"test_candidates": [[5, 19], [9, 6]]}, r"test candidates are edges of the graph, such as"),
    ],
)
def test_leaks_are_refused(directed, options, sentence):
    graph = cycle(20)
    if directed:
        graph = Graph.from_edges(graph.edge_index, directed=True)
    if sentence is None:
        split_given(graph, [[0, 7], [1, 8]], **options)
        return
    with pytest.raises(LeakError, match=sentence):
        split_given(graph, [[0, 7], [1, 8]], **options)


def test_the_reverse_of_a_directed_link_can_be_a_negative():
    graph = cycle(20, directed=True)
    assert split_given(graph, [[0], [1]], test_negatives=[[1, 4], [0, 3]]).test.negatives.tolist() == [[1, 4], [0, 3]]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"test_pairs": [[0], [0]]}, r"test_pairs must hold pairs of different nodes, got \(0, 0\)"),
        ({"test_pairs": [[0], [20]]}, "test_pairs must hold positions between 0 and 19, got 20"),
        ({"test_pairs": np.empty((2, 0), int)}, "test_pairs must hold at least one pair, got none"),
        ({"test_pairs": [[0, 1], [1, 2], [2, 3]]}, r"test_pairs must be an integer array of shape \[2, m\]"),
        ({"val_negatives": [[0], [5]]}, "val_negatives must go with val_pairs"),
        ({"val_candidates": [[0], [5]]}, "val_candidates must go with val_pairs"),
        ({"test_candidates": [[25]]}, "test_candidates must hold positions between 0 and 19, got 25"),
        ({"test_candidates": [[0.5]]}, "test_candidates must be a list or array of integers"),
        ({"test_negatives": [[4], [4]]}, "test_negatives must hold pairs of different nodes"),
        ({"test_pairs": [range(20), [*range(1, 20), 0]]}, "test_pairs and val_pairs must leave links to train on"),
        ({"sample": "ring"}, "sample must have graph, x and y"),
    ],
)
def test_wrong_arguments(options, sentence):
    with pytest.raises(InputError, match=sentence):
        split_given(**({"sample": cycle(20), "test_pairs": [[0], [1]]} | options))


def test_the_protocol_needs_pairs():
    own = SimpleNamespace(graph=cycle(20), x=None, y=None)
    with pytest.raises(InputError, match="protocol 'given' must have the links of the test, got a sample without"):
        split(own, "link", "given")
    with pytest.raises(InputError, match="candidates must be 0 for protocol 'given', got 3"):
        split(Sample(cycle(20), given=GivenPairs([[0], [1]])), "link", "given", candidates=3)
    with pytest.raises(InputError, match="given must be GivenPairs or None"):
        Sample(cycle(20), given=[[0], [1]])


def test_files_of_heart(data_root):
    """500 hard negatives of each link, which replace either end."""
    folder = data_root / "heart-citeseer"
    if not folder.exists():
        pytest.skip("HeaRT's files are not here")
    pairs = {part: np.loadtxt(folder / f"{part}_pos.txt", dtype=int).T for part in ("train", "valid", "test")}
    hard = {part: np.load(folder / f"{part}_hard_negatives.npz")["pairs"] for part in ("valid", "test")}
    graph = Graph.from_edges(pairs["train"], 3327)
    parts = split_given(
        graph, pairs["test"], pairs["valid"], test_candidates=hard["test"], val_candidates=hard["valid"]
    )
    assert parts.graph.content_hash == graph.content_hash
    assert repr(parts.test) == "Examples(910 pairs, 455 positive, 500 candidates each)"
    ranked = score("common-neighbours", parts.graph, parts.test.candidate_pairs).reshape(455, 500)
    own = score("common-neighbours", parts.graph, parts.test.index)
    found = metrics("link", own, parts.test, ranked)
    assert list(found) == ["auc", "ap", "mrr", "hits@1", "hits@3", "hits@10", "hits@50", "hits@100"]
    assert metrics("link", own, parts.test, ranked, ties="mean")["mrr"] == pytest.approx(0.0842, abs=1e-4)
    assert found["mrr"] == pytest.approx(0.0648, abs=1e-4)  # ties count against the link

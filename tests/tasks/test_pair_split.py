"""Splits of pairs of nodes against sets of pairs, written out."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.io import read_graph
from graphreach.tasks import check_leaks, closure, metrics, split
from graphreach.tasks.pair_split import LabelPairs
from helpers import path, random_graph

labels = st.lists(st.integers(-1, 4), min_size=4, max_size=30).map(np.array)


def sample(y, graph=None):
    return SimpleNamespace(graph=path(len(y)) if graph is None else graph, x=None, y=np.asarray(y))


def unordered(pairs):
    return {frozenset(pair) for pair in np.asarray(pairs).T.tolist()}


def pairs_by_label(y, nodes=None):
    """Literally: pairs of labelled nodes with one label, and with two."""
    nodes = [v for v in (range(len(y)) if nodes is None else nodes) if y[v] >= 0]
    pairs = [frozenset(pair) for pair in combinations(nodes, 2)]
    same = {pair for pair in pairs if len({y[v] for v in pair}) == 1}
    return same, set(pairs) - same


@given(labels)
def test_numbers_of_pairs_are_all_pairs(y):
    nodes = np.flatnonzero(y >= 0)
    pairs = LabelPairs(nodes, y[nodes])
    same, different = pairs_by_label(y)
    assert (pairs.num_same, pairs.num_different) == (len(same), len(different))
    got = pairs.same(np.arange(len(same))), pairs.different(np.arange(len(different)))
    assert got[0].shape[1] == len(same)
    assert (unordered(got[0]), unordered(got[1])) == (same, different)


@pytest.mark.parametrize("protocol", ["published", "clean"])
@settings(deadline=None, max_examples=60)
@given(y=labels, seed=st.integers(0, 2**50), max_pairs=st.none() | st.integers(3, 40))
def test_invariants(protocol, y, seed, max_pairs):
    same, different = pairs_by_label(y)
    assume(len(same) >= 3 and len(different) >= 3)
    one = sample(y)
    parts = split(one, "pair", protocol, seed=seed, max_pairs=max_pairs)
    examples = list(parts.parts().values())
    positives = [unordered(part.positives) for part in examples]
    negatives = [unordered(part.negatives) for part in examples]
    used = set.union(*positives)
    assert used <= same
    assert sum(map(len, positives)) == len(used) == min(len(same), max_pairs or len(same))
    for part, positive, negative in zip(examples, positives, negatives, strict=True):
        assert len(part) == len(positive) + len(negative)
        assert (part.positives.shape[1], part.negatives.shape[1]) == (len(positive), len(negative))
    assert negatives[1] <= different
    assert negatives[2] <= different
    if protocol == "published":
        allowed = different | positives[1] | positives[2]
        assert negatives[0] <= allowed
        assert len(negatives[0]) == min(len(positives[0]), len(allowed))
        assert [len(each) for each in negatives[1:]] == [min(len(each), len(different)) for each in positives[1:]]
    else:
        assert negatives[0] <= different
        assert sum(map(len, negatives)) == len(set.union(*negatives)) == min(len(used), len(different))
        assert all(negatives)
    assert parts.graph is one.graph
    assert parts.num_classes is None
    check_leaks(parts)


@settings(deadline=None, max_examples=60)
@given(y=labels, seed=st.integers(0, 2**50), max_pairs=st.none() | st.integers(3, 40))
def test_node_disjoint_parts_share_no_node(y, seed, max_pairs):
    assume((y >= 0).sum() >= 3)
    try:
        parts = split(sample(y), "pair", "node-disjoint", seed=seed, max_pairs=max_pairs)
    except InputError as error:
        assert "training nodes pairs of one label and pairs of two" in str(error)  # noqa: PT017
        return
    limits = [None if max_pairs is None else max(1, int(max_pairs * share)) for share in (0.8, 0.1, 0.1)]
    seen = set()
    for part, limit in zip(parts.parts().values(), limits, strict=True):
        nodes = set(part.index.ravel().tolist())
        assert not nodes & seen
        seen |= nodes
        positives, negatives = unordered(part.positives), unordered(part.negatives)
        same, different = pairs_by_label(y)
        assert positives <= same
        assert negatives <= different
        assert len(part) == len(positives) + len(negatives)
        assert bool(positives) == bool(negatives)
        assert limit is None or len(positives) <= limit
    check_leaks(parts)


def test_node_disjoint_takes_all_pairs_of_a_part():
    """All pairs of one label among the training nodes, and as many of two."""
    y = np.random.default_rng(0).integers(0, 4, 200)
    parts = split(sample(y), "pair", "node-disjoint")
    assert [len(np.unique(part.index)) for part in parts.parts().values()] == [160, 20, 20]
    for part in parts.parts().values():
        same, different = pairs_by_label(y, np.unique(part.index).tolist())
        assert unordered(part.positives) == same
        assert len(unordered(part.negatives) & different) == len(same)


@pytest.mark.parametrize("protocol", ["published", "clean"])
def test_every_allowed_pair_is_drawn_for_some_seed_and_no_other(protocol):
    y = np.array([0, 0, 0, 0, 1, 1, 2])
    same, different = pairs_by_label(y)
    drawn = {"train": set(), "val": set(), "test": set()}
    for seed in range(200):
        for name, part in split(sample(y), "pair", protocol, seed=seed).parts().items():
            drawn[name] |= unordered(part.negatives)
    assert drawn["val"] == drawn["test"] == different
    assert drawn["train"] == (different if protocol == "clean" else different | same)


def test_seeds():
    y = np.random.default_rng(1).integers(0, 3, 60)
    for protocol in ("published", "clean", "node-disjoint"):
        first, again, other = (split(sample(y), "pair", protocol, seed=seed) for seed in (5, 5, 6))
        assert np.array_equal(first.train.index, again.train.index)
        assert np.array_equal(first.test.index, again.test.index)
        assert not np.array_equal(first.test.index, other.test.index)


def test_pairs_are_turned_at_random():
    parts = split(sample(np.random.default_rng(0).integers(0, 3, 100)), "pair", "published")
    for pairs in (parts.train.positives, parts.train.negatives):
        assert 0.4 < np.mean(pairs[0] < pairs[1]) < 0.6


def test_odd_labels():
    with pytest.raises(InputError, match="y must hold at least two labels, got one for all 5 labelled nodes"):
        split(sample([3, 3, 3, -1, 3, 3]), "pair", "published")
    with pytest.raises(InputError, match="at least two nodes one label, got 4 nodes of different labels"):
        split(sample([0, 1, 2, 3]), "pair", "published")
    with pytest.raises(InputError, match="at least 3 pairs of nodes with one label to split, got 1"):
        split(sample([0, 0, 1, 2]), "pair", "published")
    with pytest.raises(InputError, match="at least 3 labelled nodes to split, got 2"):
        split(sample([0, 0, -1, -1]), "pair", "node-disjoint")
    with pytest.raises(InputError, match="at least two nodes one label, got 0 nodes"):
        split(sample([-1, -1, -1]), "pair", "published")


def test_millions_of_pairs_by_a_sample():
    """20,000 nodes in three classes have 67 million pairs of one label; none but the sample is made."""
    y = np.random.default_rng(0).integers(0, 3, 20_000)
    graph = random_graph(20_000, 40_000)
    parts = split(sample(y, graph), "pair", "published", max_pairs=100_000)
    assert [len(part) for part in parts.parts().values()] == [160_000, 20_000, 20_000]
    for part in parts.parts().values():
        one = y[part.positives]
        assert (one[0] == one[1]).all()
        assert len(unordered(part.positives)) == part.positives.shape[1]
    two = y[parts.test.negatives]
    assert (two[0] != two[1]).all()


def email(data_root):
    graph = read_graph(data_root / "email" / "email.txt", directed=False)
    table = np.loadtxt(data_root / "email" / "email_labels.txt", dtype=np.int64)
    y = np.full(graph.num_nodes, -1)
    label = dict(table.tolist())
    y[:] = [label[node] for node in graph.ids.tolist()]
    return SimpleNamespace(graph=graph, x=None, y=y)


def test_closure_solves_the_pair_split_of_email_and_not_the_node_split(data_root):
    one = email(data_root)
    sizes = np.bincount(one.y)
    parts = split(one, "pair", "published")
    total = sum(part.positives.shape[1] for part in parts.parts().values())
    assert total == int((sizes * (sizes - 1) // 2).sum())
    assert metrics("pair", closure(parts), parts.test)["auc"] > 0.9995
    report = check_leaks(parts)
    assert report.closure > 0.999
    assert "transitive closure of the training positives holds 100.0% of the test positives" in str(report)
    apart = split(one, "pair", "node-disjoint")
    assert metrics("pair", closure(apart), apart.test)["auc"] == 0.5
    assert check_leaks(apart).closure == 0

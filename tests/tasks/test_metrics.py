"""Metrics against counts written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.tasks import Examples, mean_metrics, metrics, pooled_hits
from graphreach.tasks.metrics import rank_among


def pairs(label):
    label = np.asarray(label)
    return Examples(np.stack([np.arange(len(label)), np.arange(len(label)) + 1]), label)


def literal_auc(label, scores):
    """The share of (positive, negative) couples in the right order; a tie is half right."""
    positive, negative = np.asarray(scores)[np.asarray(label) == 1], np.asarray(scores)[np.asarray(label) == 0]
    return np.mean([(a > b) + 0.5 * (a == b) for a in positive for b in negative])


def literal_ap(label, scores):
    """Sum over thresholds of precision times the recall gained."""
    total, recall = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        chosen = [y for y, s in zip(label, scores, strict=True) if s >= threshold]
        new = sum(chosen) / sum(label)
        total += (new - recall) * sum(chosen) / len(chosen)
        recall = new
    return total


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5)), min_size=2, max_size=30))
def test_pairs(rows):
    label, scores = (list(column) for column in zip(*rows, strict=True))
    got = metrics("link", scores, pairs(label))
    if len(set(label)) < 2:
        assert got == {}
        return
    assert got["auc"] == pytest.approx(literal_auc(label, scores))
    assert got["ap"] == pytest.approx(literal_ap(label, scores))


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 12), st.integers(1, 15) | st.integers(45, 110), st.integers(0, 99))
def test_ranking(positives, count, seed):
    """Rank = 1 + candidates that score at least as much; K is left out where all places would be hits."""
    rng = np.random.default_rng(seed)
    scores, candidates = rng.integers(0, 6, positives), rng.integers(0, 6, (positives, count))
    got = metrics("link", scores, pairs(np.ones(positives, int)), candidates)
    rank = 1 + (candidates >= scores[:, None]).sum(axis=1)
    assert got["mrr"] == pytest.approx(np.mean(1 / rank))
    for k in (1, 3, 10, 50, 100):
        if k <= count:
            assert got[f"hits@{k}"] == pytest.approx(np.mean(rank <= k))
        else:
            assert f"hits@{k}" not in got
    assert "auc" not in got
    mean = 1 + ((candidates >= scores[:, None]).sum(axis=1) + (candidates > scores[:, None]).sum(axis=1)) / 2
    got = metrics("link", scores, pairs(np.ones(positives, int)), candidates, ties="mean")
    assert got["mrr"] == pytest.approx(np.mean(1 / mean))
    assert got["hits@1"] == pytest.approx(np.mean(mean <= 1))


def test_candidates_go_with_the_positives_in_order():
    examples = pairs([0, 1, 0, 1])
    got = metrics("lp", [9, 5, 9, 1], examples, [[4, 4, 4], [2, 2, 0]])
    assert got["mrr"] == pytest.approx((1 + 1 / 3) / 2)


def test_nodes_by_hand():
    """Three classes of which two occur: each against the rest, then the mean."""
    examples = Examples(np.arange(4), np.array([0, 0, 2, 2]))
    p = np.array([[0.5, 0.2, 0.3], [0.2, 0.2, 0.6], [0.3, 0.1, 0.6], [0.1, 0.6, 0.3]])
    got = metrics("node", p, examples)
    assert got["accuracy"] == 0.5
    zero, two = literal_auc([1, 1, 0, 0], p[:, 0]), literal_auc([0, 0, 1, 1], p[:, 2])
    assert got["auc"] == pytest.approx((zero + two) / 2)
    hard = np.eye(3)[[0, 2, 2, 1]]
    zero, two = literal_auc([1, 1, 0, 0], hard[:, 0]), literal_auc([0, 0, 1, 1], hard[:, 2])
    assert got["hard_auc"] == pytest.approx((zero + two) / 2)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=25), st.integers(0, 99))
def test_nodes(label, seed):
    p = np.random.default_rng(seed).dirichlet(np.ones(4), len(label))
    label = np.array(label)
    got = metrics("node", p.astype(np.float32), Examples(np.arange(len(label)), label))
    assert got["accuracy"] == pytest.approx(np.mean(p.argmax(axis=1) == label))
    if len(set(label.tolist())) == 1:
        assert set(got) == {"accuracy"}
        return
    present, hard = sorted(set(label.tolist())), np.eye(4)[p.argmax(axis=1)]
    assert got["auc"] == pytest.approx(np.mean([literal_auc(label == c, p[:, c].astype(np.float32)) for c in present]))
    assert got["hard_auc"] == pytest.approx(np.mean([literal_auc(label == c, hard[:, c]) for c in present]))


def test_agrees_with_scikit_learns_one_vs_rest():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    p, label = rng.dirichlet(np.ones(5), 80), np.arange(80) % 5
    got = metrics("node", p, Examples(np.arange(80), label))
    assert got["auc"] == pytest.approx(roc_auc_score(label, p, multi_class="ovr", average="macro"))


def test_nothing_to_score():
    assert metrics("pair", [], Examples(np.empty((2, 0)), np.empty(0))) == {}
    assert metrics("node", np.empty((0, 3)), Examples(np.empty(0), np.empty(0))) == {}
    assert metrics("link", [], Examples(np.empty((2, 0)), np.empty(0)), np.empty((0, 5))) == {}


def test_mean_over_the_graphs_that_have_a_metric():
    got = mean_metrics([{"auc": 0.5, "mrr": 0.25}, {"auc": 1.0}, {}])
    assert got == {"auc": 0.75, "mrr": 0.25}
    assert got.left_out == {"auc": 1, "mrr": 2}
    assert got.num_graphs == 3
    assert mean_metrics([]) == {}
    assert repr(mean_metrics([{}])) == "MeanMetrics(none of 1 graphs)"
    with pytest.raises(InputError, match="metric ap must be finite"):
        mean_metrics([{"auc": 0.5, "ap": float("nan")}])


@pytest.mark.parametrize(
    ("task", "scores", "candidates", "sentence"),
    [
        ("link", [1.0], None, r"scores must have shape \[2\]"),
        ("link", [1.0, float("nan")], None, "scores must be finite, got 1 that are not"),
        ("link", ["a", "b"], None, "scores must be a list or array of numbers"),
        ("link", [1.0, 2.0], [[1.0], [2.0]], r"candidate_scores must have shape \[1, candidates\]"),
        ("node", [1.0, 2.0], None, r"scores must have shape \[2, classes\]"),
        ("node", [[1.0], [1.0]], None, "a column for each class up to 1, got 1"),
        ("node", [[3.0, -2.0], [0.0, 1.0]], None, "must be probabilities that sum to 1"),
        ("node", [[0.5, 0.5], [0.5, 0.5]], [[1.0]], "candidate_scores must be None for task node"),
    ],
)
def test_wrong_scores(task, scores, candidates, sentence):
    examples = Examples(np.arange(2), np.array([0, 1])) if task == "node" else pairs([1, 0])
    with pytest.raises(InputError, match=sentence):
        metrics(task, scores, examples, candidates)


def test_hits_over_all_negatives():
    label = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0])
    examples = pairs(label)
    scores = [0.9, 0.5, 0.4, 0.1, 0.8, 0.5, 0.3, 0.2, 0.0]
    assert [pooled_hits(scores, examples, k) for k in (1, 2, 3, 4, 5)] == [0.25, 0.25, 0.75, 0.75, 1.0]
    with pytest.raises(InputError, match="k must be at most 5, the number of negatives, got 100"):
        pooled_hits(scores, examples)
    with pytest.raises(InputError, match="k must be"):
        pooled_hits(scores, examples, 0)
    with pytest.raises(InputError, match=r"scores must have shape \[9\]"):
        pooled_hits(scores[:3], examples, 1)
    with pytest.raises(InputError, match="at least one positive, got none"):
        pooled_hits([0.5], pairs([0]), 1)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=30), st.data())
def test_hits_over_all_negatives_literally(values, data):
    label = np.array(
        [1, *data.draw(st.lists(st.integers(0, 1), min_size=len(values) - 2, max_size=len(values) - 2)), 0]
    )
    k = data.draw(st.integers(1, int((label == 0).sum())))
    examples = pairs(label)
    best = sorted((value for value, is_link in zip(values, label, strict=True) if not is_link), reverse=True)
    links = [value for value, is_link in zip(values, label, strict=True) if is_link]
    assert pooled_hits(values, examples, k) == pytest.approx(np.mean([value > best[k - 1] for value in links]))


def test_metrics_of_several_labels():
    truth = np.array([[1, 1, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0]]) == 1
    scores = np.array([[0.9, 0.2, 0.6, 0.1], [0.1, 0.3, 0.2, 0.1], [0.7, 0.6, 0.8, 0.1]])
    found = metrics("node", scores, Examples(np.arange(3), truth))
    assert found == pytest.approx(
        {
            "micro_f1": 0.8,  # four of five labels, of five predicted
            "macro_f1": (1 + 2 / 3 + 2 / 3) / 3,
            "micro_f1_unknown": 2 * 4 / (5 + 6),
            "macro_f1_unknown": (1 + 1 / 2 + 2 / 3) / 3,
            "auc": (1 + 0 + 1) / 3,
        }
    )


def test_labels_that_all_nodes_have_or_none_has_have_no_auc():
    examples = Examples(np.arange(2), np.array([[1, 0], [1, 0]]) == 1)
    assert "auc" not in metrics("node", np.full((2, 2), 0.5), examples)
    nothing = Examples(np.empty(0, np.int64), np.empty((0, 2), np.bool_))
    assert metrics("node", np.empty((0, 2)), nothing) == {}


def test_refused_scores_of_several_labels():
    examples = Examples(np.arange(2), np.array([[1, 0], [1, 1]]) == 1)
    with pytest.raises(InputError, match=r"scores must have shape \[2, 2\], one per node and label, got \[2, 3\]"):
        metrics("node", np.ones((2, 3)), examples)
    with pytest.raises(InputError, match="scores of labels must be probabilities from 0 to 1: apply a sigmoid"):
        metrics("node", np.array([[2.0, 0], [0, 0]]), examples)


def test_labels_as_a_matrix_must_be_booleans_with_one_row_per_node():
    with pytest.raises(InputError, match=r"label must have shape \[3\], got \[3, 1\]"):
        Examples(np.arange(3), np.array([[0], [1], [2]]))
    with pytest.raises(InputError, match=r"label must have shape \[3\], got \[2, 2\]"):
        Examples(np.arange(3), np.ones((2, 2), np.bool_))
    assert Examples(np.arange(3), np.ones((3, 2), np.bool_)).several
    assert not Examples(np.arange(3), np.zeros(3, np.int64)).several


def test_ranks_among_different_numbers_of_candidates():
    scores, others, of = (
        np.array([0.5, 0.5, 0.5]),
        np.array([0.9, 0.5, 0.1, 0.1, -np.inf, 0.5]),
        np.array([0, 0, 0, 1, 1, 2]),
    )
    assert rank_among(scores, others, of) == {"mrr": pytest.approx((1 / 2.5 + 1 + 1 / 1.5) / 3), "hits@1": 1 / 3}


@given(st.integers(0, 10_000))
def test_ranks_among_equal_numbers_of_candidates_are_those_of_metrics(seed):
    rng = np.random.default_rng(seed)
    scores, others = rng.integers(0, 4, 6).astype(float), rng.integers(0, 4, (6, 11)).astype(float)
    expected = metrics("link", scores, pairs([1] * 6), others, ties="mean")
    assert rank_among(scores, others.ravel(), np.repeat(np.arange(6), 11)) == pytest.approx(expected)

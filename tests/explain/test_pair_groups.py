"""Shapley values of groups of features, against the definition over orders."""

from itertools import permutations

import numpy as np
import pytest
import torch

import graphreach as gr
from graphreach.explain.pair_groups import LinkExplanation, SharedAnchor, group_shares
from graphreach.nn.pair_head import PairHead

NAMES = ["direct.a", "direct.b", "position.a", "degree.a", "return.a", "attributes.a"]


@pytest.fixture
def head():
    torch.manual_seed(0)
    return PairHead(len(NAMES), hidden_channels=8, num_members=2).eval()


def logits_of(head):
    def logits(x):
        with torch.no_grad():
            return head(torch.from_numpy(x)).double().numpy()

    return logits


def rows(count, seed=0):
    return np.random.default_rng(seed).normal(size=(count, len(NAMES))).astype(np.float32)


def by_orders(logits, row, background):
    """What a group adds when it comes, the mean over all orders of coming."""
    of_column = [name.partition(".")[0] for name in NAMES]
    groups = list(dict.fromkeys(of_column))
    added = dict.fromkeys(groups, 0.0)
    orders = list(permutations(groups))
    for order in orders:
        mixed = background.copy()
        before = logits(mixed).mean()
        for group in order:
            own = [column for column, name in enumerate(of_column) if name == group]
            mixed[:, own] = row[own]
            after = logits(mixed).mean()
            added[group] += (after - before) / len(orders)
            before = after
    return added


def test_equals_the_mean_over_all_orders(head):
    found = group_shares(logits_of(head), rows(1)[0], rows(7, 1), NAMES)
    expected = by_orders(logits_of(head), rows(1)[0], rows(7, 1))
    assert found.groups == pytest.approx(expected, abs=1e-6)


def test_adds_up_to_the_logit(head):
    logits, row, background = logits_of(head), rows(1)[0], rows(50, 1)
    found = group_shares(logits, row, background, NAMES)
    assert found.base == pytest.approx(logits(background).mean(), abs=1e-6)
    assert found.logit == logits(row[None])[0]
    assert found.base + sum(found.groups.values()) == pytest.approx(found.logit, abs=1e-12)


def test_a_group_that_the_head_ignores_adds_nothing(head):
    with torch.no_grad():
        head.weights[0][:, 2] = 0.0
    found = group_shares(logits_of(head), rows(1)[0], rows(20, 1), NAMES)
    assert found.groups["position"] == pytest.approx(0.0, abs=1e-6)
    assert abs(found.groups["direct"]) > 1e-3


def test_text():
    found = LinkExplanation(
        ("ann", "bob"), 0.93, 1 / 900, 4.5, 0.25, {"direct": 3.0, "degree": 1.25, "other": 0.0},
        {"direct": "three friends"}, True, ((("ann", "cid", "bob"), 0.25),), (SharedAnchor("eve", 3.0, 2.0),),
    )  # fmt: skip
    assert str(found).splitlines() == [
        "ann and bob: probability 0.93 where 1 in 900 pairs is a link (the graph has this link; it was left out).",
        "The score is +4.50: +0.25 is the mean of training pairs, and",
        "  direct reachability +3.00: three friends",
        "  degrees +1.25",
        "  other +0.00",
    ]
    assert repr(found) == "LinkExplanation('ann', 'bob', probability=0.93)"
    assert found.to_dict()["anchors"] == [{"anchor": "eve", "first": 3.0, "second": 2.0}]
    assert found.to_dict()["paths"] == [{"nodes": ["ann", "cid", "bob"], "chance": 0.25}]


@pytest.mark.parametrize(
    ("prior", "relation", "words"),
    [
        (1 / 900, "a link", "1 in 900 pairs is a link"),
        (0.27, "a link", "27% of pairs are links"),
        (0.5, "of one class", "50% of pairs are of one class"),
        (0.05, "of the relation", "1 in 20 pairs is of the relation"),
    ],
)
def test_the_base_rate_in_words(prior, relation, words):
    found = LinkExplanation((1, 2), 0.5, prior, 0.0, 0.0, {}, {}, False, (), (), relation)
    assert str(found).splitlines()[0] == f"1 and 2: probability 0.50 where {words}."


def test_exported():
    assert gr.explain.LinkExplanation is LinkExplanation

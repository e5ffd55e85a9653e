"""One phrase for each pair, each checked against the graph."""

import re
from itertools import pairwise

import numpy as np
import pytest

import graphreach as gr
from graphreach.explain import reasons
from graphreach.explain.links import explain_links, first_lift
from graphreach.explain.reasons import link_reasons
from graphreach.link_predictor import PRETRAINED
from graphreach.training.pair_scorer import PairScorer
from helpers import random_graph


@pytest.fixture(scope="module", params=[False, True], ids=["undirected", "directed"])
def fitted(request):
    graph = random_graph(60, 110, request.param)
    scorer = gr.LinkPredictor(num_members=1, steps=4).fit(graph)._scorer
    return scorer.on(graph), scorer


def some_pairs(n=60, count=150):
    pairs = np.random.default_rng(0).integers(0, n, (2, count))
    return pairs[:, pairs[0] != pairs[1]]


def middle_nodes(graph, u, v):
    matrix = graph.to_scipy().toarray() > 0
    return set(np.flatnonzero(matrix[u] & matrix[:, v]).tolist()) - {u, v}


def test_every_phrase_is_true_of_its_pair(fitted):
    known, scorer = fitted
    graph, pairs, kinds = known.graph, some_pairs(), set()
    told = explain_links(known, scorer, pairs)
    rows, _ = known.facts(pairs)
    for (u, v), phrase, placed, row in zip(
        pairs.T.tolist(), link_reasons(known, scorer, pairs), told, rows, strict=True
    ):
        own = phrase.removeprefix("a link already; ")
        assert (own != phrase) == ((u, v) in zip(*graph.edge_index.tolist(), strict=True))
        common, groups = middle_nodes(graph, u, v), placed.explanation.groups
        if " in common: " in own or " of 2 edges lead" in own:
            kinds.add("common")
            count, names = re.fullmatch(r"(\d+) .*: (?:by )?([\d, ]+)(?: and \d+ more)?", own).groups()
            assert int(count) == len(common)
            named = set(map(int, names.split(", ")))
            assert named <= common
            assert len(named) == min(3, len(common))
            continue
        assert not common
        if own.startswith("walks lead there ") and " times " in own:
            kinds.add("walks")
            assert groups["direct"] >= max(groups["degree"], groups["position"] if placed.anchors else -np.inf)
            lift, path = re.fullmatch(
                r"walks lead there (?:only )?(\S+) times as often as by chance, most often by (.*)", own
            ).groups()
            assert (float(lift) < 1) == ("only" in own)
            assert float(lift) == pytest.approx(
                first_lift(known.features.recipe, dict(zip(scorer.names, row.tolist(), strict=True)))[1], rel=1e-2
            )
            steps = list(map(int, path.split(" > ")))
            matrix = graph.to_scipy().toarray()
            assert (steps[0], steps[-1]) == (u, v)
            assert all(matrix[a, b] > 0 for a, b in pairwise(steps))
        elif "anchor" in own:
            kinds.add("position")
            assert own.partition(" anchor")[2].lstrip("s ").split(", ") == [str(a) for a in placed.anchors]
        else:
            kinds.add("else")
            assert re.fullmatch(r"degrees of \d+ and \d+, \S+ on average", own)
            assert groups["degree"] >= groups["position"] or not placed.anchors
            assert groups["degree"] >= groups["direct"] or "no walk" in placed.words["direct"]
    assert {"common", "else"} <= kinds
    assert len(kinds) > 2


def test_blocks_say_the_same(fitted, monkeypatch):
    known, scorer = fitted
    whole = link_reasons(known, scorer, some_pairs())
    monkeypatch.setattr(reasons, "PAIRS", 7)
    assert np.array_equal(link_reasons(known, scorer, some_pairs()), whole)
    assert link_reasons(known, scorer, np.empty((2, 0), np.int64)).shape == (0,)


def test_neighbours_that_say_most_are_named_first():
    """Of many neighbours in common those of least degree are named."""
    edges = [("ann", f"f{i}") for i in range(5)] + [("dan", f"f{i}") for i in range(5)]
    graph = gr.Graph.from_edge_list([*edges, *((f"f{i}", f"g{i}{j}") for i in range(5) for j in range(5 - i))])
    scorer, _ = PairScorer.load(PRETRAINED)
    (phrase,) = link_reasons(scorer.on(graph), scorer, graph.index_of(["ann", "dan"])[:, None])
    assert phrase == "5 neighbours in common: f4, f3, f2 and 2 more"

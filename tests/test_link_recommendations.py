"""What a fitted LinkPredictor recommends, and why."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

import graphreach as gr
from helpers import random_graph


@pytest.fixture(scope="module")
def families():
    return gr.Graph.from_networkx(nx.les_miserables_graph())


@pytest.fixture(scope="module")
def links(families):
    return gr.LinkPredictor(num_members=2, steps=4).fit(families)


@pytest.fixture(scope="module")
def directed():
    graph = random_graph(80, 400, directed=True)
    return gr.LinkPredictor(num_members=1, steps=3).fit(graph), graph


def linked(graph):
    return {(graph.ids[u], graph.ids[v]) for u, v in graph.edge_index.T.tolist()}


def test_links_are_never_recommended(links, families, directed):
    for predictor, graph in ((links, families), directed):
        found = predictor.recommend(top=200)
        pairs = list(zip(found.node.tolist(), found.partner.tolist(), strict=True))
        assert len(set(pairs)) == len(pairs)
        assert not set(pairs) & linked(graph)
        assert all(u != v for u, v in pairs)


def test_probabilities_are_sorted_and_those_of_predict_proba(links, directed):
    for predictor in (links, directed[0]):
        found = predictor.recommend(top=5)
        first = found.rank == 1
        assert np.array_equal(found.rank[~first], found.rank[np.flatnonzero(~first) - 1] + 1)
        assert (np.diff(found.probability)[~first[1:]] <= 0).all()
        pairs = list(zip(found.node, found.partner, strict=True))
        assert found.probability == pytest.approx(predictor.predict_proba(pairs)[:, 1], rel=1e-4, abs=1e-9)


def test_the_best_of_all_pairs_are_found(links, families):
    """On a small graph the candidates hold what scoring every pair finds."""
    weights = families.to_scipy().toarray()
    for u in (5, 30, 60):
        others = [v for v in range(families.num_nodes) if v != u and not weights[u, v]]
        pairs = [(families.ids[u], families.ids[v]) for v in others]
        best = np.sort(links.predict_proba(pairs)[:, 1])[::-1][:5]
        assert links.recommend(families.ids[u], top=5).probability == pytest.approx(best, rel=1e-4)


def test_listed_and_all_agree(links):
    every = links.recommend(top=4)
    some = links.recommend(["Valjean", "Napoleon", "Valjean"], top=4)
    assert some.node.tolist() == ["Valjean"] * 4 + ["Napoleon"] * 4
    for name in ("Valjean", "Napoleon"):
        assert np.array_equal(some.partner[some.node == name], every.partner[every.node == name])
        assert np.allclose(some.probability[some.node == name], every.probability[every.node == name], rtol=1e-5)
    blocks = list(links.recommend_blocks(top=4))
    assert np.array_equal(np.concatenate([block.partner for block in blocks]), every.partner)


def test_new_links_are_the_best_of_all_recommendations(links, families, directed):
    for predictor, graph in ((links, families), directed):
        every, found = predictor.recommend(top=200), predictor.new_links(12)
        best = {}
        for u, v, chance in zip(every.node, every.partner, every.probability, strict=True):
            best[(u, v) if graph.directed else tuple(sorted((u, v)))] = chance
        expected = sorted(best.values(), reverse=True)[:12]
        assert found.probability == pytest.approx(expected, rel=1e-4)
        assert len(set(zip(found.node, found.partner, strict=True)) & set(best)) == 12
        assert found.rank.tolist() == list(range(1, 13))
        assert not set(zip(found.node, found.partner, strict=True)) & linked(graph)
        assert all(found.why)
        assert found.to_frame().columns == ["node", "partner", "probability", "rank", "why"]


def test_reasons_on_request(links):
    plain, told = links.recommend("Valjean", top=3), links.recommend("Valjean", top=3, why=True)
    assert plain.why is None
    assert np.array_equal(plain.partner, told.partner)
    assert told.columns()["why"].tolist() == links.recommend(["Napoleon", "Valjean"], 3, why=True).why[3:].tolist()
    assert links.new_links(2, why=False).why is None
    assert len(links.recommend([], why=True)) == 0


def test_new_links_are_counted_by_their_nodes(links):
    """Their ranks are those of the whole graph, so that they read as rows of one node."""
    found = links.new_links(8)
    assert repr(found).startswith(f"Recommendations(8 rows of {len(np.unique(found.node))} node")
    assert len(np.unique(found.node)) > 1


def test_a_random_graph_is_learned_to_be_one():
    """What the page on recommendations says of --fit where the model in the package is far too sure."""
    graph = gr.Graph.from_networkx(nx.gnm_random_graph(300, 900, seed=1))
    known, own = gr.LinkPredictor.pretrained(), gr.LinkPredictor().fit(graph)
    assert known.new_links(1, graph).probability[0] > 0.3 > 0.1 > own.new_links(1).probability[0]
    assert 0.4 < own.auc_ < 0.65


def test_new_links_of_another_relation(families):
    graph = nx.karate_club_graph()
    pairs = [(u, v) for u in range(34) for v in range(u)]
    same = gr.LinkPredictor(num_members=1, steps=3).fit(graph, pairs=pairs, y=[(u + v) % 3 == 0 for u, v in pairs])
    found = same.new_links(40)
    told = dict(zip(zip(found.node.tolist(), found.partner.tolist(), strict=True), found.why, strict=True))
    for (u, v), phrase in told.items():
        assert phrase.startswith("a link already; ") == graph.has_edge(u, v)


def test_frames(links):
    found = links.recommend("Valjean", top=3)
    for frame in (pd.DataFrame(found.columns()), pl.DataFrame(found.columns())):
        assert list(frame.columns) == ["node", "partner", "probability", "rank"]
        assert len(frame) == len(found) == 3


def test_another_graph_and_a_node_without_edges(links):
    grown = nx.les_miserables_graph()
    grown.add_edge("Newcomer", "Cosette", weight=3)
    grown.add_node("Nobody")
    found = links.recommend(["Nobody", "Newcomer"], top=3, graph=grown)
    assert found.node.tolist() == ["Newcomer"] * 3
    assert found.without.tolist() == ["Nobody"]
    assert "Cosette" not in found.partner


def test_a_saved_predictor_says_the_same(links, families, tmp_path):
    links.save(tmp_path / "links")
    again = gr.LinkPredictor.load(tmp_path / "links")
    expected = links.recommend("Cosette", top=3)
    assert np.array_equal(again.recommend("Cosette", top=3, graph=families).partner, expected.partner)
    explained = again.explain(("Cosette", "Enjolras"), graph=families)
    assert explained.groups == pytest.approx(links.explain(("Cosette", "Enjolras")).groups, abs=1e-4)
    with pytest.raises(gr.InputError, match="graph must be given"):
        again.recommend("Cosette")


def test_another_relation_recommends_linked_nodes_too(families):
    graph = nx.karate_club_graph()
    club = [graph.nodes[node]["club"] == "Officer" for node in graph]
    pairs = [(u, v) for u in range(34) for v in range(u)]
    same = gr.LinkPredictor(num_members=1, steps=3).fit(graph, pairs=pairs, y=[club[u] == club[v] for u, v in pairs])
    found = same.recommend(0, top=20)
    assert set(found.partner.tolist()) & set(graph[0])


def test_wrong_arguments(links):
    for call, sentence in (
        (lambda: links.recommend("Valjean", top=0), "top must be an integer of at least 1, got 0"),
        (lambda: links.recommend("nobody"), "nobody"),
        (lambda: links.new_links(0), "top must be an integer of at least 1, got 0"),
        (lambda: links.new_links(why="yes"), "why must be True or False, got 'yes'"),
        (lambda: gr.LinkPredictor().recommend("Valjean"), "must be fitted first"),
        (lambda: links.explain(("Valjean",)), "pair must be rows"),
        (lambda: links.explain(("Valjean", "Valjean")), "two different nodes, got 'Valjean' twice"),
        (lambda: links.explain("Valjean"), "pair must be"),
    ):
        with pytest.raises(gr.InputError, match=r".") as caught:
            call()
        assert sentence in str(caught.value)
    assert len(links.recommend([])) == 0


@pytest.mark.parametrize("pair", [("Cosette", "Enjolras"), ("Valjean", "Javert"), ("Napoleon", "Cosette")])
def test_contributions_add_up_to_the_score(links, families, pair):
    found = links.explain(pair)
    assert found.base + sum(found.groups.values()) == pytest.approx(found.logit, abs=1e-5)
    assert found.logit == pytest.approx(links.decision_function([pair])[0], abs=1e-4)
    assert found.probability == pytest.approx(links.predict_proba([pair])[0, 1], abs=1e-4)
    assert found.linked == (pair in linked(families))
    assert list(found.groups) == ["direct", "position", "degree", "return"]
    assert str(found).startswith(f"{pair[0]} and {pair[1]}: probability ")


def test_paths_and_anchors_join_the_pair(links, families):
    found = links.explain(("Valjean", "Javert"))
    edges = linked(families)
    for nodes, chance in found.paths:
        assert (nodes[0], nodes[-1]) == ("Valjean", "Javert")
        assert len(nodes) > 2  # not by their own edge
        assert set(pairwise(nodes)) <= edges
        assert 0 < chance < 1
    assert len(found.paths) == len(found.anchors) == 3
    assert {each.anchor for each in found.anchors} <= set(links.anchors_.tolist())


def test_pairs_of_different_components_are_explained():
    rng = np.random.default_rng(0)
    halves = np.concatenate([rng.integers(0, 20, (2, 80)), rng.integers(20, 40, (2, 80))], axis=1)
    links = gr.LinkPredictor(num_members=1, steps=3).fit(gr.Graph.from_edges(halves))
    found = links.explain((3, 30))
    assert found.paths == ()
    assert "no walk of up to 3 jumps" in str(found)


def test_directed_pairs_are_explained(directed):
    links, graph = directed
    source, target = graph.edge_index[:, 0].tolist()
    found = links.explain((source, target))
    assert found.linked
    assert found.logit == pytest.approx(links.decision_function([(source, target)])[0], abs=1e-4)
    assert f"from {source}, " in found.facts["degree"]

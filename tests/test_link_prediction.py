"""Pairs scored in the form of networkx's functions."""

from importlib import import_module

import networkx as nx
import numpy as np
import polars as pl
import pytest

import graphreach as gr
from graphreach.auc import auc

MODULE = import_module("graphreach.link_prediction")
FAMILIES = nx.les_miserables_graph()


def keys(rows):
    return {frozenset(pair) for pair in rows}


def test_all_pairs_without_an_edge_are_scored_once_as_networkx_lists_them():
    ours, theirs = list(gr.link_prediction(FAMILIES)), list(nx.adamic_adar_index(FAMILIES))
    assert len(ours) == len(theirs)
    assert keys((u, v) for u, v, _ in ours) == keys((u, v) for u, v, _ in theirs)
    assert all(isinstance(u, str) and isinstance(p, float) and 0 < p < 1 for u, _, p in ours)


def test_probabilities_are_those_of_the_model_in_the_package():
    pairs = [("Cosette", "Enjolras"), ("Valjean", "Javert"), ("Napoleon", "Gavroche")]
    found = list(gr.link_prediction(FAMILIES, pairs))
    assert [(u, v) for u, v, _ in found] == pairs
    expected = gr.LinkPredictor.pretrained().predict_proba(pairs, FAMILIES)[:, 1]
    np.testing.assert_array_equal([p for _, _, p in found], expected)


def test_hidden_links_score_higher_than_other_pairs():
    rng = np.random.default_rng(0)
    edges = list(FAMILIES.edges)
    hidden = [edges[i] for i in rng.permutation(len(edges))[:40]]
    seen = FAMILIES.copy()
    seen.remove_edges_from(hidden)
    scores = {frozenset((u, v)): p for u, v, p in gr.link_prediction(seen)}
    truth = np.array([pair in keys(hidden) for pair in scores])
    assert truth.sum() == 40
    assert auc(np.array(list(scores.values())), truth) > 0.85


def test_blocks_change_nothing(monkeypatch):
    whole = list(gr.link_prediction(FAMILIES))
    monkeypatch.setattr(MODULE, "BLOCK", 100)
    parts = list(gr.link_prediction(FAMILIES))
    assert [row[:2] for row in parts] == [row[:2] for row in whole]
    np.testing.assert_allclose([row[2] for row in parts], [row[2] for row in whole], rtol=1e-5)


def test_pairs_come_a_block_at_a_time(monkeypatch):
    monkeypatch.setattr(MODULE, "BLOCK", 10)
    asked, plain = [], gr.LinkPredictor.predict_proba

    def counting(self, pairs, *rest):
        asked.append(len(pairs))
        return plain(self, pairs, *rest)

    monkeypatch.setattr(gr.LinkPredictor, "predict_proba", counting)
    next(gr.link_prediction(nx.path_graph(50)))
    assert asked == [48]


def test_a_directed_graph_is_learned_from_and_asked_in_both_directions():
    graph = nx.gnp_random_graph(20, 0.2, seed=1, directed=True)
    found = list(gr.link_prediction(graph))
    assert {(u, v) for u, v, _ in found} == set(nx.non_edges(graph))
    pairs = [(u, v) for u, v, _ in found[:5]]
    expected = gr.LinkPredictor().fit(graph).predict_proba(pairs)[:, 1]
    np.testing.assert_allclose([p for _, _, p in found[:5]], expected, rtol=1e-6)


@pytest.mark.parametrize("directed", [False, True])
def test_of_two_kinds_of_nodes_only_pairs_between_them_are_asked_about(directed):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"user": rng.integers(0, 12, 60), "item": rng.integers(0, 9, 60)})
    graph = gr.Graph.from_frame(frame, directed=directed)
    found = [(u.split(":")[0], v.split(":")[0]) for u, v, _ in gr.link_prediction(graph)]
    left, right = np.bincount(graph.sides)
    assert len(found) == left * right - graph.num_edges
    assert (
        set(found) == {("user", "item")}
        if directed
        else {frozenset(pair) for pair in found} == {frozenset(("user", "item"))}
    )


@pytest.mark.parametrize(
    "ebunch", [[(0, 33), (2, 4)], iter([(0, 33), (2, 4)]), np.array([[0, 33], [2, 4]]), pl.DataFrame([[0, 2], [33, 4]])]
)
def test_pairs_come_in_any_form(ebunch):
    club = nx.karate_club_graph()
    expected = list(gr.link_prediction(club, [(0, 33), (2, 4)]))
    assert list(gr.link_prediction(club, ebunch)) == expected


def test_arguments_are_refused_at_the_call():
    with pytest.raises(gr.InputError, match=r"ebunch must hold pairs of nodes of G, but .* got 'Nobody'"):
        gr.link_prediction(FAMILIES, [("Valjean", "Nobody")])
    with pytest.raises(gr.InputError, match=r"ebunch must be rows \(u, v\)"):
        gr.link_prediction(FAMILIES, [("Valjean", "Javert", 1)])
    with pytest.raises(gr.InputError, match=r"ebunch must hold pairs of two different nodes, got 'Javert' with itself"):
        gr.link_prediction(FAMILIES, [("Valjean", "Javert"), ("Javert", "Javert")])
    with pytest.raises(gr.InputError, match=r"^G must be a Graph"):
        gr.link_prediction(5)


def test_the_function_stays_where_its_module_is_imported():
    assert callable(gr.link_prediction)
    assert gr.link_prediction is MODULE.link_prediction

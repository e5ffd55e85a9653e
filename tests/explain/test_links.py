"""Paths, anchors and words of pairs, against the graph without the pair's own edge."""

import numpy as np
import pytest

import graphreach as gr
from graphreach.explain.links import explain_links
from helpers import random_graph

ENDS = [(3, 8), (17, 2), (25, 9), (1, 28)]


def known_of(graph, **arguments):
    links = gr.LinkPredictor(
        num_members=1, steps=3, lengths=(2, 4), num_anchors=10, prior=0.5, start=None, **arguments
    ).fit(graph)
    return links._known, links._scorer


@pytest.fixture(scope="module", params=[False, True], ids=["undirected", "directed"])
def graph(request):
    return random_graph(30, 120, request.param)


def some_pairs(graph):
    """Pairs without an edge, and with one."""
    return np.concatenate([np.array(ENDS).T, graph.edge_index[:, [0, 7, 30, 41]]], axis=1)


def powers(graph):
    matrix = graph.to_scipy().toarray()
    degree = matrix.sum(axis=1, keepdims=True)
    step = np.divide(matrix, degree, out=np.zeros_like(matrix), where=degree > 0)
    return matrix, [np.linalg.matrix_power(step, t) for t in range(5)]


def without(graph, u, v):
    matrix = graph.to_scipy().toarray()
    matrix[u, v] = matrix[v, u] = 0
    return gr.Graph.from_edges(np.stack(np.nonzero(matrix)), graph.num_nodes, directed=graph.directed)


def test_the_logit_is_that_of_the_decision_function_and_the_sum_of_its_parts(graph):
    known, scorer = known_of(graph)
    pairs = some_pairs(graph)
    for pair, found in zip(pairs.T, explain_links(known, scorer, pairs), strict=True):
        explanation = found.explanation
        (alone,) = explain_links(known, scorer, pair[:, None])
        assert alone.explanation.logit == scorer.score(known, pair[:, None])[0]
        assert explanation.logit == pytest.approx(alone.explanation.logit, abs=1e-5)
        assert explanation.base + sum(explanation.groups.values()) == pytest.approx(explanation.logit, abs=1e-12)
        assert explanation.probability == pytest.approx(1 / (1 + np.exp(-explanation.logit)), rel=1e-9)
        assert alone.words == found.words


def test_figures_are_those_of_the_graph_without_the_own_edge(graph):
    known, scorer = known_of(graph)
    anchors = known.features.anchors
    for (u, v), found in zip(some_pairs(graph).T, explain_links(known, scorer, some_pairs(graph)), strict=True):
        matrix, dense = powers(without(graph, u, v))
        out, into, total = matrix.sum(axis=1), matrix.sum(axis=0), matrix.sum()
        ways = ("from", "to") if graph.directed else ("of", "of")
        average = f"{total / 30:.3g} on average"
        assert found.words["degree"] == f"{out[u]:g} {ways[0]} {u}, {into[v]:g} {ways[1]} {v}, {average}"
        back = [100 * np.mean([dense[t][node, node] for t in (2, 3, 4)]) for node in (u, v)]
        expected = f"{back[0]:.3g}% of those from {u} and {back[1]:.3g}% of those from {v} end where they began"
        assert found.words["return"] == f"of walks of 2 to 4 jumps, {expected}"
        reach = [np.mean(dense[1 : length + 1], axis=0) for length in (2, 4)]
        lift = np.divide(total, into, out=np.zeros(30), where=into > 0)
        first = np.mean([np.log1p(each[u, anchors] * lift[anchors]) for each in reach], axis=0)
        second = np.mean(
            [
                np.log1p(each[anchors, v] * lift[v] if graph.directed else each[v, anchors] * lift[anchors])
                for each in reach
            ],
            axis=0,
        )
        nearest = np.argsort(-np.minimum(first, second), kind="stable")[:3]
        shared = [np.log1p([each.first, each.second]).tolist() for each in found.explanation.anchors]
        np.testing.assert_allclose(shared, np.stack([first, second], 1)[nearest][: len(shared)], atol=1e-4)
        assert [each.anchor for each in found.explanation.anchors] == list(found.anchors)


def test_paths_go_along_edges_that_are_there_without_the_own_edge(graph):
    known, scorer = known_of(graph)
    for (u, v), found in zip(some_pairs(graph).T, explain_links(known, scorer, some_pairs(graph)), strict=True):
        adjacency = without(graph, u, v).to_scipy().toarray()
        for path in found.paths:
            steps = list(zip(path.nodes, path.nodes[1:], strict=False))
            assert (path.nodes[0], path.nodes[-1]) == found.nodes == (u, v)
            assert path.chance == pytest.approx(np.prod([adjacency[a, b] / adjacency[a].sum() for a, b in steps]))
        assert [nodes for nodes, _ in found.explanation.paths] == [path.nodes for path in found.paths]
        for path in found.paths:
            assert " > ".join(map(str, path.nodes)) in found.explanation.facts["direct"]
        assert " > " not in found.words["direct"]


def test_another_relation_sees_the_own_edge_and_has_its_own_name(graph):
    pairs = np.random.default_rng(0).integers(0, 30, (2, 200))
    pairs = pairs[:, pairs[0] != pairs[1]]
    links = gr.LinkPredictor(num_members=1, steps=3).fit(graph, pairs=pairs.T, y=(pairs.sum(axis=0) % 3 == 0))
    u, v = graph.edge_index[:, 0].tolist()
    found = links.explain((u, v))
    assert not found.linked
    assert found.paths[0][0] == (u, v)
    assert found.logit == links.decision_function([(u, v)])[0]
    assert "of pairs are of the relation." in str(found)
    assert "walks of 1 jump lead" in found.facts["direct"]


def test_walks_that_are_drawn_tell_paths_too():
    graph = random_graph(30, 60)
    known, scorer = known_of(graph, method="walks")
    for found in explain_links(known, scorer, some_pairs(graph)):
        words, text = found.words["direct"], found.explanation.facts["direct"]
        assert words.startswith("no walk of up to 3 jumps") == (", most often by" not in text)


def test_no_pairs_and_a_node_with_itself(graph):
    known, scorer = known_of(graph)
    assert explain_links(known, scorer, np.empty((2, 0), np.int64)) == []
    with pytest.raises(gr.InputError, match="pair must be two different nodes, got 4 twice"):
        explain_links(known, scorer, np.array([[4], [4]]))

"""Estimators whose graph changes: they answer as they do for the changed graph, bit for bit."""

import numpy as np
import pytest

import graphreach as gr
from graphreach import InputError

OPTIONS = {"steps": 3, "lengths": (2, 4), "num_anchors": 6, "num_members": 1, "start": None}


def some_graph(directed=False, weighted=False, text=False):
    """Two groups of 30 nodes."""
    rng = np.random.default_rng(3)
    ends = np.concatenate([rng.integers(0, 30, (2, 90)), rng.integers(30, 60, (2, 90)), [[0], [31]]], axis=1)
    names = [f"n{i:02}" for i in range(60)] if text else None
    weight = rng.integers(1, 5, ends.shape[1]).astype(float) if weighted else None
    return gr.Graph.from_edges(ends, 60, weight, directed=directed, ids=names, reduce="sum" if weighted else None)


def changes(graph, weighted):
    """Edges to remove, to add among known nodes and to new ones, and to weigh anew."""
    source, target = graph.edge_index
    known = [(graph.ids[source[i]], graph.ids[target[i]]) for i in (0, 40)]
    new = ["x", "y"] if graph.ids.dtype.kind == "U" else [-5, 1000]
    add = [(graph.ids[2], graph.ids[50]), (new[0], graph.ids[1]), (new[0], new[1])]
    again = (graph.ids[source[80]], graph.ids[target[80]])
    if weighted:
        return {"add": [(*pair, 2.0) for pair in add], "remove": known, "weights": [(*again, 7.0)]}
    return {"add": add, "remove": known}


KINDS = [
    (directed, weighted, text) for directed in (False, True) for weighted in (False, True) for text in (False, True)
]


@pytest.mark.parametrize(("directed", "weighted", "text"), KINDS)
def test_links_are_those_of_the_changed_graph(directed, weighted, text):
    graph = some_graph(directed, weighted, text)
    links, fresh = (gr.LinkPredictor(**OPTIONS).fit(graph) for _ in range(2))
    what = changes(graph, weighted)
    assert links.update(**what) is links
    after = graph.updated(**what)
    pairs = [(after.ids[i], after.ids[j]) for i, j in ((0, 5), (2, 50), (60, 1), (61, 60), (33, 34))]
    np.testing.assert_array_equal(links.predict_proba(pairs), fresh.predict_proba(pairs, graph=after))
    np.testing.assert_array_equal(links.decision_function(pairs), fresh.decision_function(pairs, graph=after))
    one, other = links.recommend(top=5), fresh.recommend(top=5, graph=after)
    for name, column in one.columns().items():
        np.testing.assert_array_equal(column, other.columns()[name])
    assert links.explain(pairs[0]).logit == fresh.explain(pairs[0], graph=after).logit
    assert links.rate() == fresh.rate(after)
    np.testing.assert_array_equal(links.ids_, after.ids)
    assert {*after.ids[60:].tolist(), after.ids[2]} <= {*links.changed_.tolist()}


def test_updates_one_after_the_other_are_one_update():
    graph = some_graph()
    links, fresh = (gr.LinkPredictor(**OPTIONS).fit(graph) for _ in range(2))
    what, after = changes(graph, False), graph
    for part in ({"remove": what["remove"]}, {"add": what["add"][:1]}, {"add": what["add"][1:]}):
        links.update(**part)
        after = after.updated(**part)
    pairs = [(0, 5), (2, 50), (1000, 1)]
    np.testing.assert_array_equal(links.predict_proba(pairs), fresh.predict_proba(pairs, graph=after))


def test_nodes_that_no_walk_of_a_length_carries_the_change_to_do_not_change():
    """On a path, walks of 4 jumps carry a new edge at one end 3 nodes far: the next one's walks end before it."""
    path = gr.Graph.from_edges([range(59), range(1, 60)])
    links = gr.LinkPredictor(**OPTIONS | {"num_anchors": 60}).fit(path).update(add=[(59, 60)])
    assert links.changed_.tolist() == [56, 57, 58, 59, 60]
    nothing = links.update(add=[(59, 60)])
    assert nothing.changed_.tolist() == []


def test_a_loaded_predictor_is_given_its_graph(tmp_path):
    graph = some_graph()
    links = gr.LinkPredictor(**OPTIONS).fit(graph)
    links.save(tmp_path / "links")
    loaded = gr.LinkPredictor.load(tmp_path / "links")
    with pytest.raises(
        InputError, match="graph must be given to a predictor that was loaded, or is pretrained, got None"
    ):
        loaded.update(add=[(0, 50)])
    assert len(loaded.update(graph=graph).changed_) == 60
    loaded.update(add=[(0, 50)])
    np.testing.assert_array_equal(loaded.predict_proba([(1, 50)]), links.update(add=[(0, 50)]).predict_proba([(1, 50)]))
    pretrained = gr.LinkPredictor.pretrained().update(graph=graph).update(add=[(0, 50)])
    expected = gr.LinkPredictor.pretrained().predict_proba([(1, 50)], graph=graph.updated(add=[(0, 50)]))
    np.testing.assert_array_equal(pretrained.predict_proba([(1, 50)]), expected)


def test_attributes_of_new_nodes_must_be_given():
    graph, rng = some_graph(), np.random.default_rng(0)
    x = rng.random((61, 3))
    links = gr.LinkPredictor(**OPTIONS).fit(graph, x[:60])
    links.update(add=[(0, 50)])
    with pytest.raises(InputError, match="x must be given, attributes of all 61 nodes, as 1 of them are new, got None"):
        links.update(add=[(0, 1000)])
    links.update(add=[(0, 1000)], x=x)
    fresh = gr.LinkPredictor(**OPTIONS).fit(graph, x[:60])
    after = graph.updated(add=[(0, 50), (0, 1000)])
    np.testing.assert_array_equal(links.predict_proba([(1, 1000)]), fresh.predict_proba([(1, 1000)], after, x))


def test_another_graph_and_too_many_arguments_are_refused():
    graph = some_graph()
    links = gr.LinkPredictor(**OPTIONS).fit(graph)
    with pytest.raises(InputError, match="graph must have the nodes that are known first"):
        links.update(graph=gr.Graph.from_edges([[1, 2], [2, 3]]))
    with pytest.raises(InputError, match="add must be None where graph is given"):
        links.update(add=[(0, 1)], graph=graph)
    with pytest.raises(InputError, match="remove must list edges that are in the graph"):
        links.update(remove=[(0, 59)])
    with pytest.raises(InputError, match=r"LinkPredictor must be fitted first: call fit\(graph\)"):
        gr.LinkPredictor().update(add=[(0, 1)])


def embedded(method, graph):
    return gr.GraphReachEmbedding(method, dim=8, num_anchors=4 if method == "position" else 8).fit(graph)


@pytest.mark.parametrize("method", ["reach", "position"])
@pytest.mark.parametrize("weighted", [False, True])
def test_vectors_are_those_of_transform(method, weighted):
    graph = some_graph(weighted=weighted, text=True)
    embedding, fresh = embedded(method, graph), embedded(method, graph)
    what = changes(graph, weighted)
    embedding.update(**what)
    after = graph.updated(**what)
    expected = fresh.transform(after)
    np.testing.assert_array_equal(embedding.embedding_, expected)
    np.testing.assert_array_equal(embedding.transform(after), expected)
    np.testing.assert_array_equal(embedding.ids_, after.ids)
    pairs = [("x", "n01"), ("n02", "n50")]
    np.testing.assert_array_equal(embedding.score_pairs(pairs), fresh.score_pairs(pairs, graph=after))
    known = fresh.embedding_
    differs = [*(expected[:60] != known).any(axis=1), True, True]
    assert embedding.changed_.tolist() == after.ids[differs].tolist()
    if method == "reach":
        assert embedding.changed_.tolist() == ["x", "y"]
    assert embedding.nearest("x", top=3) == [
        [(after.ids[i], score) for i, score in zip(at.tolist(), scores.tolist(), strict=True)]
        for at, scores in [(row[0], score[0]) for row, score in [gr.nearest_nodes(expected, [60], 3)]]
    ]


def test_the_order_of_updates_does_not_move_vectors():
    graph = some_graph(text=True)
    one, two = embedded("reach", graph), embedded("reach", graph)
    one.update(add=[("x", "n01")]).update(add=[("x", "n40"), ("x", "n41")])
    two.update(add=[("x", "n40")])
    before = two.embedding_[60]
    two.update(add=[("x", "n01"), ("x", "n41")])
    assert two.changed_.tolist() == ["x"]
    assert (before != two.embedding_[60]).any()
    np.testing.assert_array_equal(one.embedding_, two.embedding_)


def test_a_loaded_embedding_is_given_its_graph(tmp_path):
    graph = some_graph(text=True)
    embedding = embedded("reach", graph)
    embedding.save(tmp_path / "z")
    loaded = gr.GraphReachEmbedding.load(tmp_path / "z")
    with pytest.raises(InputError, match="graph must be given to update an estimator that was loaded"):
        loaded.update(add=[("x", "n01")])
    assert loaded.update(graph=graph).changed_.tolist() == []
    loaded.update(add=[("x", "n01")])
    np.testing.assert_array_equal(loaded.embedding_, embedding.update(add=[("x", "n01")]).embedding_)


def test_the_papers_model_is_refused():
    embedding = gr.GraphReachEmbedding("paper", epochs=1, num_anchors=4).fit(some_graph())
    with pytest.raises(InputError, match="method must be 'reach' or 'position' for update, got 'paper'"):
        embedding.update(add=[(0, 50)])
    with pytest.raises(InputError, match="GraphReachEmbedding must be fitted first"):
        gr.GraphReachEmbedding().update(add=[(0, 1)])


def test_partial_fit_goes_on_from_an_update():
    graph = some_graph(text=True)
    embedding = embedded("reach", graph).update(add=[("x", "n01")])
    embedding.partial_fit(graph.updated(add=[("x", "n01"), ("x", "n02")]))
    assert not hasattr(embedding, "changed_")
    assert len(embedding.embedding_) == 61

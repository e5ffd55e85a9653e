"""GraphReachEmbedding without layers: vectors, links, nodes that come later, folders."""

import json

import numpy as np
import pytest
import torch

import graphreach as gr
from graphreach.errors import InputError


@pytest.fixture(scope="module")
def graph():
    return gr.datasets.load("communities")[0].graph


@pytest.fixture(scope="module")
def fitted(graph):
    return gr.GraphReachEmbedding(dim=30, num_anchors=32).fit(graph)


def grown(graph, seed=0, more=5):
    """The graph with some more nodes, each linked to some of one community."""
    rng = np.random.default_rng(seed)
    n = graph.num_nodes
    new = [[n + k, 20 * k + int(v)] for k in range(more) for v in rng.choice(20, 6, replace=False)]
    return gr.Graph.from_edges(np.concatenate([graph.edge_index, np.array(new).T], axis=1), n + more)


def ring_of_groups(groups=8, size=50):
    """Groups in a ring, each linked to the next one and not within."""
    rng = np.random.default_rng(0)
    node = np.repeat(np.arange(groups * size), 6)
    other = (node // size + 1) % groups * size + rng.integers(0, size, len(node))
    return gr.Graph.from_edges(np.stack([node, other]), groups * size)


def test_communities_are_told_apart(fitted, graph):
    assert fitted.embedding_.shape == (400, 30)
    assert fitted.auc_ > 0.95
    assert fitted.held_out_links_ == 380
    pairs = np.array([(u, v) for u in range(0, 400, 37) for v in range(400) if u != v])
    same = pairs[:, 0] // 20 == pairs[:, 1] // 20
    scores = fitted.score_pairs(pairs)
    assert scores[same].min() > np.quantile(scores[~same], 0.98)
    z = fitted.embedding_ @ fitted.embedding_.T
    np.fill_diagonal(z, -np.inf)
    assert (np.argmax(z, axis=1) // 20 == np.arange(400) // 20).mean() > 0.99


@pytest.mark.parametrize("kind", ["alike", "unlike", "position"])
def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(kind, graph, monkeypatch):
    import numba

    if kind == "alike":  # by chance of the links that are held out, neighbours of the communities are not added up
        graph = ring_of_groups()
    before, found = torch.get_num_threads(), []
    for count in (1, 2, 7):
        torch.set_num_threads(count)
        monkeypatch.setattr(numba, "get_num_threads", lambda count=count: count)
        own = gr.GraphReachEmbedding("position" if kind == "position" else "reach", dim=12, random_state=5).fit(graph)
        if kind != "position":
            assert own._fitted.vectors.options.alike == (kind == "alike")
        bits = [own.embedding_, own.score_pairs([(0, 1), (0, 399)]), own.transform(grown(graph))]
        if kind != "position":
            bits.append(own.partial_fit(grown(graph)).embedding_)
            bits.append(own.score_pairs([(0, 1), (0, 400)]))
        found.append([each.tobytes() for each in bits])
    torch.set_num_threads(before)
    assert found[0] == found[1] == found[2]


def test_known_nodes_keep_their_vectors_and_new_ones_are_placed(fitted, graph):
    larger = grown(graph)
    found = fitted.transform(larger)
    np.testing.assert_array_equal(found[:400], fitted.embedding_)
    np.testing.assert_array_equal(fitted.transform(graph), fitted.embedding_)
    alike = found[400:] @ found[:400].T
    assert (alike.argmax(axis=1) // 20 == np.arange(5)).all()
    near, far = fitted.score_pairs([(400, 3), (400, 300)], larger)
    assert near > 0.5 > far


def test_nodes_that_are_gone_and_ids_that_turned_to_text(fitted, graph):
    fewer = gr.Graph.from_edge_list(
        [(f"{u}", f"{v}") for u, v in graph.edge_index.T if u < v and u >= 20] + [("a", "20")]
    )
    found = fitted.transform(fewer)
    place = fewer.index_of("399")
    np.testing.assert_array_equal(found[place], fitted.embedding_[399])
    assert found[fewer.index_of("a")].any()


def test_a_graph_without_known_nodes_is_embedded_by_itself_with_a_warning(fitted):
    other = gr.Graph.from_edge_list([("x", "y"), ("y", "z"), ("z", "x")])
    with pytest.warns(UserWarning, match="no node of graph was embedded before"):
        assert fitted.transform(other).shape == (3, 30)


def test_partial_fit_lets_known_nodes_move_a_little(graph):
    own = gr.GraphReachEmbedding(dim=30, num_anchors=32).fit(graph)
    before, larger = own.embedding_, grown(graph)
    own.partial_fit(larger)
    assert own.embedding_.shape == (405, 30)
    length = np.linalg.norm(own.embedding_[:400], axis=1) * np.linalg.norm(before, axis=1)
    cosine = (own.embedding_[:400] * before).sum(1) / length
    assert 0.9 < cosine.mean() < 1 - 1e-6
    assert own.score_pairs([(400, 3)])[0] > own.score_pairs([(400, 300)])[0]
    assert gr.GraphReachEmbedding(dim=6).partial_fit(graph).embedding_.shape == (400, 6)
    with pytest.raises(InputError, match="graph must have nodes of the graph that was embedded, got none"):
        own.partial_fit(gr.Graph.from_edge_list([("x", "y"), ("y", "z")]))
    with pytest.raises(InputError, match="method must be 'reach' for partial_fit"):
        gr.GraphReachEmbedding("position").partial_fit(graph)


@pytest.mark.parametrize("arguments", [{}, {"method": "position"}])
def test_saved_and_loaded(arguments, graph, tmp_path):
    own = gr.GraphReachEmbedding(dim=16, num_anchors=8, **arguments).fit(graph)
    own.save(tmp_path)
    loaded = gr.GraphReachEmbedding.load(tmp_path)
    assert loaded.get_params() == own.get_params()
    np.testing.assert_array_equal(loaded.embedding_, own.embedding_)
    pairs = [(0, 1), (5, 399)]
    np.testing.assert_array_equal(loaded.score_pairs(pairs), own.score_pairs(pairs))
    np.testing.assert_array_equal(loaded.transform(grown(graph)), own.transform(grown(graph)))
    assert loaded.auc_ == own.auc_


def test_damaged_folders_are_refused(fitted, tmp_path):
    fitted.save(tmp_path)
    path = tmp_path / "config.json"
    record = json.loads(path.read_text())
    record["metadata"]["ids"] = record["metadata"]["ids"][:-1]
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match="checksum"):
        gr.GraphReachEmbedding.load(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(InputError):
        gr.GraphReachEmbedding.load(tmp_path)


def test_positions_are_computed_in_the_graph_that_is_given(graph):
    own = gr.GraphReachEmbedding("position", dim=16).fit(graph)
    assert own.embedding_.shape == (400, 16)
    assert len(own.anchors_) == 8
    assert own.auc_ > 0.9
    assert own.transform(grown(graph)).shape == (405, 16)
    other = gr.Graph.from_edge_list([("x", "y"), ("y", "z"), ("z", "x")])
    with pytest.raises(InputError, match="graph must have all 8 anchors"):
        own.transform(other)
    assert own.transform(other, new_anchors=True).shape == (3, 16)


def test_attributes_help_where_the_graph_says_nothing():
    rng = np.random.default_rng(0)
    graph = gr.Graph.from_edges(rng.integers(0, 100, (2, 300)), 100)
    x = np.repeat(np.eye(2), 50, axis=0) + 0.1 * rng.standard_normal((100, 2))
    own = gr.GraphReachEmbedding(dim=16, attributes="append").fit(graph, x=x)
    rows = own.embedding_ / np.linalg.norm(own.embedding_, axis=1, keepdims=True)
    alike = rows @ rows.T
    assert alike[:50, :50].mean() > alike[:50, 50:].mean() + 0.1
    with pytest.raises(InputError, match="x must be given, as it was fitted with 2 attributes"):
        own.transform(graph)
    with pytest.raises(InputError, match="x must be None, as it was fitted without"):
        gr.GraphReachEmbedding(dim=4).fit(graph).transform(graph, x=x)


def test_probabilities_follow_the_prior(fitted, graph):
    pairs = [(0, 1), (0, 399), (3, 5)]
    half, rare = fitted.score_pairs(pairs), fitted.score_pairs(pairs, prior=0.01)
    odds = rare / (1 - rare) / (half / (1 - half))
    np.testing.assert_allclose(odds, 1 / 99, rtol=1e-2)
    assert (fitted.score_pairs(pairs, prior="density") < half).all()
    for prior in (0, 1, "dense", None):
        with pytest.raises(InputError, match="prior must be"):
            fitted.score_pairs(pairs, prior=prior)


def test_scores_are_calibrated(graph):
    """Of random pairs and as many links that were not seen, as many are links as the scores say."""
    rng = np.random.default_rng(1)
    links = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    hidden = links[:, rng.permutation(links.shape[1])[:300]]
    from graphreach.pairs.direct import without_edges

    own = gr.GraphReachEmbedding(dim=30, num_anchors=32).fit(without_edges(graph, hidden))
    others = rng.integers(0, 400, (2, 400))
    linked = np.isin(
        others[0] * 400 + others[1], np.concatenate([links[0] * 400 + links[1], links[1] * 400 + links[0]])
    )
    others = others[:, (others[0] != others[1]) & ~linked][:, :300]
    scores = own.score_pairs(np.concatenate([hidden, others], axis=1).T)
    assert abs(scores.mean() - 0.5) < 0.05
    assert scores[:300].mean() > 0.85


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "node2vec"}, "method must be one of reach, position, paper"),
        ({"dim": 0}, "dim must be an integer from 1"),
        ({"dim": "wide"}, "dim must be an integer"),
        ({"epochs": 3}, "epochs must not be given with method 'reach', got 3"),
        ({"engine": "ray"}, "engine must be 'local' with method 'reach', .*, got 'ray': only method='paper' trains on"),
        ({"engine": np.zeros(2)}, "engine must be 'local' with method 'reach', .*, got an array of shape"),
        ({"method": "paper", "dim": np.zeros(2)}, "dim must not be given with method 'paper', got an array of shape"),
        ({"method": "position", "engine": "ray"}, "engine must be 'local' with method 'position'"),
        ({"method": "position", "dim": 7, "num_anchors": 5}, "num_anchors must be at most 4 with method 'position'"),
        ({"method": "position", "preset": "paper"}, "preset must not be given with method 'position'"),
        ({"method": "paper", "dim": 8}, "dim must not be given with method 'paper', got 8"),
        ({"directed": True}, "directed must be False for a graph whose edges have no direction"),
        ({"directed": True, "dim": 5}, "dim must be even with directed=True, got 5"),
        ({"attributes": "none"}, 'attributes must be "smooth" or "append"'),
        ({"random_state": -1}, "random_state must be"),
        ({"strategy": "best"}, "strategy must be"),
    ],
)
def test_arguments_that_do_not_fit(arguments, message, graph):
    with pytest.raises(InputError, match=message):
        gr.GraphReachEmbedding(**arguments).fit(graph)


def test_small_graphs_and_graphs_without_links():
    line = gr.Graph.from_edge_list([("a", "b"), ("b", "c")])
    own = gr.GraphReachEmbedding(dim=6).fit(line)
    assert own.embedding_.shape == (3, 6)
    assert np.isnan(own.auc_)
    assert own.held_out_links_ == 0
    (same,) = own.score_pairs([("a", "a")])
    assert 0 < own.score_pairs([("a", "b")])[0] <= same < 1
    assert own.score_pairs([]).shape == (0,)
    with pytest.raises(InputError, match="graph must have links to embed, got none"):
        gr.GraphReachEmbedding().fit(gr.Graph.from_edges(np.empty((2, 0), np.int64), 3))
    with pytest.raises(InputError, match="must be fitted first"):
        gr.GraphReachEmbedding().transform(line)


def test_directions_can_have_a_half_each():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 60, (2, 400))
    graph = gr.Graph.from_edges(edges[:, edges[0] < edges[1]], 60, directed=True)
    own = gr.GraphReachEmbedding(dim=24, directed=True).fit(graph)
    assert own.embedding_.shape == (60, 24)
    forward, back = own.score_pairs([(0, 55), (55, 0)])
    assert forward > back
    whole = gr.GraphReachEmbedding(dim=24).fit(graph)
    one, other = whole.score_pairs([(0, 55), (55, 0)])
    assert one == pytest.approx(other)


def test_nearest_nodes_by_id(fitted, graph):
    found = fitted.nearest([0, 399], top=3)
    assert [len(each) for each in found] == [3, 3]
    z = fitted.embedding_
    cosine = z @ z[399] / np.linalg.norm(z, axis=1) / np.linalg.norm(z[399])
    cosine[399] = -np.inf
    assert [node for node, _ in found[1]] == np.argsort(-cosine)[:3].tolist()
    np.testing.assert_allclose([alike for _, alike in found[1]], np.sort(cosine)[::-1][:3], rtol=1e-5)
    with pytest.raises(InputError, match=r"ids must hold ids of nodes \(such as 0, 1, 2\), got 400"):
        fitted.nearest(400)
    with pytest.raises(InputError, match="must be fitted first"):
        gr.GraphReachEmbedding().nearest(0)


def test_ids_to_find_neighbours_of_in_every_form(fitted):
    expected = fitted.nearest([3, 7], top=2)
    for ids in (np.array([3, 7]), (3, 7), range(3, 8, 4), ["3", "7"], [np.int64(3), 7]):
        assert fitted.nearest(ids, top=2) == expected
    assert fitted.nearest(np.int64(3), top=2) == expected[:1]
    assert fitted.nearest([]) == []
    named = gr.GraphReachEmbedding(dim=4).fit(gr.Graph.from_edge_list([("None", "b"), ("b", "c")]))
    with pytest.raises(InputError, match="got None"):
        named.nearest(None)
    for ids in (None, 0.5, {3}, [[3, 7]]):
        with pytest.raises(InputError, match="ids must hold ids of nodes"):
            fitted.nearest(ids)
    grid = gr.GraphReachEmbedding(dim=4).fit(gr.Graph.from_edge_list([((0, 0), (0, 1)), ((0, 1), (1, 1))]))
    assert grid.nearest((0, 0)) == grid.nearest([(0, 0)])


def test_pairs_are_found_by_text_before_and_after_loading(fitted, tmp_path):
    fitted.save(tmp_path)
    loaded = gr.GraphReachEmbedding.load(tmp_path)
    for own in (fitted, loaded):
        np.testing.assert_array_equal(own.score_pairs([("0", "1")]), fitted.score_pairs([(0, 1)]))
        with pytest.raises(InputError, match=r"pairs must hold ids of nodes \(such as 0, 1, 2\), got 'x'"):
            own.score_pairs([(0, "x")])


def test_links_are_held_out_where_some_can_be_judged():
    """There is an AUC just where links are held out."""
    rng = np.random.default_rng(0)
    ring = np.stack([np.arange(49), (np.arange(49) + 1) % 49])
    few = gr.GraphReachEmbedding(dim=4).fit(gr.Graph.from_edges(ring))
    more = gr.GraphReachEmbedding(dim=4).fit(gr.Graph.from_edges(np.concatenate([ring, [[0], [24]]], axis=1)))
    full = np.stack(np.triu_indices(14, 1))
    complete = gr.GraphReachEmbedding(dim=4).fit(gr.Graph.from_edges(full))
    dense = gr.GraphReachEmbedding(dim=4).fit(gr.Graph.from_edges(full[:, rng.permutation(91)[:72]], 14))
    assert [each.held_out_links_ for each in (few, more, complete, dense)] == [0, 10, 0, 10]
    assert [np.isnan(each.auc_) for each in (few, more, complete, dense)] == [True, False, True, False]
    assert np.isfinite(complete.score_pairs(full.T)).all()


@pytest.mark.parametrize("method", ["reach", "position"])
def test_directions_do_not_count_unless_asked_for(method):
    """A link that is held out has no way back by which it is known."""
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 80, (2, 300))
    edges = edges[:, edges[0] != edges[1]]
    plain = gr.GraphReachEmbedding(method, dim=12).fit(gr.Graph.from_edges(edges, 80))
    for given in (edges, edges[::-1], np.concatenate([edges, edges[::-1]], axis=1)):
        own = gr.GraphReachEmbedding(method, dim=12).fit(gr.Graph.from_edges(given, 80, directed=True))
        np.testing.assert_array_equal(own.embedding_, plain.embedding_)
        assert (own.auc_, own.held_out_links_) == (plain.auc_, plain.held_out_links_)
        np.testing.assert_array_equal(own.anchors_, plain.anchors_)
        np.testing.assert_array_equal(own.transform(gr.Graph.from_edges(given, 80, directed=True)), plain.embedding_)


def test_halves_need_directions_later_too():
    edges = np.random.default_rng(0).integers(0, 60, (2, 300))
    own = gr.GraphReachEmbedding(dim=8, directed=True).fit(gr.Graph.from_edges(edges, 60, directed=True))
    for use in (own.transform, own.partial_fit):
        with pytest.raises(InputError, match="graph must be directed, as the one that was fitted with directed=True"):
            use(gr.Graph.from_edges(edges, 60))


@pytest.mark.parametrize("method", ["reach", "position"])
def test_the_unit_of_weights_does_not_matter(method, tmp_path):
    """Also where weights are beyond single precision; and what is loaded scores pairs with the same bits."""
    rng = np.random.default_rng(0)
    edges, weight = rng.integers(0, 60, (2, 300)), rng.random(300) + 0.1
    one, *others = (
        gr.GraphReachEmbedding(method, dim=8).fit(gr.Graph.from_edges(edges, 60, weight * unit, reduce="sum"))
        for unit in (1.0, 2.0**-160, 2.0**160)
    )
    for own in others:
        np.testing.assert_allclose(own.embedding_, one.embedding_, atol=1e-4)
        assert np.isfinite(own.score_pairs([(0, 1)])).all()
    pairs = rng.integers(0, 60, (500, 2))
    for number, own in enumerate([one, *others]):
        own.save(tmp_path / str(number))
        loaded = gr.GraphReachEmbedding.load(tmp_path / str(number))
        np.testing.assert_array_equal(loaded.score_pairs(pairs), own.score_pairs(pairs))


def test_fitting_anew_forgets_another_method(graph):
    line = gr.Graph.from_edges([[*range(11)], [*range(1, 12)]])
    own = gr.GraphReachEmbedding("paper", num_anchors=2, epochs=1).fit(line)
    trained = own.score_pairs([(0, 1)])
    own.set_params(method="reach", num_anchors=4, epochs=None, dim=4)
    np.testing.assert_array_equal(own.score_pairs([(0, 1)]), trained)
    own.fit(line)
    assert not hasattr(own, "model_")
    assert not hasattr(own, "loss_")
    own.set_params(method="paper")
    assert own.transform(line).shape == (12, 4)
    own.set_params(method="reach").partial_fit(line)
    assert list(own.seconds_) == ["vectors"]


def test_new_positions_have_as_many_anchors_as_the_old_ones(graph):
    own = gr.GraphReachEmbedding("position", dim=16, num_anchors=3).fit(graph)
    found = own.transform(graph, new_anchors=True)
    assert found[:, :6].any(axis=0).all()
    assert not found[:, 6:].any()


def test_a_folder_that_is_a_file_is_refused(fitted, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="folder must be a folder, or a name that nothing has yet"):
        fitted.save(tmp_path / "file")


def test_a_graph_with_neither_links_nor_known_nodes_is_refused(fitted):
    alone = gr.Graph.from_edges(np.empty((2, 0), np.int64), 2, ids=["x", "y"])
    with pytest.raises(InputError, match="graph must have links, or nodes that were embedded before"):
        fitted.transform(alone)
    known = gr.Graph.from_edges(np.empty((2, 0), np.int64), 2, ids=[0, 399])
    np.testing.assert_array_equal(fitted.transform(known), fitted.embedding_[[0, 399]])


def test_new_nodes_without_a_way_to_known_ones_have_zeros(fitted, graph):
    edges = np.concatenate([graph.edge_index, [[400], [401]]], axis=1)
    found = fitted.transform(gr.Graph.from_edges(edges, 403))
    assert not found[400:].any()


def test_the_papers_model_refuses_attributes_that_it_never_read():
    line = gr.Graph.from_edges([[*range(11)], [*range(1, 12)]])
    own = gr.GraphReachEmbedding("paper", num_anchors=2, epochs=1).fit(line)
    with pytest.raises(InputError, match="x must be None, as it was fitted without attributes"):
        own.transform(line, x=np.ones((12, 2)))

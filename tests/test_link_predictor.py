"""LinkPredictor: links and relations of pairs, on the graph that was learned from, on grown and on other graphs."""

import json

import networkx as nx
import numba
import numpy as np
import pytest

import graphreach as gr
from graphreach.errors import InputError
from graphreach.io.model_folder import sign
from graphreach.pairs import PairFeatures
from graphreach.training import pair_learning
from graphreach.training.link_folds import folds, link_features
from helpers import random_graph


def blocks(size=30, count=4, inside=0.4, between=0.01, seed=0, names=None):
    """A graph of communities; pairs within one are likely linked."""
    rng = np.random.default_rng(seed)
    n = size * count
    same = np.arange(n)[:, None] // size == np.arange(n) // size
    linked = np.triu(rng.random((n, n)) < np.where(same, inside, between), 1)
    return gr.Graph.from_edges(np.stack(np.nonzero(linked)), n, ids=names)


@pytest.fixture(scope="module")
def graph():
    return blocks(names=[f"node {number}" for number in range(120)])


@pytest.fixture(scope="module")
def links(graph):
    return gr.LinkPredictor(prior=0.5).fit(graph)


def hidden(graph, share=0.1, seed=1):
    """A graph without some links, and these with as many pairs that are none, as rows of ids."""
    rng = np.random.default_rng(seed)
    edges = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    test = rng.random(edges.shape[1]) < share
    dense = graph.to_scipy().toarray()
    free = np.stack(np.nonzero(np.triu(dense == 0, 1)))
    others = free[:, rng.permutation(free.shape[1])[: test.sum()]]
    seen = gr.Graph.from_edges(edges[:, ~test], graph.num_nodes, ids=graph.ids)
    pairs = graph.ids[np.concatenate([edges[:, test], others], axis=1)].T
    return seen, pairs, np.repeat([1, 0], [test.sum(), others.shape[1]])


def test_hidden_links_are_found_better_than_by_common_neighbours(graph):
    seen, pairs, y = hidden(graph)
    found = gr.LinkPredictor().fit(seen).score(pairs, y)
    index = np.stack([seen.index_of(pairs[:, 0]), seen.index_of(pairs[:, 1])])
    counted = gr.tasks.score("common-neighbours", seen, index)
    assert found > max(0.85, gr.auc.auc(counted, y == 1) - 0.02)


def test_a_pair_and_its_reverse_score_alike(links):
    pairs = np.array([["node 0", "node 5"], ["node 0", "node 90"], ["node 3", "node 4"]])
    assert (links.predict_proba(pairs) == links.predict_proba(pairs[:, ::-1])).all()


def test_a_pair_alone_scores_as_among_others(graph, links):
    pairs = graph.ids[np.random.default_rng(0).permutation(120)[:40].reshape(20, 2)]
    together = links.decision_function(pairs)
    alone = np.array([links.decision_function(pairs[row : row + 1])[0] for row in range(20)])
    assert (alone == together).all()
    assert (links.decision_function(pairs[3:10]) == together[3:10]).all()


def test_a_link_scores_as_if_it_were_not_there(graph, links):
    edges = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    pair = graph.ids[edges[:, 7]]
    without = gr.Graph.from_edges(np.delete(edges, 7, axis=1), 120, ids=graph.ids)
    assert links.decision_function([pair], without) == pytest.approx(links.decision_function([pair]), abs=1e-3)


def test_probabilities_are_two_columns_and_follow_the_base_rate(graph):
    half, rare = (gr.LinkPredictor(prior=prior).fit(graph) for prior in (0.5, 0.01))
    pairs = [("node 0", "node 1"), ("node 0", "node 119")]
    for links in (half, rare):
        np.testing.assert_allclose(links.predict_proba(pairs).sum(axis=1), 1)
    odds = [links.predict_proba(pairs)[:, 1] / links.predict_proba(pairs)[:, 0] for links in (half, rare)]
    np.testing.assert_allclose(odds[0] / odds[1], 99, rtol=1e-6)
    density = gr.LinkPredictor().fit(graph)
    assert density.prior_ == pytest.approx(graph.num_edges / (120 * 119 / 2))


def test_probabilities_are_calibrated(graph):
    """Of pairs that get about p, about the share p are links."""
    seen, pairs, y = hidden(blocks(60, 4, 0.3, 0.02, seed=4), 0.2)
    chance = gr.LinkPredictor(prior=0.5).fit(seen).predict_proba(pairs)[:, 1]
    bins = np.minimum((chance * 5).astype(int), 4)
    error = sum(abs(y[bins == b].mean() - chance[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins))
    assert error < 0.1


def test_a_relation_of_pairs_is_learned_and_may_read_their_edge():
    rng = np.random.default_rng(0)
    graph = random_graph(100, 500)
    pairs = np.stack([rng.permutation(100) for _ in range(6)]).reshape(2, -1)
    pairs = pairs[:, pairs[0] != pairs[1]]
    pairs = np.concatenate([pairs, graph.edge_index[:, :300]], axis=1)
    y = (graph.to_scipy().toarray()[pairs[0], pairs[1]] > 0).astype(int)
    links = gr.LinkPredictor().fit(graph, pairs=pairs.T, y=y)
    assert links.recipe_.own_edge
    assert links.score(pairs.T, y) > 0.99


def test_no_fold_sees_the_links_that_it_describes(graph):
    edges = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    pairs = np.concatenate([edges, np.stack([np.arange(60), np.arange(60) + 60])], axis=1)
    y = np.repeat([1, 0], [edges.shape[1], 60])
    parts = folds(graph, pairs, y)
    assert len(parts) == 10
    assert sorted(np.concatenate([part.rows for part in parts])) == list(range(len(y)))
    for part in parts:
        dense = part.graph.to_scipy().toarray()
        own = pairs[:, part.rows[y[part.rows] == 1]]
        assert not dense[own[0], own[1]].any()
        assert part.graph.num_edges == graph.num_edges - own.shape[1]


def test_a_planted_link_does_not_see_itself(graph):
    """The features of a training link are those of the graph without its fold, with or without the planted edge."""
    free = np.array([[0], [119]])
    edges = np.concatenate([graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]], free], axis=1)
    planted = gr.Graph.from_edges(edges, 120)
    y = np.ones(edges.shape[1], int)
    known = PairFeatures(planted, gr.pairs.PairRecipe(3, (3,), 8))
    found = link_features(planted, known.recipe, known.anchors, edges, y, 0)[-1]
    fold = next(part for part in folds(planted, edges, y, 0) if edges.shape[1] - 1 in part.rows)
    expected = PairFeatures(fold.graph, known.recipe, known.anchors).describe(free, exclude_own_edge=False)
    np.testing.assert_array_equal(found, expected[0])


def test_a_grown_graph_and_unseen_nodes_are_scored(graph, links):
    rows = [*graph.ids[graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]].T.tolist()]
    grown = gr.Graph.from_edge_list([*map(tuple, rows), *(("new", f"node {number}") for number in range(8))])
    near, far = links.decision_function([("new", "node 10"), ("new", "node 100")], grown)
    assert near > far


def test_a_fitted_predictor_keeps_its_anchors_where_nodes_have_other_positions():
    graph = blocks(50, inside=0.2, names=[f"node {number:03}" for number in range(200)])
    links = gr.LinkPredictor(num_members=1, start=None).fit(graph)
    moved = gr.Graph.from_edges(graph.edge_index + 2, 202, ids=["a node", "another", *graph.ids])
    assert moved.index_of("node 000") == 2
    pairs = graph.ids[np.random.default_rng(0).permutation(200).reshape(100, 2)]
    assert len(links.anchors_) < 200
    np.testing.assert_allclose(links.decision_function(pairs, moved), links.decision_function(pairs), atol=1e-4)
    anew = gr.LinkPredictor(num_members=1, start=None).fit(moved)
    assert set(anew.anchors_.tolist()) != set(links.anchors_.tolist())


def test_another_graph_is_scored_with_anchors_of_its_own(links):
    other = blocks(seed=9)
    seen, pairs, y = hidden(other)
    assert links.score(pairs, y, seen) > 0.8


def test_saved_and_loaded_it_answers_the_same(graph, links, tmp_path):
    links.save(tmp_path)
    again = gr.LinkPredictor.load(tmp_path)
    pairs = graph.ids[np.arange(40).reshape(20, 2)]
    assert (again.decision_function(pairs, graph) == links.decision_function(pairs)).all()
    assert again.get_params() == links.get_params()
    with pytest.raises(
        InputError, match="graph must be given to a predictor that was loaded, or is pretrained, got None"
    ):
        again.predict_proba(pairs)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_damaged_files_are_refused(links, tmp_path, name):
    links.save(tmp_path)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError):
        gr.LinkPredictor.load(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(InputError, match="folder must hold"):
        gr.LinkPredictor.load(tmp_path)


def test_another_kind_of_model_is_refused(tmp_path):
    gr.GraphReachEmbedding(method="paper", num_anchors=2, epochs=1).fit(random_graph(20, 60)).save(tmp_path)
    with pytest.raises(InputError, match="describes a GraphReach, not a PairHead"):
        gr.LinkPredictor.load(tmp_path)


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(graph):
    import torch

    threads, own = numba.get_num_threads(), torch.get_num_threads()
    pairs, found = graph.ids[np.arange(60).reshape(30, 2)], []
    try:
        for count in (1, threads):
            numba.set_num_threads(count)
            torch.set_num_threads(count)
            found.append(gr.LinkPredictor(random_state=3).fit(graph).decision_function(pairs))
    finally:
        numba.set_num_threads(threads)
        torch.set_num_threads(own)
    assert (found[0] == found[1]).all()
    assert (gr.LinkPredictor(random_state=4).fit(graph).decision_function(pairs) != found[0]).any()


def test_directed_links_have_a_direction():
    n = 90
    rng = np.random.default_rng(0)
    level = np.arange(n) // 30
    linked = (rng.random((n, n)) < 0.25) & (level[:, None] + 1 == level)
    graph = gr.Graph.from_edges(np.stack(np.nonzero(linked)), n, directed=True)
    links = gr.LinkPredictor(prior=0.5).fit(graph)
    down, up = links.predict_proba([(3, 40), (40, 3)])[:, 1]
    assert down > up


def test_the_pretrained_model_scores_any_graph_at_once(graph):
    seen, pairs, y = hidden(graph)
    links = gr.LinkPredictor.pretrained()
    assert links.score(pairs, y, seen) > 0.85
    assert links.predict_proba(pairs[:2], seen).shape == (2, 2)
    files = list((gr.link_predictor.PRETRAINED).iterdir())
    assert sum(file.stat().st_size for file in files) < 300_000
    with pytest.raises(InputError, match="graph must be undirected"):
        links.predict_proba([(0, 1)], gr.Graph.from_edges([[0, 1], [1, 2]], directed=True))


def test_isolated_nodes_and_repeated_pairs_have_an_answer(links):
    graph = gr.Graph.from_edges([[0, 1, 2], [1, 2, 3]], num_nodes=6)
    found = links.predict_proba([(0, 4), (4, 5), (4, 5)], graph)
    assert np.isfinite(found).all()
    assert (found[1] == found[2]).all()
    assert links.predict_proba([], graph).shape == (0, 2)


def test_two_isolated_nodes_have_the_base_rate_and_rank_below_links():
    """With every column zero the network would take them for two nodes in the same place."""
    known = gr.datasets.load("communities")[0].graph
    links = known.edge_index[:, known.edge_index[0] < known.edge_index[1]]
    graph = gr.Graph.from_edges(np.concatenate([links, [[known.num_nodes + 2], [known.num_nodes + 3]]], axis=1))
    first = known.num_nodes
    predictor = gr.LinkPredictor.pretrained()
    isolated = [(first, first + 1), (first + 1, first), (first + 2, first + 3)]  # the last pair's edge is left out
    assert (predictor.decision_function(isolated, graph) == 0).all()
    rate = graph.num_edges / (graph.num_nodes * (graph.num_nodes - 1) / 2)
    np.testing.assert_allclose(predictor.predict_proba(isolated, graph)[:, 1], rate)
    lift = gr.pair_features(graph, links, steps=2, lengths=(2,))[0][:, 0]
    of_neighbours = predictor.decision_function(links[:, lift > 0].T, graph)
    assert (lift > 0).mean() > 0.9
    assert of_neighbours.min() > 0
    one = predictor.decision_function([(first, node) for node in range(known.num_nodes)], graph)
    assert one.max() < np.median(of_neighbours)


def test_two_isolated_nodes_are_explained_by_their_degrees_alone():
    graph = gr.Graph.from_edges([[0, 1, 2, 0], [1, 2, 3, 2]], num_nodes=6)
    predictor = gr.LinkPredictor.pretrained()
    found = predictor.explain((4, 5), graph)
    assert found.logit == 0
    assert {name for name, value in found.groups.items() if value} == {"degree"}
    assert found.probability == pytest.approx(found.prior)
    assert predictor.explain((0, 4), graph).groups["position"] != 0


def test_a_predictor_that_has_seen_isolated_pairs_says_what_it_learned_of_them(tmp_path):
    """In folds of a graph of pieces many links have ends without other edges, so that the network knows such pairs."""
    pieces = np.arange(80).reshape(2, 40, order="F")
    for edges, learned in ((pieces, True), (np.array(list(nx.complete_graph(12).edges)[::2]).T, False)):
        graph = gr.Graph.from_edges(edges, num_nodes=80 + 2)
        whole = gr.Graph.from_edges(edges)
        predictor = gr.LinkPredictor(start=None, num_members=1).fit(whole)
        (logit,) = predictor.decision_function([(80, 81)], graph)
        assert (logit != 0) == learned
        predictor.save(tmp_path)
        assert gr.LinkPredictor.load(tmp_path).decision_function([(80, 81)], graph) == logit


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g, p: p.predict_proba([("node 1", "nobody")]), "nobody"),
        (lambda g, p: p.predict_proba([("node 1", "node 1")]), "pairs must be of two different nodes, got 'node 1' with"),
        (lambda g, p: p.predict_proba(np.zeros((3, 5))), r"pairs must be rows \(u, v\), shape \[m, 2\]"),
        (lambda g, p: gr.LinkPredictor().predict([("node 1", "node 2")]), "LinkPredictor must be fitted first"),
        (lambda g, p: gr.LinkPredictor(prior=1.5).fit(g), 'prior must be "density" or a share between 0 and 1, got 1.5'),
        (lambda g, p: gr.LinkPredictor(prior="foo").fit(g), "prior must be .* got 'foo'"),
        (lambda g, p: gr.LinkPredictor(negatives="hard").fit(g), "negatives must be"),
        (lambda g, p: gr.LinkPredictor(steps=1).fit(g), "steps must be an integer from 2 to 64, got 1"),
        (lambda g, p: gr.LinkPredictor().fit(g, pairs=[("node 1", "node 2")]), "pairs and y must be given together"),
        (lambda g, p: gr.LinkPredictor().fit(g, pairs=[("node 1", "node 2")], y=[1, 0]), "y must have one entry for each"),
        (lambda g, p: gr.LinkPredictor().fit(g, pairs=[("node 1", "node 2")], y=[3]), "y must be a list of 1 and 0"),
        (lambda g, p: gr.LinkPredictor().fit(gr.Graph.from_edges([[0], [1]])), "at least 4 links to learn from, got 1"),
        (lambda g, p: gr.LinkPredictor().fit(gr.Graph.from_edges(np.triu_indices(5, 1))), "not linked to learn from"),
        (lambda g, p: gr.LinkPredictor().fit(nx.Graph()), "^graph must have at least one node, got an empty graph"),
        (lambda g, p: p.score([("node 1", "node 2")], [1]), "y must have pairs of both kinds, 1 and 0, to score by, got 1"),
        (lambda g, p: p.predict_proba([(0, 1)], gr.Graph.from_edges([[0], [1]], directed=True)), "got a directed one; fit"),
        (lambda g, p: gr.LinkPredictor.pretrained().predict([(0, 1)]), "predictor that was loaded, or is pretrained"),
        (lambda g, p: gr.LinkPredictor.pretrained().rate(), "predictor that was loaded, or is pretrained"),
        (lambda g, p: p.score([("node 1", "node 2")], [1, 0]), "y must have one entry for each of 1 pairs, got 2"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(graph, links, call, message):
    with pytest.raises(InputError, match=message):
        call(graph, links)


def test_a_directed_predictor_says_which_graphs_it_reads():
    directed = gr.LinkPredictor(num_members=1, steps=3).fit(gr.datasets.load("communities")[0].graph.transpose())
    assert not directed.recipe_.directed
    rng = np.random.default_rng(0)
    graph = gr.Graph.from_edges(rng.integers(0, 20, (2, 60)), directed=True)
    with pytest.raises(
        InputError, match="graph must be directed, as the one that was learned from, got an undirected one"
    ):
        gr.LinkPredictor(num_members=1, steps=3).fit(graph).predict_proba([(0, 1)], blocks())


def test_probabilities_assume_the_density_of_the_graph_that_is_asked_about(graph):
    links = gr.LinkPredictor(num_members=1, steps=3).fit(graph)
    other = blocks(seed=9, inside=0.2)
    assert links.rate() == links.rate(graph) == links.prior_
    assert links.rate(other) == pytest.approx(other.num_edges / (120 * 119 / 2))
    logit = links.decision_function([(0, 1)], other)
    odds = links.rate(other) / (1 - links.rate(other))
    assert links.predict_proba([(0, 1)], other)[:, 1] == pytest.approx(1 / (1 + np.exp(-logit) / odds))
    assert links.explain((0, 1), other).prior == links.rate(other)
    relation = gr.LinkPredictor(num_members=1, steps=3).fit(
        graph, pairs=graph.ids[np.arange(40).reshape(20, 2)], y=[1] * 5 + [0] * 15
    )
    assert relation.rate(other) == relation.prior_ == 0.25


def test_files_hold_no_surprises(links, tmp_path):
    links.save(tmp_path)
    record = json.loads((tmp_path / "config.json").read_text())
    assert record["model"] == "PairHead"
    assert {"recipe", "anchors", "prior", "estimator"} <= record["metadata"].keys()


def few_links():
    """A small graph with a spare fifth of its links, and as many pairs that are none."""
    whole = nx.Graph(nx.les_miserables_graph().edges)
    rng = np.random.default_rng(0)
    links, others = list(whole.edges), list(nx.non_edges(whole))
    hidden = [links[place] for place in rng.permutation(len(links))[:50]]
    whole.remove_edges_from(hidden)
    return whole, hidden + [others[place] for place in rng.permutation(len(others))[:50]], np.repeat([1, 0], 50)


def test_a_small_graph_starts_from_the_model_in_the_package_if_its_loss_is_lower(monkeypatch):
    graph, pairs, y = few_links()
    losses, learn = [], pair_learning._learn
    monkeypatch.setattr(
        pair_learning, "_learn", lambda *rest, **more: losses.append(learn(*rest, **more)) or losses[-1]
    )
    links = gr.LinkPredictor().fit(graph)
    alone, started = losses
    assert links._scorer.network is min(losses, key=lambda each: each.loss).network is started.network
    assert links.recipe_ == gr.LinkPredictor.pretrained().recipe_
    assert links.score(pairs, y) > 0.9
    nothing = gr.LinkPredictor(start=None).fit(graph)
    assert len(losses) == 3
    assert losses[2].loss == alone.loss
    assert nothing.recipe_.steps == 8
    monkeypatch.setattr(pair_learning, "_learn", lambda *rest, **more: learn(*rest, **more)._replace(loss=1.0))
    assert gr.LinkPredictor().fit(graph).recipe_.steps == 8  # no better than nothing


def test_a_saved_predictor_is_something_to_start_from(tmp_path):
    graph, pairs, y = few_links()
    gr.LinkPredictor(steps=3, lengths=(3,), num_anchors=20, num_members=2).fit(graph).save(tmp_path / "first")
    again = gr.LinkPredictor(start=tmp_path / "first").fit(graph)
    assert again.recipe_.steps in (3, 8)
    again.save(tmp_path / "second")
    loaded = gr.LinkPredictor.load(tmp_path / "second")
    assert loaded.start == str(tmp_path / "first")
    np.testing.assert_array_equal(loaded.decision_function(pairs, graph), again.decision_function(pairs))
    with pytest.raises(InputError, match="start must be None where steps is given"):
        gr.LinkPredictor(start=tmp_path / "first", steps=4).fit(graph)
    with pytest.raises(InputError, match="start must be"):
        gr.LinkPredictor(start=3).fit(graph)
    gr.LinkPredictor(num_members=1).fit(graph, pairs=pairs, y=y).save(tmp_path / "relation")
    with pytest.raises(InputError, match="start must be a predictor of links without attributes"):
        gr.LinkPredictor(start=tmp_path / "relation").fit(graph)


def test_nothing_starts_from_it_where_it_would_not_fit(monkeypatch):
    """Directed graphs, relations and large graphs have a head of their own."""
    graph, pairs, y = few_links()
    monkeypatch.setattr(pair_learning, "_learn_from", None)  # would be called
    gr.LinkPredictor().fit(graph, pairs=pairs, y=y)
    gr.LinkPredictor().fit(nx.DiGraph(graph))
    monkeypatch.setattr(pair_learning, "FEW_LINKS", 10)
    gr.LinkPredictor().fit(graph)


def test_a_predictor_of_before_relative_degrees_refuses_weights(tmp_path):
    graph = gr.datasets.load("karate")[0].graph
    links = gr.LinkPredictor().fit(graph)
    links.save(tmp_path / "new")
    again = gr.LinkPredictor.load(tmp_path / "new").predict_proba([(3, 34)], graph)
    assert again.tobytes() == links.predict_proba([(3, 34)]).tobytes()
    record = json.loads((tmp_path / "new" / "config.json").read_text())
    assert record["metadata"].pop("relative_degrees") is True
    (tmp_path / "new" / "config.json").write_text(json.dumps(sign(record)))
    old = gr.LinkPredictor.load(tmp_path / "new")
    with pytest.raises(gr.InputError, match=r"graph must be without weights, got Graph.*saved by graphreach 0\.1\.0"):
        old.predict_proba([(3, 34)], graph)
    plain = gr.Graph.from_edge_list(graph.ids[graph.edge_index.T])
    assert old.predict_proba([(3, 34)], plain).shape == (1, 2)

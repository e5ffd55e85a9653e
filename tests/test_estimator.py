"""fit and transform."""

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.metrics import roc_auc_score
from torch_geometric.utils import from_networkx

import graphreach as gr
from graphreach.errors import InputError
from graphreach.training import inputs, methods, plan

FAST = {"num_anchors": 12, "epochs": 30, "hidden_channels": 16}


def communities(seed=0, prefix=None):
    """Six communities of ten nodes, in one piece."""
    graph = nx.empty_graph(60)
    graph.add_edges_from(nx.planted_partition_graph(6, 10, 0.8, 0.01, seed=seed).edges)
    graph.add_edges_from((10 * i, (10 * i + 10) % 60) for i in range(6))
    return graph if prefix is None else nx.relabel_nodes(graph, {node: f"{prefix}{node}" for node in graph})


def links_and_others(graph, seed=0):
    """Links and as many random pairs that are none, with labels."""
    rng, nodes, links = np.random.default_rng(seed), list(graph), list(graph.edges)
    others = []
    while len(others) < len(links):
        u, v = (nodes[i] for i in rng.integers(0, len(nodes), 2))
        if u != v and not graph.has_edge(u, v):
            others.append((u, v))
    return links + others, [1] * len(links) + [0] * len(others)


@pytest.fixture(scope="module")
def named():
    return communities(prefix="node ")


@pytest.fixture(scope="module")
def fitted(named):
    return gr.GraphReachEmbedding(method="paper", **FAST, random_state=1).fit(named)


def test_fitted_attributes(fitted, named):
    assert fitted.embedding_.shape == (60, 12)
    assert fitted.embedding_.dtype == np.float32
    assert fitted.ids_.tolist() == sorted(named)
    assert len(fitted.anchors_) == 12
    assert set(fitted.anchors_) <= set(named)
    assert len(fitted.loss_) == 30
    assert isinstance(fitted.model_, gr.nn.GraphReach)
    np.testing.assert_allclose(np.linalg.norm(fitted.embedding_, axis=1), 1, atol=1e-5)


def test_training_lowers_the_loss(fitted):
    assert np.mean(fitted.loss_[-5:]) < 0.8 * fitted.loss_[0]


def test_fit_transform_and_get_embedding_are_the_embedding(named, fitted):
    again = gr.GraphReachEmbedding(method="paper", **FAST, random_state=1)
    np.testing.assert_array_equal(again.fit_transform(named), fitted.embedding_)
    assert again.get_embedding() is again.embedding_


def test_seed_decides(named, fitted):
    other = gr.GraphReachEmbedding(method="paper", **FAST, random_state=2).fit(named)
    assert not np.array_equal(other.embedding_, fitted.embedding_)


def test_global_random_state_does_not_matter_and_is_left_alone(named, fitted):
    torch.manual_seed(123)
    expected = torch.rand(1)
    torch.manual_seed(123)
    again = gr.GraphReachEmbedding(method="paper", **FAST, random_state=1).fit(named)
    assert torch.equal(torch.rand(1), expected)
    np.testing.assert_array_equal(again.embedding_, fitted.embedding_)


def test_transform_of_the_same_graph_is_the_embedding(named, fitted):
    np.testing.assert_array_equal(fitted.transform(named), fitted.embedding_)


def test_rows_go_by_id_whatever_the_order(named, fitted):
    shuffled = nx.Graph()
    shuffled.add_nodes_from(reversed(list(named)))
    shuffled.add_edges_from(reversed(list(named.edges)))
    np.testing.assert_array_equal(fitted.transform(shuffled), fitted.embedding_)


def test_grown_graph_keeps_its_anchors(named, fitted, monkeypatch):
    grown = named.copy()
    grown.add_edges_from([("newcomer", "node 3"), ("newcomer", "node 4"), ("newcomer", "node 7")])
    monkeypatch.setattr(methods, "select_anchors", lambda *_, **__: pytest.fail("anchors were selected anew"))
    z = fitted.transform(grown)
    assert z.shape == (61, 12)
    graph = gr.Graph.from_networkx(grown)
    anchors = graph.index_of(fitted.anchors_)
    settings = gr.nn.PRESETS["best"]
    reach = gr.reachability(graph, anchors, **settings.reachability, seed=1).rescaled(settings.scale)
    with torch.no_grad():
        expected = fitted.model_(None, reach).numpy()
    np.testing.assert_array_equal(z, expected)
    near = z @ z[graph.index_of("newcomer")]
    mates = graph.index_of([f"node {i}" for i in range(10)])
    others = graph.index_of([f"node {i}" for i in range(10, 60)])
    assert near[mates].mean() > near[others].mean()


def test_another_graph_gets_anchors_of_its_own_on_request(fitted):
    other = communities(seed=5, prefix="other ")
    z = fitted.transform(other, new_anchors=True)
    assert z.shape == (60, 12)
    pairs, labels = links_and_others(other)
    assert roc_auc_score(labels, fitted.score_pairs(pairs, graph=other, new_anchors=True)) > 0.8


def test_a_smaller_graph_has_fewer_anchors(fitted):
    assert fitted.transform(nx.path_graph(5), new_anchors=True).shape == (5, 5)


def test_anchors_are_never_replaced_silently(named, fitted):
    """A graph without the anchors was embedded by others, and accuracy fell without a word."""
    other = communities(seed=5, prefix="other ")
    for use in (fitted.transform, lambda graph: fitted.score_pairs([("other 0", "other 1")], graph=graph)):
        with pytest.raises(
            InputError, match=r"got one without 12 of 12: .*; new_anchors=True \(--new-anchors\) chooses"
        ):
            use(other)
    with pytest.raises(InputError, match="new_anchors must be True or False"):
        fitted.transform(other, new_anchors="yes")


def test_an_anchor_that_is_gone_is_named_and_its_column_is_zero(named, fitted):
    gone = str(fitted.anchors_[3])
    fewer = nx.Graph(named)
    fewer.remove_node(gone)
    with pytest.warns(UserWarning, match=f"lacks 1 of 12 anchors .*'{gone}'; their columns of the embedding are zero"):
        z = fitted.transform(fewer)
    assert z.shape == (59, 12)
    assert not z[:, 3].any()
    assert np.abs(np.delete(z, 3, axis=1)).sum(0).all()


def test_anchors_are_found_across_integer_and_text_ids():
    """A graph with one more node, whose id is text, has text ids throughout."""
    graph = communities()
    embedding = gr.GraphReachEmbedding(method="paper", **FAST | {"epochs": 2}).fit(graph)
    text = nx.relabel_nodes(graph, {i: str(i) for i in graph})
    order = gr.Graph.from_networkx(text).index_of([str(i) for i in range(60)])
    np.testing.assert_allclose(embedding.transform(text)[order], embedding.embedding_, atol=1e-5)


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        (np.zeros((2, 3), int), r"pairs must be rows \(u, v\), shape \[m, 2\], got shape \[2, 3\]; transpose it"),
        (np.zeros(4, int), r"shape \[m, 2\], got shape \[4\]"),
        (np.zeros((4, 3), int), r"got shape \[4, 3\]"),
        ([("node 0", "node 1", "node 2")], "rows .* of two node ids each, got"),
        (["ab"], "got 'ab' among them"),
        ([None], "got None among them"),
        (None, "pairs must be rows"),
        ("node 0", "pairs must be rows"),
        ({"node 0": "node 1"}, "pairs must be rows"),
        ([("node 0", "nobody")], "pairs must hold ids of nodes .* got 'nobody'"),
        ([("node 0", ["node 1"])], r"pairs must hold ids of nodes .*, got \['node 1'\]"),
        (np.ma.masked_array(np.zeros((2, 2), int), np.eye(2)), "masked"),
    ],
)
def test_pairs_are_rows(fitted, pairs, sentence):
    """An array [2, 3] was met by a complaint about the reversed shape."""
    with pytest.raises(InputError, match=sentence):
        fitted.score_pairs(pairs)


def test_no_pairs_have_no_scores(fitted):
    for pairs in ([], np.empty((0, 2)), iter([])):
        assert fitted.score_pairs(pairs).shape == (0,)


def test_scores_are_probabilities_and_tell_links_from_others(named, fitted):
    pairs, labels = links_and_others(named)
    scores = fitted.score_pairs(pairs)
    assert scores.shape == (len(pairs),)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert roc_auc_score(labels, scores) > 0.9


def test_scores_take_ids_in_both_orders_and_as_an_array(named, fitted):
    pairs = [("node 0", "node 1"), ("node 5", "node 50")]
    scores = fitted.score_pairs(pairs)
    np.testing.assert_allclose(fitted.score_pairs([pair[::-1] for pair in pairs]), scores, rtol=1e-6)
    np.testing.assert_array_equal(fitted.score_pairs(np.array(pairs)), scores)
    np.testing.assert_allclose(fitted.score_pairs(pairs, graph=named), scores)
    assert fitted.score_pairs([]).shape == (0,)
    with pytest.raises(InputError, match="nobody"):
        fitted.score_pairs([("node 0", "nobody")])


def test_links_are_held_out_and_judged(named, fitted):
    assert fitted.held_out_links_ == named.number_of_edges() - int(0.9 * named.number_of_edges() + 1e-6)
    assert fitted.auc_ > 0.8
    assert 0 < fitted.best_epoch_ <= 30
    assert {"anchors", "reachability", "training", "whole graph"} <= fitted.seconds_.keys()


def test_few_links_are_all_trained_on():
    embedding = gr.GraphReachEmbedding(method="paper", num_anchors=2, epochs=2).fit(nx.path_graph(5))
    assert np.isnan(embedding.auc_)
    assert embedding.held_out_links_ == 0


def test_other_settings_are_those_of_training(named):
    embedding = gr.GraphReachEmbedding(
        method="paper", **FAST, settings={"patience": 1, "evaluate_every": 1, "model": {"bias": False}}
    )
    embedding.fit(named)
    assert len(embedding.loss_) < 30
    assert embedding.model_.config["bias"] is False
    assert embedding.model_.config["decoder"] == "scaled"  # of the recipe
    for settings, sentence in (
        ({"epochs": 3}, "settings must not hold 'epochs', which is the argument epochs"),
        ({"seed": 3}, "which is the argument random_state"),
        ({"method": "gcn"}, "method must be graphreach"),
        ({"patiense": 3}, "did you mean 'patience'"),
        (3, "settings must be names and values, got 3"),
    ):
        with pytest.raises(InputError, match=sentence):
            gr.GraphReachEmbedding(method="paper", settings=settings).fit(named)


def test_features_add_a_branch(named):
    x = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    embedding = gr.GraphReachEmbedding(method="paper", **FAST | {"epochs": 2}).fit(named, x=x)
    assert embedding.embedding_.shape == (60, 12 + 16)
    np.testing.assert_array_equal(embedding.transform(named, x=x), embedding.embedding_)
    with pytest.raises(InputError, match="features of 3 columns must be given"):
        embedding.transform(named)


def test_held_out_links_are_predicted_better_than_by_chance():
    graph = communities(seed=3)
    rng = np.random.default_rng(0)
    links = list(graph.edges)
    hidden = [links[i] for i in rng.choice(len(links), len(links) // 10, replace=False)]
    seen = graph.copy()
    seen.remove_edges_from(hidden)
    pairs, labels = links_and_others(graph)
    others = [pair for pair, label in zip(pairs, labels, strict=True) if not label][: len(hidden)]
    embedding = gr.GraphReachEmbedding(method="paper", **FAST).fit(seen)
    truth = [1] * len(hidden) + [0] * len(others)
    assert roc_auc_score(truth, embedding.score_pairs(hidden + others)) > 0.8


@pytest.mark.parametrize("preset", ["paper", "authors", "best"])
def test_every_preset(named, preset):
    embedding = gr.GraphReachEmbedding(
        method="paper", num_anchors=12, epochs=60, hidden_channels=16, preset=preset
    ).fit(named)
    pairs, labels = links_and_others(named)
    assert roc_auc_score(labels, embedding.score_pairs(pairs)) > 0.75
    np.testing.assert_array_equal(embedding.transform(named), embedding.embedding_)


def test_mini_batches_train_too(named):
    embedding = gr.GraphReachEmbedding(method="paper", **FAST | {"epochs": 10}, batch_size=50).fit(named)
    pairs, labels = links_and_others(named)
    assert roc_auc_score(labels, embedding.score_pairs(pairs)) > 0.9
    again = gr.GraphReachEmbedding(method="paper", **FAST | {"epochs": 10}, batch_size=50).fit(named)
    np.testing.assert_array_equal(again.embedding_, embedding.embedding_)


def test_large_graph_is_embedded_by_blocks(named, fitted, monkeypatch):
    monkeypatch.setattr(inputs, "WHOLE_GRAPH_NODES", 10)
    monkeypatch.setattr(inputs, "BLOCK_ROWS", 17)
    np.testing.assert_allclose(fitted.transform(named), fitted.embedding_, atol=1e-5)


def test_beyond_memory_reachability_is_sampled_and_compressed(named, monkeypatch):
    monkeypatch.setattr(plan, "DENSE_BYTES", 100)
    embedding = gr.GraphReachEmbedding(method="paper", **FAST).fit(named)
    pairs, labels = links_and_others(named)
    assert roc_auc_score(labels, embedding.score_pairs(pairs)) > 0.85


def test_all_kinds_of_graph_give_one_embedding(tmp_path):
    graph = communities()
    own = gr.Graph.from_networkx(graph)
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n" + "\n".join(f"{u},{v}" for u, v in graph.edges))
    expected = gr.GraphReachEmbedding(method="paper", **FAST).fit_transform(own)
    for other in (graph, from_networkx(graph), nx.to_scipy_sparse_array(graph, nodelist=range(60)), path, str(path)):
        np.testing.assert_array_equal(gr.GraphReachEmbedding(method="paper", **FAST).fit_transform(other), expected)
    with pytest.raises(
        InputError, match="graph must be a Graph, a networkx, SciPy or PyG graph, a data frame or a path, got"
    ):
        gr.GraphReachEmbedding(method="paper").fit([(0, 1)])


def test_is_a_scikit_learn_estimator():
    embedding = gr.GraphReachEmbedding(method="paper", num_anchors=5, preset="paper")
    assert isinstance(embedding, BaseEstimator)
    assert isinstance(embedding, TransformerMixin)
    parameters = embedding.get_params()
    assert parameters == {
        "num_anchors": 5,
        "method": "paper",
        "dim": None,
        "directed": False,
        "attributes": "smooth",
        "strategy": "greedy",
        "preset": "paper",
        "hidden_channels": 32,
        "num_layers": 2,
        "epochs": None,
        "learning_rate": 0.01,
        "batch_size": None,
        "random_state": 0,
        "settings": None,
        "engine": "local",
        "device": "auto",
    }
    assert embedding.set_params(epochs=3) is embedding
    assert embedding.epochs == 3
    assert repr(embedding) == "GraphReachEmbedding(epochs=3, method='paper', num_anchors=5, preset='paper')"


def test_clone_is_not_fitted_and_fits_the_same(named, fitted):
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "model_")
    np.testing.assert_array_equal(copy.fit_transform(named), fitted.embedding_)


def test_fitting_again_forgets(named):
    embedding = gr.GraphReachEmbedding(method="paper", **FAST | {"epochs": 2}).fit(nx.cycle_graph(20))
    embedding.fit(named)
    assert embedding.embedding_.shape == (60, 12)
    assert len(embedding.loss_) == 2


@pytest.mark.parametrize(
    "use",
    [
        lambda e: e.transform(nx.path_graph(3)),
        lambda e: e.get_embedding(),
        lambda e: e.score_pairs([(0, 1)]),
        lambda e: e.save("nowhere"),
    ],
    ids=["transform", "get_embedding", "score_pairs", "save"],
)
def test_not_fitted(use):
    with pytest.raises(InputError, match=r"must be fitted first: call fit\(graph\)"):
        use(gr.GraphReachEmbedding(method="paper"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epochs": 0}, "epochs must be"),
        ({"preset": "papre"}, "did you mean 'paper'"),
        ({"num_anchors": 1000}, "num_anchors must be between 1 and 60"),
        ({"strategy": "gredy"}, "strategy"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"batch_size": -5}, "batch_size must be"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"learning_rate": "fast"}, "learning_rate must be a positive number, got 'fast'"),
        ({"learning_rate": float("nan")}, "learning_rate must be a positive number, got nan"),
        ({"epochs": 2.5}, "epochs must be a positive integer, got 2.5"),
        ({"num_anchors": None}, "num_anchors must be"),
        ({"num_anchors": float("nan")}, "num_anchors as a share"),
        ({"num_anchors": True}, "num_anchors must be"),
        ({"strategy": ["greedy"]}, "strategy must be one of"),
        ({"preset": 3}, "preset must be one of"),
        ({"hidden_channels": "a"}, "hidden_channels must be an integer"),
        ({"hidden_channels": 0}, "hidden_channels must be an integer"),
        ({"num_layers": -1}, "num_layers must be an integer"),
        ({"num_layers": 10**12}, "num_layers must be an integer from 1 to"),
        ({"random_state": "7"}, "random_state must be an integer"),
        ({"random_state": -1}, "random_state must be an integer"),
        ({"engine": "spark"}, "engine must be one of"),
    ],
)
def test_parameters_are_checked_by_fit(named, arguments, message):
    with pytest.raises(InputError, match=message):
        gr.GraphReachEmbedding(method="paper", **{"epochs": 1, **arguments}).fit(named)


def test_a_graph_without_links_is_refused():
    graph = nx.Graph()
    graph.add_nodes_from("abc")
    with pytest.raises(InputError, match="graph must have links to train on, got none"):
        gr.GraphReachEmbedding(method="paper").fit(graph)


def test_a_loss_that_explodes_is_an_error(named):
    with pytest.raises(InputError, match="lower learning_rate \\(1e\\+30\\)"):
        gr.GraphReachEmbedding(method="paper", **FAST | {"learning_rate": 1e30}).fit(named)


def test_nodes_without_links_are_embedded():
    graph = communities()
    graph.add_node(99)
    z = gr.GraphReachEmbedding(method="paper", **FAST | {"epochs": 3}).fit_transform(graph)
    assert z.shape == (61, 12)
    assert np.isfinite(z).all()


def test_directed_and_weighted_graphs():
    graph = nx.DiGraph([(i, (i + 1) % 20, {"weight": 1.0 + i % 3}) for i in range(20)])
    z = gr.GraphReachEmbedding(method="paper", num_anchors=4, epochs=3).fit_transform(graph)
    assert z.shape == (20, 4)


def test_save_and_load(named, fitted, tmp_path):
    fitted.save(tmp_path / "saved")
    loaded = gr.GraphReachEmbedding.load(tmp_path / "saved")
    assert loaded.get_params() == fitted.get_params()
    assert loaded.anchors_.tolist() == fitted.anchors_.tolist()
    np.testing.assert_array_equal(loaded.transform(named), fitted.embedding_)
    pairs, _ = links_and_others(named)
    np.testing.assert_allclose(loaded.score_pairs(pairs, graph=named), fitted.score_pairs(pairs), rtol=1e-6)
    with pytest.raises(InputError, match="graph must be given to an estimator that was loaded"):
        loaded.score_pairs(pairs)
    with pytest.raises(InputError):
        loaded.get_embedding()
    assert not [path for path in (tmp_path / "saved").iterdir() if path.suffix not in (".json", ".safetensors")]


def test_an_estimator_of_an_earlier_version_is_loaded(named, fitted, tmp_path):
    """It kept no settings, and said where it was trained."""
    own = {name: value for name, value in fitted.get_params().items() if name != "settings"}
    before = {**own, "epochs": 200, "engine": "ray", "address": None, "workers": 2}
    fitted.model_.save_pretrained(tmp_path, estimator=before, anchors=fitted.anchors_.tolist())
    loaded = gr.GraphReachEmbedding.load(tmp_path)
    assert (loaded.epochs, loaded.engine) == (200, "local")
    np.testing.assert_array_equal(loaded.transform(named), fitted.embedding_)


@pytest.mark.parametrize("ids", ["integers", "strings", "both", "floats"])
def test_ids_of_anchors_survive_saving(ids, tmp_path):
    names = {
        "integers": lambda i: 7 * i,
        "strings": str,
        "both": lambda i: i if i % 2 else f"n{i}",
        "floats": lambda i: i / 2 + 0.25,
    }
    graph = nx.relabel_nodes(communities(), {i: names[ids](i) for i in range(60)})
    embedding = gr.GraphReachEmbedding(method="paper", **FAST | {"epochs": 2}).fit(graph)
    embedding.save(tmp_path)
    loaded = gr.GraphReachEmbedding.load(tmp_path)
    assert loaded.anchors_.tolist() == embedding.anchors_.tolist()
    np.testing.assert_array_equal(loaded.transform(graph), embedding.embedding_)


def test_ids_that_json_cannot_hold_are_refused(tmp_path):
    graph = nx.relabel_nodes(communities(), {i: (i, i) for i in range(60)})
    embedding = gr.GraphReachEmbedding(method="paper", **FAST | {"epochs": 2}).fit(graph)
    with pytest.raises(InputError, match="node ids must be numbers or strings to be saved"):
        embedding.save(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


def test_a_bare_model_is_no_estimator(tmp_path):
    gr.nn.GraphReach(0, 4).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="folder must hold a saved GraphReachEmbedding, got a bare model"):
        gr.GraphReachEmbedding.load(tmp_path)


@pytest.mark.parametrize(
    ("metadata", "sentence"),
    [
        ({"estimator": 3, "anchors": [1]}, "must hold the estimator of a GraphReachEmbedding, got 3"),
        ({"estimator": {"epoch": 3}, "anchors": [1]}, "got one with 'epoch'"),
        ({"anchors": None}, "must hold the anchors of a GraphReachEmbedding, got None"),
        ({"anchors": []}, "ids, each once, as anchors"),
        ({"anchors": [1, 1]}, "each once"),
        ({"anchors": [[1], None]}, "each once"),
        ({"anchors": [True]}, "each once"),
        ({"settings": [3]}, "must hold the settings of a GraphReachEmbedding, got"),
        ({"settings": {"epoch": 3}}, "did you mean 'epochs'"),
        ({"epochs": "many"}, "but epochs must be a positive integer, got 'many'"),
        ({"strategy": None}, "but strategy must be one of"),
    ],
)
def test_metadata_of_an_estimator_is_checked(tmp_path, metadata, sentence):
    parts = {"estimator": gr.GraphReachEmbedding(method="paper").get_params(), "anchors": [1, 2]}
    own = {name: value for name, value in metadata.items() if name in (*parts, "settings")}
    if own != metadata:
        own["estimator"] = parts["estimator"] | metadata
    gr.nn.GraphReach(0, 4).save_pretrained(tmp_path, **parts | own)
    with pytest.raises(InputError, match=sentence):
        gr.GraphReachEmbedding.load(tmp_path)


@pytest.mark.parametrize("folder", [None, 3, b"x", ["a"]])
def test_folders_of_wrong_kinds(fitted, folder):
    for use in (fitted.save, gr.GraphReachEmbedding.load):
        with pytest.raises(InputError, match="folder must be the name of a folder"):
            use(folder)


def test_arguments_have_the_names_that_the_reference_gives(named, fitted):
    np.testing.assert_array_equal(fitted.transform(graph=named), fitted.embedding_)


@pytest.mark.parametrize("graph", [None, 3, [], nx.Graph(), np.ones((3, 3)), {}])
def test_graphs_of_wrong_kinds(graph):
    with pytest.raises(InputError, match=r"graph must be|at least one node"):
        gr.GraphReachEmbedding(method="paper").fit(graph)


def test_settings_of_a_file_make_an_estimator_that_can_be_saved(named, tmp_path):
    given = gr.training.Settings(epochs=2, num_anchors=5, seed=3, patience=1, model={"bias": False})
    embedding = gr.GraphReachEmbedding.from_settings(given).fit(named)
    assert (embedding.epochs, embedding.num_anchors, embedding.random_state) == (2, 5, 3)
    assert embedding.settings == {"patience": 1, "model": {"bias": False}}
    embedding.save(tmp_path)
    loaded = gr.GraphReachEmbedding.load(tmp_path)
    assert loaded.get_params() == embedding.get_params()
    np.testing.assert_array_equal(loaded.transform(named), embedding.embedding_)

"""Estimators in scikit-learn's pipelines and searches, compared with the same done by hand."""

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import graphreach as gr

GRAPH = gr.datasets.load("communities")[0].graph
NODES = GRAPH.ids[::2]
GROUP = np.asarray(NODES) // 20
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
VECTORS = {"method": "position", "dim": 16}
SMALL = {"steps": 2, "lengths": (4,), "num_anchors": 8, "num_members": 1, "hidden_channels": 8, "start": None}


def pairs_of_links(seed=0, count=120):
    """Links and as many other pairs, which are linked, and the graph without these links."""
    rng = np.random.default_rng(seed)
    edges = GRAPH.edge_index[:, GRAPH.edge_index[0] < GRAPH.edge_index[1]].T
    links = edges[rng.permutation(len(edges))[:count]]
    others = [pair for pair in rng.integers(0, 400, (count, 2)) if pair[0] != pair[1] and not linked(*pair)]
    pairs = np.concatenate([links, others])
    y = np.repeat([1, 0], [len(links), len(others)])
    return GRAPH.ids[pairs], y, GRAPH.updated(remove=GRAPH.ids[links])


def linked(u, v):
    return v in GRAPH.indices[int(GRAPH.indptr[u]) : int(GRAPH.indptr[u + 1])]


def test_vectors_in_a_pipeline_are_scored_as_by_hand():
    model = make_pipeline(gr.OnGraph(gr.GraphReachEmbedding(**VECTORS), GRAPH), StandardScaler(), LogisticRegression())
    found = cross_val_score(model, NODES, GROUP, cv=FOLDS)
    rows = gr.GraphReachEmbedding(**VECTORS).fit(GRAPH).embedding_[::2]
    by_hand = []
    for train, test in FOLDS.split(NODES, GROUP):
        scaler = StandardScaler().fit(rows[train])
        classes = LogisticRegression().fit(scaler.transform(rows[train]), GROUP[train])
        by_hand.append(classes.score(scaler.transform(rows[test]), GROUP[test]))
    np.testing.assert_allclose(found, by_hand)
    assert np.mean(found) > 0.5


def test_a_grid_over_vectors_fits_each_candidate_once(monkeypatch):
    fitted, plain = [], gr.GraphReachEmbedding.fit

    def counting(self, graph, y=None, **rest):
        fitted.append(self.dim)
        return plain(self, graph, y, **rest)

    monkeypatch.setattr(gr.GraphReachEmbedding, "fit", counting)
    steps = [("vectors", gr.OnGraph(gr.GraphReachEmbedding(**VECTORS), GRAPH)), ("classes", LogisticRegression())]
    search = GridSearchCV(Pipeline(steps), {"vectors__estimator__dim": [4, 16]}, cv=FOLDS).fit(NODES, GROUP)
    assert fitted == [4, 16]
    assert search.best_params_ == {"vectors__estimator__dim": 16}
    for dim, score in zip([4, 16], search.cv_results_["mean_test_score"], strict=True):
        rows = plain(gr.GraphReachEmbedding("position", dim=dim), GRAPH).embedding_[::2]
        assert score == pytest.approx(cross_val_score(LogisticRegression(), rows, GROUP, cv=FOLDS).mean())


def test_another_graph_or_another_seed_is_embedded_anew():
    model = gr.OnGraph(gr.GraphReachEmbedding("reach", dim=8), GRAPH)
    first = model.fit_transform(NODES)
    other = clone(model).set_params(estimator__random_state=3)
    assert (other.fit_transform(NODES) != first).any()
    grown = clone(model).set_params(graph=GRAPH.updated(add=[(0, 200)]))
    assert (grown.fit_transform(NODES) != first).any()
    np.testing.assert_array_equal(clone(model).fit_transform(NODES), first)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(NODES), first)


def test_a_graph_that_its_owner_changes_is_read_anew():
    club = nx.karate_club_graph()
    model = gr.OnGraph(gr.GraphReachEmbedding(**VECTORS), club)
    first = model.fit_transform([0, 1])
    club.add_edge(0, 33)
    assert (model.fit_transform([0, 1]) != first).any()


def test_classes_are_learned_from_the_labels_of_the_training_fold_alone():
    model = gr.OnGraph(gr.ReachClassifier(num_anchors=8), GRAPH)
    assert is_classifier(model)
    found = cross_val_predict(model, NODES, GROUP, cv=FOLDS, method="predict_proba")
    scores = cross_val_score(model, NODES, GROUP, cv=FOLDS)
    for (train, test), score in zip(FOLDS.split(NODES, GROUP), scores, strict=True):
        known = dict(zip(NODES[train].tolist(), GROUP[train].tolist(), strict=True))
        by_hand = gr.ReachClassifier(num_anchors=8).fit(GRAPH, known)
        np.testing.assert_array_equal(found[test], by_hand.predict_proba(NODES[test]))
        assert score == np.mean(by_hand.predict(NODES[test]) == GROUP[test])


def test_several_labels_per_node_are_a_matrix():
    y = np.stack([GROUP % 2, GROUP % 3 == 0, GROUP > 10], axis=1).astype(int)
    model = gr.OnGraph(gr.ReachClassifier(num_anchors=8), GRAPH).fit(NODES[:150], y[:150])
    by_hand = gr.ReachClassifier(num_anchors=8).fit(
        GRAPH, {v: np.flatnonzero(row).tolist() for v, row in zip(NODES[:150].tolist(), y[:150], strict=True)}
    )
    np.testing.assert_array_equal(model.predict_proba(NODES[150:]), by_hand.predict_proba(NODES[150:]))
    assert 0.3 < model.score(NODES[150:], y[150:]) <= 1


def test_links_of_the_test_fold_are_not_in_the_graph_that_is_read():
    X, y, rest = pairs_of_links()
    model = gr.OnGraph(gr.LinkPredictor(**SMALL), rest)
    found = cross_val_predict(model, X, y, cv=FOLDS, method="predict_proba")[:, 1]
    scores = cross_val_score(model, X, y, cv=FOLDS, scoring="roc_auc")
    for (train, test), score in zip(FOLDS.split(X, y), scores, strict=True):
        seen = rest.updated(add=X[train][y[train] == 1])
        edges = set(map(tuple, seen.ids[seen.edge_index].T.tolist()))
        assert not edges & set(map(tuple, X[test][y[test] == 1].tolist()))
        by_hand = gr.LinkPredictor(**SMALL).fit(seen).predict_proba(X[test])[:, 1]
        np.testing.assert_array_equal(found[test], by_hand)
        assert score == pytest.approx(roc_auc_score(y[test], by_hand))
    assert scores.mean() > 0.8


def test_a_grid_over_links():
    X, y, rest = pairs_of_links(1, 60)
    grid = {"estimator__num_anchors": [2, 8]}
    search = GridSearchCV(gr.OnGraph(gr.LinkPredictor(**SMALL), rest), grid, cv=2).fit(X, y)
    for count, score in zip([2, 8], search.cv_results_["mean_test_score"], strict=True):
        model = gr.OnGraph(gr.LinkPredictor(**{**SMALL, "num_anchors": count}), rest)
        assert score == pytest.approx(cross_val_score(model, X, y, cv=2).mean())
    assert search.best_estimator_._graph is not GRAPH


def test_a_graph_with_the_links_in_question_is_refused():
    X, y, rest = pairs_of_links(0, 30)
    with pytest.raises(gr.InputError, match=r"graph must be without the links in X, .* got 30 of 30 of them: pass"):
        gr.OnGraph(gr.LinkPredictor(), GRAPH).fit(X, y)
    with pytest.raises(gr.InputError, match="got 1 of 30 of them"):
        gr.OnGraph(gr.LinkPredictor(), rest.updated(add=[X[3]])).fit(X, y)
    weighted = gr.Graph.from_networkx(nx.karate_club_graph())
    with pytest.raises(gr.InputError, match="graph must have no weights where y says which pairs are linked"):
        gr.OnGraph(gr.LinkPredictor(), weighted).fit([(0, 33), (0, 9)], [1, 0])


def test_direction_of_links_counts_in_a_directed_graph():
    graph = gr.Graph.from_networkx(nx.gnp_random_graph(30, 0.1, seed=0, directed=True))
    u, v = next(pair for pair in graph.edge_index.T.tolist() if not graph.to_scipy()[pair[1], pair[0]])
    assert (
        gr.OnGraph(gr.LinkPredictor(**SMALL), graph).fit([(v, u), (u, v)], [1, 0]).estimator_._graph.num_edges
        == graph.num_edges + 1
    )
    with pytest.raises(gr.InputError, match="got 1 of 1 of them"):
        gr.OnGraph(gr.LinkPredictor(**SMALL), graph).fit([(u, v), (v, u)], [1, 0])


def test_times_and_two_kinds_of_nodes():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"user": rng.integers(0, 20, 200), "item": rng.integers(0, 15, 200), "time": np.arange(200)})
    graph = gr.Graph.from_frame(frame)
    free = [(u, v) for u, v, _ in gr.link_prediction(graph)][:10]
    seen = gr.OnGraph(gr.LinkPredictor(**SMALL), graph).fit(free, [1, 0] * 5).estimator_._graph
    np.testing.assert_array_equal(seen.sides, graph.sides)
    assert seen.num_edges == graph.num_edges + 5


def test_another_relation_of_pairs_is_learned_with_the_graph_as_it_is():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 400, (300, 2))
    X = X[X[:, 0] < X[:, 1]]
    y = (X[:, 0] // 100 == X[:, 1] // 100).astype(int)
    model = gr.OnGraph(gr.LinkPredictor(**SMALL), GRAPH, links=False)
    train, test = next(FOLDS.split(X, y))
    found = model.fit(X[train], y[train]).predict_proba(X[test])
    by_hand = gr.LinkPredictor(**SMALL).fit(GRAPH, None, X[train], y[train]).predict_proba(X[test])
    np.testing.assert_array_equal(found, by_hand)
    assert model.score(X[test], y[test]) == pytest.approx(roc_auc_score(y[test], by_hand[:, 1]))


FORMS = {
    "list": lambda nodes: nodes.tolist(),
    "column": lambda nodes: nodes[:, None],
    "rows": lambda nodes: [[node] for node in nodes.tolist()],
    "Series": lambda nodes: pd.Series(nodes, index=range(500, 500 + len(nodes))),
    "pandas": lambda nodes: pd.DataFrame({"id": nodes}),
    "polars": lambda nodes: pl.DataFrame({"id": nodes}),
}


@pytest.mark.parametrize("form", FORMS)
def test_nodes_come_in_any_form(form):
    X = FORMS[form](NODES)
    model = make_pipeline(gr.OnGraph(gr.GraphReachEmbedding(**VECTORS), GRAPH), LogisticRegression())
    expected = cross_val_score(model, NODES, GROUP, cv=FOLDS)
    np.testing.assert_array_equal(cross_val_score(model, X, GROUP, cv=FOLDS), expected)
    classes = gr.OnGraph(gr.ReachClassifier(num_anchors=8), GRAPH).fit(X, GROUP)
    np.testing.assert_array_equal(classes.predict(X), classes.predict(NODES))


def test_frames_are_given_out_where_they_are_asked_for():
    model = gr.OnGraph(gr.GraphReachEmbedding(**VECTORS), GRAPH)
    rows = model.fit_transform(NODES)
    frame = model.set_output(transform="pandas").transform(NODES)
    assert frame.index.tolist() == NODES.tolist()
    assert list(frame.columns) == model.get_feature_names_out().tolist() == [f"z{i}" for i in range(16)]
    np.testing.assert_array_equal(frame.to_numpy(), rows)
    series = pd.Series(NODES, index=range(500, 700))
    assert clone(model).fit(NODES).transform(series).index.equals(series.index)
    assert (
        model.set_output(transform="polars").transform(NODES).equals(pl.DataFrame(frame.to_numpy(), schema=list(frame)))
    )
    assert isinstance(model.set_output().transform(NODES), pl.DataFrame)
    assert isinstance(model.set_output(transform="default").transform(NODES), np.ndarray)


@pytest.mark.parametrize("method", ["reach", "position", "paper"])
def test_the_embedding_itself_gives_frames_out(method):
    few = {"epochs": 1, "hidden_channels": 4, "num_anchors": 4} if method == "paper" else {"dim": 8}
    embedding = gr.GraphReachEmbedding(method, **few)
    rows = embedding.fit_transform(GRAPH)
    frame = embedding.set_output(transform="pandas").transform(graph=GRAPH)
    assert isinstance(rows, np.ndarray)
    np.testing.assert_array_equal(frame.to_numpy(), embedding.set_output(transform="default").transform(GRAPH))
    assert frame.index.tolist() == GRAPH.ids.tolist()
    with sklearn.config_context(transform_output="polars"):
        fresh = gr.GraphReachEmbedding(method, **few)
        assert fresh.fit_transform(GRAPH).columns == fresh.get_feature_names_out().tolist()


def test_a_pipeline_passes_the_choice_of_frames_on():
    steps = make_pipeline(gr.OnGraph(gr.GraphReachEmbedding(**VECTORS), GRAPH), StandardScaler())
    frame = steps.set_output(transform="pandas").fit_transform(NODES)
    assert list(frame.columns)[:2] == ["z0", "z1"]
    assert frame.index.tolist() == NODES.tolist()


def test_vectors_stand_beside_other_columns():
    table = pd.DataFrame({"id": NODES, "age": np.arange(200) % 7})
    vectors = gr.OnGraph(gr.GraphReachEmbedding(**VECTORS), GRAPH)
    both = ColumnTransformer([("vectors", vectors, ["id"]), ("rest", "passthrough", ["age"])])
    assert both.fit_transform(table).shape == (200, 17)
    assert both.get_feature_names_out()[[0, -1]].tolist() == ["vectors__z0", "rest__age"]


def test_the_embedding_itself_in_a_pipeline():
    y = np.arange(400) // 20
    model = make_pipeline(gr.GraphReachEmbedding(**VECTORS), LogisticRegression()).fit(GRAPH, y)
    rows = gr.GraphReachEmbedding(**VECTORS).fit(GRAPH).embedding_
    np.testing.assert_array_equal(model.predict(GRAPH), LogisticRegression().fit(rows, y).predict(rows))


@pytest.mark.parametrize("inner", [gr.GraphReachEmbedding(dim=4), gr.ReachClassifier(7), gr.LinkPredictor("degree")])
def test_clones_and_parameters(inner):
    model = gr.OnGraph(inner, GRAPH)
    name, value = next(iter(type(inner)().get_params().items()))
    twin = clone(model)
    assert twin.graph is GRAPH
    assert twin.estimator is not inner
    assert twin.get_params()["estimator__random_state"] == 0
    assert twin.estimator.get_params() == inner.get_params()
    assert twin.set_params(**{f"estimator__{name}": value}).get_params()[f"estimator__{name}"] == value
    assert clone(inner).get_params() == inner.get_params()
    assert hasattr(model, "transform") == isinstance(inner, gr.GraphReachEmbedding)
    assert is_classifier(inner) == is_classifier(model) == (not isinstance(inner, gr.GraphReachEmbedding))
    with pytest.raises(gr.InputError, match="OnGraph must be fitted first"):
        getattr(model, "transform" if hasattr(model, "transform") else "predict")([0])


def test_attributes_of_nodes_are_passed_on():
    x = np.random.default_rng(0).standard_normal((400, 5)).astype(np.float32)
    found = gr.OnGraph(gr.ReachClassifier(num_anchors=8), GRAPH, x).fit(NODES, GROUP).predict_proba([1, 3])
    known = dict(zip(NODES.tolist(), GROUP.tolist(), strict=True))
    np.testing.assert_array_equal(found, gr.ReachClassifier(num_anchors=8).fit(GRAPH, known, x).predict_proba([1, 3]))
    vectors = gr.OnGraph(gr.GraphReachEmbedding(dim=8), GRAPH, x).fit_transform(NODES)
    np.testing.assert_array_equal(vectors, gr.GraphReachEmbedding(dim=8).fit(GRAPH, x=x).embedding_[::2])


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        ([0, 1, 0], list("aba"), "X must name a node once, got one of them twice"),
        ([0, 1], list("aba"), r"y must have one entry for each of 2 nodes, got shape \[3\]"),
        ([0, 1], None, "y must be one class for each node of X, or a matrix of zeros and ones, got None"),
        ([0, 1], 3, r"y must have one entry for each of 2 nodes, got shape \[\]"),
        ([0, 999], list("ab"), "ids must be ids of nodes .* got 999"),
        (np.zeros((2, 3), int), list("ab"), r"X must be ids of nodes, shape \[m\] or \[m, 1\], got shape \[2, 3\]"),
    ],
)
def test_what_does_not_fit_is_refused(X, y, sentence):
    with pytest.raises(gr.InputError, match=sentence):
        gr.OnGraph(gr.ReachClassifier(), GRAPH).fit(X, y)


def test_other_estimators_are_refused():
    with pytest.raises(
        gr.InputError, match="estimator must be a GraphReachEmbedding, a ReachClassifier or a LinkPredictor"
    ):
        gr.OnGraph(LogisticRegression(), GRAPH).fit([0, 1], [0, 1])


def test_booleans_are_classes():
    y = GROUP > 9
    model = gr.OnGraph(gr.ReachClassifier(num_anchors=8), GRAPH)
    assert model.fit(NODES, y).predict(NODES).dtype == model.classes_.dtype == np.bool_
    assert cross_val_score(model, NODES, y, cv=FOLDS).mean() > 0.8

"""Classes of nodes by reachability."""

import hashlib
import warnings

import networkx as nx
import numba
import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from threadpoolctl import threadpool_limits

import graphreach as gr
from graphreach.errors import InputError
from graphreach.training import class_scorer
from helpers import run_python

BLOCK = 20


def communities(seed=0, directed=False, prefix="n"):
    """Four communities of twenty nodes; the class of a node is its community."""
    graph = nx.planted_partition_graph(4, BLOCK, 0.4, 0.02, seed=seed, directed=directed)
    return nx.relabel_nodes(graph, {v: f"{prefix}{v:02d}" for v in graph})


def truth(graph):
    return {node: f"class {int(node[1:]) // BLOCK}" for node in graph}


def some(labels, share=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return {node: label for node, label in labels.items() if rng.random() < share}


@pytest.fixture(scope="module")
def graph():
    return communities()


@pytest.fixture(scope="module")
def known(graph):
    return some(truth(graph))


@pytest.fixture(scope="module")
def fitted(graph, known):
    return gr.ReachClassifier(num_anchors=16, random_state=1).fit(graph, known)


def unseen(graph, known):
    return [node for node in sorted(graph) if node not in known]


def test_fitted_attributes(fitted, graph, known):
    assert fitted.classes_.tolist() == [f"class {i}" for i in range(4)]
    assert not fitted.multilabel_
    assert len(fitted.anchors_) == 16
    assert sorted(fitted.labelled_) == sorted(known)
    assert fitted.losses_["all"] <= min(fitted.losses_.values()) + 1e-9
    assert set(fitted.shares_) <= {"position", "classes", "position+classes"}


def test_nodes_without_a_label_are_predicted(fitted, graph, known):
    hidden = unseen(graph, known)
    found = fitted.predict(hidden)
    right = np.mean([label == truth(graph)[node] for node, label in zip(hidden, found, strict=True)])
    assert right > 0.9
    assert fitted.score({node: truth(graph)[node] for node in hidden}) == pytest.approx(right)


def test_probabilities(fitted, graph):
    found = fitted.predict_proba()
    assert found.shape == (80, 4)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found >= 0).all()
    ids = ["n33", "n02"]
    np.testing.assert_array_equal(fitted.predict_proba(ids), found[[33, 2]])
    np.testing.assert_array_equal(fitted.predict_proba("n33"), found[[33]])
    np.testing.assert_array_equal(fitted.predict(), fitted.classes_[found.argmax(axis=1)])
    assert fitted.predict([]).shape == (0,)
    np.testing.assert_array_equal(fitted.predict_proba(graph=graph), found)


def test_what_is_returned_is_the_callers(fitted):
    fitted.predict_proba()[:] = 7
    assert fitted.predict_proba().max() <= 1


def test_a_labelled_node_is_predicted_without_its_own_label(graph, known):
    """Its label is wrong, and the prediction is right."""
    node = next(iter(known))
    wrong = {**known, node: "class 3" if known[node] != "class 3" else "class 0"}
    assert gr.ReachClassifier(16).fit(graph, wrong).predict([node])[0] == known[node]


def test_forms_of_graph_and_labels_make_no_difference(graph, known, fitted):
    own = gr.Graph.from_networkx(graph)
    shuffled = nx.Graph()
    shuffled.add_nodes_from(reversed(list(graph)))
    shuffled.add_edges_from(reversed([(v, u) for u, v in graph.edges]))
    aligned = [known.get(node) for node in own.ids]
    backwards = dict(reversed(list(known.items())))
    for where, labels in ((own, known), (shuffled, backwards), (own, aligned), (own, list(known.items()))):
        other = gr.ReachClassifier(16, random_state=1).fit(where, labels)
        np.testing.assert_array_equal(other.predict_proba(), fitted.predict_proba())


def test_other_names_of_the_classes_change_only_names(graph, known, fitted):
    numbers = {node: int(label[-1]) for node, label in known.items()}
    other = gr.ReachClassifier(16, random_state=1).fit(graph, numbers)
    assert other.classes_.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(other.predict_proba(), fitted.predict_proba())


def test_another_numbering_of_nodes_changes_little_but_their_order(graph, known):
    """Walks that anchors are chosen by are others, so only predictions are the same."""
    order = np.random.default_rng(0).permutation(80)
    name = {f"n{v:02d}": f"m{order[v]:02d}" for v in range(80)}
    first = gr.ReachClassifier(80).fit(graph, known)
    second = gr.ReachClassifier(80).fit(nx.relabel_nodes(graph, name), {name[v]: label for v, label in known.items()})
    hidden = unseen(graph, known)
    assert np.mean(first.predict(hidden) == second.predict([name[v] for v in hidden])) > 0.95


def test_a_grown_graph_has_the_labels_and_anchors_by_id(graph, known, fitted, monkeypatch):
    grown = graph.copy()
    grown.add_edges_from((f"new{i}", f"n{v:02d}") for i in range(4) for v in range(BLOCK * i, BLOCK * i + 6))
    grown.add_edge("a first one", "n21")
    monkeypatch.setattr(class_scorer, "select_anchors", lambda *_, **__: pytest.fail("anchors were selected anew"))
    assert fitted.predict([f"new{i}" for i in range(4)], graph=grown).tolist() == [f"class {i}" for i in range(4)]
    assert fitted.predict_proba(graph=grown).shape == (85, 4)
    assert fitted.score({f"new{i}": f"class {i}" for i in range(4)}, graph=grown) == 1
    with pytest.raises(InputError, match="new0"):
        fitted.predict(["new0"])


def test_a_graph_that_lost_nodes(graph, known, fitted):
    gone = str(fitted.anchors_[3])
    fewer = graph.copy()
    fewer.remove_node(gone)
    with pytest.warns(UserWarning, match=f"lacks 1 of 16 anchors .*'{gone}'"):
        found = fitted.predict_proba(graph=fewer)
    assert found.shape == (79, 4)
    rest = [node for node in unseen(graph, known) if node != gone]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fitted.score({node: truth(graph)[node] for node in rest}, graph=fewer) > 0.85


def test_another_graph_is_refused(fitted):
    other = communities(prefix="z")
    with pytest.raises(InputError, match=r"graph must have (the anchors|nodes whose labels).*fit on it"):
        fitted.predict(graph=other)
    with pytest.raises(InputError, match="graph must be undirected, as the one of fit was"):
        fitted.predict(graph=communities(directed=True))


@pytest.mark.parametrize("weighted", [False, True])
def test_directed_graphs(weighted):
    graph = communities(directed=True)
    if weighted:
        for number, (_, _, data) in enumerate(graph.edges(data=True)):
            data["weight"] = 1.0 + number % 3
    known = some(truth(graph))
    found = gr.ReachClassifier(16).fit(graph, known)
    hidden = {node: label for node, label in truth(graph).items() if node not in known}
    assert found.score(hidden) > 0.9
    grown = graph.copy()
    grown.remove_node(str(found.anchors_[2]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        left = {node: label for node, label in hidden.items() if node in grown}
        assert found.score(left, graph=grown) > 0.85


@pytest.mark.parametrize("kind", ["dense", "words", "sparse"])
def test_attributes_are_read(graph, kind):
    """Edges say nothing here and attributes all."""
    rng = np.random.default_rng(0)
    noise = nx.relabel_nodes(nx.gnp_random_graph(80, 0.05, seed=1), {v: f"n{v:02d}" for v in range(80)})
    label = np.arange(80) // BLOCK
    if kind == "dense":
        x = 100 * np.eye(4)[label] + rng.normal(size=(80, 4)) * 30 + 1000
    else:
        x = (
            (rng.random((80, 200)) < 0.02)
            | (np.arange(200)[None, :] % 4 == label[:, None]) & (rng.random((80, 200)) < 0.2)
        ).astype(float)
        x /= np.maximum(1, x.sum(axis=1, keepdims=True))
    given = csr_array(x) if kind == "sparse" else x
    known = some(truth(noise), 0.6)
    hidden = {node: each for node, each in truth(noise).items() if node not in known}
    found = gr.ReachClassifier(16).fit(noise, known, given)
    assert found.score(hidden) > 0.8
    assert gr.ReachClassifier(16).fit(noise, known).score(hidden) < 0.6
    np.testing.assert_array_equal(found.predict_proba(graph=noise, x=given), found.predict_proba())
    with pytest.raises(InputError, match=rf"x of {x.shape[1]} columns must be given"):
        found.predict(graph=noise)
    with pytest.raises(InputError, match=rf"x must have {x.shape[1]} columns"):
        found.predict(graph=noise, x=x[:, 1:])
    with pytest.raises(InputError, match="x must come with the graph"):
        found.predict(x=given)


def test_attributes_of_the_wrong_shape(graph, known, fitted):
    for x in (np.ones((3, 2)), np.full((80, 2), np.nan), csr_array(np.ones((3, 2))), "words"):
        with pytest.raises(InputError, match="x must"):
            gr.ReachClassifier(16).fit(graph, known, x)
    with pytest.raises(InputError, match="x must be None, as the classifier was fitted so"):
        fitted.predict(graph=graph, x=np.ones((80, 2)))


def several_labels(graph):
    """A node has its community's label, and every third one its parity's."""
    return {
        node: {f"class {int(node[1:]) // BLOCK}"}
        | ({f"half {int(node[1:]) // (2 * BLOCK)}"} if int(node[1:]) % 3 else set())
        for node in graph
    }


def test_several_labels_per_node(graph):
    labels = several_labels(graph)
    known = some(labels, 0.6)
    found = gr.ReachClassifier(16).fit(graph, known)
    assert found.multilabel_
    assert found.classes_.tolist() == ["class 0", "class 1", "class 2", "class 3", "half 0", "half 1"]
    hidden = [node for node in sorted(graph) if node not in known]
    y = np.array([[int(each in labels[node]) for each in found.classes_] for node in hidden])
    p = found.predict_proba(hidden)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_array_equal(found.predict(hidden), p >= 0.5)
    counts = y.sum(axis=1)
    by_count = found.predict(hidden, counts=counts)
    np.testing.assert_array_equal(by_count.sum(axis=1), counts)
    f1 = 2 * (by_count * y).sum() / (by_count.sum() + y.sum())
    assert f1 > 0.85
    assert found.score({node: labels[node] for node in hidden}) == pytest.approx(f1)
    for wrong in ([1], np.full(len(hidden), 7), np.full(len(hidden), -1), "many", np.ones(len(hidden))):
        with pytest.raises(InputError, match="counts must be"):
            found.predict(hidden, counts=wrong)


def test_several_labels_as_a_matrix(graph):
    labels = several_labels(graph)
    names = sorted(set().union(*labels.values()))
    y = np.array([[int(each in labels[node]) for each in names] for node in sorted(graph)])
    y[::2] = -1
    by_matrix = gr.ReachClassifier(16).fit(graph, y)
    by_name = gr.ReachClassifier(16).fit(graph, {node: labels[node] for node in sorted(graph)[1::2]})
    np.testing.assert_array_equal(by_matrix.predict_proba(), by_name.predict_proba())
    assert by_matrix.classes_.tolist() == list(range(6))


def test_counts_are_for_several_labels(fitted):
    with pytest.raises(InputError, match="counts must be None where each node has one label"):
        fitted.predict(counts=np.ones(80, int))


def test_probabilities_are_calibrated():
    """Labels are noisy: four in ten are drawn at random, and the classifier knows how often it is wrong."""
    rng = np.random.default_rng(0)
    graph = nx.planted_partition_graph(3, 300, 0.03, 0.001, seed=0)
    y = np.where(rng.random(900) < 0.4, rng.integers(0, 3, 900), np.arange(900) // 300)
    train = rng.random(900) < 0.5
    found = gr.ReachClassifier(64).fit(graph, np.where(train, y, -1)).predict_proba()[~train]
    right = found.argmax(axis=1) == y[~train]
    assert abs(found.max(axis=1).mean() - right.mean()) < 0.06
    assert right.mean() > 0.65


def test_save_and_load_give_the_same_bits(graph, known, fitted, tmp_path):
    fitted.save(tmp_path / "saved")
    loaded = gr.ReachClassifier.load(tmp_path / "saved")
    np.testing.assert_array_equal(loaded.predict_proba(graph=graph), fitted.predict_proba())
    np.testing.assert_array_equal(loaded.predict(["n03"], graph=graph), fitted.predict(["n03"]))
    assert loaded.get_params() == fitted.get_params()
    assert (loaded.losses_, loaded.shares_) == (fitted.losses_, fitted.shares_)
    assert loaded.labelled_.tolist() == fitted.labelled_.tolist()
    with pytest.raises(InputError, match="graph must be given to a classifier that was loaded"):
        loaded.predict(["n03"])
    loaded.save(tmp_path / "again")
    for name in ("model.safetensors", "config.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "saved" / name).read_bytes()
    assert {path.suffix for path in (tmp_path / "saved").iterdir()} == {".json", ".safetensors"}


def test_save_and_load_with_attributes_and_several_labels(graph, tmp_path):
    x = np.random.default_rng(0).normal(size=(80, 5))
    found = gr.ReachClassifier(8).fit(graph, some(several_labels(graph), 0.6), x)
    found.save(tmp_path)
    loaded = gr.ReachClassifier.load(tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(graph=graph, x=x), found.predict_proba())
    np.testing.assert_array_equal(loaded.predict(graph=graph, x=x), found.predict())


def test_other_folders_are_refused(graph, known, fitted, tmp_path):
    with pytest.raises(InputError, match=r"folder must hold config\.json and model\.safetensors"):
        gr.ReachClassifier.load(tmp_path / "nothing")
    gr.nn.GraphReach(0, 4).save_pretrained(tmp_path / "other")
    with pytest.raises(InputError, match="describes a GraphReach, not a LinearClasses"):
        gr.ReachClassifier.load(tmp_path / "other")
    fitted.save(tmp_path / "damaged")
    whole = (tmp_path / "damaged" / "model.safetensors").read_bytes()
    (tmp_path / "damaged" / "model.safetensors").write_bytes(whole[:-8] + b"\1" * 8)
    with pytest.raises(InputError, match="checksum differs"):
        gr.ReachClassifier.load(tmp_path / "damaged")
    for folder in (None, 3, b"x"):
        with pytest.raises(InputError, match="folder must be a path"):
            gr.ReachClassifier.load(folder)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"estimator": 3}, "its estimator is 3"),
        ({"estimator": {"depth": 3}}, "it has a parameter 'depth'"),
        ({"estimator": {"num_anchors": 0}}, "num_anchors must be an integer"),
        ({"anchors": []}, r"its anchors are \[\]"),
        ({"anchors": [[1]]}, "its anchors are"),
        ({"labelled": ["a", "a"]}, "its labelled are not each there once"),
        ({"labelled": ["a"]}, "other numbers of labelled nodes"),
        ({"classes": None}, "its classes is None"),
        ({"directed": 1}, "its directed is 1"),
        ({"num_attributes": -3}, "num_attributes must be an integer"),
        ({"losses": []}, r"its losses is \[\]"),
    ],
)
def test_metadata_is_checked(fitted, tmp_path, change, sentence):
    fitted.save(tmp_path)
    parts = gr.ReachClassifier.load(tmp_path).model_.metadata
    fitted.model_.save_pretrained(tmp_path, **{**parts, **change})
    with pytest.raises(InputError, match=f"must hold a saved ReachClassifier, but .*{sentence}"):
        gr.ReachClassifier.load(tmp_path)


def test_labels_and_ids_that_json_cannot_hold(graph, known, tmp_path):
    odd = gr.ReachClassifier(8).fit(
        nx.relabel_nodes(graph, {v: (v, 1) for v in graph}), {(v, 1): y for v, y in known.items()}
    )
    with pytest.raises(InputError, match="node ids must be numbers or strings to be saved"):
        odd.save(tmp_path / "saved")
    frozen = {v: frozenset([y]) for v, y in known.items()}
    assert gr.ReachClassifier(8).fit(graph, frozen).multilabel_
    assert not (tmp_path / "saved").exists()


def test_is_a_scikit_learn_estimator(graph, known, fitted):
    assert isinstance(fitted, BaseEstimator)
    assert isinstance(fitted, ClassifierMixin)
    assert gr.ReachClassifier().get_params() == {"num_anchors": 128, "strategy": "greedy", "random_state": 0}
    assert repr(gr.ReachClassifier(num_anchors=5)) == "ReachClassifier(num_anchors=5)"
    copy = clone(fitted)
    assert not hasattr(copy, "model_")
    np.testing.assert_array_equal(copy.fit(graph, known).predict_proba(), fitted.predict_proba())


@pytest.mark.parametrize("name", ["predict", "predict_proba", "save", "score"])
def test_not_fitted(name):
    with pytest.raises(InputError, match=r"must be fitted first: call fit\(graph, labels\)"):
        getattr(gr.ReachClassifier(), name)("x")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"num_anchors": 0}, "num_anchors must be an integer of at least 1, got 0"),
        ({"num_anchors": "many"}, "num_anchors must be"),
        ({"strategy": "gredy"}, "did you mean 'greedy'"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_parameters_are_checked_by_fit(graph, known, arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        gr.ReachClassifier(**arguments).fit(graph, known)


def test_one_class_is_certain(graph, tmp_path):
    found = gr.ReachClassifier(8).fit(graph, {"n00": "only", "n50": "only"})
    assert set(found.predict()) == {"only"}
    np.testing.assert_array_equal(found.predict_proba(), np.ones((80, 1)))
    found.save(tmp_path)
    np.testing.assert_array_equal(gr.ReachClassifier.load(tmp_path).predict_proba(graph=graph), np.ones((80, 1)))


def test_one_labelled_node(graph):
    found = gr.ReachClassifier(8).fit(graph, {"n00": ["a"]})
    assert np.isfinite(found.predict_proba()).all()


def test_a_class_of_one_node(graph, known):
    found = gr.ReachClassifier(16).fit(graph, {**known, "n00": "rare"})
    assert found.predict_proba().shape == (80, 5)
    assert np.isfinite(found.predict_proba()).all()


def test_few_labels(graph):
    found = gr.ReachClassifier(16).fit(graph, {f"n{BLOCK * i + j:02d}": i for i in range(4) for j in range(2)})
    assert found.losses_ == {}
    assert np.mean(found.predict() == np.arange(80) // BLOCK) > 0.6


def test_nodes_of_no_edge(graph, known):
    lonely = graph.copy()
    lonely.add_nodes_from(["alone", "apart"])
    found = gr.ReachClassifier(16).fit(lonely, {**known, "apart": "class 0"})
    p = found.predict_proba(["alone"])
    assert np.isfinite(p).all()
    frequencies = [sum(label == each for label in [*known.values(), "class 0"]) for each in found.classes_]
    np.testing.assert_allclose(p[0], np.array(frequencies) / sum(frequencies), atol=0.02)
    grown = lonely.copy()
    grown.add_edge("one", "other")
    np.testing.assert_allclose(found.predict_proba(["one"], graph=grown), p)
    x = np.repeat(np.eye(4), BLOCK, axis=0)
    x = np.concatenate([[[0.0, 0, 1, 0], [1, 0, 0, 0]], x])  # "alone" and "apart" come first
    assert gr.ReachClassifier(16).fit(lonely, {**known, "apart": "class 0"}, x).predict(["alone"])[0] == "class 2"


@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_without_edges_gives_frequencies(directed):
    graph = gr.Graph.from_edges(np.empty((2, 0), int), 60, directed=directed)
    labels = np.where(np.arange(60) < 40, (np.arange(60) % 4 == 0).astype(int), -1)
    found = gr.ReachClassifier(8).fit(graph, labels).predict_proba()
    np.testing.assert_allclose(found[50], [0.75, 0.25], atol=0.05)


def test_labels_that_say_nothing_are_refused(graph):
    for labels, sentence in (
        ({}, "labels must hold at least one known label"),
        ({"nobody": 1}, "labels must be of nodes of the graph"),
        ([1, 2], "labels must be one per node, 80"),
    ):
        with pytest.raises(InputError, match=sentence):
            gr.ReachClassifier().fit(graph, labels)


def test_score_needs_labels_of_the_same_kind(graph, fitted):
    with pytest.raises(InputError, match="labels must be one label per node, as those of fit were, got several"):
        fitted.score({"n00": ["class 0"]})
    assert fitted.score({"n00": "never seen"}) == 0


def test_unknown_ids(fitted):
    with pytest.raises(InputError, match=r"ids must be ids of nodes .* got 'nobody'"):
        fitted.predict(["n00", "nobody"])


def test_weights_are_fitted_to_a_sample_of_many_labels(graph, known, monkeypatch):
    monkeypatch.setattr(class_scorer, "MOST_FITTED", 30)
    found = gr.ReachClassifier(16).fit(graph, known)
    assert len(found.model_.labels) == len(known)
    assert found.score({node: truth(graph)[node] for node in unseen(graph, known)}) > 0.85


def test_same_bits_on_any_number_of_threads(graph, known, fitted):
    before = torch.get_num_threads(), numba.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))
            with threadpool_limits(count, user_api="blas"):
                again = gr.ReachClassifier(16, random_state=1).fit(graph, known)
            np.testing.assert_array_equal(again.predict_proba(), fitted.predict_proba())
    finally:
        torch.set_num_threads(before[0])
        numba.set_num_threads(before[1])


IN_A_PROCESS = """
import hashlib
import networkx as nx, numpy as np, graphreach as gr
graph = nx.planted_partition_graph(4, 100, 0.1, 0.01, seed=0)
x = np.random.default_rng(0).normal(size=(400, 20))
y = np.where(np.arange(400) % 2, np.arange(400) // 100, -1)
print(hashlib.sha256(gr.ReachClassifier().fit(graph, y, x).predict_proba().tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_same_bits_in_processes_with_one_and_two_threads():
    found = {
        run_python(
            IN_A_PROCESS, **dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), count)
        )
        for count in ("1", "2")
    }
    assert len(found) == 1
    assert len(found.pop().strip()) == 2 * hashlib.sha256().digest_size


def test_one_label_of_each_class_is_enough_where_classes_are_places():
    """Without its own label the only node of a class sees none of it: that must not be what the class looks like."""
    data = gr.datasets.load("communities")[0]
    some = {node: int(data.y[node]) for node in range(0, 400, 20)}
    others = [node for node in range(400) if node not in some]
    found = gr.ReachClassifier().fit(data.graph, some).predict(others)
    assert (found == data.y[others]).mean() > 0.95

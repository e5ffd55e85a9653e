"""The method ``reach`` on classes of nodes: runs, their folders, and runs loaded again."""

import json
import shutil
import warnings

import numpy as np
import pytest

import graphreach as gr
from graphreach import InputError, datasets, training
from graphreach.training import Settings, load_run
from graphreach.training.class_run import ClassRun

SIZE, CLASSES = 20, 3


def settings(**values):
    return Settings(method="reach", task="node", **({"model": {"num_anchors": 12}} | values))


def communities(x=False, seed=0, size=SIZE):
    """Three communities, which are the classes, ids that are text, and features that say a little."""
    rng, count = np.random.default_rng(seed), CLASSES * size
    ends = [rng.integers(0, size, (2, 4 * size)) + part * size for part in range(CLASSES)]
    edges = np.concatenate([*ends, rng.integers(0, count, (2, 12))], 1)
    edges = edges[:, edges[0] != edges[1]]
    ids = [f"n{i:03d}" for i in range(count)]
    graph = gr.Graph.from_edge_list([(ids[a], ids[b]) for a, b in edges.T])
    y = np.array([int(each[1:]) // size for each in graph.ids.tolist()], np.int64)
    features = np.eye(CLASSES, dtype=np.float32)[y] + rng.normal(0, 0.5, (len(y), CLASSES)) if x else None
    return datasets.Sample(graph, features, y)


@pytest.fixture(scope="module")
def samples():
    return {x: communities(x) for x in (False, True)}


@pytest.fixture(scope="module")
def trained(samples, tmp_path_factory):
    """A finished run without features and one with them."""
    folders = {x: tmp_path_factory.mktemp("classes") / str(x) for x in samples}
    return folders, {x: training.run(samples[x], settings(), folders[x]) for x in samples}


def split_of(sample, own=None):
    return training.harness.make_splits(datasets.Dataset("one", (sample,)), own or settings())[0]


@pytest.mark.parametrize("x", [False, True])
def test_a_run_is_judged_recorded_and_kept(samples, trained, x):
    folders, outcomes = trained
    outcome = outcomes[x]
    record = outcome.record
    assert outcome.test["accuracy"] > 0.7
    assert outcome.test.keys() == record["metrics"]["val"].keys() == {"accuracy", "auc", "hard_auc"}
    assert json.loads(json.dumps(record)) == record
    assert {"split", "anchors", "features", "training", "scoring"} <= record["seconds"].keys()
    assert record["plan"]["model"] == {"num_anchors": 12, "strategy": "greedy"}
    assert ("attributes" in record["losses"]) == x
    assert record["parameters"] > 0
    again = training.run(samples[x], settings(), folders[x])
    assert again.record == record
    assert np.array_equal(again.scores["test"][0], outcome.scores["test"][0])
    assert not list(folders[x].rglob("*.pkl"))


@pytest.mark.parametrize("x", [False, True])
def test_it_is_what_the_classifier_learns_from_the_training_nodes(samples, trained, x):
    sample, split = samples[x], split_of(samples[x])
    known = {split.graph.ids[at]: int(c) for at, c in zip(split.train.index, split.train.label, strict=True)}
    own = gr.ReachClassifier(num_anchors=12).fit(sample.graph, known, sample.x)
    test = sample.graph.ids[split.test.index]
    assert np.array_equal(own.predict_proba(test), trained[1][x].scores["test"][0])
    loaded = gr.ReachClassifier.load(trained[0][x] / "model")
    assert loaded.get_params() == own.get_params()
    assert np.array_equal(loaded.predict_proba(test, sample.graph, sample.x), own.predict_proba(test))


@pytest.mark.parametrize("x", [False, True])
def test_a_loaded_run_gives_the_recorded_probabilities(samples, trained, x):
    run, split = load_run(trained[0][x]), split_of(samples[x])
    assert isinstance(run, ClassRun)
    z = run.embed(split.graph, split.x)
    assert np.array_equal(run.class_probabilities(z, split.test.index), trained[1][x].scores["test"][0])
    assert run.knows(split.graph).all()


def test_labels_of_validation_and_test_nodes_are_not_seen(samples):
    """Other labels of these nodes change no probability of any node."""
    sample, split = samples[True], split_of(samples[True])
    y = sample.y.copy()
    hidden = np.concatenate([split.val.index, split.test.index])
    y[hidden] = (y[hidden] + 1) % CLASSES
    other = datasets.Sample(sample.graph, sample.x, y)
    assert np.array_equal(split_of(other).train.index, split.train.index)
    assert not np.array_equal(split_of(other).test.label, split.test.label)
    first, second = (training.run(each, settings()) for each in (sample, other))
    for part in ("val", "test"):
        assert np.array_equal(first.scores[part][0], second.scores[part][0])
    assert second.test["accuracy"] < 0.3 < first.test["accuracy"]


def test_features_can_be_left_out(samples, trained):
    found = training.run(samples[True], settings(features=False))
    assert np.array_equal(found.scores["test"][0], training.run(samples[False], settings()).scores["test"][0])
    assert not np.array_equal(found.scores["test"][0], trained[1][True].scores["test"][0])


def grown(sample):
    """The graph with a node that is linked to three of the first community."""
    ids = sample.graph.ids.tolist()
    edges = [(ids[a], ids[b]) for a, b in sample.graph.edge_index.T.tolist()]
    first = np.flatnonzero(sample.y == 0)[:3]
    graph = gr.Graph.from_edge_list([*edges, *(("new", ids[at]) for at in first)])
    if sample.x is None:
        return graph, None
    x = np.zeros((graph.num_nodes, CLASSES), np.float32)
    x[graph.index_of(sample.graph.ids)] = sample.x
    x[graph.index_of("new"), 0] = 1
    return graph, x


@pytest.mark.parametrize("x", [False, True])
def test_nodes_that_come_later(samples, trained, x):
    run, (graph, features) = load_run(trained[0][x]), grown(samples[x])
    chances = run.class_probabilities(run.embed(graph, features), np.array([graph.index_of("new")]))
    assert chances[0].argmax() == 0
    assert chances.sum() == pytest.approx(1)


def test_what_is_missing_is_one_sentence(samples, trained):
    run, sample = load_run(trained[0][True]), samples[True]
    with pytest.raises(InputError, match="features of 3 columns must be given, as the run was trained with them, got"):
        run.embed(sample.graph)
    with pytest.raises(InputError, match="x must have 3 columns"):
        run.embed(sample.graph, sample.x[:, :2])
    without = load_run(trained[0][False])
    with pytest.raises(InputError, match="features must not be given, as the run was trained without, got 3 columns"):
        without.embed(sample.graph, sample.x)
    with pytest.raises(InputError, match="must be of task 'link' or 'pair' to score pairs, got task 'node'"):
        without.score_pairs(without.embed(sample.graph), np.array([[0], [1]]), sample.graph)
    z = without.embed(sample.graph)
    with pytest.raises(InputError, match="z must be what embed"):
        without.class_probabilities(z[:, :2], np.array([0]))
    with pytest.raises(InputError, match="nodes must be a list of positions from 0 to 59"):
        without.class_probabilities(z, np.array([60]))
    with pytest.raises(InputError, match="new_anchors must be False for classes of nodes"):
        load_run(trained[0][False], new_anchors=True)
    with pytest.raises(InputError, match="whose method reach describes nodes"):
        training.TrainedRun(trained[0][False])
    other = communities(seed=1).graph
    renamed = gr.Graph.from_edge_list([(f"m{a}", f"m{b}") for a, b in other.edge_index.T.tolist()])
    with pytest.raises(InputError, match="graph must have the anchors that the model was trained with"):
        without.embed(renamed)


def test_a_class_without_training_nodes_has_a_column(samples):
    sample = samples[False]
    split = split_of(sample)
    y = np.zeros(len(sample.y), np.int64)
    y[split.test.index[:1]] = 2
    y[split.train.index[:5]] = 1
    found = training.run(datasets.Sample(sample.graph, None, y), settings(), check=False).scores["test"][0]
    assert found.shape[1] == 3
    assert found.sum(1) == pytest.approx(np.ones(len(found)))
    assert (found[:, 2] < 0.2).all()


def test_several_graphs_are_refused():
    several = datasets.Dataset("several", (communities(), communities(seed=1)))
    with pytest.raises(InputError, match="task 'node' must have one graph, whose anchors the classes are learned from"):
        training.run(several, settings())


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ({"steps": 3}, "model must not hold 'steps' for method 'reach'; known are num_anchors, strategy"),
        ({"num_anchors": 0}, "model.num_anchors: input should be greater"),
        ({"strategy": "magic"}, "model.strategy must be one of"),
    ],
)
def test_wrong_options_are_named(samples, model, sentence):
    with pytest.raises(InputError) as caught:
        training.run(samples[False], settings(model=model))
    assert str(caught.value).startswith(sentence)


def test_options_of_classes_are_not_those_of_pairs():
    with pytest.raises(InputError, match="model must not hold 'strategy' for method 'reach'"):
        Settings(method="reach", task="link", model={"strategy": "degree"})
    assert Settings(method="reach", task="node", model={"strategy": "degree"}).model.given() == {"strategy": "degree"}


def test_probabilities_are_added_to_those_of_another_method(samples, tmp_path):
    own = Settings(
        method="reach+gcn", task="node", epochs=2, evaluate_every=1, parts={"reach": {"model": {"num_anchors": 12}}}
    )
    outcome = training.run(samples[True], own, tmp_path)
    run, sample, split = load_run(tmp_path), samples[True], split_of(samples[True], own)
    found = run.class_probabilities(run.embed(sample.graph, sample.x), split.test.index)
    assert found == pytest.approx(outcome.scores["test"][0], abs=1e-5)


def test_damaged_models_are_one_sentence(trained, tmp_path):
    from graphreach.io.model_folder import sign

    folder = tmp_path / "run"
    shutil.copytree(trained[0][False], folder)
    config = folder / "model" / "config.json"
    content = json.loads(config.read_text())
    for change, sentence in (
        ({"anchors": []}, "must hold a saved model of method reach, but its anchors are"),
        ({"classes": ["a", "b", "c"]}, "must hold a model of numbered classes; train it again"),
    ):
        config.write_text(json.dumps(sign(content | {"metadata": content["metadata"] | change})))
        with pytest.raises(InputError, match=sentence):
            load_run(folder)
    (folder / "model" / "model.safetensors").write_bytes(b"x")
    with pytest.raises(InputError, match="not a whole safetensors file"):
        load_run(folder)
    shutil.rmtree(folder / "model")
    with pytest.raises(InputError, match=r"must hold config\.json"):
        load_run(folder)


@pytest.mark.parametrize("x", [False, True])
def test_the_report_and_the_explanation_of_a_node(samples, trained, x):
    from graphreach.explain.reach_explainer import ReachExplainer
    from graphreach.report import make_report
    from report_helpers import data_of

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = data_of(make_report(trained[0][x], samples[x]))
    assert page["task"] == "node"
    assert page["metrics"]["test"]["accuracy"] == pytest.approx(trained[1][x].test["accuracy"], abs=1e-5)
    assert not any("other scores" in note for note in page["notes"])
    explainer = ReachExplainer(load_run(trained[0][x]), samples[x].graph, samples[x].x)
    assert len(explainer.node(0).anchors) == 12
    for refused in (lambda: explainer.pair(0, 1), lambda: explainer.scores(np.array([[0], [1]]))):
        with pytest.raises(InputError, match="run must be of task link or pair to explain pairs"):
            refused()

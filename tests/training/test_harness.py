"""Runs of all tasks and methods, and what they leave behind."""

import json

import numpy as np
import pytest

import graphreach as gr
from graphreach import InputError, datasets, tasks, training
from graphreach.training import METHODS, SCORERS, Settings
from graphreach.training.plan import resolve

QUICK = {"epochs": 4, "evaluate_every": 2, "num_anchors": 6}


@pytest.fixture(scope="module")
def data():
    return datasets.load("communities")


@pytest.fixture(scope="module")
def several():
    """Twelve small graphs of different sizes with features and labels."""
    rng = np.random.default_rng(0)
    samples = []
    for size in range(20, 44, 2):
        half = size // 2
        edges = np.concatenate([rng.integers(0, half, (2, 3 * size)), rng.integers(half, size, (2, 3 * size))], 1)
        graph = gr.Graph.from_edges(edges, num_nodes=size)
        y = (np.arange(size) >= half).astype(np.int64)
        samples.append(datasets.Sample(graph, rng.normal(size=(size, 3)).astype(np.float32), y))
    return datasets.Dataset("several", tuple(samples))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("task", ["link", "pair", "node"])
def test_every_model_does_every_task(data, method, task):
    outcome = training.run(data, Settings(task=task, method=method, **QUICK))
    assert 0 <= outcome.test["auc"] <= 1
    record = outcome.record
    assert json.loads(json.dumps(record)) == record
    assert {"split", "training", "evaluation", "inference"} <= record["seconds"].keys()
    assert record["versions"]["graphreach"] == gr.__version__
    assert record["peak_memory"] > 1e6
    assert record["parameters"] > 0


@pytest.mark.parametrize("method", [name for name in SCORERS if name != "closure"])
def test_scorers_find_links_of_communities(data, method):
    found = training.run(data, Settings(method=method, candidates=20)).test
    assert found["auc"] > 0.9
    assert found["hits@10"] >= found["hits@1"]


def test_closure_solves_the_published_split_of_pairs_but_not_the_default_one(data):
    published = training.run(data, Settings(task="pair", method="closure", protocol="published")).test["auc"]
    disjoint = training.run(data, Settings(task="pair", method="closure")).test["auc"]
    assert published > 0.999
    assert disjoint == pytest.approx(0.5)


@pytest.mark.parametrize("method", ["graphreach", "pgnn-e", "pgnn-f", "gcn", "mlp", "gcn-rw"])
@pytest.mark.parametrize("protocol", ["published", "graph-disjoint"])
def test_several_graphs(several, method, protocol):
    settings = Settings(task="pair", method=method, protocol=protocol, graphs_per_batch=5, resample=True, **QUICK)
    outcome = training.run(several, settings)
    scored = [own is not None for own in outcome.scores["test"]]
    assert len(scored) == 12
    assert sum(scored) == (12 if protocol == "published" else 2)
    splits = training.harness.make_splits(several, settings)
    assert [len(split.test.label) > 0 for split in splits] == scored


def test_graphs_of_a_batch_count_the_same(several):
    """The loss of a batch is the mean of the graphs' own losses."""
    from graphreach.progress import Clock
    from graphreach.training.inputs import make_batches
    from graphreach.training.model import TaskModel

    settings = Settings(task="pair", **QUICK)
    method = METHODS["graphreach"]
    splits = tasks.split_dataset(several, "pair")
    inputs = [
        method.inputs(split.graph, split.x, resolve(settings, split.graph.num_nodes, True), Clock()) for split in splits
    ]
    model = TaskModel(method.build(3, None, resolve(settings, 20, True)), "pair").eval()
    one_by_one = [
        model.loss(batch.inputs.embed(model.encoder), batch.train).item() for batch in make_batches(splits, inputs, 1)
    ]
    (together,) = make_batches(splits, inputs, 12)
    loss = model.loss(together.inputs.embed(model.encoder), together.train).item()
    assert loss == pytest.approx(np.mean(one_by_one), rel=1e-5)


def test_identity_features_and_label_weights(data):
    for extra in ({"identity": True}, {"walk_weights": "train-labels"}, {"features": False}):
        outcome = training.run(data, Settings(task="pair", **QUICK, **extra))
        assert outcome.record["settings"][next(iter(extra))] == next(iter(extra.values()))


def test_label_weights_read_training_labels_only(data):
    """Other labels for all validation and test nodes give the same positions."""
    from graphreach.progress import Clock

    settings = Settings(task="node", walk_weights="train-labels", **QUICK)
    sample = data.samples[0]
    split = tasks.split(sample, "node")
    y = sample.y.copy()
    y[split.val.index], y[split.test.index] = 0, 1
    other = tasks.split(datasets.Sample(sample.graph, sample.x, y), "node")
    np.testing.assert_array_equal(split.train.index, other.train.index)
    one, two = (
        METHODS["graphreach"].inputs(tasks.label_weights(each), None, resolve(settings, 400), Clock()).structure
        for each in (split, other)
    )
    assert (one.to_values == two.to_values).all()


def test_methods_joined_by_plus_are_added_with_a_weight_of_validation(data, tmp_path):
    settings = Settings(
        method="graphreach+reachability", parts={"reachability": {"model": {"walk_length": 3}}}, **QUICK
    )
    outcome = training.run(data, settings, tmp_path)
    record = outcome.record
    assert set(record["parts"]) == {"graphreach", "reachability"}
    best = max(part["val"]["auc"] for part in record["parts"].values())
    assert record["metrics"]["val"]["auc"] >= best - 1e-9
    assert 0 <= record["weights"][0] <= 1
    assert training.run(data, settings, tmp_path).record == json.loads(json.dumps(record))


def test_leaks_are_refused(data, monkeypatch):
    def leaking(dataset, *args, **kwargs):
        (split,) = real(dataset, *args, **kwargs)
        return [tasks.Split(split.task, data.samples[0].graph, *tuple(vars(split).values())[2:])]

    real = training.harness.split_dataset
    monkeypatch.setattr(training.harness, "split_dataset", leaking)
    with pytest.raises(tasks.LeakError):
        training.run(data, Settings(**QUICK))
    training.run(data, Settings(**QUICK), check=False)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"method": "graphreech"}, "did you mean 'graphreach'"),
        ({"method": "gcn+"}, "method must be one of"),
        ({"task": "node", "method": "closure"}, "task"),
        ({"task": "link", "walk_weights": "train-labels"}, "task link"),
        ({"model": {"headz": 2}}, "headz"),
        ({"preset": "paper", "reachability": {"wolk_length": 2}}, "wolk_length"),
    ],
)
def test_wrong_settings_get_one_sentence(data, settings, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        training.run(data, Settings(**{**QUICK, **settings}))
    assert "\n" not in str(caught.value)


def test_node_classification_needs_one_anchor_set(several):
    with pytest.raises(InputError, match="one graph"):
        training.run(several, Settings(task="node", **QUICK))


def test_a_trained_run_embeds_grown_and_other_graphs(data, tmp_path):
    training.run(data, Settings(task="node", **QUICK), tmp_path)
    trained = training.TrainedRun(tmp_path)
    graph = data.samples[0].graph
    z = trained.embed(graph)
    chances = trained.class_probabilities(z, np.arange(400))
    np.testing.assert_allclose(chances.sum(1), 1, rtol=1e-5)
    grown = gr.Graph.from_edges(np.concatenate([graph.edge_index, [[0, 1], [400, 400]]], 1))
    assert trained.embed(grown).shape == (401, 6)
    other = gr.Graph.from_edge_list([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "g")])
    with pytest.raises(InputError, match="all 6 anchors that the classes were learned from"):
        trained.embed(other)


def test_tensorboard_is_named_if_it_is_missing(data, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InputError, match="pip install tensorboard"):
        training.run(data, Settings(**QUICK), tmp_path, tensorboard=True)
    with pytest.raises(InputError, match="folder"):
        training.run(data, Settings(**QUICK), tensorboard=True)


def test_nodes_are_fused_by_a_share_of_validation(data):
    settings = Settings(task="node", method="gcn+graphreach", **QUICK)
    record = training.run(data, settings).record
    best = max(part["val"]["auc"] for part in record["parts"].values())
    assert record["metrics"]["val"]["auc"] >= best - 1e-9


def test_parts_have_settings_of_their_own(data, tmp_path):
    settings = Settings(method="gcn+graphreach", parts={"graphreach": {"preset": "paper", "features": False}}, **QUICK)
    training.run(data, settings, tmp_path)
    own = {name: json.loads((tmp_path / name / "settings.json").read_text()) for name in ("gcn", "graphreach")}
    assert (own["gcn"]["features"], own["graphreach"]["features"], own["graphreach"]["preset"]) == (
        True,
        False,
        "paper",
    )


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"parts": {"gat": {}}}, "parts must name methods of gcn\\+graphreach"),
        ({"parts": {"gcn": {"epoch": 3}}}, "did you mean 'epochs'"),
        ({"model": {"heads": 2}}, "model must be given in parts"),
    ],
)
def test_wrong_parts_get_one_sentence(data, settings, sentence):
    with pytest.raises(InputError, match=sentence):
        training.run(data, Settings(method="gcn+graphreach", **{**QUICK, **settings}))


def test_a_walk_graph_is_what_the_model_reads(data):
    asked = []

    def walk_graph(split):
        asked.append(split)
        return split.graph

    plain = training.run(data, Settings(**QUICK))
    other = training.run(data, Settings(**QUICK), walk_graph=walk_graph)
    assert len(asked) == 1
    assert plain.test == other.test


def test_the_model_of_nodes_is_chosen_by_what_is_asked_for(data):
    settings = Settings(task="node", method="gcn", choose_by="accuracy", **{**QUICK, "epochs": 12, "evaluate_every": 2})
    record = training.run(data, settings).record
    best = max(each["accuracy"] for each in record["history"])
    assert record["metrics"]["val"]["accuracy"] == best
    with pytest.raises(InputError, match="choose_by must be 'auc' for task 'link'"):
        training.run(data, Settings(choose_by="accuracy", **QUICK))


@pytest.mark.parametrize("method", ["graphreach", "gcn", "adamic-adar"])
@pytest.mark.parametrize("decoder", [None, "reach"])
def test_given_links_are_ranked_against_whole_pairs(method, decoder):
    """Candidates as pairs give the metrics that the same candidates as targets give."""
    if decoder is not None and method != "graphreach":
        pytest.skip("a decoder of graphreach")
    graph = datasets.load("grid")[0].graph
    rng = np.random.default_rng(0)
    test = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]][:, ::40]
    far = (test[0][:, None] + 100 + rng.integers(0, 150, (test.shape[1], 60))) % 400
    whole = np.stack([np.repeat(test[0][:, None], 60, 1), far], axis=-1)
    settings = Settings(
        method=method, protocol="given", **QUICK, **({"model": {"decoder": decoder}} if decoder else {})
    )
    found = []
    for candidates in (far, whole):
        given = tasks.GivenPairs(test, test_candidates=candidates)
        found.append(training.run(datasets.Sample(graph, given=given), settings).test)
    assert found[0] == found[1]
    assert {"mrr", "hits@10", "hits@50"} <= set(found[0])

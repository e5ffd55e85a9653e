"""The method ``reach``: runs on links and pairs, their folders, and runs loaded again."""

import json
import shutil

import numba
import numpy as np
import pytest
import torch

import graphreach as gr
from graphreach import InputError, datasets, training
from graphreach.pairs.pair_network import best_calibration
from graphreach.tasks.calibration import reliability
from graphreach.training import Settings, load_run, pair_scorer
from graphreach.training.pair_learning import learn_pairs
from graphreach.training.pair_options import PairOptions
from graphreach.training.pair_scorer import PairExamples, PairScorer
from graphreach.training.reach_run import ReachRun
from helpers import random_graph

SMALL = {"steps": 3, "lengths": [3], "num_anchors": 8, "num_members": 2, "hidden_channels": 8}


def settings(task="link", **values):
    return Settings(method="reach", task=task, **({"model": SMALL} | values))


def blocks(size, seed=0, directed=False):
    """Two dense blocks with classes, features and ids that are text."""
    rng, half = np.random.default_rng(seed), size // 2
    edges = np.concatenate([rng.integers(0, half, (2, 3 * size)), rng.integers(half, size, (2, 3 * size))], 1)
    ids = [f"n{i:03d}" for i in range(size)]
    graph = gr.Graph.from_edge_list([(ids[a], ids[b]) for a, b in edges.T] + [(ids[0], ids[-1])], directed=directed)
    y = np.array([int(each[1:]) >= half for each in graph.ids.tolist()], np.int64)
    return datasets.Sample(graph, None, y)


@pytest.fixture(scope="module")
def sample():
    return blocks(60)


@pytest.fixture(scope="module")
def several():
    return datasets.Dataset("several", tuple(blocks(size, size) for size in (20, 26, 40, 32, 24)))


@pytest.fixture(scope="module")
def trained(sample, tmp_path_factory):
    """A finished run on links and one on pairs."""
    folders = {task: tmp_path_factory.mktemp("reach") / task for task in ("link", "pair")}
    outcomes = {task: training.run(sample, settings(task), folder) for task, folder in folders.items()}
    return folders, outcomes


@pytest.mark.parametrize("task", ["link", "pair"])
def test_a_run_is_judged_recorded_and_kept(sample, trained, task):
    folders, outcomes = trained
    record, outcome = outcomes[task].record, outcomes[task]
    assert outcome.test["auc"] > 0.75
    assert json.loads(json.dumps(record)) == record
    assert {"split", "anchors", "features", "training", "scoring"} <= record["seconds"].keys()
    assert record["recipe"]["own_edge"] == (task == "pair")
    assert record["plan"]["model"]["steps"] == 3
    assert "best_epoch" not in record
    assert record["parameters"] > 0
    again = training.run(sample, settings(task), folders[task])
    assert again.record == record
    assert np.array_equal(again.scores["test"][0], outcome.scores["test"][0])


def test_communities_are_found():
    found = training.run(datasets.load("communities"), Settings(method="reach", candidates=20)).test
    assert found["auc"] > 0.98
    assert found["hits@10"] >= found["hits@1"] > 0.9


def test_many_validation_pairs_calibrate_it_again(tmp_path, monkeypatch):
    """The scores are what the kept run gives, and no scale or shift would suit validation better."""
    grid = datasets.load("grid")
    monkeypatch.setattr(pair_scorer, "CALIBRATED", 50)
    outcome = training.run(grid, settings(protocol="clean"), tmp_path)
    split = training.harness.make_splits(grid, settings(protocol="clean"))[0]
    scores = outcome.scores["val"][0]
    assert best_calibration(scores, split.val.label) == pytest.approx((1, 0), abs=2e-3)
    run = load_run(tmp_path)
    np.testing.assert_allclose(
        run.logits(run.embed(split.graph), split.val.index, split.graph), scores, rtol=1e-4, atol=1e-4
    )
    monkeypatch.setattr(pair_scorer, "CALIBRATED", 10**6)
    before = training.run(grid, settings(protocol="clean"))
    assert before.test == outcome.test
    assert not np.allclose(before.scores["val"][0], scores)


@pytest.mark.parametrize(
    ("task", "protocol"), [("pair", "node-disjoint"), ("pair", "graph-disjoint"), ("link", "clean")]
)
def test_several_graphs_share_one_head(several, tmp_path, task, protocol):
    own = settings(task, protocol=protocol)
    outcome = training.run(several, own, tmp_path)
    splits = training.harness.make_splits(several, own)
    assert [each is not None for each in outcome.scores["test"]] == [len(split.test) > 0 for split in splits]
    run = load_run(tmp_path)
    assert run.scorer.anchors is None
    number = next(i for i, split in enumerate(splits) if len(split.test))
    graph, pairs = splits[number].graph, splits[number].test.index
    assert np.array_equal(run.logits(run.embed(graph), pairs, graph), outcome.scores["test"][number])


def test_the_examples_of_the_split_are_learned_as_link_predictor_learns(sample, trained):
    """One recipe: the same pairs give the same network, by whoever draws them."""
    split = training.harness.make_splits(datasets.Dataset("one", (sample,)), settings("pair"))[0]
    options = {name: value for name, value in SMALL.items() if name != "lengths"} | {"lengths": (3,)}
    ids = split.graph.ids
    links = gr.LinkPredictor(**options).fit(sample.graph, pairs=ids[split.train.index.T], y=split.train.label)
    run = load_run(trained[0]["pair"])
    for name, value in links.head_.state_dict().items():
        assert value.equal(run.scorer.head.state_dict()[name]), name
    loaded = gr.LinkPredictor.load(trained[0]["pair"] / "model")
    asked = ids[split.test.index.T]
    found = loaded.decision_function(asked, sample.graph)
    assert np.array_equal(found, links.decision_function(asked))
    assert np.array_equal(found, trained[1]["pair"].scores["test"][0])


@pytest.mark.parametrize("task", ["link", "pair"])
def test_a_loaded_run_gives_the_recorded_scores_and_probabilities(sample, trained, task):
    run = load_run(trained[0][task])
    assert isinstance(run, ReachRun)
    split = training.harness.make_splits(datasets.Dataset("one", (sample,)), settings(task))[0]
    known = run.embed(split.graph)
    logits = run.logits(known, split.test.index, split.graph)
    assert np.array_equal(logits, trained[1][task].scores["test"][0])
    chances = run.score_pairs(known, split.test.index, split.graph)
    assert ((chances > 0) & (chances < 1)).all()
    assert run.scorer.rate(split.graph) == run.scorer.prior
    odds = run.scorer.prior / (1 - run.scorer.prior)
    assert chances == pytest.approx(1 / (1 + np.exp(-logits) / odds))
    assert f"{100 * run.scorer.prior:.3g}%" in run.meaning_of(known)
    assert ("as frequent as among all pairs" in run.meaning) == (task == "link")
    with pytest.raises(InputError, match="must be of task 'node'"):
        run.class_probabilities(known, [0])


def test_a_pair_and_its_reverse_have_one_score(sample, trained):
    pairs = np.random.default_rng(0).integers(0, 30, (2, 50))
    pairs[1] += 30
    run = load_run(trained[0]["link"])
    known = run.embed(sample.graph)
    assert np.array_equal(run.logits(known, pairs, sample.graph), run.logits(known, pairs[::-1], sample.graph))


def test_a_link_of_the_graph_is_scored_as_if_it_were_not_there(sample, trained):
    run, graph = load_run(trained[0]["link"]), sample.graph
    pair = graph.edge_index[:, :1]
    without = gr.tasks.link_split.without_links(graph, pair)
    found = [run.logits(run.embed(each), pair, each) for each in (graph, without)]
    assert found[0] == pytest.approx(found[1], abs=1e-4)


def test_grown_and_other_graphs(sample, trained):
    run, graph = load_run(trained[0]["link"]), sample.graph
    ids = graph.ids.tolist()
    edges = [(ids[a], ids[b]) for a, b in graph.edge_index.T.tolist()]
    grown = gr.Graph.from_edge_list([*edges, ("new", ids[0]), ("new", ids[1]), ("new", ids[2])])
    known = run.embed(grown)
    assert grown.ids[known.features.anchors].tolist() == run.scorer.anchors
    near, far = (np.array([[grown.index_of("new")], [grown.index_of(each)]]) for each in (ids[3], ids[-1]))
    assert run.logits(known, near, grown) > run.logits(known, far, grown)
    other = random_graph(40, 120)
    with pytest.warns(UserWarning, match="lacks 8 of 8 anchors of the run, so it gets anchors of its own"):
        assert len(run.embed(other).features.anchors) == 8
    fresh = load_run(trained[0]["link"], new_anchors=True)
    scores = fresh.score_pairs(fresh.embed(other), np.array([[0, 1], [2, 3]]), other)
    assert np.isfinite(scores).all()
    directed = random_graph(40, 120, directed=True)
    with pytest.raises(InputError, match="graph must be undirected"):
        fresh.embed(directed)


def test_what_cannot_be_scored_is_refused(sample, trained):
    run, graph = load_run(trained[0]["link"]), sample.graph
    with pytest.raises(InputError, match="z must be what embed"):
        run.logits(None, np.array([[0], [1]]), graph)
    with pytest.raises(InputError, match="two different nodes"):
        run.logits(run.embed(graph), np.array([[1], [1]]), graph)
    assert run.logits(run.embed(graph), np.empty((2, 0), np.int64), graph).shape == (0,)
    with pytest.raises(InputError, match="whose method reach describes pairs"):
        training.TrainedRun(trained[0]["link"])


def test_a_directed_graph_has_ordered_pairs(tmp_path):
    outcome = training.run(blocks(40, directed=True), settings(), tmp_path)
    assert outcome.record["recipe"]["directed"]
    assert outcome.test["auc"] > 0.7


@pytest.mark.parametrize("task", ["link", "pair"])
def test_same_bits_on_any_number_of_threads(sample, task):
    before, found = (torch.get_num_threads(), numba.get_num_threads()), []
    for count in (1, 2):
        torch.set_num_threads(count)
        numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))
        found.append(training.run(sample, settings(task)).scores["test"][0])
    torch.set_num_threads(before[0])
    numba.set_num_threads(before[1])
    assert np.array_equal(*found)


def test_another_seed_is_another_run(sample):
    first, second = (training.run(sample, settings(seed=seed)).scores["test"][0] for seed in (1, 2))
    assert not np.array_equal(first, second)


def test_an_interrupted_run_is_repeated_from_the_start(sample, trained, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(trained[0]["link"], folder)
    for name in ("record.json", "scores.npz"):
        (folder / name).unlink()
    again = training.run(sample, settings(), folder)
    assert np.array_equal(again.scores["test"][0], trained[1]["link"].scores["test"][0])


def test_a_folder_of_another_run_is_refused(sample, several, trained):
    with pytest.raises(InputError, match=r"holds a run of other settings \(seed 0 there and 1 here"):
        training.run(sample, settings(seed=1), trained[0]["link"])
    with pytest.raises(InputError, match="holds a run of other settings"):
        training.run(sample, settings(model=SMALL | {"steps": 4}), trained[0]["link"])
    with pytest.raises(InputError, match="holds a run on another graph"):
        training.run(several, settings(), trained[0]["link"])


def test_damaged_models_are_one_sentence(trained, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(trained[0]["link"], folder)
    config = folder / "model" / "config.json"
    found = json.loads(config.read_text())
    found["metadata"].pop("recipe")
    from graphreach.io.model_folder import sign

    config.write_text(json.dumps(sign(found)))
    with pytest.raises(InputError, match="must hold a saved model of method reach, but"):
        load_run(folder)
    (folder / "model" / "model.safetensors").write_bytes(b"x")
    with pytest.raises(InputError, match="not a whole safetensors file"):
        load_run(folder)
    stored = json.loads((folder / "settings.json").read_text()) | {"task": "pair", "protocol": "clean"}
    shutil.rmtree(folder / "model")
    shutil.copytree(trained[0]["link"] / "model", folder / "model")
    (folder / "settings.json").write_text(json.dumps(stored))
    with pytest.raises(InputError, match="must hold a model of task pair"):
        load_run(folder)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ({"steps": 1}, "model.steps must be"),
        ({"steps": "many"}, "model.steps must be"),
        ({"lengths": []}, "model.lengths must be"),
        ({"method": "magic"}, "model.method must be one of auto, exact, walks"),
        ({"num_links": 2}, "model.num_links must be"),
        ({"heads": 2}, "model must not hold 'heads' for method 'reach'"),
        ({"num_members": 0}, "model.num_members: input should be greater"),
    ],
)
def test_wrong_options_are_named_before_there_are_data(monkeypatch, model, sentence):
    monkeypatch.setattr(training.harness, "make_splits", lambda *values: pytest.fail("the data were split"))
    with pytest.raises(InputError) as caught:
        training.run(datasets.Sample(gr.Graph.from_edges([[0], [1]])), Settings(method="reach", model=model))
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("epochs=5", "epochs must go with a method that is trained, it has no effect on 'reach'; --model graphreach"),
        (
            "num_anchors=5",
            "num_anchors must go with method graphreach, it has no effect on 'reach'; set model.num_anchors",
        ),
        ("hidden_channels=5", "; set model.hidden_channels"),
        ("preset=paper", "no effect on 'reach'"),
        ("identity=true", "no effect on 'reach'"),
    ],
)
def test_settings_without_effect_are_refused(change, sentence):
    with pytest.raises(InputError) as caught:
        Settings.read(None, [change], method="reach")
    assert sentence in str(caught.value)


def test_walks_by_labels_are_refused_in_one_sentence(sample):
    with pytest.raises(InputError, match="walk_weights must be None for method 'reach'"):
        training.run(sample, settings("pair", walk_weights="train-labels"))


def with_features(sample, width=3, seed=5):
    """Features that say which class a node is of, roughly."""
    noise = np.random.default_rng(seed).normal(0, 0.6, (sample.graph.num_nodes, width))
    noise[:, 0] += sample.y
    return datasets.Sample(sample.graph, noise.astype(np.float32), sample.y)


@pytest.fixture(scope="module")
def attributed(sample, tmp_path_factory):
    """Runs on a graph with features, and the data."""
    data = with_features(sample)
    folders = {task: tmp_path_factory.mktemp("attributed") / task for task in ("link", "pair")}
    return data, folders, {task: training.run(data, settings(task), folder) for task, folder in folders.items()}


@pytest.mark.parametrize("task", ["link", "pair"])
def test_features_of_nodes_are_read(sample, trained, attributed, task):
    data, folders, outcomes = attributed
    outcome = outcomes[task]
    assert outcome.test["auc"] > 0.75
    assert not np.array_equal(outcome.scores["test"][0], trained[1][task].scores["test"][0])
    split, run = (
        training.harness.make_splits(datasets.Dataset("one", (data,)), settings(task))[0],
        load_run(folders[task]),
    )
    known = run.embed(split.graph, split.x)
    assert run.logits(known, split.test.index, split.graph) == pytest.approx(outcome.scores["test"][0], abs=1e-5)
    left_out = training.run(data, settings(task, features=False))
    assert np.array_equal(left_out.scores["test"][0], trained[1][task].scores["test"][0])
    without = datasets.Sample(data.graph, np.empty((data.graph.num_nodes, 0), np.float32), data.y)
    assert np.array_equal(training.run(without, settings(task)).scores["test"][0], left_out.scores["test"][0])


def test_features_are_learned_as_link_predictor_learns_them(attributed):
    data, folders, outcomes = attributed
    split = training.harness.make_splits(datasets.Dataset("one", (data,)), settings("pair"))[0]
    ids, options = split.graph.ids, SMALL | {"lengths": (3,)}
    links = gr.LinkPredictor(**options).fit(data.graph, data.x, ids[split.train.index.T], split.train.label)
    asked = ids[split.test.index.T]
    assert np.array_equal(links.decision_function(asked), outcomes["pair"].scores["test"][0])
    loaded = gr.LinkPredictor.load(folders["pair"] / "model")
    assert np.array_equal(loaded.decision_function(asked, data.graph, data.x), links.decision_function(asked))


def test_missing_and_needless_features_are_one_sentence(attributed, trained):
    data, folders, _ = attributed
    run = load_run(folders["link"])
    with pytest.raises(InputError, match="features of 3 columns must be given, as the run was trained with them, got"):
        run.embed(data.graph)
    with pytest.raises(InputError, match="x must be an array"):
        run.embed(data.graph, data.x[:, :2])
    with pytest.raises(InputError, match="features must not be given, as the run was trained without, got 3 columns"):
        load_run(trained[0]["link"]).embed(data.graph, data.x)


@pytest.mark.parametrize(
    ("task", "protocol"), [("pair", "node-disjoint"), ("pair", "graph-disjoint"), ("link", "clean")]
)
def test_several_graphs_with_features_share_one_head(several, tmp_path, task, protocol):
    data = datasets.Dataset("several", tuple(with_features(each, seed=i) for i, each in enumerate(several)))
    own = settings(task, protocol=protocol)
    outcome = training.run(data, own, tmp_path)
    assert outcome.test["pooled_auc" if "pooled_auc" in outcome.test else "auc"] > 0.6
    splits, run = training.harness.make_splits(data, own), load_run(tmp_path)
    for split, scores in zip(splits, outcome.scores["test"], strict=True):
        if scores is not None:
            found = run.logits(run.embed(split.graph, split.x), split.test.index, split.graph)
            assert found == pytest.approx(scores, abs=1e-5)


def test_features_of_some_graphs_or_of_several_widths_are_refused(several):
    first, second, *others = several.samples
    some = datasets.Dataset("some", (with_features(first), second, *others))
    with pytest.raises(InputError, match="attributes must be given for all graphs or for none, got them for 1 of 5"):
        training.run(some, settings())
    unequal = datasets.Dataset(
        "unequal", (with_features(first), *(with_features(each, 4) for each in (second, *others)))
    )
    with pytest.raises(InputError, match="attributes must be as many in all graphs, got 3 and 4"):
        training.run(unequal, settings())


def test_scores_are_added_to_those_of_another_method(sample, tmp_path):
    own = Settings(method="reach+adamic-adar", parts={"reach": {"model": SMALL}})
    outcome = training.run(sample, own, tmp_path)
    assert outcome.record["parts"].keys() == {"reach", "adamic-adar"}
    assert "calibration" not in outcome.record  # sums are no probabilities
    run = load_run(tmp_path)
    scores = run.score_pairs(run.embed(sample.graph), np.array([[0, 1], [2, 59]]), sample.graph)
    assert np.isfinite(scores).all()


def test_the_record_has_the_calibration_error_of_the_pairs_of_all_graphs(several, tmp_path):
    own = settings("pair")
    outcome = training.run(several, own, tmp_path)
    scorer = load_run(tmp_path).scorer
    found = outcome.record["calibration"]
    assert found["prior"] == outcome.record["prior"] == scorer.prior
    splits = training.harness.make_splits(several, own)
    for part in ("val", "test"):
        logits = np.concatenate([each for each in outcome.scores[part] if each is not None])
        label = np.concatenate([getattr(split, part).label for split in splits])
        assert found[part] == reliability(scorer.probabilities(logits), label, scorer.prior).error


def test_no_more_pairs_of_a_kind_are_learned_from_than_asked_for(several, monkeypatch):
    from graphreach.training import pair_learning

    seen = []
    fit = pair_learning.fit_pair_head
    monkeypatch.setattr(
        pair_learning, "fit_pair_head", lambda x, y, *rest, **more: seen.append(y) or fit(x, y, *rest, **more)
    )
    training.run(several, settings("pair", model=SMALL | {"num_links": 30}))
    assert int(seen[0].sum()) == 30
    assert len(seen[0]) == 60


@pytest.mark.parametrize("links", [True, False])
def test_too_few_pairs_to_learn_from(links):
    graph = random_graph(8, 14)
    pairs, y = graph.edge_index[:, :3], np.ones(3, np.int64)
    with pytest.raises(InputError, match="at least 4 links" if links else "both kinds"):
        learn_pairs([PairExamples(graph, pairs, y)], PairOptions(), links)


def test_one_pair_of_each_kind_is_too_few():
    graph = random_graph(8, 14)
    with pytest.raises(InputError, match="at least 2 pairs of a kind to learn from, got 1 of each"):
        learn_pairs([PairExamples(graph, np.array([[0, 2], [1, 3]]), np.array([1, 0]))], PairOptions(), links=False)


def test_a_folder_without_a_model_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match=r"must hold config\.json"):
        PairScorer.load(tmp_path)


@pytest.mark.parametrize("task", ["link", "pair"])
def test_the_report_shows_how_far_probabilities_hold(sample, trained, task):
    from graphreach.report import make_report
    from report_helpers import data_of

    page, run = data_of(make_report(trained[0][task], sample)), load_run(trained[0][task])
    found = page["calibration"]
    assert found["prior"] == pytest.approx(run.scorer.prior, rel=1e-5)
    assert all(0 <= found["errors"][part][rate] <= 1 for part in ("val", "test") for rate in ("prior", "even"))
    record = json.loads((trained[0][task] / "record.json").read_text())
    assert sum(pairs for *_, pairs in found["bins"]) == record["test_examples"]

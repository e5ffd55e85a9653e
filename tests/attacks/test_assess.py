"""Scores before and after, against loops that count pairs one by one."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import graphreach as gr
from graphreach import InputError, attacks, datasets, tasks, training
from graphreach.attacks import Assessment, add_edges, assess, clique, curve
from graphreach.attacks.assess import KINDS, Victim, group_seed
from graphreach.training import METHODS, Settings

QUICK = {"epochs": 6, "evaluate_every": 3, "num_anchors": 8}


@pytest.fixture(scope="module")
def data():
    return datasets.load("communities")


@pytest.fixture(scope="module")
def trained(data):
    """Runs by task and method, each trained once."""
    known = {}

    def get(task="link", method="graphreach", **extra):
        key = (task, method, json.dumps(extra, sort_keys=True))
        if key not in known:
            own = Settings(task=task, method=method, protocol="published", **QUICK, **extra)
            known[key] = training.run(data, own), tasks.split(data.samples[0], task, "published")
        return known[key]

    return get


def literal(outcome, split, kind, fraction, groups):
    """All of it by loops: each positive against each negative."""
    victim = Victim.of(outcome, split)
    before, rows = victim.scores(split.graph), []
    for group in range(groups):
        attack = KINDS[kind](split, fraction, group_seed(split.seed, group))
        after, colluders = victim.scores(attack.graph), set(attack.colluders.tolist())
        row = {}
        for ends, enough in (("any", 1), ("both", 2)):
            chosen = [
                i for i, pair in enumerate(split.test.index.T.tolist())
                if not colluders or sum(node in colluders for node in pair) >= enough
            ]  # fmt: skip
            positive = [i for i in chosen if split.test.label[i] == 1]
            negative = [i for i in chosen if split.test.label[i] == 0]
            wins = [
                sum((s[p] > s[n]) + 0.5 * (s[p] == s[n]) for p in positive for n in negative) for s in (before, after)
            ]
            row[ends] = (len(positive), len(negative), *wins)
        rows.append(row)
    return rows


@pytest.mark.parametrize(
    ("task", "method", "kind"),
    [("link", "graphreach", "hubs"), ("pair", "pgnn-e", "clique"), ("link", "gcn", "clique")],
)
def test_against_a_literal_count(trained, task, method, kind):
    outcome, split = trained(task, method)
    found = assess(outcome, split, kind, groups=2)
    for group, row in enumerate(literal(outcome, split, kind, 0.1, 2)):
        for ends in ("any", "both"):
            tally = getattr(found, ends)
            counted = (tally.positives, tally.negatives, tally.concordant_before, tally.concordant_after)
            assert tuple(each[group] for each in counted) == row[ends]
    assert found.any.concordant_after != found.any.concordant_before


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("task", ["link", "pair"])
def test_every_method_can_be_attacked_and_scores_before_are_those_of_the_run(trained, task, method):
    outcome, split = trained(task, method)
    np.testing.assert_array_equal(Victim.of(outcome, split).scores(split.graph), outcome.scores["test"][0])
    found = assess(outcome, split, groups=1)
    assert found.kind == {"link": "hubs", "pair": "clique"}[task]
    assert 0 <= found.any.after <= 1


@pytest.mark.parametrize("preset", ["paper", "authors", "best"])
def test_an_attack_without_edges_changes_nothing(trained, preset):
    outcome, split = trained("link", "graphreach", preset=preset)

    def nothing(split, fraction, seed):
        attack = clique(split.graph, fraction, seed)
        return add_edges(split.graph, np.empty((2, 0), np.int64), attack.colluders)

    for found in (assess(outcome, split, nothing), assess(outcome, split, "noise", 0.0, groups=1)):
        assert found.any.concordant_before == found.any.concordant_after
        assert found.both.loss == 0
        assert set(found.added) == {0}


def test_the_auc_of_one_group_is_that_of_scikit_learn(trained):
    outcome, split = trained("pair", "pgnn-e")
    found = assess(outcome, split, groups=1)
    attack, victim = clique(split.graph, 0.1, group_seed(0, 0)), Victim.of(outcome, split)
    chosen = attack.involves(split.test.index)
    for graph, value in ((split.graph, found.any.before), (attack.graph, found.any.after)):
        truth = roc_auc_score(split.test.label[chosen], victim.scores(graph)[chosen])
        assert value == pytest.approx(truth, abs=1e-12)


def test_noise_scores_all_pairs(trained):
    outcome, split = trained("link", "gcn")
    found = assess(outcome, split, "noise", groups=1)
    assert found.any == found.both
    assert found.any.before == pytest.approx(outcome.test["auc"], abs=1e-12)


def test_pgnn_keeps_its_sets(trained, monkeypatch):
    from graphreach.nn import pgnn

    seen, real = [], pgnn.search_sets

    def spy(graph, pointer, members, max_distance=None, seed=0):
        seen.append((graph.num_edges, pointer.copy(), members.copy()))
        return real(graph, pointer, members, max_distance, seed)

    outcome, split = trained("pair", "pgnn-e")
    monkeypatch.setattr(pgnn, "search_sets", spy)
    assess(outcome, split, groups=2)
    (edges, pointer, members), *others = seen
    assert edges == split.graph.num_edges
    assert len(others) == 2
    for more, same_pointer, same_members in others:
        assert more > edges
        np.testing.assert_array_equal(pointer, same_pointer)
        np.testing.assert_array_equal(members, same_members)


def test_graphreach_keeps_anchors_and_walk_length(trained, monkeypatch):
    from graphreach.training import methods

    seen, real = [], methods.reachability

    def spy(graph, anchors, *args, **options):
        seen.append((graph.num_edges, list(anchors), options["walk_length"]))
        return real(graph, anchors, *args, **options)

    spy.__signature__ = __import__("inspect").signature(real)
    outcome, split = trained("link", "graphreach", preset="paper")
    monkeypatch.setattr(methods, "reachability", spy)
    found = assess(outcome, split, "clique", 0.4, groups=1)
    (edges, anchors, length), (more, same, same_length) = seen
    assert (edges, more) == (split.graph.num_edges, split.graph.num_edges + found.added[0])
    assert anchors == same == outcome.inputs[0].anchors.tolist()
    attacked = clique(split.graph, 0.4, group_seed(0, 0)).graph
    assert length == same_length == gr.diameter(split.graph).lower > gr.diameter(attacked).lower


def test_test_edges_come_back_only_if_attackers_add_them(trained):
    _, split = trained("link", "gcn")
    for kind in KINDS:
        attack = KINDS[kind](split, 0.1, 5)
        hidden = {frozenset(pair) for pair in split.test.positives.T.tolist() + split.val.positives.T.tolist()}
        added = {frozenset(pair) for pair in attack.edges.T.tolist()}
        present = {frozenset(pair) for pair in attack.graph.edge_index.T.tolist()}
        assert present & hidden == added & hidden
        assert len(hidden & added) < len(hidden) / 10


def test_methods_of_one_split_and_seed_meet_the_same_pairs(trained):
    one, two = (assess(*trained("link", method), groups=3) for method in ("gcn", "pgnn-e"))
    assert (one.any.positives, one.both.negatives) == (two.any.positives, two.both.negatives)
    assert one.added == two.added
    other = assess(*trained("link", "gcn"), groups=3, seed=9)
    assert other.any.positives != one.any.positives


def test_colluders_are_not_the_training_nodes_of_the_same_seed(data):
    split = tasks.split(data.samples[0], "node")
    share = np.isin(clique(split.graph, 0.5).colluders, split.train.index).mean()
    assert 0.7 < share < 0.9


def test_label_weights_are_made_on_the_attacked_graph(trained):
    outcome, split = trained("pair", "graphreach", walk_weights="train-labels")
    np.testing.assert_array_equal(Victim.of(outcome, split).scores(split.graph), outcome.scores["test"][0])
    assert assess(outcome, split, groups=1).any.comparisons


def test_a_folder_gives_what_the_outcome_gave(data, tmp_path):
    for task, method in (("link", "graphreach"), ("pair", "pgnn-e")):
        outcome = training.run(data, Settings(task=task, method=method, protocol="published", **QUICK), tmp_path / task)
        split = tasks.split(data.samples[0], task, "published")
        assert assess(outcome, split, groups=2) == assess(training.TrainedRun(tmp_path / task), split, groups=2)
        with pytest.raises(InputError, match="without its model"):
            assess(
                training.run(data, Settings(task=task, method=method, protocol="published", **QUICK), tmp_path / task),
                split,
            )


def test_identity_features_and_a_local_branch(data, trained):
    for extra in ({"identity": True}, {"model": {"local": "gcn"}}, {"features": False}):
        outcome, split = trained("pair", "graphreach", **extra)
        np.testing.assert_array_equal(Victim.of(outcome, split).scores(split.graph), outcome.scores["test"][0])
        assert assess(outcome, split, groups=1).any.comparisons


def test_a_curve_is_assessments_and_a_line_of_json(trained):
    outcome, split = trained("pair", "pgnn-e")
    found = curve(outcome, split, [0.02, 0.1, 0.5], groups=2)
    assert found[1] == assess(outcome, split, groups=2)
    assert found[2].any.comparisons > found[0].any.comparisons
    line = json.dumps(found[0].to_dict(), allow_nan=False)
    assert len(line) < 2000
    assert Assessment.from_dict(json.loads(line)) == found[0]
    ax = attacks.plot_curve(found)
    assert ax.get_legend_handles_labels()[1] == ["pgnn-e, before", "pgnn-e, after"]


def test_groups_without_comparisons_are_nan_and_none(trained):
    outcome, split = trained("pair", "pgnn-e")
    first = split.test.index[:, :1]

    def alone(split, fraction, seed):
        return add_edges(split.graph, first, first.ravel())

    found = assess(outcome, replace(split, test=tasks.Examples(first, split.test.label[:1])), alone, groups=1)
    assert np.isnan(found.any.before)
    assert found.to_dict()["both"]["loss"] is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kind": "hubs"}, "kind 'hubs' must be used on a run of task link"),
        ({"kind": "clike"}, "did you mean 'clique'"),
        ({"groups": 0}, "groups must be a positive integer, got 0"),
        ({"fraction": 2}, "fraction must be above 0"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_bad_arguments_get_one_sentence(trained, change, sentence):
    outcome, split = trained("pair", "pgnn-e")
    with pytest.raises(InputError, match=sentence):
        assess(outcome, split, **change)


def test_bad_runs_get_one_sentence(data, trained):
    outcome, split = trained("pair", "pgnn-e")
    with pytest.raises(InputError, match="split must be of the run's task 'pair', got 'link'"):
        assess(outcome, trained("link", "gcn")[1])
    node = training.run(data, Settings(task="node", method="gcn", **QUICK))
    with pytest.raises(InputError, match="got one of task node"):
        assess(node, tasks.split(data.samples[0], "node"))
    with pytest.raises(InputError, match="without its model"):
        assess(training.run(data, Settings(method="common-neighbours")), trained("link", "gcn")[1])
    twice = training.run(datasets.Dataset("two", data.samples * 2), Settings(task="pair", method="gcn", **QUICK))
    with pytest.raises(InputError, match="one of 2 graphs"):
        assess(twice, split)
    small = gr.Graph.from_edges([[0, 1], [1, 2]])
    with pytest.raises(InputError, match="split must be the run's, on 400 nodes, got 3"):
        assess(outcome, replace(split, graph=small))

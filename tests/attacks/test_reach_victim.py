"""Attacks on runs of method reach, which are read from their folders."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import graphreach as gr
from graphreach import InputError, datasets, tasks, training
from graphreach.attacks import add_edges, assess, curve, interval
from graphreach.attacks.assess import KINDS, find_victim, group_seed
from graphreach.training import Settings, load_run

SMALL = {"num_members": 1, "hidden_channels": 8, "num_anchors": 8, "steps": 4}


def settings(task, **extra):
    return Settings(task=task, method="reach", protocol="published", model=SMALL, **extra)


@pytest.fixture(scope="module")
def sample():
    caves = nx.connected_caveman_graph(6, 8)
    return datasets.Sample(gr.Graph.from_networkx(caves), y=np.repeat(np.arange(6), 8))


@pytest.fixture(scope="module")
def trained(sample, tmp_path_factory):
    """Outcome, loaded run and split by task, each trained once."""
    known = {}

    def get(task):
        if task not in known:
            folder = tmp_path_factory.mktemp("runs") / task
            outcome = training.run(sample, settings(task), folder)
            known[task] = outcome, load_run(folder), tasks.split(sample, task, "published")
        return known[task]

    return get


@pytest.mark.parametrize("task", ["link", "pair"])
def test_scores_before_are_those_of_the_run(trained, task):
    outcome, run, split = trained(task)
    np.testing.assert_array_equal(find_victim(run, split).scores(split.graph), outcome.scores["test"][0])
    found = assess(run, split, "noise", 0.2, groups=1)
    assert found.any.before == pytest.approx(outcome.test["auc"], abs=1e-12)
    assert (found.method, found.task) == ("reach", task)


@pytest.mark.parametrize(("task", "kind"), [("link", "hubs"), ("pair", "clique")])
def test_the_papers_attack_changes_scores_and_meets_the_colluders_of_other_methods(sample, trained, task, kind):
    _, run, split = trained(task)
    found = assess(run, split, fraction=0.3, groups=2)
    other = assess(
        training.run(sample, Settings(task=task, method="pgnn-e", protocol="published", epochs=2)), split, fraction=0.3,
        groups=2,
    )  # fmt: skip
    assert found.kind == other.kind == kind
    assert (found.colluders, found.added, found.any.positives) == (other.colluders, other.added, other.any.positives)
    victim, attack = find_victim(run, split), KINDS[kind](split, 0.3, group_seed(split.seed, 0))
    assert not np.allclose(victim.scores(split.graph), victim.scores(attack.graph))
    assert interval([other], [found]).difference == pytest.approx(other.any.loss - found.any.loss)


def test_an_attack_without_edges_changes_nothing(trained):
    _, run, split = trained("link")
    (found,) = curve(run, split, [0.0], "noise", groups=1)
    assert found.any.concordant_before == found.any.concordant_after


def test_anchors_stay(trained, monkeypatch):
    from graphreach.training import pair_scorer

    seen, real = [], pair_scorer.PairFeatures

    def spy(graph, recipe, anchors, seed):
        seen.append((graph.num_edges, list(anchors), recipe))
        return real(graph, recipe, anchors, seed)

    _, run, split = trained("pair")
    monkeypatch.setattr(pair_scorer, "PairFeatures", spy)
    found = assess(run, split, "clique", 0.4, groups=1)
    (edges, anchors, recipe), (more, same, other) = seen
    assert more == edges + found.added[0]
    assert split.graph.ids[anchors].tolist() == split.graph.ids[same].tolist() == run.scorer.anchors
    assert recipe == other


@pytest.mark.parametrize(("task", "seen"), [("link", False), ("pair", True)])
def test_an_edge_between_the_ends_of_a_pair_is_read_unless_links_are_asked_about(trained, task, seen):
    _, run, split = trained(task)
    victim, pair = find_victim(run, split), split.test.negatives[:, :1]
    attacked = add_edges(split.graph, pair, pair.ravel()).graph
    own = replace(victim, split=replace(split, test=tasks.Examples(pair, np.zeros(1, np.int64))))
    assert (abs(own.scores(attacked) - own.scores(split.graph)) > 1e-5).tolist() == [seen]


def test_wrong_runs_get_one_sentence(sample, trained, tmp_path):
    outcome, run, split = trained("link")
    with pytest.raises(InputError, match="one without its model; read its folder by load_run"):
        assess(outcome, split)
    with pytest.raises(InputError, match="split must be of the run's task 'link', got 'pair'"):
        assess(run, trained("pair")[2])
    folder = tmp_path / "run"
    training.run(datasets.Dataset("two", (sample, sample)), settings("link"), folder)
    with pytest.raises(InputError, match="run must be a trained model of one graph, got one of several graphs"):
        assess(load_run(folder), split)
    training.run(sample, Settings(method="common-neighbours"), tmp_path / "heuristic")
    with pytest.raises(InputError, match="run must have one model, got one of method 'common-neighbours'"):
        assess(load_run(tmp_path / "heuristic"), split)
    small = gr.Graph.from_edges([[0, 1], [1, 2]])
    with pytest.raises(InputError, match="split must be on the run's graph, got one without the anchor"):
        assess(run, replace(split, graph=small))


def test_a_run_with_anchors_of_its_own_for_every_graph_is_refused(sample, tmp_path):
    training.run(sample, settings("link"), tmp_path)
    with pytest.raises(InputError, match="run must keep its anchors, got one that was loaded with new_anchors=True"):
        assess(load_run(tmp_path, new_anchors=True), tasks.split(sample, "link", "published"))

"""Explanations of trained runs: what they add up to, and what they say."""

import json

import numpy as np
import pytest
import torch

import graphreach as gr
from graphreach.explain import Explainer, explain_node, explain_pair
from graphreach.nn.decoders import make_decoder
from graphreach.training.trained_run import TrainedRun

NODES = 40


def sample(features):
    """Two quarters with a bridge, with attributes or without."""
    rng = np.random.default_rng(0)
    half = NODES // 2
    ends = np.concatenate([rng.integers(0, half, (2, 90)), rng.integers(half, NODES, (2, 90)), [[0], [half]]], 1)
    x = rng.normal(size=(NODES, 5)).astype(np.float32) if features else None
    graph = gr.Graph.from_edges(ends, NODES)
    return gr.datasets.Sample(graph, x, (np.arange(NODES) >= half).astype(np.int64))


def trained(folder, data, **values):
    settings = gr.training.Settings(**{"num_anchors": 6, "epochs": 3, "evaluate_every": 1, **values})
    gr.training.run(data, settings, folder)
    return TrainedRun(folder)


def exact_logit(run, z, pairs, graph):
    """The decoder itself in double precision."""
    decoder = run.model.encoder.decoder.double()
    reach = run.pair_reach(pairs, graph)
    with torch.no_grad():
        return decoder(torch.from_numpy(z).double(), torch.from_numpy(pairs), None if reach is None else reach.double())


@pytest.mark.parametrize("decoder", ["dot", "scaled", "reach", "lift"])
@pytest.mark.parametrize("local", [None, "gcn"])
@pytest.mark.parametrize("preset", ["paper", "authors", "best"])
def test_contributions_add_up_to_the_score(tmp_path, preset, local, decoder):
    data = sample(features=True)
    run = trained(tmp_path, data, preset=preset, model={"decoder": decoder, "local": local})
    explainer = Explainer(run, data.graph, data.x)
    pairs = np.array([[0], [25]])
    np.testing.assert_array_equal(explainer.z, run.embed(data.graph, data.x))
    probability = run.score_pairs(explainer.z, pairs, data.graph)[0]
    found = explainer.pair(0, 25)
    parts = [each.contribution for each in (*found.anchors, *found.terms)]
    logit = exact_logit(run, explainer.z, pairs, data.graph).item()
    assert sum(parts) == pytest.approx(found.score, rel=1e-12, abs=1e-12)
    assert found.score == pytest.approx(logit, rel=1e-6)
    assert found.probability == pytest.approx(probability, rel=1e-5)
    assert len(found.anchors) == 6
    names = {term.name for term in found.terms}
    assert ("neighbourhood" in names) == (local is not None)
    assert ("reachability, first to second" in names) == (decoder in ("reach", "lift"))


def test_terms_of_many_pairs_are_those_of_each(tmp_path):
    data = sample(features=False)
    run = trained(tmp_path, data, preset="best")
    explainer = Explainer(run, data.graph)
    linked = data.graph.to_scipy().toarray() > 0
    pairs = np.argwhere(~linked & ~np.eye(NODES, dtype=bool))[:20].T
    total = explainer.terms(pairs).total
    for (a, b), score in zip(pairs.T.tolist(), total, strict=True):
        assert explainer.pair(a, b, paths=1).score == pytest.approx(score, rel=1e-9)


def test_anchors_are_sorted_and_carry_the_models_reachability(tmp_path):
    data = sample(features=False)
    run = trained(tmp_path, data, preset="paper")
    found = explain_pair(run, data.graph, 3, 30)
    sizes = [abs(each.contribution) for each in found.anchors]
    assert sizes == sorted(sizes, reverse=True)
    anchors = run.anchors_on(data.graph)
    reach = gr.reachability(data.graph, anchors, seed=0)
    assert found.walk_length == reach.walk_length
    for each in found.anchors:
        column = list(anchors).index(each.anchor)
        assert each.to == tuple(reach.to_anchors[[3, 30], column].tolist())
        assert each.back == tuple(reach.from_anchors[[3, 30], column].tolist())
        for end, path in zip((3, 30), each.paths, strict=True):
            assert path is None or (path.nodes[0], path.nodes[-1]) == (end, each.anchor)


def test_reachability_of_hops_is_their_mean_and_of_csr_the_same(tmp_path):
    data = sample(features=False)
    run = trained(tmp_path / "a", data, preset="best")
    own = Explainer(run, data.graph).rows(np.array([1]))
    reach = gr.reachability(data.graph, run.anchors_on(data.graph), "exact", walk_length=4)
    np.testing.assert_allclose(own[0][0], reach.to_anchors[1], rtol=1e-5)
    other = trained(tmp_path / "b", data, preset="best", reachability={"layout": "csr"})
    same = Explainer(other, data.graph).rows(np.array([1]))
    np.testing.assert_allclose(same[0], own[0], rtol=1e-6)


def test_a_node_in_words_and_numbers(tmp_path):
    path = gr.Graph.from_edges([[0, 1, 2, 4], [1, 2, 3, 5]])
    data = gr.datasets.Sample(path)
    settings = {"preset": "paper", "num_anchors": 1, "strategy": "degree", "reachability": {"walk_length": 2}}
    run = trained(tmp_path, data, fractions=(0.5, 0.25, 0.25), **settings)
    run.anchors = [2]
    found = explain_node(run, path, 0)
    assert (found.neighbours, found.component, found.components) == (1, 4, 2)
    assert found.meets_anchor == pytest.approx(0.5)
    assert found.anchors[0].path.nodes == (0, 1, 2)
    assert "A walk of 2 jumps from it meets an anchor with probability 0.500" in found.text()
    assert explain_node(run, path, 2).is_anchor
    far = explain_node(run, path, 5)
    assert far.meets_anchor == far.reachable == 0
    assert "No anchor can be reached" in far.text()
    json.dumps(found.to_dict())


def test_text_and_json_say_the_same(tmp_path):
    data = sample(features=False)
    run = trained(tmp_path, data, preset="best")
    found = explain_pair(run, data.graph, 0, 1)
    record = json.loads(json.dumps(found.to_dict(top=2)))
    assert len(record["anchors"]) == 2
    assert record["other_anchors"]["count"] == 4
    parts = [each["contribution"] for each in (*record["anchors"], record["other_anchors"])]
    assert sum(parts) + sum(record["terms"].values()) == pytest.approx(record["score"])
    for words in ("0 - 1: a link with score", "2 anchors below", "4 other anchors", "most travelled paths"):
        assert words in found.text(2)


def test_what_cannot_be_explained_is_one_sentence(tmp_path):
    data = sample(features=False)
    with pytest.raises(gr.InputError, match="method graphreach"):
        Explainer(trained(tmp_path / "gcn", data, method="gcn"), data.graph)
    nodes = trained(tmp_path / "node", data, task="node")
    assert explain_node(nodes, data.graph, 3).reachable >= 0
    with pytest.raises(gr.InputError, match="task link or pair"):
        explain_pair(nodes, data.graph, 0, 1)
    run = trained(tmp_path / "link", data)
    with pytest.raises(gr.InputError, match="two different nodes"):
        explain_pair(run, data.graph, 1, 1)
    with pytest.raises(gr.InputError, match="pair"):
        explain_pair(run, data.graph, 0, NODES)
    with pytest.raises(gr.InputError, match="taken apart"):
        gr.nn.pair_terms(torch.nn.Linear(1, 1), torch.ones(2, 2), torch.tensor([[0], [1]]))
    assert isinstance(make_decoder("lift"), gr.nn.ReachDecoder)


def test_features_that_are_missing_are_asked_for(tmp_path):
    data = sample(features=True)
    run = trained(tmp_path, data)
    with pytest.raises(gr.InputError, match="features of 5 columns"):
        explain_pair(run, data.graph, 0, 1)

"""Reachability of pairs as features: no training link sees its own edge."""

import numpy as np
import pytest
import torch

from graphreach import datasets, tasks, training
from graphreach.graph import Graph
from graphreach.training import Settings
from graphreach.training.inputs import FOLDS, PairReach, pair_features
from helpers import matrix_powers, random_graph


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_features_are_matrix_powers_over_shares(directed, weighted):
    graph = random_graph(12, 40, directed, weighted, seed=3)
    pairs = np.random.default_rng(0).integers(0, 12, (2, 30))
    powers = matrix_powers(graph, 3)
    arriving = graph.to_scipy().toarray().sum(0)
    inverse = np.divide(arriving.sum(), arriving, out=np.zeros(12), where=arriving > 0)
    found = pair_features(graph, pairs, 3, True)
    for row, (u, v) in enumerate(pairs.T):
        np.testing.assert_allclose(found[row, 0], powers[:, u, v] * inverse[v], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(found[row, 1], powers[:, v, u] * inverse[u], rtol=1e-5, atol=1e-7)


def test_training_links_do_not_see_their_own_edge():
    split = tasks.split(datasets.load("communities").samples[0], "link")
    reach = PairReach(2).train(split)
    positive = torch.from_numpy(split.train.label == 1)
    assert (reach[positive][:, :, 0] == 0).all()
    assert (pair_features(split.graph, split.train.index, 2, True)[positive][:, :, 0] > 0).all()
    assert (reach[positive][:, :, 1] > 0).float().mean() > 0.9


def test_each_fold_is_computed_without_its_links():
    """Against the graph rebuilt by hand from the edges of the other folds."""
    split = tasks.split(datasets.load("grid").samples[0], "link", seed=4)
    reach, index, label = PairReach(3).train(split), split.train.index, split.train.label
    fold = np.random.default_rng([4, 7]).permutation(len(label)) % FOLDS
    kept = index[:, (label == 1) & (fold != 2)]
    rebuilt = Graph.from_edges(kept, num_nodes=400)
    torch.testing.assert_close(reach[fold == 2], pair_features(rebuilt, index[:, fold == 2], 3, True))


def test_pairs_of_classes_see_the_whole_graph():
    split = tasks.split(datasets.load("communities").samples[0], "pair", max_pairs=500)
    torch.testing.assert_close(PairReach(2).train(split), pair_features(split.graph, split.train.index, 2, True))


def test_test_pairs_are_computed_once_and_on_training_edges():
    split = tasks.split(datasets.load("grid").samples[0], "link", candidates=3)
    reader = PairReach(2, lift=False)
    first = reader.of(split, "test")
    assert reader.of(split, "test") is first
    torch.testing.assert_close(first, pair_features(split.graph, split.test.index, 2, False))
    assert reader.candidates(split, "test").shape == (3 * int(split.test.label.sum()), 2, 2)


@pytest.mark.parametrize("decoder", ["reach", "lift"])
def test_a_run_with_it_trains_predicts_and_ranks(decoder, tmp_path):
    data = datasets.load("communities")
    settings = Settings(epochs=4, evaluate_every=2, num_anchors=6, candidates=5, model={"decoder": decoder})
    outcome = training.run(data, settings, tmp_path)
    assert outcome.test["auc"] > 0.9
    assert "mrr" in outcome.test
    trained, graph = training.TrainedRun(tmp_path), data.samples[0].graph
    z = trained.embed(graph)
    scores = trained.score_pairs(z, np.array([[0, 0], [1, 200]]), graph)
    assert scores[0] > scores[1]

import numpy as np

from graphreach import datasets, tasks
from graphreach.experiments.authors_command import node_weights, pair_weights


def test_pair_weights_are_those_of_the_words():
    data = datasets.load("communities", seed=1)
    split = tasks.split(data.samples[0], "pair", "published", seed=1)
    graph = pair_weights(split, seen=1.0)
    known = {}
    for part, weight in (("val", 0.5), ("test", 0.5), ("train", 1.0)):
        for u, v in getattr(split, part).positives.T.tolist():
            known[u, v] = known[v, u] = weight
    expected = [known.get((u, v), 0.01) for u, v in graph.edge_index.T.tolist()]
    np.testing.assert_array_equal(graph.weights, expected)
    assert {0.01, 0.5, 1.0} == set(expected)


def test_a_share_is_seen_and_both_directions_alike():
    split = tasks.split(datasets.load("communities").samples[0], "pair", "published")
    all_seen, some = pair_weights(split, 1.0), pair_weights(split, 0.4, seed=3)
    inside = all_seen.weights > 0.01
    share = (some.weights[inside] > 0.01).mean()
    assert 0.35 < share < 0.45
    matrix = some.to_scipy()
    assert abs(matrix - matrix.T).max() == 0


def test_node_weights_hold_every_label():
    data = datasets.load("communities")
    graph = node_weights(tasks.split(data.samples[0], "node"))
    y = data.samples[0].y
    source, target = graph.edge_index
    np.testing.assert_array_equal(graph.weights, np.where(y[source] == y[target], 1.0, 0.01))

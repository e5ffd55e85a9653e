"""Features of nodes against dense powers of the transition matrix."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from graphreach.graph import Graph
from graphreach.reachability.classes import (
    Labelled,
    attribute_features,
    class_features,
    compact,
    position_features,
    side_by_side,
)
from helpers import KIND_NAMES, KINDS, matrix_powers, random_graph, transition_matrix

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)


def means(graph, length):
    """s_l = (P + .. + P^l) / l."""
    return matrix_powers(graph, length).mean(axis=0)


def shares(graph):
    """The share of all weight that arrives at each node."""
    arriving = graph.to_scipy().toarray().sum(axis=0)
    return arriving / arriving.sum()


def lift(visits, share):
    return np.log1p(np.divide(visits, share, out=np.zeros_like(visits), where=np.broadcast_to(share, visits.shape) > 0))


def labels_of(graph, classes=3, count=20, folds=4, seed=0):
    rng = np.random.default_rng(seed)
    nodes = np.sort(rng.choice(graph.num_nodes, count, replace=False))
    y = np.eye(classes, dtype=np.float32)[rng.integers(0, classes, count)]
    return Labelled(nodes, y, rng.permutation(count) % folds)


@kinds
def test_position_is_the_log_lift_of_dense_powers(directed, weighted):
    graph = random_graph(40, 60, directed, weighted)  # disconnected, with nodes of no edge and, directed, dead ends
    anchors = np.array([3, 0, 17, 39])
    share = shares(graph)
    expected = [
        np.stack([lift(means(graph, length)[:, anchors], share[anchors]) for length in (4, 10)], axis=2).reshape(40, -1)
    ]
    if directed:
        back = [lift(means(graph, length)[anchors].T, share[:, None]) for length in (4, 10)]
        expected.append(np.stack(back, axis=2).reshape(40, -1))
    np.testing.assert_allclose(position_features(graph, anchors), np.concatenate(expected, axis=1), atol=2e-6)


def literal_classes(graph, labelled, lengths, direction):
    """One node at a time, from the labels that it may see."""
    rows = []
    share = shares(graph)
    fold = dict(zip(labelled.nodes.tolist(), labelled.folds.tolist(), strict=True))
    for v in range(graph.num_nodes):
        seen = labelled.folds != fold.get(v, -1)
        nodes, y = labelled.nodes[seen], labelled.y[seen]
        row, last = [], np.full(labelled.y.shape[1], 1 / labelled.y.shape[1])
        for length in lengths[::-1]:
            s = means(graph, length)
            visits = s[v, nodes] if direction == "to" else s[nodes, v]
            total = visits.sum()
            last = visits @ y / total if total > 0 else last
            expected = share[nodes].sum() if direction == "to" else len(nodes) * share[v]
            row = [*last, np.log1p(total / expected) if expected > 0 else 0.0, *row]
        rows.append(row)
    return np.array(rows)


@kinds
def test_classes_are_visits_of_dense_powers(directed, weighted):
    graph = random_graph(40, 60, directed, weighted, seed=1)
    labelled = labels_of(graph)
    expected = [
        literal_classes(graph, labelled, (1, 2, 4, 8), side) for side in (["to", "from"] if directed else ["to"])
    ]
    np.testing.assert_allclose(class_features(graph, labelled), np.concatenate(expected, axis=1), atol=1e-5)


def test_more_columns_than_a_block_holds():
    graph = random_graph(60, 150)
    labelled = labels_of(graph, classes=9, count=40, folds=10)
    np.testing.assert_allclose(
        class_features(graph, labelled), literal_classes(graph, labelled, (1, 2, 4, 8), "to"), atol=1e-5
    )


@kinds
def test_a_node_does_not_see_its_own_label(directed, weighted):
    graph = random_graph(40, 100, directed, weighted, seed=2)
    labelled = labels_of(graph)
    before = class_features(graph, labelled)
    for row, node in enumerate(labelled.nodes):
        y = labelled.y.copy()
        y[row] = np.roll(y[row], 1)
        after = class_features(graph, Labelled(labelled.nodes, y, labelled.folds))
        np.testing.assert_array_equal(after[node], before[node])
        assert not np.array_equal(after, before)


def test_another_numbering_of_the_nodes_gives_the_same_rows_in_another_order():
    graph, order = random_graph(30, 60, weighted=True), np.random.default_rng(0).permutation(30)
    other = Graph.from_edges(order[graph.edge_index], 30, graph.weights)  # node v is now order[v]
    labelled, anchors = labels_of(graph), np.array([1, 5, 9])
    moved = Labelled(order[labelled.nodes], labelled.y, labelled.folds)
    np.testing.assert_allclose(class_features(other, moved)[order], class_features(graph, labelled), atol=1e-5)
    np.testing.assert_allclose(
        position_features(other, order[anchors])[order], position_features(graph, anchors), atol=1e-5
    )


def test_no_label_is_left_for_a_node_whose_fold_is_the_only_one():
    graph = Graph.from_edges([[0, 1], [1, 2]])
    alone = Labelled(np.array([0]), np.array([[1.0, 0.0]], np.float32), np.array([0]))
    found = class_features(graph, alone, (1,))
    np.testing.assert_allclose(found[0], [0.5, 0.5, 0.0])
    np.testing.assert_allclose(found[1], [1.0, 0.0, np.log(3)], rtol=1e-6)


def test_a_graph_without_edges_has_features():
    graph = Graph.from_edges(np.empty((2, 0), int), 4)
    assert not position_features(graph, np.array([0, 1])).any()
    found = class_features(graph, Labelled(np.array([0, 1]), np.eye(2, dtype=np.float32), np.array([0, 1])), (1, 2))
    np.testing.assert_array_equal(found[3], [0.5, 0.5, 0, 0.5, 0.5, 0])


@kinds
@pytest.mark.parametrize("sparse", [True, False])
def test_attributes_are_means_of_what_walks_meet(directed, weighted, sparse):
    graph = random_graph(30, 40, directed, weighted, seed=3)
    rng = np.random.default_rng(0)
    x = rng.random((30, 50)) * (rng.random((30, 50)) < (0.02 if sparse else 1))
    P = transition_matrix(graph)
    expected = [x, P @ x, P @ P @ x]
    if directed:
        B = transition_matrix(graph.transpose())
        expected += [B @ x, B @ B @ x]
    for given in (x, csr_array(x)):
        parts = attribute_features(graph, given)
        assert issparse(parts[0]) == sparse
        joined = side_by_side(parts)
        found = joined.toarray() if issparse(joined) else joined
        np.testing.assert_allclose(found, np.concatenate(expected, axis=1), atol=1e-12)


def test_matrices_are_stored_as_they_are_small():
    assert issparse(compact(np.eye(10)))
    assert not issparse(compact(csr_array(np.ones((3, 3)))))
    assert not issparse(side_by_side([csr_array(np.eye(2)), np.ones((2, 1))]))

"""Pictures and communities of graphs whose shape is known."""

import numpy as np
import pytest

import graphreach as gr
from graphreach.report.layout import SMALL, communities, layout, plane


def cliques(count, size):
    pairs = np.array([(i, j) for i in range(size) for j in range(i)])
    blocks = [pairs + size * number for number in range(count)]
    chain = np.array([(size * number, size * (number + 1)) for number in range(count - 1)], int).reshape(-1, 2)
    return np.concatenate([*blocks, chain]).T


@pytest.mark.parametrize("nodes", [SMALL, 4 * SMALL])
def test_linked_nodes_lie_closer_than_others(nodes):
    graph = gr.Graph.from_edges(cliques(nodes // 20, 20))
    at = layout(graph)
    assert at.shape == (graph.num_nodes, 2)
    assert np.isfinite(at).all()
    source, target = graph.edge_index
    linked = np.linalg.norm(at[source] - at[target], axis=1).mean()
    rng = np.random.default_rng(0)
    others = np.linalg.norm(at[rng.permutation(graph.num_nodes)] - at, axis=1).mean()
    assert linked < others / 3
    np.testing.assert_array_equal(at, layout(graph))


def test_nodes_without_edges_and_many_components_have_places_of_their_own():
    empty = gr.Graph.from_edges(np.empty((2, 0), int), 5)
    assert len(np.unique(layout(empty), axis=0)) == 5
    graph = gr.Graph.from_edges(cliques(10, 20), 2 * SMALL, directed=True)
    at = layout(graph)
    assert np.isfinite(at).all()
    assert len(np.unique(at.round(6), axis=0)) == graph.num_nodes


def test_plane_keeps_most_variance():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 4)) * [0.1, 9.0, 0.2, 5.0]
    flat = plane(points)
    centred = points - points.mean(0)
    values = np.linalg.svd(centred, compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(flat, axis=0), values[:2])
    assert plane(np.ones((3, 1))).shape == (3, 2)


@pytest.mark.parametrize("directed", [False, True])
def test_communities_are_the_cliques_largest_first(directed):
    pairs = np.concatenate([cliques(5, 8), [[0], [40]], cliques(1, 12) + 40], 1)
    found = communities(gr.Graph.from_edges(pairs, directed=directed))
    assert set(found[40:]) == {0}
    assert [len(set(found[8 * i : 8 * i + 8])) for i in range(5)] == [1] * 5
    assert found.max() == 5

"""Circles that stand for the communities of a large graph."""

import numpy as np

import graphreach as gr
from graphreach.report.detail import CIRCLES, detail


def rings(sizes):
    """Rings one after the other, each linked to the next by one edge; and the ring of each node."""
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    edges = [
        np.stack([np.arange(size), np.roll(np.arange(size), -1)]) + begin
        for size, begin in zip(sizes, begins, strict=True)
    ]
    bridges = np.stack([begins[:-1], begins[1:]])
    graph = gr.Graph.from_edges(np.concatenate([*edges, bridges], axis=1), sum(sizes), reduce="max")
    return graph, np.repeat(np.arange(len(sizes)), sizes)


def test_areas_are_as_sizes_and_circles_do_not_overlap():
    graph, own = rings([90, 60, 40, 30, 30])
    nodes = np.arange(0, graph.num_nodes, 2)
    places, circles = detail(graph, own, nodes)
    assert [(each["community"], each["nodes"], each["drawn"]) for each in circles] == [
        (0, 90, 45), (1, 60, 30), (2, 40, 20), (3, 30, 15), (4, 30, 15),
    ]  # fmt: skip
    radius = np.array([each["radius"] for each in circles])
    np.testing.assert_allclose((radius / radius[0]) ** 2, np.array([90, 60, 40, 30, 30]) / 90, rtol=0.01)
    middle = np.array([[each["x"], each["y"]] for each in circles], float)
    apart = np.linalg.norm(middle[:, None] - middle, axis=2) + np.eye(5) * 1e9
    assert (apart > (radius[:, None] + radius) * 0.99).all()
    away = np.linalg.norm(places - middle[own[nodes]], axis=1)
    assert (away <= radius[own[nodes]]).all()
    hub = np.flatnonzero(nodes == 0)[0]
    assert away[hub] == away[own[nodes] == 0].min()
    np.testing.assert_array_equal(places, detail(graph, own, nodes).places)


def test_linked_communities_stand_closer_than_those_far_along_a_chain():
    graph, own = rings([20] * 6)
    circles = detail(graph, own, np.arange(120)).circles
    middle = np.array([[each["x"], each["y"]] for each in circles], float)
    assert np.linalg.norm(middle[0] - middle[1]) < np.linalg.norm(middle[0] - middle[5]) / 2


def test_small_communities_share_one_circle():
    graph, own = rings([5] * CIRCLES + [3] * 9)
    circles = detail(graph, own, np.arange(graph.num_nodes)).circles
    assert len(circles) == CIRCLES + 1
    assert (circles[-1]["community"], circles[-1]["nodes"]) == (-1, 27)
    graph, own = rings([5000, 5, 3, 3])
    circles = detail(graph, own, np.arange(10)).circles
    assert [(each["community"], each["nodes"]) for each in circles] == [(0, 5000), (-1, 11)]


def test_communities_without_a_link_between_them_and_without_a_drawn_node():
    graph = gr.Graph.from_edges([[0, 1, 3], [1, 2, 4]], 6)
    places, circles = detail(graph, np.array([0, 0, 0, 1, 1, 2]), np.array([0, 3]))
    assert places.shape == (2, 2)
    assert [each["drawn"] for each in circles] == [1, 1, 0]

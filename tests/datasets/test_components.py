import networkx as nx
import numpy as np
import pytest

from graphreach.graph import Graph
from graphreach.tasks.dataset import large_components, split_graph
from helpers import random_graph


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("more_than", [0, 1, 3])
def test_components_against_networkx(seed, more_than):
    graph = random_graph(60, 35, seed=seed)
    G = nx.Graph(graph.edge_index.T.tolist())
    G.add_nodes_from(range(60))
    expected = sorted((sorted(c) for c in nx.connected_components(G) if len(c) > more_than), key=min)
    part = large_components(graph, more_than)
    assert [np.flatnonzero(part == number).tolist() for number in range(part.max() + 1)] == expected
    for (nodes, component), members in zip(split_graph(graph, part), expected, strict=True):
        assert nodes.tolist() == members
        edges = {frozenset(edge) for edge in component.ids[component.edge_index].T.tolist()}
        assert edges == {frozenset(edge) for edge in G.subgraph(members).edges}


def test_parts_of_any_kind_keep_their_ids():
    graph = Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]], ids=[40, 10, 30, 20])
    part = np.array([1, 0, 1, 0])  # of the ids 10, 20, 30, 40
    (first, low), (second, high) = split_graph(graph, part)
    assert (first.tolist(), second.tolist()) == ([1, 3], [0, 2])
    assert (low.ids.tolist(), high.ids.tolist()) == ([20, 40], [10, 30])
    assert (low.num_edges, high.num_edges) == (1, 1)


def test_part_without_edges():
    ((nodes, graph),) = split_graph(Graph.from_edges([[0], [1]], 4), np.array([-1, -1, 0, 0]))
    assert (nodes.tolist(), graph.num_nodes, graph.num_edges) == ([2, 3], 2, 0)

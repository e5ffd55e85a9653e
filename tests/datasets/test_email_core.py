import networkx as nx
import numpy as np
import pytest

from graphreach.datasets import load


@pytest.fixture(scope="module")
def literal(data_root):
    """The files by networkx, and the departments."""
    G = nx.Graph()
    for line in (data_root / "email" / "email.txt").read_text().splitlines():
        G.add_edge(*map(int, line.split()))
    lines = (data_root / "email" / "email_labels.txt").read_text().splitlines()
    return G, dict(tuple(map(int, line.split())) for line in lines)


def components(G):
    return [G.subgraph(nodes) for nodes in nx.connected_components(G) if len(nodes) > 10]


def check(dataset, graphs, department):
    expected = {frozenset(graph): {frozenset(edge) for edge in graph.edges if edge[0] != edge[1]} for graph in graphs}
    found = {}
    for sample in dataset:
        ids = sample.graph.ids
        found[frozenset(ids.tolist())] = {frozenset(edge) for edge in ids[sample.graph.edge_index].T.tolist()}
        assert dataset.classes[sample.y].tolist() == [department[node] for node in ids.tolist()]
        assert sample.y.dtype == np.int64
        assert sample.x is None
    assert found == expected


def test_email_complete(data_root, literal):
    dataset = load("email-complete", data_root)
    assert (len(dataset), dataset.num_nodes, dataset.num_edges, dataset.num_classes) == (1, 986, 16_064, 42)
    check(dataset, components(literal[0]), literal[1])


def test_email(data_root, literal):
    dataset = load("email", data_root)
    assert (len(dataset), dataset.num_nodes, dataset.num_edges, dataset.num_classes) == (7, 920, 7_201, 41)
    G, department = literal
    within = [(u, v) for u, v in G.edges if department[u] // 6 == department[v] // 6]
    check(dataset, components(nx.Graph(within)), department)
    groups = [set((dataset.classes[sample.y] // 6).tolist()) for sample in dataset]
    assert all(len(group) == 1 for group in groups)
    assert set.union(*groups) == set(range(7))

import io
import zipfile

import networkx as nx
import numpy as np
import pytest

from graphreach.datasets import load


@pytest.fixture(scope="module")
def dataset(data_root):
    return load("protein", data_root)


@pytest.fixture(scope="module")
def literal(data_root):
    """Graphs that the recipe keeps, by networkx, with labels and attributes by line number."""
    archive = zipfile.ZipFile(data_root / "protein" / "PROTEINS_full.zip")
    text = {name.split("_full_")[-1]: archive.read(name).decode() for name in archive.namelist()}
    G = nx.Graph()
    for line in text["A.txt"].splitlines():
        G.add_edge(*map(int, line.split(",")))
    labels = dict(enumerate(map(int, text["node_labels.txt"].split()), 1))
    members = {}
    for node, graph in enumerate(map(int, text["graph_indicator.txt"].split()), 1):
        if node in G:
            members.setdefault(graph, []).append(node)
    kept, pairs_kept = [], 0
    for graph in sorted(members):
        nodes = members[graph]
        if not 20 <= len(nodes) <= 1000:
            continue
        pairs = sum(labels[u] == labels[v] for i, u in enumerate(nodes) for v in nodes[:i])
        if pairs <= len(nodes) ** 2 / 4:
            kept.append(G.subgraph(nodes))
            pairs_kept += pairs
    return kept, labels, pairs_kept, text["node_attributes.txt"]


def test_counts(dataset, literal):
    assert (len(dataset), dataset.num_nodes, dataset.num_edges) == (364, 17_997, 34_316)
    assert (dataset.num_features, dataset.num_classes) == (29, 3)
    assert literal[2] == 424_673
    pairs = 0
    for sample in dataset:
        same = sample.y[:, None] == sample.y
        pairs += int(np.triu(same, 1).sum())
    assert pairs == 424_673


def test_graphs_against_networkx(dataset, literal):
    kept, labels, _, _ = literal
    for sample, expected in zip(dataset, kept, strict=True):
        ids = sample.graph.ids
        assert ids.tolist() == sorted(expected)
        edges = {frozenset(edge) for edge in ids[sample.graph.edge_index].T.tolist()}
        assert edges == {frozenset(edge) for edge in expected.edges}
        assert sample.y.tolist() == [labels[node] for node in ids.tolist()]


def test_attributes_are_standardised_by_row(dataset, literal):
    lines = literal[3].splitlines()
    for sample in (dataset[0], dataset[100], dataset[363]):
        ids = sample.graph.ids.tolist()
        rows = np.loadtxt(io.StringIO("\n".join(lines[node - 1] for node in ids)), delimiter=",")
        expected = [(row - row.mean()) / row.std() for row in rows]
        np.testing.assert_allclose(sample.x, expected, rtol=1e-5, atol=1e-6)
        assert sample.x.dtype == np.float32
    assert all(np.isfinite(sample.x).all() for sample in dataset)

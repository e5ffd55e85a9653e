"""Adjacency matrices and what layers make of them."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

import graphreach as gr
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.nn.neighbourhood import as_adjacency
from helpers import KIND_NAMES, KINDS, random_graph

LIKE = torch.zeros(1, dtype=torch.float64)


def with_kinds(function):
    return pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)(function)


def incoming(graph):
    """A[v, u] is the weight of the edge from u to v."""
    A = np.zeros((graph.num_nodes, graph.num_nodes))
    weights = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    for u, v, w in zip(*graph.edge_index, weights, strict=True):
        A[v, u] = w
    return A


def literal_operator(name, A):
    n = len(A)
    with_loops = A + np.diag([0.0 if A[v, v] else 1.0 for v in range(n)])
    out = np.zeros((n, n))
    for v in range(n):
        for u in range(n):
            if name == "gcn":
                out[v, u] = with_loops[v, u] / np.sqrt(with_loops[v].sum() * with_loops[u].sum())
            elif name == "sage":
                out[v, u] = A[v, u] / A[v].sum() if A[v].any() else 0.0
            elif name == "gin":
                out[v, u] = A[v, u]
            else:
                out[v, u] = float(v == u or A[v, u] > 0)
    return out


def dense(adj_t, kind, num_nodes):
    if kind != "gat":
        return adj_t.to_dense().numpy()
    out = np.zeros((num_nodes, num_nodes))
    out[adj_t[1], adj_t[0]] = 1
    return out


@with_kinds
@pytest.mark.parametrize("name", ["gcn", "sage", "gin", "gat"])
@pytest.mark.parametrize("loops", [False, True])
def test_what_layers_multiply_by(directed, weighted, name, loops):
    graph = random_graph(15, 40, directed, weighted)
    if loops:
        edges, weights = graph.edge_index, graph.weights
        edges = np.concatenate([edges, [[2, 7], [2, 7]]], 1)
        weights = None if weights is None else np.append(weights, [0.5, 2.0])
        graph = Graph.from_edges(edges, 15, weights, directed, self_loops=True)
    found = gr.nn.Adjacency.from_graph(graph).adj_t(name, LIKE)
    np.testing.assert_allclose(dense(found, name, 15), literal_operator(name, incoming(graph)), atol=1e-12)


def test_matrices_are_made_once_for_each_precision():
    adjacency = gr.nn.Adjacency.from_graph(random_graph(6, 9))
    assert adjacency.adj_t("gcn", LIKE) is adjacency.adj_t("gcn", LIKE)
    assert adjacency.adj_t("gcn", LIKE.float()).dtype == torch.float32
    assert adjacency.to("cpu") is adjacency


def test_an_edge_listed_twice_counts_twice():
    adjacency = gr.nn.Adjacency.from_edge_index(torch.tensor([[0, 0, 1], [1, 1, 2]]), 3)
    assert adjacency.adj_t("gin", LIKE).to_dense().tolist() == [[0, 0, 0], [2, 0, 0], [0, 1, 0]]


def test_edges_as_pyg_has_them():
    graph = Graph.from_edges([[0, 1, 0], [1, 2, 2]], edge_weight=[1.0, 2.0, 3.0], directed=True)
    adjacency = gr.nn.Adjacency.from_graph(graph)
    assert adjacency.edge_index.tolist() == [[0, 0, 1], [1, 2, 2]]
    assert adjacency.edge_weight.tolist() == [1.0, 3.0, 2.0]
    assert gr.nn.Adjacency.from_graph(random_graph(4, 4)).edge_weight is None
    assert (
        gr.Graph.from_edges(adjacency.edge_index.numpy(), directed=True).content_hash
        == Graph.from_edges([[0, 1, 0], [1, 2, 2]], directed=True).content_hash
    )


def test_batch_puts_graphs_side_by_side():
    graphs = [random_graph(5, 7), random_graph(3, 4, directed=True, weighted=True), random_graph(1, 0)]
    parts = [gr.nn.Adjacency.from_graph(graph) for graph in graphs]
    batch = gr.nn.Adjacency.batch(parts)
    expected = np.zeros((9, 9))
    for begin, graph in zip([0, 5, 8], graphs, strict=True):
        end = begin + graph.num_nodes
        expected[begin:end, begin:end] = incoming(graph)
    np.testing.assert_array_equal(batch.matrix.toarray(), expected)
    assert (batch.symmetric, batch.weighted) == (False, True)
    assert gr.nn.Adjacency.batch(parts[:1] * 2).symmetric


def test_wrong_input():
    with pytest.raises(InputError, match=r"matrix must be square, got shape \[2, 3\]"):
        gr.nn.Adjacency(csr_array(np.ones((2, 3))))
    with pytest.raises(InputError, match="parts must hold at least one Adjacency, got none"):
        gr.nn.Adjacency.batch([])
    with pytest.raises(InputError, match="structure must be an Adjacency or a Graph, got NoneType"):
        as_adjacency(None)


def test_repr():
    assert repr(gr.nn.Adjacency.from_graph(Graph.from_edges([[0], [1]]))) == "Adjacency(num_nodes=2, num_entries=2)"

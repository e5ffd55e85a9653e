"""Columns of attributes against dense matrices, and attributes that are refused."""

import numpy as np
import pytest
import scipy.sparse

import graphreach as gr
from graphreach.errors import InputError
from graphreach.pairs import AttributeScaling, PairAttributes, check_attributes
from graphreach.pairs.direct import without_edges
from helpers import random_graph


def words(num_nodes, width, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((num_nodes, width)) < share).astype(np.float32)


def dense_cosines(graph, x, pairs):
    """The three cosines by n x n matrices."""
    A = graph.to_scipy().toarray()
    degree = A.sum(1, keepdims=True)
    P = np.divide(A, degree, out=np.zeros_like(A), where=degree > 0)
    out = []
    for smooth in (np.eye(len(A)), np.eye(len(A)) + P, np.eye(len(A)) + P + P @ P):
        z = smooth @ x
        norms = np.linalg.norm(z, axis=1)
        u, v = pairs
        out.append((z[u] * z[v]).sum(1) / (norms[u] * norms[v] + 1e-9))
    return np.stack(out, axis=1)


def some_pairs(graph, count=60, seed=0):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, graph.num_nodes, (2, count))
    linked = graph.edge_index[:, : count // 2]
    both = np.concatenate([pairs, linked], axis=1)
    return both[:, both[0] != both[1]]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [0.02, 0.9])
def test_cosines_are_those_of_dense_matrices(directed, weighted, share):
    graph = random_graph(30, 60, seed=1, directed=directed, weighted=weighted)
    x, pairs = words(30, 40, share), some_pairs(graph)
    found = PairAttributes(graph, scipy.sparse.csr_array(x)).describe(pairs, exclude_own_edge=False)
    np.testing.assert_allclose(found, dense_cosines(graph, x, pairs), atol=1e-5)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [0.02, 0.9])
def test_a_pair_is_described_as_if_its_edge_were_deleted(directed, weighted, share):
    graph = random_graph(30, 60, seed=2, directed=directed, weighted=weighted)
    x, pairs = words(30, 40, share), some_pairs(graph)
    found = PairAttributes(graph, scipy.sparse.csr_array(x)).describe(pairs)
    for row, pair in zip(found, pairs.T, strict=True):
        one = pair[:, None]
        np.testing.assert_allclose(row, dense_cosines(without_edges(graph, one), x, one)[0], atol=1e-5)


def test_loops_and_leaves_keep_to_the_definition():
    graph = gr.Graph.from_edges([[0, 0, 1, 1, 2], [0, 1, 2, 3, 2]])
    x, pairs = words(4, 6, 0.6, seed=3), np.array([[0, 1, 1, 0], [1, 2, 3, 3]])
    found = PairAttributes(graph, scipy.sparse.csr_array(x)).describe(pairs)
    for row, pair in zip(found, pairs.T, strict=True):
        one = pair[:, None]
        np.testing.assert_allclose(row, dense_cosines(without_edges(graph, one), x, one)[0], atol=1e-5)


def test_a_pair_and_its_reverse_agree_in_every_bit():
    graph = random_graph(30, 60, seed=1)
    described = PairAttributes(graph, scipy.sparse.csr_array(words(30, 40)))
    pairs = some_pairs(graph)
    assert (described.describe(pairs) == described.describe(pairs[::-1])).all()


def test_words_are_divided_by_their_row_and_measures_standardised():
    x = check_attributes(np.array([[1.0, 3.0, 0, 0], [0, 0, 0, 2.0], [0, 0, 0, 0]]), 3)
    np.testing.assert_allclose(AttributeScaling.of(x).apply(x).toarray()[0], [0.25, 0.75, 0, 0])
    measures = np.random.default_rng(0).normal(5, 3, (50, 4)).astype(np.float32)
    measures[:, 2] = 7.0
    own = check_attributes(measures, 50)
    scaled = AttributeScaling.of(own).apply(own).toarray()
    np.testing.assert_allclose(scaled.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(scaled.std(0), [1, 1, 0, 1], atol=1e-5)


def test_sparse_and_dense_attributes_are_the_same():
    x = words(10, 5)
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.coo_array, np.asarray, list):
        assert (check_attributes(kind(x), 10).toarray() == x).all()


@pytest.mark.parametrize(
    ("x", "width", "message"),
    [
        (np.ones((3, 4)), None, r"x must be an array or a sparse matrix \[5, attributes\] .*, got shape \[3, 4\]"),
        (np.ones((5, 4)), 3, r"x must be an array or a sparse matrix \[5, 3\] .*, got shape \[5, 4\]"),
        (np.ones((5, 0)), None, r"got shape \[5, 0\]"),
        (np.ones(5), None, r"got shape \[5\]"),
        (np.full((5, 2), np.nan), None, "x must be finite, got 10 that are not"),
        (scipy.sparse.csr_array(np.full((5, 2), np.inf)), None, "x must be finite, got 10 that are not"),
        (np.full((5, 2), 1e300), None, "x must hold numbers that fit 32 bits"),
        ("words", None, "x must be an array or a sparse matrix"),
    ],
)
def test_other_attributes_are_refused_in_one_sentence(x, width, message):
    with pytest.raises(InputError, match=message) as error:
        check_attributes(x, 5, width)
    assert "\n" not in str(error.value)

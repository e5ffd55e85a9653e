"""Random-walk and Laplacian encodings against dense linear algebra."""

import networkx as nx
import numba
import numpy as np
import pytest

import graphreach as gr
from graphreach.errors import InputError
from graphreach.nn import encodings
from helpers import KIND_NAMES, KINDS, cycle, grid, matrix_powers, path, random_graph


def literal_returns(graph, dim):
    return np.stack([np.diag(power) for power in matrix_powers(graph, dim)], axis=1)


@pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
@pytest.mark.parametrize("dim", [1, 2, 5, 8])
def test_exact_returns_are_diagonals_of_powers(directed, weighted, dim):
    graph = random_graph(150, 300, directed, weighted)
    found = gr.nn.random_walk_encodings(graph, dim)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, literal_returns(graph, dim), atol=1e-6)


@pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
@pytest.mark.parametrize("num_walks", [300, 2000])
def test_walks_estimate_the_same(directed, weighted, num_walks):
    """Five standard errors, and the walks are those of random_walks."""
    graph = random_graph(20, 30, directed, weighted)
    found = gr.nn.random_walk_encodings(graph, 6, seed=3, method="walks", num_walks=num_walks)
    assert np.abs(found - literal_returns(graph, 6)).max() < 2.5 / np.sqrt(num_walks)
    walks = gr.random_walks(graph, num_walks=num_walks, walk_length=6, seed=3)
    counted = (walks[:, :, 1:] == np.arange(20)[:, None, None]).mean(1)
    np.testing.assert_allclose(found, counted, atol=1e-7)


def test_auto_is_exact_while_it_is_cheap(monkeypatch):
    graph = random_graph(20, 30)
    exact, walks = (gr.nn.random_walk_encodings(graph, 4, method=method) for method in ("exact", "walks"))
    assert (exact != walks).any()
    np.testing.assert_array_equal(gr.nn.random_walk_encodings(graph, 4), exact)
    monkeypatch.setattr(encodings, "EXACT_COST", 10)
    np.testing.assert_array_equal(gr.nn.random_walk_encodings(graph, 4), walks)


def laplacian(graph):
    A = graph.to_scipy().toarray()
    A = (A + A.T) / 2
    degree = A.sum(1)
    scale = np.where(degree > 0, degree, 1) ** -0.5
    return np.diag((degree > 0).astype(float)) - scale[:, None] * A * scale


def components(graph):
    return nx.number_connected_components(nx.Graph(graph.to_scipy().toarray()))


@pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("num_edges", [60, 200])
def test_laplacian_eigenvectors(monkeypatch, directed, weighted, dense, num_edges):
    if not dense:
        monkeypatch.setattr(encodings, "DENSE_NODES", 10)
    graph = random_graph(70, num_edges, directed, weighted)
    found = gr.nn.laplacian_encodings(graph, 8).astype(float)
    L, trivial = laplacian(graph), components(graph)
    values = np.linalg.eigvalsh(L)
    assert (trivial > 1) == (num_edges == 60)
    assert np.abs(values[:trivial]).max() < 1e-9 < values[trivial]
    unit = found / np.sqrt(70)
    np.testing.assert_allclose(unit.T @ unit, np.eye(8), atol=1e-5)
    np.testing.assert_allclose(L @ unit, unit * values[trivial : trivial + 8], atol=1e-5)


def test_eigenvectors_of_a_path_are_cosines():
    """Of the normalised Laplacian of a path: sqrt(degree) cos(pi j i / (n - 1))."""
    n = 9
    found = gr.nn.laplacian_encodings(path(n), 3)
    for j in range(1, 4):
        wave = np.sqrt([1, *[2] * (n - 2), 1]) * np.cos(np.pi * j * np.arange(n) / (n - 1))
        np.testing.assert_allclose(found[:, j - 1], wave / np.linalg.norm(wave) * np.sqrt(n), atol=1e-5)


def test_signs_are_fixed_or_flipped():
    graph = random_graph(50, 200)
    plain = gr.nn.laplacian_encodings(graph, 8, seed=0)
    np.testing.assert_allclose(gr.nn.laplacian_encodings(graph, 8, seed=5), plain, atol=1e-4)
    flipped = [gr.nn.laplacian_encodings(graph, 8, seed=seed, flip_signs=True) for seed in range(6)]
    signs = np.array([np.sign((each * plain).sum(0)) for each in flipped])
    for each, sign in zip(flipped, signs, strict=True):
        np.testing.assert_allclose(each, plain * sign, atol=1e-4)
    assert (signs == 1).any(0).all()
    assert (signs == -1).any()


def test_few_nontrivial_eigenvectors_leave_zero_columns():
    two = gr.Graph.from_edges([[0, 1, 3], [1, 2, 4]], num_nodes=6)
    found = gr.nn.laplacian_encodings(two, 5)
    assert found.shape == (6, 5)
    assert (np.abs(found).sum(0) > 0).tolist() == [True, True, True, False, False]
    assert (found[5] == 0).all()
    assert (gr.nn.laplacian_encodings(gr.Graph.from_edges(np.empty((2, 0), int), 3), 2) == 0).all()


def test_same_seed_same_encoding(monkeypatch):
    monkeypatch.setattr(encodings, "DENSE_NODES", 10)
    before = numba.get_num_threads()
    for function, graph in [
        (gr.nn.laplacian_encodings, grid(9)),
        (gr.nn.random_walk_encodings, cycle(30)),
        (lambda g, d, seed: gr.nn.random_walk_encodings(g, d, seed, method="walks"), grid(9)),
    ]:
        first = function(graph, 6, seed=1)
        try:
            numba.set_num_threads(1)
            np.testing.assert_array_equal(function(graph, 6, seed=1), first)
        finally:
            numba.set_num_threads(before)


def test_wrong_input(monkeypatch):
    graph = cycle(5)
    for function, options, message in [
        (gr.nn.random_walk_encodings, {"dim": 0}, "dim must be a positive integer, got 0"),
        (gr.nn.random_walk_encodings, {"method": "fast"}, "method must be one of auto, exact, walks, got 'fast'"),
        (
            gr.nn.random_walk_encodings,
            {"method": "walks", "num_walks": 0},
            "num_walks must be a positive integer, got 0",
        ),
        (gr.nn.laplacian_encodings, {"dim": 2.0}, "dim must be a positive integer, got 2.0"),
        (gr.nn.laplacian_encodings, {"seed": "x"}, "seed must be an integer from 0"),
    ]:
        with pytest.raises(InputError, match=message):
            function(graph, **options)
    monkeypatch.setattr(encodings, "DENSE_NODES", 10)

    def give_up(*arguments, **options):
        raise encodings.ArpackNoConvergence("no", [], [])

    monkeypatch.setattr(encodings, "eigsh", give_up)
    with pytest.raises(InputError, match="dim must be smaller for this graph: 2 eigenvectors did not converge"):
        gr.nn.laplacian_encodings(cycle(30), 2)

"""Scores of pairs against dense matrices and networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.reachability import pair_reachability
from graphreach.reachability.pairs import group_pairs
from graphreach.tasks import HEURISTICS, score
from helpers import KIND_NAMES, KINDS, matrix_powers, path, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
N = 40
# repeats, both directions and self pairs are among them
PAIRS = np.concatenate([np.random.default_rng(0).integers(0, N, (2, 300)), [[3, 1, 2, 5], [3, 2, 1, 5]]], axis=1)
U, V = PAIRS


def dense(graph):
    return graph.to_scipy().toarray()


@kinds
@pytest.mark.parametrize("num_edges", [30, 150, 900])
def test_common_neighbours(directed, weighted, num_edges):
    graph = random_graph(N, num_edges, directed, weighted)
    A = dense(graph)
    assert np.allclose(score("common-neighbours", graph, PAIRS), (A @ A)[U, V])


@kinds
@pytest.mark.parametrize("num_edges", [30, 150, 900])
def test_adamic_adar(directed, weighted, num_edges):
    graph = random_graph(N, num_edges, directed, weighted)
    A = dense(graph)
    neighbours = ((A + A.T) > 0).sum(axis=1)
    middle = np.diag(1 / np.log(np.maximum(neighbours, 2)))
    assert np.allclose(score("adamic-adar", graph, PAIRS), (A @ middle @ A)[U, V])


def test_a_hub_is_looked_up():
    """Rows of very different length are not merged but searched, either way round."""
    rng = np.random.default_rng(0)
    hub = np.stack([np.zeros(300, int), np.arange(1, 301)])
    rest = rng.integers(1, 400, (2, 500))
    graph = Graph.from_edges(np.concatenate([hub, rest], axis=1), 400)
    A, others = dense(graph), np.arange(1, 400)
    pairs = np.concatenate([[others * 0, others], [others, others * 0]], axis=1)
    assert np.allclose(score("common-neighbours", graph, pairs), (A @ A)[pairs[0], pairs[1]])


def test_unweighted_neighbours_as_networkx_counts_them():
    graph = random_graph(N, 150)
    G = nx.Graph(graph.edge_index.T.tolist())
    G.add_nodes_from(range(N))
    pairs = PAIRS[:, U != V]
    counted = [len(list(nx.common_neighbors(G, u, v))) for u, v in pairs.T.tolist()]
    assert score("common-neighbours", graph, pairs).tolist() == counted
    expected = [value for _, _, value in nx.adamic_adar_index(G, pairs.T.tolist())]
    assert np.allclose(score("adamic-adar", graph, pairs), expected)


@kinds
@pytest.mark.parametrize(("beta", "length"), [(0.05, 4), (0.5, 1), (0.3, 2), (0.1, 6)])
def test_katz(directed, weighted, beta, length):
    graph = random_graph(N, 150, directed, weighted)
    A = dense(graph)
    expected = sum(beta**t * np.linalg.matrix_power(A, t) for t in range(1, length + 1))
    assert np.allclose(score("katz", graph, PAIRS, beta=beta, length=length), expected[U, V])


@kinds
@pytest.mark.parametrize("damping", [0.5, 0.85])
def test_pagerank_as_networkx_computes_it(directed, weighted, damping):
    """With dead ends and isolated nodes; weights count."""
    graph = random_graph(N, 70, directed, weighted)
    G = nx.from_scipy_sparse_array(graph.to_scipy(), create_using=nx.DiGraph)
    rows = np.zeros((N, N))
    for u in range(N):
        rank = nx.pagerank(G, damping, personalization={u: 1}, tol=1e-12, max_iter=1000)
        rows[u] = [rank[v] for v in range(N)]
    options = {"damping": damping, "epsilon": 1e-10}
    assert np.allclose(score("pagerank", graph, PAIRS, both=False, **options), rows[U, V], atol=1e-6)
    assert np.allclose(score("pagerank", graph, PAIRS, **options), rows[U, V] + rows[V, U], atol=1e-6)


@pytest.mark.parametrize("epsilon", [1e-2, 1e-4])
def test_pagerank_is_as_precise_as_it_says(epsilon):
    graph = random_graph(N, 150)
    exact = score("pagerank", graph, PAIRS, epsilon=1e-12, both=False)
    error = exact - score("pagerank", graph, PAIRS, epsilon=epsilon, both=False)
    assert error.min() > -1e-9
    assert (error <= epsilon * graph.degree[V] + 1e-9).all()
    assert error.max() > 0


@kinds
def test_direct_reachability(directed, weighted):
    graph = random_graph(N, 150, directed, weighted)
    mean = matrix_powers(graph, 5).mean(axis=0)
    assert np.allclose(score("reachability", graph, PAIRS), mean[U, V] + mean[V, U], atol=1e-6)
    mean = matrix_powers(graph, 3).mean(axis=0)
    assert np.allclose(score("reachability", graph, PAIRS, walk_length=3, both=False), mean[U, V], atol=1e-6)
    sampled = pair_reachability(graph, PAIRS, "walks", num_walks=9, seed=4).astype(float).sum(axis=1)
    assert np.array_equal(score("reachability", graph, PAIRS, method="walks", num_walks=9, seed=4), sampled)


@pytest.mark.parametrize("name", HEURISTICS)
@settings(deadline=None, max_examples=25)
@given(pairs=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20), num_edges=st.integers(0, 30))
def test_each_pair_has_its_own_score(name, pairs, num_edges):
    """A score does not depend on the other pairs of the list; undirected, not on the order of the two nodes."""
    graph = random_graph(10, num_edges, seed=num_edges)
    listed = np.array(pairs, np.int64).reshape(-1, 2).T
    got = score(name, graph, listed)
    assert got.shape == (len(pairs),)
    assert got.dtype == np.float64
    assert np.isfinite(got).all()
    for i in range(len(pairs)):
        assert score(name, graph, listed[:, i : i + 1])[0] == pytest.approx(got[i])
    assert np.allclose(score(name, graph, listed[::-1]), got)


def test_groups_of_pairs():
    groups = group_pairs(PAIRS, N)
    source = np.repeat(groups.sources, np.diff(groups.pointer)).astype(int)
    assert np.array_equal(source[groups.inverse], U)
    assert np.array_equal(groups.targets[groups.inverse], V)
    assert len(set(zip(source.tolist(), groups.targets.tolist(), strict=True))) == len(source)


def test_many_pairs_of_a_large_graph():
    """As many pairs and nodes as need sparse rows: a square array of them would not fit into memory."""
    graph = random_graph(100_000, 200_000)
    pairs = np.random.default_rng(0).integers(0, 100_000, (2, 1_000_000))
    pairs[:, :1000] = graph.edge_index[:, :1000]
    for name in ("common-neighbours", "adamic-adar"):
        got = score(name, graph, pairs)
        A = graph.to_scipy()
        some = slice(0, 2000)
        product = (A[pairs[0, some]].multiply(A[pairs[1, some]])).sum(axis=1)
        if name == "common-neighbours":
            assert np.array_equal(got[some], product)
        assert np.array_equal(got[some] > 0, product > 0)
    linked = score("reachability", graph, pairs[:, :2000], walk_length=3)
    assert linked[:1000].min() > linked[1000:].max()


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("jaccard", {}, "name must be one of common-neighbours, adamic-adar, katz, pagerank, reachability"),
        ("adamic-ada", {}, "did you mean 'adamic-adar'"),
        ("katz", {"beta": 0}, "beta must be a positive number"),
        ("katz", {"length": 0}, "length must be a positive integer"),
        ("katz", {"damping": 0.5}, "options of katz must be its own, got damping"),
        ("pagerank", {"damping": 1.0}, "damping must be between 0 and 1"),
        ("pagerank", {"epsilon": 0.0}, "epsilon must be a positive number"),
        ("reachability", {"walk_length": 0}, "walk_length must be a positive integer"),
        ("reachability", {"speed": 2}, "options of reachability must be its own, got speed"),
    ],
)
def test_wrong_options(name, options, sentence):
    with pytest.raises(InputError, match=sentence):
        score(name, path(4), [[0], [1]], **options)


def test_wrong_pairs():
    with pytest.raises(InputError, match=r"shape \[2, m\], got shape \[3, 2\] of int64; transpose it"):
        score("katz", path(4), np.zeros((3, 2), np.int64))
    with pytest.raises(InputError, match="pairs must hold positions between 0 and 3, got 4"):
        score("katz", path(4), [[0], [4]])

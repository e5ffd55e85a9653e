"""Hard negatives, measured by networkx."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.tasks import check_leaks, score, split
from graphreach.tasks.candidates import closed_graph
from graphreach.tasks.distance_kernels import nodes_at_distance
from graphreach.tasks.hard_negatives import pair_distances
from helpers import KIND_NAMES, KINDS, grid, random_graph

kinds = pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
both = pytest.mark.parametrize("negatives", ["same-distance", "common-neighbour"])


def sample(graph):
    return SimpleNamespace(graph=graph, x=None, y=None)


def to_networkx(graph):
    G = nx.DiGraph() if graph.directed else nx.Graph()
    G.add_nodes_from(range(graph.num_nodes))
    G.add_edges_from(graph.edge_index.T.tolist())
    return G


def distances(graph):
    """Hops between all pairs, -1 without a path."""
    out = np.full((graph.num_nodes, graph.num_nodes), -1)
    for u, row in nx.all_pairs_shortest_path_length(to_networkx(graph)):
        for v, hops in row.items():
            out[u, v] = hops
    return out


@settings(deadline=None, max_examples=50)
@given(num_nodes=st.integers(1, 25), num_edges=st.integers(0, 60), directed=st.booleans())
def test_distances_of_all_pairs(num_nodes, num_edges, directed):
    graph = random_graph(num_nodes, num_edges, directed, seed=num_edges)
    pairs = np.indices((num_nodes, num_nodes)).reshape(2, -1)
    assert np.array_equal(pair_distances(graph, pairs), distances(graph)[pairs[0], pairs[1]])


@kinds
@both
@pytest.mark.parametrize("protocol", ["published", "clean"])
def test_hard_negatives_are_unlinked_balanced_and_repeat(directed, weighted, negatives, protocol):
    graph = random_graph(120, 500, directed, weighted)
    linked = {frozenset(pair) for pair in graph.edge_index.T.tolist()}
    parts = split(sample(graph), "link", protocol, negatives=negatives, seed=2)
    again = split(sample(graph), "link", protocol, negatives=negatives, seed=2)
    for part, same in ((parts.val, again.val), (parts.test, again.test)):
        drawn = [frozenset(pair) for pair in part.negatives.T.tolist()]
        assert not linked & set(drawn)
        assert len(set(drawn)) == len(drawn) == part.positives.shape[1]
        assert np.array_equal(part.index, same.index)
    assert parts.negatives == negatives
    check_leaks(parts)


@kinds
def test_same_distance_leaves_nothing_to_distance(directed, weighted):
    """As many negatives as positives at every distance, unreachable ones included."""
    graph = random_graph(150, 260, directed, weighted, seed=4)
    parts = split(sample(graph), "link", negatives="same-distance", fractions=(0.6, 0.2, 0.2))
    hops = distances(parts.graph)
    for part in (parts.val, parts.test):
        positive, negative = (np.sort(hops[pairs[0], pairs[1]]) for pairs in (part.positives, part.negatives))
        assert (positive == -1).any()
        assert np.array_equal(positive, negative)


def test_a_positive_without_a_peer_has_no_negative():
    """On a cycle without one edge only the ends are so far apart: the test edge has no equal."""
    nodes = np.arange(12)
    cycle = Graph.from_edges([nodes, (nodes + 1) % 12])
    fractions = (11 / 12, 0, 1 / 12)
    with pytest.raises(
        InputError, match=r"negatives='same-distance' found no unlinked pair for test in .*use 'uniform'"
    ):
        split(sample(cycle), "link", negatives="same-distance", fractions=fractions)


def test_a_grid_matches_by_parity():
    """Without its edge a grid's pair is an odd number of hops apart, and so are its negatives."""
    parts = split(sample(grid(12)), "link", negatives="same-distance")
    hops = pair_distances(parts.graph, parts.test.index)
    assert set(hops.tolist()) <= {-1, *range(3, 30, 2)}


@kinds
def test_common_neighbours_are_shared_in_the_visible_graph(directed, weighted):
    graph = random_graph(120, 400, directed, weighted, seed=1)
    parts = split(sample(graph), "link", negatives="common-neighbour")
    G = to_networkx(parts.graph)
    for u, v in parts.test.negatives.T.tolist():
        assert any(G.has_edge(w, v) for w in G[u])
    assert (score("common-neighbours", parts.graph, parts.test.negatives) > 0).all()


def test_every_pair_that_shares_a_neighbour_is_drawn():
    star = Graph.from_edges([[0, 0, 0, 0, 0, 0], [1, 2, 3, 4, 5, 6]])
    seen = set()
    for seed in range(40):
        parts = split(sample(star), "link", negatives="common-neighbour", seed=seed)
        seen |= {frozenset(pair) for pair in parts.test.negatives.T.tolist()}
    assert seen == {frozenset((u, v)) for u in range(1, 7) for v in range(1, 7) if u != v}


def test_no_pair_shares_a_neighbour():
    matching = Graph.from_edges([[0, 2, 4, 6], [1, 3, 5, 7]])
    with pytest.raises(InputError, match="negatives='common-neighbour' found no unlinked pair for test"):
        split(sample(matching), "link", negatives="common-neighbour")


@pytest.mark.parametrize("budget", [0, 1 << 14], ids=["measured", "listed"])
@pytest.mark.parametrize("wanted", [-1, 2, 3])
def test_nodes_at_a_distance_are_all_as_likely(budget, wanted):
    """Listing a level and measuring random nodes draw from the same nodes, evenly."""
    graph = random_graph(30, 32, seed=3)
    linked = closed_graph(Graph.from_edges([[0], [7]], num_nodes=30))
    hops = distances(graph)
    source = int(np.argmax((hops == 3).sum(axis=1) * (hops == -1).sum(axis=1)))
    allowed = np.flatnonzero((hops[source] == wanted) & (linked.to_scipy().toarray()[source] == 0))
    assert len(allowed) > 1
    count = 3000
    got = np.empty(count, np.int64)
    nodes_at_distance(
        graph.indptr, graph.indices, graph.indptr, graph.indices, linked.indptr, linked.indices,
        np.full(count, source), np.full(count, wanted), np.arange(count), 9, budget, got,
    )  # fmt: skip
    counts = np.bincount(got, minlength=30)
    assert np.flatnonzero(counts).tolist() == allowed.tolist()
    expected = count / len(allowed)
    assert np.abs(counts[allowed] - expected).max() < 5 * np.sqrt(expected)

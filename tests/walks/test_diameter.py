"""The diameter in hops against networkx, exactly and between bounds."""

import networkx as nx
import numpy as np
import pytest

from graphreach.graph import Graph
from graphreach.walks import Diameter, diameter
from graphreach.walks.diameter import _by_all_searches, _components, _undirected_bounds
from helpers import cycle, grid, path, random_graph


def longest_shortest_path(graph):
    kind = nx.DiGraph if graph.directed else nx.Graph
    G = kind(list(zip(*graph.edge_index.tolist(), strict=True)))
    return max((max(lengths.values()) for _, lengths in nx.all_pairs_shortest_path_length(G)), default=0)


def by_ifub(graph, budget=10**12):
    return _undirected_bounds(graph, budget)


def lollipop(clique, tail):
    return Graph.from_networkx(nx.lollipop_graph(clique, tail))


SHAPES = {
    "path": path(77),
    "even cycle": cycle(40),
    "odd cycle": cycle(41),
    "grid": grid(12),
    "tree": Graph.from_networkx(nx.random_labeled_tree(200, seed=1)),
    "binary tree": Graph.from_networkx(nx.balanced_tree(2, 6)),
    "path with a clique": lollipop(20, 30),
    "barbell": Graph.from_networkx(nx.barbell_graph(8, 11)),
    "complete": Graph.from_networkx(nx.complete_graph(15)),
    "star": Graph.from_networkx(nx.star_graph(20)),
    "small world": Graph.from_networkx(nx.connected_watts_strogatz_graph(300, 4, 0.05, seed=2)),
    "preferential": Graph.from_networkx(nx.barabasi_albert_graph(300, 2, seed=3)),
    "cycle beside a longer path": Graph.from_networkx(nx.disjoint_union(nx.cycle_graph(30), nx.path_graph(25))),
    "many components": Graph.from_networkx(nx.disjoint_union_all([nx.path_graph(k) for k in range(1, 9)])),
    "with isolated nodes": Graph.from_edges([[0, 1, 2], [1, 2, 3]], num_nodes=50),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    graph = SHAPES[name]
    hops = longest_shortest_path(graph)
    assert diameter(graph) == Diameter(hops, hops)
    assert by_ifub(graph) == Diameter(hops, hops)
    assert _by_all_searches(graph) == hops


@pytest.mark.parametrize("seed", range(30))
def test_random_graphs(seed):
    num_edges = int(np.random.default_rng(seed).integers(5, 200))
    for directed in (False, True):
        graph = random_graph(60, num_edges, directed, seed=seed)
        hops = longest_shortest_path(graph)
        assert diameter(graph) == Diameter(hops, hops)
        if not directed:
            assert by_ifub(graph) == Diameter(hops, hops)


@pytest.mark.parametrize("seed", range(5))
def test_ifub_on_larger_random_graphs(seed):
    graph = random_graph(300, 330 + 40 * seed, seed=seed)
    hops = longest_shortest_path(graph)
    assert by_ifub(graph) == Diameter(hops, hops)


@pytest.mark.parametrize(
    ("num_nodes", "num_edges", "seed"),
    [(36, 50, 16), (32, 64, 552), (55, 101, 635), (70, 108, 710), (74, 148, 1014), (37, 40, 1337)],
)
def test_ifub_where_sweeps_alone_fall_short(num_nodes, num_edges, seed):
    """Found by search: graphs on which a search that stops one level too early gives a wrong diameter."""
    graph = random_graph(num_nodes, num_edges, seed=seed)
    hops = longest_shortest_path(graph)
    assert by_ifub(graph) == Diameter(hops, hops)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("budget", [0, 100, 1000, 5000, 20_000])
def test_bounds_hold_when_the_budget_is_used_up(name, budget):
    graph = SHAPES[name]
    hops = longest_shortest_path(graph)
    for bounds in (by_ifub(graph, budget), diameter(graph, budget=budget)):
        assert bounds.lower <= hops <= bounds.upper
        assert bounds.lower >= hops / 2


def test_bounds_are_not_exact_without_a_budget():
    assert not diameter(grid(12), budget=1).exact


@pytest.mark.parametrize("seed", range(10))
def test_directed_bounds(seed):
    graph = random_graph(60, 50 + 15 * seed, directed=True, seed=seed)
    hops = longest_shortest_path(graph)
    bounds = diameter(graph, budget=1)
    assert 1 <= bounds.lower <= hops <= bounds.upper


def test_directed_sweeps_find_the_ends_of_a_path():
    assert diameter(path(500, directed=True), budget=1) == Diameter(499, 499)


def test_weights_do_not_count():
    graph = Graph.from_edges([[0, 1, 0], [1, 2, 2]], edge_weight=[1.0, 1.0, 100.0])
    assert diameter(graph) == Diameter(1, 1)


def test_without_edges():
    assert diameter(Graph.from_edges(np.empty((2, 0), int), num_nodes=3)) == Diameter(0, 0)


def test_exact_or_not():
    assert Diameter(3, 3).exact
    assert not Diameter(3, 4).exact


def test_components_are_named_by_a_node_of_largest_degree():
    graph = Graph.from_edges([[0, 0, 0, 4, 5], [1, 2, 3, 5, 6]], num_nodes=8)
    seeds, sizes = _components(graph)
    assert (seeds.tolist(), sizes.tolist()) == ([0, 5, 7], [4, 3, 1])

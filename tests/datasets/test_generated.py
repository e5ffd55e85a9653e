import networkx as nx
import numpy as np
import pytest

from graphreach.datasets import load
from graphreach.datasets.generated import caveman_edges, rewire
from graphreach.errors import InputError


def edge_set(edges):
    return {frozenset(edge) for edge in edges}


def test_grid():
    (sample,) = load("grid")
    G = nx.convert_node_labels_to_integers(nx.grid_2d_graph(20, 20))
    assert edge_set(sample.graph.edge_index.T.tolist()) == edge_set(G.edges)
    assert (sample.graph.num_nodes, sample.graph.num_edges) == (400, 760)
    assert sample.x is None
    assert sample.y is None


@pytest.mark.parametrize(("cliques", "size"), [(20, 20), (2, 3), (5, 4)])
def test_caveman_against_networkx(cliques, size):
    assert edge_set(caveman_edges(cliques, size).T.tolist()) == edge_set(
        nx.connected_caveman_graph(cliques, size).edges
    )


@pytest.mark.parametrize("probability", [0.0, 0.01, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_rewiring_against_the_recipe(probability, seed):
    """The recipe word by word on networkx, with the same draws."""
    edges = caveman_edges(6, 5)
    rng = np.random.default_rng(seed)
    chosen = rng.random(edges.shape[1]) < probability
    ends = iter(rng.integers(30, size=chosen.sum()).tolist())
    G = nx.Graph(edges.T.tolist())
    for (u, v), is_chosen in zip(edges.T.tolist(), chosen, strict=True):
        if is_chosen:
            x = next(ends)
            if not G.has_edge(u, x):
                G.remove_edge(u, v)
                G.add_edge(u, x)
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    rewired = rewire(edges, 30, probability, np.random.default_rng(seed))
    assert edge_set(edge for edge in rewired.T.tolist() if edge[0] != edge[1]) == edge_set(G.edges)
    assert edges.tolist() == caveman_edges(6, 5).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_communities(seed):
    (sample,) = load("communities", seed=seed)
    assert sample.graph.num_nodes == 400
    assert 3_790 <= sample.graph.num_edges <= 3_800
    assert sample.y.tolist() == [node // 20 for node in range(400)]
    assert sample.y.dtype == np.int64
    moved = edge_set(caveman_edges(20, 20).T.tolist()) - edge_set(sample.graph.edge_index.T.tolist())
    assert 10 <= len(moved) <= 80  # 38 expected


def test_seed_decides():
    first, again, other = (load("communities", seed=seed)[0].graph.content_hash for seed in (3, 3, 4))
    assert first == again
    assert first != other


@pytest.mark.parametrize("seed", [-1, 1.5, "3", True, None])
def test_bad_seed(seed):
    with pytest.raises(InputError, match="seed must be a whole number of at least 0"):
        load("communities", seed=seed)

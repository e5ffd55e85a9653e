"""Data sets that are generated, not downloaded."""

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.tasks.dataset import Dataset, Sample

SIDE = 20
"""Side of the grid; also the number of communities, and of nodes in each."""

REWIRED = 0.01


def grid() -> Dataset:
    """Grid: 20 x 20 nodes, each joined to those left, right, above and below; node ``20 row + column``."""
    nodes = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    source = np.concatenate([nodes[:, :-1].ravel(), nodes[:-1].ravel()])
    target = np.concatenate([nodes[:, 1:].ravel(), nodes[1:].ravel()])
    return Dataset("grid", (Sample(Graph.from_edges(np.stack([source, target]))),))


def communities(seed: int = 0) -> Dataset:
    """Communities: a connected caveman graph of 20 cliques of 20 nodes, slightly rewired; the class is the clique.

    Each edge is rewired with probability 0.01: one end stays, the other becomes a uniformly random node. If that is
    the end that stays, the edge is gone (P-GNN's recipe makes a self-loop of it, which is dropped later); if the new
    edge is there already, the old one stays as it is.

    Args:
        seed: Random seed for the rewiring.
    """
    rng = np.random.default_rng(check_seed(seed))
    edges = rewire(caveman_edges(SIDE, SIDE), SIDE * SIDE, REWIRED, rng)
    graph = Graph.from_edges(edges, SIDE * SIDE)
    return Dataset("communities", (Sample(graph, y=graph.ids // SIDE),))


def caveman_edges(cliques: int, size: int) -> NDArray[np.int64]:
    """Edges ``[2, m]`` of cliques in a ring: the first edge of each leads to the clique before it instead."""
    source, target = np.triu_indices(size, 1)
    starts = size * np.arange(cliques)
    inside = np.stack([starts[:, None] + source[1:], starts[:, None] + target[1:]]).reshape(2, -1)
    return np.concatenate([inside, np.stack([starts, (starts - 1) % (cliques * size)])], axis=1)


def rewire(edges: NDArray[np.int64], num_nodes: int, probability: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Move the second end of a random share of the edges; see :func:`communities`."""
    chosen = np.flatnonzero(rng.random(edges.shape[1]) < probability)
    ends = rng.integers(num_nodes, size=len(chosen))
    edges = edges.copy()
    present = set(map(frozenset, edges.T.tolist()))
    # Only the few chosen edges are looped over: each move decides whether a later one is a repeat.
    for column, end in zip(chosen.tolist(), ends.tolist(), strict=True):
        stays, old = edges[:, column].tolist()
        if frozenset((stays, end)) not in present:
            present.remove(frozenset((stays, old)))
            present.add(frozenset((stays, end)))
            edges[1, column] = end
    return edges


def check_seed(seed: object) -> int:
    """``seed`` if it is a whole number of at least zero."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0, got {seed!r}")
    return int(seed)

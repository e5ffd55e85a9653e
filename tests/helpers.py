"""Small graphs, and the slow literal versions that walks, anchors and reachability are tested against."""

import os
import subprocess
import sys

import numpy as np

from graphreach.graph import Graph
from graphreach.walks.distances import search_sets

# 0 - 1 - 2 - 0 is a triangle, 2 - 3 - 4 a path, 5 stands alone.
TRIANGLE_AND_PATH = [[0, 1, 2, 2, 3], [1, 2, 0, 3, 4]]

KINDS = [(False, False), (False, True), (True, False), (True, True)]
"""(directed, weighted)"""

KIND_NAMES = ["undirected", "undirected-weighted", "directed", "directed-weighted"]


def random_graph(num_nodes, num_edges, directed=False, weighted=False, seed=0):
    """Random pairs; with few edges there are isolated nodes and, directed, dead ends."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, num_nodes, (2, num_edges))
    weights = rng.random(num_edges) * 3 + 0.1 if weighted else None
    return Graph.from_edges(edges, num_nodes, weights, directed, reduce="sum" if weighted else None)


def cycle(num_nodes, directed=False):
    nodes = np.arange(num_nodes)
    return Graph.from_edges([nodes, (nodes + 1) % num_nodes], num_nodes, directed=directed)


def path(num_nodes, directed=False):
    nodes = np.arange(num_nodes - 1)
    return Graph.from_edges([nodes, nodes + 1], num_nodes, directed=directed)


def grid(side):
    """A square grid; node ``row * side + column``."""
    nodes = np.arange(side * side).reshape(side, side)
    source = np.concatenate([nodes[:, :-1].ravel(), nodes[:-1].ravel()])
    target = np.concatenate([nodes[:, 1:].ravel(), nodes[1:].ravel()])
    return Graph.from_edges([source, target])


def set_distances(graph, sets, max_distance=None, seed=0):
    """Distances to sets that are listed one by one."""
    members = np.concatenate([np.empty(0, np.int64), *(np.asarray(each, np.int64) for each in sets)])
    return search_sets(graph, np.cumsum([0, *map(len, sets)]), members, max_distance, seed)


def transition_matrix(graph):
    """P(v, u) = w_vu / sum of w_vu' (section 2 of the paper), dense; a row of zeros for a dead end."""
    weights = graph.to_scipy().toarray()
    total = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def matrix_powers(graph, length):
    """P^1 .. P^length, ``[length, n, n]``."""
    P = transition_matrix(graph)
    powers = [P]
    while len(powers) < length:
        powers.append(powers[-1] @ P)
    return np.array(powers)


def first_passages(graph, length):
    """f_t(v, a): the chance that a walk from v visits a at step t and not at the steps 1 .. t - 1, ``[length, n, n]``."""
    P = transition_matrix(graph)
    n = len(P)
    out = np.zeros((length, n, n))
    for a in range(n):
        avoid = P.copy()
        avoid[:, a] = 0
        passage = P[:, a]
        for t in range(length):
            out[t, :, a] = passage
            passage = avoid @ passage
    return out


def count_visits(walks, num_nodes):
    """From walks ``[starts, num_walks, length + 1]``: visits at each step, and sums of 1 / (step of the first visit)."""
    length = walks.shape[2] - 1
    hops, order = np.zeros((len(walks), num_nodes, length)), np.zeros((len(walks), num_nodes))
    for row, walks_of_row in enumerate(walks.tolist()):
        for walk in walks_of_row:
            seen = set()
            for step, node in enumerate(walk[1:], 1):
                if node < 0:
                    break
                hops[row, node, step - 1] += 1
                if node not in seen:
                    order[row, node] += 1 / step
                    seen.add(node)
    return hops, order


def run_python(code, *arguments, **environment):
    """Run ``code`` in a fresh interpreter; its output, or an assertion with what it wrote to stderr."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout

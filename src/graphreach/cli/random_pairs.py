"""Random pairs without a link, which scores are compared with."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphreach as gr
from graphreach.tasks.pair_keys import draw_pairs, encode, unique


def random_non_links(graph: gr.Graph, size: int, known: NDArray[np.bool_], seed: int = 0) -> NDArray[np.int64]:
    """Up to ``size`` different pairs of known nodes without an edge in either direction, ``[2, m]``.

    Args:
        graph: The graph.
        size: How many pairs.
        known: Which nodes may be drawn, one value per node.
        seed: Random seed for the pairs.

    Example:
        >>> path = gr.Graph.from_edges([[0, 1], [1, 2]])
        >>> np.sort(random_non_links(path, 10, np.ones(3, bool)), axis=0).T.tolist()
        [[0, 2]]
    """
    nodes = np.flatnonzero(known)
    if len(nodes) < 2:
        return np.empty((2, 0), np.int64)
    place = np.full(graph.num_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    edges = place[graph.edge_index]
    linked = unique(encode(edges[:, (edges >= 0).all(0) & (edges[0] != edges[1])]))
    found: Any = draw_pairs(np.random.default_rng(seed), len(nodes), size, linked)
    pairs: NDArray[np.int64] = nodes[found]
    return pairs

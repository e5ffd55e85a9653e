"""Parts of a graph as graphs of their own."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from graphreach.graph import Graph


def large_components(graph: Graph, more_than: int) -> NDArray[np.int64]:
    """The number of each node's component, ``-1`` in components of at most ``more_than`` nodes.

    Components are numbered by their first node.
    """
    _, label = connected_components(graph.to_scipy(), directed=graph.directed, connection="weak")
    _, first, label, sizes = np.unique(label, return_index=True, return_inverse=True, return_counts=True)
    kept = np.flatnonzero(sizes > more_than)
    number = np.full(len(sizes), -1)
    number[kept[np.argsort(first[kept])]] = np.arange(len(kept))
    return number[label]


def split_graph(graph: Graph, part: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], Graph]]:
    """The nodes of each part ``0, 1, ...`` and the undirected graph of the edges among them, with the ids of ``graph``."""
    source, target = graph.edge_index
    once = (source < target) & (part[source] == part[target])
    source, target = source[once], target[once]
    nodes, edges = np.argsort(part, kind="stable"), np.argsort(part[source], kind="stable")
    numbers = np.arange(part.max() + 2)
    node_ends, edge_ends = (np.searchsorted(part[order], numbers) for order in (nodes, source[edges]))
    position = np.empty(graph.num_nodes, np.int64)
    for number in numbers[:-1]:
        mine = nodes[node_ends[number] : node_ends[number + 1]]
        chosen = edges[edge_ends[number] : edge_ends[number + 1]]
        position[mine] = np.arange(len(mine))
        ends = position[np.stack([source[chosen], target[chosen]])]
        yield mine, Graph.from_edges(ends, len(mine), ids=graph.ids[mine])

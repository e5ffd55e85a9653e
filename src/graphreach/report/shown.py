"""Which nodes and edges of a graph are drawn."""

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.tasks.pair_keys import decode, encode, unique

MAX_NODES, MAX_EDGES = 10_000, 60_000


def shown_nodes(graph: Graph, wanted: NDArray[np.int64], limit: int = MAX_NODES, seed: int = 0) -> NDArray[np.int64]:
    """Sorted positions of all nodes, or of ``limit`` of them: the wanted ones, and those around them hop by hop.

    Nodes drawn one by one would hardly have an edge between them; what grows from the wanted ones looks like the graph.
    """
    if graph.num_nodes <= limit:
        return np.arange(graph.num_nodes)
    rng, links = np.random.default_rng(seed), graph.to_scipy()
    links = links if not graph.directed else links + links.T
    inside = np.zeros(graph.num_nodes, np.bool_)
    frontier = np.unique(wanted)
    while True:
        inside[frontier] = True
        room = limit - int(inside.sum())
        if room <= 0:
            return np.flatnonzero(inside)
        near = np.unique(links[frontier].indices)
        near = near[~inside[near]]
        if not len(near):
            near = np.flatnonzero(~inside)
        frontier = near if len(near) <= room else rng.choice(near, room, replace=False)


def shown_edges(
    graph: Graph, nodes: NDArray[np.int64], limit: int = MAX_EDGES, seed: int = 0
) -> tuple[NDArray[np.int64], int]:
    """Edges ``[2, m]`` between shown nodes, as places among them, each once; and how many there are."""
    place = np.full(graph.num_nodes, -1, np.int64)
    place[nodes] = np.arange(len(nodes))
    ends = place[graph.edge_index]
    ends = decode(unique(encode(ends[:, (ends.min(0) >= 0) & (ends[0] != ends[1])])))
    total = ends.shape[1]
    if total > limit:
        ends = ends[:, np.sort(np.random.default_rng(seed).choice(total, limit, replace=False))]
    return ends, total

"""Random sets of anchors and the distances to them: where nodes are in P-GNN."""

import math

import numpy as np
import torch
from numpy.typing import NDArray

from graphreach.arguments import check_number
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.limits import check_memory
from graphreach.nn.kernels.anchor_sets import draw_sets
from graphreach.nn.positions import GatheredPositions
from graphreach.walks.distances import search_sets
from graphreach.walks.rng import check_seed


def anchor_sets(
    graph: Graph, max_distance: int | None = None, seed: int = 0, *, copies: float = 1.0
) -> GatheredPositions:
    r"""Positions of nodes by random sets of anchors, from the `"Position-aware Graph Neural Networks"
    <https://arxiv.org/abs/1906.04817>`_ paper (P-GNN).

    For :math:`i = 1 \ldots \log_2 n` there are :math:`c \log_2 n` sets of :math:`n / 2^i` nodes, drawn without repetition
    (Bourgain's theorem). A set counts by its member u that is closest to node v, with the similarity
    :math:`s(v, u) = 1 / (d(v, u) + 1)` in both directions, and zero where none is reached. Of several closest members the
    one with the lowest hash counts. Weights are not looked at; in a directed graph d is the distance from v to u.

    P-GNN draws new sets in every epoch: call this again with another seed. It takes one breadth-first search a set, and
    memory for the n x :math:`\log_2^2 n` results, never n x n.

    Args:
        graph: The graph.
        max_distance: ``None`` for exact distances (P-GNN-E), 2 for the fast version (P-GNN-F).
        seed: Of the sets and the ties.
        copies: c, how many sets of each size, as a share of :math:`\lfloor \log_2 n \rfloor`.

    Example:
        >>> import graphreach as gr
        >>> ring = gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> positions = gr.nn.anchor_sets(ring)
        >>> positions.matrix(positions.to_values).shape
        torch.Size([4, 4])
    """
    n = check_graph(graph).num_nodes
    pointer = np.concatenate([[0], np.cumsum(set_sizes(n, copies))])
    members = np.empty(pointer[-1], np.int64)
    draw_sets(n, pointer, check_seed(seed), members)
    distance, nearest = search_sets(graph, pointer, members, max_distance, seed)
    level, source = torch.from_numpy(distance).flatten() + 1, torch.from_numpy(nearest)
    source = torch.where(source < 0, torch.arange(n, dtype=source.dtype).unsqueeze(-1), source).flatten()
    table = torch.cat([torch.zeros(1), 1 / torch.arange(1, int(level.max()) + 1)])
    values, k = table.index_select(0, level), distance.shape[1]
    first, count = torch.zeros(n, dtype=torch.long), torch.full((n,), k)
    return GatheredPositions(values, values, torch.arange(n + 1) * k, torch.arange(n), first, count, k, source)


def set_sizes(num_nodes: int, copies: float = 1.0) -> NDArray[np.int64]:
    """How many nodes each set has.

    Example:
        >>> set_sizes(10)
        array([5, 5, 5, 2, 2, 2, 1, 1, 1])
    """
    if num_nodes == 0:
        raise InputError("graph must have at least one node to draw anchors from, got none")
    copies = check_number("copies", copies, 0, 1e9, above=True)
    log = max(1, math.floor(math.log2(num_nodes)))
    check_memory(round(16 * num_nodes * copies * log * log), "distances to the anchor sets", "lower copies")
    sizes = np.maximum(1, num_nodes >> np.arange(1, log + 1))
    return np.repeat(sizes, max(1, math.floor(copies * log)))

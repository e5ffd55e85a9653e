"""P-GNN, the position-aware predecessor of GraphReach, and its random sets of anchors."""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from graphreach.arguments import check_number
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.limits import check_memory
from graphreach.nn.kernels.positions import draw_sets
from graphreach.nn.node_model import NodeModel, dropout
from graphreach.nn.positions import GatheredPositions, Positions
from graphreach.nn.reach_conv import ReachConv, ReachReadout
from graphreach.walks.distances import search_sets
from graphreach.walks.rng import check_seed


def anchor_sets(
    graph: Graph, max_distance: int | None = None, seed: int = 0, *, copies: float = 1.0
) -> GatheredPositions:
    r"""Positions of nodes by random sets of anchors, from the `"Position-aware Graph Neural Networks"
    <https://arxiv.org/abs/1906.04817>`_ paper (P-GNN).

    For :math:`i = 1 \ldots \log_2 n` there are :math:`c \log_2 n` sets of :math:`n / 2^i` nodes, drawn without repetition
    (Bourgain's theorem). A set counts by its member u that is closest to node v, with the similarity
    :math:`s(v, u) = 1 / (d(v, u) + 1)` in both directions, and zero where none is reached. If several members are
    equally close, the one with the lowest hash counts. Weights are ignored; in a directed graph d is the distance from
    v to u.

    P-GNN draws new sets in every epoch: call this again with another seed. It takes one breadth-first search per set, and
    memory for the n x :math:`\log_2^2 n` results, never n x n.

    Args:
        graph: The graph.
        max_distance: ``None`` for exact distances (P-GNN-E), 2 for the fast version (P-GNN-F).
        seed: Random seed for the sets and for breaking ties.
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
    """How many nodes each set has."""
    if num_nodes == 0:
        raise InputError("graph must have at least one node to draw anchors from, got none")
    copies = check_number("copies", copies, 0, 1e9, above=True)
    log = max(1, math.floor(math.log2(num_nodes)))
    check_memory(round(16 * num_nodes * copies * log * log), "distances to the anchor sets", "lower copies")
    sizes = np.maximum(1, num_nodes >> np.arange(1, log + 1))
    return np.repeat(sizes, max(1, math.floor(copies * log)))


class PGNN(NodeModel):
    r"""P-GNN from the `"Position-aware Graph Neural Networks" <https://arxiv.org/abs/1906.04817>`_ paper.

    Node v gets a message from every anchor set S, by its member u that is closest to v,

    .. math::
        \mathcal{M}_v[S] = \mathrm{ReLU}\big(s(v, u)\, (h_v \,\Vert\, h_u)\, W + b\big), \qquad
        s(v, u) = \frac{1}{d(v, u) + 1}

    Hidden layers take the mean over all sets; the last takes one number per set, :math:`\mathcal{M}_v w`, and rows are
    scaled to unit length. The positions decide whether it is P-GNN-E (exact distances) or P-GNN-F (two hops): see
    :func:`anchor_sets`. Call it with a new seed in every epoch for new sets.

    Differs from the authors' code: theirs multiplies :math:`h_u` alone by the similarity, and maps it by a learned function
    first (``similarity_map``).

    Args:
        in_channels: Width of the node features; 0 if there are none (every node then has the feature 1).
        hidden_channels: Width of the hidden layers.
        num_layers: Number of layers, including the last one.
        dropout: Dropout probability for the output of the hidden layers.
        num_nodes: Number of nodes of an embedding table that is added to the input (transductive).
        decoder: ``"dot"``, ``"scaled"``, ``"reach"`` or a module; see :meth:`score_pairs`.
        similarity_map: ``None``, or ``"learned"``, a small network on the similarity.
        input_projection: Whether a linear layer takes the input to ``hidden_channels`` first.
        output_activation: ``"normalize"`` (unit rows), ``"identity"``, ``"tanh"`` or ``"sigmoid"``.
        standardise: Whether columns of the features are brought to mean 0 and deviation 1 (:class:`Standardise`).

    Shapes:
        - **input:** features ``[n, in_channels]`` (or None), positions of n nodes
        - **output:** ``[n, k]`` for k sets

    Example:
        >>> import graphreach as gr
        >>> ring = gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> model = gr.nn.PGNN(hidden_channels=8)
        >>> model
        PGNN(0, hidden_channels=8, num_layers=2)
        >>> model(None, gr.nn.anchor_sets(ring, seed=0)).shape
        torch.Size([4, 4])
    """

    def __init__(
        self,
        in_channels: int = 0,
        hidden_channels: int = 32,
        num_layers: int = 2,
        dropout: float = 0.5,
        num_nodes: int | None = None,
        decoder: str | nn.Module = "dot",
        *,
        similarity_map: str | None = None,
        input_projection: bool = True,
        output_activation: str = "normalize",
        standardise: bool = False,
    ) -> None:
        super().__init__(locals())
        widths = [self.first_channels, *[hidden_channels] * (num_layers - 1)]
        self.convs = nn.ModuleList(
            ReachConv(
                width, hidden_channels, "mean", message_activation="relu", similarity_map=similarity_map, bias=True
            )
            for width in widths[:-1]
        )
        self.readout = ReachReadout(
            widths[-1], hidden_channels, message_activation="relu", similarity_map=similarity_map, bias=True
        )

    def forward(self, x: Tensor | None, structure: Positions | Graph, *, node_index: Tensor | None = None) -> Tensor:
        """Embed all nodes.

        Args:
            x: Features ``[n, in_channels]``, or None.
            structure: What :func:`anchor_sets` gave for the graph, or the graph (then with exact distances, seed 0).
            node_index: Which rows of the embedding table these nodes are (transductive, in batches).
        """
        positions = anchor_sets(structure) if isinstance(structure, Graph) else structure
        if not isinstance(positions, Positions):
            raise InputError(f"structure must be what anchor_sets gives, or a Graph, got {type(structure).__name__}")
        h = self.start(x, positions.num_nodes, node_index)
        for conv in self.convs:
            h = dropout(conv(h, positions), self.dropout, self.training)
        return self.finish(self.readout(h, positions))

    def __repr__(self) -> str:
        return f"PGNN({self.in_channels}, hidden_channels={self.hidden_channels}, num_layers={self.num_layers})"

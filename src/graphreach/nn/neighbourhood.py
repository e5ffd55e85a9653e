"""Models that pass messages between neighbours: the baselines of section 4."""

import importlib
from typing import Any

import torch
from torch import Tensor, nn

from graphreach.arguments import check_choice, check_whole
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.nn.adjacency import Adjacency, as_adjacency
from graphreach.nn.checks import DEEPEST, check_channels
from graphreach.nn.dropout import dropout
from graphreach.nn.neighbour_sums import neighbour_attention, neighbour_sum
from graphreach.nn.node_model import NodeModel

KINDS = ("gcn", "sage", "gat", "gin")


class Neighbourhood(NodeModel):
    r"""GCN, GraphSAGE, GAT or GIN: ``num_layers`` of PyG's layers with ReLU and dropout between them.

    Parameters and their names are those of PyG's ``GCNConv``, ``SAGEConv`` (mean), ``GATConv`` and ``GINConv`` (with a
    network of two linear layers), and so are the numbers; sums over neighbours are sparse products instead of scattered
    messages, many times faster. Messages go along edges. Edge weights are honoured by GCN as in PyG, by GraphSAGE as a
    weighted mean and by GIN as a weighted sum (PyG has no weights there); GAT has weights of its own and ignores them.

    Args:
        kind: ``"gcn"``, ``"sage"``, ``"gat"`` or ``"gin"``.
        in_channels: Width of the node features; 0 if there are none (every node then has the feature 1).
        hidden_channels: Width of the hidden layers; 32 in App. E.
        out_channels: Width of the embedding; ``hidden_channels`` by default.
        num_layers: Layers; 2 in App. E.
        dropout: Of the hidden layers' output; 0.5 in App. E.
        num_nodes: Transductive: an embedding table of so many nodes takes part in the input.
        decoder: ``"dot"``, ``"scaled"``, ``"reach"`` or a module; see :meth:`score_pairs`.
        heads: Of GAT; concatenated in hidden layers (``hidden_channels`` in all), averaged in the last.
        input_projection: Whether a linear layer takes the input to ``hidden_channels`` first, as in P-GNN's experiments.
        output_activation: ``"normalize"`` (unit rows, as in P-GNN's experiments), ``"identity"``, ``"tanh"`` or
            ``"sigmoid"``.
        standardise: Whether columns of the features are brought to mean 0 and deviation 1 (:class:`Standardise`).

    Shapes:
        - **input:** features ``[n, in_channels]`` (or None), an :class:`Adjacency` of n nodes
        - **output:** ``[n, out_channels]``

    Example:
        >>> import graphreach as gr
        >>> ring = gr.nn.Adjacency.from_graph(gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]]))
        >>> model = gr.nn.Neighbourhood("gcn", num_nodes=4)
        >>> model
        Neighbourhood(gcn, 0, hidden_channels=32, num_layers=2)
        >>> model(None, ring).shape
        torch.Size([4, 32])
    """

    def __init__(
        self,
        kind: str,
        in_channels: int = 0,
        hidden_channels: int = 32,
        out_channels: int | None = None,
        num_layers: int = 2,
        dropout: float = 0.5,
        num_nodes: int | None = None,
        decoder: str | nn.Module = "dot",
        *,
        heads: int = 1,
        input_projection: bool = False,
        output_activation: str = "normalize",
        standardise: bool = False,
    ) -> None:
        arguments = locals()
        super().__init__(
            in_channels, hidden_channels, num_layers, dropout, num_nodes, input_projection, output_activation, decoder,
            standardise,
        )  # fmt: skip
        self._keep_config(arguments)
        check_choice("kind", kind, KINDS)
        check_whole("heads", heads, 1, DEEPEST)
        if heads > 1 and (kind != "gat" or hidden_channels % heads):
            raise InputError(f"heads must be 1, or for gat a divisor of hidden_channels={hidden_channels}, got {heads}")
        out_channels = hidden_channels if out_channels is None else check_channels("out_channels", out_channels)
        self.kind, self.out_channels, self.heads = kind, out_channels, heads
        widths = [self.first_channels, *[hidden_channels] * (num_layers - 1), self.out_channels]
        self.convs = nn.ModuleList(
            _make_layer(kind, widths[i], widths[i + 1], heads, last=i == num_layers - 1) for i in range(num_layers)
        )

    def forward(self, x: Tensor | None, structure: Adjacency | Graph, *, node_index: Tensor | None = None) -> Tensor:
        """Embed all nodes.

        Args:
            x: Features ``[n, in_channels]``, or None.
            structure: The :class:`Adjacency` (better: made once), or the graph.
            node_index: Which rows of the embedding table these nodes are (transductive, in batches).
        """
        adjacency = as_adjacency(structure)
        h = self.start(x, adjacency.num_nodes, node_index)
        for conv in self.convs[:-1]:
            h = dropout(LAYERS[self.kind](conv, h, adjacency).relu(), self.dropout, self.training)
        return self.finish(LAYERS[self.kind](self.convs[-1], h, adjacency))

    def __repr__(self) -> str:
        return (
            f"Neighbourhood({self.kind}, {self.in_channels}, hidden_channels={self.hidden_channels}, "
            f"num_layers={self.num_layers})"
        )


def _make_layer(kind: str, in_channels: int, out_channels: int, heads: int, *, last: bool) -> Any:
    """PyG's layer, for its parameters and how they are drawn."""
    layers = importlib.import_module("torch_geometric.nn.conv")
    if kind == "gat":
        return layers.GATConv(in_channels, out_channels if last else out_channels // heads, heads, concat=not last)
    if kind == "gin":
        network = nn.Sequential(nn.Linear(in_channels, out_channels), nn.ReLU(), nn.Linear(out_channels, out_channels))
        return layers.GINConv(network)
    return (layers.GCNConv if kind == "gcn" else layers.SAGEConv)(in_channels, out_channels)


def _gcn(conv: Any, x: Tensor, adjacency: Adjacency) -> Tensor:
    matrix = adjacency.operator("gcn", x)
    narrow = conv.in_channels <= conv.out_channels  # A (X W) = (A X) W: sum over neighbours where rows are shorter
    h = conv.lin(neighbour_sum(matrix, x)) if narrow else neighbour_sum(matrix, conv.lin(x))
    result: Tensor = h + conv.bias
    return result


def _sage(conv: Any, x: Tensor, adjacency: Adjacency) -> Tensor:
    result: Tensor = conv.lin_l(neighbour_sum(adjacency.operator("mean", x), x)) + conv.lin_r(x)
    return result


def _gat(conv: Any, x: Tensor, adjacency: Adjacency) -> Tensor:
    h = conv.lin(x).view(-1, conv.heads, conv.out_channels)
    source, target = (h * conv.att_src).sum(-1), (h * conv.att_dst).sum(-1)
    out = neighbour_attention(adjacency.operator("self", h), h, source, target, conv.negative_slope)
    result: Tensor = (out.flatten(1) if conv.concat else out.mean(1)) + conv.bias
    return result


def _gin(conv: Any, x: Tensor, adjacency: Adjacency) -> Tensor:
    result: Tensor = conv.nn(torch.addcmul(neighbour_sum(adjacency.operator("sum", x), x), x, 1 + conv.eps))
    return result


LAYERS = {"gcn": _gcn, "sage": _sage, "gat": _gat, "gin": _gin}

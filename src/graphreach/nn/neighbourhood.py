"""Models that pass messages between neighbours: the baselines of section 4."""

import importlib
from typing import Any

from torch import Tensor, nn

from graphreach.arguments import check_choice, check_whole
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.nn.adjacency import Adjacency, as_adjacency
from graphreach.nn.checks import DEEPEST, check_channels
from graphreach.nn.dropout import dropout
from graphreach.nn.node_model import NodeModel

PREPARED: dict[str, dict[str, Any]] = {
    "gcn": {"normalize": False},
    "sage": {"aggr": "sum"},
    "gat": {"add_self_loops": False},
    "gin": {},
}
"""Arguments of PyG's layers for what :meth:`Adjacency.adj_t` gives: loops, normalisation and means are in the matrix."""

MODELS = {"gcn": "GCN", "sage": "GraphSAGE", "gat": "GAT", "gin": "GIN"}


class Neighbourhood(NodeModel):
    r"""GCN, GraphSAGE, GAT or GIN: ``num_layers`` of PyG's layers with ReLU and dropout between them.

    The layers are ``GCNConv``, ``SAGEConv`` (mean), ``GATConv`` and ``GINConv`` (with a network of two linear layers). They
    get a sparse matrix whose normalisation is done once, not in every step. Messages go along edges. Edge weights are
    honoured by GCN as in PyG, by GraphSAGE as a weighted mean and by GIN as a weighted sum; GAT has weights of its own and
    ignores them.

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
        check_choice("kind", kind, PREPARED)
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
        adj_t = adjacency.adj_t(self.kind, h)
        for conv in self.convs[:-1]:
            h = dropout(conv(h, adj_t).relu(), self.dropout, self.training)
        return self.finish(self.convs[-1](h, adj_t))

    def __repr__(self) -> str:
        return (
            f"Neighbourhood({self.kind}, {self.in_channels}, hidden_channels={self.hidden_channels}, "
            f"num_layers={self.num_layers})"
        )


def _make_layer(kind: str, in_channels: int, out_channels: int, heads: int, *, last: bool) -> Any:
    layers = importlib.import_module("torch_geometric.nn.conv")
    if kind == "gat":
        width = out_channels if last else out_channels // heads
        return layers.GATConv(in_channels, width, heads, concat=not last, **PREPARED[kind])
    if kind == "gin":
        network = nn.Sequential(nn.Linear(in_channels, out_channels), nn.ReLU(), nn.Linear(out_channels, out_channels))
        return layers.GINConv(network)
    return (layers.GCNConv if kind == "gcn" else layers.SAGEConv)(in_channels, out_channels, **PREPARED[kind])


def local_branch(name: str | None, in_channels: int, hidden_channels: int, num_layers: int, dropout: float) -> Any:
    """PyG's model of that name, which reads :meth:`Adjacency.adj_t`, or None.

    Example:
        >>> local_branch("gcn", 4, 8, 2, 0.0)
        GCN(4, 8, num_layers=2)
    """
    if name is None:
        return None
    check_choice("local", name, PREPARED, more=" or None")
    model = getattr(importlib.import_module("torch_geometric.nn.models"), MODELS[name])
    return model(in_channels, hidden_channels, num_layers, dropout=dropout, **PREPARED[name])

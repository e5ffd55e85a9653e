"""A model that sees no structure."""

from itertools import pairwise
from typing import Any

from torch import Tensor, nn

from graphreach.errors import InputError
from graphreach.nn.checks import check_channels, check_tensor
from graphreach.nn.dropout import dropout
from graphreach.nn.node_model import NodeModel


class MLP(NodeModel):
    r"""A multi-layer perceptron on the features alone: linear layers with ReLU and dropout between them.

    What it scores is what the features (or, with ``num_nodes``, a table of free embeddings) give without the graph.

    Args:
        in_channels: Width of the node features; 0 if there are none.
        hidden_channels: Width of the hidden layers.
        out_channels: Width of the embedding; ``hidden_channels`` by default.
        num_layers: Layers.
        dropout: Of the hidden layers' output.
        num_nodes: Transductive: an embedding table of so many nodes takes part in the input.
        decoder: ``"dot"``, ``"scaled"``, ``"reach"`` or a module; see :meth:`score_pairs`.
        input_projection: Whether a linear layer takes the input to ``hidden_channels`` first.
        output_activation: ``"normalize"`` (unit rows), ``"identity"``, ``"tanh"`` or ``"sigmoid"``.
        standardise: Whether columns of the features are brought to mean 0 and deviation 1 (:class:`Standardise`).

    Shapes:
        - **input:** features ``[n, in_channels]`` (or None)
        - **output:** ``[n, out_channels]``

    Example:
        >>> import torch
        >>> model = MLP(8)
        >>> model
        MLP(8, hidden_channels=32, num_layers=2)
        >>> model(torch.ones(3, 8)).shape
        torch.Size([3, 32])
    """

    def __init__(
        self,
        in_channels: int = 0,
        hidden_channels: int = 32,
        out_channels: int | None = None,
        num_layers: int = 2,
        dropout: float = 0.5,
        num_nodes: int | None = None,
        decoder: str | nn.Module = "dot",
        *,
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
        self.out_channels = hidden_channels if out_channels is None else check_channels("out_channels", out_channels)
        widths = [self.first_channels, *[hidden_channels] * (num_layers - 1), self.out_channels]
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))

    def forward(self, x: Tensor | None, structure: Any = None, *, node_index: Tensor | None = None) -> Tensor:
        """Embed all nodes.

        Args:
            x: Features ``[n, in_channels]``, or None.
            structure: Not looked at, but for the number of nodes if nothing else tells it.
            node_index: Which rows of the embedding table these nodes are.
        """
        h = self.start(x, self._count(x, structure, node_index), node_index)
        for layer in self.layers[:-1]:
            h = dropout(layer(h).relu(), self.dropout, self.training)
        return self.finish(self.layers[-1](h))

    def _count(self, x: Tensor | None, structure: Any, node_index: Tensor | None) -> int:
        if x is not None and self.in_channels:
            return len(check_tensor("x", x, f"features [n, {self.in_channels}]"))
        if self.table is not None:
            return self.table.num_embeddings if node_index is None else len(node_index)
        if not hasattr(structure, "num_nodes"):
            raise InputError("structure must tell the number of nodes if there are no features, got None")
        return int(structure.num_nodes)

    def __repr__(self) -> str:
        return f"MLP({self.in_channels}, hidden_channels={self.hidden_channels}, num_layers={self.num_layers})"

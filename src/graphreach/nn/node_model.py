"""What all models share."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from graphreach.arguments import check_whole
from graphreach.errors import InputError
from graphreach.nn.checks import WIDEST, check_features, check_model
from graphreach.nn.decoders import make_decoder
from graphreach.nn.functional import join_columns, normalize
from graphreach.nn.pretrained import Pretrained
from graphreach.nn.standardise import Standardise

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "normalize": normalize,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "identity": lambda z: z,
}


class NodeModel(Pretrained, nn.Module):
    """A model from features and structure to embeddings: its input, its decoder, its activation, and saving.

    Args:
        in_channels: Width of the node features; 0 if there are none (every node then has the feature 1).
        hidden_channels: Width of the hidden layers, of the embedding table and of the projected input.
        num_layers: Layers.
        dropout: Of the hidden layers' output.
        num_nodes: Transductive: an embedding table of so many nodes takes part in the input.
        input_projection: Whether a linear layer takes the input to ``hidden_channels`` first.
        output_activation: ``"normalize"`` (unit rows), ``"tanh"``, ``"sigmoid"`` or ``"identity"``.
        decoder: ``"dot"``, ``"scaled"``, ``"reach"`` or a module; see :meth:`score_pairs`.
        standardise: Whether columns of the features are brought to mean 0 and deviation 1 (:class:`Standardise`).
        hops: L, for a decoder that reads the reachability of pairs step by step.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        num_layers: int,
        dropout: float,
        num_nodes: int | None,
        input_projection: bool,
        output_activation: str,
        decoder: str | nn.Module,
        standardise: bool = False,
        hops: int | None = None,
    ) -> None:
        super().__init__()
        check_model(
            in_channels, hidden_channels, num_layers, dropout, num_nodes, output_activation,
            input_projection=input_projection, standardise=standardise,
        )  # fmt: skip
        self.in_channels, self.hidden_channels, self.num_layers = in_channels, hidden_channels, num_layers
        self.dropout, self.output_activation = dropout, output_activation
        self.scaler = Standardise(in_channels) if standardise and in_channels else None
        self.table = nn.Embedding(num_nodes, hidden_channels) if num_nodes else None
        width = in_channels + (hidden_channels if num_nodes else 0) or 1
        self.input_channels = width
        self.projection = nn.Linear(width, hidden_channels) if input_projection else None
        self.first_channels = hidden_channels if input_projection else width
        self.decoder = make_decoder(decoder, 1 if hops is None else check_whole("hops", hops, 1, WIDEST))

    def reset_parameters(self) -> None:
        """Draw new weights."""
        for part in self.modules():
            reset: Any = getattr(part, "reset_parameters", None)
            if part is not self and reset is not None:
                reset()

    def inputs(self, x: Tensor | None, num_nodes: int, node_index: Tensor | None = None) -> Tensor:
        """What the model reads of the nodes, ``[n, input_channels]``: features, the table's rows, or ones."""
        parts = []
        if self.in_channels:
            x = check_features(x, num_nodes, self.in_channels)
            parts.append(x if self.scaler is None else self.scaler(x))
        if self.table is not None:
            if node_index is None and num_nodes != self.table.num_embeddings:
                raise InputError(
                    f"the graph must have {self.table.num_embeddings} nodes as the embedding table has, got {num_nodes}"
                )
            parts.append(self.table.weight if node_index is None else self.table(node_index))
        return join_columns(parts) if parts else next(self.parameters()).new_ones(num_nodes, 1)

    def start(self, x: Tensor | None, num_nodes: int, node_index: Tensor | None = None) -> Tensor:
        """The first layer's input, ``[n, first_channels]``."""
        h = self.inputs(x, num_nodes, node_index)
        return h if self.projection is None else self.projection(h)

    def finish(self, z: Tensor) -> Tensor:
        """The embedding from the last layer's output."""
        return ACTIVATIONS[self.output_activation](z)

    def score_pairs(self, z: Tensor, pairs: Tensor, pair_reach: Tensor | None = None) -> Tensor:
        """Logits of the pairs ``[2, m]`` from the embeddings, by the decoder."""
        scores: Tensor = self.decoder(z, pairs, pair_reach)
        return scores

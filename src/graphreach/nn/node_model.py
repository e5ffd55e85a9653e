"""What all models share, the one that sees no structure, and the head for classes of nodes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphreach.arguments import check_number, check_whole, describe
from graphreach.errors import InputError
from graphreach.limits import check_memory
from graphreach.nn.checks import MOST_FEATURES, WIDEST, check_channels, check_features, check_model, check_tensor
from graphreach.nn.decoders import make_decoder
from graphreach.nn.functional import join_columns, normalize
from graphreach.nn.pretrained import Pretrained

_rows: tuple[Tensor, int] | None = None


@contextmanager
def numbered_rows(rows: Tensor, total: int) -> Iterator[None]:
    """Within it, dropout treats its rows as rows of a larger matrix. The number of a row there decides what is dropped from
    it, so processes that each have some of the rows drop what one process with all of them would.

    Args:
        rows: The number of each row in the larger matrix.
        total: The number of rows of the larger matrix.
    """
    global _rows
    before, _rows = _rows, (rows, total)
    try:
        yield
    finally:
        _rows = before


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """``torch.nn.functional.dropout``, of the rows that :func:`numbered_rows` says."""
    if _rows is None or not training or p == 0:
        return F.dropout(x, p, training)
    rows, total = _rows
    return x * F.dropout(x.new_ones(total, *x.shape[1:]), p)[rows]


MOSTLY = 0.5
"""Share of zeros from which features count as empty for the most part."""


class Standardise(nn.Module):
    """Columns of features with mean 0 and deviation 1, as they were when it was fitted; unfitted it changes nothing.

    Features most of whose entries are zero, such as word vectors, are left as they are: shifting them would make every
    absent word a signal.

    Mean and scale are buffers: they are saved with the model, and an unseen graph is scaled as the first one was. A column
    without variation is only shifted.

    Args:
        channels: Width of the features.

    Example:
        >>> scale = Standardise(1)
        >>> scale.fit(torch.tensor([[1.0], [3.0]]))(torch.tensor([[3.0]]))
        tensor([[1.]])
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, channels: int) -> None:
        super().__init__()
        check_memory(8 * check_whole("channels", channels, 0, MOST_FEATURES), f"{channels} channels", "lower channels")
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("scale", torch.ones(channels))

    def fit(self, x: Tensor) -> "Standardise":
        """Take mean and deviation of the columns of x; of mostly empty features nothing."""
        if not isinstance(x, Tensor) or x.shape[1:] != self.mean.shape or x.is_complex():
            raise InputError(f"x must be a tensor of {len(self.mean)} columns of numbers, got {describe(x)}")
        wide = x.double()
        if (x == 0).double().mean() > MOSTLY:
            return self
        deviation = wide.std(0, correction=0)
        self.mean.copy_(wide.mean(0))
        self.scale.copy_(torch.where(deviation > 1e-12, 1 / deviation.clamp_min(1e-12), 1.0))
        return self

    def forward(self, x: Tensor) -> Tensor:
        """Scale features ``[n, channels]``; where nothing changes they are given back, not copied."""
        if not self.mean.any() and bool((self.scale == 1).all()):
            return x
        return (x - self.mean) * self.scale


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "normalize": normalize,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "identity": lambda z: z,
}


class NodeModel(Pretrained, nn.Module):
    """A model from features and structure to embeddings: its input, its decoder, its activation, and saving.

    Args:
        arguments: ``locals()`` of the model's constructor, which are saved with it. Those that all models have are looked
            at here; see :class:`MLP`.
        hops: L, for a decoder that reads the reachability of pairs step by step.
    """

    in_channels: int
    hidden_channels: int
    num_layers: int
    dropout: float
    output_activation: str

    def __init__(self, arguments: dict[str, Any], hops: int | None = None) -> None:
        super().__init__()
        self._keep_config(arguments)
        config = self.config
        check_model(config)
        for name in ("in_channels", "hidden_channels", "num_layers", "dropout", "output_activation"):
            setattr(self, name, config[name])
        hidden, num_nodes = self.hidden_channels, config["num_nodes"]
        self.scaler = Standardise(self.in_channels) if config["standardise"] and self.in_channels else None
        self.table = nn.Embedding(num_nodes, hidden) if num_nodes else None
        self.input_channels = self.in_channels + (hidden if num_nodes else 0) or 1
        self.projection = nn.Linear(self.input_channels, hidden) if config["input_projection"] else None
        self.first_channels = self.input_channels if self.projection is None else hidden
        self.decoder = make_decoder(config["decoder"], 1 if hops is None else check_whole("hops", hops, 1, WIDEST))

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


class MLP(NodeModel):
    r"""A multi-layer perceptron on the features alone: linear layers with ReLU and dropout between them.

    It shows what the features (or, with ``num_nodes``, a table of free embeddings) give without the graph.

    Args:
        in_channels: Width of the node features; 0 if there are none.
        hidden_channels: Width of the hidden layers.
        out_channels: Width of the embedding; ``hidden_channels`` by default.
        num_layers: Number of layers.
        dropout: Dropout probability for the output of the hidden layers.
        num_nodes: Number of nodes of an embedding table that is added to the input (transductive).
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
        super().__init__(locals())
        self.out_channels = hidden_channels if out_channels is None else check_channels("out_channels", out_channels)
        widths = [self.first_channels, *[hidden_channels] * (num_layers - 1), self.out_channels]
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))

    def forward(self, x: Tensor | None, structure: Any = None, *, node_index: Tensor | None = None) -> Tensor:
        """Embed all nodes.

        Args:
            x: Features ``[n, in_channels]``, or None.
            structure: Read for the number of nodes only, and only if nothing else gives it.
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


class NodeClassifier(Pretrained, nn.Module):
    r"""Log-probabilities of classes from embeddings (App. E): dropout, a linear layer, LogSoftmax.

    All nodes share one anchor set, as the layer has a weight for each anchor.

    Args:
        in_channels: Width of the embedding: k.
        num_classes: Number of classes.
        dropout: Dropout probability for the embedding.

    Example:
        >>> import torch
        >>> head = NodeClassifier(4, 3)
        >>> head
        NodeClassifier(4, 3)
        >>> head(torch.ones(2, 4)).exp().sum(-1).round().tolist()
        [1.0, 1.0]
    """

    def __init__(self, in_channels: int, num_classes: int, dropout: float = 0.0) -> None:
        super().__init__()
        self._keep_config(locals())
        check_channels("in_channels", in_channels)
        check_channels("num_classes", num_classes)
        check_number("dropout", dropout, 0, 1)
        check_memory(4 * in_channels * num_classes, "the weights of this layer", "lower num_classes")
        self.in_channels, self.num_classes, self.dropout = in_channels, num_classes, dropout
        self.linear = nn.Linear(in_channels, num_classes)

    def reset_parameters(self) -> None:
        """Draw new weights."""
        self.linear.reset_parameters()

    def forward(self, z: Tensor) -> Tensor:
        """Log-probabilities ``[n, num_classes]``."""
        return F.log_softmax(self.linear(dropout(z, self.dropout, self.training)), -1)

    def __repr__(self) -> str:
        return f"NodeClassifier({self.in_channels}, {self.num_classes})"

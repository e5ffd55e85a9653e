"""One network of the head that reads attributes, where links are learned."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from graphreach.nn.perceptron_layers import init_layers, make_layers, read_layers
from graphreach.nn.sparse_rows import SparseRows, drop

HOPS = 3
"""Rows of a node that are added: of its own attributes, of its neighbours' and of theirs."""


class LinkMember(nn.Module):
    r"""Logits of pairs from their features and from the product of the rows of both nodes, by one perceptron or by two.

    Rows are :math:`\mathrm{LayerNorm}(\sum_k a_k \hat A^k H)` of :math:`H = X W + b`, for :math:`k = 0, 1, 2`. Without the
    norm the products of rows of words are so small that little is learned from them.

    If features and products are read ``apart``, each by a perceptron of its own, the two logits are added and each has a
    loss of its own. Which of both ways finds more links depends on the graph, so left-out pairs choose; see
    :func:`graphreach.nn.attributed_training.fit_attributed_pair_head`.

    Args:
        in_channels: Number of features of a pair.
        node_channels: Number of attributes of a node.
        hidden_channels: Width of the hidden layers of both perceptrons.
        gnn_channels: Width of the rows.
        dropouts: Shares of hidden units, of entries of :math:`H` and of attributes left out in a training step.
        apart: Whether features and products are read separately.
    """

    def __init__(
        self, in_channels: int, node_channels: int, hidden_channels: int, gnn_channels: int,
        dropouts: tuple[float, ...], apart: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.apart = apart
        self.dropout, self.gnn_dropout, self.attribute_dropout = dropouts
        self.conv = nn.Parameter(torch.empty(node_channels, gnn_channels))
        self.conv_bias = nn.Parameter(torch.empty(gnn_channels))
        self.hops = nn.Parameter(torch.empty(HOPS))
        self.norm_weight = nn.Parameter(torch.empty(gnn_channels))
        self.norm_bias = nn.Parameter(torch.empty(gnn_channels))
        self.weights, self.biases = make_layers(in_channels if apart else gnn_channels + in_channels, hidden_channels)
        if apart:
            self.product_weights, self.product_biases = make_layers(gnn_channels, hidden_channels)
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw all weights again."""
        nn.init.xavier_uniform_(self.conv, generator=generator)
        for zeros in (self.conv_bias, self.norm_bias):
            nn.init.zeros_(zeros)
        for ones in (self.hops, self.norm_weight):
            nn.init.ones_(ones)
        init_layers(self.weights, self.biases, generator)
        if self.apart:
            init_layers(self.product_weights, self.product_biases, generator)

    def nodes(self, x: SparseRows, messages: SparseRows, generator: torch.Generator | None = None) -> Tensor:
        """Rows of all nodes, ``[n, g]``."""
        h = drop(x.times(self.conv, self.attribute_dropout, generator) + self.conv_bias, self.gnn_dropout, generator)
        rows = self.hops[0] * h
        for weight in self.hops[1:]:
            h = messages.times(h)
            rows = rows + weight * h
        return functional.layer_norm(rows, rows.shape[1:], self.norm_weight, self.norm_bias)

    def networks(self, features: Tensor, products: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Logits ``[k, m]`` of the perceptrons: two that read separately, else one."""
        if not self.apart:
            together = torch.cat([products, features], dim=1)
            return read_layers(together, self.weights, self.biases, self.dropout, generator)[None]
        own = read_layers(features, self.weights, self.biases, self.dropout, generator)
        product = read_layers(products, self.product_weights, self.product_biases, self.dropout, generator)
        return torch.stack([own, product])

    def forward(self, features: Tensor, products: Tensor) -> Tensor:
        """Logits ``[m]`` from standardised features and products."""
        return self.networks(features, products).sum(0)

"""A head for node classification."""

import torch.nn.functional as F
from torch import Tensor, nn

from graphreach.arguments import check_number
from graphreach.limits import check_memory
from graphreach.nn.checks import check_channels
from graphreach.nn.dropout import dropout
from graphreach.nn.pretrained import Pretrained


class NodeClassifier(Pretrained, nn.Module):
    r"""Log-probabilities of classes from embeddings (App. E): dropout, a linear layer, LogSoftmax.

    All nodes share one anchor set, as the layer has a weight for each anchor.

    Args:
        in_channels: Width of the embedding: k.
        num_classes: Classes.
        dropout: Of the embedding.

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

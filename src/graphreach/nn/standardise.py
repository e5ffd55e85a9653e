"""Features on one scale."""

import torch
from torch import Tensor, nn

from graphreach.arguments import check_whole, describe
from graphreach.errors import InputError
from graphreach.limits import check_memory
from graphreach.nn.checks import MOST_FEATURES

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
        """Scale features ``[n, channels]``; where nothing is to be changed they are given back, not copied."""
        if not self.mean.any() and bool((self.scale == 1).all()):
            return x
        return (x - self.mean) * self.scale

"""Layers of a perceptron with two hidden layers and one logit, with random numbers of the caller's."""

import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from graphreach.nn.sparse_rows import drop

ROWS = 256
"""Rows that are read at a time where no bit of a result may depend on how many there are."""


def make_layers(in_channels: int, hidden_channels: int) -> tuple[nn.ParameterList, nn.ParameterList]:
    """Weights and biases, not drawn yet."""
    sizes = (in_channels, hidden_channels, hidden_channels, 1)
    weights = nn.ParameterList(nn.Parameter(torch.empty(each)) for each in itertools.pairwise(sizes))
    return weights, nn.ParameterList(nn.Parameter(torch.empty(size)) for size in sizes[1:])


def init_layers(weights: nn.ParameterList, biases: nn.ParameterList, generator: torch.Generator | None) -> None:
    """Draw weights and biases, as PyTorch's linear layers do."""
    for weight, bias in zip(weights, biases, strict=True):
        bound = 1 / math.sqrt(weight.size(0))
        nn.init.uniform_(weight, -bound, bound, generator=generator)
        nn.init.uniform_(bias, -bound, bound, generator=generator)


def read_layers(
    h: Tensor, weights: nn.ParameterList, biases: nn.ParameterList, dropout: float, generator: torch.Generator | None
) -> Tensor:
    """Logits ``[m]`` of rows ``[m, f]``; without a generator nothing is dropped."""
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        h = drop(torch.relu(torch.addmm(bias, h, weight)), dropout, generator)
    return torch.addmm(biases[-1], h, weights[-1])[:, 0]


def read_in_blocks(network: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """What a network says of rows ``[m, f]``, always as many at a time: the same bits whatever stands among them.

    How a product is computed depends on its number of rows, so the last block is filled up with zeros.
    """
    filled = functional.pad(x, (0, 0, 0, -len(x) % ROWS))
    blocks = [network(block) for block in filled.split(ROWS) if len(block)]
    return torch.cat(blocks)[: len(x)] if blocks else x.new_empty(0)

"""Layers of a perceptron with two hidden layers and one logit, with random numbers of the caller's."""

import itertools
import math

import torch
from torch import Tensor, nn

from graphreach.nn.sparse_rows import drop


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

"""A learned function of the similarity."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from graphreach.arguments import check_whole
from graphreach.nn.checks import DEEPEST, check_channels
from graphreach.nn.device import use_kernels
from graphreach.nn.fused import apply, as_array
from graphreach.nn.kernels import maps as kernels
from graphreach.nn.positions import Filled, Positions

PARTS = 16


class SimilarityMap(nn.Module):
    r"""A network L - 32 - 1 with ReLU, applied to every similarity: :math:`s \mapsto g(s)`.

    Similarities counted by walks take few different values: these are mapped, and entries look theirs up. Others go through
    a fused kernel that never stores the hidden layer.

    Args:
        hops: L, how many similarities an entry has (1, or the number of steps that are kept separate).
        hidden_channels: Width of the hidden layer.

    Example:
        >>> SimilarityMap(4)
        SimilarityMap(4, hidden_channels=32)
    """

    def __init__(self, hops: int = 1, hidden_channels: int = 32) -> None:
        super().__init__()
        check_whole("hops", hops, 1, DEEPEST)
        check_channels("hidden_channels", hidden_channels)
        self.hops, self.hidden_channels = hops, hidden_channels
        self.hidden = nn.Linear(hops, hidden_channels)
        self.out = nn.Linear(hidden_channels, 1)

    def reset_parameters(self) -> None:
        """Draw new weights."""
        self.hidden.reset_parameters()
        self.out.reset_parameters()

    def forward(self, positions: Positions) -> tuple[Tensor, Tensor, Tensor]:
        """g(s(v, a)) and g(s(a, v)) of all entries, and g(0), which anchors without an entry have."""
        values = (positions.to_values, positions.from_values)
        fused = use_kernels(*values, self.hidden.weight)
        levels = positions.levels if fused and positions.hops is None else None
        if levels is not None:
            table = self._network(levels.values.unsqueeze(-1))
            return *apply(_LookUp, table, levels.to, levels.back), table[0]
        background = self._network(self.hidden.weight.new_zeros(1, self.hops))[0]
        if not fused:
            to, back = (self._network(each.view(len(each), self.hops)) for each in values)
            return to, back, background
        to, back = (self._map(each, len(values[0])) for each in positions.filled)
        return to, back, background

    def _map(self, entries: Filled, size: int) -> Tensor:
        weights = (self.hidden.weight.t(), self.hidden.bias, self.out.weight[0], self.out.bias)
        mapped: Tensor = apply(_MapEntries, entries.place, entries.values, size, *weights)
        return mapped

    def _network(self, values: Tensor) -> Tensor:
        result: Tensor = self.out(self.hidden(values).relu()).squeeze(-1)
        return result

    def __repr__(self) -> str:
        return f"SimilarityMap({self.hops}, hidden_channels={self.hidden_channels})"


class _LookUp(torch.autograd.Function):
    """The table's values at some places and at others."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, *places: Tensor) -> tuple[Tensor, ...]:
        ctx.save_for_backward(*places)
        ctx.size = len(table)
        found = tuple(table.new_empty(len(place)) for place in places)
        for place, out in zip(places, found, strict=True):
            kernels.look_up(as_array(table), _unsigned(place), PARTS, out.numpy())
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        dtable = gradients[0].new_zeros(PARTS, ctx.size)
        for place, gradient in zip(ctx.saved_tensors, gradients, strict=True):
            kernels.look_up_backward(_unsigned(place), as_array(gradient), PARTS, dtable.numpy())
        return dtable.sum(0), *(None for _ in gradients)


def _unsigned(place: Tensor) -> Any:
    """Places as numbers that a kernel need not compare with zero."""
    return place.numpy().view(np.uint16)


class _MapEntries(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, place: Tensor, values: Tensor, size: int, W1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor
    ) -> Tensor:
        ctx.save_for_backward(place, values, W1, b1, w2, b2)
        ctx.rest = size - values.size(1)
        out = W1.new_empty(size)
        if ctx.rest:
            out.fill_((b1.relu() @ w2 + b2).item())
        kernels.map_entries(values.numpy(), place.numpy(), _network(W1, b1, w2, b2), PARTS, out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        place, values, W1, b1, w2, b2 = ctx.saved_tensors
        parts = [each.new_zeros(PARTS, *each.shape) for each in (W1, b1, w2)]
        sums = torch.zeros(PARTS, dtype=torch.float64)
        gradients = kernels.Network(*(each.numpy() for each in (*parts, sums)))
        arrays = (values.numpy(), place.numpy(), _network(W1, b1, w2, b2), PARTS, as_array(gradient))
        kernels.map_entries_backward(*arrays, gradients)
        dW1, db1, dw2 = (part.sum(0) for part in parts)
        everything = gradient.sum(dtype=torch.float64)
        if ctx.rest:  # entries without a similarity: all have g(0), whose hidden layer is relu(b1)
            rest = (everything - sums.sum()).to(W1.dtype)
            db1, dw2 = db1 + rest * w2 * (b1 > 0), dw2 + rest * b1.relu()
        return None, None, None, dW1, db1, dw2, everything.to(W1.dtype).reshape(1)


def _network(W1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> kernels.Network:
    weights = [as_array(each) for each in (W1, b1, w2)]
    return kernels.Network(weights[0], weights[1], weights[2], weights[0].dtype.type(b2.item()))

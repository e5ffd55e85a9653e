"""A learned function of the similarity."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from graphreach.nn import map_kernels
from graphreach.nn.fused import apply, use_kernels
from graphreach.nn.memory import empty
from graphreach.nn.positions import Positions

PARTS = 16
MAX_LEVELS = 4096
"""Different similarities up to which they are mapped once each and looked up."""


class SimilarityMap(nn.Module):
    r"""A network L - 32 - 1 with ReLU, applied to every similarity: :math:`s \mapsto g(s)`.

    Similarities counted by walks take few different values: these are mapped, and entries look theirs up. Others go through
    a fused kernel that never stores the hidden layer.

    Args:
        hops: L, how many similarities an entry has (1, or the number of steps kept apart).
        hidden_channels: Width of the hidden layer.

    Example:
        >>> SimilarityMap(4)
        SimilarityMap(4, hidden_channels=32)
    """

    def __init__(self, hops: int = 1, hidden_channels: int = 32) -> None:
        super().__init__()
        self.hops, self.hidden_channels = hops, hidden_channels
        self.hidden = nn.Linear(hops, hidden_channels)
        self.out = nn.Linear(hidden_channels, 1)

    def reset_parameters(self) -> None:
        """Draw new weights."""
        self.hidden.reset_parameters()
        self.out.reset_parameters()

    def forward(self, positions: Positions) -> tuple[Tensor, Tensor, Tensor]:
        """g(s(v, a)) and g(s(a, v)) of all entries, and g(0), which anchors without an entry have."""
        background = self._network(self.hidden.weight.new_zeros(1, self.hops))[0]
        to, back = (self._map(positions, name) for name in ("to_values", "from_values"))
        return to, back, background

    def _map(self, positions: Positions, name: str) -> Tensor:
        values = getattr(positions, name)
        if not use_kernels(values, self.hidden.weight):
            return self._network(values.view(len(values), self.hops))
        levels = positions.levels(name, MAX_LEVELS) if values.dim() == 1 else None
        if levels is not None:
            looked_up: Tensor = apply(_LookUp, self._network(levels[0].unsqueeze(-1)), levels[1])
            return looked_up
        place, listed = positions.filled(name, self.hops)
        weights = (self.hidden.weight.t(), self.hidden.bias, self.out.weight[0], self.out.bias)
        mapped: Tensor = apply(_MapEntries, place, listed, len(values), *weights)
        return mapped

    def _network(self, values: Tensor) -> Tensor:
        result: Tensor = self.out(self.hidden(values).relu()).squeeze(-1)
        return result

    def __repr__(self) -> str:
        return f"SimilarityMap({self.hops}, hidden_channels={self.hidden_channels})"


class _LookUp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, index: Tensor) -> Tensor:
        ctx.save_for_backward(index)
        ctx.size = len(table)
        out = empty((len(index),), table.dtype)
        map_kernels.look_up(table.detach().contiguous().numpy(), index.numpy(), PARTS, out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        dtable = gradient.new_empty(PARTS, ctx.size)
        map_kernels.look_up_backward(index.numpy(), gradient.contiguous().numpy(), PARTS, dtable.numpy())
        return dtable.sum(0), None


class _MapEntries(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, place: Tensor, values: Tensor, size: int, W1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor
    ) -> Tensor:
        ctx.save_for_backward(place, values, W1, b1, w2)
        ctx.rest = size - values.size(1)
        out = empty((size,), W1.dtype)
        if ctx.rest:
            out.fill_((b1.relu() @ w2 + b2).item())
        weights = [x.detach().contiguous().numpy() for x in (W1, b1, w2)]
        bias = weights[0].dtype.type(b2.item())
        map_kernels.map_entries(values.numpy(), place.numpy(), *weights, bias, PARTS, out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        place, values, W1, b1, w2 = ctx.saved_tensors
        parts = [W1.new_zeros(PARTS, *shape) for shape in (W1.shape, b1.shape, w2.shape)]
        sums = [torch.zeros(PARTS, dtype=torch.float64) for _ in range(2)]
        weights = [x.detach().contiguous().numpy() for x in (W1, b1, w2)]
        map_kernels.map_entries_backward(
            values.numpy(),
            place.numpy(),
            *weights,
            PARTS,
            gradient.contiguous().numpy(),
            *(x.numpy() for x in parts + sums),
        )
        dW1, db1, dw2 = (part.sum(0) for part in parts)
        listed, everything = (each.sum() for each in sums)
        if ctx.rest:  # entries without a similarity: all have g(0), whose hidden layer is relu(b1)
            rest = (everything - listed).to(W1.dtype)
            db1, dw2 = db1 + rest * w2 * (b1 > 0), dw2 + rest * b1.relu()
        return None, None, None, dW1, db1, dw2, everything.to(W1.dtype).reshape(1)

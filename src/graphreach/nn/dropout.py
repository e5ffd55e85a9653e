"""Dropout without a generator's state: what is dropped is a hash of a seed and the place."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from graphreach.nn.dropout_kernels import drop
from graphreach.nn.fused import apply, num_parts, use_kernels
from graphreach.nn.memory import empty


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """``torch.nn.functional.dropout``, many times faster on a CPU, where PyTorch draws its numbers one after the other.

    The seed comes from PyTorch's generator, so ``torch.manual_seed`` repeats it.

    Example:
        >>> x = dropout(torch.ones(1000), 0.5, training=True)
        >>> x.unique()
        tensor([0., 2.])
    """
    if not training or p == 0:
        return x
    if p >= 1 or not use_kernels(x):
        return F.dropout(x, p, training)
    result: Tensor = apply(_Dropout, x, p, int(torch.randint(1 << 62, ())))
    return result


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float, seed: int) -> Tensor:
        ctx.p, ctx.seed = p, seed
        return _dropped(x, p, seed)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return _dropped(gradient, ctx.p, ctx.seed), None, None


def _dropped(x: Tensor, p: float, seed: int) -> Tensor:
    out = empty(x.shape, x.dtype)
    values = x.detach().contiguous().view(-1).numpy()
    drop(values, seed, p, num_parts(len(values) >> 10, 1), out.view(-1).numpy())
    return out

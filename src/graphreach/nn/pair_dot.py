"""Dot products of listed pairs of rows."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.weak import WeakTensorKeyDictionary

from graphreach.errors import InputError
from graphreach.nn import pair_kernels
from graphreach.nn.fused import apply, use_kernels
from graphreach.nn.memory import empty

PARTS = 64
RANGES = 4
CACHED_BYTES = 1 << 23
"""Size of the embedding up to which its rows are at hand in any order."""

_groups: "WeakTensorKeyDictionary" = WeakTensorKeyDictionary()


def pair_dot(z: Tensor, pairs: Tensor) -> Tensor:
    r"""The dot product :math:`z_u^T z_v` of each pair (App. E), without gathering two rows a pair.

    The gradient is summed node by node, in an order that does not depend on threads. On large graphs, and for pairs that
    come again, the pairs of a node are found first, once for each tensor of pairs.

    Args:
        z: Embeddings, ``[n, k]``.
        pairs: Positions, ``[2, m]``, like ``edge_label_index``.

    Example:
        >>> pair_dot(torch.eye(3), torch.tensor([[0, 1], [0, 2]]))
        tensor([1., 0.])
    """
    if pairs.dim() != 2 or pairs.size(0) != 2:
        raise InputError(f"pairs must have shape [2, m], got {list(pairs.shape)}")
    if torch.is_autocast_enabled(z.device.type):
        z = z.float()
    if not use_kernels(z, pairs):
        return (z[pairs[0]] * z[pairs[1]]).sum(-1)
    if pairs.numel() and (int(pairs.min()) < 0 or int(pairs.max()) >= len(z)):
        raise InputError(
            f"pairs must hold positions between 0 and {len(z) - 1}, got {int(pairs.min())} to {int(pairs.max())}"
        )
    result: Tensor = apply(_PairDot, z, pairs)
    return result


class _PairDot(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, pairs: Tensor) -> Tensor:
        z = z.contiguous()
        ctx.save_for_backward(z, pairs)  # refuses pairs that were changed in between
        ctx.pairs = pairs  # the same object, by which the grouping is found again
        out = z.new_empty(pairs.size(1))
        pair_kernels.pair_dot(z.detach().numpy(), *pairs.contiguous().numpy(), PARTS, out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        z, _ = ctx.saved_tensors
        dz, gradient = empty(z.shape, z.dtype), gradient.contiguous()
        if z.nbytes <= CACHED_BYTES and ctx.pairs not in _groups:
            _groups[ctx.pairs] = (-1, 0, None)  # grouping pays from the second time on
            ends = ctx.pairs.contiguous().numpy()
            pair_kernels.pair_dot_scatter(z.numpy(), *ends, gradient.numpy(), RANGES, dz.numpy())
        else:
            groups = _group(ctx.pairs, len(z))
            pair_kernels.pair_dot_backward(z.numpy(), *groups, gradient.numpy(), dz.numpy())
        return dz, None


def _group(pairs: Tensor, num_nodes: int) -> Any:
    known = _groups.get(pairs)
    if known is None or known[:2] != (pairs._version, num_nodes):
        known = (pairs._version, num_nodes, pair_kernels.group_pairs(*pairs.contiguous().numpy(), num_nodes))
        _groups[pairs] = known
    return known[2]

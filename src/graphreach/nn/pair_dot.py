"""Dot products of listed pairs of rows."""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.weak import WeakTensorKeyDictionary

from graphreach.errors import InputError
from graphreach.nn.checks import check_embedding, check_pair_tensor
from graphreach.nn.device import use_kernels
from graphreach.nn.fused import apply, as_array
from graphreach.nn.kernels import pairs as kernels

PARTS = 32
GROUPING_PARTS = 4
CACHED_BYTES = 1 << 18
"""Size of the rows that stay in a core's own cache."""

_groups: "WeakTensorKeyDictionary" = WeakTensorKeyDictionary()


class _Groups(NamedTuple):
    """The pairs of each node, for one version of the tensor that lists them and one shape of the embedding."""

    made_for: tuple[int, int, int]
    ends: kernels.Groups


def pair_dot(z: Tensor, pairs: Tensor) -> Tensor:
    r"""The dot product :math:`z_u^T z_v` of each pair (App. E), without gathering two rows a pair.

    The gradient is summed node by node, in an order that does not depend on threads. For training the pairs of a node are
    found first, once for each tensor of pairs.

    Args:
        z: Embeddings, ``[n, k]``.
        pairs: Positions, ``[2, m]``, like ``edge_label_index``.

    Example:
        >>> pair_dot(torch.eye(3), torch.tensor([[0, 1], [0, 2]]))
        tensor([1., 0.])
    """
    z, pairs = check_embedding(z), check_pair_tensor(pairs)
    if torch.is_autocast_enabled(z.device.type):
        z = z.float()
    if not use_kernels(z, pairs):
        return (z[pairs[0]] * z[pairs[1]]).sum(-1)
    result: Tensor
    if torch.is_grad_enabled() and z.requires_grad:
        result = apply(_PairDot, z, pairs, _group(pairs, z))
        return result
    _check_range(pairs, len(z))
    result = z.new_empty(pairs.size(1))
    kernels.pair_dot(as_array(z), *pairs.contiguous().numpy(), PARTS, result.numpy())
    return result


class _PairDot(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, pairs: Tensor, groups: _Groups) -> Tensor:
        z = z.contiguous()
        ctx.save_for_backward(z, pairs)  # refuses pairs that were changed in between
        ctx.groups = groups
        out = z.new_empty(pairs.size(1))
        kernels.grouped_dot(as_array(z), groups.ends, PARTS, out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        z, _ = ctx.saved_tensors
        dz = torch.empty_like(z)
        kernels.grouped_backward(z.numpy(), ctx.groups.ends, as_array(gradient), PARTS, dz.numpy())
        return dz, None, None


def _check_range(pairs: Tensor, num_nodes: int) -> None:
    if not pairs.numel():
        return
    low, high = (int(end) for end in pairs.aminmax())
    if low < 0 or high >= num_nodes:
        raise InputError(f"pairs must hold positions between 0 and {num_nodes - 1}, got {low} to {high}")


def _block_bits(num_nodes: int, num_pairs: int, row_bytes: int) -> int:
    """The logarithm of the rows in a block: they fit into the cache, unless a node then had hardly a pair in each."""
    blocks = max(1, num_pairs // (8 * max(1, num_nodes)))
    fitting = int(math.log2(max(1, CACHED_BYTES // max(1, row_bytes))))
    return max(fitting, math.ceil(math.log2(max(1, num_nodes / blocks))))


def _group(pairs: Tensor, z: Tensor) -> _Groups:
    made_for = (pairs._version, *z.shape)
    known: _Groups | None = _groups.get(pairs)
    if known is None or known.made_for != made_for:
        n, bits = len(z), _block_bits(len(z), pairs.size(1), z.nbytes // max(1, len(z)))
        parts = GROUPING_PARTS if pairs.size(1) >= n else 1  # each part counts the pairs of every node
        left, right = pairs.contiguous().numpy()
        ends = kernels.group_pairs(left, right, n, bits, parts)
        if not len(ends.pointer):
            _check_range(pairs, n)
        _groups[pairs] = known = _Groups(made_for, ends)
    return known

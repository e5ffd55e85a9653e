"""Sums over neighbours as differentiable functions: fused kernels on the CPU, PyTorch's own elsewhere."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from graphreach.nn.adjacency import SparseMatrix
from graphreach.nn.device import use_kernels
from graphreach.nn.fused import apply
from graphreach.nn.kernels import adjacency as kernels


def neighbour_sum(matrix: SparseMatrix, x: Tensor) -> Tensor:
    """The product of the matrix with ``x``, ``[n, d]``.

    Example:
        >>> import graphreach as gr
        >>> adjacency = gr.nn.Adjacency.from_graph(gr.Graph.from_edges([[0, 1], [1, 2]]))
        >>> x = torch.tensor([[1.0], [2.0], [4.0]])
        >>> neighbour_sum(adjacency.operator("sum", x), x).flatten()
        tensor([2., 5., 2.])
    """
    if use_kernels(x):
        result: Tensor = apply(_Product, matrix, x)
        return result
    return matrix.as_torch() @ x


def neighbour_attention(matrix: SparseMatrix, x: Tensor, source: Tensor, target: Tensor, slope: float) -> Tensor:
    r"""Attention of GAT: :math:`\sum_u \mathrm{softmax}_u(\mathrm{LeakyReLU}(source_u + target_v))\, x_u` for each head.

    Args:
        matrix: Its pattern; every row must have an entry.
        x: ``[n, heads, d]``.
        source: ``[n, heads]``.
        target: ``[n, heads]``.
        slope: Of LeakyReLU.
    """
    if use_kernels(x, source, target):
        result: Tensor = apply(_Attend, matrix, x, source, target, slope)
        return result
    v, u = matrix.rows, matrix.index.long()
    logits = F.leaky_relu(source[u] + target[v], slope)
    top = (
        torch.full_like(target, -torch.inf)
        .scatter_reduce(0, v.unsqueeze(-1).expand_as(logits), logits, "amax")
        .detach()
    )
    weight = (logits - top[v]).exp()
    total = torch.zeros_like(top).index_add(0, v, weight)
    alpha = (weight / total[v]).unsqueeze(-1)
    return torch.zeros_like(x).index_add(0, v, alpha * x[u])


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: SparseMatrix, x: Tensor) -> Tensor:
        ctx.matrix = matrix
        return _multiply(matrix, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return None, _multiply(ctx.matrix.transpose, gradient)


def _multiply(matrix: SparseMatrix, x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    arrays = (matrix.pointer, matrix.index, matrix.value, matrix.bounds, x.detach().contiguous(), out)
    kernels.product(*(array.numpy() for array in arrays))
    return out


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: SparseMatrix, x: Tensor, source: Tensor, target: Tensor, slope: float) -> Tensor:
        out, total = torch.empty_like(x), torch.empty_like(source)
        ctx.matrix, ctx.slope = matrix, slope
        kernels.attend(*_arguments(matrix, slope, x, source, target), out.numpy(), total.numpy())
        ctx.save_for_backward(x, source, target, total, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        x, source, target, total, out = ctx.saved_tensors
        gradient = gradient.contiguous()
        mean = (gradient * out).sum(-1)
        extra = (total.numpy(), gradient.numpy(), mean.numpy())
        dx, dsource, dtarget = (torch.empty_like(tensor) for tensor in (x, source, target))
        inputs = (ctx.slope, x, source, target)
        kernels.attend_backward_target(*_arguments(ctx.matrix, *inputs), *extra, dtarget.numpy())
        kernels.attend_backward_source(*_arguments(ctx.matrix.transpose, *inputs), *extra, dx.numpy(), dsource.numpy())
        return None, dx, dsource, dtarget, None


def _arguments(matrix: SparseMatrix, slope: float, x: Tensor, source: Tensor, target: Tensor) -> tuple[Any, ...]:
    arrays = [tensor.detach().contiguous().numpy() for tensor in (x, source, target)]
    pattern = (tensor.numpy() for tensor in (matrix.pointer, matrix.index, matrix.bounds))
    return *pattern, *arrays, arrays[0].dtype.type(slope)

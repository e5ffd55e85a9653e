# ruff: noqa: D102  (forward and backward of autograd functions: the class says what they do)
"""The fused kernels for linear messages, and those of the last layer, as differentiable functions."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from graphreach.nn.fused import Sources, as_array, num_parts
from graphreach.nn.kernels import linear as linear_kernels
from graphreach.nn.kernels import readout as readout_kernels
from graphreach.nn.kernels.memory import NUMPY_TYPES, empty
from graphreach.nn.positions import Positions

EPSILON = 1e-12
"""Norm below which a row is not scaled up any further, as in PyTorch."""


class Attend(torch.autograd.Function):
    """Attention over dense rows: sum_i alpha_i t_i, and sum_i alpha_i f_i X_i."""

    @staticmethod
    def forward(
        ctx: Any,
        positions: Positions,
        to: Tensor,
        back: Tensor,
        X: Tensor,
        u: Tensor,
        p: Tensor,
        q: Tensor,
        slope: float,
    ) -> tuple[Tensor, Tensor]:
        alpha, reach, out = empty(to.shape, to.dtype), torch.empty_like(u), empty((len(u), X.size(1)), X.dtype)
        sources = Sources.of(X, positions)
        padded = torch.nn.functional.pad(q.detach(), (0, sources.array.shape[1] - q.numel()))
        ctx.positions, ctx.slope, ctx.sources = positions, slope, sources
        linear_kernels.attend(
            *_dense_arguments(ctx, to, back), *(as_array(x) for x in (u, p, padded)), sources.array,
            NUMPY_TYPES[u.dtype](slope), *(x.numpy() for x in (alpha, reach, out)),
        )  # fmt: skip
        ctx.save_for_backward(to, back, p, padded, alpha, reach, out)
        return reach, out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dreach: Tensor, gradient: Tensor) -> Any:
        to, back, p, q, alpha, reach, out = ctx.saved_tensors
        wants_map = any(ctx.needs_input_grad[1:3])
        dT, dF = (empty(to.shape, to.dtype) if wants_map else to.new_empty(0) for _ in range(2))
        parts = ctx.sources.parts(len(p))
        du, dp, dq, dX = torch.empty_like(p), torch.empty_like(p), q.new_empty(parts, len(q)), ctx.sources.room(parts)
        linear_kernels.attend_backward(
            *_dense_arguments(ctx, to, back), as_array(p), as_array(q), ctx.sources.array,
            NUMPY_TYPES[p.dtype](ctx.slope), *(as_array(x) for x in (alpha, reach, out, dreach, gradient)), parts,
            *(x.numpy() for x in (du, dp, dq)), dX, dT.numpy(), dF.numpy(),
        )  # fmt: skip
        maps = (dT, dF) if wants_map else (None, None)
        return None, *maps, ctx.sources.gradient(dX), du, dp, dq.sum(0)[: ctx.sources.shape[0]], None


def _dense_arguments(ctx: Any, to: Tensor, back: Tensor) -> tuple[Any, ...]:
    pointer, _, first, _, _ = ctx.positions.layout
    return as_array(to), as_array(back), pointer, first, ctx.positions.width


class AttentionWeights(torch.autograd.Function):
    """Attention where entries say their anchor: sum_i alpha_i t_i of each node, and alpha f of each entry."""

    @staticmethod
    def forward(
        ctx: Any, positions: Positions, to: Tensor, back: Tensor, u: Tensor, p: Tensor, q: Tensor, slope: float
    ) -> tuple[Tensor, Tensor]:
        alpha, weighted, reach = empty(to.shape, to.dtype), empty(to.shape, to.dtype), torch.empty_like(u)
        ctx.positions, ctx.slope = positions, slope
        linear_kernels.attention_weights(
            *_listed_arguments(ctx, to, back), *(as_array(x) for x in (u, p, q)), NUMPY_TYPES[u.dtype](slope),
            *(x.numpy() for x in (alpha, reach, weighted)),
        )  # fmt: skip
        ctx.save_for_backward(to, back, u, p, q, alpha)
        return reach, weighted

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dreach: Tensor, dweighted: Tensor) -> Any:
        to, back, u, p, q, alpha = ctx.saved_tensors
        parts = num_parts(len(u), q.numel())
        wants_map = any(ctx.needs_input_grad[1:3])
        dT, dF = (empty(to.shape, to.dtype) if wants_map else to.new_empty(0) for _ in range(2))
        du, dp, dq = torch.empty_like(u), torch.empty_like(p), q.new_empty(parts, q.numel())
        linear_kernels.attention_weights_backward(
            *_listed_arguments(ctx, to, back), *(as_array(x) for x in (u, p, q)), NUMPY_TYPES[u.dtype](ctx.slope),
            *(as_array(x) for x in (alpha, dreach, dweighted)), parts, *(x.numpy() for x in (du, dp, dq, dT, dF)),
        )  # fmt: skip
        return None, *((dT, dF) if wants_map else (None, None)), du, dp, dq.sum(0), None


def _listed_arguments(ctx: Any, to: Tensor, back: Tensor) -> tuple[Any, ...]:
    pointer, column, _, count, source = ctx.positions.layout
    return as_array(to), as_array(back), pointer, column if source is None else source, count, ctx.positions.width


class RowProduct(torch.autograd.Function):
    """A position matrix times the anchors' rows, where no single matrix product does it."""

    @staticmethod
    def forward(ctx: Any, positions: Positions, values: Tensor, Q: Tensor) -> Tensor:
        out = empty((positions.num_nodes, Q.size(1)), Q.dtype)
        ctx.positions = positions
        ctx.save_for_backward(values, Q)
        linear_kernels.row_product(as_array(values), *_product_layout(positions), as_array(Q), out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        values, Q = ctx.saved_tensors
        parts = num_parts(len(gradient), Q.numel())
        dvalues, dQ = empty(values.shape, values.dtype), Q.new_zeros(parts, *Q.shape)
        arrays = (as_array(values), *_product_layout(ctx.positions), as_array(Q), as_array(gradient))
        linear_kernels.row_product_backward(*arrays, parts, dvalues.numpy(), dQ.numpy())
        return None, dvalues, dQ.sum(0)


def _product_layout(positions: Positions) -> tuple[Any, ...]:
    pointer, column, first, _, source = positions.layout
    return pointer, column if source is None else source, first


class MatrixProduct(torch.autograd.Function):
    """A rectangular position matrix times the anchors' rows."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, Q: Tensor) -> Tensor:
        ctx.save_for_backward(matrix, Q)
        return torch.mm(matrix, Q, out=empty((len(matrix), Q.size(1)), Q.dtype))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        matrix, Q = ctx.saved_tensors
        wanted = ctx.needs_input_grad[0]
        dmatrix = torch.mm(gradient, Q.t(), out=empty(matrix.shape, matrix.dtype)) if wanted else None
        return dmatrix, matrix.t() @ gradient


class ProjectLinear(torch.autograd.Function):
    """The last layer for linear messages."""

    @staticmethod
    def forward(ctx: Any, positions: Positions, to: Tensor, back: Tensor, p: Tensor, q: Tensor) -> Tensor:
        ctx.positions = positions
        ctx.save_for_backward(to, back, p, q)
        out = empty((len(p), positions.width), p.dtype)
        arrays = (as_array(to), as_array(back), *_readout_layout(positions), as_array(p), as_array(q))
        readout_kernels.project_linear(*arrays, out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        to, back, p, q = ctx.saved_tensors
        parts = num_parts(len(p), q.numel())
        wants_map = any(ctx.needs_input_grad[1:3])
        dT, dF = (empty(to.shape, to.dtype) if wants_map else to.new_empty(0) for _ in range(2))
        dp, dq = torch.empty_like(p), q.new_zeros(parts, q.numel())
        readout_kernels.project_linear_backward(
            as_array(to), as_array(back), *_readout_layout(ctx.positions), *(as_array(x) for x in (p, q, gradient)), parts,
            *(x.numpy() for x in (dp, dq, dT, dF)),
        )  # fmt: skip
        return None, *((dT, dF) if wants_map else (None, None)), dp, dq.sum(0)


def _readout_layout(positions: Positions) -> tuple[Any, ...]:
    pointer, column, first, _, source = positions.layout
    return pointer, column, first, source


class VectorProducts(torch.autograd.Function):
    """x w_1 of all rows and x w_2 of the anchors' rows, whose gradient is made in one array."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, anchor_index: Tensor, w1: Tensor, w2: Tensor) -> tuple[Tensor, Tensor]:
        anchors = x.index_select(0, anchor_index)
        ctx.save_for_backward(x, anchors, anchor_index, w1, w2)
        return x @ w1, anchors @ w2

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dp: Tensor, dq: Tensor) -> Any:
        x, anchors, anchor_index, w1, w2 = ctx.saved_tensors
        dx = None
        if ctx.needs_input_grad[0]:
            dx = torch.outer(dp, w1, out=empty(x.shape, x.dtype))
            dx.index_add_(0, anchor_index, torch.outer(dq, w2))
        return dx, None, dp @ x, dq @ anchors


class Normalize(torch.autograd.Function):
    """Rows scaled to unit length."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        x = x.contiguous()
        out, inverse = empty(x.shape, x.dtype), x.new_empty(len(x))
        array = x.detach().numpy()
        readout_kernels.normalize(array, array.dtype.type(EPSILON), out.numpy(), inverse.numpy())
        ctx.save_for_backward(out, inverse)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        z, inverse = (tensor.detach().numpy() for tensor in ctx.saved_tensors)
        out = empty(gradient.shape, gradient.dtype)
        readout_kernels.normalize_backward(z, inverse, z.dtype.type(EPSILON), as_array(gradient), out.numpy())
        return out

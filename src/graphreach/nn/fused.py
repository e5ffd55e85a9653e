"""The fused kernels as differentiable functions."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from graphreach.nn import message_kernels as kernels
from graphreach.nn import readout_kernels
from graphreach.nn.positions import Positions

NUMPY_TYPES = {torch.float32: np.float32, torch.float64: np.float64}

EPSILON = 1e-12
"""Norm below which a row is not scaled up any further, as in PyTorch."""


def use_kernels(*tensors: Tensor) -> bool:
    """Whether the fused kernels apply: CPU tensors in single or double precision, outside ``torch.compile``."""
    if torch.compiler.is_compiling():
        return False
    return all(
        tensor.device.type == "cpu" and (tensor.dtype in NUMPY_TYPES or not tensor.is_floating_point())
        for tensor in tensors
    )


def num_parts(num_nodes: int, size: int) -> int:
    """How many partial sums of ``size`` numbers to keep: a function of shapes only, so that results repeat."""
    return max(1, min(16, num_nodes, max(2, (1 << 22) // max(1, size))))


def empty(shape: Any, dtype: torch.dtype) -> Tensor:
    """An uninitialised CPU tensor whose memory NumPy asks for: in large pages, which take far fewer page faults."""
    return torch.from_numpy(np.empty(tuple(shape), NUMPY_TYPES[dtype]))


def apply(function: Any, *arguments: Any) -> Any:
    """Call an autograd function, whose ``apply`` has no types."""
    return function.apply(*arguments)


def _numpy(tensor: Tensor | None) -> Any:
    return None if tensor is None else tensor.detach().contiguous().numpy()


def _layout(positions: Positions) -> tuple[Any, ...]:
    names = ("pointer", "column", "first_anchor", "num_anchors")
    return tuple(_numpy(getattr(positions, name)) for name in names)


class Aggregate(torch.autograd.Function):
    """Fused sum of messages, weighted equally or by attention."""

    @staticmethod
    def forward(
        ctx: Any, positions: Positions, to: Tensor, back: Tensor, background: Tensor, P: Tensor, Q: Tensor, bias: Tensor,
        u: Tensor | None, a: Tensor | None, floor: float, slope: float,
    ) -> Tensor:  # fmt: skip
        out = empty(P.shape, P.dtype)
        ctx.positions, ctx.floor, ctx.slope = positions, floor, slope
        tensors = (to, back, background, P, Q, bias, u, a)
        ctx.save_for_backward(*tensors)
        kernels.aggregate(*_aggregate_arguments(ctx, tensors), num_parts(len(P), Q.numel()), out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        to, _, _, P, Q, bias, u, _ = ctx.saved_tensors
        parts = num_parts(len(P), Q.numel())
        wants_map = any(ctx.needs_input_grad[1:4])
        dT, dF = (empty(to.shape, to.dtype) if wants_map else to.new_empty(0) for _ in range(2))
        dP, du = torch.zeros_like(P), torch.zeros(len(P), dtype=P.dtype)
        dQ, dbias, da = (P.new_zeros(parts, *shape.shape) for shape in (Q, bias, bias))
        dbackground = P.new_zeros(parts)
        kernels.aggregate_backward(
            *_aggregate_arguments(ctx, ctx.saved_tensors), parts, _numpy(gradient),
            *(x.numpy() for x in (dT, dF, dbackground, dP, dQ, dbias, du, da)),
        )  # fmt: skip
        maps = (dT, dF, dbackground.sum()) if wants_map else (None, None, None)
        attention = (None, None) if u is None else (du, da.sum(0))
        return None, *maps, dP, dQ.sum(0), dbias.sum(0), *attention, None, None


def _aggregate_arguments(ctx: Any, tensors: tuple[Tensor | None, ...]) -> tuple[Any, ...]:
    to, back, background, P, Q, bias, u, a = tensors
    assert P is not None
    assert background is not None
    zeros = np.zeros(P.size(1), _numpy(P).dtype)
    dtype = zeros.dtype.type
    return (
        _numpy(to), _numpy(back), *_layout(ctx.positions), ctx.positions.width, dtype(background.item()),
        _numpy(P), _numpy(Q), _numpy(bias), dtype(ctx.floor), u is not None,
        zeros if u is None else _numpy(u), zeros if a is None else _numpy(a), dtype(ctx.slope),
    )  # fmt: skip


class Project(torch.autograd.Function):
    """Fused product of every message with a vector."""

    @staticmethod
    def forward(
        ctx: Any, positions: Positions, to: Tensor, back: Tensor, background: Tensor, P: Tensor, Q: Tensor, bias: Tensor,
        w: Tensor, floor: float,
    ) -> Tensor:  # fmt: skip
        out = empty((len(P), positions.width), P.dtype)
        ctx.positions, ctx.floor = positions, floor
        tensors = (to, back, background, P, Q, bias, w)
        ctx.save_for_backward(*tensors)
        kernels.project(*_project_arguments(ctx, tensors), num_parts(len(P), Q.numel()), out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        to, _, _, P, Q, bias, w = ctx.saved_tensors
        parts = num_parts(len(P), Q.numel())
        wants_map = any(ctx.needs_input_grad[1:4])
        dT, dF = (empty(to.shape, to.dtype) if wants_map else to.new_empty(0) for _ in range(2))
        dP = torch.zeros_like(P)
        dQ, dbias, dw = (P.new_zeros(parts, *shape.shape) for shape in (Q, bias, w))
        dbackground = P.new_zeros(parts)
        kernels.project_backward(
            *_project_arguments(ctx, ctx.saved_tensors), parts, _numpy(gradient),
            *(x.numpy() for x in (dT, dF, dbackground, dP, dQ, dbias, dw)),
        )  # fmt: skip
        maps = (dT, dF, dbackground.sum()) if wants_map else (None, None, None)
        return None, *maps, dP, dQ.sum(0), dbias.sum(0), dw.sum(0), None


def _project_arguments(ctx: Any, tensors: tuple[Tensor, ...]) -> tuple[Any, ...]:
    to, back, background, P, Q, bias, w = tensors
    dtype = _numpy(P).dtype.type
    return (
        _numpy(to), _numpy(back), *_layout(ctx.positions), ctx.positions.width, dtype(background.item()),
        _numpy(P), _numpy(Q), _numpy(bias), dtype(ctx.floor), _numpy(w),
    )  # fmt: skip


class AttentionWeights(torch.autograd.Function):
    """For linear messages: sum_i alpha_i t_i of each node, and alpha f of each entry."""

    @staticmethod
    def forward(
        ctx: Any, positions: Positions, to: Tensor, back: Tensor, u: Tensor, p: Tensor, q: Tensor, slope: float
    ) -> tuple[Tensor, Tensor]:
        alpha, weighted, reach = empty(to.shape, to.dtype), empty(to.shape, to.dtype), torch.zeros_like(u)
        ctx.positions, ctx.slope = positions, slope
        arrays = [_numpy(x) for x in (u, p, q)]
        if positions.rectangular and slope <= 1:
            sides = (_numpy(to), _numpy(back), positions.width)
            kernels.attention_logits(*sides, *arrays, arrays[0].dtype.type(slope), alpha.numpy())
            torch.softmax(positions.matrix(alpha), 1, out=positions.matrix(alpha))
            kernels.attention_sums(*sides, alpha.numpy(), reach.numpy(), weighted.numpy())
            ctx.save_for_backward(to, back, u, p, q, alpha)
            return reach, weighted
        ctx.save_for_backward(to, back, u, p, q, alpha)
        kernels.attention_weights(
            _numpy(to), _numpy(back), *_layout(positions), *arrays, arrays[0].dtype.type(slope),
            alpha.numpy(), reach.numpy(), weighted.numpy(),
        )  # fmt: skip
        return reach, weighted

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dreach: Tensor, dweighted: Tensor) -> Any:
        to, back, u, p, q, alpha = ctx.saved_tensors
        parts = num_parts(len(u), q.numel())
        wants_map = any(ctx.needs_input_grad[1:3])
        dT, dF = (empty(to.shape, to.dtype) if wants_map else to.new_empty(0) for _ in range(2))
        du, dp, dq = torch.zeros_like(u), torch.zeros_like(p), q.new_zeros(parts, q.numel())
        arrays = [_numpy(x) for x in (u, p, q)]
        kernels.attention_weights_backward(
            _numpy(to), _numpy(back), *_layout(ctx.positions), *arrays, arrays[0].dtype.type(ctx.slope),
            *(_numpy(x) for x in (alpha, dreach, dweighted)), parts, *(x.numpy() for x in (du, dp, dq, dT, dF)),
        )  # fmt: skip
        return None, *((dT, dF) if wants_map else (None, None)), du, dp, dq.sum(0), None


class RowProduct(torch.autograd.Function):
    """A position matrix times the anchors' rows, where no single matrix product does it."""

    @staticmethod
    def forward(ctx: Any, positions: Positions, values: Tensor, Q: Tensor) -> Tensor:
        out = empty((positions.num_nodes, Q.size(1)), Q.dtype)
        ctx.positions = positions
        ctx.save_for_backward(values, Q)
        kernels.row_product(_numpy(values), *_layout(positions)[:3], _numpy(Q), out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        values, Q = ctx.saved_tensors
        parts = num_parts(len(gradient), Q.numel())
        dvalues, dQ = empty(values.shape, values.dtype), Q.new_zeros(parts, *Q.shape)
        kernels.row_product_backward(
            _numpy(values), *_layout(ctx.positions)[:3], _numpy(Q), _numpy(gradient), parts, dvalues.numpy(), dQ.numpy()
        )
        return None, dvalues, dQ.sum(0)


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
        arrays = (_numpy(to), _numpy(back), *_layout(positions)[:3], _numpy(p), _numpy(q))
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
            _numpy(to), _numpy(back), *_layout(ctx.positions)[:3], _numpy(p), _numpy(q), _numpy(gradient), parts,
            *(x.numpy() for x in (dp, dq, dT, dF)),
        )  # fmt: skip
        return None, *((dT, dF) if wants_map else (None, None)), dp, dq.sum(0)


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
        readout_kernels.normalize_backward(z, inverse, z.dtype.type(EPSILON), _numpy(gradient), out.numpy())
        return out

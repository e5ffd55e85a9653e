"""The fused kernels as differentiable functions."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from graphreach.nn import linear_kernels, readout_kernels
from graphreach.nn import message_kernels as kernels
from graphreach.nn.memory import NUMPY_TYPES
from graphreach.nn.memory import empty as empty
from graphreach.nn.positions import Positions
from graphreach.simd import LARGEST

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


def num_parts(num_nodes: int, size: int, most: int = 1 << 22) -> int:
    """How many partial sums of ``size`` numbers to keep: a function of shapes only, so that results repeat."""
    return max(1, min(16, num_nodes, max(2, most // max(1, size))))


def apply(function: Any, *arguments: Any) -> Any:
    """Call an autograd function, whose ``apply`` has no types."""
    return function.apply(*arguments)


def _numpy(tensor: Tensor | None) -> Any:
    return None if tensor is None else tensor.detach().contiguous().numpy()


def _layout(positions: Positions) -> tuple[Any, ...]:
    names = ("pointer", "column", "first_anchor", "num_anchors", "source")
    return tuple(_numpy(getattr(positions, name)) for name in names)


def _entries(positions: Positions) -> tuple[Any, ...]:
    """For kernels to which an entry's anchor is all that matters: pointer, anchor's number (or None), first, count."""
    pointer, column, first, count, source = _layout(positions)
    return pointer, column if source is None else source, first, count


def _readout_layout(positions: Positions) -> tuple[Any, ...]:
    pointer, column, first, _, source = _layout(positions)
    return pointer, column, first, source


def _paged(rows: int, length: int, dtype: torch.dtype) -> Tensor:
    """An uninitialised matrix whose rows begin at pages, see :data:`graphreach.nn.message_kernels.PAGE`."""
    per_page = kernels.PAGE // dtype.itemsize
    stride = -(-length // per_page) * per_page
    memory = np.empty(rows * stride + per_page, NUMPY_TYPES[dtype])
    skip = -memory.ctypes.data % kernels.PAGE // dtype.itemsize
    return torch.from_numpy(memory[skip : skip + rows * stride].reshape(rows, stride))


class _Sources(NamedTuple):
    """Q as the kernels read it: transposed and padded, or its rows padded if they are gathered node by node."""

    array: Tensor
    shape: torch.Size
    gathered: bool

    @classmethod
    def of(cls, Q: Tensor, positions: Positions) -> "_Sources":
        gathered = positions.source is not None
        rows, columns = Q.shape if gathered else Q.t().shape
        padding = 0 if gathered else LARGEST  # a row of anchors is read in whole registers
        size = -(-(columns + padding) // LARGEST) * LARGEST
        array = _paged(1, rows * size, Q.dtype)[0, : rows * size].view(rows, size)
        array[:, :columns] = Q.detach() if gathered else Q.detach().t()
        array[:, columns:] = 0
        return cls(array, Q.shape, gathered)

    def parts(self, num_nodes: int) -> int:
        """How many partial sums to keep; gathered rows are many, and each sum should stay in the cache."""
        return num_parts(num_nodes, self.shape.numel(), 1 << 19 if self.gathered else 1 << 22)

    def room(self, parts: int) -> Tensor:
        """Where the kernels add up the gradient, part by part."""
        return _paged(parts, self.array.numel(), self.array.dtype)

    def gradient(self, room: Tensor) -> Tensor:
        """The gradient of Q from that of the parts."""
        total = room[:, : self.array.numel()].sum(0).view(self.array.shape)
        return total[:, : self.shape[1]] if self.gathered else total[:, : self.shape[0]].t()


class Aggregate(torch.autograd.Function):
    """Fused sum of messages, weighted equally or by attention."""

    @staticmethod
    def forward(
        ctx: Any, positions: Positions, to: Tensor, back: Tensor, background: Tensor, P: Tensor, Q: Tensor, bias: Tensor,
        u: Tensor | None, a: Tensor | None, floor: float, slope: float,
    ) -> Tensor:  # fmt: skip
        out = empty(P.shape, P.dtype)
        alpha = empty((len(P), 0 if u is None else positions.width), P.dtype)
        ctx.positions, ctx.floor, ctx.slope, ctx.sources = positions, floor, slope, _Sources.of(Q, positions)
        dtype, nothing = NUMPY_TYPES[P.dtype], np.empty(0, NUMPY_TYPES[P.dtype])
        logits = (u is not None, nothing if u is None else _numpy(u), nothing if a is None else _numpy(a), dtype(slope))
        kernels.aggregate(
            *_messages(ctx, to, back, background, P, bias),
            *logits,
            num_parts(len(P), Q.numel()),
            alpha.numpy(),
            out.numpy(),
        )
        ctx.save_for_backward(to, back, background, P, bias, a, alpha, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        to, back, background, P, bias, a, alpha, out = ctx.saved_tensors
        parts = ctx.sources.parts(len(P))
        wants_map = any(ctx.needs_input_grad[1:4])
        dT, dF = (empty(to.shape, to.dtype) if wants_map else to.new_empty(0) for _ in range(2))
        dP, du, dQ = empty(P.shape, P.dtype), P.new_empty(len(P)), ctx.sources.room(parts)
        dbias, da = (P.new_zeros(parts, P.size(1), LARGEST) for _ in range(2))
        dbackground = P.new_zeros(parts)
        vector = np.empty(0, NUMPY_TYPES[P.dtype]) if a is None else _numpy(a)
        kernels.aggregate_backward(
            *_messages(ctx, to, back, background, P, bias), a is not None, vector, vector.dtype.type(ctx.slope), parts,
            *(_numpy(x) for x in (alpha, out, gradient)),
            *(x.numpy() for x in (dT, dF, dbackground, dP, dQ, dbias, du, da)),
        )  # fmt: skip
        maps = (dT, dF, dbackground.sum()) if wants_map else (None, None, None)
        attention = (None, None) if a is None else (du, da.sum((0, 2)))
        return None, *maps, dP, ctx.sources.gradient(dQ), dbias.sum((0, 2)), *attention, None, None


class Project(torch.autograd.Function):
    """Fused product of every message with a vector."""

    @staticmethod
    def forward(
        ctx: Any, positions: Positions, to: Tensor, back: Tensor, background: Tensor, P: Tensor, Q: Tensor, bias: Tensor,
        w: Tensor, floor: float,
    ) -> Tensor:  # fmt: skip
        out = empty((len(P), positions.width), P.dtype)
        ctx.positions, ctx.floor, ctx.sources = positions, floor, _Sources.of(Q, positions)
        ctx.save_for_backward(to, back, background, P, bias, w)
        kernels.project(
            *_messages(ctx, to, back, background, P, bias), _numpy(w), ctx.sources.parts(len(P)), out.numpy()
        )
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        to, back, background, P, bias, w = ctx.saved_tensors
        parts = ctx.sources.parts(len(P))
        wants_map = any(ctx.needs_input_grad[1:4])
        dT, dF = (empty(to.shape, to.dtype) if wants_map else to.new_empty(0) for _ in range(2))
        dP, dQ = empty(P.shape, P.dtype), ctx.sources.room(parts)
        dbias, dw = (P.new_zeros(parts, P.size(1), LARGEST) for _ in range(2))
        dbackground = P.new_zeros(parts)
        kernels.project_backward(
            *_messages(ctx, to, back, background, P, bias), _numpy(w), parts, _numpy(gradient),
            *(x.numpy() for x in (dT, dF, dbackground, dP, dQ, dbias, dw)),
        )  # fmt: skip
        maps = (dT, dF, dbackground.sum()) if wants_map else (None, None, None)
        return None, *maps, dP, ctx.sources.gradient(dQ), dbias.sum((0, 2)), dw.sum((0, 2)), None


def _messages(ctx: Any, to: Tensor, back: Tensor, background: Tensor, P: Tensor, bias: Tensor) -> tuple[Any, ...]:
    """What the kernels need to make messages."""
    dtype = NUMPY_TYPES[P.dtype]
    return (
        _numpy(to), _numpy(back), *_layout(ctx.positions), ctx.positions.width, dtype(background.item()),
        _numpy(P), ctx.sources.array.numpy(), _numpy(bias), dtype(ctx.floor),
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
            linear_kernels.attention_logits(*sides, *arrays, arrays[0].dtype.type(slope), alpha.numpy())
            torch.softmax(positions.matrix(alpha), 1, out=positions.matrix(alpha))
            linear_kernels.attention_sums(*sides, alpha.numpy(), reach.numpy(), weighted.numpy())
            ctx.save_for_backward(to, back, u, p, q, alpha)
            return reach, weighted
        ctx.save_for_backward(to, back, u, p, q, alpha)
        linear_kernels.attention_weights(
            _numpy(to), _numpy(back), *_entries(positions), *arrays, arrays[0].dtype.type(slope),
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
        linear_kernels.attention_weights_backward(
            _numpy(to), _numpy(back), *_entries(ctx.positions), *arrays, arrays[0].dtype.type(ctx.slope),
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
        linear_kernels.row_product(_numpy(values), *_entries(positions)[:3], _numpy(Q), out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        values, Q = ctx.saved_tensors
        parts = num_parts(len(gradient), Q.numel())
        dvalues, dQ = empty(values.shape, values.dtype), Q.new_zeros(parts, *Q.shape)
        linear_kernels.row_product_backward(
            _numpy(values),
            *_entries(ctx.positions)[:3],
            _numpy(Q),
            _numpy(gradient),
            parts,
            dvalues.numpy(),
            dQ.numpy(),
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
        arrays = (_numpy(to), _numpy(back), *_readout_layout(positions), _numpy(p), _numpy(q))
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
            _numpy(to), _numpy(back), *_readout_layout(ctx.positions), _numpy(p), _numpy(q), _numpy(gradient), parts,
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

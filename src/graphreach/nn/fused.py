"""The fused kernels as differentiable functions."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from graphreach.nn.kernels import messages as kernels
from graphreach.nn.kernels.memory import NUMPY_TYPES
from graphreach.nn.kernels.memory import empty as empty
from graphreach.nn.kernels.rows import PAGE
from graphreach.nn.kernels.simd import LARGEST
from graphreach.nn.positions import Positions


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


def as_array(tensor: Tensor | None) -> Any:
    """A tensor's numbers as a contiguous NumPy array."""
    return None if tensor is None else tensor.detach().contiguous().numpy()


def _paged(rows: int, length: int, dtype: Any) -> Any:
    """An uninitialised matrix whose rows begin at pages, see :data:`graphreach.nn.kernels.rows.PAGE`."""
    size = np.dtype(dtype).itemsize
    stride = -(-length * size // PAGE) * PAGE // size
    memory = np.empty(rows * stride + PAGE // size, dtype)
    skip = -memory.ctypes.data % PAGE // size
    return memory[skip : skip + rows * stride].reshape(rows, stride)


class Sources(NamedTuple):
    """Q as the kernels read it: transposed and padded, or its rows padded if they are gathered node by node."""

    array: Any
    shape: torch.Size
    gathered: bool

    @classmethod
    def of(cls, Q: Tensor, positions: Positions) -> "Sources":
        """From the rows of all anchors."""
        gathered = positions.source is not None
        matrix = Q.detach().numpy() if gathered else Q.detach().numpy().T
        rows, columns = matrix.shape
        padding = 0 if gathered else LARGEST  # a row of anchors is read in whole registers
        size = -(-(columns + padding) // LARGEST) * LARGEST
        array = _paged(1, rows * size, matrix.dtype)[0, : rows * size].reshape(rows, size)
        array[:, :columns] = matrix
        array[:, columns:] = 0
        return cls(array, Q.shape, gathered)

    def parts(self, num_nodes: int) -> int:
        """How many partial sums to keep; gathered rows are many, and each sum should stay in the cache."""
        return num_parts(num_nodes, self.shape.numel(), 1 << 19 if self.gathered else 1 << 22)

    def room(self, parts: int) -> Any:
        """Where the kernels add up the gradient, part by part."""
        return _paged(parts, self.array.size, self.array.dtype)

    def gradient(self, room: Any) -> Tensor:
        """The gradient of Q from that of the parts."""
        total = room[:, : self.array.size].sum(0).reshape(self.array.shape)
        return torch.from_numpy(total[:, : self.shape[1]] if self.gathered else total[:, : self.shape[0]].T)


class Aggregate(torch.autograd.Function):
    """Fused sum of messages, weighted equally or by attention."""

    @staticmethod
    def forward(
        ctx: Any, positions: Positions, to: Tensor, back: Tensor, background: Tensor, P: Tensor, Q: Tensor, bias: Tensor,
        u: Tensor | None, a: Tensor | None, floor: float, slope: float,
    ) -> Tensor:  # fmt: skip
        out = empty(P.shape, P.dtype)
        alpha = empty((len(P), 0 if u is None else positions.width), P.dtype)
        ctx.positions, ctx.floor, ctx.slope, ctx.sources = positions, floor, slope, Sources.of(Q, positions)
        dtype, nothing = NUMPY_TYPES[P.dtype], np.empty(0, NUMPY_TYPES[P.dtype])
        logits = (
            u is not None,
            nothing if u is None else as_array(u),
            nothing if a is None else as_array(a),
            dtype(slope),
        )
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
        vector = np.empty(0, NUMPY_TYPES[P.dtype]) if a is None else as_array(a)
        kernels.aggregate_backward(
            *_messages(ctx, to, back, background, P, bias), a is not None, vector, vector.dtype.type(ctx.slope), parts,
            *(as_array(x) for x in (alpha, out, gradient)),
            *(x.numpy() for x in (dT, dF, dbackground, dP)), dQ, *(x.numpy() for x in (dbias, du, da)),
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
        ctx.positions, ctx.floor, ctx.sources = positions, floor, Sources.of(Q, positions)
        ctx.save_for_backward(to, back, background, P, bias, w)
        kernels.project(
            *_messages(ctx, to, back, background, P, bias), as_array(w), ctx.sources.parts(len(P)), out.numpy()
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
            *_messages(ctx, to, back, background, P, bias), as_array(w), parts, as_array(gradient),
            *(x.numpy() for x in (dT, dF, dbackground, dP)), dQ, dbias.numpy(), dw.numpy(),
        )  # fmt: skip
        maps = (dT, dF, dbackground.sum()) if wants_map else (None, None, None)
        return None, *maps, dP, ctx.sources.gradient(dQ), dbias.sum((0, 2)), dw.sum((0, 2)), None


def _messages(ctx: Any, to: Tensor, back: Tensor, background: Tensor, P: Tensor, bias: Tensor) -> tuple[Any, ...]:
    """What the kernels need to make messages."""
    dtype = NUMPY_TYPES[P.dtype]
    return (
        as_array(to), as_array(back), *ctx.positions.layout, ctx.positions.width, dtype(background.item()),
        as_array(P), ctx.sources.array, as_array(bias), dtype(ctx.floor),
    )  # fmt: skip

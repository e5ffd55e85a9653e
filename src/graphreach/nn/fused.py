"""The fused kernels as differentiable functions."""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from graphreach.nn.kernels import attention
from graphreach.nn.kernels import messages as kernels
from graphreach.nn.kernels.messages import Gradients
from graphreach.nn.kernels.rows import GATHERED
from graphreach.nn.kernels.simd import LARGEST
from graphreach.nn.positions import Positions

NUMPY_TYPES = {torch.float32: np.float32, torch.float64: np.float64}

EPSILON = 1e-12
"""Norm below which a row is not scaled up any further, as in PyTorch."""


def num_parts(num_nodes: int, size: int, most: int = 1 << 22) -> int:
    """How many partial sums of ``size`` numbers to keep: a function of shapes only, so that results repeat."""
    return max(1, min(16, num_nodes, max(2, most // max(1, size))))


def apply(function: Any, *arguments: Any) -> Any:
    """Call an autograd function, whose ``apply`` has no types."""
    return function.apply(*arguments)


def as_array(tensor: Tensor) -> Any:
    """A tensor's numbers as a contiguous NumPy array."""
    return tensor.detach().contiguous().numpy()


def _messages(positions: Positions, floor: float, saved: tuple[Tensor, ...]) -> kernels.Messages:
    """What the kernels make messages of."""
    to, back, background, P, Q, bias = saved
    dtype = NUMPY_TYPES[P.dtype]
    gathered, rest = positions.kind == GATHERED, LARGEST + -len(Q) % LARGEST
    sources = as_array(Q if gathered else F.pad(Q.t(), (0, rest)))  # a row of anchors is read in whole registers
    return kernels.Messages(
        as_array(to), as_array(back), dtype(background.item()), as_array(P), sources, as_array(bias), dtype(floor)
    )


class Messages(torch.autograd.Function):
    """Messages, fused with their sum, weighted equally or by attention (if there is u), or with a product with w."""

    @staticmethod
    def forward(
        ctx: Any, positions: Positions, to: Tensor, back: Tensor, background: Tensor, P: Tensor, Q: Tensor, bias: Tensor,
        u: Tensor | None, vector: Tensor | None, floor: float, slope: float, project: bool,
    ) -> Tensor:  # fmt: skip
        ctx.positions, ctx.floor, ctx.project = positions, floor, project
        ctx.attention, ctx.slope = u is not None, NUMPY_TYPES[P.dtype](slope)
        vector = torch.zeros_like(bias) if vector is None else vector
        out = P.new_empty(len(P), positions.width) if project else torch.empty_like(P)
        alpha = P.new_empty(len(P), positions.width if ctx.attention else 0)
        messages = _messages(positions, floor, (to, back, background, P, Q, bias))
        kernels.forward(
            messages, positions.layout, project, None if u is None else as_array(u), as_array(vector), ctx.slope,
            num_parts(len(P), Q.numel()), alpha.numpy(), out.numpy(),
        )  # fmt: skip
        ctx.save_for_backward(to, back, background, P, Q, bias, vector, alpha, out if ctx.attention else alpha)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        *saved, vector, alpha, out = ctx.saved_tensors
        messages = _messages(ctx.positions, ctx.floor, tuple(saved))
        parts, gradients = Messages.room(ctx, messages)
        du = out.new_empty(len(out)) if ctx.attention else None
        kernels.backward(
            messages, ctx.positions.layout, ctx.project, as_array(vector), ctx.slope, parts, as_array(alpha),
            as_array(out), as_array(gradient), gradients, None if du is None else du.numpy(),
        )  # fmt: skip
        *found, dvector = Messages.collect(ctx, gradients)
        return None, *found, du, dvector if ctx.attention or ctx.project else None, None, None, None

    @staticmethod
    def room(ctx: Any, messages: kernels.Messages) -> tuple[int, Gradients]:
        """The number of parts, and where the kernels put gradients."""
        gathered = ctx.positions.kind == GATHERED  # gathered rows are many, and each sum should stay in the cache
        parts = num_parts(len(messages.P), messages.Q.size, 1 << 19 if gathered else 1 << 22)
        wanted = any(ctx.needs_input_grad[1:4])
        dtype, empty = messages.P.dtype, np.empty(0, messages.P.dtype)
        to, back = (np.empty_like(messages.to) if wanted else empty for _ in range(2))
        bias, vector = (np.zeros((parts, len(messages.bias), LARGEST), dtype) for _ in range(2))
        dQ = torch.from_numpy(messages.P).new_zeros(parts, *messages.Q.shape).numpy()
        return parts, Gradients(to, back, np.zeros(parts, dtype), np.empty_like(messages.P), dQ, bias, vector)

    @staticmethod
    def collect(ctx: Any, gradients: Gradients) -> tuple[Tensor | None, ...]:
        """Gradients of similarities, background, P, Q, bias and vector."""
        dQ = torch.from_numpy(gradients.Q.sum(0))
        sums = [torch.from_numpy(each.sum((0, 2))) for each in (gradients.bias, gradients.vector)]
        maps: tuple[Tensor | None, ...] = (None, None, None)
        if len(gradients.to) or any(ctx.needs_input_grad[1:4]):
            background = torch.from_numpy(gradients.background).sum()
            maps = (torch.from_numpy(gradients.to), torch.from_numpy(gradients.back), background)
        own = dQ if ctx.positions.kind == GATHERED else dQ[:, : len(ctx.positions.anchor_index)].t()
        return *maps, torch.from_numpy(gradients.P), own, *sums


class AttentionWeights(torch.autograd.Function):
    """Attention of linear messages: sum_i alpha_i t_i of each node, and alpha f of each entry."""

    @staticmethod
    def forward(
        ctx: Any, positions: Positions, to: Tensor, back: Tensor, u: Tensor, p: Tensor, q: Tensor, slope: float
    ) -> tuple[Tensor, Tensor]:
        alpha, weighted, reach = torch.empty_like(to), torch.empty_like(to), torch.empty_like(u)
        ctx.positions, ctx.slope = positions, NUMPY_TYPES[u.dtype](slope)
        arrays = [as_array(each) for each in (to, back, u, p, q)]
        results = (each.numpy() for each in (alpha, reach, weighted))
        attention.attention_weights(*arrays[:2], positions.layout, *arrays[2:], ctx.slope, *results)
        ctx.save_for_backward(to, back, u, p, q, alpha)
        return reach, weighted

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dreach: Tensor, dweighted: Tensor) -> Any:
        *saved, alpha = ctx.saved_tensors
        to, _, u, _, q = saved
        parts, wanted = num_parts(len(u), q.numel()), any(ctx.needs_input_grad[1:3])
        dto, dback = (torch.empty_like(to) if wanted else to.new_empty(0) for _ in range(2))
        du, dp, dq = torch.empty_like(u), torch.empty_like(u), q.new_zeros(parts, q.numel())
        arrays = [as_array(each) for each in (*saved, alpha, dreach, dweighted)]
        attention.attention_weights_backward(
            *arrays[:2], ctx.positions.layout, *arrays[2:5], ctx.slope, *arrays[5:], parts,
            *(each.numpy() for each in (du, dp, dq, dto, dback)),
        )  # fmt: skip
        return None, *((dto, dback) if wanted else (None, None)), du, dp, dq.sum(0), None


class RowProduct(torch.autograd.Function):
    """A position matrix times the anchors' rows, where no single matrix product does it."""

    @staticmethod
    def forward(ctx: Any, positions: Positions, values: Tensor, Q: Tensor) -> Tensor:
        out = Q.new_empty(positions.num_nodes, Q.size(1))
        ctx.positions = positions
        ctx.save_for_backward(values, Q)
        attention.row_product(as_array(values), positions.layout, as_array(Q), out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        values, Q = ctx.saved_tensors
        parts = num_parts(len(gradient), Q.numel())
        dvalues, dQ = torch.empty_like(values), Q.new_zeros(parts, *Q.shape)
        arrays = (as_array(values), ctx.positions.layout, as_array(Q), as_array(gradient), parts)
        attention.row_product_backward(*arrays, dvalues.numpy(), dQ.numpy())
        return None, dvalues, dQ.sum(0)


class LinearProject(torch.autograd.Function):
    """t p_v + f q_i of every node and anchor."""

    @staticmethod
    def forward(ctx: Any, positions: Positions, to: Tensor, back: Tensor, p: Tensor, q: Tensor) -> Tensor:
        ctx.positions = positions
        ctx.save_for_backward(to, back, p, q)
        out = p.new_empty(len(p), positions.width)
        arrays = [as_array(each) for each in (to, back, p, q)]
        attention.linear_project(*arrays[:2], positions.layout, *arrays[2:], out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        to, back, p, q = ctx.saved_tensors
        parts, wanted = num_parts(len(p), q.numel()), any(ctx.needs_input_grad[1:3])
        dto, dback = (torch.empty_like(to) if wanted else to.new_empty(0) for _ in range(2))
        dp, dq = torch.empty_like(p), q.new_zeros(parts, q.numel())
        arrays = [as_array(each) for each in (to, back, p, q, gradient)]
        attention.linear_project_backward(
            *arrays[:2], ctx.positions.layout, *arrays[2:], parts, *(each.numpy() for each in (dp, dq, dto, dback))
        )
        return None, *((dto, dback) if wanted else (None, None)), dp, dq.sum(0)


class Normalize(torch.autograd.Function):
    """Rows scaled to unit length."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        norm = torch.linalg.vector_norm(x, dim=1, keepdim=True)
        out: Tensor = x / norm.clamp(min=EPSILON)
        ctx.save_for_backward(out, norm)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        out, norm = ctx.saved_tensors
        along = (gradient * out).sum(1, keepdim=True) * (norm > EPSILON)
        return torch.addcmul(gradient, out, along, value=-1).div_(norm.clamp(min=EPSILON))

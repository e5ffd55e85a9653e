"""Messages and their aggregation as differentiable functions.

On the CPU the fused kernels of :mod:`graphreach.nn.message_kernels` do the work; elsewhere, and under ``torch.compile``,
plain PyTorch does, block by block. Both give the same numbers to single precision.
"""

import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

from graphreach.nn import message_kernels as kernels
from graphreach.nn import readout_kernels
from graphreach.nn.positions import Positions

NUMPY_TYPES = {torch.float32: np.float32, torch.float64: np.float64}

EPSILON = 1e-12
"""Norm below which a row is not scaled up any further, as in PyTorch."""

PLAIN_BLOCK = 1 << 22
"""Numbers of an n x k x d tensor that the plain path makes at a time."""


def use_kernels(*tensors: Tensor) -> bool:
    """Whether the fused kernels apply: CPU tensors, outside ``torch.compile``."""
    return not torch.compiler.is_compiling() and all(tensor.device.type == "cpu" for tensor in tensors)


def num_parts(num_nodes: int, size: int) -> int:
    """How many partial sums of ``size`` numbers to keep: a function of shapes only, so that results repeat."""
    return max(1, min(16, num_nodes, max(2, (1 << 22) // max(1, size))))


def empty(shape: Any, dtype: torch.dtype) -> Tensor:
    """An uninitialised CPU tensor whose memory NumPy asks for: in large pages, which take far fewer page faults."""
    return torch.from_numpy(np.empty(tuple(shape), NUMPY_TYPES[dtype]))


def fused(function: Any, *arguments: Any) -> Any:
    """Call an autograd function, whose ``apply`` has no types."""
    return function.apply(*arguments)


def _numpy(tensor: Tensor | None) -> Any:
    return None if tensor is None else tensor.detach().contiguous().numpy()


def _layout(positions: Positions) -> tuple[Any, ...]:
    names = ("pointer", "column", "first_anchor", "num_anchors")
    return tuple(_numpy(getattr(positions, name)) for name in names)


class _Aggregate(torch.autograd.Function):
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


class _Project(torch.autograd.Function):
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


class _AttentionWeights(torch.autograd.Function):
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


class _RowProduct(torch.autograd.Function):
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


class _MatrixProduct(torch.autograd.Function):
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


class _ProjectLinear(torch.autograd.Function):
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


class _Normalize(torch.autograd.Function):
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


def normalize(x: Tensor) -> Tensor:
    """Rows of unit length (zero rows stay zero), as :func:`torch.nn.functional.normalize`, in one pass each way."""
    if x.dim() != 2 or not use_kernels(x) or not x.numel():
        return F.normalize(x, dim=-1)
    result: Tensor = fused(_Normalize, x)
    return result


def aggregate(
    positions: Positions, to: Tensor, back: Tensor, background: Tensor, P: Tensor, Q: Tensor, bias: Tensor,
    u: Tensor | None, a: Tensor | None, *, relu: bool, slope: float,
) -> Tensor:  # fmt: skip
    """Sum of messages: their mean (Eq. 6) if ``u`` is None, else by attention (Eqs. 7-8, before W_att)."""
    floor = 0.0 if relu else -math.inf
    if use_kernels(P, Q, to):
        result: Tensor = fused(_Aggregate, positions, to, back, background, P, Q, bias, u, a, floor, slope)
        return result
    return torch.cat(
        [
            _checkpointed(
                _plain_aggregate, t, f, mask, P[rows], anchors, bias, None if u is None else u[rows], a, floor, slope
            )
            for rows, t, f, mask, anchors in _plain_blocks(positions, to, back, background, Q)
        ]
    )


def project(
    positions: Positions, to: Tensor, back: Tensor, background: Tensor, P: Tensor, Q: Tensor, bias: Tensor, w: Tensor,
    *, relu: bool,
) -> Tensor:  # fmt: skip
    """Every message's product with ``w``, ``[n, width]``: the last layer (Algorithm 1, line 8), before sigma."""
    floor = 0.0 if relu else -math.inf
    if use_kernels(P, Q, to):
        result: Tensor = fused(_Project, positions, to, back, background, P, Q, bias, w, floor)
        return result
    return torch.cat(
        [
            _checkpointed(_plain_project, t, f, mask, P[rows], anchors, bias, w, floor)
            for rows, t, f, mask, anchors in _plain_blocks(positions, to, back, background, Q)
        ]
    )


def linear_mean(positions: Positions, to: Tensor, back: Tensor, P: Tensor, Q: Tensor) -> Tensor:
    """Eq. 6 for linear messages without bias: (rowsum(T) P + F Q) / k."""
    total = row_sums(positions, to).unsqueeze(-1) * P + row_product(positions, back, Q)
    return total / positions.num_anchors.unsqueeze(-1).to(P.dtype)


def linear_attention(
    positions: Positions, to: Tensor, back: Tensor, P: Tensor, Q: Tensor, u: Tensor, a: Tensor, *, slope: float
) -> Tensor:
    """Eqs. 7-8 (before W_att) for linear messages without bias: rowsum(alpha T) P + (alpha F) Q."""
    p, q = P @ a, Q @ a
    reach: Tensor
    if use_kernels(P, Q, to):
        reach, weighted = fused(_AttentionWeights, positions, to, back, u, p, q, slope)
    else:
        reach, weighted = _plain_attention_weights(positions, to, back, u, p, q, slope)
    return reach.unsqueeze(-1) * P + row_product(positions, weighted, Q)


def linear_project(positions: Positions, to: Tensor, back: Tensor, P: Tensor, Q: Tensor, w: Tensor) -> Tensor:
    """Z before sigma for linear messages without bias: t (P w)_v + f (Q w)_i, ``[n, width]``."""
    p, q = P @ w, Q @ w
    if use_kernels(P, Q, to):
        result: Tensor = fused(_ProjectLinear, positions, to, back, p, q)
        return result
    if positions.rectangular:
        return positions.matrix(to) * p.unsqueeze(-1) + positions.matrix(back) * q
    node, anchor = entry_nodes(positions), entry_anchors(positions)
    values = to * p[node] + back * q[anchor]
    return scatter_dense(positions, values, 0.0)


def row_sums(positions: Positions, values: Tensor) -> Tensor:
    """The sum of each node's entries."""
    if positions.rectangular:
        return positions.matrix(values).sum(1)
    return values.new_zeros(positions.num_nodes).index_add(0, entry_nodes(positions), values)


def row_product(positions: Positions, values: Tensor, Q: Tensor) -> Tensor:
    """For each node the sum of its entries times the anchors' rows of Q."""
    if use_kernels(values, Q):
        matrix = positions.rectangular
        result: Tensor = (
            fused(_MatrixProduct, positions.matrix(values), Q) if matrix else fused(_RowProduct, positions, values, Q)
        )
        return result
    if positions.rectangular:
        return positions.matrix(values) @ Q
    terms = values.unsqueeze(-1) * Q[entry_anchors(positions)]
    return Q.new_zeros(positions.num_nodes, Q.size(1)).index_add(0, entry_nodes(positions), terms)


def entry_nodes(positions: Positions) -> Tensor:
    """The node of each entry."""
    lengths = positions.pointer[1:] - positions.pointer[:-1]
    nodes = torch.arange(positions.num_nodes, device=lengths.device)
    return torch.repeat_interleave(nodes, lengths, output_size=positions.to_values.size(0))


def entry_anchors(positions: Positions) -> Tensor:
    """The anchor's number of each entry."""
    if positions.column is not None:
        return positions.column
    node = entry_nodes(positions)
    offset = torch.arange(node.numel(), device=node.device) - positions.pointer[node]
    return positions.first_anchor[node] + offset


def scatter_dense(positions: Positions, values: Tensor, background: float | Tensor) -> Tensor:
    """Entries as ``[n, width]``; ``background`` where an anchor has no entry, zero beyond a graph's own anchors."""
    node = entry_nodes(positions)
    inside = torch.arange(positions.width, device=node.device) < positions.num_anchors.unsqueeze(-1)
    dense = inside.to(values.dtype) * background
    return dense.index_put((node, entry_anchors(positions) - positions.first_anchor[node]), values)


def _plain_blocks(positions: Positions, to: Tensor, back: Tensor, background: Tensor, Q: Tensor) -> Any:
    """Rows with all their entries, as dense blocks, a mask of real anchors and the anchors' rows of Q."""
    columns = torch.arange(positions.width, device=to.device)
    if positions.rectangular:
        t, f = positions.matrix(to), positions.matrix(back)
    else:
        t, f = scatter_dense(positions, to, background), scatter_dense(positions, back, background)
    size = max(1, PLAIN_BLOCK // max(1, positions.width * Q.size(1)))
    for begin in range(0, positions.num_nodes, size):
        rows = slice(begin, begin + size)
        mask = columns < positions.num_anchors[rows].unsqueeze(-1)
        if positions.rectangular:
            anchors = Q.unsqueeze(0)
        else:
            anchors = Q[(positions.first_anchor[rows].unsqueeze(-1) + columns).clamp(max=len(Q) - 1)]
        yield rows, t[rows], f[rows], mask, anchors


def _plain_messages(t: Tensor, f: Tensor, P: Tensor, anchors: Tensor, bias: Tensor, floor: float) -> Tensor:
    messages = t.unsqueeze(-1) * P.unsqueeze(1) + f.unsqueeze(-1) * anchors + bias
    return messages.relu() if floor == 0.0 else messages


def _plain_aggregate(
    t: Tensor, f: Tensor, mask: Tensor, P: Tensor, anchors: Tensor, bias: Tensor, u: Tensor | None, a: Tensor | None,
    floor: float, slope: float,
) -> Tensor:  # fmt: skip
    messages = _plain_messages(t, f, P, anchors, bias, floor)
    if u is None or a is None:
        weight = mask.to(P.dtype) / mask.sum(1, keepdim=True)
    else:
        logits = F.leaky_relu(u.unsqueeze(-1) + messages @ a, slope)
        weight = logits.masked_fill(~mask, -math.inf).softmax(1)
    return torch.einsum("vi,vid->vd", weight, messages)


def _plain_project(
    t: Tensor, f: Tensor, mask: Tensor, P: Tensor, anchors: Tensor, bias: Tensor, w: Tensor, floor: float
) -> Tensor:
    return (_plain_messages(t, f, P, anchors, bias, floor) @ w) * mask


def _plain_attention_weights(
    positions: Positions, to: Tensor, back: Tensor, u: Tensor, p: Tensor, q: Tensor, slope: float
) -> tuple[Tensor, Tensor]:
    if positions.rectangular:
        t, f = positions.matrix(to), positions.matrix(back)
        alpha = F.leaky_relu(u.unsqueeze(-1) + t * p.unsqueeze(-1) + f * q, slope).softmax(1)
        return (alpha * t).sum(1), (alpha * f).flatten()
    node, anchor = entry_nodes(positions), entry_anchors(positions)
    logits = scatter_dense(positions, to * p[node] + back * q[anchor], 0.0) + u.unsqueeze(-1)
    inside = torch.arange(positions.width, device=u.device) < positions.num_anchors.unsqueeze(-1)
    alpha = F.leaky_relu(logits, slope).masked_fill(~inside, -math.inf).softmax(1)
    entry = alpha[node, anchor - positions.first_anchor[node]]
    return row_sums(positions, entry * to), entry * back


def _checkpointed(function: Any, *arguments: Any) -> Tensor:
    """Free the n x k x d block after use and make it again for its gradient, unless it is compiled anyway."""
    if torch.compiler.is_compiling() or not torch.is_grad_enabled():
        plain: Tensor = function(*arguments)
        return plain
    result: Tensor = checkpoint(function, *arguments, use_reentrant=False)
    return result

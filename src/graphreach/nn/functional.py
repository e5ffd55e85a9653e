"""Messages and their aggregation as differentiable functions.

On the CPU the fused kernels of :mod:`graphreach.nn.kernels.messages` do the work; elsewhere, and under ``torch.compile``,
plain PyTorch does, block by block. Both give the same numbers to single precision.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from graphreach.nn import fused
from graphreach.nn.device import use_kernels
from graphreach.nn.positions import GatheredPositions, Positions, sum_rows

PLAIN_BLOCK = 1 << 22
"""Numbers of an n x k x d tensor that the plain path makes at a time."""


def normalize(x: Tensor) -> Tensor:
    """Rows of unit length (zero rows stay zero), as :func:`torch.nn.functional.normalize`, in a fifth of the time."""
    if x.dim() != 2 or not x.numel() or not use_kernels(x):
        return F.normalize(x, dim=-1)
    result: Tensor = fused.apply(fused.Normalize, x)
    return result


def join_columns(parts: list[Tensor]) -> Tensor:
    """Columns of several tensors as one; a single tensor itself, since word vectors are too wide to copy in every step."""
    return parts[0] if len(parts) == 1 else torch.cat(parts, -1)


def aggregate(
    positions: Positions, to: Tensor, back: Tensor, background: Tensor, P: Tensor, Q: Tensor, bias: Tensor,
    u: Tensor | None, a: Tensor | None, *, relu: bool, slope: float,
) -> Tensor:  # fmt: skip
    """Sum of messages: their mean (Eq. 6) if ``u`` is None, else by attention (Eqs. 7-8, before W_att)."""
    floor = 0.0 if relu else -math.inf
    if use_kernels(P, Q, to):
        arguments = (positions, to, back, background, P, Q, bias, u, a, floor, slope, False)
        result: Tensor = fused.apply(fused.Messages, *arguments)
        return result
    blocks = []
    for rows, *block in _plain_blocks(positions, to, back, background, Q):
        own = None if u is None else u[rows]
        blocks.append(_checkpointed(_plain_aggregate, *block, P[rows], bias, own, a, floor, slope))
    return torch.cat(blocks)


def project(
    positions: Positions, to: Tensor, back: Tensor, background: Tensor, P: Tensor, Q: Tensor, bias: Tensor, w: Tensor,
    *, relu: bool,
) -> Tensor:  # fmt: skip
    """Every message's product with ``w``, ``[n, width]``: the last layer (Algorithm 1, line 8), before sigma."""
    floor = 0.0 if relu else -math.inf
    if use_kernels(P, Q, to):
        arguments = (positions, to, back, background, P, Q, bias, None, w, floor, 0.0, True)
        result: Tensor = fused.apply(fused.Messages, *arguments)
        return result
    blocks = _plain_blocks(positions, to, back, background, Q)
    return torch.cat([_checkpointed(_plain_project, *block, P[rows], bias, w, floor) for rows, *block in blocks])


def linear_mean(positions: Positions, to: Tensor, back: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    """Eq. 6 for linear messages without bias: (rowsum(T) P + F Q) / k with P = H W_1 and Q = H_A W_2.

    Sums are over the narrower of H_A and Q.
    """
    d, k = x.size(1), positions.num_anchors.unsqueeze(-1).to(x.dtype)
    near, anchors = row_sums(positions, to).unsqueeze(-1), x.index_select(0, positions.anchor_index)
    if d < weight.size(1):
        features = torch.cat([near * x, row_product(positions, back, anchors)], 1)
        return (features / k) @ weight
    total = near * (x @ weight[:d]) + row_product(positions, back, anchors @ weight[d:])
    return total / k


def attend(
    positions: Positions, to: Tensor, back: Tensor, X: Tensor, u: Tensor, p: Tensor, q: Tensor, *, slope: float
) -> tuple[Tensor, Tensor]:
    """Attention with logits LeakyReLU(u_v + t p_v + f q_i): sum_i alpha_i t_i and sum_i alpha_i f_i X_i, Eqs. 7-8."""
    if use_kernels(X, u, to):
        reach, weighted = fused.apply(fused.AttentionWeights, positions, to, back, u, p, q, slope)
    else:
        reach, weighted = _plain_attention_weights(positions, to, back, u, p, q, slope)
    return reach, row_product(positions, weighted, X)


def linear_project(positions: Positions, to: Tensor, back: Tensor, p: Tensor, q: Tensor) -> Tensor:
    """Z before sigma for linear messages without bias: t (P w)_v + f (Q w)_i, ``[n, width]``, from p = P w and q = Q w."""
    if use_kernels(p, q, to):
        result: Tensor = fused.apply(fused.LinearProject, positions, to, back, p, q)
        return result
    if positions.rectangular:
        return torch.addcmul(positions.matrix(to) * p.unsqueeze(-1), positions.matrix(back), q)
    values = torch.addcmul(to * p[positions.entry_nodes], back, q[positions.entry_anchors])
    return scatter_dense(positions, values, 0.0)


def row_sums(positions: Positions, values: Tensor) -> Tensor:
    """The sum of each node's entries."""
    known = values is positions.to_values and not values.requires_grad and not torch.compiler.is_compiling()
    return positions.reach_sums if known else sum_rows(positions, values)


def row_product(positions: Positions, values: Tensor, Q: Tensor) -> Tensor:
    """For each node the sum of its entries times the anchors' rows of Q."""
    if positions.rectangular:
        return positions.matrix(values) @ Q
    if use_kernels(values, Q):
        result: Tensor = fused.apply(fused.RowProduct, positions, values, Q)
        return result
    terms = values.unsqueeze(-1) * Q[positions.entry_anchors]
    return Q.new_zeros(positions.num_nodes, Q.size(1)).index_add(0, positions.entry_nodes, terms)


def scatter_dense(positions: Positions, values: Tensor, background: float | Tensor) -> Tensor:
    """Entries as ``[n, width]``; ``background`` where an anchor has no entry, zero beyond a graph's own anchors."""
    node = positions.entry_nodes
    inside = torch.arange(positions.width, device=node.device) < positions.num_anchors.unsqueeze(-1)
    dense = inside.to(values.dtype) * background
    return dense.index_put((node, positions.entry_columns), values)


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
        elif isinstance(positions, GatheredPositions):
            entry = positions.pointer[:-1][rows].unsqueeze(-1) + columns  # beyond a node's own it is any
            anchors = Q[positions.entry_anchors[entry.clamp(max=positions.entry_anchors.numel() - 1)]]
        else:
            anchors = Q[(positions.first_anchor[rows].unsqueeze(-1) + columns).clamp(max=len(Q) - 1)]
        yield rows, t[rows], f[rows], mask, anchors


def _plain_messages(t: Tensor, f: Tensor, P: Tensor, anchors: Tensor, bias: Tensor, floor: float) -> Tensor:
    messages = t.unsqueeze(-1) * P.unsqueeze(1) + f.unsqueeze(-1) * anchors + bias
    return messages.relu() if floor == 0.0 else messages


def _plain_aggregate(
    t: Tensor, f: Tensor, mask: Tensor, anchors: Tensor, P: Tensor, bias: Tensor, u: Tensor | None, a: Tensor | None,
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
    t: Tensor, f: Tensor, mask: Tensor, anchors: Tensor, P: Tensor, bias: Tensor, w: Tensor, floor: float
) -> Tensor:
    return (_plain_messages(t, f, P, anchors, bias, floor) @ w) * mask


def _plain_attention_weights(
    positions: Positions, to: Tensor, back: Tensor, u: Tensor, p: Tensor, q: Tensor, slope: float
) -> tuple[Tensor, Tensor]:
    if positions.rectangular:
        t, f = positions.matrix(to), positions.matrix(back)
        alpha = F.leaky_relu(u.unsqueeze(-1) + t * p.unsqueeze(-1) + f * q, slope).softmax(1)
        return (alpha * t).sum(1), (alpha * f).flatten()
    node, anchor = positions.entry_nodes, positions.entry_anchors
    logits = scatter_dense(positions, to * p[node] + back * q[anchor], 0.0) + u.unsqueeze(-1)
    inside = torch.arange(positions.width, device=u.device) < positions.num_anchors.unsqueeze(-1)
    alpha = F.leaky_relu(logits, slope).masked_fill(~inside, -math.inf).softmax(1)
    entry = alpha[node, positions.entry_columns]
    return row_sums(positions, entry * to), entry * back


def _checkpointed(function: Any, *arguments: Any) -> Tensor:
    """Free the n x k x d block after use and make it again for its gradient, unless it is compiled anyway."""
    if torch.compiler.is_compiling() or not torch.is_grad_enabled():
        plain: Tensor = function(*arguments)
        return plain
    result: Tensor = checkpoint(function, *arguments, use_reentrant=False)
    return result

"""Numba kernels for linear messages, whose attention is one number per entry: a logit is LeakyReLU(u + t p + f q).

Sums over nodes are kept per part, as in :mod:`graphreach.nn.kernels.messages`.
"""

from typing import Any

import numpy as np

from graphreach.jit import borrowed, fast_parallel_kernel, fill, inline_kernel, rows_of
from graphreach.nn.kernels.rows import COMPRESSED, DENSE, fill_row, keep, leaky_softmax, leaky_softmax_backward, padded
from graphreach.nn.kernels.simd import absolute, lanes, load, spread, store, total, zeros

ROWS = 64
"""Rows a thread takes at a time where rows are independent."""


@inline_kernel
def _anchor(layout: Any, v: Any, e: Any) -> Any:
    """The number of the anchor that entry e of node v is about."""
    return np.int64(layout.anchor[e]) if layout.kind != DENSE else layout.first[v] + e - layout.pointer[v]


@inline_kernel
def _entries(values: Any, layout: Any, v: Any, row: Any) -> None:
    """The values of a node's entries, followed by zeros."""
    fill_row(values[layout.pointer[v] : layout.pointer[v + 1]], row)


@inline_kernel
def _entry_anchors(q: Any, layout: Any, v: Any, row: Any) -> None:
    """The numbers of the anchors of a node's entries, followed by zeros."""
    begin, k = layout.pointer[v], layout.pointer[v + 1] - layout.pointer[v]
    if layout.kind == DENSE:
        fill_row(q[layout.first[v] : layout.first[v] + k], row)
        return
    for i in range(k):
        row[i] = q[layout.anchor[begin + i]]
    fill(row[k:], 0)


@inline_kernel
def _add_to_anchors(row: Any, layout: Any, v: Any, dq: Any) -> None:
    begin, k = layout.pointer[v], layout.pointer[v + 1] - layout.pointer[v]
    if layout.kind == DENSE:
        own = dq[layout.first[v] : layout.first[v] + k]
        for i in range(k):
            own[i] += row[i]
        return
    for i in range(k):
        dq[layout.anchor[begin + i]] += row[i]


@inline_kernel
def _logits(t: Any, f: Any, q: Any, u: Any, p: Any, raw: Any) -> None:
    none, step = zeros(t, 1), lanes(t)
    us, ps = spread(u, none), spread(p, none)
    for i in range(0, len(t), step):
        store(raw, i, load(t, i, none) * ps + (load(f, i, none) * load(q, i, none) + us))


@inline_kernel
def _shares(weight: Any, t: Any, f: Any, weighted: Any) -> Any:
    """weighted = alpha f; returns sum_i alpha_i t_i."""
    none, step = zeros(t, 1), lanes(t)
    sums = none
    for i in range(0, len(t), step):
        share = absolute(load(weight, i, none))
        store(weighted, i, share * load(f, i, none))
        sums = share * load(t, i, none) + sums
    return total(sums)


@fast_parallel_kernel
def attention_weights(
    share: Any, to: Any, back: Any, layout: Any, u: Any, p: Any, q: Any, slope: Any, alpha: Any, reach: Any,
    weighted: Any,
) -> None:  # fmt: skip
    """Per entry alpha by Eq. 7 (with the signs of the logits) and weighted = alpha f; per node reach = sum_i alpha_i t_i.

    An anchor without an entry has message zero: it takes its share of the softmax and adds nothing.
    """
    to, back, layout, q, alpha, weighted = borrowed((to, back, layout, q, alpha, weighted))
    n = len(u)
    for b in range(share[0], (n + ROWS - 1) // ROWS, share[1]):
        buffers = np.empty((6, padded(layout.width)), u.dtype)
        for v in range(b * ROWS, min((b + 1) * ROWS, n)):
            begin, end = layout.pointer[v], layout.pointer[v + 1]
            size = padded(end - begin)
            t, f, qs = buffers[0, :size], buffers[1, :size], buffers[2, :size]
            raw, weight, y = buffers[3, :size], buffers[4, :size], buffers[5, :size]
            _entries(to, layout, v, t)
            _entries(back, layout, v, f)
            _entry_anchors(q, layout, v, qs)
            _logits(t, f, qs, u[v], p[v], raw)
            leaky_softmax(raw, end - begin, slope, layout.count[v] - (end - begin), u[v], weight)
            reach[v] = _shares(weight, t, f, y)
            keep(weight, alpha[begin:end])
            keep(y, weighted[begin:end])


@inline_kernel
def _gradient_of_shares(t: Any, f: Any, dreach: Any, dy: Any, weight: Any, out: Any) -> Any:
    """out = dreach t + dy f: the gradient of alpha; returns its mean, weighted by alpha, and the sum of alpha."""
    none, step = zeros(t, 1), lanes(t)
    d, mean, shares = spread(dreach, none), none, none
    for i in range(0, len(t), step):
        share, change = absolute(load(weight, i, none)), d * load(t, i, none) + load(dy, i, none) * load(f, i, none)
        store(out, i, change)
        mean = share * change + mean
        shares = shares + share
    return total(mean), total(shares)


@inline_kernel
def _pull_logits(d: Any, t: Any, f: Any, dq: Any) -> Any:
    """From the gradient of the logits: dq becomes d f; returns dp = sum_i d_i t_i."""
    none, step = zeros(t, 1), lanes(t)
    sums = none
    for i in range(0, len(t), step):
        di = load(d, i, none)
        sums = di * load(t, i, none) + sums
        store(dq, i, di * load(f, i, none))
    return total(sums)


@inline_kernel
def _gradient_of_entries(x: Any, d: Any, dy: Any, q: Any, p: Any, dreach: Any, dto: Any, dback: Any) -> None:
    for i in range(len(dto)):
        dto[i] = dreach * x[i] + d[i] * p
        dback[i] = dy[i] * x[i] + d[i] * q[i]


@fast_parallel_kernel
def attention_weights_backward(
    share: Any, to: Any, back: Any, layout: Any, u: Any, p: Any, q: Any, slope: Any, alpha: Any, dreach: Any,
    dweighted: Any, parts: Any, du: Any, dp: Any, dq: Any, dto: Any, dback: Any,
) -> None:  # fmt: skip
    """Gradients of :func:`attention_weights`; that of q is per part. ``dto`` is empty if not wanted."""
    to, back, layout, alpha, dweighted, dq = borrowed((to, back, layout, alpha, dweighted, dq))
    n, one = len(u), u.dtype.type(1)
    for part in range(share[0], parts, share[1]):
        buffers = np.empty((8, padded(layout.width)), u.dtype)
        for v in range(part * n // parts, (part + 1) * n // parts):
            begin, end = layout.pointer[v], layout.pointer[v + 1]
            size = padded(end - begin)
            t, f, x, d = buffers[0, :size], buffers[1, :size], buffers[2, :size], buffers[3, :size]
            weight, dy, qs, dlogit = buffers[4, :size], buffers[5, :size], buffers[6, :size], buffers[7, :size]
            _entries(to, layout, v, t)
            _entries(back, layout, v, f)
            _entries(alpha, layout, v, weight)
            _entries(dweighted, layout, v, dy)
            mean, shares = _gradient_of_shares(t, f, dreach[v], dy, weight, d)
            du[v] = leaky_softmax_backward(weight, slope, mean, x, d)
            if end - begin < layout.count[v]:  # the share of anchors without an entry
                du[v] -= (one - shares) * mean * (one if u[v] > 0 else slope)
            dp[v] = _pull_logits(d, t, f, dlogit)
            _add_to_anchors(dlogit, layout, v, dq[part])
            if len(dto):
                _entry_anchors(q, layout, v, qs)
                _gradient_of_entries(x, d, dy, qs, p[v], dreach[v], dto[begin:end], dback[begin:end])


@fast_parallel_kernel
def row_product(share: Any, values: Any, layout: Any, Q: Any, out: Any) -> None:
    """out[v] = sum over the row's entries of value * Q[anchor]."""
    layout, Q, out = borrowed((layout, Q, out))
    for v in rows_of(share, len(out)):
        total = out[v]
        fill(total, 0)
        for e in range(layout.pointer[v], layout.pointer[v + 1]):
            q, value = Q[_anchor(layout, v, e)], values[e]
            for c in range(len(q)):
                total[c] += value * q[c]


@fast_parallel_kernel
def row_product_backward(
    share: Any, values: Any, layout: Any, Q: Any, gradient: Any, parts: Any, dvalues: Any, dQ: Any
) -> None:
    """Gradients of :func:`row_product`; that of Q is per part."""
    layout, Q, gradient, dQ = borrowed((layout, Q, gradient, dQ))
    n = len(gradient)
    for part in range(share[0], parts, share[1]):
        for v in range(part * n // parts, (part + 1) * n // parts):
            g = gradient[v]
            for e in range(layout.pointer[v], layout.pointer[v + 1]):
                anchor, total, value = _anchor(layout, v, e), values.dtype.type(0), values[e]
                q, dq = Q[anchor], dQ[part, anchor]
                for c in range(len(g)):
                    total += g[c] * q[c]
                    dq[c] += value * g[c]
                dvalues[e] = total


@inline_kernel
def _column(layout: Any, v: Any, e: Any) -> Any:
    """The column of the embedding that entry e of node v stands in."""
    return layout.anchor[e] - layout.first[v] if layout.kind == COMPRESSED else e - layout.pointer[v]


@fast_parallel_kernel
def linear_project(share: Any, to: Any, back: Any, layout: Any, p: Any, q: Any, out: Any) -> None:
    """out[v, i] = t p_v + f q_i; zero where an anchor has no entry."""
    to, back, layout, q, out = borrowed((to, back, layout, q, out))
    for v in rows_of(share, len(out)):
        begin, end, row, pv = layout.pointer[v], layout.pointer[v + 1], out[v], p[v]
        if layout.kind == DENSE:
            t, f, qs = to[begin:end], back[begin:end], q[layout.first[v] : layout.first[v] + end - begin]
            for i in range(end - begin):
                row[i] = t[i] * pv + f[i] * qs[i]
            fill(row[end - begin :], 0)
        else:
            fill(row, 0)
            for e in range(begin, end):
                row[_column(layout, v, e)] = to[e] * pv + back[e] * q[layout.anchor[e]]


@fast_parallel_kernel
def linear_project_backward(
    share: Any, to: Any, back: Any, layout: Any, p: Any, q: Any, gradient: Any, parts: Any, dp: Any, dq: Any, dto: Any,
    dback: Any,
) -> None:  # fmt: skip
    """Gradients of :func:`linear_project`; that of q is per part. ``dto`` is empty if not wanted."""
    to, back, layout, q, gradient, dq = borrowed((to, back, layout, q, gradient, dq))
    n = len(gradient)
    for part in range(share[0], parts, share[1]):
        for v in range(part * n // parts, (part + 1) * n // parts):
            begin, end, g, total = layout.pointer[v], layout.pointer[v + 1], gradient[v], p.dtype.type(0)
            if layout.kind == DENSE:
                t, f, dqs = to[begin:end], back[begin:end], dq[part, layout.first[v] : layout.first[v] + end - begin]
                for i in range(end - begin):
                    total += g[i] * t[i]
                    dqs[i] += g[i] * f[i]
            else:
                for e in range(begin, end):
                    total += g[_column(layout, v, e)] * to[e]
                    dq[part, layout.anchor[e]] += g[_column(layout, v, e)] * back[e]
            dp[v] = total
            if len(dto):
                for e in range(begin, end):
                    dto[e] = g[_column(layout, v, e)] * p[v]
                    dback[e] = g[_column(layout, v, e)] * q[_anchor(layout, v, e)]

"""Numba kernels for linear messages, whose attention is one number an entry: a logit is LeakyReLU(u + t p + f q).

Sums over nodes are kept per part, as in :mod:`graphreach.nn.kernels.messages`.
"""

from typing import Any

import numpy as np
from numba import prange

from graphreach.jit import fast_parallel_kernel, fill, kernel
from graphreach.nn.kernels.rows import dot, fill_row, keep, padded, soften, soften_backward
from graphreach.nn.kernels.simd import absolute, lanes, load, spread, store, total, zeros

ROWS = 64
"""Rows a thread takes at a time where rows are independent."""


@kernel
def _logits(t: Any, f: Any, q: Any, u: Any, p: Any, raw: Any) -> None:
    none, step = zeros(t, 1), lanes(t)
    us, ps = spread(u, none), spread(p, none)
    for i in range(0, len(t), step):
        store(raw, i, load(t, i, none) * ps + (load(f, i, none) * load(q, i, none) + us))


@kernel
def _shares(weight: Any, t: Any, f: Any, weighted: Any) -> Any:
    """weighted = alpha f; returns sum_i alpha_i t_i."""
    none, step = zeros(t, 1), lanes(t)
    sums = none
    for i in range(0, len(t), step):
        share = absolute(load(weight, i, none))
        store(weighted, i, share * load(f, i, none))
        sums = share * load(t, i, none) + sums
    return total(sums)


@kernel
def _entry_values(q: Any, column: Any, begin: Any, k: Any, row: Any) -> None:
    """The numbers of the entries' anchors, followed by zeros."""
    for i in range(k):
        row[i] = q[column[begin + i]]
    for i in range(k, len(row)):
        row[i] = 0


@kernel
def _row_sum(y: Any, XT: Any, c: Any, begin: Any) -> Any:
    """sum_i y_i XT[c, begin + i]."""
    wide, one, step, i = zeros(y, 4), zeros(y, 1), lanes(y), 0
    many, few = wide, one
    while i + 4 * step <= len(y):
        many = load(y, i, wide) * load(XT, (c, begin + i), wide) + many
        i += 4 * step
    while i < len(y):
        few = load(y, i, one) * load(XT, (c, begin + i), one) + few
        i += step
    return total(many) + total(few)


@kernel
def _columns_block(none: Any, g: Any, XT: Any, begin: Any, i: Any, out: Any) -> None:
    sums = none
    for c in range(len(g)):
        sums = spread(g[c], none) * load(XT, (c, begin + i), none) + sums
    store(out, i, sums)


@kernel
def _column_sums(g: Any, XT: Any, begin: Any, out: Any) -> None:
    """out[i] = sum_c g_c XT[c, begin + i]."""
    step, i = lanes(out), 0
    while i + 4 * step <= len(out):
        _columns_block(zeros(out, 4), g, XT, begin, i, out)
        i += 4 * step
    while i < len(out):
        _columns_block(zeros(out, 1), g, XT, begin, i, out)
        i += step


@kernel
def _add_outer(g: Any, y: Any, dXT: Any, begin: Any) -> None:
    """dXT[c, begin + i] += g_c y_i."""
    none, step = zeros(y, 1), lanes(y)
    for c in range(len(g)):
        gc = spread(g[c], none)
        for i in range(0, len(y), step):
            store(dXT, (c, begin + i), gc * load(y, i, none) + load(dXT, (c, begin + i), none))


@fast_parallel_kernel
def attend(
    T: Any, F: Any, pointer: Any, first: Any, width: Any, u: Any, p: Any, q: Any, XT: Any, slope: Any,
    alpha: Any, reach: Any, out: Any,
) -> None:  # fmt: skip
    """Dense rows: alpha by Eq. 7 (with the signs of the logits), reach = sum_i alpha_i t_i and out = sum_i alpha_i f_i X_i.

    X comes transposed and padded, and so does q.
    """
    n = len(u)
    for b in prange((n + ROWS - 1) // ROWS):
        buffers = np.empty((5, padded(width)), T.dtype)
        for v in range(b * ROWS, min((b + 1) * ROWS, n)):
            begin, end, anchor = pointer[v], pointer[v + 1], first[v]
            size = padded(end - begin)
            t, f, raw, weight, y = (
                buffers[0, :size],
                buffers[1, :size],
                buffers[2, :size],
                buffers[3, :size],
                buffers[4, :size],
            )
            fill_row(T[begin:end], t)
            fill_row(F[begin:end], f)
            _logits(t, f, q[anchor : anchor + size], u[v], p[v], raw)
            soften(raw, end - begin, slope, 0, u[v], weight)
            reach[v] = _shares(weight, t, f, y)
            keep(weight, alpha[begin:end])
            for c in range(out.shape[1]):
                out[v, c] = _row_sum(y, XT, c, anchor)


@kernel
def _gradient_of_shares(t: Any, f: Any, dreach: Any, dy: Any, out: Any) -> None:
    """out = dreach t + dy f: the gradient of alpha."""
    none, step = zeros(t, 1), lanes(t)
    d = spread(dreach, none)
    for i in range(0, len(t), step):
        store(out, i, d * load(t, i, none) + load(dy, i, none) * load(f, i, none))


@kernel
def _pull_logits(d: Any, t: Any, f: Any, dq: Any) -> Any:
    """From the gradient of the logits: dq becomes d f; returns dp = sum_i d_i t_i."""
    none, step = zeros(t, 1), lanes(t)
    sums = none
    for i in range(0, len(t), step):
        di = load(d, i, none)
        sums = di * load(t, i, none) + sums
        store(dq, i, di * load(f, i, none))
    return total(sums)


@kernel
def _gradient_of_entries(x: Any, d: Any, dy: Any, q: Any, p: Any, dreach: Any, t: Any, f: Any) -> None:
    """t = dreach alpha + d p and f = dy alpha + d q: the gradients of the entries."""
    none, step = zeros(x, 1), lanes(x)
    ps, ds = spread(p, none), spread(dreach, none)
    for i in range(0, len(x), step):
        xi, di = load(x, i, none), load(d, i, none)
        store(t, i, ds * xi + di * ps)
        store(f, i, load(dy, i, none) * xi + di * load(q, i, none))


@kernel
def _add_to(row: Any, out: Any) -> None:
    for i in range(len(out)):
        out[i] += row[i]


@fast_parallel_kernel
def attend_backward(
    T: Any, F: Any, pointer: Any, first: Any, width: Any, p: Any, q: Any, XT: Any, slope: Any, alpha: Any, reach: Any,
    out: Any, dreach: Any, gradient: Any, parts: Any, du: Any, dp: Any, dq: Any, dX: Any, dT: Any, dF: Any,
) -> None:  # fmt: skip
    """Gradients of :func:`attend`; those of q and X are per part. dT is empty if not wanted."""
    n = len(p)
    for part in prange(parts):
        buffers = np.empty((8, padded(width)), T.dtype)
        fill(dq[part], 0)
        fill(dX[part], 0)
        dXT = dX[part, : XT.size].reshape(XT.shape)
        for v in range(part * n // parts, (part + 1) * n // parts):
            begin, end, anchor = pointer[v], pointer[v + 1], first[v]
            k, size = end - begin, padded(end - begin)
            t, f, x, d = buffers[0, :size], buffers[1, :size], buffers[2, :size], buffers[3, :size]
            weight, y, dy, dlogit = buffers[4, :size], buffers[5, :size], buffers[6, :size], buffers[7, :size]
            fill_row(T[begin:end], t)
            fill_row(F[begin:end], f)
            fill_row(alpha[begin:end], weight)
            _column_sums(gradient[v], XT, anchor, dy)
            _gradient_of_shares(t, f, dreach[v], dy, d)
            mean = dreach[v] * reach[v] + dot(gradient[v], out[v])
            du[v] = soften_backward(weight, slope, mean, x, d)
            dp[v] = _pull_logits(d, t, f, dlogit)
            _add_to(dlogit, dq[part, anchor : anchor + k])
            _shares(weight, t, f, y)
            _add_outer(gradient[v], y, dXT, anchor)
            if len(dT):
                _gradient_of_entries(x, d, dy, q[anchor : anchor + size], p[v], dreach[v], t, f)
                keep(t, dT[begin:end])
                keep(f, dF[begin:end])


@fast_parallel_kernel
def attention_weights(
    T: Any, F: Any, pointer: Any, column: Any, count: Any, longest: Any,
    u: Any, p: Any, q: Any, slope: Any, alpha: Any, reach: Any, weighted: Any,
) -> None:  # fmt: skip
    """:func:`attend` where entries say their anchor's number: weighted = alpha f, for a product with rows that follows.

    An anchor without an entry has message zero: it takes its share of the softmax and adds nothing.
    """
    n = len(u)
    for b in prange((n + ROWS - 1) // ROWS):
        buffers = np.empty((6, padded(longest)), T.dtype)
        for v in range(b * ROWS, min((b + 1) * ROWS, n)):
            begin, end = pointer[v], pointer[v + 1]
            k, size = end - begin, padded(end - begin)
            t, f, qs = buffers[0, :size], buffers[1, :size], buffers[2, :size]
            raw, weight, y = buffers[3, :size], buffers[4, :size], buffers[5, :size]
            fill_row(T[begin:end], t)
            fill_row(F[begin:end], f)
            _entry_values(q, column, begin, k, qs)
            _logits(t, f, qs, u[v], p[v], raw)
            soften(raw, k, slope, count[v] - k, u[v], weight)
            reach[v] = _shares(weight, t, f, y)
            keep(weight, alpha[begin:end])
            keep(y, weighted[begin:end])


@kernel
def _shortfall(x: Any) -> Any:
    """What the weights lack to one: the share of anchors without an entry."""
    rest = x.dtype.type(1)
    for i in range(len(x)):
        rest -= x[i]
    return rest


@fast_parallel_kernel
def attention_weights_backward(
    T: Any, F: Any, pointer: Any, column: Any, count: Any, longest: Any, u: Any, p: Any, q: Any, slope: Any, alpha: Any,
    dreach: Any, dweighted: Any, parts: Any, du: Any, dp: Any, dq: Any, dT: Any, dF: Any,
) -> None:  # fmt: skip
    """Gradients of :func:`attention_weights`; that of q is per part. dT is empty if not wanted."""
    n, one = len(u), u.dtype.type(1)
    for part in prange(parts):
        buffers = np.empty((8, padded(longest)), T.dtype)
        fill(dq[part], 0)
        for v in range(part * n // parts, (part + 1) * n // parts):
            begin, end = pointer[v], pointer[v + 1]
            k, size = end - begin, padded(end - begin)
            t, f, x, d = buffers[0, :size], buffers[1, :size], buffers[2, :size], buffers[3, :size]
            weight, dy, qs, dlogit = buffers[4, :size], buffers[5, :size], buffers[6, :size], buffers[7, :size]
            fill_row(T[begin:end], t)
            fill_row(F[begin:end], f)
            fill_row(alpha[begin:end], weight)
            fill_row(dweighted[begin:end], dy)
            _entry_values(q, column, begin, k, qs)
            _gradient_of_shares(t, f, dreach[v], dy, d)
            mean = u.dtype.type(0)
            for i in range(k):
                mean += abs(weight[i]) * d[i]
            du[v] = soften_backward(weight, slope, mean, x, d)
            if k < count[v]:
                du[v] -= _shortfall(x) * mean * (one if u[v] > 0 else slope)
            dp[v] = _pull_logits(d, t, f, dlogit)
            for i in range(k):
                dq[part, column[begin + i]] += dlogit[i]
            if len(dT):
                _gradient_of_entries(x, d, dy, qs, p[v], dreach[v], t, f)
                keep(t, dT[begin:end])
                keep(f, dF[begin:end])


@fast_parallel_kernel
def row_product(values: Any, pointer: Any, column: Any, first: Any, Q: Any, out: Any) -> None:
    """out[v] = sum over the row's entries of value * Q[anchor]."""
    for v in prange(len(out)):
        total = out[v]
        fill(total, 0)
        begin = pointer[v]
        for e in range(begin, pointer[v + 1]):
            q = Q[first[v] + e - begin] if column is None else Q[column[e]]
            value = values[e]
            for c in range(len(q)):
                total[c] += value * q[c]


@fast_parallel_kernel
def row_product_backward(
    values: Any, pointer: Any, column: Any, first: Any, Q: Any, gradient: Any, parts: Any, dvalues: Any, dQ: Any
) -> None:
    """Gradients of :func:`row_product`; that of Q is per part."""
    n = len(gradient)
    for part in prange(parts):
        for v in range(part * n // parts, (part + 1) * n // parts):
            begin, g = pointer[v], gradient[v]
            for e in range(begin, pointer[v + 1]):
                i = first[v] + e - begin if column is None else column[e]
                q, dq, value = Q[i], dQ[part, i], values[e]
                total = Q.dtype.type(0)
                for c in range(len(g)):
                    total += g[c] * q[c]
                    dq[c] += value * g[c]
                dvalues[e] = total

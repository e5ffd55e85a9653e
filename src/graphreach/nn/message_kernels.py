"""Numba kernels for messages (Eqs. 4-5) and their aggregation (Eqs. 6-8), forward and backward.

The message of anchor i to node v is m = act(t P_v + f Q_i + b), with t = s(v, a_i), f = s(a_i, v), P = H W_1 and
Q = H_A W_2. It is made in a register where it is needed and never stored: memory is that of the inputs and outputs.

Rows are dealt out to a number of parts that depends on shapes only, never on threads; sums over nodes are kept per part and
added in order, so training repeats bit for bit. ``floor`` is 0 for ReLU messages and minus infinity for linear ones.
"""

from typing import Any

import numpy as np
from numba import prange

from graphreach.jit import fast_kernel, fast_parallel_kernel, fill, kernel


@kernel
def load_row(values: Any, pointer: Any, column: Any, first: Any, background: Any, v: Any, k: Any, buffer: Any) -> Any:
    """Row v of a position matrix with all its k entries: a view if rows are dense, else expanded into ``buffer``."""
    begin, end = pointer[v], pointer[v + 1]
    if column is None:
        return values[begin:end]
    buffer[:k] = background
    for e in range(begin, end):
        buffer[column[e] - first[v]] = values[e]
    return buffer[:k]


@kernel
def store_row(gradient: Any, pointer: Any, column: Any, first: Any, v: Any, k: Any, row: Any) -> Any:
    """Inverse of :func:`load_row` for gradients; returns the gradient of the background."""
    begin, end = pointer[v], pointer[v + 1]
    rest = row.dtype.type(0)
    if column is None:
        gradient[begin:end] = row[:k]
        return rest
    for e in range(begin, end):
        gradient[e] = row[column[e] - first[v]]
        row[column[e] - first[v]] = 0
    for i in range(k):
        rest += row[i]
    return rest


@fast_kernel
def _project(t: Any, f: Any, p: Any, q: Any, bias: Any, floor: Any, direction: Any) -> Any:
    """The message's product with a vector."""
    total = p.dtype.type(0)
    for c in range(len(p)):
        total += max(t * p[c] + f * q[c] + bias[c], floor) * direction[c]
    return total


@fast_kernel
def _attend(
    t: Any, f: Any, p: Any, Q: Any, first: Any, bias: Any, floor: Any, u: Any, a: Any, slope: Any, raw: Any, weight: Any
) -> None:
    """Eq. 7: ``raw`` gets the logits before LeakyReLU, ``weight`` their softmax."""
    top = t.dtype.type(-np.inf)
    for i in range(len(t)):
        raw[i] = u + _project(t[i], f[i], p, Q[first + i], bias, floor, a)
        top = max(top, raw[i] if raw[i] > 0 else slope * raw[i])
    total = t.dtype.type(0)
    for i in range(len(t)):
        weight[i] = np.exp((raw[i] if raw[i] > 0 else slope * raw[i]) - top)
        total += weight[i]
    for i in range(len(t)):
        weight[i] /= total


@fast_parallel_kernel
def aggregate(
    T: Any, F: Any, pointer: Any, column: Any, first: Any, count: Any, width: Any, background: Any,
    P: Any, Q: Any, bias: Any, floor: Any, attention: Any, u: Any, a: Any, slope: Any, parts: Any, out: Any,
) -> None:  # fmt: skip
    """out[v] = sum_i w_i m_i: w_i = 1 / k (Eq. 6), or the attention weights (Eqs. 7-8)."""
    n, d = P.shape
    for part in prange(parts):
        buffers = np.empty((4, width), P.dtype)
        for v in range(part * n // parts, (part + 1) * n // parts):
            k = count[v]
            t = load_row(T, pointer, column, first, background, v, k, buffers[0])
            f = load_row(F, pointer, column, first, background, v, k, buffers[1])
            raw, weight = buffers[2, :k], buffers[3, :k]
            p, total = P[v], out[v]
            fill(total, 0)
            if attention:
                _attend(t, f, p, Q, first[v], bias, floor, u[v], a, slope, raw, weight)
            else:
                fill(weight, 1.0 / k)
            for i in range(k):
                ti, fi, wi, q = t[i], f[i], weight[i], Q[first[v] + i]
                for c in range(d):
                    total[c] += wi * max(ti * p[c] + fi * q[c] + bias[c], floor)


@fast_kernel
def _pull_back(
    t: Any, f: Any, p: Any, q: Any, bias: Any, floor: Any, x: Any, along: Any, y: Any, across: Any,
    dp: Any, dq: Any, dbias: Any, dacross: Any, dt: Any, df: Any, i: Any, dm: Any,
) -> None:  # fmt: skip
    """Gradient of one message: dm = x * along + y * across where the message is above its floor.

    Few arrays a loop, so that the compiler can tell that they do not overlap, and vectorises it.
    """
    zero = p.dtype.type(0)
    for c in range(len(dm)):
        m = t * p[c] + f * q[c] + bias[c]
        dm[c] = x * along[c] + y * across[c] if m > floor else zero
    if y != zero:
        for c in range(len(dm)):
            dacross[c] += y * max(t * p[c] + f * q[c] + bias[c], floor)
    for c in range(len(dm)):
        dp[c] += t * dm[c]
    for c in range(len(dm)):
        dq[c] += f * dm[c]
    for c in range(len(dm)):
        dbias[c] += dm[c]
    dti, dfi = zero, zero
    for c in range(len(dm)):
        dti += dm[c] * p[c]
        dfi += dm[c] * q[c]
    dt[i], df[i] = dti, dfi


@fast_parallel_kernel
def aggregate_backward(
    T: Any, F: Any, pointer: Any, column: Any, first: Any, count: Any, width: Any, background: Any,
    P: Any, Q: Any, bias: Any, floor: Any, attention: Any, u: Any, a: Any, slope: Any, parts: Any, gradient: Any,
    dT: Any, dF: Any, dbackground: Any, dP: Any, dQ: Any, dbias: Any, du: Any, da: Any,
) -> None:  # fmt: skip
    """Gradients of :func:`aggregate`; those of Q, bias, a and the background are per part. dT is empty if not wanted."""
    n, one = len(P), P.dtype.type(1)
    for part in prange(parts):
        buffers, dm = np.empty((6, width), P.dtype), np.empty(P.shape[1], P.dtype)
        for v in range(part * n // parts, (part + 1) * n // parts):
            k = count[v]
            t = load_row(T, pointer, column, first, background, v, k, buffers[0])
            f = load_row(F, pointer, column, first, background, v, k, buffers[1])
            raw, weight, dt, df = buffers[2, :k], buffers[3, :k], buffers[4], buffers[5]
            p, g = P[v], gradient[v]
            if attention:
                _attend(t, f, p, Q, first[v], bias, floor, u[v], a, slope, raw, weight)
                mean = P.dtype.type(0)
                for i in range(k):  # dt is free until the message's gradient is taken: hold d alpha there
                    dt[i] = _project(t[i], f[i], p, Q[first[v] + i], bias, floor, g)
                    mean += weight[i] * dt[i]
                for i in range(k):
                    raw[i] = weight[i] * (dt[i] - mean) * (one if raw[i] > 0 else slope)
                    du[v] += raw[i]
            else:
                fill(weight, 1.0 / k)
                fill(raw, 0)
            for i in range(k):
                _pull_back(
                    t[i], f[i], p, Q[first[v] + i], bias, floor, weight[i], g, raw[i], a,
                    dP[v], dQ[part, first[v] + i], dbias[part], da[part], dt, df, i, dm,
                )  # fmt: skip
            if len(dT):
                dbackground[part] += store_row(dT, pointer, column, first, v, k, dt)
                dbackground[part] += store_row(dF, pointer, column, first, v, k, df)


@fast_parallel_kernel
def project(
    T: Any, F: Any, pointer: Any, column: Any, first: Any, count: Any, width: Any, background: Any,
    P: Any, Q: Any, bias: Any, floor: Any, w: Any, parts: Any, out: Any,
) -> None:  # fmt: skip
    """out[v, i] = m_i w: the last layer, which does not aggregate. Columns beyond a graph's own anchors are zero."""
    n = len(P)
    for part in prange(parts):
        buffers = np.empty((2, width), P.dtype)
        for v in range(part * n // parts, (part + 1) * n // parts):
            k = count[v]
            t = load_row(T, pointer, column, first, background, v, k, buffers[0])
            f = load_row(F, pointer, column, first, background, v, k, buffers[1])
            for i in range(k):
                out[v, i] = _project(t[i], f[i], P[v], Q[first[v] + i], bias, floor, w)
            fill(out[v, k:], 0)


@fast_parallel_kernel
def project_backward(
    T: Any, F: Any, pointer: Any, column: Any, first: Any, count: Any, width: Any, background: Any,
    P: Any, Q: Any, bias: Any, floor: Any, w: Any, parts: Any, gradient: Any,
    dT: Any, dF: Any, dbackground: Any, dP: Any, dQ: Any, dbias: Any, dw: Any,
) -> None:  # fmt: skip
    """Gradients of :func:`project`."""
    n = len(P)
    for part in prange(parts):
        buffers, dm = np.empty((4, width), P.dtype), np.empty(P.shape[1], P.dtype)
        for v in range(part * n // parts, (part + 1) * n // parts):
            k = count[v]
            t = load_row(T, pointer, column, first, background, v, k, buffers[0])
            f = load_row(F, pointer, column, first, background, v, k, buffers[1])
            dt, df = buffers[2], buffers[3]
            for i in range(k):
                _pull_back(
                    t[i], f[i], P[v], Q[first[v] + i], bias, floor, P.dtype.type(0), w, gradient[v, i], w,
                    dP[v], dQ[part, first[v] + i], dbias[part], dw[part], dt, df, i, dm,
                )  # fmt: skip
            if len(dT):
                dbackground[part] += store_row(dT, pointer, column, first, v, k, dt)
                dbackground[part] += store_row(dF, pointer, column, first, v, k, df)


@fast_parallel_kernel
def attention_logits(T: Any, F: Any, k: Any, u: Any, p: Any, q: Any, slope: Any, out: Any) -> None:
    """LeakyReLU(u + t p + f q) for rectangular positions, where a vectorised softmax follows."""
    for v in prange(len(u)):
        t, f, row, uv, pv = T[v * k : v * k + k], F[v * k : v * k + k], out[v * k : v * k + k], u[v], p[v]
        for i in range(k):
            raw = uv + t[i] * pv + f[i] * q[i]
            row[i] = max(raw, slope * raw)


@fast_parallel_kernel
def attention_sums(T: Any, F: Any, k: Any, alpha: Any, reach: Any, weighted: Any) -> None:
    """reach[v] = sum_i alpha_i t_i and weighted = alpha f, for rectangular positions."""
    for v in prange(len(reach)):
        t, f = T[v * k : v * k + k], F[v * k : v * k + k]
        a, row = alpha[v * k : v * k + k], weighted[v * k : v * k + k]
        total = reach.dtype.type(0)
        for i in range(k):
            total += a[i] * t[i]
            row[i] = a[i] * f[i]
        reach[v] = total


@fast_parallel_kernel
def attention_weights(
    T: Any, F: Any, pointer: Any, column: Any, first: Any, count: Any,
    u: Any, p: Any, q: Any, slope: Any, alpha: Any, reach: Any, weighted: Any,
) -> None:  # fmt: skip
    """Attention for linear messages, where a logit is LeakyReLU(u + t p + f q): one number an entry.

    reach[v] = sum_i alpha_i t_i and weighted = alpha f. An anchor without an entry has message zero: it takes its share of
    the softmax and adds nothing.
    """
    for v in prange(len(u)):
        begin, end = pointer[v], pointer[v + 1]
        missing = count[v] - (end - begin)
        nothing = u[v] if u[v] > 0 else slope * u[v]
        top = nothing if missing > 0 else u.dtype.type(-np.inf)
        for e in range(begin, end):
            i = first[v] + e - begin if column is None else column[e]
            raw = u[v] + T[e] * p[v] + F[e] * q[i]
            alpha[e] = raw if raw > 0 else slope * raw
            top = max(top, alpha[e])
        total = missing * np.exp(nothing - top) if missing > 0 else 0.0
        for e in range(begin, end):
            alpha[e] = np.exp(alpha[e] - top)
            total += alpha[e]
        reach[v] = 0
        for e in range(begin, end):
            alpha[e] /= total
            reach[v] += alpha[e] * T[e]
            weighted[e] = alpha[e] * F[e]


@fast_kernel
def _attention_row(
    t: Any, f: Any, alpha: Any, dweighted: Any, q: Any, u: Any, p: Any, dreach: Any, slope: Any, dq: Any
) -> Any:
    """Gradients of u and p for a dense row; that of q is added to ``dq``."""
    zero, one = t.dtype.type(0), t.dtype.type(1)
    mean, du, dp = zero, zero, zero
    for i in range(len(t)):
        mean += alpha[i] * (dreach * t[i] + dweighted[i] * f[i])
    for i in range(len(t)):
        d = (
            alpha[i]
            * (dreach * t[i] + dweighted[i] * f[i] - mean)
            * (one if u + t[i] * p + f[i] * q[i] > zero else slope)
        )
        du += d
        dp += d * t[i]
        dq[i] += d * f[i]
    return du, dp


@fast_parallel_kernel
def attention_weights_backward(
    T: Any, F: Any, pointer: Any, column: Any, first: Any, count: Any, u: Any, p: Any, q: Any, slope: Any, alpha: Any,
    dreach: Any, dweighted: Any, parts: Any, du: Any, dp: Any, dq: Any, dT: Any, dF: Any,
) -> None:  # fmt: skip
    """Gradients of :func:`attention_weights`; that of q is per part. dT is empty if not wanted."""
    n, one = len(u), u.dtype.type(1)
    for part in prange(parts):
        for v in range(part * n // parts, (part + 1) * n // parts):
            begin, end = pointer[v], pointer[v + 1]
            rest, mean = u.dtype.type(1), u.dtype.type(0)
            if column is None and len(dT) == 0:
                window = slice(first[v], first[v] + end - begin)
                du[v], dp[v] = _attention_row(
                    T[begin:end], F[begin:end], alpha[begin:end], dweighted[begin:end], q[window], u[v], p[v], dreach[v],
                    slope, dq[part, window],
                )  # fmt: skip
                continue
            for e in range(begin, end):
                mean += alpha[e] * (dreach[v] * T[e] + dweighted[e] * F[e])
                rest -= alpha[e]
            if end - begin < count[v]:
                du[v] -= rest * mean * (one if u[v] > 0 else slope)
            for e in range(begin, end):
                i = first[v] + e - begin if column is None else column[e]
                raw = u[v] + T[e] * p[v] + F[e] * q[i]
                d = alpha[e] * (dreach[v] * T[e] + dweighted[e] * F[e] - mean) * (one if raw > 0 else slope)
                du[v] += d
                dp[v] += d * T[e]
                dq[part, i] += d * F[e]
                if len(dT):
                    dT[e] = dreach[v] * alpha[e] + d * p[v]
                    dF[e] = dweighted[e] * alpha[e] + d * q[i]


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

"""Numba kernels for linear messages, whose aggregation is one number an entry and a product of matrices.

Sums over nodes are kept per part, as in :mod:`graphreach.nn.message_kernels`.
"""

from typing import Any

import numpy as np
from numba import prange

from graphreach.jit import fast_kernel, fast_parallel_kernel, fill


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

"""Numba kernels of the last layer for linear messages, and of rows scaled to unit length: one pass over n x k each."""

from typing import Any

import numpy as np
from numba import prange

from graphreach.jit import fast_parallel_kernel, fill

ROWS = 64
"""Rows a thread takes at a time where rows are independent."""


@fast_parallel_kernel
def project_linear(
    T: Any, F: Any, pointer: Any, column: Any, first: Any, source: Any, p: Any, q: Any, out: Any
) -> None:
    """out[v, i] = t p_v + f q_i; zero where an anchor has no entry."""
    n = len(p)
    for b in prange((n + ROWS - 1) // ROWS):
        for v in range(b * ROWS, min((b + 1) * ROWS, n)):
            begin, end, pv = pointer[v], pointer[v + 1], p[v]
            if source is not None:
                for e in range(begin, end):
                    out[v, e - begin] = T[e] * pv + F[e] * q[source[e]]
                fill(out[v, end - begin :], 0)
            elif column is None:
                t, f, qs, row = T[begin:end], F[begin:end], q[first[v] : first[v] + end - begin], out[v]
                for i in range(end - begin):
                    row[i] = t[i] * pv + f[i] * qs[i]
                fill(row[end - begin :], 0)
            else:
                fill(out[v], 0)
                for e in range(begin, end):
                    out[v, column[e] - first[v]] = T[e] * pv + F[e] * q[column[e]]


@fast_parallel_kernel
def project_linear_backward(
    T: Any, F: Any, pointer: Any, column: Any, first: Any, source: Any, p: Any, q: Any, gradient: Any, parts: Any,
    dp: Any, dq: Any, dT: Any, dF: Any,
) -> None:  # fmt: skip
    """Gradients of :func:`project_linear`; that of q is per part. dT is empty if not wanted."""
    n = len(p)
    for part in prange(parts):
        for v in range(part * n // parts, (part + 1) * n // parts):
            begin, end = pointer[v], pointer[v + 1]
            total = p.dtype.type(0)
            if source is not None:
                for e in range(begin, end):
                    g1 = gradient[v, e - begin]
                    total += g1 * T[e]
                    dq[part, source[e]] += g1 * F[e]
            elif column is None:
                t, f, g = T[begin:end], F[begin:end], gradient[v]
                dqs = dq[part, first[v] : first[v] + end - begin]
                for i in range(end - begin):
                    total += g[i] * t[i]
                    dqs[i] += g[i] * f[i]
            else:
                for e in range(begin, end):
                    g1 = gradient[v, column[e] - first[v]]
                    total += g1 * T[e]
                    dq[part, column[e]] += g1 * F[e]
            dp[v] = total
            if len(dT):
                for e in range(begin, end):
                    i = e - begin if column is None else column[e] - first[v]
                    dT[e] = gradient[v, i] * p[v]
                    dF[e] = gradient[v, i] * q[first[v] + i if source is None else source[e]]


@fast_parallel_kernel
def normalize(x: Any, epsilon: Any, out: Any, inverse: Any) -> None:
    """out = x / max(|x|, epsilon), row by row; ``inverse`` gets the factors."""
    n = len(x)
    for b in prange((n + ROWS - 1) // ROWS):
        for v in range(b * ROWS, min((b + 1) * ROWS, n)):
            row, target = x[v], out[v]
            total = x.dtype.type(0)
            for i in range(len(row)):
                total += row[i] * row[i]
            factor = x.dtype.type(1) / max(np.sqrt(total), epsilon)
            inverse[v] = factor
            for i in range(len(row)):
                target[i] = row[i] * factor


@fast_parallel_kernel
def normalize_backward(z: Any, inverse: Any, epsilon: Any, gradient: Any, out: Any) -> None:
    """dx = (g - z (g . z)) / |x|; where the norm was below epsilon, dx = g / epsilon."""
    n = len(z)
    for b in prange((n + ROWS - 1) // ROWS):
        for v in range(b * ROWS, min((b + 1) * ROWS, n)):
            row, g, target, factor = z[v], gradient[v], out[v], inverse[v]
            along = z.dtype.type(0)
            if factor * epsilon < 1:
                for i in range(len(row)):
                    along += row[i] * g[i]
            for i in range(len(row)):
                target[i] = (g[i] - along * row[i]) * factor

"""Numba kernels that add up what neighbours say. One thread writes a row, so sums do not depend on threads."""

from typing import Any

import numpy as np
from numba import prange

from graphreach.jit import fast_kernel, fast_parallel_kernel, fill


@fast_parallel_kernel
def product(pointer: Any, index: Any, value: Any, bounds: Any, x: Any, out: Any) -> None:
    """out = A x for a compressed matrix A."""
    for part in prange(len(bounds) - 1):
        for v in range(bounds[part], bounds[part + 1]):
            total = out[v]
            fill(total, 0)
            for e in range(pointer[v], pointer[v + 1]):
                weight, row = value[e], x[index[e]]
                for c in range(len(total)):
                    total[c] += weight * row[c]


@fast_kernel
def _leaky(x: Any, slope: Any) -> Any:
    return x if x > 0 else slope * x


@fast_parallel_kernel
def attend(
    pointer: Any, index: Any, bounds: Any, x: Any, source: Any, target: Any, slope: Any, out: Any, total: Any
) -> None:
    """out[v] = sum_u softmax_u(LeakyReLU(source[u] + target[v])) x[u] of each head; total: the log of the denominator."""
    for part in prange(len(bounds) - 1):
        for v in range(bounds[part], bounds[part + 1]):
            begin, end = pointer[v], pointer[v + 1]
            for h in range(x.shape[1]):
                top = x.dtype.type(-np.inf)
                for e in range(begin, end):
                    top = max(top, _leaky(source[index[e], h] + target[v, h], slope))
                row, denominator = out[v, h], x.dtype.type(0)
                fill(row, 0)
                for e in range(begin, end):
                    u = index[e]
                    weight, other = np.exp(_leaky(source[u, h] + target[v, h], slope) - top), x[u, h]
                    denominator += weight
                    for c in range(len(row)):
                        row[c] += weight * other[c]
                for c in range(len(row)):
                    row[c] /= denominator
                total[v, h] = top + np.log(denominator)


@fast_kernel
def _pull(raw: Any, total: Any, slope: Any, gradient: Any, x: Any, mean: Any) -> Any:
    """The attention weight of one edge, and the gradient of its logit before LeakyReLU."""
    alpha = np.exp(_leaky(raw, slope) - total)
    change = -mean
    for c in range(len(x)):
        change += gradient[c] * x[c]
    return alpha, alpha * change * (x.dtype.type(1) if raw > 0 else slope)


@fast_parallel_kernel
def attend_backward_target(
    pointer: Any, index: Any, bounds: Any, x: Any, source: Any, target: Any, slope: Any, total: Any, gradient: Any,
    mean: Any, dtarget: Any,
) -> None:  # fmt: skip
    """The gradient of ``target``; ``mean[v]`` is the product of gradient and output of v."""
    for part in prange(len(bounds) - 1):
        for v in range(bounds[part], bounds[part + 1]):
            for h in range(x.shape[1]):
                change = x.dtype.type(0)
                for e in range(pointer[v], pointer[v + 1]):
                    u = index[e]
                    raw = source[u, h] + target[v, h]
                    change += _pull(raw, total[v, h], slope, gradient[v, h], x[u, h], mean[v, h])[1]
                dtarget[v, h] = change


@fast_parallel_kernel
def attend_backward_source(
    pointer: Any, index: Any, bounds: Any, x: Any, source: Any, target: Any, slope: Any, total: Any, gradient: Any,
    mean: Any, dx: Any, dsource: Any,
) -> None:  # fmt: skip
    """Gradients of ``x`` and ``source``; pointer and index are of the transpose, u's row lists the nodes that hear it."""
    for part in prange(len(bounds) - 1):
        for u in range(bounds[part], bounds[part + 1]):
            for h in range(x.shape[1]):
                row, change = dx[u, h], x.dtype.type(0)
                fill(row, 0)
                for e in range(pointer[u], pointer[u + 1]):
                    v = index[e]
                    g = gradient[v, h]
                    alpha, d = _pull(source[u, h] + target[v, h], total[v, h], slope, g, x[u, h], mean[v, h])
                    change += d
                    for c in range(len(row)):
                        row[c] += alpha * g[c]
                dsource[u, h] = change

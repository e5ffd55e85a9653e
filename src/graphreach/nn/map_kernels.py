"""Numba kernels of the learned similarity map: a small network applied to every entry of the position matrices."""

from typing import Any

import numpy as np
from numba import prange

from graphreach.jit import fast_kernel, fast_parallel_kernel


@fast_kernel
def _hidden(values: Any, W1: Any, b1: Any, hidden: Any) -> None:
    """hidden = values W1 + b1 for one entry."""
    for h in range(len(hidden)):
        hidden[h] = b1[h]
    for s in range(len(W1)):
        value, row = values[s], W1[s]
        for h in range(len(hidden)):
            hidden[h] += value * row[h]


@fast_parallel_kernel
def map_entries(values: Any, W1: Any, b1: Any, w2: Any, b2: Any, parts: Any, out: Any) -> None:
    """out = w2 relu(values W1 + b1) + b2, entry by entry; the hidden layer is never stored. W1 is [L, hidden]."""
    n, zero = len(values), W1.dtype.type(0)
    for part in prange(parts):
        hidden = np.empty(len(b1), W1.dtype)
        for e in range(part * n // parts, (part + 1) * n // parts):
            _hidden(values[e], W1, b1, hidden)
            total = b2
            for h in range(len(hidden)):
                total += max(hidden[h], zero) * w2[h]
            out[e] = total


@fast_parallel_kernel
def map_entries_backward(
    values: Any, W1: Any, b1: Any, w2: Any, parts: Any, gradient: Any, dW1: Any, db1: Any, dw2: Any, db2: Any
) -> None:
    """Gradients of :func:`map_entries` with respect to the network, per part."""
    n, zero = len(values), W1.dtype.type(0)
    for part in prange(parts):
        hidden, back = np.empty(len(b1), W1.dtype), np.empty(len(b1), W1.dtype)
        for e in range(part * n // parts, (part + 1) * n // parts):
            g = gradient[e]
            _hidden(values[e], W1, b1, hidden)
            for h in range(len(hidden)):
                dw2[part, h] += g * max(hidden[h], zero)
                back[h] = g * w2[h] if hidden[h] > 0 else zero
                db1[part, h] += back[h]
            for s in range(len(W1)):
                value, row = values[e, s], dW1[part, s]
                for h in range(len(hidden)):
                    row[h] += value * back[h]
            db2[part] += g


@fast_parallel_kernel
def look_up(table: Any, index: Any, parts: Any, out: Any) -> None:
    """out = table[index]."""
    n = len(index)
    for part in prange(parts):
        for e in range(part * n // parts, (part + 1) * n // parts):
            out[e] = table[index[e]]


@fast_kernel
def _add_up(index: Any, gradient: Any, tables: Any, out: Any) -> None:
    """out[j] = the gradient's sum where ``index`` is j.

    Neighbours often have the same place in the table; four tables in turn, and no sum waits for the one before.
    """
    a, b, c, d = tables[0], tables[1], tables[2], tables[3]
    whole = len(index) // 4 * 4
    for e in range(0, whole, 4):
        a[index[e]] += gradient[e]
        b[index[e + 1]] += gradient[e + 1]
        c[index[e + 2]] += gradient[e + 2]
        d[index[e + 3]] += gradient[e + 3]
    for e in range(whole, len(index)):
        a[index[e]] += gradient[e]
    for j in range(len(out)):
        out[j] = (a[j] + b[j]) + (c[j] + d[j])


@fast_parallel_kernel
def look_up_backward(index: Any, gradient: Any, parts: Any, dtable: Any) -> None:
    """The gradient's sum for each place of the table, per part."""
    n = len(index)
    for part in prange(parts):
        begin, end = part * n // parts, (part + 1) * n // parts
        tables = np.zeros((4, dtable.shape[1]), dtable.dtype)
        _add_up(index[begin:end], gradient[begin:end], tables, dtable[part])

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


@fast_parallel_kernel
def look_up_backward(index: Any, gradient: Any, parts: Any, dtable: Any) -> None:
    """The gradient's sum for each place of the table, per part."""
    n = len(index)
    for part in prange(parts):
        for e in range(part * n // parts, (part + 1) * n // parts):
            dtable[part, index[e]] += gradient[e]

"""Numba kernels of the learned similarity map: a small network applied to every entry of the position matrices."""

from typing import Any

import numpy as np
from numba import prange

from graphreach.jit import fast_kernel, fast_parallel_kernel, fill

BLOCK = 256
"""Entries at a time: their values and sums stay in the first cache, and entries are the vector lanes."""


@fast_kernel
def _layer(values: Any, first: Any, last: Any, weights: Any, bias: Any, out: Any) -> None:
    """out = values weights + bias of one hidden unit, for some entries; ``values`` is [L, entries]."""
    count = last - first
    for j in range(count):
        out[j] = bias
    for s in range(len(weights)):
        row, weight = values[s, first:last], weights[s]
        for j in range(count):
            out[j] += weight * row[j]


@fast_kernel
def _map_four(values: Any, first: Any, last: Any, W1: Any, b1: Any, w2: Any, total: Any) -> None:
    """Add w2 relu(values W1 + b1) to total for entries of four values."""
    zero = W1.dtype.type(0)
    v0, v1, v2, v3 = values[0, first:last], values[1, first:last], values[2, first:last], values[3, first:last]
    for h in range(len(b1)):
        a0, a1, a2, a3, bias, weight = W1[0, h], W1[1, h], W1[2, h], W1[3, h], b1[h], w2[h]
        for j in range(last - first):
            hidden = bias + a0 * v0[j] + a1 * v1[j] + a2 * v2[j] + a3 * v3[j]
            total[j] += max(hidden, zero) * weight


@fast_kernel
def _map_some(values: Any, first: Any, last: Any, W1: Any, b1: Any, w2: Any, hidden: Any, total: Any) -> None:
    """The same for entries of any number of values."""
    zero = W1.dtype.type(0)
    for h in range(len(b1)):
        _layer(values, first, last, W1[:, h], b1[h], hidden)
        weight = w2[h]
        for j in range(last - first):
            total[j] += max(hidden[j], zero) * weight


@fast_parallel_kernel
def map_entries(values: Any, place: Any, W1: Any, b1: Any, w2: Any, b2: Any, parts: Any, out: Any) -> None:
    """out[place] = w2 relu(values W1 + b1) + b2, entry by entry; the hidden layer is never stored.

    ``values`` is [L, entries], W1 is [L, hidden]; an empty ``place`` means that of each entry is its own.
    """
    n = values.shape[1]
    for part in prange(parts):
        hidden, total = np.empty(BLOCK, W1.dtype), np.empty(BLOCK, W1.dtype)
        end = np.int64(part + 1) * n // parts
        for first in range(np.int64(part) * n // parts, end, BLOCK):
            last = min(first + BLOCK, end)
            fill(total[: last - first], b2)
            if len(W1) == 4:
                _map_four(values, first, last, W1, b1, w2, total)
            else:
                _map_some(values, first, last, W1, b1, w2, hidden, total)
            _put(total, place, first, last, out)


@fast_kernel
def _put(total: Any, place: Any, first: Any, last: Any, out: Any) -> None:
    """Write the results of some entries to their places."""
    if len(place):
        for j in range(last - first):
            out[place[first + j]] = total[j]
    else:
        for j in range(last - first):
            out[first + j] = total[j]


@fast_kernel
def _take(gradient: Any, place: Any, first: Any, last: Any, g: Any) -> None:
    """Read the gradients of some entries from their places."""
    if len(place):
        for j in range(last - first):
            g[j] = gradient[place[first + j]]
    else:
        for j in range(last - first):
            g[j] = gradient[first + j]


@fast_kernel
def _four_backward(
    values: Any, first: Any, last: Any, W1: Any, b1: Any, w2: Any, g: Any, dW1: Any, db1: Any, dw2: Any
) -> None:
    """Add the gradients of entries of four values."""
    zero = W1.dtype.type(0)
    v0, v1, v2, v3 = values[0, first:last], values[1, first:last], values[2, first:last], values[3, first:last]
    for h in range(len(b1)):
        a0, a1, a2, a3, bias, weight = W1[0, h], W1[1, h], W1[2, h], W1[3, h], b1[h], w2[h]
        s0, s1, s2, s3, active, out = zero, zero, zero, zero, zero, zero
        for j in range(last - first):
            hidden = bias + a0 * v0[j] + a1 * v1[j] + a2 * v2[j] + a3 * v3[j]
            back = g[j] if hidden > zero else zero
            out += back * hidden
            active += back
            s0 += back * v0[j]
            s1 += back * v1[j]
            s2 += back * v2[j]
            s3 += back * v3[j]
        dw2[h] += out
        db1[h] += active * weight
        dW1[0, h] += s0 * weight
        dW1[1, h] += s1 * weight
        dW1[2, h] += s2 * weight
        dW1[3, h] += s3 * weight


@fast_kernel
def _some_backward(
    values: Any, first: Any, last: Any, W1: Any, b1: Any, w2: Any, g: Any, hidden: Any, dW1: Any, db1: Any, dw2: Any
) -> None:
    """The same for entries of any number of values."""
    zero, count = W1.dtype.type(0), last - first
    for h in range(len(b1)):
        _layer(values, first, last, W1[:, h], b1[h], hidden)
        active, out = zero, zero
        for j in range(count):
            back = g[j] if hidden[j] > zero else zero
            out += back * hidden[j]
            active += back
            hidden[j] = back
        dw2[h] += out
        db1[h] += active * w2[h]
        for s in range(len(W1)):
            row, total = values[s, first:last], zero
            for j in range(count):
                total += hidden[j] * row[j]
            dW1[s, h] += total * w2[h]


@fast_parallel_kernel
def map_entries_backward(
    values: Any, place: Any, W1: Any, b1: Any, w2: Any, parts: Any, gradient: Any, dW1: Any, db1: Any, dw2: Any, db2: Any,
    everything: Any,
) -> None:  # fmt: skip
    """Gradients of :func:`map_entries` with respect to the network, per part; and the whole gradient's sum."""
    n, size = values.shape[1], len(gradient)
    for part in prange(parts):
        hidden, g = np.empty(BLOCK, W1.dtype), np.empty(BLOCK, W1.dtype)
        end = np.int64(part + 1) * n // parts
        for first in range(np.int64(part) * n // parts, end, BLOCK):
            last = min(first + BLOCK, end)
            _take(gradient, place, first, last, g)
            if len(W1) == 4:
                _four_backward(values, first, last, W1, b1, w2, g, dW1[part], db1[part], dw2[part])
            else:
                _some_backward(values, first, last, W1, b1, w2, g, hidden, dW1[part], db1[part], dw2[part])
            db2[part] += _sum(g[: last - first])
        everything[part] = _sum(gradient[np.int64(part) * size // parts : np.int64(part + 1) * size // parts])


@fast_kernel
def _sum(values: Any) -> Any:
    """The sum in double precision."""
    total = 0.0
    for j in range(len(values)):
        total += np.float64(values[j])
    return total


@fast_parallel_kernel
def look_up(table: Any, index: Any, parts: Any, out: Any) -> None:
    """out = table[index]."""
    n = len(index)
    for part in prange(parts):
        begin, end = part * n // parts, (part + 1) * n // parts
        _pick(table, index[begin:end], out[begin:end])


@fast_kernel
def _pick(table: Any, index: Any, out: Any) -> None:
    for e in range(len(index)):
        out[e] = table[index[e]]


@fast_kernel
def _add_up(index: Any, gradient: Any, tables: Any, out: Any) -> None:
    """Add to out[j] the gradient's sum where ``index`` is j.

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
        out[j] += (a[j] + b[j]) + (c[j] + d[j])


@fast_parallel_kernel
def look_up_backward(index: Any, gradient: Any, parts: Any, dtable: Any) -> None:
    """Add the gradient's sum for each place of the table, per part."""
    n = len(index)
    for part in prange(parts):
        begin, end = part * n // parts, (part + 1) * n // parts
        tables = np.zeros((4, dtable.shape[1]), dtable.dtype)
        _add_up(index[begin:end], gradient[begin:end], tables, dtable[part])

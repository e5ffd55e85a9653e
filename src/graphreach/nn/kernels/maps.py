"""Numba kernels of the learned similarity map: a small network applied to every entry of the position matrices."""

from typing import Any, NamedTuple

import numpy as np

from graphreach.jit import fast_inline_kernel, fast_parallel_kernel

BLOCK = 256
"""Entries at a time: their values and sums stay in the first cache, and entries are the vector lanes."""


class Network(NamedTuple):
    """g(s) = w2 relu(s W1 + b1) + b2, with W1 ``[L, hidden]``; or the gradients of these, per part."""

    W1: Any
    b1: Any
    w2: Any
    b2: Any


@fast_inline_kernel
def _hidden(values: Any, first: Any, last: Any, network: Any, h: Any, out: Any) -> None:
    """out = values W1 + b1 of one hidden unit, for some entries; two of an entry's L values at a time."""
    W1, bias, count, L = network.W1, network.b1[h], last - first, len(values)
    if L % 2:
        row, weight = values[0, first:last], W1[0, h]
        for j in range(count):
            out[j] = bias + weight * row[j]
    else:
        for j in range(count):
            out[j] = bias
    for s in range(L % 2, L, 2):
        one, two, a, b = values[s, first:last], values[s + 1, first:last], W1[s, h], W1[s + 1, h]
        for j in range(count):
            out[j] += a * one[j] + b * two[j]


@fast_parallel_kernel
def map_entries(share: Any, values: Any, place: Any, network: Any, parts: Any, out: Any) -> None:
    """out[place] = g(values), entry by entry; the hidden layer is never stored.

    ``values`` is [L, entries]; an empty ``place`` means that of each entry is its own.
    """
    n, zero = values.shape[1], out.dtype.type(0)
    for part in range(share[0], parts, share[1]):
        hidden, total = np.empty(BLOCK, out.dtype), np.empty(BLOCK, out.dtype)
        end = (part + 1) * n // parts
        for first in range(part * n // parts, end, BLOCK):
            last = min(first + BLOCK, end)
            for j in range(BLOCK):
                total[j] = network.b2
            for h in range(len(network.b1)):
                _hidden(values, first, last, network, h, hidden)
                weight = network.w2[h]
                for j in range(last - first):
                    total[j] += max(hidden[j], zero) * weight
            for j in range(last - first):
                out[place[first + j] if len(place) else first + j] = total[j]


@fast_inline_kernel
def _back(values: Any, first: Any, last: Any, network: Any, g: Any, hidden: Any, gradients: Any, part: Any) -> None:
    """Add the gradients of some entries."""
    zero, count = g.dtype.type(0), last - first
    for h in range(len(network.b1)):
        _hidden(values, first, last, network, h, hidden)
        active, out, weight = zero, zero, network.w2[h]
        for j in range(count):
            back = g[j] if hidden[j] > zero else zero
            out += back * hidden[j]
            active += back
            hidden[j] = back
        gradients.w2[part, h] += out
        gradients.b1[part, h] += active * weight
        for s in range(len(values)):
            row, total = values[s, first:last], zero
            for j in range(count):
                total += hidden[j] * row[j]
            gradients.W1[part, s, h] += total * weight


@fast_parallel_kernel
def map_entries_backward(
    share: Any, values: Any, place: Any, network: Any, parts: Any, gradient: Any, gradients: Any
) -> None:
    """Gradients of :func:`map_entries` with respect to the network, per part."""
    n = values.shape[1]
    for part in range(share[0], parts, share[1]):
        hidden, g = np.empty(BLOCK, gradient.dtype), np.empty(BLOCK, gradient.dtype)
        end = (part + 1) * n // parts
        for first in range(part * n // parts, end, BLOCK):
            last, total = min(first + BLOCK, end), 0.0
            for j in range(last - first):
                g[j] = gradient[place[first + j] if len(place) else first + j]
                total += np.float64(g[j])
            gradients.b2[part] += total
            _back(values, first, last, network, g, hidden, gradients, part)


@fast_parallel_kernel
def look_up(share: Any, table: Any, index: Any, parts: Any, out: Any) -> None:
    """out = table[index]."""
    n = len(index)
    for part in range(share[0], parts, share[1]):
        begin, end = part * n // parts, (part + 1) * n // parts
        places, found = index[begin:end], out[begin:end]
        for e in range(len(places)):
            found[e] = table[places[e]]


@fast_inline_kernel
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
def look_up_backward(share: Any, index: Any, gradient: Any, parts: Any, dtable: Any) -> None:
    """Add the gradient's sum for each place of the table, per part."""
    n = len(index)
    for part in range(share[0], parts, share[1]):
        begin, end = part * n // parts, (part + 1) * n // parts
        tables = np.zeros((4, dtable.shape[1]), dtable.dtype)
        _add_up(index[begin:end], gradient[begin:end], tables, dtable[part])

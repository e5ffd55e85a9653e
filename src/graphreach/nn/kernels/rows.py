"""Numba functions on one row of entries in buffers of whole registers, which all kernels of the layers share."""

from typing import Any, NamedTuple

import numpy as np

from graphreach.jit import fast_inline_kernel, kernel
from graphreach.nn.kernels.simd import (
    LARGEST,
    absolute,
    exp,
    lanes,
    larger,
    largest,
    load,
    spread,
    store,
    total,
    where_above,
    with_sign,
    zeros,
)

DENSE, COMPRESSED, GATHERED = 0, 1, 2


class Layout(NamedTuple):
    """Where a node's entries are and which anchors they are about, as in :class:`graphreach.nn.Positions`.

    Attributes:
        kind: ``DENSE``, ``COMPRESSED`` or ``GATHERED``.
        pointer: Where each node's entries begin.
        anchor: The anchor's number of each entry; empty for dense rows.
        first: The first anchor's number of each node's graph.
        count: How many anchors each node's graph has.
        width: The largest of these.
    """

    kind: Any
    pointer: Any
    anchor: Any
    first: Any
    count: Any
    width: Any


@kernel
def padded(k: Any) -> Any:
    """The length of a row of k entries in whole registers."""
    return (k + LARGEST - 1) // LARGEST * LARGEST


@kernel
def load_row(values: Any, layout: Any, background: Any, v: Any, row: Any) -> None:
    """Row v of a position matrix with all its entries, followed by zeros."""
    begin, k = layout.pointer[v], layout.count[v]
    if layout.kind == COMPRESSED:
        for i in range(k):
            row[i] = background
        for e in range(begin, layout.pointer[v + 1]):
            row[layout.anchor[e] - layout.first[v]] = values[e]
    else:
        for i in range(k):
            row[i] = values[begin + i]
    for i in range(k, len(row)):
        row[i] = 0


@kernel
def store_row(row: Any, layout: Any, v: Any, gradient: Any) -> Any:
    """Inverse of :func:`load_row` for gradients; returns the gradient of the background."""
    begin, k, rest = layout.pointer[v], layout.count[v], row.dtype.type(0)
    if layout.kind != COMPRESSED:
        for i in range(k):
            gradient[begin + i] = row[i]
        return rest
    for e in range(begin, layout.pointer[v + 1]):
        i = layout.anchor[e] - layout.first[v]
        gradient[e] = row[i]
        row[i] = 0
    for i in range(k):
        rest += row[i]
    return rest


@kernel
def keep(row: Any, out: Any) -> None:
    """Copy as many entries as ``out`` has."""
    for i in range(len(out)):
        out[i] = row[i]


@kernel
def fill_row(values: Any, row: Any) -> None:
    """The values, followed by zeros."""
    for i in range(len(values)):
        row[i] = values[i]
    for i in range(len(values), len(row)):
        row[i] = 0


@fast_inline_kernel
def dot(a: Any, b: Any) -> Any:
    """The product of two vectors."""
    out = a.dtype.type(0)
    for c in range(len(a)):
        out += a[c] * b[c]
    return out


@kernel
def leaky_softmax(raw: Any, k: Any, slope: Any, missing: Any, nothing: Any, weight: Any) -> None:
    """Softmax of LeakyReLU of k logits, with ``missing`` more logits that are all ``nothing``.

    A weight gets the sign of its logit: all that LeakyReLU's gradient needs to know. Those beyond k are zero.
    """
    none, step = zeros(raw, 1), lanes(raw)
    slopes, top, sums = spread(slope, none), spread(raw.dtype.type(-np.inf), none), none
    for i in range(0, len(raw), step):
        x = load(raw, i, none)
        store(weight, i, where_above(x, none, x, x * slopes))
    for i in range(k, len(raw)):
        weight[i] = -np.inf
    for i in range(0, len(raw), step):
        top = larger(load(weight, i, none), top)
    rest = nothing if nothing > 0 else slope * nothing
    most = largest(top)
    if missing > 0:
        most = max(most, rest)
    top = spread(most, none)
    for i in range(0, len(raw), step):
        x = exp(load(weight, i, none) - top)
        store(weight, i, x)
        sums = sums + x
    whole = total(sums)
    if missing > 0:
        whole += raw.dtype.type(missing) * np.exp(rest - most)
    scale = spread(raw.dtype.type(1) / whole if whole != 0 else raw.dtype.type(0), none)
    plus, minus = spread(raw.dtype.type(1), none), spread(raw.dtype.type(-1), none)
    for i in range(0, len(raw), step):
        sign = where_above(load(raw, i, none), none, plus, minus)
        store(weight, i, with_sign(load(weight, i, none) * scale, sign))


@kernel
def leaky_softmax_backward(weight: Any, slope: Any, mean: Any, x: Any, y: Any) -> Any:
    """From the weights (with signs) and y = their gradients: x = weights, y = gradients of the logits; returns their sum.

    ``mean`` is the weighted mean of the gradients, which is the product of the sum of messages with its own gradient.
    """
    none, step = zeros(x, 1), lanes(x)
    one, slopes, means, sums = spread(x.dtype.type(1), none), spread(slope, none), spread(mean, none), none
    for i in range(0, len(x), step):
        signed = load(weight, i, none)
        share = absolute(signed)
        d = share * (load(y, i, none) - means) * where_above(signed, none, one, slopes)
        store(x, i, share)
        store(y, i, d)
        sums = sums + d
    return total(sums)

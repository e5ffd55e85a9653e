"""Numba kernels for messages (Eqs. 4-5) and their aggregation (Eqs. 6-8), forward and backward.

The message of anchor i to node v is m = act(t P_v + f Q_i + b), with t = s(v, a_i), f = s(a_i, v), P = H W_1 and
Q = H_A W_2. It is made where it is needed and never stored: memory is that of the inputs and outputs. A vector's
places are anchors: Q comes transposed, ``[channels, anchors]``, and a node's rows of T and F are copied to buffers that are
padded with zeros to whole registers. Where anchors differ by node, Q comes as it is, and the rows that a node needs are
gathered and transposed first.

Rows are dealt out to a number of parts that depends on shapes only, never on threads; sums over nodes are kept per part and
added in order, so training repeats bit for bit. A layout is a value, not a type: one compilation serves them all. Attention
is one more, which the mean does not need.
"""

from typing import Any, NamedTuple

import numpy as np

from graphreach.jit import borrowed, fast_parallel_kernel, fill, inline_kernel, kernel
from graphreach.nn.kernels.rows import (
    GATHERED,
    dot,
    fill_row,
    keep,
    leaky_softmax,
    leaky_softmax_backward,
    load_row,
    padded,
    store_row,
)
from graphreach.nn.kernels.simd import absolute, lanes, larger, load, spread, store, total, where_above, zeros


class Messages(NamedTuple):
    """The inputs of messages.

    Attributes:
        to: s(v, a) of each entry.
        back: s(a, v) of each entry.
        background: The similarity of anchors without an entry.
        P: H W_1.
        Q: H_A W_2, transposed and padded with zeros, unless rows are gathered.
        bias: b.
        floor: 0 for ReLU messages, minus infinity for linear ones.
    """

    to: Any
    back: Any
    background: Any
    P: Any
    Q: Any
    bias: Any
    floor: Any


class Gradients(NamedTuple):
    """Where gradients go; those of ``to`` and ``back`` are empty if they are not wanted.

    Those of background, Q, bias and vector (a, or w) are per part, and of the last two there is a register per channel.
    """

    to: Any
    back: Any
    background: Any
    P: Any
    Q: Any
    bias: Any
    vector: Any


@inline_kernel
def _anchors(Q: Any, layout: Any, v: Any, room: Any) -> Any:
    """Q transposed, and the column in which node v's anchors begin."""
    if layout.kind != GATHERED:
        return Q, layout.first[v]
    begin = layout.pointer[v]
    for i in range(layout.pointer[v + 1] - begin):
        row = Q[layout.anchor[begin + i]]
        for c in range(len(row)):
            room[c, i] = row[c]
    return room, layout.first[v] * 0


@kernel
def _give_back(room: Any, layout: Any, v: Any, dQ: Any) -> None:
    """Add the gradient of gathered rows to the rows they came from."""
    begin = layout.pointer[v]
    for i in range(layout.pointer[v + 1] - begin):
        row = dQ[layout.anchor[begin + i]]
        for c in range(len(row)):
            row[c] += room[c, i]
            room[c, i] = 0


@kernel
def _room(messages: Any, layout: Any) -> Any:
    """Room for gathered rows."""
    size = padded(layout.width) if layout.kind == GATHERED else 0
    return np.zeros((messages.P.shape[1], size), messages.P.dtype)


@kernel
def _product_block(
    none: Any, t: Any, f: Any, p: Any, QT: Any, begin: Any, bias: Any, floor: Any, w: Any, i: Any, out: Any
) -> None:
    """:func:`_product` for as many anchors as ``none`` has places."""
    ti, fi, low, sums = load(t, i, none), load(f, i, none), spread(floor, none), none
    for c in range(len(p)):
        q = load(QT, (c, begin + i), none)
        m = ti * spread(p[c], none) + (fi * q + spread(bias[c], none))
        sums = larger(m, low) * spread(w[c], none) + sums
    store(out, i, sums)


@kernel
def _product(t: Any, f: Any, p: Any, QT: Any, begin: Any, bias: Any, floor: Any, w: Any, out: Any) -> None:
    """out[i] = m_i w: the messages' products with a vector."""
    step, i = lanes(t), 0
    while i + 4 * step <= len(t):
        _product_block(zeros(t, 4), t, f, p, QT, begin, bias, floor, w, i, out)
        i += 4 * step
    while i < len(t):
        _product_block(zeros(t, 1), t, f, p, QT, begin, bias, floor, w, i, out)
        i += step


@kernel
def _sum(t: Any, f: Any, x: Any, p: Any, QT: Any, begin: Any, bias: Any, floor: Any, out: Any) -> None:
    """out = sum_i x_i m_i."""
    none, one, step = zeros(t, 2), zeros(t, 1), lanes(t)
    for c in range(len(p)):
        pc, bc, low, sums = spread(p[c], none), spread(bias[c], none), spread(floor, none), none
        i = 0
        while i + 2 * step <= len(t):
            m = load(t, i, none) * pc + (load(f, i, none) * load(QT, (c, begin + i), none) + bc)
            sums = load(x, i, none) * larger(m, low) + sums
            i += 2 * step
        out[c] = total(sums)
        if i < len(t):
            last = load(t, i, one) * spread(p[c], one)
            last = last + (load(f, i, one) * load(QT, (c, begin + i), one) + spread(bias[c], one))
            out[c] += total(load(x, i, one) * larger(last, spread(floor, one)))


@inline_kernel
def _attend(
    t: Any, f: Any, messages: Any, v: Any, QT: Any, begin: Any, u: Any, a: Any, slope: Any, k: Any, x: Any, weight: Any
) -> None:
    """Eq. 7: the weights in ``x``, and with the signs of their logits in ``weight``."""
    none, step = zeros(t, 1), lanes(t)
    _product(t, f, messages.P[v], QT, begin, messages.bias, messages.floor, a, x)
    for i in range(0, len(x), step):
        store(x, i, load(x, i, none) + spread(u, none))
    leaky_softmax(x, k, slope, 0, u, weight)
    for i in range(0, len(x), step):
        store(x, i, absolute(load(weight, i, none)))


@kernel
def _equal(k: Any, x: Any) -> None:
    for i in range(len(x)):
        x[i] = x.dtype.type(1.0 / k) if i < k else x.dtype.type(0)


@inline_kernel
def _load_node(messages: Any, layout: Any, v: Any, buffers: Any, room: Any) -> Any:
    """A node's similarities in both directions, Q transposed, and the column in which the node's anchors begin."""
    size = padded(layout.count[v])
    t, f = buffers[0, :size], buffers[1, :size]
    load_row(messages.to, layout, messages.background, v, t)
    load_row(messages.back, layout, messages.background, v, f)
    QT, begin = _anchors(messages.Q, layout, v, room)
    return t, f, QT, begin


@fast_parallel_kernel
def forward(
    share: Any, messages: Any, layout: Any, project: Any, u: Any, vector: Any, slope: Any, parts: Any, alpha: Any,
    out: Any,
) -> None:  # fmt: skip
    """out[v] = sum_i w_i m_i: w_i = 1 / k (Eq. 6), or attention's (Eqs. 7-8), kept in ``alpha`` with the logits' signs.

    Or ``project``, the last layer, which does not aggregate: out[v, i] = m_i w, zero beyond a graph's own anchors. The
    vector is a, or w; without attention ``u`` is None.
    """
    messages, layout, vector, alpha, out = borrowed((messages, layout, vector, alpha, out))
    n = len(out)
    for part in range(share[0], parts, share[1]):
        buffers = np.empty((4, padded(layout.width)), out.dtype)
        room = _room(messages, layout)
        for v in range(part * n // parts, (part + 1) * n // parts):
            k, p = layout.count[v], messages.P[v]
            t, f, QT, begin = _load_node(messages, layout, v, buffers, room)
            x, weight = buffers[2, : len(t)], buffers[3, : len(t)]
            if project:
                _product(t, f, p, QT, begin, messages.bias, messages.floor, vector, x)
                keep(x, out[v, :k])
                fill(out[v, k:], 0)
                continue
            if u is not None:
                _attend(t, f, messages, v, QT, begin, u[v], vector, slope, k, x, weight)
                keep(weight, alpha[v, :k])
            else:
                _equal(k, x)
            _sum(t, f, x, p, QT, begin, messages.bias, messages.floor, out[v])


@kernel
def _pull_back(
    t: Any, f: Any, messages: Any, v: Any, QT: Any, begin: Any, x: Any, along: Any, y: Any, across: Any,
    gradients: Any, part: Any, dQT: Any, dt: Any, df: Any,
) -> None:  # fmt: skip
    """Gradients of a node's messages, for dm_i = x_i along + y_i across where the message is above its floor.

    The gradient of ``across`` is sum_i y_i m_i.
    """
    p, dbias, dacross, wanted = messages.P[v], gradients.bias[part], gradients.vector[part], len(gradients.to) > 0
    none, step = zeros(t, 1), lanes(t)
    low = spread(messages.floor, none)
    for c in range(len(p)):
        pc, bc, gc, ac = (
            spread(p[c], none),
            spread(messages.bias[c], none),
            spread(along[c], none),
            spread(across[c], none),
        )
        dpc, dbc, dac = none, load(dbias, (c, 0), none), load(dacross, (c, 0), none)
        for i in range(0, len(t), step):
            ti, fi, yi, q = load(t, i, none), load(f, i, none), load(y, i, none), load(QT, (c, begin + i), none)
            m = ti * pc + (fi * q + bc)
            dm = where_above(m, low, load(x, i, none) * gc + yi * ac, none)
            dac = yi * larger(m, low) + dac
            if wanted:
                store(dt, i, dm * pc + load(dt, i, none))
                store(df, i, dm * q + load(df, i, none))
            store(dQT, (c, begin + i), fi * dm + load(dQT, (c, begin + i), none))
            dpc = ti * dm + dpc
            dbc = dm + dbc
        gradients.P[v, c] = total(dpc)
        store(dbias, (c, 0), dbc)
        store(dacross, (c, 0), dac)


@inline_kernel
def _row_back(
    t: Any, f: Any, messages: Any, layout: Any, v: Any, QT: Any, begin: Any, x: Any, along: Any, y: Any, across: Any,
    buffers: Any, gradients: Any, part: Any, own: Any,
) -> None:  # fmt: skip
    """Gradients of all that makes a node's messages."""
    dt, df, gathered = buffers[0, : len(t)], buffers[1, : len(t)], layout.kind == GATHERED
    fill(dt, 0)
    fill(df, 0)
    dQT = own if gathered else gradients.Q[part]
    _pull_back(t, f, messages, v, QT, begin, x, along, y, across, gradients, part, dQT, dt, df)
    if gathered:
        _give_back(own, layout, v, gradients.Q[part])
    if len(gradients.to):
        gradients.background[part] += store_row(dt, layout, v, gradients.to)
        gradients.background[part] += store_row(df, layout, v, gradients.back)


@fast_parallel_kernel
def backward(
    share: Any, messages: Any, layout: Any, project: Any, vector: Any, slope: Any, parts: Any, alpha: Any, out: Any,
    gradient: Any, gradients: Any, du: Any,
) -> None:  # fmt: skip
    """Gradients of :func:`forward`; ``du`` is None without attention."""
    messages, layout, vector, alpha, out = borrowed((messages, layout, vector, alpha, out))
    gradient, gradients = borrowed((gradient, gradients))
    n = len(gradient)
    for part in range(share[0], parts, share[1]):
        buffers = np.empty((7, padded(layout.width)), gradient.dtype)
        room, own = _room(messages, layout), _room(messages, layout)
        for v in range(part * n // parts, (part + 1) * n // parts):
            k, g = layout.count[v], gradient[v]
            t, f, QT, begin = _load_node(messages, layout, v, buffers, room)
            x, y, weight = buffers[2, : len(t)], buffers[3, : len(t)], buffers[4, : len(t)]
            if du is not None:
                fill_row(alpha[v, :k], weight)
                _product(t, f, messages.P[v], QT, begin, messages.bias, messages.floor, g, y)
                du[v] = leaky_softmax_backward(weight, slope, dot(out[v], g), x, y)
            elif project:
                fill(x, 0)
                fill_row(g[:k], y)
            else:
                _equal(k, x)
                fill(y, 0)
            along = vector if project else g
            _row_back(
                t, f, messages, layout, v, QT, begin, x, along, y, vector, buffers[5:], gradients, part, own
            )  # fmt: skip

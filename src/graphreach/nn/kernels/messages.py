"""Numba kernels for messages (Eqs. 4-5) and their aggregation (Eqs. 6-8), forward and backward.

The message of anchor i to node v is m = act(t P_v + f Q_i + b), with t = s(v, a_i), f = s(a_i, v), P = H W_1 and
Q = H_A W_2. It is made in a register where it is needed and never stored: memory is that of the inputs and outputs.

A vector's places are anchors. Q comes transposed, ``[channels, anchors]``, and a node's rows of T and F are copied to
buffers that are padded with zeros to whole registers. Where anchors differ by node (``source``), Q comes as it is, and the
rows that the node needs are gathered and transposed first.

Rows are dealt out to a number of parts that depends on shapes only, never on threads; sums over nodes are kept per part and
added in order, so training repeats bit for bit. ``floor`` is 0 for ReLU messages and minus infinity for linear ones.
"""

from typing import Any

import numpy as np
from numba import prange

from graphreach.jit import fast_parallel_kernel, fill, kernel
from graphreach.nn.kernels.rows import (
    PAGE,
    dot,
    fill_row,
    keep,
    load_row,
    padded,
    soften,
    soften_backward,
    store_row,
)
from graphreach.nn.kernels.simd import (
    absolute,
    gather_block,
    lanes,
    larger,
    load,
    scatter_block,
    spread,
    store,
    total,
    where_above,
    zeros,
)


@kernel
def _scratch(source: Any, Q: Any, size: Any) -> Any:
    """Room for the rows of Q that a node's entries are about, transposed, for their gradient, and for their numbers."""
    if source is None:
        return np.empty((2, 0), Q.dtype), np.empty(0, np.int64)
    length = Q.shape[1] * size
    page = PAGE // Q.itemsize
    return np.empty((2, (length + page - 1) // page * page), Q.dtype), np.empty(size, np.int64)


@kernel
def _anchors(Q: Any, source: Any, pointer: Any, first: Any, v: Any, size: Any, room: Any, rows: Any) -> Any:
    """Q transposed and the column in which node v's anchors begin."""
    if source is None:
        return Q, first[v]
    begin, k = pointer[v], pointer[v + 1] - pointer[v]
    for i in range(size):
        rows[i] = source[begin + min(i, k - 1)] if k else 0
    block = room[0, : Q.shape[1] * size].reshape((Q.shape[1], size))
    for i in range(0, size, lanes(Q)):
        for c in range(0, Q.shape[1], lanes(Q)):
            gather_block(Q, rows, i, c, block)
    return block, np.int64(0)


@kernel
def _own_gradient(dQ: Any, Q: Any, source: Any, size: Any, room: Any) -> Any:
    """Where the gradient of :func:`_anchors` is added up, of the same shape."""
    if source is None:
        return dQ[: Q.size].reshape(Q.shape)
    block = room[1, : Q.shape[1] * size]
    fill(block, 0)
    return block.reshape((Q.shape[1], size))


@kernel
def _give_back(block: Any, Q: Any, source: Any, size: Any, rows: Any, dQ: Any) -> None:
    """Add the gradient of gathered rows to the rows they came from."""
    if source is None:
        return
    whole = dQ[: Q.size].reshape(Q.shape)
    for i in range(0, size, lanes(Q)):
        for c in range(0, Q.shape[1], lanes(Q)):
            scatter_block(block, rows, i, c, whole)


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


@fast_parallel_kernel
def aggregate(
    T: Any, F: Any, pointer: Any, column: Any, first: Any, count: Any, source: Any, width: Any, background: Any,
    P: Any, Q: Any, bias: Any, floor: Any, attention: Any, u: Any, a: Any, slope: Any, parts: Any, alpha: Any, out: Any,
) -> None:  # fmt: skip
    """out[v] = sum_i w_i m_i: w_i = 1 / k (Eq. 6), or attention's (Eqs. 7-8), kept in ``alpha`` with the logits' signs."""
    n = len(P)
    for part in prange(parts):
        buffers = np.empty((4, padded(width)), P.dtype)
        room, rows = _scratch(source, Q, padded(width))
        for v in range(part * n // parts, (part + 1) * n // parts):
            k, size = count[v], padded(count[v])
            t, f, x, weight = buffers[0, :size], buffers[1, :size], buffers[2, :size], buffers[3, :size]
            load_row(T, pointer, column, first, background, v, k, t)
            load_row(F, pointer, column, first, background, v, k, f)
            QT, begin = _anchors(Q, source, pointer, first, v, size, room, rows)
            if attention:
                _attend(t, f, P[v], QT, begin, bias, floor, u[v], a, slope, k, x, weight)
                keep(weight, alpha[v, :k])
            else:
                _equal(k, x)
            _sum(t, f, x, P[v], QT, begin, bias, floor, out[v])


@kernel
def _attend(
    t: Any, f: Any, p: Any, QT: Any, begin: Any, bias: Any, floor: Any, u: Any, a: Any, slope: Any, k: Any, x: Any,
    weight: Any,
) -> None:  # fmt: skip
    """Eq. 7: the weights in ``x``, and with the signs of their logits in ``weight``."""
    none, step = zeros(t, 1), lanes(t)
    _product(t, f, p, QT, begin, bias, floor, a, x)
    for i in range(0, len(x), step):
        store(x, i, load(x, i, none) + spread(u, none))
    soften(x, k, slope, 0, u, weight)
    for i in range(0, len(x), step):
        store(x, i, absolute(load(weight, i, none)))


@kernel
def _equal(k: Any, x: Any) -> None:
    for i in range(len(x)):
        x[i] = x.dtype.type(1.0 / k) if i < k else x.dtype.type(0)


@kernel
def _pull_back(
    t: Any, f: Any, p: Any, QT: Any, begin: Any, bias: Any, floor: Any, x: Any, along: Any, y: Any, across: Any,
    dp: Any, dQT: Any, dbias: Any, dacross: Any, dt: Any, df: Any,
) -> None:  # fmt: skip
    """Gradients of a node's messages, for dm_i = x_i along + y_i across where the message is above its floor.

    ``dacross`` gets sum_i y_i m_i, or without y sum_i x_i m_i. It and ``dbias`` have a register for each channel.
    ``dacross``, and dt with df, are None if not wanted.
    """
    none, step = zeros(t, 1), lanes(t)
    low = spread(floor, none)
    for c in range(len(p)):
        pc, bc, gc = spread(p[c], none), spread(bias[c], none), spread(along[c], none)
        dpc, dbc = none, load(dbias, (c, 0), none)
        if y is not None:
            ac = spread(across[c], none)
        if dacross is not None:
            dac = load(dacross, (c, 0), none)
        for i in range(0, len(t), step):
            ti, fi, xi, q = load(t, i, none), load(f, i, none), load(x, i, none), load(QT, (c, begin + i), none)
            m = ti * pc + (fi * q + bc)
            if y is None:
                yi, dm = xi, xi * gc
            else:
                yi = load(y, i, none)
                dm = xi * gc + yi * ac
            dm = where_above(m, low, dm, none)
            if dacross is not None:
                dac = yi * larger(m, low) + dac
            if dt is not None:
                store(dt, i, dm * pc + load(dt, i, none))
                store(df, i, dm * q + load(df, i, none))
            store(dQT, (c, begin + i), fi * dm + load(dQT, (c, begin + i), none))
            dpc = ti * dm + dpc
            dbc = dm + dbc
        dp[c] = total(dpc)
        store(dbias, (c, 0), dbc)
        if dacross is not None:
            store(dacross, (c, 0), dac)


@kernel
def _aggregate_row_backward(
    t: Any, f: Any, p: Any, QT: Any, begin: Any, bias: Any, floor: Any, attention: Any, a: Any, slope: Any, k: Any,
    alpha: Any, out: Any, g: Any, weight: Any, x: Any, y: Any, dp: Any, dQT: Any, dbias: Any, da: Any, dt: Any, df: Any,
) -> Any:  # fmt: skip
    """Gradients of one row of :func:`aggregate`; returns that of u."""
    if not attention:
        _equal(k, x)
        _pull_back(t, f, p, QT, begin, bias, floor, x, g, None, None, dp, dQT, dbias, None, dt, df)
        return x.dtype.type(0)
    fill_row(alpha[:k], weight)
    _product(t, f, p, QT, begin, bias, floor, g, y)
    du = soften_backward(weight, slope, dot(out, g), x, y)
    _pull_back(t, f, p, QT, begin, bias, floor, x, g, y, a, dp, dQT, dbias, da, dt, df)
    return du


@fast_parallel_kernel
def aggregate_backward(
    T: Any, F: Any, pointer: Any, column: Any, first: Any, count: Any, source: Any, width: Any, background: Any,
    P: Any, Q: Any, bias: Any, floor: Any, attention: Any, a: Any, slope: Any, parts: Any, alpha: Any, out: Any,
    gradient: Any, dT: Any, dF: Any, dbackground: Any, dP: Any, dQ: Any, dbias: Any, du: Any, da: Any,
) -> None:  # fmt: skip
    """Gradients of :func:`aggregate`; those of Q, bias, a and the background are per part. dT is empty if not wanted."""
    n = len(P)
    for part in prange(parts):
        buffers = np.empty((7, padded(width)), P.dtype)
        room, rows = _scratch(source, Q, padded(width))
        fill(dQ[part], 0)
        for v in range(part * n // parts, (part + 1) * n // parts):
            k, size = count[v], padded(count[v])
            t, f, x, y = buffers[0, :size], buffers[1, :size], buffers[2, :size], buffers[3, :size]
            weight, dt, df = buffers[4, :size], buffers[5, :size], buffers[6, :size]
            load_row(T, pointer, column, first, background, v, k, t)
            load_row(F, pointer, column, first, background, v, k, f)
            QT, begin = _anchors(Q, source, pointer, first, v, size, room, rows)
            dQT = _own_gradient(dQ[part], Q, source, size, room)
            if len(dT):
                fill(dt, 0)
                fill(df, 0)
                du[v] = _aggregate_row_backward(
                    t, f, P[v], QT, begin, bias, floor, attention, a, slope, k, alpha[v], out[v], gradient[v],
                    weight, x, y, dP[v], dQT, dbias[part], da[part], dt, df,
                )  # fmt: skip
                dbackground[part] += store_row(dT, pointer, column, first, v, k, dt)
                dbackground[part] += store_row(dF, pointer, column, first, v, k, df)
            else:
                du[v] = _aggregate_row_backward(
                    t, f, P[v], QT, begin, bias, floor, attention, a, slope, k, alpha[v], out[v], gradient[v],
                    weight, x, y, dP[v], dQT, dbias[part], da[part], None, None,
                )  # fmt: skip
            _give_back(dQT, Q, source, size, rows, dQ[part])


@fast_parallel_kernel
def project(
    T: Any, F: Any, pointer: Any, column: Any, first: Any, count: Any, source: Any, width: Any, background: Any,
    P: Any, Q: Any, bias: Any, floor: Any, w: Any, parts: Any, out: Any,
) -> None:  # fmt: skip
    """out[v, i] = m_i w: the last layer, which does not aggregate. Columns beyond a graph's own anchors are zero."""
    n = len(P)
    for part in prange(parts):
        buffers = np.empty((3, padded(width)), P.dtype)
        room, rows = _scratch(source, Q, padded(width))
        for v in range(part * n // parts, (part + 1) * n // parts):
            k, size = count[v], padded(count[v])
            t, f, x = buffers[0, :size], buffers[1, :size], buffers[2, :size]
            load_row(T, pointer, column, first, background, v, k, t)
            load_row(F, pointer, column, first, background, v, k, f)
            QT, begin = _anchors(Q, source, pointer, first, v, size, room, rows)
            _product(t, f, P[v], QT, begin, bias, floor, w, x)
            keep(x, out[v, :k])
            fill(out[v, k:], 0)


@fast_parallel_kernel
def project_backward(
    T: Any, F: Any, pointer: Any, column: Any, first: Any, count: Any, source: Any, width: Any, background: Any,
    P: Any, Q: Any, bias: Any, floor: Any, w: Any, parts: Any, gradient: Any,
    dT: Any, dF: Any, dbackground: Any, dP: Any, dQ: Any, dbias: Any, dw: Any,
) -> None:  # fmt: skip
    """Gradients of :func:`project`."""
    n = len(P)
    for part in prange(parts):
        buffers = np.empty((5, padded(width)), P.dtype)
        room, rows = _scratch(source, Q, padded(width))
        fill(dQ[part], 0)
        for v in range(part * n // parts, (part + 1) * n // parts):
            k, size = count[v], padded(count[v])
            t, f, x, dt, df = (
                buffers[0, :size],
                buffers[1, :size],
                buffers[2, :size],
                buffers[3, :size],
                buffers[4, :size],
            )
            load_row(T, pointer, column, first, background, v, k, t)
            load_row(F, pointer, column, first, background, v, k, f)
            fill_row(gradient[v, :k], x)
            QT, begin = _anchors(Q, source, pointer, first, v, size, room, rows)
            dQT = _own_gradient(dQ[part], Q, source, size, room)
            if len(dT):
                fill(dt, 0)
                fill(df, 0)
                _pull_back(
                    t, f, P[v], QT, begin, bias, floor, x, w, None, None, dP[v], dQT, dbias[part], dw[part], dt, df
                )
                dbackground[part] += store_row(dT, pointer, column, first, v, k, dt)
                dbackground[part] += store_row(dF, pointer, column, first, v, k, df)
            else:
                _pull_back(
                    t, f, P[v], QT, begin, bias, floor, x, w, None, None, dP[v], dQT, dbias[part], dw[part], None, None
                )
            _give_back(dQT, Q, source, size, rows, dQ[part])

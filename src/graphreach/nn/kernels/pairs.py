"""Numba kernels for the scores of pairs of nodes and their gradient, without gathering rows.

Pairs are grouped by node, and within large groups by where the other end's row lies: the rows of a block stay in the cache
while the pairs with all nodes go by.
"""

from typing import Any

import numpy as np
from numba import prange

from graphreach.jit import fast_parallel_kernel, fill, inline_kernel, kernel, parallel_kernel
from graphreach.nn.kernels.simd import folded, lanes, load, spread, store, total, zeros


@kernel
def _tail(z: Any) -> Any:
    """For the last numbers of a row, which do not fill a register: which of the last register's they are, as 0 and 1."""
    step = lanes(z)
    mask = np.zeros(step, z.dtype)
    for i in range(step - z.shape[1] % step, step):
        mask[i] = 1
    return mask


@inline_kernel
def _dot(z: Any, a: Any, b: Any, tail: Any) -> Any:
    """z[a] . z[b], for rows of a register at least."""
    wide, one, step, width, c = zeros(z, 4), zeros(z, 1), lanes(z), z.shape[1], 0
    many, few = wide, load(z, (a, width - step), one) * load(tail, 0, one) * load(z, (b, width - step), one)
    while c + 4 * step <= width:
        many = load(z, (a, c), wide) * load(z, (b, c), wide) + many
        c += 4 * step
    while c + step <= width:
        few = load(z, (a, c), one) * load(z, (b, c), one) + few
        c += step
    return total(folded(many) + few)


@inline_kernel
def _short_dot(z: Any, a: Any, b: Any) -> Any:
    """z[a] . z[b], for any rows."""
    out = z.dtype.type(0)
    for c in range(z.shape[1]):
        out += z[a, c] * z[b, c]
    return out


@fast_parallel_kernel
def pair_dot(z: Any, left: Any, right: Any, parts: Any, out: Any) -> None:
    """out[p] = z[left[p]] . z[right[p]], pair by pair."""
    m, tail = len(left), _tail(z)
    for part in prange(parts):
        for p in range(part * m // parts, (part + 1) * m // parts):
            a, b = np.int64(left[p]), np.int64(right[p])
            out[p] = _dot(z, a, b, tail) if z.shape[1] >= lanes(z) else _short_dot(z, a, b)


@inline_kernel
def _key(node: Any, other: Any, side: Any, num_nodes: Any, bits: Any) -> Any:
    """The place of a pair's end: by block of the other end's row, then node, then side."""
    return ((other >> bits) * num_nodes + node) * 2 + side


@parallel_kernel
def group_pairs(left: Any, right: Any, num_nodes: Any, bits: Any, parts: Any) -> Any:
    """For each node and block of 2^bits rows the pairs with the other end in it, first those that the node is left in.

    Returns pointer, pair, other: ends of block b and node v begin at ``pointer[2 (b n + v)]``, those in which v is right at
    the next place. The pointer is empty if an end is no node. Pairs are dealt out to parts and stay in their order.
    """
    m, keys = len(left), 2 * num_nodes * (((num_nodes - 1) >> bits) + 1)
    counts, bad = np.zeros((parts, keys + 1), np.int32), np.zeros(parts, np.bool_)
    for part in prange(parts):
        for p in range(part * m // parts, (part + 1) * m // parts):
            a, b = np.int64(left[p]), np.int64(right[p])
            if a < 0 or b < 0 or a >= num_nodes or b >= num_nodes:
                bad[part] = True
            else:
                counts[part, _key(a, b, 0, num_nodes, bits)] += 1
                counts[part, _key(b, a, 1, num_nodes, bits)] += 1
    pair, other = np.empty(2 * m, np.int32), np.empty(2 * m, np.int32)
    if bad.any():
        return np.empty(0, np.int64), pair, other
    pointer = _running_sums(counts)
    for part in prange(parts):
        cursor = counts[part]
        for p in range(part * m // parts, (part + 1) * m // parts):
            a, b = np.int64(left[p]), np.int64(right[p])
            i = cursor[_key(a, b, 0, num_nodes, bits)]
            pair[i], other[i] = p, b
            cursor[_key(a, b, 0, num_nodes, bits)] += 1
            i = cursor[_key(b, a, 1, num_nodes, bits)]
            pair[i], other[i] = p, a
            cursor[_key(b, a, 1, num_nodes, bits)] += 1
    return pointer, pair, other


@kernel
def _running_sums(counts: Any) -> Any:
    """Where each key begins; ``counts`` becomes where each part's ends of each key begin."""
    pointer, place = np.empty(counts.shape[1], np.int64), 0
    for key in range(counts.shape[1]):
        pointer[key] = place
        for part in range(len(counts)):
            here = counts[part, key]
            counts[part, key] = place
            place += here
    return pointer


@fast_parallel_kernel
def grouped_dot(z: Any, pointer: Any, pair: Any, other: Any, parts: Any, out: Any) -> None:
    """:func:`pair_dot`, node by node."""
    n, tail = len(z), _tail(z)
    for part in prange(parts):
        for group in range((len(pointer) - 1) // (2 * n)):
            for v in range(part * n // parts, (part + 1) * n // parts):
                key = 2 * (group * n + v)
                for i in range(pointer[key], pointer[key + 1]):
                    b = np.int64(other[i])
                    out[pair[i]] = _dot(z, v, b, tail) if z.shape[1] >= lanes(z) else _short_dot(z, v, b)


@inline_kernel
def _sum_block(none: Any, z: Any, weight: Any, other: Any, begin: Any, c: Any, out: Any) -> None:
    sums = none
    for i in range(len(weight)):
        sums = spread(weight[i], none) * load(z, (np.int64(other[begin + i]), c), none) + sums
    store(out, c, sums)


@inline_kernel
def _sum_rows(z: Any, weight: Any, other: Any, begin: Any, out: Any) -> None:
    """out = sum_i weight_i z[other_i], by columns as many as registers hold; the last ones may be made twice."""
    width, step, c = z.shape[1], lanes(z), 0
    if width >= 8 * step:
        while c < width:
            _sum_block(zeros(z, 8), z, weight, other, begin, min(c, width - 8 * step), out)
            c += 8 * step
    elif width >= 4 * step:
        while c < width:
            _sum_block(zeros(z, 4), z, weight, other, begin, min(c, width - 4 * step), out)
            c += 4 * step
    elif width >= step:
        while c < width:
            _sum_block(zeros(z, 1), z, weight, other, begin, min(c, width - step), out)
            c += step
    else:
        fill(out, 0)
        for i in range(len(weight)):
            for j in range(width):
                out[j] += weight[i] * z[other[begin + i], j]


@inline_kernel
def _node_gradient(z: Any, pointer: Any, pair: Any, other: Any, gradient: Any, key: Any, weight: Any, out: Any) -> None:
    """The sum over one group of the pairs' gradients times the other ends' rows; ``weight`` has room for the gradients."""
    begin, end = pointer[key], pointer[key + 2]
    for i in range(begin, end):
        weight[i - begin] = gradient[pair[i]]
    _sum_rows(z, weight[: end - begin], other, begin, out)


@fast_parallel_kernel
def grouped_backward(
    z: Any, pointer: Any, pair: Any, other: Any, gradient: Any, longest: Any, parts: Any, dz: Any
) -> None:
    """dz[v] = sum over the pairs of v of their gradient times the other end's row; one thread writes a row."""
    n = len(z)
    for part in prange(parts):
        weight, row = np.empty(longest, z.dtype), np.empty(z.shape[1], z.dtype)
        for group in range((len(pointer) - 1) // (2 * n)):
            for v in range(part * n // parts, (part + 1) * n // parts):
                key = 2 * (group * n + v)
                if group == 0:
                    _node_gradient(z, pointer, pair, other, gradient, key, weight, dz[v])
                elif pointer[key] < pointer[key + 2]:
                    _node_gradient(z, pointer, pair, other, gradient, key, weight, row)
                    for c in range(len(row)):
                        dz[v, c] += row[c]

"""Numba kernels for the scores of pairs of nodes and their gradient, without gathering rows.

Pairs are grouped by node, and within large groups by where the other end's row lies: the rows of a block stay in the cache
while the pairs with all nodes go by.
"""

from typing import Any, NamedTuple

import numpy as np

from graphreach.jit import borrowed, fast_inline_kernel, fast_parallel_kernel, fill, inline_kernel, parallel_kernel


class Groups(NamedTuple):
    """Ends of pairs by block of the other end's row, then node, then side: those of block b and node v at which v is left
    begin at ``pointer[2 (b n + v)]``, those at which it is right at the next place.

    Attributes:
        pointer: Where the ends of each key begin; empty if an end is no node.
        pair: The pair of each end.
        other: The node at its other end.
    """

    pointer: Any
    pair: Any
    other: Any


@fast_inline_kernel
def _dot(a: Any, b: Any) -> Any:
    out = a.dtype.type(0)
    for c in range(len(a)):
        out += a[c] * b[c]
    return out


@fast_parallel_kernel
def pair_dot(share: Any, z: Any, left: Any, right: Any, parts: Any, out: Any) -> None:
    """out[p] = z[left[p]] . z[right[p]], pair by pair."""
    z = borrowed(z)
    m = len(left)
    for part in range(share[0], parts, share[1]):
        for p in range(part * m // parts, (part + 1) * m // parts):
            out[p] = _dot(z[left[p]], z[right[p]])


@inline_kernel
def _key(node: Any, other: Any, side: Any, num_nodes: Any, bits: Any) -> Any:
    """The place of a pair's end: by block of the other end's row, then node, then side."""
    return ((other >> bits) * num_nodes + node) * 2 + side


def group_pairs(left: Any, right: Any, num_nodes: int, bits: int, parts: int) -> Groups:
    """For each node and block of 2^bits rows the pairs with the other end in it, first those that the node is left in.

    Pairs are dealt out to parts and stay in their order.
    """
    keys = 2 * num_nodes * (((num_nodes - 1) >> bits) + 1)
    counts, bad = np.zeros((parts, keys + 1), np.int32), np.zeros(parts, np.bool_)
    _count_ends(left, right, num_nodes, bits, counts, bad)
    pair, other = np.empty(2 * len(left), np.int32), np.empty(2 * len(left), np.int32)
    if bad.any():
        return Groups(np.empty(0, np.int64), pair, other)
    ends = np.cumsum(counts.T).reshape(-1, parts)  # by key, then part
    counts[:] = ends.T - counts  # where each part's ends of each key begin
    pointer = counts[0].astype(np.int64)
    _place_ends(left, right, num_nodes, bits, counts, pair, other)
    return Groups(pointer, pair, other)


@parallel_kernel
def _count_ends(share: Any, left: Any, right: Any, num_nodes: Any, bits: Any, counts: Any, bad: Any) -> None:
    m, parts = len(left), len(counts)
    for part in range(share[0], parts, share[1]):
        for p in range(part * m // parts, (part + 1) * m // parts):
            a, b = np.int64(left[p]), np.int64(right[p])
            if a < 0 or b < 0 or a >= num_nodes or b >= num_nodes:
                bad[part] = True
            else:
                counts[part, _key(a, b, 0, num_nodes, bits)] += 1
                counts[part, _key(b, a, 1, num_nodes, bits)] += 1


@parallel_kernel
def _place_ends(
    share: Any, left: Any, right: Any, num_nodes: Any, bits: Any, counts: Any, pair: Any, other: Any
) -> None:
    m, parts = len(left), len(counts)
    for part in range(share[0], parts, share[1]):
        cursor = counts[part]
        for p in range(part * m // parts, (part + 1) * m // parts):
            a, b = np.int64(left[p]), np.int64(right[p])
            i = cursor[_key(a, b, 0, num_nodes, bits)]
            pair[i], other[i] = p, b
            cursor[_key(a, b, 0, num_nodes, bits)] += 1
            i = cursor[_key(b, a, 1, num_nodes, bits)]
            pair[i], other[i] = p, a
            cursor[_key(b, a, 1, num_nodes, bits)] += 1


@fast_parallel_kernel
def grouped_dot(share: Any, z: Any, groups: Any, parts: Any, out: Any) -> None:
    """:func:`pair_dot`, node by node."""
    z, groups = borrowed((z, groups))
    n, pointer = len(z), groups.pointer
    for part in range(share[0], parts, share[1]):
        for group in range((len(pointer) - 1) // (2 * n)):
            for v in range(part * n // parts, (part + 1) * n // parts):
                key = 2 * (group * n + v)
                for i in range(pointer[key], pointer[key + 1]):
                    out[groups.pair[i]] = _dot(z[v], z[groups.other[i]])


@fast_inline_kernel
def _add_rows(z: Any, groups: Any, gradient: Any, begin: Any, end: Any, out: Any) -> None:
    """Add to ``out`` the pairs' gradients times the other ends' rows, four rows at a time."""
    pair, other = groups.pair, groups.other
    whole = begin + (end - begin) // 4 * 4
    for i in range(begin, whole, 4):
        a, b, c, d = gradient[pair[i]], gradient[pair[i + 1]], gradient[pair[i + 2]], gradient[pair[i + 3]]
        first, second, third, fourth = z[other[i]], z[other[i + 1]], z[other[i + 2]], z[other[i + 3]]
        for j in range(len(out)):
            out[j] += (a * first[j] + b * second[j]) + (c * third[j] + d * fourth[j])
    for i in range(whole, end):
        a, first = gradient[pair[i]], z[other[i]]
        for j in range(len(out)):
            out[j] += a * first[j]


@fast_parallel_kernel
def grouped_backward(share: Any, z: Any, groups: Any, gradient: Any, parts: Any, dz: Any) -> None:
    """dz[v] = sum over the pairs of v of their gradient times the other end's row; one thread writes a row."""
    z, groups, gradient, dz = borrowed((z, groups, gradient, dz))
    n, pointer = len(z), groups.pointer
    for part in range(share[0], parts, share[1]):
        for v in range(part * n // parts, (part + 1) * n // parts):
            fill(dz[v], 0)
        for group in range((len(pointer) - 1) // (2 * n)):
            for v in range(part * n // parts, (part + 1) * n // parts):
                key = 2 * (group * n + v)
                _add_rows(z, groups, gradient, pointer[key], pointer[key + 2], dz[v])

"""Numba kernels for the scores of pairs of nodes and their gradient, without gathering rows."""

from typing import Any

import numpy as np
from numba import prange

from graphreach.jit import fast_parallel_kernel, fill, kernel


@fast_parallel_kernel
def pair_dot(z: Any, left: Any, right: Any, parts: Any, out: Any) -> None:
    """out[p] = z[left[p]] . z[right[p]]."""
    m = len(left)
    for part in prange(parts):
        for p in range(part * m // parts, (part + 1) * m // parts):
            a, b = z[left[p]], z[right[p]]
            total = z.dtype.type(0)
            for c in range(len(a)):
                total += a[c] * b[c]
            out[p] = total


@fast_parallel_kernel
def pair_dot_scatter(z: Any, left: Any, right: Any, gradient: Any, parts: Any, dz: Any) -> None:
    """dz, pair by pair: each part owns a range of rows, reads all pairs and adds what falls into its range.

    A row's sum is in the order of the pairs whatever the number of parts. Fast while z fits into the cache.
    """
    n = len(z)
    for part in prange(parts):
        low, high = part * n // parts, (part + 1) * n // parts
        for v in range(low, high):
            fill(dz[v], 0)
        for p in range(len(left)):
            a, b, g = left[p], right[p], gradient[p]
            if low <= a < high:
                row, other = dz[a], z[b]
                for c in range(len(row)):
                    row[c] += g * other[c]
            if low <= b < high:
                row, other = dz[b], z[a]
                for c in range(len(row)):
                    row[c] += g * other[c]


@kernel
def group_pairs(left: Any, right: Any, num_nodes: Any) -> Any:
    """For each node the pairs it is in, and the node at the other end: pointer, pair, other."""
    pointer = np.zeros(num_nodes + 1, np.int64)
    for p in range(len(left)):
        pointer[left[p] + 1] += 1
        pointer[right[p] + 1] += 1
    for v in range(num_nodes):
        pointer[v + 1] += pointer[v]
    cursor = pointer[:-1].copy()
    pair, other = np.empty(2 * len(left), np.int32), np.empty(2 * len(left), np.int32)
    for p in range(len(left)):
        a, b = left[p], right[p]
        pair[cursor[a]], other[cursor[a]] = p, b
        cursor[a] += 1
        pair[cursor[b]], other[cursor[b]] = p, a
        cursor[b] += 1
    return pointer, pair, other


@fast_parallel_kernel
def pair_dot_backward(z: Any, pointer: Any, pair: Any, other: Any, gradient: Any, dz: Any) -> None:
    """dz[v] = sum over the pairs of v of their gradient times the other end's row; one thread writes a row."""
    for v in prange(len(z)):
        row = dz[v]
        fill(row, 0)
        for i in range(pointer[v], pointer[v + 1]):
            g, b = gradient[pair[i]], z[other[i]]
            for c in range(len(row)):
                row[c] += g * b[c]

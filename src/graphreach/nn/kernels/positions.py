"""Numba kernels that lay out position matrices for the layers."""

from typing import Any

import numpy as np

from graphreach.jit import fill, kernel, parallel_kernel, rows_of


@kernel
def _next_anchor(indices: Any, i: Any, end: Any, hops: Any) -> Any:
    """The anchor of entry i of a row, or a very large number after its end."""
    return np.int64(indices[i]) // hops if i < end else np.int64(2**62)


@parallel_kernel
def count_union(
    share: Any, t_pointer: Any, t_indices: Any, f_pointer: Any, f_indices: Any, hops: Any, counts: Any
) -> None:
    """For each row, how many anchors have an entry in either matrix."""
    for v in rows_of(share, len(counts)):
        counts[v] = 0
        i, j = np.int64(t_pointer[v]), np.int64(f_pointer[v])
        t_end, f_end = np.int64(t_pointer[v + 1]), np.int64(f_pointer[v + 1])
        while i < t_end or j < f_end:
            anchor = min(_next_anchor(t_indices, i, t_end, hops), _next_anchor(f_indices, j, f_end, hops))
            while _next_anchor(t_indices, i, t_end, hops) == anchor:
                i += 1
            while _next_anchor(f_indices, j, f_end, hops) == anchor:
                j += 1
            counts[v] += 1


@parallel_kernel
def fill_union(
    share: Any, t_pointer: Any, t_indices: Any, t_data: Any, f_pointer: Any, f_indices: Any, f_data: Any, hops: Any,
    pointer: Any, column: Any, to_values: Any, from_values: Any,
) -> None:  # fmt: skip
    """Both matrices' numbers on the union of their patterns; an entry that only one has is zero in the other."""
    for v in rows_of(share, len(pointer) - 1):
        i, j = np.int64(t_pointer[v]), np.int64(f_pointer[v])
        t_end, f_end = np.int64(t_pointer[v + 1]), np.int64(f_pointer[v + 1])
        for out in range(pointer[v], pointer[v + 1]):
            anchor = min(_next_anchor(t_indices, i, t_end, hops), _next_anchor(f_indices, j, f_end, hops))
            column[out] = anchor
            fill(to_values[out], 0)
            fill(from_values[out], 0)
            while _next_anchor(t_indices, i, t_end, hops) == anchor:
                to_values[out, np.int64(t_indices[i]) % hops] = t_data[i]
                i += 1
            while _next_anchor(f_indices, j, f_end, hops) == anchor:
                from_values[out, np.int64(f_indices[j]) % hops] = f_data[j]
                j += 1

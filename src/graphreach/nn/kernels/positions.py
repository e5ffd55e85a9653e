"""Numba kernels that say where nodes are: position matrices laid out for the layers, sets of anchors, returning walks."""

from typing import Any

import numpy as np
from numba import uint64

from graphreach.jit import fill, kernel, parallel_kernel, rows_of
from graphreach.walks.kernels import BLOCK, advance, enter, new_block, rows_per_block
from graphreach.walks.rng import start_key, step_bits, walk_key


@kernel
def _next_anchor(indices: Any, i: Any, end: Any, hops: Any) -> Any:
    """The anchor of entry i of a row, or a huge number after its end."""
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
    share: Any, t_pointer: Any, t_indices: Any, f_pointer: Any, f_indices: Any, t_data: Any, f_data: Any, hops: Any,
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


@kernel
def draw_sets(num_nodes: Any, pointer: Any, seed: Any, members: Any) -> None:
    """Fill each set with that many different nodes: the first swaps of a shuffle, by a hash of (seed, set, swap)."""
    order = np.arange(num_nodes)
    for s in range(len(pointer) - 1):
        key = walk_key(start_key(seed, num_nodes), s)
        begin = pointer[s]
        for i in range(pointer[s + 1] - begin):
            bits = step_bits(key, i + 1) >> uint64(32)
            j = i + np.int64((bits * uint64(num_nodes - i)) >> uint64(32))
            order[i], order[j] = order[j], order[i]
            members[begin + i] = order[i]


@parallel_kernel
def count_returns(
    share: Any, indptr: Any, indices: Any, alias: Any, starts: Any, num_walks: Any, seed: Any, out: Any
) -> None:
    """Add to ``out[r, t - 1]`` how many walks from the r-th start are there again at step t."""
    rows = rows_per_block(num_walks)
    for b in range(share[0], (len(starts) + rows - 1) // rows, share[1]):
        block = new_block()
        row = b * rows
        end = min(row + rows, len(starts))
        for first in range(0, num_walks, BLOCK):
            last = min(first + BLOCK, num_walks)
            count = enter(block, starts, row, end, num_walks, out.shape[1], first, seed)
            for step in range(1, out.shape[1] + 1):
                advance(indptr, indices, alias, block, count, step)
                i = 0
                for r in range(row, end):
                    for _ in range(first, last):
                        if block[0][i] == starts[r]:
                            out[r, step - 1] += 1
                        i += 1

"""Numba kernel that counts how often walks come home."""

from typing import Any

from graphreach.jit import parallel_kernel
from graphreach.walks.kernels import BLOCK, advance, enter, new_block, rows_per_block


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

"""Numba kernel for walks that remember where they came from."""

from typing import Any

import numpy as np
from numba import prange, uint32, uint64

from graphreach.jit import kernel, parallel_kernel
from graphreach.walks.rng import GOLDEN, mix, start_key, step_bits, walk_key


@kernel
def _has_edge(indptr: Any, indices: Any, u: Any, v: Any) -> Any:
    """Whether u's sorted row holds v."""
    low, high = np.int64(indptr[u]), np.int64(indptr[u + 1])
    while low < high:
        middle = (low + high) // 2
        if np.int64(indices[middle]) < v:
            low = middle + 1
        else:
            high = middle
    return low < np.int64(indptr[u + 1]) and np.int64(indices[low]) == v


@kernel
def _propose(indptr: Any, indices: Any, alias: Any, v: Any, bits: Any) -> Any:
    """A neighbour of v by a first-order step."""
    begin = uint64(indptr[v])
    edge = np.int64(begin + (((bits >> uint64(32)) * (uint64(indptr[v + 1]) - begin)) >> uint64(32)))
    if alias is None:
        return np.int64(indices[edge])
    coin = uint32(bits & uint64(0xFFFFFFFF))
    return np.int64(alias[edge * 3 + 1] if coin < alias[edge * 3] else alias[edge * 3 + 2])


@parallel_kernel
def store_second_order_walks(
    indptr: Any, indices: Any, alias: Any, starts: Any, p: Any, q: Any, seed: Any, out: Any
) -> None:
    """Fill ``out`` [starts, num_walks, walk_length + 1]: a first-order step is proposed until one is accepted."""
    top = max(1.0, 1.0 / p, 1.0 / q)
    for r in prange(len(starts)):
        for walk in range(out.shape[1]):
            key = walk_key(start_key(seed, starts[r]), walk)
            before, here = np.int64(-1), np.int64(starts[r])
            out[r, walk, 0] = here
            for step in range(1, out.shape[2]):
                there = np.int64(-1)
                bits = step_bits(key, step)
                while here >= 0 and indptr[here] < indptr[here + 1]:
                    there = _propose(indptr, indices, alias, here, bits)
                    bits = mix(bits + GOLDEN)
                    bias = 1.0 / p if there == before else 1.0 / q
                    if before < 0 or (there != before and _has_edge(indptr, indices, before, there)):
                        bias = 1.0 if before >= 0 else top
                    if np.float64(bits >> uint64(11)) * 2.0**-53 * top < bias:
                        break
                    bits = mix(bits + GOLDEN)
                out[r, walk, step] = there
                before, here = here, there

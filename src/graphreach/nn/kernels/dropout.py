"""Numba kernel of dropout."""

from typing import Any

from numba import prange, uint64

from graphreach.jit import fast_kernel, fast_parallel_kernel
from graphreach.walks.rng import GOLDEN, mix


@fast_parallel_kernel
def drop(values: Any, seed: Any, p: Any, parts: Any, out: Any) -> None:
    """out = values / (1 - p), or zero with probability p, decided by a hash of the seed and the place."""
    n = len(values)
    limit = uint64(round(p * 4294967296.0))
    scale = values.dtype.type(1.0 / (1.0 - p))
    key = mix(uint64(seed))
    for part in prange(parts):
        begin, end = part * n // parts, (part + 1) * n // parts
        _drop(values[begin:end], key + uint64(begin) * GOLDEN, limit, scale, out[begin:end])


@fast_parallel_kernel
def drop_rows(values: Any, rows: Any, seed: Any, p: Any, out: Any) -> None:
    """Like :func:`drop`, for a matrix whose row i is row ``rows[i]`` of a larger one of that width."""
    limit = uint64(round(p * 4294967296.0))
    scale = values.dtype.type(1.0 / (1.0 - p))
    key = mix(uint64(seed))
    width = values.shape[1]
    for i in prange(len(rows)):
        _drop(values[i], key + uint64(rows[i] * width) * GOLDEN, limit, scale, out[i])


@fast_kernel
def _drop(values: Any, key: Any, limit: Any, scale: Any, out: Any) -> None:
    zero = values.dtype.type(0)
    for e in range(len(values)):
        bits = mix(key + uint64(e) * GOLDEN) >> uint64(32)
        out[e] = values[e] * scale if bits >= limit else zero

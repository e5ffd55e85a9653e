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


@fast_kernel
def _drop(values: Any, key: Any, limit: Any, scale: Any, out: Any) -> None:
    zero = values.dtype.type(0)
    for e in range(len(values)):
        bits = mix(key + uint64(e) * GOLDEN) >> uint64(32)
        out[e] = values[e] * scale if bits >= limit else zero

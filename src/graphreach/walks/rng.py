"""The random numbers of a walk: a hash of (seed, start, walk, step).

There is no state to carry along, so a walk can be repeated alone, in any order, in any block and on any number of
threads, and comes out the same bit for bit. The hash is the finaliser of SplitMix64, applied once for the start, once
for the walk and once for each step.
"""

from typing import Any

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.jit import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
WALK = np.uint64(0xD1B54A32D192ED03)


@kernel
def mix(z: Any) -> Any:
    """Scramble 64 bits so that each input bit changes each output bit with probability one half."""
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return z ^ (z >> uint64(31))


@kernel
def start_key(seed: Any, start: Any) -> Any:
    """Hash of (seed, start)."""
    return mix(mix(uint64(seed) + GOLDEN) + uint64(start) * GOLDEN)


@kernel
def walk_key(key: Any, walk: Any) -> Any:
    """Hash of (seed, start, walk) from the hash of (seed, start)."""
    return mix(key + (uint64(walk) + uint64(1)) * WALK)


@kernel
def step_bits(key: Any, step: Any) -> Any:
    """64 random bits of step ``step`` (1, 2, ...) of the walk with this key."""
    return mix(key + uint64(step) * GOLDEN)


def hash_nodes(seed: int, nodes: NDArray[Any]) -> NDArray[np.uint64]:
    """:func:`start_key` of each node: a reproducible random order that does not depend on how nodes are stored."""
    scramble = mix.py_func  # type: ignore[attr-defined]
    key = scramble(np.array([seed], np.uint64) + GOLDEN)
    hashes: NDArray[np.uint64] = scramble(key + nodes.astype(np.uint64) * GOLDEN)
    return hashes


def check_seed(seed: int) -> int:
    """Return ``seed`` if it fits into 63 bits."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**63:
        raise InputError(f"seed must be an integer from 0 to 2**63 - 1, got {seed!r}")
    return int(seed)

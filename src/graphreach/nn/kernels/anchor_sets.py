"""Numba kernel that draws sets of anchors."""

from typing import Any

import numpy as np
from numba import uint64

from graphreach.jit import kernel
from graphreach.walks.rng import start_key, step_bits, walk_key


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

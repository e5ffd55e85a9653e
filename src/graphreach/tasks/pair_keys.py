"""Unordered pairs of nodes as numbers, so that sets of pairs are sorted arrays.

The pair of u < v has the key v (v - 1) / 2 + u. The keys of n nodes are 0 .. n (n - 1) / 2 - 1 without a gap. So a
random pair is a random number, and a random pair outside a set is a random rank among the numbers that the set leaves.
No draw is rejected, however dense the graph.
"""

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]
Pairs = NDArray[np.int64]

SPARSE = 8
"""Below one in this many, distinct numbers are found by drawing again; above, by shuffling all."""


def num_pairs(num_nodes: int) -> int:
    """How many unordered pairs there are."""
    return num_nodes * (num_nodes - 1) // 2


def encode(pairs: Pairs) -> Keys:
    """Keys of pairs ``[2, m]`` of different nodes, the same for both directions."""
    low, high = np.minimum(pairs[0], pairs[1]), np.maximum(pairs[0], pairs[1])
    keys: Keys = high * (high - 1) // 2 + low
    return keys


def decode(keys: Keys) -> Pairs:
    """The pairs ``[2, m]`` of keys, the smaller node first."""
    high = np.floor(np.sqrt(2.0 * keys + 0.25) + 0.5).astype(np.int64)
    # The root of a large number is rounded, by less than one.
    high -= high * (high - 1) // 2 > keys
    high += high * (high + 1) // 2 <= keys
    return np.stack([keys - high * (high - 1) // 2, high])


def unique(keys: Keys) -> Keys:
    """Sorted keys without repeats; by sorting, which is several times faster than numpy's hash table for many keys."""
    ordered = np.sort(keys)
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def contains(taken: Keys, keys: Keys) -> NDArray[np.bool_]:
    """Which keys are among the sorted ``taken``."""
    if not len(taken):
        return np.zeros(len(keys), np.bool_)
    found: NDArray[np.bool_] = taken[np.minimum(np.searchsorted(taken, keys), len(taken) - 1)] == keys
    return found


def first_free(pairs: Pairs, taken: Keys) -> NDArray[np.int64]:
    """Positions of the pairs whose keys are not among the sorted ``taken``, each pair at its first place only."""
    keys, first = np.unique(encode(pairs), return_index=True)
    return np.sort(first[~contains(taken, keys)])


def free_keys(ranks: Keys, taken: Keys) -> Keys:
    """The keys at the given ranks among those not in ``taken``, which is sorted and without repeats."""
    keys: Keys = ranks + np.searchsorted(taken - np.arange(len(taken)), ranks, side="right")
    return keys


def draw_distinct(rng: np.random.Generator, population: int, size: int) -> Keys:
    """``size`` different numbers below ``population``, in random order; every choice is as likely as any other."""
    if size * SPARSE >= population:
        return rng.permutation(population)[:size]
    found = np.empty(0, np.int64)
    while len(found) < size:
        more = rng.integers(0, population, size + size // SPARSE + 16)
        found = unique(np.concatenate([found, more]))
    return rng.permutation(found)[:size]


def draw_pairs(rng: np.random.Generator, num_nodes: int, size: int, taken: Keys) -> Pairs:
    """Up to ``size`` different pairs outside ``taken`` (sorted keys), turned one way or the other at random."""
    population = num_pairs(num_nodes) - len(taken)
    keys = free_keys(draw_distinct(rng, population, min(size, population)), taken)
    return turn(rng, decode(keys))


def turn(rng: np.random.Generator, pairs: Pairs) -> Pairs:
    """Turn each pair round with probability one half, so that no end tells which pairs are links."""
    swap = rng.random(pairs.shape[1]) < 0.5
    return np.where(swap, pairs[::-1], pairs)

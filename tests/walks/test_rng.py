"""The hash of (seed, start, walk, step)."""

import itertools

import numpy as np
import pytest
from scipy import stats

from graphreach.errors import InputError
from graphreach.walks.rng import check_seed, hash_nodes, mix, start_key, step_bits, walk_key

MASK = 2**64 - 1


def literal_mix(z):
    """The finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def literal_bits(seed, start, walk, step):
    golden, odd = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03
    key = literal_mix((literal_mix((seed + golden) & MASK) + start * golden) & MASK)
    key = literal_mix((key + (walk + 1) * odd) & MASK)
    return literal_mix((key + step * golden) & MASK)


def bits_of(seed, start, walk, step):
    key = np.uint64(start_key(seed, start))
    return int(step_bits(np.uint64(walk_key(key, walk)), step))


@pytest.mark.parametrize("counter", [(0, 0, 0, 1), (7, 3, 49, 20), (2**63 - 1, 2**32 - 2, 10**6, 100)], ids=str)
def test_bits_are_the_hash_in_the_docstring(counter):
    seed, start, walk, step = counter
    assert bits_of(seed, start, walk, step) == literal_bits(*counter)


def test_mix_of_splitmix64():
    """The first output of Java's SplittableRandom(0), whose state is one golden step from zero."""
    assert int(mix(np.uint64(0x9E3779B97F4A7C15))) == 0xE220A8397B1DCDAF


def test_bits_are_uniform_and_steps_differ():
    counters = itertools.product(range(20), range(20), range(1, 21))
    bits = np.array([bits_of(1, *counter) for counter in counters], np.uint64)
    assert len(np.unique(bits)) == len(bits)
    for shift in (0, 32, 56):
        counts = np.bincount(((bits >> np.uint64(shift)) & np.uint64(255)).astype(int), minlength=256)
        assert stats.chisquare(counts).pvalue > 1e-4


def test_hash_of_nodes_depends_on_seed_and_node_only():
    nodes = np.array([5, 2, 9])
    hashed = hash_nodes(3, nodes)
    assert hash_nodes(3, nodes[::-1].astype(np.uint32)).tolist() == hashed[::-1].tolist()
    assert len(set(hashed.tolist())) == 3
    assert (hash_nodes(4, nodes) != hashed).all()


@pytest.mark.parametrize("seed", [-1, 2**63, 1.0, "1", True, None])
def test_bad_seeds(seed):
    with pytest.raises(InputError, match=r"seed must be an integer from 0 to 2\*\*63 - 1, got"):
        check_seed(seed)


def test_good_seeds():
    assert check_seed(np.int32(5)) == 5
    assert type(check_seed(np.int64(5))) is int
    assert check_seed(2**63 - 1) == 2**63 - 1

"""How much memory a result may take."""

import ctypes
import subprocess
import sys

import pytest

from graphreach import InputError, limits
from graphreach.limits import check_memory, format_bytes, memory_limit


def test_limit_is_the_machines_or_less():
    assert 2**20 < memory_limit() < 2**63


def test_variable_replaces_the_limit(monkeypatch):
    monkeypatch.setenv("GRAPHREACH_MEMORY_LIMIT", "1000")
    assert memory_limit() == 1000
    check_memory(1000, "it", "ask for less")
    with pytest.raises(
        InputError, match=r"it would take 0\.001 MB of memory, more than the 0\.001 MB .*; ask for less"
    ):
        check_memory(1001, "it", "ask for less")


@pytest.mark.parametrize("text", ["", "0", "-1", "1e9", "much"])
def test_wrong_variable_is_refused(monkeypatch, text):
    monkeypatch.setenv("GRAPHREACH_MEMORY_LIMIT", text)
    with pytest.raises(InputError, match="GRAPHREACH_MEMORY_LIMIT must be a number of bytes"):
        memory_limit()


def test_sizes_are_readable():
    assert format_bytes(7_600_000) == "7.6 MB"
    assert format_bytes(10**12) == "1e+03 GB"


def test_freed_memory_is_reused_within_the_block_and_given_back_after_it():
    """The second array of 256 MB costs no page faults while memory is kept, and is resident no more afterwards."""
    if not hasattr(ctypes.CDLL(None), "mallopt"):
        pytest.skip("needs GNU's allocator")
    code = """
import resource
import numpy as np
from graphreach.limits import reused_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.empty(1 << 25).fill(1.0)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

with reused_memory():
    first, second = faults(), faults()
    kept = resident()
print(first, second, kept - resident())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second, given_back = map(int, done.stdout.split())
    assert second < first / 4
    assert given_back > 200_000_000


def test_without_the_allocator_nothing_happens(monkeypatch):
    monkeypatch.setattr(limits, "_malloc", lambda *values: 0)
    with limits.reused_memory():
        pass

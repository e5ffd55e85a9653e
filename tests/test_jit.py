"""Kernels work where they cannot be kept on disk, and threads share their work."""

import errno
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from numba.core import caching

from graphreach import jit


def add_one(x):
    return x + 1


@pytest.mark.parametrize("kind", [jit.kernel, jit.fast_kernel])
def test_installation_and_home_that_cannot_be_written_to(monkeypatch, kind):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert kind(add_one)(1) == 2


def test_full_disk_costs_the_cache_and_not_the_result(monkeypatch):
    def fail(*values):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", fail)
    monkeypatch.setattr(caching.IndexDataCacheFile, "load", lambda *values: None)
    jit._warn_once.cache_clear()
    with pytest.warns(UserWarning, match="not kept for the next time: No space left on device") as caught:
        found = [jit.kernel(add_one)(value) for value in (1, 2.5)]
    assert found == [2, 3.5]
    assert len(caught) == 1


@jit.parallel_kernel
def note_shares(share, out):
    for i in jit.rows_of(share, out.shape[1]):
        out[0, i] = share[0]
    for i in range(share[0], out.shape[1], share[1]):
        out[1, i] += 1


@jit.parallel_kernel
def divide(share, values, out):
    for i in range(share[0], len(values), share[1]):
        out[i] = 1 // values[i]


@pytest.fixture
def threads():
    before = numba.get_num_threads()
    yield numba.set_num_threads
    numba.set_num_threads(before)


@pytest.mark.parametrize("count", [1, 2])
def test_every_item_is_done_once_and_rows_of_a_share_are_neighbours(threads, count):
    if count > numba.config.NUMBA_NUM_THREADS:
        pytest.skip("needs two threads")
    threads(count)
    for size in (0, 1, 5, 100):
        out = np.zeros((2, size), np.int64)
        note_shares(out)
        assert (out[1] == 1).all()
        assert out[0].tolist() == [i for i in range(count) for _ in range(i * size // count, (i + 1) * size // count)]


def test_short_work_wakes_nobody_and_long_work_does_again(threads, monkeypatch):
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("needs two threads")
    threads(2)
    out = np.zeros((2, 4), np.int64)
    monkeypatch.setattr(jit, "SHORT", 1e9)
    note_shares(out)
    note_shares(out)
    assert out[0].tolist() == [0, 0, 0, 0]
    monkeypatch.setattr(jit, "SHORT", 0.0)
    note_shares(out)
    assert out.tolist() == [[0, 0, 1, 1], [3, 3, 3, 3]]


def test_an_error_in_any_share_is_raised_once_all_are_done():
    for bad in range(4):
        values, out = np.ones(4, np.int64), np.zeros(4, np.int64)
        values[bad] = 0
        with pytest.raises(ZeroDivisionError):
            divide(values, out)
    divide(np.ones(4, np.int64), out)
    assert out.tolist() == [1, 1, 1, 1]


def test_kernels_of_several_threads_at_a_time_do_not_mix():
    def work(seed):
        out = np.zeros((2, 1000 + seed), np.int64)
        for _ in range(50):
            note_shares(out)
        return (out[1] == 50).all()

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_helpers_of_its_own():
    code = (
        "import os, numpy as np\n"
        "from graphreach.walks.kernels import build_alias\n"
        "def work():\n"
        "    table = np.zeros(6, np.uint32)\n"
        "    build_alias(np.array([0, 1, 2]), np.array([1, 0], np.uint32), np.ones(2), table)\n"
        "work()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    work()\n"
        "    os._exit(7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
    assert found.stdout.split() == ["7"], found.stderr

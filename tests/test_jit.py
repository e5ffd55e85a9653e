"""Kernels work where they cannot be kept on disk."""

import errno

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

"""What the first command waits for is said once, and only if it takes long."""

import time

import numba
import pytest

import graphreach.jit
from graphreach import progress
from graphreach.progress import MESSAGE, announced_compilation


def new_kernel():
    assert graphreach.jit  # which tells of kernels
    return numba.njit(lambda x: x + 1)


@pytest.mark.parametrize(("delay", "expected"), [(0.0, [MESSAGE]), (1e6, [])])
def test_said_once_if_it_takes_long(monkeypatch, delay, expected):
    monkeypatch.setattr(progress, "DELAY", delay)
    said = []
    with announced_compilation(said.append):
        assert new_kernel()(1) == 2
        assert new_kernel()(1) == 2
        time.sleep(0.05)
    assert new_kernel()(1) == 2
    assert said == expected


def test_kernels_that_are_there_are_not_mentioned(monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    kernel, said = new_kernel(), []
    kernel(1)
    with announced_compilation(said.append):
        assert kernel(1) == 2
        time.sleep(0.05)
    assert said == []

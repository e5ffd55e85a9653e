"""Fixtures for all tests."""

import os
from pathlib import Path

import pytest

import graphreach  # noqa: F401 -- before torch: it tells OpenMP to wait without spinning

FIRST = ("cluster", "nn")
"""Rooms whose tests take longest."""


def room(nodeid: str) -> str:
    """The folder of ``tests`` or ``graphreach`` that a test or an example is in; Ray nodes are a room of their own."""
    parts = nodeid.partition("::")[0].split("/")
    return FIRST[0] if FIRST[0] in nodeid else parts[2 if parts[0] == "src" else 1]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests of a room run in one process: two would compile the same kernels, and two clusters starve each other.

    Long rooms go first, so that no process is left with one at the end.
    """
    items.sort(key=lambda item: room(item.nodeid) not in FIRST)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(room(item.nodeid)))


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The mirror of data sets; tests that need it are skipped without it, and fail where it is required."""
    folder = os.environ.get("GRAPHREACH_DATA")
    if folder and Path(folder).is_dir():
        return Path(folder)
    reason = f"GRAPHREACH_DATA must be the folder of data sets, got {folder!r}"
    if os.environ.get("GRAPHREACH_REQUIRE_DATA") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(autouse=True)
def small_work_is_shared_too(monkeypatch):
    """Kernels use all threads on the small graphs of tests as they do on large ones."""
    monkeypatch.setattr("graphreach.jit.SHORT", 0.0)


@pytest.fixture(autouse=True)
def no_lines_of_progress(monkeypatch):
    """Commands on a busy machine, or with kernels to compile, write to stderr what they write on any other."""
    monkeypatch.setattr("graphreach.progress.INTERVAL", 1e6)
    monkeypatch.setattr("graphreach.progress.DELAY", 1e6)

"""Fixtures for all tests."""

import os
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    """Tests that start Ray nodes run one after the other, in one process: two clusters at once starve each other."""
    for item in items:
        if "cluster" in item.nodeid:
            item.add_marker(pytest.mark.xdist_group("ray"))


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

"""How much memory a result may take."""

import pytest

from graphreach import InputError
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

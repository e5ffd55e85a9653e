"""Bars appear on a terminal, after a while, and nowhere else."""

import io
import time
from contextlib import redirect_stderr

import pytest

from graphreach import progress


class Stream(io.StringIO):
    """Stands for stderr; pytest puts its own in place after fixtures, so tests redirect in their own body."""

    def __init__(self, terminal=True):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.05)
    monkeypatch.setenv("TERM", "xterm")


def slowly(count, seconds=0.05):
    for i in range(count):
        time.sleep(seconds)
        yield i


def test_bar_on_a_terminal():
    with redirect_stderr(Stream()) as stderr:
        assert list(progress.track(slowly(5), 5, "walking")) == [0, 1, 2, 3, 4]
    assert "walking" in stderr.getvalue()


def test_stage_on_a_terminal_and_a_bar_within():
    with redirect_stderr(Stream()) as stderr, progress.stage("selecting anchors"):
        time.sleep(0.3)
        assert list(progress.track(slowly(5), 5, "walking")) == [0, 1, 2, 3, 4]
    assert "selecting anchors" in stderr.getvalue()
    assert "walking" in stderr.getvalue()


def test_quick_work_is_silent(monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 30)
    with redirect_stderr(Stream()) as stderr, progress.stage("reading"):
        assert list(progress.track(slowly(3), 3, "walking")) == [0, 1, 2]
    assert stderr.getvalue() == ""


def test_nothing_without_a_terminal():
    with redirect_stderr(Stream(terminal=False)) as stderr, progress.stage("reading"):
        assert list(progress.track(slowly(5), 5, "walking")) == [0, 1, 2, 3, 4]
    assert stderr.getvalue() == ""


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("enabled", [True, False])
def test_switched_on_or_off(terminal, enabled):
    progress.show_progress(enabled)
    try:
        with redirect_stderr(Stream(terminal)) as stderr:
            list(progress.track(slowly(5), 5, "walking"))
    finally:
        progress.show_progress(None)
    assert ("walking" in stderr.getvalue()) == enabled


def fail_in_a_stage():
    with progress.stage("reading"):
        time.sleep(0.3)
        raise ValueError("no")


def test_display_goes_when_work_fails():
    with redirect_stderr(Stream()) as stderr, pytest.raises(ValueError, match="no"):
        fail_in_a_stage()
    assert "reading" in stderr.getvalue()
    assert progress._display._progress is None


def test_loop_left_early_takes_its_bar_along():
    with redirect_stderr(Stream()) as stderr:
        for i in progress.track(slowly(9), 9, "walking"):
            if i == 4:
                break
    assert "walking" in stderr.getvalue()
    assert progress._display._progress is None

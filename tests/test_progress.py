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


def ticks(*times):
    return iter(times).__next__


def test_time_left_is_that_of_the_rest():
    task = progress.Task("training, gcn", 1000, "epoch", clock=ticks(0.0, 5.0, 15.0))
    assert str(task) == "training, gcn"
    task.advance(100, "")
    assert str(task) == "training, gcn: epoch 100 of 1000"
    task.advance(200, "validation AUC 0.93")
    assert str(task) == "training, gcn: epoch 200 of 1000, 80 s left, validation AUC 0.93"


def test_time_left_of_a_run_that_goes_on_counts_what_this_process_did():
    task = progress.Task("training", 1000, "epoch", clock=ticks(0.0, 1.0, 2.0))
    task.advance(901, "")
    task.advance(902, "")
    assert str(task) == "training: epoch 902 of 1000, 98 s left"


def test_work_without_a_unit_is_shown_as_a_share():
    task = progress.Task("walking", 8, clock=ticks(0.0, 1.0, 2.0))
    task.advance(0, "")
    task.advance(2, "")
    assert str(task) == "walking: 25%, 3 s left"


def test_one_piece_of_work_has_no_share():
    task = progress.Task("splitting graphs", 1, clock=ticks(0.0, 1.0))
    task.advance(0, "")
    assert str(task) == "splitting graphs"


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", 0.05)


def test_lines_where_there_is_no_terminal(often):
    """There was nothing when the output is no terminal."""
    lines = []
    with redirect_stderr(Stream(terminal=False)), progress.plain_lines(lines.append):
        with progress.live("training, gcn", 10, "epoch") as show:
            for epoch in range(1, 6):
                show(epoch, "validation AUC 0.9")
                time.sleep(0.05)
        count = len(lines)
        time.sleep(0.2)
    assert lines
    assert len(lines) == count
    assert all(line.startswith("training, gcn: epoch ") for line in lines)
    assert lines[-1].endswith(" left, validation AUC 0.9")


def test_a_line_names_the_stage_and_what_goes_on_in_it(often):
    lines = []
    with redirect_stderr(Stream(terminal=False)), progress.plain_lines(lines.append), progress.stage("anchors"):
        time.sleep(0.3)
        list(progress.track(slowly(6), 6, "walking"))
    assert lines[0].startswith("anchors, 0 s so far")
    assert any(line.startswith("anchors: walking: ") for line in lines)


def test_a_line_does_not_say_its_name_twice():
    task = progress.Task("positions", 4)
    task.advance(0, "positions")
    assert str(task) == "positions: 0%"


@pytest.mark.parametrize("how", ["library", "switched off", "over"])
def test_no_lines_in_a_library_nor_when_switched_off(often, how):
    lines = []
    progress.show_progress(False if how == "switched off" else None)
    try:
        with redirect_stderr(Stream(terminal=False)) as stderr:
            if how != "library":
                with progress.plain_lines(lines.append):
                    if how == "switched off":
                        list(progress.track(slowly(6), 6, "walking"))
            list(progress.track(slowly(6), 6, "walking"))
    finally:
        progress.show_progress(None)
    assert lines == []
    assert stderr.getvalue() == ""


def test_bar_of_training_has_epochs_and_time_left():
    """There was no epoch count and no time left."""
    with redirect_stderr(Stream()) as stderr, progress.live("training", 50, "epoch") as show:
        for epoch in range(1, 5):
            time.sleep(0.15)
            show(epoch, "validation AUC 0.9")
        time.sleep(0.3)
    assert "epoch" in stderr.getvalue()
    assert "4 of 50" in stderr.getvalue()
    assert "left" in stderr.getvalue()

"""Progress bars on stderr for work that takes longer than two seconds."""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

DELAY = 2.0
"""Seconds of work before a bar appears: quick calls stay silent."""

_enabled: bool | None = None


def show_progress(enabled: bool | None) -> None:
    """Turn progress bars on or off; ``None`` (the default) shows them when stderr is a terminal.

    Example:
        >>> show_progress(False)
        >>> show_progress(None)
    """
    global _enabled
    _enabled = enabled


def track(items: Iterable[T], total: int, description: str) -> Iterator[T]:
    """Yield ``items``, and draw a bar on stderr once they have taken longer than :data:`DELAY`.

    Example:
        >>> list(track(range(3), total=3, description="counting"))
        [0, 1, 2]
    """
    if not _wanted():
        yield from items
        return
    began = time.monotonic()
    bar = None
    try:
        for done, item in enumerate(items):
            if bar is None and time.monotonic() - began > DELAY:
                bar = _display.add(description, total)
            if bar is not None:
                _display.update(bar, done)
            yield item
    finally:
        if bar is not None:
            _display.remove(bar)


@contextmanager
def live(description: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """Give a function that shows how much is done and a text that changes, on a bar like that of :func:`track`.

    Example:
        >>> with live("training", 10) as show:
        ...     show(1, "training, AUC 0.9")
    """
    if not _wanted():
        yield lambda done, text: None
        return
    began = time.monotonic()
    bars: list[Any] = []

    def show(done: int, text: str) -> None:
        if not bars and time.monotonic() - began > DELAY:
            bars.append(_display.add(description, total))
        for bar in bars:
            _display.update(bar, done, text)

    try:
        yield show
    finally:
        for bar in bars:
            _display.remove(bar)


@contextmanager
def stage(description: str) -> Iterator[None]:
    """Show on stderr that work of unknown length goes on, once it has taken longer than :data:`DELAY`.

    Example:
        >>> with stage("reading the graph"):
        ...     pass
    """
    if not _wanted():
        yield
        return
    bars: list[Any] = []
    timer = threading.Timer(DELAY, lambda: bars.append(_display.add(description, None)))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for bar in bars:
            _display.remove(bar)


def _wanted() -> bool:
    return sys.stderr.isatty() if _enabled is None else _enabled


class _Display:
    """The one live display, on screen while it has bars; rich is imported only when there is one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._progress: Any = None

    def add(self, description: str, total: int | None) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._progress is None:
                columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
                console = Console(stderr=True, force_terminal=_enabled)
                self._progress = Progress(*columns, console=console, transient=True)
                self._progress.start()
            return self._progress.add_task(description, total=total)

    def update(self, bar: Any, done: int, description: str | None = None) -> None:
        self._progress.update(bar, completed=done, description=description)

    def remove(self, bar: Any) -> None:
        with self._lock:
            self._progress.remove_task(bar)
            if not self._progress.tasks:
                self._progress.stop()
                self._progress = None


_display = _Display()

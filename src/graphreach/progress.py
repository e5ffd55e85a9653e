"""Progress of work that takes longer than two seconds: bars on a terminal, otherwise a plain line from time to time."""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

DELAY = 2.0
"""Seconds of work before a bar appears: quick calls stay silent."""

INTERVAL = 10.0
"""Seconds between two plain lines."""

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
    with live(description, total) as show:
        for done, item in enumerate(items):
            show(done, "")
            yield item


@contextmanager
def live(description: str, total: int | None, unit: str = "") -> Iterator[Callable[[int, str], None]]:
    """Give a function that shows how much is done and a text that changes, on a bar like that of :func:`track`.

    The remaining time is estimated from the work since the first call, so a run that continues another one does not
    count the work of the other.

    Args:
        description: What is done.
        total: How much there is to do; None if nobody knows.
        unit: What is counted, such as ``"epoch"``; without one the share is shown.

    Example:
        >>> with live("training", 10, "epoch") as show:
        ...     show(1, "AUC 0.9")
    """
    if _quiet():
        yield lambda done, text: None
        return
    task, on_terminal = Task(description, total, unit), _on_terminal()
    if not on_terminal:
        _lines.tasks.append(task)

    def show(done: int, text: str) -> None:
        task.advance(done, text)
        if on_terminal:
            _display.update(task)

    try:
        yield show
    finally:
        if on_terminal:
            _display.remove(task)
        else:
            _lines.tasks.remove(task)


@contextmanager
def stage(description: str) -> Iterator[None]:
    """Show on stderr that work of unknown length is running, once it has taken longer than :data:`DELAY`."""
    with live(description, None) as show:
        if _quiet() or not _on_terminal():
            yield
            return
        timer = threading.Timer(DELAY, show, (0, ""))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()


@contextmanager
def plain_lines(say: Callable[[str], None]) -> Iterator[None]:
    """Within the block, report progress to ``say`` every :data:`INTERVAL` seconds where there is no terminal.

    The command line uses this. Elsewhere, as in a library or in the log of a notebook, nothing is reported.
    """
    _lines.begin(say)
    try:
        yield
    finally:
        _lines.end()


def _quiet() -> bool:
    return not _on_terminal() and (_enabled is False or _lines.say is None)


def _on_terminal() -> bool:
    return sys.stderr.isatty() if _enabled is None else _enabled


class Task:
    """Something that goes on, and how far it is.

    Example:
        >>> task = Task("training, gcn", 1000, "epoch", clock=iter([0.0, 10.0, 20.0]).__next__)
        >>> task.advance(100, "")
        >>> task.advance(120, "validation AUC 0.93")
        >>> str(task)
        'training, gcn: epoch 120 of 1000, 7 min left, validation AUC 0.93'
    """

    def __init__(
        self, description: str, total: int | None, unit: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.description, self.total, self.unit = description, total, unit
        self.done, self.text = 0, ""
        self.began = clock()
        self.bar: Any = None
        self._clock = clock
        self._first: tuple[int, float] | None = None
        self._last = self.began

    def advance(self, done: int, text: str) -> None:
        """Record how much is done."""
        self.done, self.text, self._last = done, text, self._clock()
        if self._first is None:
            self._first = done, self._last

    @property
    def count(self) -> str:
        """What is done of what there is to do."""
        if not self.total or self._first is None or (self.total == 1 and not self.unit):
            return ""
        if self.unit:
            return f"{self.unit} {self.done} of {self.total}"
        return f"{self.done / self.total:.0%}"

    @property
    def left(self) -> str:
        """The remaining time, if work continues at the pace since the first call."""
        if not self.total or self._first is None or self.done <= self._first[0]:
            return ""
        done, since = self._first
        seconds = (self._last - since) * max(0, self.total - self.done) / (self.done - done)
        return f"{duration(seconds)} left"

    def __str__(self) -> str:
        text = "" if self.text == self.description else self.text
        found = ", ".join(each for each in (self.count, self.left, text) if each)
        return f"{self.description}: {found}" if found else self.description


def duration(seconds: float) -> str:
    """Seconds for people."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5970 else f"{seconds / 3600:.1f} h"


class _Lines:
    """The lines where there is no terminal: one thread that looks now and then at what goes on."""

    def __init__(self) -> None:
        self.say: Callable[[str], None] | None = None
        self.tasks: list[Task] = []
        self._ended = threading.Event()

    def begin(self, say: Callable[[str], None]) -> None:
        self.say, self._ended = say, threading.Event()
        threading.Thread(target=self._tick, args=(self._ended,), name="graphreach-lines", daemon=True).start()

    def end(self) -> None:
        self.say = None
        self._ended.set()

    def _tick(self, ended: threading.Event) -> None:
        while not ended.wait(INTERVAL):
            line, say = self.line(), self.say
            if line and say is not None and not ended.is_set():
                say(line)

    def line(self) -> str:
        """The outermost work whose size is known, after what it is a part of; else the innermost."""
        tasks = list(self.tasks)
        known = next((number for number, task in enumerate(tasks) if task.count), len(tasks) - 1)
        if not tasks:
            return ""
        before = "".join(f"{task.description}: " for task in tasks[:known])
        since = "" if tasks[known].left else f", {duration(time.monotonic() - tasks[known].began)} so far"
        return f"{before}{tasks[known]}{since}"


class _Display:
    """The one live display, on screen while it has bars; rich is imported only when there is one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._progress: Any = None

    def update(self, task: Task) -> None:
        if task.bar is None:
            if time.monotonic() - task.began < DELAY:
                return
            task.bar = self._new_bar(task)
        self._progress.update(task.bar, completed=task.done, count=task.count, left=task.left, text=task.text)

    def remove(self, task: Task) -> None:
        if task.bar is None:
            return
        with self._lock:
            self._progress.remove_task(task.bar)
            if not self._progress.tasks:
                self._progress.stop()
                self._progress = None

    def _new_bar(self, task: Task) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._progress is None:
                names = ("description", "fields[count]", "fields[left]", "fields[text]")
                title, count, *more = (TextColumn(f"{{task.{name}}}", markup=False) for name in names)
                console = Console(stderr=True, force_terminal=_enabled)
                columns = (title, BarColumn(), count, TimeElapsedColumn(), *more)
                self._progress = Progress(*columns, console=console, transient=True)
                self._progress.start()
            return self._progress.add_task(task.description, total=task.total, count="", left="", text="")


_lines = _Lines()
_display = _Display()


class Clock:
    """Adds up the seconds of named phases."""

    def __init__(self, seconds: dict[str, float] | None = None) -> None:
        self.seconds = dict(seconds or {})

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what happens inside."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began


MESSAGE = "compiling kernels, once per installation"


class Compilation:
    """Adds up the time of compilation; kernels that are found on disk are not compiled and do not come here.

    Args:
        say: Is called once with :data:`MESSAGE`, when compilation has taken as long as other work may without a sign.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._depth, self._seconds, self._began = 0, 0.0, 0.0
        self._timer: threading.Timer | None = None
        self._said = False

    def begin(self) -> None:
        """A kernel is compiled from now on."""
        self._depth += 1
        if self._depth > 1 or self._said:  # a kernel that another one calls
            return
        self._began = time.monotonic()
        self._timer = threading.Timer(max(0.0, DELAY - self._seconds), self._announce)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """The kernel that was begun last is compiled."""
        self._depth -= 1
        if not self._depth and self._timer is not None:
            self._seconds += time.monotonic() - self._began
            self._timer.cancel()

    def _announce(self) -> None:
        if not self._said:
            self._said = True
            self._say(MESSAGE)


watched: list[Compilation] = []
"""Those that :mod:`graphreach.jit` tells of kernels."""


@contextmanager
def announced_compilation(say: Callable[[str], None]) -> Iterator[None]:
    """Say once that kernels are compiled, if that takes longer than other work may before it shows itself."""
    watched.append(Compilation(say))
    try:
        yield
    finally:
        watched.pop()

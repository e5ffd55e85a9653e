"""A word on what the first command after an installation waits for."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

from graphreach import progress

MESSAGE = "compiling kernels, once per installation"


@contextmanager
def announced_compilation(say: Callable[[str], None]) -> Iterator[None]:
    """Say once that kernels are compiled, if that takes longer than other work may before it shows itself.

    Example:
        >>> with announced_compilation(print):
        ...     pass
    """
    listener = _Listener(say)
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)


class _Listener(event.Listener):  # type: ignore[misc]
    """Adds up the time of compilation; kernels that are found on disk are not compiled and do not come here."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._depth, self._seconds, self._began = 0, 0.0, 0.0
        self._timer: threading.Timer | None = None
        self._said = False

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth > 1 or self._said:  # a kernel that another one calls
            return
        self._began = time.monotonic()
        self._timer = threading.Timer(max(0.0, progress.DELAY - self._seconds), self._tell)
        self._timer.daemon = True
        self._timer.start()

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if not self._depth and self._timer is not None:
            self._seconds += time.monotonic() - self._began
            self._timer.cancel()

    def _tell(self) -> None:
        if not self._said:
            self._said = True
            self._say(MESSAGE)

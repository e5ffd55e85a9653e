"""SIGTERM as Ctrl-C: what a training has found is kept, and half-written files are removed."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Terminated(KeyboardInterrupt):
    """The process was asked to end.

    Example:
        >>> issubclass(Terminated, KeyboardInterrupt)
        True
    """


@contextmanager
def interrupted_by_sigterm() -> Iterator[list[int]]:
    """Raise :class:`Terminated` where the program is when SIGTERM comes; the handler from before is there again afterwards.

    Yields a list that gets the number of the signal when it comes. A process that ignores SIGTERM goes on to do so, and
    threads other than the main one cannot handle signals.

    Example:
        >>> with interrupted_by_sigterm() as received:
        ...     received
        []
    """
    received: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM) if main else None
    if before is not signal.SIG_DFL:
        yield received
        return

    def stop(number: int, frame: Any) -> None:
        received.append(number)
        raise Terminated

    signal.signal(signal.SIGTERM, stop)
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before)

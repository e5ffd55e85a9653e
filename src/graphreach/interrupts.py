"""Ctrl-C during long kernels.

Python looks at signals between two calls of kernels, so work is cut into calls of less than a second. What cannot be cut,
such as very many walks from one start, runs in a thread of its own while the main one waits and can be interrupted.
"""

import threading
import time
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np

from graphreach.jit import Function

LONG = 1 << 26
"""Steps or edges of a call from which on it gets a thread of its own: about a second."""

GRACE = 1.0
"""Seconds that an interrupted kernel has to end; one that does not look at ``stop`` goes on to the end of its rows."""

NEVER = np.zeros(1, np.int64)
"""A flag that nobody raises."""

CALL_SECONDS = 0.25
"""Time that a call of a kernel should take where it is measured."""


def call(kernel: Function, *arguments: Any, work: int) -> Any:
    """Call ``kernel(*arguments, stop)``, in a thread of its own if ``work`` is much.

    Args:
        kernel: Ends early once ``stop[0]`` is not zero.
        arguments: Of the kernel.
        work: Steps or edges of the call, to know whether it will take long.

    Example:
        >>> call(lambda a, stop: a + int(stop[0]), 3, work=10**9)
        3
    """
    if work <= LONG or threading.current_thread() is not threading.main_thread():
        return kernel(*arguments, NEVER)
    stop, found, failed = np.zeros(1, np.int64), list[Any](), list[BaseException]()
    threads = numba.get_num_threads()

    def run() -> None:
        numba.set_num_threads(threads)  # which is a setting of each thread
        try:
            found.append(kernel(*arguments, stop))
        except BaseException as error:
            failed.append(error)

    worker = threading.Thread(target=run, name="graphreach kernel", daemon=True)
    worker.start()
    try:
        while worker.is_alive():
            worker.join(0.1)
    except BaseException:
        stop[0] = 1
        worker.join(GRACE)
        raise
    if failed:
        raise failed[0]
    return found[0]


def pieces(total: int, first: int, most: int) -> Iterator[slice]:
    """Slices of ``0 .. total - 1`` that take about :data:`CALL_SECONDS` each, as measured on the ones before.

    Args:
        total: Number of items.
        first: Items of the first slice.
        most: Items of a slice at most.

    Example:
        >>> [(each.start, each.stop) for each in pieces(5, 4, 4)]
        [(0, 4), (4, 5)]
    """
    begin, size = 0, min(first, most)
    while begin < total:
        end = min(begin + size, total)
        began = time.monotonic()
        yield slice(begin, end)
        begin, spent = end, time.monotonic() - began
        if spent > CALL_SECONDS:
            size = max(1, int(size * CALL_SECONDS / spent))
        elif spent < CALL_SECONDS / 2:
            size = min(most, 2 * size)


def row_pieces(indptr: Any, most: int = LONG) -> list[slice]:
    """Slices of rows with about ``most`` entries at most, unless a single row has more.

    Example:
        >>> row_pieces(np.array([0, 2, 4, 9, 10]), most=4)
        [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    rows, out, begin = len(indptr) - 1, [], 0
    while begin < rows:
        limit = int(indptr[begin]) + most
        end = max(begin + 1, int(np.searchsorted(indptr, limit, side="right")) - 1)
        out.append(slice(begin, min(end, rows)))
        begin = out[-1].stop
    return out

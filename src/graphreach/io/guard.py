"""Calls into polars on files that may be damaged."""

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from graphreach.errors import InputError

HELD_UP_TO = 2**26
"""Bytes of a file up to which standard error is held back while it is read: a longer reading shows its progress there."""

_lock = threading.RLock()


@contextmanager
def polars_errors(message: str, size: int = 0) -> Iterator[None]:
    """Turn what polars raises on a damaged file into an :class:`~graphreach.errors.InputError` with this message.

    Args:
        message: The sentence.
        size: The bytes that are read, see :func:`quiet_panics`.

    Example:
        >>> import io, polars as pl
        >>> with polars_errors("the file is damaged"):
        ...     pl.read_parquet(io.BytesIO(b"PAR1"))
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: the file is damaged
    """
    import polars as pl

    try:
        with quiet_panics(size):
            yield
    except (pl.exceptions.PolarsError, OSError, MemoryError, OverflowError):
        raise InputError(message) from None


@contextmanager
def quiet_panics(size: int = 0) -> Iterator[None]:
    """Turn a panic of polars into an error of polars, without the backtrace on standard error.

    A panic derives from ``BaseException`` and is written to the process's standard error before it is raised. While the
    block runs that goes to a file, unless ``size`` bytes are so many that progress is shown meanwhile; it is passed on
    if there was no panic.

    Example:
        >>> import polars as pl
        >>> with quiet_panics():
        ...     pl.Series([1, 2]).sum()
        3
    """
    import polars as pl

    panic: Any = getattr(pl.exceptions, "PanicException", pl.exceptions.PolarsError)
    with _held_stderr(size <= HELD_UP_TO) as held:
        try:
            yield
        except panic as error:
            held.clear()
            raise pl.exceptions.ComputeError(f"polars panicked: {error}") from None


@contextmanager
def _held_stderr(wanted: bool) -> Iterator[list[int]]:
    """Redirect the file that is standard error; clear the list that is given to drop what was written."""
    if not wanted:
        yield []
        return
    # Two threads that redirect at once would each restore what the other had redirected to.
    with _lock:
        try:
            kept = os.dup(2)
        except OSError:  # a process without standard error has nothing to hold back
            yield []
            return
        passed_on = [2]
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), 2)
            try:
                yield passed_on
            finally:
                os.dup2(kept, 2)
                os.close(kept)
                file.seek(0)
                text = file.read()
                if passed_on and text:
                    with suppress(OSError):  # nobody is left to read it
                        os.write(2, text)

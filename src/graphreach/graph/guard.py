"""Calls into other libraries on files that may be damaged."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from graphreach.errors import InputError


@contextmanager
def polars_errors(message: str) -> Iterator[None]:
    """Turn what polars raises on a damaged file into an :class:`~graphreach.errors.InputError` with this message.

    A panic of polars derives from ``BaseException`` and is written to the process's standard error before it is
    raised. While the block runs that goes to a file; it is passed on if there was no panic.

    Example:
        >>> import io, polars as pl
        >>> with polars_errors("the file is damaged"):
        ...     pl.read_parquet(io.BytesIO(b"PAR1"))
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: the file is damaged
    """
    import polars as pl

    panic: Any = getattr(pl.exceptions, "PanicException", pl.exceptions.PolarsError)
    with _held_stderr() as held:
        try:
            yield
        except panic:
            held.clear()
            raise InputError(message) from None
        except (pl.exceptions.PolarsError, OSError, MemoryError, OverflowError):
            raise InputError(message) from None


@contextmanager
def _held_stderr() -> Iterator[list[int]]:
    """Redirect the file that is standard error; clear the list that is given to drop what was written."""
    try:
        kept = os.dup(2)
    except OSError:  # a process without standard error has nothing to hold back
        yield [0]
        return
    wanted = [2]
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield wanted
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            text = file.read()
            if wanted and text:
                with suppress(OSError):  # nobody is left to read it
                    os.write(2, text)

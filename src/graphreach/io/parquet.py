"""Parquet files that may be damaged: polars ends the whole process on some of them."""

import atexit
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphreach.errors import InputError

HELD_UP_TO = 2**26
"""Bytes of a file up to which standard error is held back while it is read: a longer reading shows its progress there."""

CHECKED_UP_TO = 2**26
"""Bytes up to which a file is read by another process first; beyond them that would take long."""

CODE = """
import json, sys
import polars
for line in sys.stdin:
    path, columns, rows = json.loads(line)
    try:
        with open(path, "rb") as file:
            polars.read_parquet(file, columns=columns, n_rows=rows)
        answer = "sound"
    except BaseException:
        answer = "damaged"
    print(answer, flush=True)
"""

DAMAGED = "{} must be a Parquet file, as its suffix says, but it is not or is damaged"

_lock = threading.RLock()


@contextmanager
def quiet_panics(size: int = 0) -> Iterator[None]:
    """Turn a panic of polars into an error of polars, without the backtrace on standard error.

    A panic derives from ``BaseException`` and is written to the process's standard error before it is raised. While the
    block runs that goes to a file, unless ``size`` bytes are so many that progress is shown meanwhile; it is passed on
    if there was no panic.
    """
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


@contextmanager
def _unless_damaged(path: Path, size: int = 0) -> Iterator[None]:
    """Say in one sentence that a file is damaged, whatever polars raises about it."""
    try:
        with quiet_panics(size):
            yield
    except (pl.exceptions.PolarsError, OSError, MemoryError, OverflowError):
        raise InputError(DAMAGED.format(path)) from None


class _Checker:
    """A process that reads Parquet files before this one does, and whose end means a damaged file.

    A damaged length makes polars ask for more memory than there is, which aborts the process and cannot be caught.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.process: subprocess.Popen[str] | None = None
        self.owner = 0

    def is_sound(self, path: Path, columns: list[str] | None, rows: int | None) -> bool:
        """Whether another process could read the file."""
        with self.lock:
            if self.process is None or self.owner != os.getpid():
                self.process, self.owner = self._start(), os.getpid()
            if self.process is None or self.process.stdin is None or self.process.stdout is None:
                return True
            try:
                print(json.dumps([str(path.resolve()), columns, rows]), file=self.process.stdin, flush=True)
                answer = self.process.stdout.readline().strip()
            except OSError:
                answer = ""
            if not answer:
                self.stop()
            return answer == "sound"

    def _start(self) -> "subprocess.Popen[str] | None":
        # One thread is enough, and starts sooner.
        settings = os.environ | {"POLARS_MAX_THREADS": "1", "RUST_BACKTRACE": "0"}
        command, pipe = [sys.executable, "-W", "ignore", "-c", CODE], subprocess.PIPE
        try:
            return subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=settings,
                start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError):  # where no process can be started, files are read as they are
            return None

    def stop(self) -> None:
        """End the process, if there is one."""
        with self.lock:
            if self.process is not None and self.owner == os.getpid():
                with suppress(OSError):  # the process has ended already
                    self.process.communicate()
                self.process = None


_checker = _Checker()
atexit.register(_checker.stop)


def read_parquet(path: Path, columns: list[str] | None = None, rows: int | None = None) -> pl.DataFrame:
    """Read a Parquet file, or some of its columns or first rows; one that is damaged is an error."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    if size <= CHECKED_UP_TO and not _checker.is_sound(path, columns, rows):
        raise InputError(DAMAGED.format(path))
    # A handle, as glob characters in the name then mean nothing.
    with _unless_damaged(path, size), path.open("rb") as file:
        return pl.read_parquet(file, columns=columns, n_rows=rows)


class ParquetTable:
    """The columns of a Parquet file."""

    def __init__(self, path: Path) -> None:
        self.path, self.what, self.has_header = path, str(path), True
        with _unless_damaged(path), path.open("rb") as file:
            self.names = list(pl.read_parquet_schema(file))

    def check_long_enough(self, rows: NDArray[np.int64]) -> None:
        """Rows of a Parquet file are of one length."""

    def missing_separator(self) -> str:
        """Nothing: a Parquet file has no separators."""
        return ""

    def texts(self, columns: Sequence[int]) -> list[pl.Series]:
        """Columns as they are."""
        names = [self.names[column] for column in columns]
        frame = read_parquet(self.path, list(dict.fromkeys(names)))
        if not len(frame):
            raise InputError(f"{self.what} must have rows, but it is empty")
        return [frame[name] for name in names]

    def numbers(self, id: int, columns: Sequence[int]) -> tuple[pl.Series, Iterator[tuple[str, NDArray[np.float32]]]]:
        """The column of ids, and columns of numbers or of lists of numbers; none has gaps."""
        ids, *rest = self.texts([id, *columns])
        return ids, ((repr(each.name), self._as_numbers(each)) for each in rest)

    def _as_numbers(self, column: pl.Series) -> NDArray[np.float32]:
        title, rows, kind = repr(column.name), len(column), column.dtype
        if column.null_count():
            place = self.place(int(np.argmax(column.is_null().to_numpy())))
            raise InputError(f"{self.what} has nothing in column {title} in {place}")
        shape: tuple[int, ...] = (rows,)
        if isinstance(kind, pl.Array):
            column = column.arr.to_list()
        if isinstance(column.dtype, pl.List):
            lengths = column.list.len().to_numpy()
            low, high = int(lengths.min()), int(lengths.max())
            if low < high or not high:
                raise InputError(f"{self.what} must have lists of one length in column {title}, got {low} to {high}")
            shape, column = (rows, high), column.list.explode()
        if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
            raise InputError(f"{self.what} must have numbers in column {title}, got {kind}")
        # A gap in a list becomes NaN, which is refused with the other numbers that are not finite.
        return column.cast(pl.Float32).to_numpy().reshape(shape)

    def title(self, column: int) -> str:
        """The name of a column."""
        return repr(self.names[column])

    def place(self, row: int) -> str:
        """Where a row stands."""
        return f"row {row}"

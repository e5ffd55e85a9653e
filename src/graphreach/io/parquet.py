"""Parquet files that may be damaged: polars ends the whole process on some of them."""

import atexit
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from graphreach.errors import InputError
from graphreach.io.guard import polars_errors

if TYPE_CHECKING:
    import polars as pl

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


class _Checker:
    """A process that reads Parquet files before this one does, and whose end means a damaged file.

    A damaged length makes polars ask for more memory than there is, which aborts the process and cannot be caught.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[str] | None = None
        self.owner = 0

    def is_sound(self, path: Path, columns: list[str] | None, rows: int | None) -> bool:
        """Whether another process could read the file."""
        with self.lock:
            process = self._running()
            if process is None or process.stdin is None or process.stdout is None:
                return True
            try:
                process.stdin.write(json.dumps([str(path.resolve()), columns, rows]) + "\n")
                process.stdin.flush()
                answer = process.stdout.readline().strip()
            except OSError:
                answer = ""
            if not answer:
                self._stop()
            return answer == "sound"

    def _running(self) -> "subprocess.Popen[str] | None":
        if self.process is None or self.owner != os.getpid():
            # One thread is enough, and starts sooner.
            settings = os.environ | {"POLARS_MAX_THREADS": "1", "RUST_BACKTRACE": "0"}
            try:
                self.process = subprocess.Popen(
                    [sys.executable, "-W", "ignore", "-c", CODE],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    env=settings,
                    start_new_session=True,
                )
            except (OSError, ValueError):  # where no process can be started, files are read as they are
                self.process = None
            self.owner = os.getpid()
        return self.process

    def _stop(self) -> None:
        if self.process is None or self.owner != os.getpid():
            return
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # the process has ended already
                    continue
        self.process.wait()
        self.process = None

    def stop(self) -> None:
        """End the process, if there is one."""
        with self.lock:
            self._stop()


_checker = _Checker()
atexit.register(_checker.stop)


def read_parquet(path: Path, columns: list[str] | None = None, rows: int | None = None) -> "pl.DataFrame":
    """Read a Parquet file, or some of its columns or first rows; one that is damaged is an error.

    Example:
        >>> import tempfile
        >>> import polars as pl
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "e.parquet")
        ...     pl.DataFrame({"u": [1], "v": [2]}).write_parquet(path)
        ...     read_parquet(path, ["v"]).to_dict(as_series=False)
        {'v': [2]}
    """
    import polars as pl

    damaged = _damaged(path)
    size = _size(path)
    if size <= CHECKED_UP_TO and not _checker.is_sound(path, columns, rows):
        raise InputError(damaged)
    # A handle, as glob characters in the name then mean nothing.
    with polars_errors(damaged, size), path.open("rb") as file:
        return pl.read_parquet(file, columns=columns, n_rows=rows)


def parquet_names(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet file.

    Example:
        >>> parquet_names(Path("e.parquet"))
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: e.parquet must be a Parquet file, as its suffix says, but it is not or is damaged
    """
    import polars as pl

    with polars_errors(_damaged(path)), path.open("rb") as file:
        return list(pl.read_parquet_schema(file))


def _damaged(path: Path) -> str:
    return f"{path} must be a Parquet file, as its suffix says, but it is not or is damaged"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None

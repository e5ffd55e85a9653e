"""How the command runs and ends: one line on stderr and an exit code, never a traceback for what the user can mend."""

import errno
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from graphreach.errors import InputError, name_missing
from graphreach.progress import announced_compilation, plain_lines


class Terminated(KeyboardInterrupt):
    """The process was asked to end."""


@contextmanager
def interrupted_by_sigterm() -> Iterator[list[int]]:
    """Raise :class:`Terminated` where the program is when SIGTERM comes; the handler from before is there again afterwards.

    Yields a list that gets the number of the signal when it comes. A process that ignores SIGTERM goes on to do so, and
    threads other than the main one cannot handle signals.
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


BAD_INPUT, FAILED, INTERRUPTED, TERMINATED = 2, 1, 130, 143

WRONG_FILE = (
    errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG,
    errno.ELOOP, errno.ENXIO, errno.EINVAL,
)  # fmt: skip
"""Errors of a file or folder that another name would mend; a full or broken disk is none of them."""

ECHO = ("echo", "_flush_stdout")
"""Functions that write to standard output."""


class OneLineErrors(TyperGroup):
    """Commands whose errors and warnings are one line each."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command and exit; typer calls this with the command line."""
        kwargs["standalone_mode"] = False
        received: list[int] = []
        try:
            with (
                warnings.catch_warnings(),
                plain_lines(say),
                announced_compilation(say),
                interrupted_by_sigterm() as received,
            ):
                warnings.simplefilter("default", UserWarning)
                warnings.showwarning = _show_warning
                code = super().main(*args, **kwargs)
            _flush_stdout()
        except BrokenPipeError:
            _drop_stdout()
            code = FAILED
        except KeyboardInterrupt:
            code = INTERRUPTED
        except Exception as raised:
            error = name_missing(_name_stdout(raised), "this command")
            say(f"error: {_one_line(error)}")
            code = exit_code(error)
        except BaseException as error:
            # pyo3 makes this class when it is first needed, so there is none to import; it is no Exception.
            if type(error).__name__ != "PanicException":
                raise
            say(f"error: {_first_line(error)} (in polars, which reads and writes tables)")
            code = FAILED
        if code == INTERRUPTED:
            code = TERMINATED if received else INTERRUPTED
            say("terminated" if received else "interrupted")
        sys.exit(code if isinstance(code, int) else 0)


def say(message: str) -> None:
    """Print a line on stderr, where it does not mix with data."""
    print(f"graphreach: {message}", file=sys.stderr)


def exit_code(error: Exception) -> int:
    """2 for what the user can mend: bad input, a wrong option, a file that is not there or may not be written; else 1."""
    if isinstance(error, InputError) or _is_usage_error(error):
        return BAD_INPUT
    named = isinstance(error, OSError) and error.filename is not None
    return BAD_INPUT if named and error.errno in WRONG_FILE else FAILED  # type: ignore[attr-defined]


def _one_line(error: Exception) -> str:
    """What went wrong, in one line; an error that is a bug keeps its traceback."""
    if _is_usage_error(error):
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context else ""
        return " ".join(error.format_message().split()) + hint  # type: ignore[attr-defined]
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    # torch has no class of its own for memory that is missing on the CPU
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "DefaultCPUAllocator" in str(error)):
        return _first_line(error) if str(error) else "there is not enough memory"
    if isinstance(error, InputError | OSError | typer.Abort):
        return " ".join(str(error).split()) or type(error).__name__
    raise error


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _is_usage_error(error: Exception) -> bool:
    # typer has its own copy of click from 0.2x on, so there is no one class to name.
    return hasattr(error, "format_message")


def _show_warning(message: Warning | str, *args: Any, **kwargs: Any) -> None:
    say(f"warning: {' '.join(str(message).split())}")


def _name_stdout(error: Exception) -> Exception:
    """An error of standard output, such as a full disk, does not say whose it is: only the frames it came through do."""
    frames = traceback.extract_tb(error.__traceback__)
    if not isinstance(error, OSError) or error.filename or not any(each.name in ECHO for each in frames):
        return error
    _drop_stdout()
    return OSError(error.errno, error.strerror, "standard output")


def _flush_stdout() -> None:
    sys.stdout.flush()


def _drop_stdout() -> None:
    """The reader of a pipe has left; without this Python complains when it flushes stdout at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

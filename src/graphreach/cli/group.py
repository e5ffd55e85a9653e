"""How the command ends: one line on stderr and an exit code, never a traceback for something the user can mend."""

import os
import sys
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from graphreach.errors import InputError

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130


class OneLineErrors(TyperGroup):
    """Commands whose errors and warnings are one line each."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command and exit; typer calls this with the command line."""
        kwargs["standalone_mode"] = False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default", UserWarning)
                warnings.showwarning = _show_warning
                code = super().main(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:
            _drop_stdout()
            code = FAILED
        except KeyboardInterrupt:
            code = INTERRUPTED
        except Exception as error:
            say(f"error: {_one_line(error)}")
            code = BAD_INPUT if isinstance(error, InputError) or _is_usage_error(error) else FAILED
        if code == INTERRUPTED:
            say("interrupted")
        sys.exit(code if isinstance(code, int) else 0)


def say(message: str) -> None:
    """Print a line on stderr, where it does not mix with data."""
    print(f"graphreach: {message}", file=sys.stderr)


def _one_line(error: Exception) -> str:
    """What went wrong, in one line; an error that is a bug keeps its traceback."""
    if _is_usage_error(error):
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context else ""
        return " ".join(error.format_message().split()) + hint  # type: ignore[attr-defined]
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, InputError | OSError | MemoryError | typer.Abort):
        return " ".join(str(error).split()) or type(error).__name__
    raise error


def _is_usage_error(error: Exception) -> bool:
    # typer has its own copy of click from 0.2x on, so there is no one class to name.
    return hasattr(error, "format_message")


def _show_warning(message: Warning | str, *args: Any, **kwargs: Any) -> None:
    say(f"warning: {' '.join(str(message).split())}")


def _drop_stdout() -> None:
    """The reader of a pipe has left; without this Python complains when it flushes stdout at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

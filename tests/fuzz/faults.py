"""Entry points that are wrong on purpose, one for each kind of finding: what the harness must notice."""

import os
import time
import warnings
from collections.abc import Callable
from typing import Any

from tests.fuzz.entry import Case, Dice, Entry


def entries() -> list[Entry]:
    """One entry point for each kind of ending."""
    calls: dict[str, Callable[[], Any]] = {
        "crash": os.abort,
        "hang": lambda: _spin(3600),
        "exception": lambda: [][0],
        "warning": lambda: warnings.warn("overflow", RuntimeWarning, stacklevel=1),
        "output": lambda: os.write(2, b"thread panicked"),
        "message": lambda: _refuse(""),
        "memory": lambda: bytearray(2**42),
        "refused": lambda: _refuse("one sentence"),
        "value": lambda: 1,
    }
    out = [Entry(f"fault.{name}", _maker(call)) for name, call in calls.items()]
    wrong = Case(lambda: 1, "another number", lambda value, said: None if value == 2 else "planted 2")
    return [*out, Entry("fault.misreading", lambda dice: wrong)]


def _maker(call: Callable[[], Any]) -> Callable[[Dice], Case]:
    return lambda dice: Case(call if not dice.number % 2 else lambda: None, "wrong at even numbers")


def _spin(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def _refuse(text: str) -> None:
    from graphreach import InputError

    raise InputError(text)

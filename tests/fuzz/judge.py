"""What a case may end in: a value that is sound, or one sentence."""

import os
import shutil
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.entry import Case, Dice, Entry, short

LONGEST = 400
"""Characters of a message that is one sentence."""

TOLD = "told: "
"""How a check's answer begins when a value is not the planted one, but says what it assumed."""

FINDINGS = ("crash", "hang", "exception", "misreading", "warning", "output", "message")
"""How a case must not end: the process died, took too long, raised another exception than InputError, returned something
wrong without a word, warned of its own arithmetic, wrote to stderr, or refused in more than a sentence."""


@dataclass(frozen=True)
class Verdict:
    """How a case ended: ``value``, ``refused``, ``told`` or one of the findings."""

    entry: str
    number: int
    kind: str
    detail: str = ""
    about: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def judge(entry: Entry, number: int, seed: int, verbose: bool = False) -> Verdict:
    """Make a case in the empty working folder, call it and judge what comes."""
    try:
        with caught_warnings():
            case = entry.make(Dice(seed, entry.name, number))
    except Exception as error:
        return Verdict(entry.name, number, "exception", f"the case cannot be made: {error!r} at {_origin(error)}")
    if verbose:
        print(f"{entry.name}:{number} {case.about}")
    with caught_warnings() as caught:
        kind, detail = _ending(case, caught, verbose)
    numeric = [each for each in caught if issubclass(each.category, RuntimeWarning | ResourceWarning)]
    if kind not in FINDINGS and numeric:
        kind, detail = "warning", f"{numeric[0].category.__name__}: {numeric[0].message} ({_place(numeric[0])})"
    return Verdict(entry.name, number, kind, detail, case.about if kind in FINDINGS else "")


@contextmanager
def caught_warnings() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def _ending(case: Case, caught: list[warnings.WarningMessage], verbose: bool) -> tuple[str, str]:
    from graphreach import InputError

    try:
        value = case.call()
    except InputError as error:
        text = str(error)
        if verbose:
            print(f"refused: {text}")
        if "\n" in text or len(text) > LONGEST or not text:
            return "message", f"{len(text)} characters: {short(text, 500)}"
        return "refused", text
    except (KeyboardInterrupt, SystemExit) as error:
        return "exception", f"{type(error).__name__}: {error}"
    except BaseException as error:  # a panic of polars is no Exception
        if verbose:
            traceback.print_exc()
        return "exception", f"{_kind(error)}: {short(str(error), 200)} at {_origin(error)}"
    if verbose:
        print(f"value: {short(value)}")
    said = [str(each.message) for each in caught if not issubclass(each.category, RuntimeWarning)]
    wrong = None if case.check is None else case.check(value, said)
    if wrong is None:
        return "value", ""
    return ("told", wrong) if wrong.startswith(TOLD) else ("misreading", wrong)


def _kind(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__name__}".removeprefix("builtins.")


def _origin(error: BaseException) -> str:
    """The last place of graphreach in the traceback, and the very last."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/graphreach/" in frame.filename]
    chosen = [own[-1]] if own else []
    if frames and (not own or frames[-1] is not own[-1]):
        chosen.append(frames[-1])
    return " > ".join(f"{_short_name(each.filename)}:{each.lineno}" for each in chosen)


def _short_name(name: str) -> str:
    for mark in ("/src/", "/site-packages/", "/lib/"):
        if mark in name:
            return name.rpartition(mark)[2]
    return name


def _place(warning: warnings.WarningMessage) -> str:
    return f"{_short_name(warning.filename)}:{warning.lineno}"


def clear_folder(folder: Path) -> None:
    """Remove what the last case wrote."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)

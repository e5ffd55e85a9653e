"""What a case is, and the dice that make it."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
Check = Callable[[Any, list[str]], str | None]
"""From a value and the warnings that came with it to what is silently wrong with it, or None."""


class Dice:
    """Random choices that depend on the seed, the entry point and the case's number alone."""

    def __init__(self, seed: int, entry: str, number: int) -> None:
        self.random = random.Random(f"{seed}:{entry}:{number}")
        self.number = number

    def pick(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def below(self, limit: int) -> int:
        return self.random.randrange(max(limit, 1))

    def between(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def bytes(self, count: int) -> bytes:
        return self.random.randbytes(count)

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        return self.random.sample(options, min(count, len(options)))

    def shuffled(self, options: Sequence[T]) -> list[T]:
        out = list(options)
        self.random.shuffle(out)
        return out

    def numpy(self) -> np.random.Generator:
        return np.random.default_rng(self.random.randrange(2**32))


@dataclass(frozen=True)
class Case:
    """One call whose result is judged.

    Attributes:
        call: Makes the call; the working folder is empty but for the case's files.
        about: What is called with what, for people.
        check: Looks for silent errors in a value.
    """

    call: Callable[[], Any]
    about: str
    check: Check | None = None


@dataclass(frozen=True)
class Entry:
    """An entry point.

    Attributes:
        name: Under which its cases are counted and replayed.
        make: From dice to a case; it may write files to the working folder.
        share: How many of a campaign's cases it gets, relative to others.
    """

    name: str
    make: Callable[[Dice], Case]
    share: float = 1.0


def write(name: str, content: bytes) -> Path:
    """Write a case's file to the working folder."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def short(value: Any, length: int = 300) -> str:
    """A value for people."""
    try:
        text = repr(value)
    except Exception as error:  # objects made to be odd
        text = f"<{type(value).__name__} without repr: {type(error).__name__}>"
    return text if len(text) <= length else f"{text[:length]}..."

"""Cutting things into training, validation and test."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError

PARTITION, NEGATIVES, CANDIDATES, TURN, GRAPHS, SUBSET = range(6)
"""What random numbers are for; each use has its own, so that asking for candidates changes no pair."""


class SplitRequest(NamedTuple):
    """What :func:`graphreach.tasks.split` was asked for, checked."""

    task: str
    protocol: str
    seed: int
    negatives: str
    fractions: tuple[float, float, float]
    candidates: int
    max_pairs: int | None
    num_classes: int | None

    @property
    def clean(self) -> bool:
        """Whether no pair may be in two parts."""
        return self.protocol == "clean"


def stream(seed: int, use: int, part: int = 0) -> np.random.Generator:
    """The random numbers of one use."""
    return np.random.default_rng([seed, use, part])


def check_fractions(fractions: Sequence[float]) -> tuple[float, float, float]:
    """Three shares that sum to one, the first positive."""
    try:
        train, val, test = (float(each) for each in fractions)
    except (TypeError, ValueError):
        train = val = test = float("nan")
    if not (train > 0 and val >= 0 and test >= 0 and abs(train + val + test - 1) < 1e-6):
        raise InputError(
            f"fractions must be three shares of training (above 0), validation and test that sum to 1, got {fractions!r}"
        )
    return train, val, test


def part_sizes(count: int, fractions: tuple[float, float, float], name: str) -> tuple[int, int, int]:
    """How many of ``count`` things go to each part: rounded down at the two cuts, but no part with a share goes empty."""
    wanted = sum(fraction > 0 for fraction in fractions)
    if count < wanted:
        raise InputError(f"the graph must have at least {wanted} {name} to split, got {count}")
    # 0.1 + 0.7 is a little below 0.8, which must not cost an example.
    first = int(np.floor(count * fractions[0] + 1e-6))
    second = int(np.floor(count * (fractions[0] + fractions[1]) + 1e-6))
    if fractions[2] == 0:
        second = count
    if fractions[1] == 0:
        first = second
    sizes = [first, second - first, count - second]
    for part, fraction in enumerate(fractions):
        if fraction > 0 and sizes[part] == 0:
            sizes[part] = 1
            sizes[int(np.argmax(sizes))] -= 1
    return sizes[0], sizes[1], sizes[2]


def cut(
    items: NDArray[np.int64], fractions: tuple[float, float, float], name: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The three parts of items that are in random order."""
    first, second, _ = part_sizes(len(items), fractions, name)
    return items[:first], items[first : first + second], items[first + second :]

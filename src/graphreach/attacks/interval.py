"""Whether one method loses more than another."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_choice, describe, to_list
from graphreach.attacks.assessment import Assessment
from graphreach.errors import InputError
from graphreach.walks.rng import check_seed
from graphreach.walks.walk_length import check_count

LEVEL = 0.95


class Interval(NamedTuple):
    """A difference with the ends of its 95% interval."""

    difference: float
    low: float
    high: float


def interval(
    first: Sequence[Assessment], second: Sequence[Assessment], which: str = "any", samples: int = 10_000, seed: int = 0
) -> Interval:
    """The difference of two methods' losses, first minus second, with a 95% bootstrap interval.

    Runs are drawn with replacement, and groups within each drawn run; both methods are given the same draws, as they met
    the same splits and colluders. Losses are pooled: comparisons are added up over runs and groups.

    Args:
        first: One assessment a run (a seed) of one method.
        second: The same of the other, in the same order.
        which: ``"any"`` or ``"both"``: which pairs (see :class:`Assessment`).
        samples: How often to draw.
        seed: Of the draws.

    Example:
        >>> from graphreach.attacks import Tally
        >>> def found(after):
        ...     tally = Tally((5, 5), (10, 10), (50.0, 50.0), (after, after))
        ...     return Assessment("clique", 0.1, 0, "", "pair", (4, 4), (6, 6), tally, tally)
        >>> interval([found(40.0)], [found(45.0)])
        Interval(difference=0.1, low=0.1, high=0.1)
    """
    first, second = (list(each) if isinstance(each, Iterator) else each for each in (first, second))
    _check(first, second, which)
    samples, rng = check_count("samples", samples), np.random.default_rng(check_seed(seed))
    runs, groups = len(first), first[0].groups
    tables = np.concatenate([_table(each, which) for each in (first, second)], axis=1)
    drawn = rng.integers(runs, size=(samples, runs, 1)) * groups + rng.integers(groups, size=(samples, runs, groups))
    cells = (np.arange(samples)[:, None, None] * runs * groups + drawn).ravel()
    times = np.bincount(cells, minlength=samples * runs * groups).reshape(samples, runs * groups)
    whole = float(_difference(tables.sum(axis=0)))
    differences = _difference(times @ tables)
    differences = differences[np.isfinite(differences)]
    if not len(differences):
        return Interval(whole, float("nan"), float("nan"))
    low, high = np.quantile(differences, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(whole, float(low), float(high))


def _table(assessments: Sequence[Assessment], which: str) -> NDArray[np.float64]:
    """One row a group of a run: comparisons, concordant before and after."""
    return np.concatenate([getattr(each, which).table() for each in assessments])


def _difference(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """From sums ``[..., 6]`` of both tables to first loss minus second."""
    comparisons, before, after = np.moveaxis(sums.reshape(*sums.shape[:-1], 2, 3), -1, 0)
    losses = np.divide(before - after, comparisons, out=np.full(comparisons.shape, np.nan), where=comparisons > 0)
    difference: NDArray[np.float64] = losses[..., 0] - losses[..., 1]
    return difference


def _check(first: Sequence[Assessment], second: Sequence[Assessment], which: str) -> None:
    check_choice("which", which, ("any", "both"))
    for name, side in (("first", first), ("second", second)):
        wrong = [each for each in to_list(name, side, "a list of assessments") if not isinstance(each, Assessment)]
        if wrong:
            raise InputError(f"{name} must be a list of assessments, got {describe(wrong[0])} among them")
    if not len(first) or len(first) != len(second):
        raise InputError(
            f"first and second must hold the same number of runs, at least one, got {len(first)} and {len(second)}"
        )
    if len({each.groups for each in (*first, *second)}) > 1:
        raise InputError("first and second must have as many groups in every run")
    for number, pair in enumerate(zip(first, second, strict=True)):
        one, two = ((each.task, each.kind, each.fraction, each.seed) for each in pair)
        if one != two:
            raise InputError(
                "first and second must be of the same task, kind, fraction and seed run by run, "
                f"got {one} and {two} at {number}"
            )

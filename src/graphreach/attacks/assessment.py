"""What attacks did to the scores, in numbers that can be added up, compared and drawn."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_choice, describe, to_list
from graphreach.errors import InputError
from graphreach.plot import INK, MODEL_COLOURS, new_figure
from graphreach.walks.rng import check_seed
from graphreach.walks.walk_length import check_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Tally:
    """Comparisons of positive with negative pairs, one entry per group of colluders.

    A group has a handful of test pairs, so its own AUC means little. Concordant comparisons can be added up over groups and
    runs, and the AUC is their share. Pairs are compared within a group only, on one graph.

    Attributes:
        positives: Positive pairs.
        negatives: Negative pairs.
        concordant_before: Those of ``positives * negatives`` comparisons where the positive scores higher before the
            attack; ties count one half.
        concordant_after: The same after it.

    Example:
        >>> tally = Tally((2, 1), (2, 3), (4.0, 2.0), (3.0, 2.0))
        >>> tally.comparisons, round(tally.before, 3), round(tally.loss, 3)
        (7, 0.857, 0.143)
    """

    positives: tuple[int, ...]
    negatives: tuple[int, ...]
    concordant_before: tuple[float, ...]
    concordant_after: tuple[float, ...]

    @property
    def comparisons(self) -> int:
        """Number of pairs of a positive and a negative example, over all groups."""
        return int(np.dot(self.positives, self.negatives))

    @property
    def before(self) -> float:
        """AUC before the attack, over the comparisons of all groups; nan without any."""
        return _share(self.concordant_before, self.comparisons)

    @property
    def after(self) -> float:
        """AUC after the attack."""
        return _share(self.concordant_after, self.comparisons)

    @property
    def loss(self) -> float:
        """How much AUC the attack took; negative if it helped."""
        return self.before - self.after

    def __add__(self, other: "Tally") -> "Tally":
        """The groups of both.

        Example:
            >>> (Tally((1,), (1,), (1.0,), (0.0,)) + Tally((1,), (1,), (1.0,), (1.0,))).after
            0.5
        """
        return Tally(*(getattr(self, name) + getattr(other, name) for name in Tally.__dataclass_fields__))

    def table(self) -> NDArray[np.float64]:
        """Comparisons, concordant before and after, ``[groups, 3]``."""
        comparisons = np.multiply(self.positives, self.negatives)
        return np.column_stack([comparisons, self.concordant_before, self.concordant_after]).astype(np.float64)


@dataclass(frozen=True)
class Assessment:
    """What attacks by several groups did to one run.

    Attributes:
        kind: Name of the attack.
        fraction: Share of colluders (or of edges, for noise).
        seed: Random seed that the groups were drawn by.
        method: Method of the run.
        task: Task of the run.
        colluders: How many there were in each group.
        added: Edges that each group added.
        any: Comparisons of test pairs with a colluder at one end or both.
        both: Comparisons of test pairs with colluders at both ends.

    Example:
        >>> tally = Tally((2,), (2,), (4.0,), (3.0,))
        >>> found = Assessment("clique", 0.1, 0, "gcn", "pair", (40,), (700,), tally, tally)
        >>> found.any.after, Assessment.from_dict(found.to_dict()) == found
        (0.75, True)
    """

    kind: str
    fraction: float
    seed: int
    method: str
    task: str
    colluders: tuple[int, ...]
    added: tuple[int, ...]
    any: Tally
    both: Tally

    @property
    def groups(self) -> int:
        """How many groups of colluders there were."""
        return len(self.colluders)

    def __add__(self, other: "Assessment") -> "Assessment":
        """The groups of both."""
        joined = {name: getattr(self, name) + getattr(other, name) for name in ("colluders", "added", "any", "both")}
        return replace(self, **joined)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for one line of JSON, with the pooled AUCs (None where there is nothing to compare)."""
        out = asdict(self)
        for name in ("any", "both"):
            tally = getattr(self, name)
            pooled = {key: getattr(tally, key) for key in ("before", "after", "loss")}
            out[name] |= {key: None if math.isnan(value) else value for key, value in pooled.items()}
        plain: dict[str, Any] = json.loads(json.dumps(out))
        return plain

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "Assessment":
        """What :meth:`to_dict` made."""
        if not isinstance(content, dict):
            raise InputError(f"content must be what Assessment.to_dict made, got {describe(content)}")
        try:
            tallies = {
                name: Tally(*(tuple(content[name][field]) for field in Tally.__dataclass_fields__))
                for name in ("any", "both")
            }
            counts = {name: tuple(content[name]) for name in ("colluders", "added")}
            return cls(**{**content, **counts, **tallies})
        except (KeyError, TypeError) as error:
            raise InputError(f"content must be what Assessment.to_dict made, but: {error}") from None


def _share(concordant: tuple[float, ...], comparisons: int) -> float:
    return sum(concordant) / comparisons if comparisons else math.nan


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

    Runs are drawn with replacement, and groups within each drawn run. Both methods get the same draws, as they faced the
    same splits and colluders. Losses are pooled: comparisons are added up over runs and groups.

    Args:
        first: One assessment per run (per seed) of one method.
        second: The same of the other, in the same order.
        which: ``"any"`` or ``"both"``: which pairs (see :class:`Assessment`).
        samples: Number of bootstrap draws.
        seed: Random seed for the draws.

    Example:
        >>> from graphreach.attacks import Tally
        >>> def found(after):
        ...     tally = Tally((5, 5), (10, 10), (50.0, 50.0), (after, after))
        ...     return Assessment("clique", 0.1, 0, "", "pair", (4, 4), (6, 6), tally, tally)
        >>> interval([found(40.0)], [found(45.0)])
        Interval(difference=0.1, low=0.1, high=0.1)
    """
    check_choice("which", which, ("any", "both"))
    first, second = _check_list("first", first), _check_list("second", second)
    _check_same_attacks(first, second)
    samples, rng = check_count("samples", samples), np.random.default_rng(check_seed(seed))
    runs, groups = len(first), first[0].groups
    tables = np.hstack([np.vstack([getattr(each, which).table() for each in side]) for side in (first, second)])
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


def _difference(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """From sums ``[..., 6]`` of both tables to first loss minus second."""
    comparisons, before, after = np.moveaxis(sums.reshape(*sums.shape[:-1], 2, 3), -1, 0)
    losses = np.divide(before - after, comparisons, out=np.full(comparisons.shape, np.nan), where=comparisons > 0)
    difference: NDArray[np.float64] = losses[..., 0] - losses[..., 1]
    return difference


def _check_list(name: str, values: Any) -> list[Assessment]:
    found = to_list(name, values, "a list of assessments")
    wrong = [each for each in found if not isinstance(each, Assessment)]
    if wrong:
        raise InputError(f"{name} must be a list of assessments, got {describe(wrong[0])} among them")
    return found


def _check_same_attacks(first: Sequence[Assessment], second: Sequence[Assessment]) -> None:
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


def plot_curve(assessments: Sequence[Assessment], which: str = "any", *, ax: "Axes | None" = None) -> "Axes":
    """Draw the AUC before (dashed) and after (solid) the attack against the fraction of colluders, one colour per method.

    Args:
        assessments: What :func:`curve` found, of one method or of several together.
        which: ``"any"`` or ``"both"``: which pairs.
        ax: Where to draw; a new figure's axes by default.

    Example:
        >>> from graphreach.attacks import Tally
        >>> tally = Tally((2,), (2,), (4.0,), (3.0,))
        >>> found = Assessment("clique", 0.1, 0, "gcn", "pair", (40,), (700,), tally, tally)
        >>> plot_curve([found]).get_ylabel()
        'test ROC AUC'
    """
    check_choice("which", which, ("any", "both"))
    assessments = _check_list("assessments", assessments)
    if not assessments:
        raise InputError("assessments must be a list of at least one Assessment, got []")
    ax = new_figure()[1] if ax is None else ax
    for method in dict.fromkeys(each.method for each in assessments):
        own = sorted((each for each in assessments if each.method == method), key=lambda each: each.fraction)
        colour, fractions = MODEL_COLOURS.get(method, "#9A9A9A"), [each.fraction for each in own]
        for part, line, face in (("before", "--", "white"), ("after", "-", colour)):
            values = [getattr(getattr(each, which), part) for each in own]
            label = f"{method}, {part}"
            ax.plot(fractions, values, line, marker="o", color=colour, markerfacecolor=face, label=label)
    ends = {"any": "a colluder at an end", "both": "colluders at both ends"}[which]
    is_noise = all(each.kind == "noise" for each in assessments)
    ax.set_title("All pairs" if is_noise else f"Pairs with {ends}", color=INK)
    ax.set_xlabel("added edges, as a share" if is_noise else "share of nodes that collude")
    ax.set_ylabel("test ROC AUC")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best", frameon=False)
    return ax

"""What an attack did to the scores, in numbers that can be added up."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import describe
from graphreach.errors import InputError


@dataclass(frozen=True)
class Tally:
    """Comparisons of positive with negative pairs, one entry a group of colluders.

    A group holds a handful of test pairs, so its own AUC means little. Concordant comparisons can be added over groups and
    runs: the AUC is their share. Pairs are compared within a group only, on one graph.

    Attributes:
        positives: Positive pairs.
        negatives: Negative pairs.
        concordant_before: Of ``positives * negatives`` comparisons, those where the positive scores higher before the
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
        """Of all groups."""
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
        return Tally(
            self.positives + other.positives,
            self.negatives + other.negatives,
            self.concordant_before + other.concordant_before,
            self.concordant_after + other.concordant_after,
        )

    def table(self) -> NDArray[np.float64]:
        """Comparisons, concordant before and after, ``[groups, 3]``."""
        comparisons = np.multiply(self.positives, self.negatives)
        return np.column_stack([comparisons, self.concordant_before, self.concordant_after]).astype(np.float64)


@dataclass(frozen=True)
class Assessment:
    """What attacks by several groups did to one run.

    Attributes:
        kind: Of the attack.
        fraction: Share of colluders (or of edges, for noise).
        seed: What the groups were drawn by.
        method: Of the run.
        task: Of the run.
        colluders: How many there were in each group.
        added: Edges that each group added.
        any: Of test pairs with a colluder at one end at least.
        both: Of test pairs with colluders at both ends.

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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for one line of JSON, with the pooled AUCs (None where there is nothing to compare)."""
        out = asdict(self)
        for name in ("any", "both"):
            tally = getattr(self, name)
            pooled = {key: getattr(tally, key) for key in ("before", "after", "loss")}
            out[name] |= {key: None if math.isnan(value) else value for key, value in pooled.items()}
        return {key: _plain(value) for key, value in out.items()}

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


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return list(value) if isinstance(value, tuple) else value

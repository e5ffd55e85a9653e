"""The paper's headline, recomputed: how much better GraphReach is than the best other model."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphreach.experiments.summary import Summary

BASELINES = ("gcn", "sage", "gat", "gin", "pgnn-f", "pgnn-e")


@dataclass(frozen=True)
class Gain:
    """GraphReach beside the best other model of one column.

    Attributes:
        group: Protocol.
        column: Data set.
        ours: GraphReach's figure.
        best: The best other model's.
        model: Which that is.
    """

    group: str
    column: str
    ours: float
    best: float
    model: str

    @property
    def relative(self) -> float:
        """The share by which ours is higher."""
        return self.ours / self.best - 1


def gains(summaries: Sequence[Summary], row: str = "best") -> list[Gain]:
    """GraphReach against the best baseline, column by column, in every group that has both."""
    found = {(each.cell.group.name, each.cell.name, each.cell.key): each for each in summaries if each.seeds}
    out = []
    for group, column, key in found:
        if key != row:
            continue
        others = {name: found[group, column, name] for name in BASELINES if (group, column, name) in found}
        if others:
            best = max(others.values(), key=lambda each: each.mean)
            ours = found[group, column, key]
            out.append(Gain(group, ours.cell.column.label, ours.mean, best.mean, best.cell.row.label))
    return out

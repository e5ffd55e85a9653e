"""The paper's headline, recomputed: how much better GraphReach is than the best other model."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphreach.experiments.summary import Summary

BASELINES = ("mlp", "gcn", "sage", "gat", "gin", "pgnn-f", "pgnn-e")
PRESETS = ("best", "paper", "authors")


@dataclass(frozen=True)
class Gain:
    """GraphReach beside the best other model of one column.

    Attributes:
        group: Protocol.
        column: Data set.
        preset: Of GraphReach.
        ours: GraphReach's figure.
        best: The best other model's.
        model: Which that is.
        fair: Whether both read attributes on one scale; the preset best always has its own.
    """

    group: str
    column: str
    preset: str
    ours: float
    best: float
    model: str
    fair: bool

    @property
    def relative(self) -> float:
        """The share by which ours is higher."""
        return self.ours / self.best - 1


def gains(summaries: Sequence[Summary]) -> list[Gain]:
    """Each preset against the best baseline, column by column, in every group that has a row ``best`` and baselines."""
    found = {(each.cell.group.name, each.cell.name, each.cell.key): each for each in summaries if each.seeds}
    out = []
    for group, column in dict.fromkeys((group, column) for group, column, key in found if key == "best"):
        others = [found[group, column, name] for name in BASELINES if (group, column, name) in found]
        if not others:
            continue
        best = max(others, key=lambda each: each.mean)
        standardised = getattr(best.cell.work(0).settings.model, "standardise", False) or False
        for preset in PRESETS:
            ours = found.get((group, column, preset))
            if ours is not None:
                fair = preset != "best" or standardised or not best.cell.work(0).settings.features
                label = best.cell.row.label
                out.append(Gain(group, ours.cell.column.label, preset, ours.mean, best.mean, label, fair))
    return out

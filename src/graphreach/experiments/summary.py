"""The figures of a table from its results."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphreach.attacks import Assessment, Interval, Tally, interval
from graphreach.experiments.definition import Cell, Experiment, Figure
from graphreach.experiments.reproduce import works
from graphreach.experiments.work import Line, Store

ROUNDING = 0.005
"""What counts as one standard deviation where the paper gives two digits and none."""


@dataclass(frozen=True)
class Summary:
    """A cell of ours.

    Attributes:
        cell: Which.
        mean, std: Over the seeds; nan if there is no result yet. The deviation is that of the seeds themselves.
        seeds: How many there are.
        wanted: Number of seeds that the cell needs.
        lines: Their results.
    """

    cell: Cell
    mean: float
    std: float
    seeds: int
    wanted: int
    lines: tuple[Line, ...]

    @property
    def verdict(self) -> str:
        """How it stands to the paper: ``reproduced``, ``better``, ``short by ...``, or nothing to compare.

        Within one published standard deviation is reproduced, at three decimals.
        """
        published = self.cell.published
        if published is None or not self.seeds or self.cell.experiment.kind == "seconds":
            return ""
        return verdict(self.mean, published)

    def average(self, name: str) -> float | None:
        """The mean over the seeds of a number that each result has, such as ``best_epoch``."""
        values = [line[name] for line in self.lines if isinstance(line.get(name), int | float)]
        return float(np.mean(values)) if values else None


def verdict(mean: float, published: Figure) -> str:
    """A figure of ours, compared with the paper's."""
    room = ROUNDING if published.std is None else published.std
    difference = round(mean, 3) - published.mean
    if difference > room + 1e-9:
        return "better"
    if difference >= -room - 1e-9:
        return "reproduced"
    return f"short by {-difference:.3f}"


def value(line: Line, metric: str) -> float:
    """A number of a result by its place; ``seconds.an_epoch`` is of training, over all epochs that were run."""
    if metric == "seconds.an_epoch":
        return float(line["seconds"]["training"] / line["epochs"])
    place: Any = line if metric.startswith("seconds.") else line["metrics"]
    for part in metric.split("."):
        place = place[part]
    return float(place)


def summarise(experiment: Experiment, folder: Path, *, quick: bool = False) -> list[Summary]:
    """Every cell of a table, from what is on disk, with seeds beyond those that it asks for."""
    lines = {line["key"]: line for line in Store(folder, experiment.name).lines()}
    seeds = {line.get("work", {}).get("settings", {}).get("seed", 0) for line in lines.values()}
    found: dict[tuple[str, str, str], tuple[Cell, list[Line], int]] = {}
    asked = max(cell.seeds for cell in experiment.cells())
    for cell, _, work in works(experiment, sorted(seeds | set(range(asked))), quick):
        _, own, _ = found.setdefault((cell.group.name, cell.key, cell.name), (cell, [], 1 if quick else cell.seeds))
        if work.key in lines:
            own.append(lines[work.key])
    return [_summary(cell, own, wanted) for cell, own, wanted in found.values()]


def _summary(cell: Cell, lines: list[Line], wanted: int) -> Summary:
    if cell.metric.startswith("attack.") and lines:
        return _attacked(cell, lines, wanted)
    values = [value(line, cell.metric) for line in lines]
    mean = float(np.mean(values)) if values else float("nan")
    return Summary(cell, mean, _deviation(values), len(values), wanted, tuple(lines))


def assessments(lines: Sequence[Line], number: int = 0) -> list[Assessment]:
    """What attacks of the fraction with that number did to each run."""
    return [Assessment.from_dict(line["attack"][number]) for line in lines]


class LossDifference(NamedTuple):
    """How much more AUC one row loses under attack than another, by the same seeds.

    Attributes:
        task: ``pair`` or ``link``.
        which: Pairs with ``any`` colluding end, or with ``both``.
        first: Runs of one row.
        second: Runs of the other.
        losses: What each loses, over the comparisons of all groups and seeds together.
        interval: The first loss minus the second.
    """

    task: str
    which: str
    first: Summary
    second: Summary
    losses: tuple[float, float]
    interval: Interval


def loss_differences(experiment: Experiment, summaries: Sequence[Summary]) -> list[LossDifference]:
    """The comparisons that an experiment names, as far as both rows have run on the same number of seeds."""
    out = []
    for comparison in experiment.intervals:
        for task in ("pair", "link"):
            by_row = {each.cell.key: each for each in summaries if each.cell.name == f"{task}-change"}
            first, second = by_row.get(comparison.first), by_row.get(comparison.second)
            if first is None or second is None or not first.seeds or first.seeds != second.seeds:
                continue
            for which in ("any", "both"):
                runs = assessments(first.lines), assessments(second.lines)
                one, two = (reduce(Tally.__add__, (getattr(each, which) for each in own)).loss for own in runs)
                out.append(LossDifference(task, which, first, second, (one, two), interval(*runs, which)))
    return out


def _attacked(cell: Cell, lines: list[Line], wanted: int) -> Summary:
    """AUC over the comparisons of all groups and seeds together; the deviation is that of the seeds' own."""
    _, number, which, what = cell.metric.split(".")
    tallies: list[Tally] = [getattr(each, which) for each in assessments(lines, int(number))]
    own = [_of(tally, what) for tally in tallies if tally.comparisons]
    return Summary(cell, _of(reduce(Tally.__add__, tallies), what), _deviation(own), len(lines), wanted, tuple(lines))


def _deviation(values: Sequence[float]) -> float:
    """The standard deviation of the seeds, nan for fewer than two."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def _of(tally: Tally, what: str) -> float:
    return -tally.loss if what == "change" else float(getattr(tally, what))

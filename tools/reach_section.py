"""What the rows ``reach`` of the paper's tables say, as a section of the page about the published numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from graphreach.experiments.definition import load_experiment
from graphreach.experiments.summary import LossDifference, Summary, loss_differences, summarise
from graphreach.experiments.tables import figure_text
from tools.headline import BASELINES
from tools.templates import fill, table

ROWS = (
    *(("LP", "table-3b", "Published split", column) for column in ("grid", "communities")),
    ("LP", "table-3b", "Published split, attributes on one scale", "ppi"),
    *(
        ("PNC", "table-3a", "Node-disjoint split, structure only", column)
        for column in ("communities", "email", "email-complete")
    ),
    ("PNC", "table-3a", "Node-disjoint split, attributes on one scale", "protein"),
    *(
        (task, "table-4", group, f"{data}-{name}-{kind}")
        for task, name, group in (
            ("LP", "link", "Published split"),
            ("PNC", "pair", "Node-disjoint split of pairs"),
            ("NC", "node", "Published split"),
        )
        for kind in ("s", "st")
        for data in ("cora", "citeseer")
    ),
)
"""Rows of the table: task, experiment, group and column."""

ENDS = {"any": "one at least", "both": "both"}


class Standing(NamedTuple):
    """``reach`` in one column beside others.

    Attributes:
        label: Task and data.
        reach: Its figure.
        paper: The paper's figure of GraphReach.
        baseline: The best model that is not GraphReach, or None.
        best: GraphReach with the preset best, or None.
    """

    label: str
    reach: Summary
    paper: float
    baseline: Summary | None
    best: Summary | None

    def below(self) -> list[str]:
        """What it is below, at three decimals."""
        others = {
            "the paper": self.paper,
            "the best baseline": None if self.baseline is None else self.baseline.mean,
            "`best`": None if self.best is None else self.best.mean,
        }
        return [
            name for name, mean in others.items() if mean is not None and round(self.reach.mean, 3) < round(mean, 3)
        ]


def reach_section(results: Path) -> str:
    """The section, empty as long as no row ``reach`` has run."""
    standings = _standings(results)
    if not standings:
        return ""
    header = ["", "paper", "best baseline", "GraphReach, `best`", "`reach`"]
    rows = [
        [each.label, f"{each.paper:g}", _named(each.baseline), _figure(each.best), _figure(each.reach)]
        for each in standings
    ]
    return fill("reach.md", figures=table(header, rows), words=_words(standings), attack=_attack(results))


def _standings(results: Path) -> list[Standing]:
    names = dict.fromkeys(name for _, name, _, _ in ROWS)
    found: dict[tuple[str, str, str], dict[str, Summary]] = {}
    for name in names:
        for each in summarise(load_experiment(name), results):
            if each.seeds:
                found.setdefault((name, each.cell.group.name, each.cell.name), {})[each.cell.key] = each
    out = []
    for task, name, group, column in ROWS:
        own, experiment = found.get((name, group, column), {}), load_experiment(name)
        if "reach" not in own:
            continue
        paper = experiment.figure("GraphReach", column)
        assert paper is not None  # a test says that every published row has a figure for every column
        baseline = max((own[key] for key in BASELINES if key in own), key=lambda each: each.mean, default=None)
        label = experiment.columns[column].label.removeprefix(f"{task} ")
        out.append(Standing(f"{task} {label}", own["reach"], paper.mean, baseline, own.get("best")))
    return out


def _words(standings: Sequence[Standing]) -> str:
    """How often ``reach`` is at or above the others, and where it is not."""
    short = {each.label: each.below() for each in standings}
    counts = [
        f"{name} in {sum(name not in below for below in short.values())}"
        for name in ("the paper", "the best baseline", "`best`")
    ]
    first = f"Of {len(standings)} columns `reach` is at or above {', '.join(counts[:-1])}, and {counts[-1]}."
    behind = [f"{label} ({', '.join(below)})" for label, below in short.items() if below]
    return first + (f" It is below on {'; '.join(behind)}." if behind else "")


def _attack(results: Path) -> str:
    """Losses under the attack of Table 6 beside those of P-GNN-E, empty as long as they were not run."""
    experiment = load_experiment("table-6")
    found = [
        each for each in loss_differences(experiment, summarise(experiment, results)) if each.second.cell.key == "reach"
    ]
    if not found:
        return ""
    rows = [
        [
            {"pair": "PNC", "link": "LP"}[each.task], ENDS[each.which], *(f"{loss:.3f}" for loss in each.losses),
            f"{each.interval.difference:+.3f}", f"{each.interval.low:+.3f} to {each.interval.high:+.3f}",
        ]
        for each in found
    ]  # fmt: skip
    header = ["task", "colluding ends", "P-GNN-E loses", "`reach` loses", "difference", "95% interval"]
    return (
        "\n\nUnder the attack of Table 6, on the same colluders (AUC over all groups and seeds together):\n\n"
        f"{table(header, rows)}\n\n{_above_zero(found)}"
    )


def _above_zero(found: Sequence[LossDifference]) -> str:
    """Where P-GNN-E loses more beyond doubt, and where that is open."""
    above = [each.interval.low > 0 for each in found]
    if all(above):
        return "All intervals lie above 0."
    names = [f"{row.task} ({ENDS[row.which]})".replace("pair", "PNC").replace("link", "LP") for row in found]
    others = ", ".join(name for name, each in zip(names, above, strict=True) if not each)
    return f"{sum(above)} of {len(above)} intervals lie above 0; not so {others}."


def _figure(each: Summary | None) -> str:
    return "-" if each is None else figure_text(each)


def _named(each: Summary | None) -> str:
    return "-" if each is None else f"{figure_text(each)} ({each.cell.row.label})"

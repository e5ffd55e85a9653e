"""Pictures from results, each with the numbers behind it."""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphreach.experiments.definition import load_experiment
from graphreach.experiments.summary import Summary, summarise
from graphreach.files import replacing
from graphreach.plot import INK, require_matplotlib

PALETTE = ("#1F5C99", "#D1602B", "#3B8C5A", "#8A5AA3", "#B8860B", "#6E6E6E")
DPI = 150
LABEL_WIDTH = 0.055
"""Of a label below an axis, as a share of its width."""


@dataclass(frozen=True)
class Series:
    """One line of a picture."""

    label: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]


@dataclass(frozen=True)
class Panel:
    """Lines over one axis."""

    title: str
    x_label: str
    series: tuple[Series, ...]
    logarithmic: bool = False
    ticks: tuple[str, ...] = ()


def write_figures(names: Sequence[str], results: Path, folder: Path, *, quick: bool = False) -> list[Path]:
    """Draw every picture that the named experiments have results for; give the files."""
    paths: list[Path] = []
    for name, build in FIGURES.items():
        needs, make = build
        if not set(needs) & set(names):
            continue
        panels = [panel for panel in make(results, quick) if any(series.x for series in panel.series)]
        if panels:
            paths += _save(name, panels, folder)
    return paths


def sweep_panels(results: Path, quick: bool) -> list[Panel]:
    """Figures 3a and 3b: accuracy by the length and by the number of walks."""
    panels = []
    sweeps = ((9, "length of walks", "(a) length of walks"), (10, "walks per node", "(b) number of walks"))
    for number, label, title in sweeps:
        series = []
        for part, column, name in (
            ("b", "communities", "Communities, links"),
            ("a", "email-complete", "Email-Complete, pairs"),
            ("a", "protein", "Protein, pairs"),
        ):
            found = [
                each
                for each in summarise(load_experiment(f"table-{number}{part}"), results, quick=quick)
                if each.cell.name == column and each.seeds
            ]
            series.append(_series(name, [float(each.cell.key) for each in found], found))
        panels.append(Panel(title, label, tuple(series), logarithmic=True))
    return panels


def anchor_panels(results: Path, quick: bool) -> list[Panel]:
    """Figures 3c and 3d: accuracy by the number of anchors, greedy and random."""
    panels = []
    for name, title in (("figure-3c", "(c) Email-Complete, pairs"), ("figure-3d", "(d) Communities, links")):
        experiment = load_experiment(name)
        found = [each for each in summarise(experiment, results, quick=quick) if each.seeds]
        for group in experiment.groups:
            series = [
                _series(row.label, [float(each.cell.name) for each in own], own)
                for key, row in group.rows.items()
                if (own := [each for each in found if each.cell.group.name == group.name and each.cell.key == key])
            ]
            panels.append(Panel(f"{title}, {group.name.lower()}", "anchors, % of the nodes", tuple(series)))
    return panels


def attack_panels(results: Path, quick: bool) -> list[Panel]:
    """AUC by the share of colluders, and of random edges."""
    experiment = load_experiment("attack-curve")
    found = [each for each in summarise(experiment, results, quick=quick) if each.seeds]
    panels = []
    for group in experiment.groups:
        series = []
        for key, row in group.rows.items():
            own = [each for each in found if each.cell.group.name == group.name and each.cell.key == key]
            series.append(_series(row.label, [100 * float(each.cell.name) for each in own], own))
        noise = "Random" in group.name
        panels.append(Panel(group.name, "random edges added, %" if noise else "colluding nodes, %", tuple(series)))
    return panels


def leak_panels(results: Path, quick: bool) -> list[Panel]:
    """What changes the figures of pairwise classification: protocols side by side."""
    experiment = load_experiment("table-3a")
    found = {
        (each.cell.group.name, each.cell.key, each.cell.name): each
        for each in summarise(experiment, results, quick=quick)
        if each.seeds
    }
    published, labels, disjoint, *_, leaking = (group.name for group in experiment.groups)
    bars = (
        ("authors' command (leaks)", leaking, "authors-attention"),
        ("no labels in the walks, authors", published, "authors"),
        ("no labels in the walks, best", published, "best"),
        ("training labels in the walks, best", labels, "best"),
        ("closure, no graph at all", published, "closure"),
        ("unseen nodes, no labels, best", disjoint, "best"),
        ("unseen nodes, closure", disjoint, "closure"),
    )
    panels = []
    for name, column in experiment.columns.items():
        own = [(label, found[group, key, name]) for label, group, key in bars if (group, key, name) in found]
        paper = experiment.figure("GraphReach", name)
        series = [Series(label, (float(i),), (each.mean,), (_finite(each.std),)) for i, (label, each) in enumerate(own)]
        if paper is not None and series:
            series.insert(0, Series("paper", (-1.0,), (paper.mean,), (paper.std or 0.0,)))
        panels.append(Panel(column.label, "test ROC AUC", tuple(series), ticks=tuple(each.label for each in series)))
    return panels


FIGURES: dict[str, tuple[tuple[str, ...], Any]] = {
    "figure-3ab": (("table-9a", "table-9b", "table-10a", "table-10b"), sweep_panels),
    "figure-3cd": (("figure-3c", "figure-3d"), anchor_panels),
    "attack-curve": (("attack-curve",), attack_panels),
    "leak": (("table-3a",), leak_panels),
}
"""A picture's name, the experiments it is drawn from, and how."""


def _series(label: str, x: list[float], found: Sequence[Summary]) -> Series:
    order = sorted(range(len(x)), key=x.__getitem__)
    return Series(
        label,
        tuple(x[i] for i in order),
        tuple(found[i].mean for i in order),
        tuple(_finite(found[i].std) for i in order),
    )


def _finite(number: float) -> float:
    return 0.0 if math.isnan(number) else number


def _save(name: str, panels: Sequence[Panel], folder: Path) -> list[Path]:
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(5.2 * across, 3.6 * down), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(down, across, squeeze=False)
    for ax, panel in zip(axes.flat, panels, strict=False):
        (_bars if panel.ticks else _lines)(ax, panel)
    for ax in list(axes.flat)[len(panels) :]:
        ax.set_axis_off()
    if not panels[0].ticks:
        _legends(figure, list(axes.flat)[: len(panels)])
    paths = []
    for suffix in (".png", ".svg"):
        path = folder / f"{name}{suffix}"
        with replacing(path) as partial, rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
            figure.savefig(partial, dpi=DPI, metadata={"Date": None} if suffix == ".svg" else {"Software": None})
        paths.append(path)
    path = folder / f"{name}.csv"
    with replacing(path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["panel", "series", "x", "mean", "std"])
        for panel in panels:
            for series in panel.series:
                for x, mean, std in zip(series.x, series.mean, series.std, strict=True):
                    writer.writerow([panel.title, series.label, f"{x:g}", f"{mean:.4f}", f"{std:.4f}"])
    return [*paths, path]


def _legends(figure: Any, axes: Sequence[Any]) -> None:
    """One legend below all panels if they show the same, where no line passes through it; else one in each."""
    shown = [ax.get_legend_handles_labels() for ax in axes]
    if all(labels == shown[0][1] for _, labels in shown):
        figure.legend(*shown[0], loc="outside lower center", ncols=4, frameon=False, fontsize=9)
        return
    for ax in axes:
        ax.legend(frameon=False, fontsize=9)


def _lines(ax: Any, panel: Panel) -> None:
    for series, colour in zip(panel.series, PALETTE, strict=False):
        ax.errorbar(series.x, series.mean, yerr=series.std, label=series.label, color=colour, marker="o", markersize=4,
                    linewidth=1.6, capsize=2.5)  # fmt: skip
    if panel.logarithmic:
        from matplotlib.ticker import FixedLocator, NullFormatter, ScalarFormatter

        ax.set_xscale("log")
        ax.xaxis.set_major_locator(FixedLocator(_apart({x for series in panel.series for x in series.x})))
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_formatter(NullFormatter())
    _dress(ax, panel)
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel("test ROC AUC")


def _apart(values: set[float]) -> list[float]:
    """The values that can be written below a logarithmic axis side by side, the largest first.

    Example:
        >>> _apart({1, 50, 75, 100, 500})
        [500, 100, 50, 1]
    """
    kept: list[float] = []
    for value in sorted(values, reverse=True):
        if not kept or math.log(kept[-1] / value) > LABEL_WIDTH * math.log(max(values) / min(values)):
            kept.append(value)
    return kept


def _bars(ax: Any, panel: Panel) -> None:
    count = len(panel.series)
    for i, series in enumerate(panel.series):
        leaks = "leaks" in series.label or series.label == "paper"
        bar = ax.barh(count - i, series.mean[0], xerr=series.std[0], color=PALETTE[1] if leaks else PALETTE[0], ecolor=INK,
                      capsize=2.5, height=0.65)  # fmt: skip
        ax.bar_label(bar, [f"{series.mean[0]:.3f}"], padding=4, fontsize=9, color=INK)
    ax.set_yticks(range(count, 0, -1), panel.ticks, fontsize=9)
    ax.set_xlim(0.4, 1.12)
    ax.axvline(0.5, color=INK, linewidth=0.8, linestyle=":")
    ax.text(0.505, 0.42, "chance", fontsize=8, color=INK)
    _dress(ax, panel)
    ax.set_xlabel(panel.x_label)


def _dress(ax: Any, panel: Panel) -> None:
    ax.set_title(panel.title, fontsize=11, color=INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="x" if panel.ticks else "y", color="#E6E6E6", linewidth=0.8)
    ax.set_axisbelow(True)

"""Pictures from results, each with the numbers behind it."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from graphreach.experiments.definition import Experiment, Group, load_experiment
from graphreach.experiments.summary import Summary, summarise
from graphreach.io.files import replacing
from graphreach.plot import INK, MODEL_COLOURS, require_matplotlib

OURS, GREY, LEAKING = MODEL_COLOURS["graphreach"], "#7F7F7F", "#CC79A7"
"""Colours of GraphReach, of what is compared with it and is no model, and of runs that see labels of the test data."""

STYLES = {
    "greedy": (OURS, "-"),
    "random": (GREY, "--"),
    "greedy, one step": ("#6A51A3", "-."),
    "no labels in the walks": (OURS, "-"),
    "authors' command (leaks)": (LEAKING, "-."),
    "paper": (INK, ":"),
    "P-GNN-E": (MODEL_COLOURS["pgnn-e"], "-"),
    "GraphReach, best": (OURS, "-"),
    "GraphReach, paper": (OURS, "--"),
}
"""Colour and stroke of a line, by its label."""

DPI = 150
LABEL_WIDTH = 0.1
"""Height of a label below an axis, as a share of its width."""


class Series(NamedTuple):
    """One line of a picture: its label, and the places, means and deviations of its points."""

    label: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @classmethod
    def of(cls, label: str, x: Sequence[float], found: Sequence[Summary]) -> "Series":
        """A line through summaries, in the order of their places."""
        points = sorted((at, each.mean, _finite(each.std)) for at, each in zip(x, found, strict=True))
        return cls(label, *zip(*points, strict=True))


class Panel(NamedTuple):
    """Lines over one axis, or bars if there are ``ticks``."""

    title: str
    x_label: str
    series: tuple[Series, ...]
    logarithmic: bool = False
    ticks: tuple[str, ...] = ()


def write_figures(names: Sequence[str], results: Path, folder: Path, *, quick: bool = False) -> list[Path]:
    """Draw every picture that the named experiments have results for; give the files."""
    paths: list[Path] = []
    for name, (needs, make, across) in FIGURES.items():
        if set(needs) & set(names):
            panels = [panel for panel in make(results, quick) if any(series.x for series in panel.series)]
            paths += _save(name, panels, folder, across) if panels else []
    return paths


def _found(name: str, results: Path, quick: bool) -> tuple[Experiment, list[Summary]]:
    experiment = load_experiment(name)
    return experiment, [each for each in summarise(experiment, results, quick=quick) if each.seeds]


def sweep_panels(results: Path, quick: bool) -> list[Panel]:
    """Figures 3a and 3b: accuracy by the length and by the number of walks, with the paper's figures."""
    panels = []
    for number, letter, label in ((9, "a", "length of walks"), (10, "b", "walks from a node")):
        for part, column, title in (
            ("b", "communities", "Communities, links"),
            ("a", "email-complete", "Email-Complete, pairs"),
            ("a", "protein", "Protein, pairs"),
        ):
            experiment, found = _found(f"table-{number}{part}", results, quick)
            found = [each for each in found if each.cell.name == column and each.cell.row.published]
            series = []
            for leaks, name in ((False, "no labels in the walks"), (True, "authors' command (leaks)")):
                own = [each for each in found if each.cell.leaks == leaks]
                if own:
                    series.append(Series.of(name, [float(each.cell.key) for each in own], own))
            if series:
                rows = [(float(row), experiment.figure(row, column)) for row in experiment.published]
                paper = [(x, figure.mean, figure.std or 0.0) for x, figure in rows if figure is not None]
                series.append(Series("paper", *(tuple(each) for each in zip(*paper, strict=True))))
            panels.append(Panel(f"({letter}) {title}", label, tuple(series), logarithmic=True))
    return panels


def anchor_panels(results: Path, quick: bool) -> list[Panel]:
    """Figures 3c and 3d: accuracy by the number of anchors, greedy and random."""
    panels = []
    for name, title in (("figure-3c", "(c) Email-Complete, pairs"), ("figure-3d", "(d) Communities, links")):
        experiment, found = _found(name, results, quick)
        for group in experiment.groups:
            protocol = group.name[0].lower() + group.name[1:]
            panels.append(Panel(f"{title}\n{protocol}", "anchors, % of the nodes", _rows(group, found)))
    return panels


def attack_panels(results: Path, quick: bool) -> list[Panel]:
    """AUC by the share of colluders, and of random edges."""
    experiment, found = _found("attack-curve", results, quick)
    labels = {True: "random edges added, %", False: "colluding nodes, %"}
    return [
        Panel(group.name, labels["Random" in group.name], _rows(group, found, 100.0)) for group in experiment.groups
    ]


def leak_panels(results: Path, quick: bool) -> list[Panel]:
    """What changes the figures of pairwise classification: protocols side by side."""
    experiment, summaries = _found("table-3a", results, quick)
    found = {(each.cell.group.name, each.cell.key, each.cell.name): each for each in summaries}
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


FIGURES: dict[str, tuple[tuple[str, ...], Any, int]] = {
    "figure-3ab": (("table-9a", "table-9b", "table-10a", "table-10b"), sweep_panels, 3),
    "figure-3cd": (("figure-3c", "figure-3d"), anchor_panels, 3),
    "attack-curve": (("attack-curve",), attack_panels, 2),
    "leak": (("table-3a",), leak_panels, 2),
}
"""A picture's name, the experiments it is drawn from, how, and how many panels stand side by side."""


def _rows(group: Group, found: Sequence[Summary], scale: float = 1.0) -> tuple[Series, ...]:
    """A line for each row of a group that has results; the columns' names are its places."""
    lines = []
    for key, row in group.rows.items():
        own = [each for each in found if each.cell.group.name == group.name and each.cell.key == key]
        if own:
            lines.append(Series.of(row.label, [scale * float(each.cell.name) for each in own], own))
    return tuple(lines)


def _finite(number: float) -> float:
    return 0.0 if math.isnan(number) else number


def _save(name: str, panels: Sequence[Panel], folder: Path, across: int) -> list[Path]:
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    down = -(-len(panels) // across)
    figure = Figure(figsize=(9.2, 3.1 * down), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(down, across, squeeze=False, sharey=True)
    for ax, panel in zip(axes.flat, panels, strict=False):
        (_bars if panel.ticks else _lines)(ax, panel)
    for ax in list(axes.flat)[len(panels) :]:
        ax.set_axis_off()
    if not panels[0].ticks:
        for ax in axes[:, 0]:
            ax.set_ylabel("test ROC AUC")
        shown = {
            label: handle for ax in axes.flat for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
        }
        figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=4, frameon=False, fontsize=10)
    paths = [folder / f"{name}{suffix}" for suffix in (".png", ".svg", ".csv")]
    for path, metadata in zip(paths, ({"Software": None}, {"Date": None}), strict=False):
        with replacing(path) as partial, rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
            figure.savefig(partial, dpi=DPI, metadata=metadata)
    with replacing(paths[2]) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["panel", "series", "x", "mean", "std"])
        for panel in panels:
            title = panel.title.replace("\n", ", ")
            for label, *points in panel.series:
                for x, mean, std in zip(*points, strict=True):
                    writer.writerow([title, label, f"{x:g}", f"{mean:.4f}", f"{std:.4f}"])
    return paths


def _lines(ax: Any, panel: Panel) -> None:
    for series in panel.series:
        colour, stroke = STYLES[series.label]
        ax.plot(
            series.x, series.mean, stroke, label=series.label, color=colour, marker="o", markersize=3.5, linewidth=1.6
        )
        low, high = ([m + sign * s for m, s in zip(series.mean, series.std, strict=True)] for sign in (-1, 1))
        ax.fill_between(series.x, low, high, color=colour, alpha=0.16, linewidth=0)
    if panel.logarithmic:
        from matplotlib.ticker import FixedLocator, NullFormatter, ScalarFormatter

        ax.set_xscale("log")
        ax.xaxis.set_major_locator(FixedLocator(_apart({x for series in panel.series for x in series.x})))
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.tick_params(axis="x", labelsize=8.5)
    _dress(ax, panel)


def _apart(values: set[float]) -> list[float]:
    """The values that can be written below a logarithmic axis side by side, the largest first."""
    kept: list[float] = []
    for value in sorted(values, reverse=True):
        if not kept or math.log(kept[-1] / value) > LABEL_WIDTH * math.log(max(values) / min(values)):
            kept.append(value)
    return kept


def _bars(ax: Any, panel: Panel) -> None:
    count = len(panel.series)
    for i, series in enumerate(panel.series):
        colour, _ = STYLES.get(
            series.label, (OURS if "best" in series.label or "authors" in series.label else GREY, "")
        )
        bar = ax.barh(count - i, series.mean[0], xerr=series.std[0], color=colour, ecolor=INK, capsize=2.5, height=0.65)
        ax.bar_label(bar, [f"{series.mean[0]:.3f}"], padding=4, fontsize=9, color=INK)
    ax.set_yticks(range(count, 0, -1), panel.ticks, fontsize=9)
    ax.set_xlim(0.4, 1.12)
    ax.set_xticks((0.4, 0.6, 0.8, 1.0))
    ax.axvline(0.5, color=INK, linewidth=0.8, linestyle=":")
    ax.text(0.505, 0.42, "chance", fontsize=8, color=INK)
    _dress(ax, panel)


def _dress(ax: Any, panel: Panel) -> None:
    ax.set_title(panel.title, fontsize=11, color=INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="x" if panel.ticks else "y", color="#E6E6E6", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.set_xlabel(panel.x_label)

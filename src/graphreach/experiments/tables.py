"""Tables from results: Markdown, CSV and LaTeX."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from graphreach.experiments.definition import Column, Experiment, Group
from graphreach.experiments.summary import Summary
from graphreach.io.files import replacing

FIELDS = (
    "place", "group", "row", "column", "mean", "std", "seeds", "published_mean", "published_std", "verdict", "leaks",
    "metric", "best_epoch", "epochs", "training_loss", "seconds",
)  # fmt: skip


def write_tables(experiment: Experiment, summaries: Sequence[Summary], folder: Path) -> list[Path]:
    """Write a table as Markdown, CSV and LaTeX; give the files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for suffix, text in contents(experiment, summaries).items():
        path = folder / f"{experiment.name}{suffix}"
        with replacing(path) as partial:
            partial.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def contents(experiment: Experiment, summaries: Sequence[Summary]) -> dict[str, str]:
    """A table's texts by the suffix of their files."""
    return {
        ".md": markdown(experiment, summaries),
        ".csv": comma_separated(summaries),
        ".tex": latex(experiment, summaries),
    }


Rows = list[tuple[str, list[Summary | None]]]
"""Label and cells of each row."""


def rows_by_group(
    experiment: Experiment, summaries: Sequence[Summary], blocks: Sequence[Sequence[str]]
) -> Iterator[tuple[Group, list[str], Rows]]:
    """Each group's rows, block by block of columns: the group, the names of the columns, and the rows that have run."""
    found = {(each.cell.group.name, each.cell.key, each.cell.name): each for each in summaries}
    for group in experiment.groups:
        for block in blocks:
            names = [name for name in block if any((group.name, key, name) in found for key in group.rows)]
            cells = [[found.get((group.name, key, name)) for name in names] for key in group.rows]
            begun = [own for own in cells if any(each is not None and each.seeds for each in own)]
            rows = [(next(each.cell.label for each in own if each), own) for own in begun]
            if rows:
                yield group, names, rows


def markdown(experiment: Experiment, summaries: Sequence[Summary]) -> str:
    """The table with the paper's figures next to ours, one section per group."""
    lines = [f"## {experiment.place}: {experiment.title}", "", caption(experiment, summaries), ""]
    last = None
    for group, names, rows in rows_by_group(experiment, summaries, experiment.shown_blocks):
        if group is not last:
            lines += [f"### {group.name}", "", *([group.note, ""] if group.note else [])]
        last = group
        lines.append("| | " + " | ".join(experiment.columns[name].label for name in names) + " |")
        lines.append("|---" * (len(names) + 1) + "|")
        lines += [f"| {label} | " + " | ".join(map(_cell, cells)) + " |" for label, cells in rows]
        lines.append("")
    for title, texts in (
        ("The paper says", experiment.claims),
        ("Found here", experiment.findings),
        ("Left open by the paper", experiment.ambiguities),
    ):
        if texts:
            lines += [f"{title}:", "", *(f"- {text}" for text in texts), ""]
    return "\n".join(lines).rstrip() + "\n"


def caption(experiment: Experiment, summaries: Sequence[Summary]) -> str:
    """What the figures are: measure, seeds and epochs."""
    what = "Seconds" if experiment.kind == "seconds" else "Test ROC AUC, mean ± standard deviation over the seeds"
    if experiment.work.get("kind") == "attack":
        what = (
            "Test ROC AUC over the comparisons of all groups and seeds together ± standard deviation of the seeds' own"
        )
    budgets: dict[str, list[str]] = {}
    for name, column in experiment.columns.items():
        own = [each.seeds for each in summaries if each.cell.name == name and each.seeds]
        if own:
            budgets.setdefault(_budget(column, own), []).append(column.label)
    parts = "; ".join(f"{', '.join(labels)}: {budget}" for budget, labels in budgets.items())
    if experiment.kind == "seconds":
        return f"{what}. {parts}."
    return (
        f"{what}. {parts}. The model is chosen by validation and the test data scored once. Small print: the paper's "
        "figure, and whether ours is within one published standard deviation (reproduced), above (better), or short of it."
    )


def comma_separated(summaries: Sequence[Summary]) -> str:
    """One line per cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(FIELDS)
    for each in summaries:
        cell, published = each.cell, each.cell.published
        if not each.seeds:
            continue
        writer.writerow([
            cell.experiment.place, cell.group.name, cell.row.label, cell.column.label, f"{each.mean:.4f}",
            "" if math.isnan(each.std) else f"{each.std:.4f}", each.seeds,
            "" if published is None else published.mean,
            "" if published is None or published.std is None else published.std,
            each.verdict, "yes" if cell.leaks else "", cell.metric,
            *(_number(each.average(name)) for name in ("best_epoch", "epochs", "training_loss", "wall")),
        ])  # fmt: skip
    return out.getvalue()


def latex(experiment: Experiment, summaries: Sequence[Summary]) -> str:
    """The table for a paper, with booktabs; published figures in brackets."""
    names = [name for name in experiment.columns if any(each.cell.name == name for each in summaries)]
    lines = [rf"\begin{{tabular}}{{l{'c' * len(names)}}}", r"\toprule"]
    lines.append(" & ".join(["", *(_escape(experiment.columns[name].label) for name in names)]) + r" \\")
    for group, own, rows in rows_by_group(experiment, summaries, [names]):
        lines += [r"\midrule", rf"\multicolumn{{{len(names) + 1}}}{{l}}{{\emph{{{_escape(group.name)}}}}} \\"]
        for label, cells in rows:
            shown = dict(zip(own, cells, strict=True))
            lines.append(" & ".join([_escape(label), *(_latex_cell(shown.get(name)) for name in names)]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def figure_text(summary: Summary) -> str:
    """Mean and deviation with the digits that the measure has."""
    if not summary.seeds:
        return ""
    if summary.cell.experiment.kind == "seconds":
        return f"{summary.mean:.0f}" if summary.mean >= 10 else f"{summary.mean:.2g}"
    deviation = "" if math.isnan(summary.std) else f" ± {summary.std:.3f}"
    return f"{summary.mean:.3f}{deviation}"


def _cell(summary: Summary | None) -> str:
    if summary is None or not summary.seeds:
        return "" if summary is None else "…"
    missing = "" if summary.seeds >= summary.wanted else f" ({summary.seeds} of {summary.wanted} seeds)"
    text = figure_text(summary) + missing
    published = summary.cell.published
    if published is None:
        return text
    digits = 3 if published.std is not None else 2
    paper = f"{published.mean:g}" if summary.cell.experiment.kind == "seconds" else f"{published.mean:.{digits}f}"
    note = f", {summary.verdict}" if summary.verdict else ""
    return f"{text}<br><sub>paper {paper}{note}</sub>"


def _latex_cell(summary: Summary | None) -> str:
    if summary is None or not summary.seeds:
        return "--" if summary is None else ""
    published = summary.cell.published
    paper = "" if published is None else f" ({published.mean:g})"
    return f"${figure_text(summary).replace('±', chr(92) + 'pm')}${paper}"


def _budget(column: Column, seeds: list[int]) -> str:
    low, high = min(seeds), max(seeds)
    count = f"{high} seed{'s' if high != 1 else ''}" if low == high else f"{low} to {high} seeds"
    epochs, patience = column.settings.get("epochs"), column.settings.get("patience")
    return f"{count}, up to {epochs:,} epochs" + (f" (patience {patience})" if patience else "")


def _number(number: float | None) -> str:
    return "" if number is None else f"{number:.4g}"


def _escape(text: str) -> str:
    return text.replace("%", r"\%").replace("_", r"\_").replace("&", r"\&")

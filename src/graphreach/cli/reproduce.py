"""``graphreach reproduce``: the paper's tables and figures from configuration."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from graphreach.cli import options
from graphreach.cli.completion import complete_experiment
from graphreach.cli.group import say
from graphreach.cli.options import option
from graphreach.errors import InputError
from graphreach.progress import duration, live

QUICK = "One seed and a few epochs, to try everything in minutes; in a folder of its own."


def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...", help="Tables and figures, or all; see list.", autocompletion=complete_experiment
        ),
    ],
    output: Annotated[Path, option("--output -o", "Folder of results, tables and figures.", "DIR")] = Path("results"),
    seeds: Annotated[
        str | None, option("--seeds", "Random seeds, one run each.", "0-9", "those of each column")
    ] = None,
    jobs: Annotated[int, option("--jobs -j", "Number of runs at a time.", "N", min=1)] = 1,
    columns: Annotated[str | None, option("--columns", "Columns to run.", "A,B,...", "all")] = None,
    quick: Annotated[bool, option("--quick", QUICK, default="off")] = False,
    run: Annotated[bool, option("--run/--no-run", "Whether to run what is missing.")] = True,
    json_: options.Json = False,
) -> None:
    """Regenerate tables and figures of the paper, with the published figures next to ours.

    A finished run on disk is not repeated, so you can repeat an interrupted command. `graphreach reproduce list` names all
    experiments.
    """
    from graphreach import experiments

    if "list" in names:
        for name in experiments.ORDER:
            each = experiments.load_experiment(name)
            typer.echo(f"{name:13} {each.place}: {each.title}")
        return
    chosen = experiments.chosen(names)
    wanted = _columns(columns, chosen)
    if output.exists() and not output.is_dir():
        raise InputError(f"output must be a folder, got {output}, which is a file")
    folder = output / "quick" if quick else output
    status = None
    if run:
        with _display() as show:
            status = experiments.reproduce(
                names, folder, seeds=_seeds(seeds), jobs=jobs, quick=quick, columns=wanted, show=show
            )
    cells = []
    for each in chosen:
        found = experiments.summarise(each, folder, quick=quick)
        experiments.write_tables(each, found, folder / "tables")
        shown = [cell for cell in found if wanted is None or cell.cell.name in wanted]
        cells += [_plain(cell) for cell in shown if cell.seeds]
        if not json_:
            _print_table(each, shown)
    drawn = experiments.write_figures([each.name for each in chosen], folder, folder / "figures", quick=quick)
    if json_:
        typer.echo(json.dumps(cells))
    say(f"tables are in {folder / 'tables'}" + (f", pictures in {folder / 'figures'}" if drawn else ""))
    if status is not None and status.failed:
        what, why = next(iter(status.failed.items()))
        raise InputError(f"{len(status.failed)} runs failed; the first: {what}: {why}")


def _columns(text: str | None, chosen: list[Any]) -> list[str] | None:
    """Columns from a text such as grid,ppi; None: all."""
    if text is None:
        return None
    known = [name for each in chosen for name in each.columns]
    wanted = [each.strip() for each in text.split(",")]
    for name in wanted:
        if name not in known:
            raise InputError(f"columns must be among {', '.join(dict.fromkeys(known))}, got {name!r}")
    return wanted


def _seeds(text: str | None) -> list[int] | None:
    """Seeds from a text such as 0-9 or 0,3,5."""
    if text is None:
        return None
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.strip().isdigit() or (dash and not last.strip().isdigit()):
            raise InputError(f"seeds must be numbers such as 0-9 or 0,3,5, got {text!r}")
        some = range(int(first), int(last if dash else first) + 1)
        if not some:
            raise InputError(f"seeds must be ranges from the lesser to the greater, such as 0-9, got {text!r}")
        found += some
    return found


def _plain(cell: Any) -> dict[str, Any]:
    of, published = cell.cell, cell.cell.published
    return {
        "experiment": of.experiment.name, "group": of.group.name, "row": of.row.label, "column": of.name,
        "mean": cell.mean, "std": None if cell.std != cell.std else cell.std, "seeds": cell.seeds,
        "published": None if published is None else published.mean, "verdict": cell.verdict, "leaks": of.leaks,
    }  # fmt: skip


def _print_table(experiment: Any, found: list[Any]) -> None:
    """The table on the screen, one column per data set."""
    from rich.console import Console
    from rich.table import Table

    from graphreach.experiments.tables import rows_by_group

    for group, names, rows in rows_by_group(experiment, found, experiment.shown_blocks):
        title = f"{experiment.place}: {group.name}"
        table = Table("", *(experiment.columns[name].label for name in names), title=title, title_justify="left")
        for label, cells in rows:
            table.add_row(label, *map(_beside, cells))
        Console().print(table)


def _beside(summary: Any) -> str:
    from graphreach.experiments.tables import figure_text

    if summary is None or not summary.seeds:
        return "" if summary is None else "..."
    text, published = str(figure_text(summary)), summary.cell.published
    if published is None:
        return text
    note = f", {summary.verdict}" if summary.verdict else ""
    return f"{text}\n[dim]paper {published.mean:g}{note}[/dim]"


@contextmanager
def _display() -> Iterator[Any]:
    """A bar on a terminal; one line per run elsewhere."""

    def line(status: Any, text: str) -> str:
        left = "" if status.left is None else f", about {duration(status.left)} left"
        return f"{sum(status.done.values())} of {sum(status.total.values())}{left}: {text}"

    if not sys.stderr.isatty():
        yield lambda status, text: say(line(status, text))
        return
    with live("runs", None) as show:
        yield lambda status, text: show(0, line(status, text))

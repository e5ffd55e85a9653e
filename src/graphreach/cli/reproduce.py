"""``graphreach reproduce``: the paper's tables and figures from configuration."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from graphreach.cli.group import say
from graphreach.errors import InputError


def reproduce(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Tables and figures, or all; see list.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of results, tables and figures.")
    ] = Path("results"),
    seeds: Annotated[
        str | None,
        typer.Option("--seeds", metavar="0-9", help="Random seeds, one run each.", show_default="those of each column"),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Runs side by side.")] = 1,
    columns: Annotated[
        str | None, typer.Option("--columns", metavar="A,B,...", help="Columns to run.", show_default="all")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="One seed, a few epochs: every path in minutes, in a folder of its own.",
            show_default="off",
        ),
    ] = False,
    run: Annotated[bool, typer.Option("--run/--no-run", help="Whether to run what is missing.")] = True,
    json_: Annotated[bool, typer.Option("--json", help="Print every cell as JSON.", show_default="off")] = False,
) -> None:
    """Regenerate tables and figures of the paper, with the published figures beside ours.

    A run that is on disk is not repeated, so a call that was ended goes on where it was. `graphreach reproduce list` names
    every experiment.
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
        with _Display() as show:
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
    published = cell.cell.published
    return {
        "experiment": cell.cell.experiment.name,
        "group": cell.cell.group.name,
        "row": cell.cell.row.label,
        "column": cell.cell.name,
        "mean": cell.mean,
        "std": None if cell.std != cell.std else cell.std,
        "seeds": cell.seeds,
        "published": None if published is None else published.mean,
        "verdict": cell.verdict,
        "leaks": cell.cell.leaks,
    }


def _print_table(experiment: Any, found: list[Any]) -> None:
    """The table on the screen, a column a data set."""
    from rich.console import Console
    from rich.table import Table

    from graphreach.experiments.tables import figure_text

    console = Console()
    cells = {(each.cell.group.name, each.cell.key, each.cell.name): each for each in found}
    for group in experiment.groups:
        for block in experiment.blocks or (tuple(experiment.columns),):
            names = [name for name in block if any(key[0] == group.name and key[2] == name for key in cells)]
            if not names:
                continue
            table = Table(title=f"{experiment.place}: {group.name}", title_justify="left", show_lines=False)
            table.add_column("")
            for name in names:
                table.add_column(experiment.columns[name].label)
            for key in group.rows:
                own = [cells.get((group.name, key, name)) for name in names]
                label = next((each.cell.label for each in own if each), None)
                if label is not None:
                    table.add_row(label, *(_beside(each, figure_text) for each in own))
            console.print(table)


def _beside(summary: Any, figure_text: Any) -> str:
    if summary is None:
        return ""
    published = summary.cell.published
    if not summary.seeds:
        return "..."
    text = str(figure_text(summary))
    if published is None:
        return text
    note = f", {summary.verdict}" if summary.verdict else ""
    return f"{text}\n[dim]paper {published.mean:g}{note}[/dim]"


class _Display:
    """A live table of what is done on a terminal; a line for each run elsewhere."""

    def __enter__(self) -> Any:
        import sys

        from rich.console import Console
        from rich.live import Live

        console = Console(stderr=True)
        self.live = Live(console=console, transient=True) if sys.stderr.isatty() else None
        if self.live is None:
            return self._line
        self.live.__enter__()
        return self._update

    def __exit__(self, *error: Any) -> None:
        if self.live is not None:
            self.live.__exit__(*error)

    def _line(self, status: Any, text: str) -> None:
        say(f"{sum(status.done.values())} of {sum(status.total.values())}{_left(status)}: {text}")

    def _update(self, status: Any, text: str) -> None:
        from rich.table import Table

        table = Table(title=f"{text}{_left(status)}", title_justify="left")
        for name in ("experiment", "done", "of"):
            table.add_column(name, justify="left" if name == "experiment" else "right")
        for name, total in status.total.items():
            table.add_row(name, str(status.done[name]), str(total))
        if self.live is not None:
            self.live.update(table, refresh=True)


def _left(status: Any) -> str:
    if status.left is None:
        return ""
    minutes = status.left / 60
    return f", about {minutes:.0f} minutes left" if minutes >= 1 else ", less than a minute left"

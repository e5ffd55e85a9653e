"""``graphreach datasets``: which data sets there are, and their files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphreach.cli.group import FAILED, say
from graphreach.cli.output import check_output_folder
from graphreach.errors import InputError

if TYPE_CHECKING:
    from graphreach.datasets.registry import Entry

ALL = "all"

datasets = typer.Typer(
    add_completion=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
)
Root = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="Folder of <dataset>/<file>.",
        show_default="GRAPHREACH_DATA, or the user's cache",
    ),
]


@datasets.callback(invoke_without_command=True)
def list_datasets(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.", show_default="off")] = False,
    root: Root = None,
) -> None:
    """List the data sets with their sizes, and whether their files are here."""
    if context.invoked_subcommand is not None:
        if as_json or root is not None:
            raise InputError(f"--json and --root must come without {context.invoked_subcommand}, or --root after it")
        return
    from graphreach.datasets.registry import ENTRIES

    rows = [describe(entry, root) for entry in ENTRIES]
    typer.echo(json.dumps(rows, indent=2) if as_json else _table(rows))


@datasets.command()
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A data set, or all.", show_default=False)],
    root: Root = None,
) -> None:
    """Download the files of a data set that are missing, check all of them and print where they are."""
    from graphreach.datasets import DownloadError, find
    from graphreach.datasets.registry import ENTRIES

    if root is not None:
        check_output_folder(root, "--root")
    if name.strip().lower() != ALL:
        entry = find(name)
        if not entry.files:
            say(f"{entry.name} is generated and has no files")
        _echo(entry.store(root).fetch())
        return
    failed, printed = False, set[Path]()
    for entry in ENTRIES:
        try:
            paths = entry.store(root).fetch()
            _echo([path for path in paths if path not in printed])  # two data sets share their files
            printed.update(paths)
        except (DownloadError, InputError) as error:
            # One server that is down is no reason to leave out the others.
            failed = True
            say(f"error: {error}")
    if failed:
        raise typer.Exit(FAILED)


def describe(entry: "Entry", root: Path | None = None) -> dict[str, Any]:
    """What ``graphreach datasets`` shows of a data set; nothing is loaded."""
    try:
        missing = [file.path for file in entry.store(root).missing()]
    except InputError:  # without pooch there is no default root, so nothing can be in it
        missing = [file.path for file in entry.files]
    some = "missing" if len(missing) == len(entry.files) else "some missing"
    return {
        "name": entry.name,
        "graphs": entry.num_graphs,
        "nodes": entry.num_nodes,
        "edges": entry.num_edges,
        "directed": entry.directed,
        "weighted": entry.weighted,
        "attributes": entry.num_features,
        "classes": entry.num_classes,
        "files": "generated" if not entry.files else some if missing else "here",
        "missing": missing,
        "about": entry.about,
    }


def _echo(paths: list[Path]) -> None:
    for path in paths:
        typer.echo(path)


def _table(rows: list[dict[str, Any]]) -> str:
    names = ("name", "graphs", "nodes", "edges", "attributes", "classes", "files", "about")
    numbers = names[1:6]
    cells = [names, *([f"{row[name]:,}" if name in numbers else _text(row, name) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    lines = (
        "  ".join(
            cell.rjust(width) if name in numbers else cell.ljust(width)
            for name, cell, width in zip(names, line, widths, strict=True)
        )
        for line in cells
    )
    return "\n".join(line.rstrip() for line in lines)


def _text(row: dict[str, Any], name: str) -> str:
    kinds = [kind for kind in ("directed", "weighted") if row[kind]]
    return ", ".join([row[name], *kinds]) if name == "about" else str(row[name])

"""``graphreach datasets``: which data sets there are, and their files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphreach.cli.completion import complete_dataset
from graphreach.cli.group import FAILED, say
from graphreach.cli.options import Json, check_output_folder, option
from graphreach.errors import InputError

if TYPE_CHECKING:
    from graphreach.datasets.registry import Entry

datasets = typer.Typer(
    add_completion=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
)
ROOT = "Folder of <dataset>/<file>."
Root = Annotated[Path | None, option("--root", ROOT, "DIR", "GRAPHREACH_DATA, or the user's cache")]


@datasets.callback(invoke_without_command=True)
def list_datasets(
    context: typer.Context,
    json_: Json = False,
    root: Root = None,
) -> None:
    """List the data sets with their sizes, and whether their files are here."""
    if context.invoked_subcommand is not None:
        if json_ or root is not None:
            raise InputError(f"--json and --root must come without {context.invoked_subcommand}, or --root after it")
        return
    from graphreach.datasets.registry import ENTRIES

    rows = [describe(entry, root) for entry in ENTRIES]
    typer.echo(json.dumps(rows, indent=2) if json_ else _table(rows))


@datasets.command()
def fetch(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="A data set, or all.", show_default=False, autocompletion=complete_dataset),
    ],
    root: Root = None,
) -> None:
    """Download the files of a data set that are missing, check all of them and print where they are."""
    from graphreach.datasets import DownloadError, find
    from graphreach.datasets.registry import ENTRIES

    if root is not None:
        check_output_folder(root, "--root")
    if name.strip().lower() != "all":
        entry = find(name)
        if not entry.files:
            where = "ships with the package" if entry.packaged else "is generated"
            say(f"{entry.name} {where} and has no files to download")
        for path in entry.store(root).fetch():
            typer.echo(path)
        return
    failed, printed = False, set[Path]()
    for entry in ENTRIES:
        try:
            for path in entry.store(root).fetch():
                if path not in printed:  # two data sets share their files
                    typer.echo(path)
                    printed.add(path)
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
        "files": _without_files(entry) if not entry.files else some if missing else "here",
        "missing": missing,
        "about": entry.about,
    }


def _without_files(entry: "Entry") -> str:
    return "in the package" if entry.packaged else "generated"


def _table(rows: list[dict[str, Any]]) -> str:
    names, sides = ("name", "graphs", "nodes", "edges", "attributes", "classes", "files", "about"), "<>>>>><<"
    cells = [list(names)]
    for row in rows:
        kinds = [kind for kind in ("directed", "weighted") if row[kind]]
        shown = [f"{row[name]:,}" if isinstance(row[name], int) else row[name] for name in names]
        cells.append([*shown[:-1], ", ".join([row["about"], *kinds])])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(line, sides, widths, strict=True)).rstrip()
        for line in cells
    )

"""``graphreach doctor``: how the installation is, and its caches emptied."""

import json
from typing import Annotated, Any

import typer

from graphreach.cli.options import Json, option
from graphreach.progress import stage

CLEAR = "Remove the files of a cache: kernels, reachability or datasets; repeatable."


def doctor(
    clear: Annotated[list[str] | None, option("--clear", CLEAR, "NAME", "none")] = None,
    json_: Json = False,
) -> None:
    """Show versions, threads, device, memory and caches, and what is wrong with them.

    Packages that are not installed are listed with what they are for and the command that installs them. --clear removes
    the files of a cache and nothing else. What was in it is compiled, computed or downloaded again when it is next needed.
    """
    from graphreach.arguments import check_choice, counted
    from graphreach.doctor import as_text, examine
    from graphreach.doctor.caches import CACHES
    from graphreach.doctor.caches import clear as clear_cache
    from graphreach.limits import format_bytes

    if clear:
        names = [check_choice("--clear", name, CACHES) for name in dict.fromkeys(clear)]
        removed = [clear_cache(name) for name in names]
        rows: list[dict[str, Any]] = [
            {"name": each.name, "files": len(each.files), "bytes": each.size} for each in removed
        ]
        text = (
            f"removed {counted(row['files'], 'file')} of {row['name']}, {format_bytes(row['bytes'])}" for row in rows
        )
        typer.echo(json.dumps(rows, indent=2) if json_ else "\n".join(text))
        return
    with stage("importing packages"):
        found = examine()
    typer.echo(json.dumps(found, indent=2) if json_ else as_text(found))

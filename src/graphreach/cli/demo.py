"""``graphreach demo``: a first look."""

from pathlib import Path
from typing import Annotated

import typer

from graphreach.cli.group import say
from graphreach.cli.output import check_output_folder
from graphreach.progress import stage


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the picture.")] = Path(
        "demo"
    ),
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**32 - 1, metavar="N", help="Random seed for the graph and the walks.")
    ] = 0,
) -> None:
    """Train GraphReach and a GCN on the links of a generated graph, show their AUCs and draw what each knows."""
    from graphreach.demo import run_demo

    check_output_folder(output)
    with stage("running the demo"):
        report = run_demo(output, seed)
    typer.echo(report.text)
    say(f"the picture is {report.picture}, and its numbers are {report.numbers}")

"""``graphreach demo``: a first look."""

from pathlib import Path
from typing import Annotated

import typer

from graphreach.cli.group import say
from graphreach.cli.options import check_output_folder, option
from graphreach.progress import stage


def demo(
    output: Annotated[Path, option("--output -o", "Folder for the picture.", "DIR")] = Path("demo"),
    seed: Annotated[int, option("--seed", "Random seed for the graph and the walks.", "N", min=0, max=2**32 - 1)] = 0,
) -> None:
    """Train GraphReach and a GCN on the links of a generated graph, show their AUCs and draw what each knows."""
    from graphreach.demo import run_demo

    check_output_folder(output)
    with stage("running the demo"):
        report = run_demo(output, seed)
    typer.echo(report.text)
    say(f"the picture is {report.picture}, and its numbers are {report.numbers}")

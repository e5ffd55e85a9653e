"""``graphreach demo``: a first look."""

from pathlib import Path
from typing import Annotated

import typer

from graphreach.cli.group import say
from graphreach.cli.options import check_output_folder, option
from graphreach.cli.output import table_text
from graphreach.progress import stage

COLUMNS = ("model, structure only", "test AUC of links")


def demo(
    output: Annotated[Path, option("--output -o", "Folder for the picture.", "DIR")] = Path("demo"),
    seed: Annotated[int, option("--seed", "Random seed for the graph and the walks.", "N", min=0, max=2**32 - 1)] = 0,
) -> None:
    """Train GraphReach and a GCN on the links of a generated graph, show their AUCs and draw what each has learned."""
    from graphreach.demo import run_demo

    check_output_folder(output)
    with stage("running the demo"):
        report = run_demo(output, seed)
    rows = [(name, f"{auc:.3f}") for name, auc in report.auc.items()]
    typer.echo(
        f"{report.graph.num_nodes} nodes in 20 communities, {report.graph.num_edges} edges; a tenth of them to find."
    )
    typer.echo(table_text(COLUMNS, rows, left=COLUMNS[0], width=72))
    typer.echo("A GCN without features cannot tell apart nodes with similar neighbourhoods, wherever they are.")
    say(f"the picture is {report.picture}, and its numbers are {report.numbers}")

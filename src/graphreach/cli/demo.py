"""``graphreach demo``: a first look."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphreach.cli.group import say
from graphreach.cli.options import check_output_folder, option
from graphreach.cli.output import table_text
from graphreach.progress import stage

if TYPE_CHECKING:
    from graphreach.club import Split

COLUMNS = ("model, structure only", "test AUC of links")


def demo(
    output: Annotated[Path, option("--output -o", "Folder for the pictures and files.", "DIR")] = Path("demo"),
    seed: Annotated[int, option("--seed", "Random seed of the generated graph.", "N", min=0, max=2**32 - 1)] = 0,
) -> None:
    """Answer two questions about a karate club, compare GraphReach with a GCN on a generated graph, and draw both."""
    from graphreach.club import save_club, split_club
    from graphreach.demo import compiling_layers, run_demo

    check_output_folder(output)
    output.mkdir(parents=True, exist_ok=True)
    with compiling_layers() as compiling, stage("running the demo"):
        split = split_club()
        _show_club(split)
        save_club(output, split)
        report = run_demo(output, seed, compiling=compiling)
    typer.echo(
        f"\nA generated graph: {report.graph.num_nodes} nodes in 20 communities, {report.graph.num_edges} edges; "
        "a tenth of them to find."
    )
    rows = [(name, f"{auc:.3f}") for name, auc in report.auc.items()]
    typer.echo(table_text(COLUMNS, rows, left=COLUMNS[0], width=72))
    typer.echo("A GCN without features cannot tell apart nodes with similar neighbourhoods, wherever they are.\n")
    typer.echo(_next_commands(output))
    say(f"the pictures are {output / 'club.png'} and {report.picture}")


def _show_club(split: "Split") -> None:
    typer.echo(
        f"\nA real graph: {split.graph.num_nodes} members of a karate club and their friendships (Zachary, 1977).\n"
        "The club split. Who goes with whom, if only the sides of its two leaders are known?\n"
        f"  {split.right} of the other {split.others.sum()} members are put on the side that they took"
        f" (one side for all: {split.baseline} right).\n"
        "Who should know whom, and why?"
    )
    for node, partner, chance, why in zip(
        split.new.node, split.new.partner, split.new.probability, split.new.why, strict=True
    ):
        typer.echo(f"  {node:>2} and {partner:>2}: {chance:.2f}, {why}")


def _next_commands(folder: Path) -> str:
    """Three commands to try, as they are called from here."""
    own = Path(sys.executable).with_name("graphreach")
    name = "graphreach" if shutil.which("graphreach") or not own.exists() else os.path.relpath(own)
    club, sides, vectors, run = (folder / each for each in ("club.csv", "sides.csv", "vectors.parquet", "run"))
    return (
        "Try next, then with files of your own:\n"
        f"  {name} recommend {club} --top 5\n"
        f"  {name} embed {club} -o {vectors}\n"
        f"  {name} train {club} --labels {sides} -o {run}"
    )

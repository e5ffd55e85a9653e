"""The verbs put together."""

from typing import Annotated

import typer

from graphreach._version import __version__
from graphreach.cli.anchors import anchors
from graphreach.cli.attack import attack
from graphreach.cli.compare import compare
from graphreach.cli.datasets import datasets
from graphreach.cli.demo import demo
from graphreach.cli.embed import embed
from graphreach.cli.explain import explain
from graphreach.cli.group import OneLineErrors
from graphreach.cli.info import info
from graphreach.cli.predict import evaluate, predict
from graphreach.cli.reach import reach
from graphreach.cli.report import report
from graphreach.cli.reproduce import reproduce
from graphreach.cli.train import train

app = typer.Typer(
    name="graphreach",
    cls=OneLineErrors,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (info, anchors, reach, embed, train, predict, evaluate, explain, report, attack, compare, reproduce, demo):
    app.command()(verb)
app.add_typer(datasets, name="datasets")


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Position-aware node embeddings by reachability to anchors.

    Data go to stdout or to --output, progress and messages to stderr.
    """
    if version:
        typer.echo(f"graphreach {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


def main() -> None:
    """Run the command; the entry point of the package."""
    app(prog_name="graphreach")

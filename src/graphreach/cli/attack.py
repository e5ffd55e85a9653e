"""``graphreach attack``: what a finished run still says when colluding nodes add edges."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import graphreach as gr
from graphreach.cli import run_data
from graphreach.cli import run_options as options
from graphreach.cli.group import say
from graphreach.cli.output import check_output
from graphreach.io.files import replacing
from graphreach.io.writers import write_table
from graphreach.plot import require_matplotlib

PLOTS = [".png", ".pdf", ".svg"]


def attack(
    run: run_data.Run,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            metavar="NAME",
            help="clique, hubs (links only) or noise.",
            show_default="hubs for links, else clique",
        ),
    ] = None,
    fraction: Annotated[
        float, typer.Option("--fraction", metavar="SHARE", help="Share of nodes that collude; for noise, of edges.")
    ] = 0.1,
    groups: Annotated[int, typer.Option("--groups", min=1, metavar="N", help="Groups, one attack each.")] = 5,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, metavar="N", help="Random seed for the groups.", show_default="that of the run"),
    ] = None,
    curve: Annotated[
        str | None,
        typer.Option(
            "--curve", metavar="A,B,...", help="Several fractions instead of one.", show_default="the one of --fraction"
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="AUC against the fraction; .png .pdf .svg, with a .csv beside it.",
            show_default="none",
        ),
    ] = None,
    labels: options.Labels = None,
    label_column: options.LabelColumn = None,
    json_: options.Json = False,
) -> None:
    """Add edges between colluding nodes and score a run's test pairs before and after; nothing is trained again.

    "any" are test pairs with a colluder at one end at least, "both" those with colluders at both. A run on pairs of a
    file needs its --labels again.
    """
    fractions = [fraction] if curve is None else _numbers(curve)
    if plot is not None:
        _check_plot(plot)
    from graphreach import attacks, training

    trained = training.TrainedRun(run)
    if trained.settings.task == "node":
        raise gr.InputError("RUN must be of task link or pair, got one of task node")
    own = run_data.read_run_data(run, trained.settings, labels, label_column)
    options.one_graph(own.data)
    found = attacks.curve(trained, own.splits[0], fractions, kind, groups=groups, seed=seed)
    rows = [each.to_dict() for each in found]
    if plot is not None:
        _draw(found, plot)
    typer.echo(json.dumps(rows if curve is not None else rows[0]) if json_ else _table(found))


def _check_plot(path: Path) -> None:
    require_matplotlib()
    try:
        check_output(path, PLOTS)
    except gr.InputError as error:
        raise gr.InputError(str(error).replace("--output", "--plot", 1)) from None


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise gr.InputError(f"--curve must be numbers with commas between, such as 0.05,0.1, got {text!r}") from None


def _draw(found: list[Any], path: Path) -> None:
    import polars as pl

    from graphreach import attacks
    from graphreach.plot import new_figure

    columns = [(ends, name) for ends in ("any", "both") for name in ("comparisons", "before", "after")]
    rows = [
        {"method": each.method, "kind": each.kind, "fraction": each.fraction}
        | {f"{ends}_{name}": getattr(getattr(each, ends), name) for ends, name in columns}
        for each in found
    ]
    whole = all(each.kind == "noise" for each in found)
    figure, axes = new_figure(1 if whole else 2)
    for ends, ax in zip(("any", "both"), [axes] if whole else axes, strict=False):
        attacks.plot_curve(found, ends, ax=ax)
    with replacing(path) as partial:
        figure.savefig(partial, dpi=120, format=path.suffix[1:].lower())
    write_table(path.with_suffix(".csv"), [pl.DataFrame(rows)])
    say(f"the plot is {path}, its figures are {path.with_suffix('.csv')}")


def _table(found: list[Any]) -> str:
    from rich.console import Console
    from rich.table import Table

    first = found[0]
    table = Table(title=f"{first.kind} on {first.method}, {first.task}: {first.groups} groups")
    for name in ("fraction", "ends", "positives", "negatives", "AUC before", "after", "change"):
        table.add_column(name, justify="left" if name == "ends" else "right")
    for each in found:
        for ends in ("all",) if each.kind == "noise" else ("any", "both"):
            tally = each.any if ends == "all" else getattr(each, ends)
            counts = [str(sum(tally.positives)), str(sum(tally.negatives))]
            shown = [f"{tally.before:.4f}", f"{tally.after:.4f}", f"{tally.after - tally.before:+.4f}"]
            table.add_row(f"{each.fraction:g}", ends, *counts, *(shown if tally.comparisons else ["-"] * 3))
    console = Console(width=88)
    with console.capture() as capture:
        console.print(table)
    return capture.get().rstrip()

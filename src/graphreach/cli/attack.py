"""``graphreach attack``: what a finished run still says when colluding nodes add edges."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import graphreach as gr
from graphreach.cli import run_options as options
from graphreach.cli.group import say
from graphreach.cli.output import check_output
from graphreach.cli.predict import Run
from graphreach.cli.train import SOURCE
from graphreach.files import replacing
from graphreach.plot import require_matplotlib
from graphreach.progress import stage

PLOTS = [".png", ".pdf", ".svg"]


def attack(
    run: Run,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind", metavar="NAME", help="clique, hubs (links only) or noise; by default hubs for links, else clique."
        ),
    ] = None,
    fraction: Annotated[
        float, typer.Option("--fraction", metavar="SHARE", help="Share of nodes that collude; for noise, of edges.")
    ] = 0.1,
    groups: Annotated[int, typer.Option("--groups", min=1, metavar="N", help="Groups, one attack each.")] = 5,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, metavar="N", help="Of the groups; the run's by default.")
    ] = None,
    curve: Annotated[
        str | None, typer.Option("--curve", metavar="A,B,...", help="Several fractions instead of one.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="AUC against the fraction; .png .pdf .svg, with a .csv beside it."),
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
    found = attacks.curve(
        trained, _split(run, trained, labels, label_column), fractions, kind, groups=groups, seed=seed
    )
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


def _split(run: Path, trained: Any, labels: Path | None, column: str | None) -> Any:
    """The run's own split, made again."""
    from graphreach import datasets
    from graphreach.tables import read_features, read_labels
    from graphreach.training.harness import describe, make_splits
    from graphreach.training.outcome import RECORD
    from graphreach.training.record import read_json

    source, record, settings = read_json(run / SOURCE), read_json(run / RECORD), trained.settings
    if settings.task == "node":
        raise gr.InputError("RUN must be of task link or pair, got one of task node")
    path = Path(source["graph"])
    with stage("reading the graph"):
        if path.exists():
            graph, x, y = gr.read_graph(path, **source["options"]), None, None
            if settings.task == "pair" and labels is None:
                raise gr.InputError(
                    "--labels must be given, the file that the run of task pair was trained with, got none"
                )
            if labels is not None:
                y, _ = read_labels(labels, graph, label=column)
            if source["features"]:
                x = read_features(Path(source["features"]), graph)
            data = datasets.Dataset(path.name, (datasets.Sample(graph, x, y),))
        elif source["graph"].lower() in datasets.names():
            data = datasets.load(source["graph"].lower())
            options.one_graph(data)
        else:
            raise gr.InputError(f"RUN must have its graph at {path}, where it is not any more")
    (split,) = make_splits(data, settings)
    trained_on = {key: record["data"][key] for key in ("nodes", "edges")} | {"test pairs": record["test_examples"]}
    here = {key: describe(data)[key] for key in ("nodes", "edges")} | {"test pairs": len(split.test)}
    if here != trained_on:
        raise gr.InputError(f"RUN must have the graph and labels it was trained with, {trained_on}, got {here}")
    return split


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
    with replacing(path.with_suffix(".csv")) as partial:
        pl.DataFrame(rows).write_csv(partial)
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

"""``graphreach attack``: what a finished run still says when colluding nodes add edges."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import graphreach as gr
from graphreach.cli import options
from graphreach.cli.data import one_graph, read_run_data
from graphreach.cli.group import say
from graphreach.cli.options import check_output, option
from graphreach.cli.output import table_text
from graphreach.io.files import replacing
from graphreach.io.writers import write_table
from graphreach.plot import require_matplotlib

KIND = "clique, hubs (links only) or noise."
FRACTION = "Share of nodes that collude; for noise, share of edges."
PLOT = "Plot of AUC against the fraction; .png .pdf .svg, with its numbers in a .csv."


def attack(
    run: options.Run,
    kind: Annotated[str | None, option("--kind", KIND, "NAME", "hubs for links, else clique")] = None,
    fraction: Annotated[float, option("--fraction", FRACTION, "SHARE")] = 0.1,
    groups: Annotated[int, option("--groups", "Number of groups, one attack each.", "N", min=1)] = 5,
    seed: Annotated[int | None, option("--seed", "Random seed for the groups.", "N", "that of the run", min=0)] = None,
    curve: Annotated[
        str | None, option("--curve", "Several fractions instead of one.", "A,B,...", "the one of --fraction")
    ] = None,
    plot: Annotated[Path | None, option("--plot", PLOT, "FILE", "none")] = None,
    labels: options.Labels = None,
    label_column: options.LabelColumn = None,
    json_: options.Json = False,
) -> None:
    """Add edges between colluding nodes and score a run's test pairs before and after; nothing is trained again.

    "any" are test pairs with a colluder at one end or both, "both" those with colluders at both ends. A run remembers where
    its labels are; --labels names the file if it has moved.
    """
    fractions = [fraction] if curve is None else _numbers(curve)
    if plot is not None:
        require_matplotlib()
        check_output(plot, [".png", ".pdf", ".svg"], "--plot")
    from graphreach import attacks, training
    from graphreach.training.run_folder import RunFolder

    settings = RunFolder(run).settings
    if settings.task == "node":
        raise gr.InputError("RUN must be of task link or pair, got one of task node")
    trained = (training.load_run if settings.method in training.FITTED else training.TrainedRun)(run)
    own = read_run_data(run, trained.settings, labels, label_column)
    one_graph(own.data)
    found = attacks.curve(trained, own.splits[0], fractions, kind, groups=groups, seed=seed)
    rows = [each.to_dict() for each in found]
    if plot is not None:
        _draw(found, plot)
    typer.echo(json.dumps(rows if curve is not None else rows[0]) if json_ else _table(found))


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
    first, rows = found[0], []
    for each in found:
        for ends in ("all",) if each.kind == "noise" else ("any", "both"):
            tally = each.any if ends == "all" else getattr(each, ends)
            counts = [str(sum(tally.positives)), str(sum(tally.negatives))]
            shown = [f"{tally.before:.4f}", f"{tally.after:.4f}", f"{tally.after - tally.before:+.4f}"]
            rows.append([f"{each.fraction:g}", ends, *counts, *(shown if tally.comparisons else ["-"] * 3)])
    columns = ("fraction", "ends", "positives", "negatives", "AUC before", "after", "change")
    title = f"{first.kind} on {first.method}, {first.task}: {first.groups} groups"
    return table_text(columns, rows, left="ends", width=88, title=title)

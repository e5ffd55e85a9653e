"""``graphreach compare``: several models on one graph, on equal terms."""

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from graphreach.cli import run_options as options
from graphreach.cli.graph_options import GraphFile, with_graph
from graphreach.cli.group import say
from graphreach.cli.output import check_output_folder
from graphreach.errors import InputError


@with_graph
def compare(
    file: GraphFile,
    models: Annotated[
        str,
        typer.Option("--models", "-m", metavar="A,B,...", help="Names, or a+b for scores added; see --help of train."),
    ] = "graphreach,pgnn-e,gcn,common-neighbours",
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of the runs, the table and the chart.")
    ] = Path("comparison"),
    seeds: Annotated[int, typer.Option("--seeds", min=1, metavar="N", help="Runs of each model.")] = 3,
    task: options.Task = None,
    labels: options.Labels = None,
    label_column: options.LabelColumn = None,
    features: options.Features = None,
    preset: options.Preset = None,
    epochs: options.Epochs = None,
    config: options.Config = None,
    set_: options.Set = None,
    json_: options.Json = False,
) -> None:
    """Train several models on the same splits and show their test metrics as a table and a bar chart.

    Runs that are already in the folder are not repeated.
    """
    from graphreach import training

    check_output_folder(output)
    base = training.Settings.read(config, set_ or [], task=task, preset=preset, epochs=epochs)
    names = [name.strip() for name in models.split(",") if name.strip()]
    if not names:
        raise InputError(f"--models must name at least one model, got {models!r}")
    data, _ = options.load_data(file, labels, label_column, features)
    rows = []
    for name in names:
        runs = [
            training.run(
                data,
                base.model_copy(update={"method": name, "seed": base.seed + seed}),
                output / "runs" / f"{name}-{seed}",
            )
            for seed in range(seeds)
        ]
        rows.append(_row(name, [each.record for each in runs]))
        say(f"{name}: test AUC {rows[-1]['auc']:.4f}")
    _save(output, rows)
    typer.echo(json.dumps(rows) if json_ else _table(rows))
    say(f"the chart is {output / 'comparison.png'}")


def _row(name: str, records: list[dict[str, Any]]) -> dict[str, Any]:
    found = {key: [record["metrics"]["test"][key] for record in records] for key in records[0]["metrics"]["test"]}
    row: dict[str, Any] = {"model": name, "seeds": len(records)}
    for key, values in found.items():
        row[key], row[f"{key}_std"] = float(np.mean(values)), float(np.std(values))
    row["seconds"] = float(np.mean([sum(record["seconds"].values()) for record in records]))
    return row


def _save(folder: Path, rows: list[dict[str, Any]]) -> None:
    from graphreach import plot
    from graphreach.files import replacing
    from graphreach.training.record import write_json

    write_json(folder / "comparison.json", rows)
    figure, ax = plot.new_figure()
    columns = [[row[key] for row in rows] for key in ("model", "auc", "auc_std")]
    plot.plot_comparison(*columns, ax=ax)
    with replacing(folder / "comparison.png") as partial:
        figure.savefig(partial, dpi=120)


def _table(rows: list[dict[str, Any]]) -> str:
    from rich.console import Console
    from rich.table import Table

    shown = [key for key in rows[0] if f"{key}_std" in rows[0]]
    table = Table()
    table.add_column("model")
    for key in [*shown, "seconds"]:
        table.add_column(key, justify="right")
    for row in rows:
        cells = [f"{row[key]:.4f} ± {row[key + '_std']:.4f}" if key in row else "" for key in shown]
        table.add_row(row["model"], *cells, f"{row['seconds']:.1f}")
    console = Console(width=max(72, 24 * (len(shown) + 2)))
    with console.capture() as capture:
        console.print(table)
    return capture.get().rstrip()

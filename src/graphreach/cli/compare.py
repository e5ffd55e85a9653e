"""``graphreach compare``: several models on one graph, on equal terms."""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import graphreach as gr
from graphreach.cli import run_options as options
from graphreach.cli.graph_options import GraphFile, with_graph
from graphreach.cli.group import say
from graphreach.cli.options import option
from graphreach.cli.output import check_output_folder
from graphreach.cli.summary import figures, leak_check

MODELS = {
    "link": "graphreach,pgnn-e,gcn,common-neighbours",
    "pair": "graphreach,pgnn-e,gcn,common-neighbours",
    "node": "graphreach,pgnn-e,gcn,sage",
}
"""What is compared on each task unless models are named."""

SHOWN = "graphreach, pgnn-e, gcn and, for nodes, sage, else common-neighbours"
FOLDER = "comparison- and a hash of data and settings"


@with_graph
def compare(
    file: GraphFile,
    models: Annotated[str | None, option("--models -m", "Names, or a+b for scores added.", "A,B,...", SHOWN)] = None,
    output: Annotated[
        Path | None, option("--output -o", "Folder of the runs, the table and the chart.", "DIR", FOLDER)
    ] = None,
    seeds: Annotated[int, option("--seeds", "Runs of each model.", "N", min=1)] = 3,
    task: options.Task = None,
    labels: options.Labels = None,
    label_column: options.LabelColumn = None,
    features: options.Features = None,
    protocol: options.Protocol = None,
    preset: options.Preset = None,
    epochs: options.Epochs = None,
    device: options.Device = None,
    config: options.Config = None,
    set_: options.Set = None,
    json_: options.Json = False,
) -> None:
    """Train several models on the same splits and show their test metrics as a table and a bar chart.

    Runs that are already in the folder are not repeated, and an interrupted one goes on; each can be given to graphreach
    predict, evaluate and report. What the metrics are, graphreach evaluate --help says.
    """
    from graphreach import plot, training
    from graphreach.training.plan import check_effect

    plot.require_matplotlib()
    check_output_folder(Path() if output is None else output)
    tables = options.Tables(labels, label_column, features)
    chosen = {"task": task, "protocol": protocol, "preset": preset, "epochs": epochs, "device": device}
    _refuse_method(config, set_ or [])
    listed = _names(models)
    base = options.read_settings(file, tables, config, set_, **chosen, method="+".join(listed) or None)
    names = listed or MODELS[base.task].split(",")
    options.check_effect(names, set_, tables, **chosen)
    each = {
        name: [base.model_copy(update={"method": name, "seed": base.seed + seed}) for seed in range(seeds)]
        for name in names
    }
    for settings in each.values():
        check_effect(settings[0])
    data, classes = options.load_data(file, tables)
    for settings in each.values():
        training.check_run(settings[0], len(data))
    folder = output or Path(f"comparison-{_content(data, base)}")
    source = options.describe_source(file, tables, classes)
    rows, leaks = [], ""
    for name, own in each.items():
        places = [folder / "runs" / f"{name}-{number}" for number in range(seeds)]
        records = [training.run(data, *pair, source=source).record for pair in zip(own, places, strict=True)]
        rows.append(_row(name, records))
        leaks = leak_check(records[0]) or leaks
        say(f"{name}: test {figures({key: rows[-1][key] for key in records[0]['metrics']['test']})}")
    _save(folder, rows)
    typer.echo(json.dumps(rows) if json_ else _table(rows))
    say(f"{base.task}, split {base.protocol}{leaks}")
    say(f"the chart and the runs are in {folder}")


def _names(models: str | None) -> list[str]:
    """The models that were asked for; none where the task chooses."""
    names = [name.strip() for name in (models or "").split(",") if name.strip()]
    if models is not None and not names:
        raise gr.InputError(f"--models must name at least one model, got {models!r}")
    if len(set(names)) < len(names):
        raise gr.InputError(f"--models must name each model once, got {models!r}")
    return names


def _refuse_method(config: Path | None, changes: list[str]) -> None:
    """Refuse a method among the settings: --models says what is compared."""
    from graphreach.training.settings_text import change, read_yaml

    values = {} if config is None else read_yaml(config)
    for text in changes:
        change(values, text)
    if "method" in values:
        raise gr.InputError(f"method must be given as --models, which compare runs, got {values['method']!r}")


def _content(data: Any, base: Any) -> str:
    """A short hash of the data, of how they are split and of the settings that all models share."""
    from graphreach.training.harness import make_splits
    from graphreach.training.run_folder import content_hashes

    settings = base.model_dump(mode="json", exclude={"method"})
    content = {"data": content_hashes(data, make_splits(data, base)), "settings": settings}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:10]


def _row(name: str, records: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over seeds and, of several, their standard deviations."""
    found = {key: [record["metrics"]["test"][key] for record in records] for key in records[0]["metrics"]["test"]}
    row: dict[str, Any] = {"model": name, "seeds": len(records)}
    for key, values in found.items():
        row[key] = float(np.mean(values))
        if len(values) > 1:
            row[f"{key}_std"] = float(np.std(values))
    row["seconds"] = float(np.mean([sum(record["seconds"].values()) for record in records]))
    return row


def _save(folder: Path, rows: list[dict[str, Any]]) -> None:
    from graphreach import plot
    from graphreach.io.files import replacing
    from graphreach.training.run_folder import write_json

    write_json(folder / "comparison.json", rows)
    shown = [row for row in rows if "auc" in row]
    if not shown:  # a test part without examples of both kinds
        return
    figure, ax = plot.new_figure()
    spread = [row["auc_std"] for row in shown if "auc_std" in row]
    plot.plot_comparison([row["model"] for row in shown], [row["auc"] for row in shown], spread or None, ax=ax)
    with replacing(folder / "comparison.png") as partial:
        figure.savefig(partial, dpi=120)


def _table(rows: list[dict[str, Any]]) -> str:
    from rich.console import Console
    from rich.table import Table

    other = ("model", "seeds", "seconds")
    shown = list(dict.fromkeys(key for row in rows for key in row if key not in other and not key.endswith("_std")))
    table = Table()
    table.add_column("model")
    for key in [*shown, "seconds"]:
        table.add_column(key, justify="right")
    for row in rows:
        table.add_row(row["model"], *(_cell(row, key) for key in shown), f"{row['seconds']:.1f}")
    console = Console(width=max(72, 24 * (len(shown) + 2)))
    with console.capture() as capture:
        console.print(table)
    return capture.get().rstrip()


def _cell(row: dict[str, Any], key: str) -> str:
    """A mean, with the standard deviation if there are several seeds.

    Example:
        >>> _cell({"auc": 0.5}, "auc"), _cell({"auc": 0.5, "auc_std": 0.1}, "auc")
        ('0.5000', '0.5000 ± 0.1000')
    """
    if key not in row:
        return ""
    return f"{row[key]:.4f}" + (f" ± {row[f'{key}_std']:.4f}" if f"{key}_std" in row else "")

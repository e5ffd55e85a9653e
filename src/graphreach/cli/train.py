"""``graphreach train`` and ``graphreach compare``: one model, or several on equal terms, on a user's own graph."""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import graphreach as gr
from graphreach.cli import options
from graphreach.cli.data import GraphFile, Tables, describe_source, load_data, with_graph
from graphreach.cli.group import say
from graphreach.cli.options import check_output_folder, option
from graphreach.cli.output import leak_check, metrics_text, say_plan, summary, table_text

if TYPE_CHECKING:
    from graphreach import training

MODEL = "reach, graphreach, pgnn-e, gcn, ...; a+b adds the scores of both."
DEFAULT = "reach"
"""The model that is trained unless another is named."""

PAIRS = "reach,graphreach,pgnn-e,gcn,common-neighbours"
MODELS = {"link": PAIRS, "pair": PAIRS, "node": "reach,graphreach,pgnn-e,gcn,sage"}
"""Models that are compared on each task unless others are named."""

SHOWN = "reach, graphreach, pgnn-e, gcn and, for nodes, sage, else common-neighbours"
FOLDER = "comparison- and a hash of data and settings"


@with_graph
def train(
    file: GraphFile,
    output: Annotated[Path, option("--output -o", "Folder of the run.", "DIR", False)],
    task: options.Task = None,
    model: Annotated[str | None, option("--model -m", MODEL, "NAME", DEFAULT)] = None,
    labels: options.Labels = None,
    label_column: options.LabelColumn = None,
    features: options.Features = None,
    protocol: options.Protocol = None,
    test_pairs: options.TestPairs = None,
    val_pairs: options.ValPairs = None,
    negatives: options.Negatives = None,
    keep_connected: options.KeepConnected = False,
    preset: options.Preset = None,
    epochs: options.Epochs = None,
    seed: options.Seed = None,
    device: options.Device = None,
    config: options.Config = None,
    set_: options.Set = None,
    tensorboard: Annotated[bool, option("--tensorboard", "Write curves to DIR/tensorboard.", default="off")] = False,
    engine: options.EngineName = "local",
    address: options.Address = None,
    workers: options.Workers = None,
    verbose: options.Verbose = False,
    json_: options.Json = False,
) -> None:
    """Train a model, and score the test examples once.

    Links, pairs and classes of nodes are learned from what reachability says about them; --model graphreach trains the
    paper's embedding instead and keeps the epoch that is best on validation data. Training starts from random weights,
    never from the model that ships with the package, which has seen links of public graphs.

    GRAPH is a file or the name of a data set (see graphreach datasets). With --labels and no --task, the model learns the
    classes of the nodes; a node with several rows in the table has several labels, which model reach learns. An
    interrupted run is resumed when the command is repeated. The metrics are explained by graphreach evaluate --help.
    """
    from graphreach import training
    from graphreach.training.settings import FITTED

    check_output_folder(output)
    tables = Tables(labels, label_column, features, test_pairs, val_pairs)
    chosen = {
        "task": task, "method": model, "protocol": protocol, "preset": preset, "epochs": epochs, "seed": seed,
        "device": device, "negatives": negatives, "keep_connected": keep_connected or None,
    }  # fmt: skip
    chosen["method"] = model or _default_model(config, set_ or [])
    settings = _read_settings(file, tables, config, set_, chosen)
    _check_effect([settings.method], set_, tables, chosen)
    if engine != "local" and settings.method in FITTED:
        raise gr.InputError(f"--engine must be local for method {settings.method!r}, got {engine!r}")
    if tensorboard and not any(name in training.METHODS for name in settings.method.split("+")):
        raise gr.InputError(f"--tensorboard must go with a method that is trained, got {settings.method!r}")
    where = options.make_engine(engine, address, workers=workers)
    data, classes = load_data(file, tables)
    _say_sides(data, settings)
    _say_times(data, settings)
    if verbose:
        say_plan(settings, data.samples[0])
    source = describe_source(file, tables, classes)
    outcome = training.run(data, settings, output, tensorboard=tensorboard, engine=where, source=source)
    typer.echo(json.dumps(outcome.record) if json_ else summary(outcome.record))
    say(f"the run is in {output}")


def _default_model(config: Path | None, changes: list[str]) -> str | None:
    """The default, if settings name no model; what a file sets for other models is then refused, not ignored."""
    from graphreach.training.plan import check_read

    if "method" in _written(config, changes):
        return None
    check_read([DEFAULT], _written(config, []))
    return DEFAULT


def _written(config: Path | None, changes: list[str]) -> dict[str, Any]:
    """Settings that a file and texts ``key=value`` hold, not checked yet."""
    from graphreach.training.settings_text import change, read_yaml

    values = {} if config is None else read_yaml(config)
    for text in changes:
        change(values, text)
    return values


def _read_settings(
    file: GraphFile, tables: Tables, config: Path | None, changes: list[str] | None, values: dict[str, Any]
) -> "training.Settings":
    """The settings of a run; without a task, labels make it one on nodes, which is said."""
    from graphreach.training import Settings

    on_nodes = tables.labels is not None and tables.test_pairs is None and file.dataset() is None
    if on_nodes and values["task"] is None and "task" not in _written(config, changes or []):
        say("task node, as --labels are given; --task link or --task pair chooses another")
        values = values | {"task": "node"}
    values = _given_protocol(tables, config, changes, values)
    settings = Settings.read(config, changes or [], **values)
    if tables.label_column is not None and tables.labels is None:
        raise gr.InputError(f"--label-column must go with --labels, got {tables.label_column!r} without")
    if file.dataset() is not None:
        return settings
    if tables.labels is None and settings.task != "link":
        raise gr.InputError(
            f"--labels must be given for task {settings.task}, a table of node ids and classes, got none"
        )
    if tables.labels is not None and settings.task == "link":
        say("--labels are not used to train links; graphreach report colours the nodes by them")
    return settings


def _given_protocol(
    tables: Tables, config: Path | None, changes: list[str] | None, values: dict[str, Any]
) -> dict[str, Any]:
    """Values of settings, with the protocol that goes with the user's own pairs."""
    from graphreach.training import Settings

    settings = Settings.read(config, changes or [], **values)
    protocol = settings.protocol if "protocol" in settings.model_fields_set else None
    if tables.test_pairs is None:
        if tables.val_pairs is not None:
            raise gr.InputError(f"--val-pairs must go with --test-pairs, got {tables.val_pairs} without")
        if protocol == "given":
            raise gr.InputError("--test-pairs must be given for protocol 'given', a table of links, got none")
        return values
    if settings.task != "link":
        raise gr.InputError(f"--test-pairs must go with task link, got task {settings.task}")
    if protocol not in (None, "given"):
        raise gr.InputError(f"--test-pairs must go without a protocol, as they are the split, got {protocol!r}")
    if settings.keep_connected:
        raise gr.InputError("--keep-connected must go without --test-pairs, as they are the split, got both")
    return values | {"task": "link", "protocol": "given"}


def _say_sides(data: Any, settings: "training.Settings") -> None:
    """Say what is assumed about negatives of a graph that was read as one with two kinds of nodes."""
    known = any(sample.graph.sides is not None for sample in data.samples)
    if known and settings.task == "link" and settings.bipartite is None:
        say("negatives are between the two kinds of nodes; --set bipartite=false draws them among all")


def _say_times(data: Any, settings: "training.Settings") -> None:
    """Say that links could be split by their times where a random split is made."""
    known = any(sample.graph.time is not None for sample in data.samples)
    if known and settings.task == "link" and settings.protocol not in ("time", "given"):
        say("edges have times; --protocol time trains on the past, and this split is random")


def _check_effect(methods: list[str], changes: list[str] | None, tables: Tables, values: dict[str, Any]) -> None:
    """Refuse what was asked for and would change nothing, for any of the methods."""
    from graphreach.training.plan import check_read

    given = [change.partition("=")[0].split(".")[0].strip() for change in changes or []]
    given += [name for name, value in values.items() if value is not None]
    check_read(methods, given + (["features"] if tables.features is not None else []))


@with_graph
def compare(
    file: GraphFile,
    models: Annotated[str | None, option("--models -m", "Models; a+b adds scores.", "A,B,...", SHOWN)] = None,
    output: Annotated[
        Path | None, option("--output -o", "Folder of the runs, the table and the chart.", "DIR", FOLDER)
    ] = None,
    seeds: Annotated[int, option("--seeds", "Number of runs of each model.", "N", min=1)] = 3,
    task: options.Task = None,
    labels: options.Labels = None,
    label_column: options.LabelColumn = None,
    features: options.Features = None,
    protocol: options.Protocol = None,
    test_pairs: options.TestPairs = None,
    val_pairs: options.ValPairs = None,
    negatives: options.Negatives = None,
    keep_connected: options.KeepConnected = False,
    preset: options.Preset = None,
    epochs: options.Epochs = None,
    device: options.Device = None,
    config: options.Config = None,
    set_: options.Set = None,
    json_: options.Json = False,
) -> None:
    """Train several models on the same splits and show their test metrics as a table and a bar chart.

    Runs that are already in the folder are not repeated, and an interrupted one continues. graphreach predict, evaluate and
    report read each of them, and graphreach evaluate --help explains the metrics.
    """
    from graphreach import plot, training
    from graphreach.training.plan import check_effect, check_labels

    plot.require_matplotlib()
    check_output_folder(Path() if output is None else output)
    tables = Tables(labels, label_column, features, test_pairs, val_pairs)
    chosen = {
        "task": task, "protocol": protocol, "preset": preset, "epochs": epochs, "device": device,
        "negatives": negatives, "keep_connected": keep_connected or None,
    }  # fmt: skip
    _refuse_method(config, set_ or [])
    listed = _names(models)
    base = _read_settings(file, tables, config, set_, chosen | {"method": "+".join(listed) or None})
    names = listed or MODELS[base.task].split(",")
    _check_effect(names, set_, tables, chosen)
    each = {
        name: [base.model_copy(update={"method": name, "seed": base.seed + seed}) for seed in range(seeds)]
        for name in names
    }
    for settings in each.values():
        check_effect(settings[0])
    data, classes = load_data(file, tables)
    _say_sides(data, base)
    _say_times(data, base)
    for settings in each.values():
        training.check_run(settings[0], len(data))
        check_labels(settings[0], data.several_labels)
    folder = output or Path(f"comparison-{_content(data, base)}")
    source = describe_source(file, tables, classes)
    rows, leaks = [], ""
    for name, own in each.items():
        places = [folder / "runs" / f"{name}-{number}" for number in range(seeds)]
        records = [training.run(data, *pair, source=source).record for pair in zip(own, places, strict=True)]
        rows.append(_row(name, records))
        leaks = leak_check(records[0]) or leaks
        say(f"{name}: test {metrics_text({key: rows[-1][key] for key in records[0]['metrics']['test']})}")
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
    values = _written(config, changes)
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
    row: dict[str, Any] = {"model": name, "seeds": len(records)}
    for key in records[0]["metrics"]["test"]:
        values = [record["metrics"]["test"][key] for record in records]
        row[key] = float(np.mean(values))
        if len(values) > 1:
            row[f"{key}_std"] = float(np.std(values))
    row["seconds"] = float(np.mean([sum(record["seconds"].values()) for record in records]))
    return row


def _save(folder: Path, rows: list[dict[str, Any]]) -> None:
    from graphreach import plot
    from graphreach.io.files import replacing
    from graphreach.io.records import write_json

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
    other = ("model", "seeds", "seconds")
    shown = list(dict.fromkeys(key for row in rows for key in row if key not in other and not key.endswith("_std")))
    cells = ([row["model"], *(_cell(row, key) for key in shown), f"{row['seconds']:.1f}"] for row in rows)
    return table_text(["model", *shown, "seconds"], cells, left="model", width=max(72, 24 * (len(shown) + 2)))


def _cell(row: dict[str, Any], key: str) -> str:
    """A mean, with the standard deviation if there are several seeds.

    Example:
        >>> _cell({"auc": 0.5}, "auc"), _cell({"auc": 0.5, "auc_std": 0.1}, "auc")
        ('0.5000', '0.5000 ± 0.1000')
    """
    if key not in row:
        return ""
    return f"{row[key]:.4f}" + (f" ± {row[f'{key}_std']:.4f}" if f"{key}_std" in row else "")

"""``graphreach train``: a model on a user's own graph."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from graphreach.cli import run_options as options
from graphreach.cli.graph_options import GraphFile, with_graph
from graphreach.cli.group import say
from graphreach.cli.output import check_output_folder

SOURCE = "source.json"


@with_graph
def train(
    file: GraphFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="The run's folder.", show_default=False)
    ],
    task: options.Task = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME", help="graphreach, pgnn-e, gcn, ...; a+b adds scores of both."),
    ] = None,
    labels: options.Labels = None,
    label_column: options.LabelColumn = None,
    features: options.Features = None,
    protocol: Annotated[
        str | None,
        typer.Option("--protocol", metavar="NAME", help="published, clean, node-disjoint or graph-disjoint."),
    ] = None,
    preset: options.Preset = None,
    epochs: options.Epochs = None,
    seed: options.Seed = None,
    config: options.Config = None,
    set_: options.Set = None,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Write curves to DIR/tensorboard.")] = False,
    engine: options.Engine = "local",
    address: options.Address = None,
    workers: options.Workers = None,
    json_: options.Json = False,
) -> None:
    """Train a model and keep the one that is best on validation data.

    GRAPH is a file or the name of a data set (see graphreach datasets). A run that was interrupted goes on where it was.
    """
    from graphreach import training
    from graphreach.training.engine import Engine

    check_output_folder(output)
    settings = training.Settings.read(
        config, set_ or [], task=task, method=model, protocol=protocol, preset=preset, epochs=epochs, seed=seed
    )
    Engine.make(engine, address, workers)
    data, classes = options.load_data(file, labels, label_column, features)
    outcome = training.run(
        data, settings, output, tensorboard=tensorboard, engine=engine, address=address, workers=workers,
        source=_source(file, features, classes),
    )  # fmt: skip
    if json_:
        typer.echo(json.dumps(outcome.record))
    else:
        typer.echo(summary(outcome.record))
    say(f"the run is in {output}")


def summary(record: dict[str, Any]) -> str:
    """A run in a few lines.

    Example:
        >>> record = {"settings": {"method": "gcn", "task": "link"}, "metrics": {"test": {"auc": 0.9}}, "seconds": {}}
        >>> print(summary(record))
        gcn, link: test auc 0.9000
    """
    found = ", ".join(f"{name} {value:.4f}" for name, value in record["metrics"]["test"].items())
    lines = [f"{record['settings']['method']}, {record['settings']['task']}: test {found}"]
    if "best_epoch" in record:
        lines.append(f"chosen on validation at epoch {record['best_epoch']} of {record['epochs']}")
    if "cluster" in record:
        lines.append("trained by {workers} workers with {cores} cores, nodes: {nodes}".format(**record["cluster"]))
    if record["seconds"]:
        lines.append("seconds: " + ", ".join(f"{name} {value:.1f}" for name, value in record["seconds"].items()))
    return "\n".join(lines)


def _source(file: GraphFile, features: Path | None, classes: list[Any]) -> dict[str, Any]:
    """How to read the graph again."""
    return {
        "graph": str(file.graph.resolve()) if file.graph.is_file() else str(file.graph),
        "options": {name: _plain(value) for name, value in file.arguments().items()},
        "features": None if features is None else str(features.resolve()),
        "classes": classes,
    }


def _plain(value: Any) -> Any:
    return str(value.resolve()) if isinstance(value, Path) else value

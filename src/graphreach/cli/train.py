"""``graphreach train``: a model on a user's own graph."""

import json
from pathlib import Path
from typing import Annotated

import typer

import graphreach as gr
from graphreach.cli import engine_options as engines
from graphreach.cli import run_options as options
from graphreach.cli.graph_options import GraphFile, with_graph
from graphreach.cli.group import say
from graphreach.cli.options import option
from graphreach.cli.output import check_output_folder
from graphreach.cli.summary import summary


@with_graph
def train(
    file: GraphFile,
    output: Annotated[Path, option("--output -o", "The run's folder.", "DIR", False)],
    task: options.Task = None,
    model: Annotated[
        str | None, option("--model -m", "graphreach, pgnn-e, gcn, ...; a+b adds scores of both.", "NAME", "graphreach")
    ] = None,
    labels: options.Labels = None,
    label_column: options.LabelColumn = None,
    features: options.Features = None,
    protocol: options.Protocol = None,
    preset: options.Preset = None,
    epochs: options.Epochs = None,
    seed: options.Seed = None,
    device: options.Device = None,
    config: options.Config = None,
    set_: options.Set = None,
    tensorboard: Annotated[bool, option("--tensorboard", "Write curves to DIR/tensorboard.", default="off")] = False,
    engine: engines.Name = "local",
    address: engines.Address = None,
    workers: engines.Workers = None,
    verbose: options.Verbose = False,
    json_: options.Json = False,
) -> None:
    """Train a model and keep the one that is best on validation data.

    GRAPH is a file or the name of a data set (see graphreach datasets). With --labels and no --task, the classes of nodes
    are learned. A run that was interrupted goes on where it was. What the metrics are, graphreach evaluate --help says.
    """
    from graphreach import training

    check_output_folder(output)
    tables = options.Tables(labels, label_column, features)
    chosen = {
        "task": task,
        "method": model,
        "protocol": protocol,
        "preset": preset,
        "epochs": epochs,
        "seed": seed,
        "device": device,
    }
    settings = options.read_settings(file, tables, config, set_, **chosen)
    options.check_effect([settings.method], set_, tables, **chosen)
    if tensorboard and not any(name in training.METHODS for name in settings.method.split("+")):
        raise gr.InputError(f"--tensorboard must go with a method that is trained, got {settings.method!r}")
    where = engines.make_engine(engine, address, workers=workers)
    data, classes = options.load_data(file, tables)
    if verbose:
        options.say_plan(settings, data.samples[0])
    outcome = training.run(
        data, settings, output, tensorboard=tensorboard, engine=where,
        source=options.describe_source(file, tables, classes),
    )  # fmt: skip
    typer.echo(json.dumps(outcome.record) if json_ else summary(outcome.record))
    say(f"the run is in {output}")

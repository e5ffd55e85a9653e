"""The data of a finished run, found again."""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import graphreach as gr
from graphreach.cli import run_options as options
from graphreach.cli.train import SOURCE
from graphreach.progress import stage

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of graphreach train.", show_default=False)]
GraphOption = Annotated[
    Path | None,
    typer.Option("--graph", metavar="FILE", help="Another graph, or the same one grown; the run's own by default."),
]


class Opened(NamedTuple):
    """A run and what it speaks of."""

    run: Any
    graph: gr.Graph
    x: Any
    classes: list[Any]


def open_run(folder: Path, graph: Path | None, features: Path | None) -> Opened:
    """The model of a run with all edges of its graph, or with another graph."""
    from graphreach import training
    from graphreach.tables import read_features
    from graphreach.training.record import read_json

    run = training.TrainedRun(folder)
    source = read_json(folder / SOURCE)
    with stage("reading the graph"):
        found, x = _read(source, graph)
    known = features or (Path(source["features"]) if source["features"] and graph is None else None)
    if known is not None:
        x = read_features(known, found)
    return Opened(run, found, x, source["classes"])


def _read(source: dict[str, Any], graph: Path | None) -> tuple[gr.Graph, Any]:
    path = graph or Path(source["graph"])
    if path.exists():
        return gr.read_graph(path, **source["options"]), None
    from graphreach import datasets

    if graph is None and source["graph"].lower() in datasets.names():
        sample = options.one_graph(datasets.load(source["graph"].lower()))
        return sample.graph, sample.x
    raise gr.InputError(f"--graph must be given, as the run's graph is not at {path} any more")


class Again(NamedTuple):
    """A run's data set of one graph, its split made again, and the names of its classes."""

    data: Any
    split: Any
    classes: list[Any]


def read_again(run: Path, settings: Any, labels: Path | None, column: str | None) -> Again:
    """What a run on pairs was trained and judged on."""
    from graphreach.training.harness import describe, make_splits
    from graphreach.training.outcome import RECORD
    from graphreach.training.record import read_json

    source, record = read_json(run / SOURCE), read_json(run / RECORD)
    if settings.task == "node":
        raise gr.InputError("RUN must be of task link or pair, got one of task node")
    with stage("reading the graph"):
        data, classes = _data(source, settings, labels, column)
    (split,) = make_splits(data, settings)
    trained_on = {key: record["data"][key] for key in ("nodes", "edges")} | {"test pairs": record["test_examples"]}
    here = {key: describe(data)[key] for key in ("nodes", "edges")} | {"test pairs": len(split.test)}
    if here != trained_on:
        raise gr.InputError(f"RUN must have the graph and labels it was trained with, {trained_on}, got {here}")
    return Again(data, split, classes)


def _data(source: dict[str, Any], settings: Any, labels: Path | None, column: str | None) -> tuple[Any, list[Any]]:
    from graphreach import datasets
    from graphreach.tables import read_features, read_labels

    path = Path(source["graph"])
    if not path.exists():
        if source["graph"].lower() not in datasets.names():
            raise gr.InputError(f"RUN must have its graph at {path}, where it is not any more")
        data = datasets.load(source["graph"].lower())
        options.one_graph(data)
        return data, [] if data.classes is None else list(data.classes)
    if settings.task == "pair" and labels is None:
        raise gr.InputError("--labels must be given, the file that the run of task pair was trained with, got none")
    graph = gr.read_graph(path, **source["options"])
    y, classes = (None, []) if labels is None else read_labels(labels, graph, label=column)
    x = read_features(Path(source["features"]), graph) if source["features"] else None
    return datasets.Dataset(path.name, (datasets.Sample(graph, x, y),)), classes

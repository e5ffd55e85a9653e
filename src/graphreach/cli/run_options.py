"""Options of every verb that trains: where settings come from, and what the graph's nodes are known by."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import graphreach as gr
from graphreach.cli.graph_options import GraphFile
from graphreach.progress import stage

Config = Annotated[
    Path | None, typer.Option("--config", "-c", metavar="FILE", help="Settings as YAML; the other options come on top.")
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="KEY=VALUE", help="Any setting, e.g. epochs=500 or model.heads=2; repeatable."),
]
Task = Annotated[str | None, typer.Option("--task", metavar="NAME", help="link, pair or node.", show_default=False)]
Labels = Annotated[
    Path | None,
    typer.Option("--labels", metavar="FILE", help="Table of node ids and classes (.csv .tsv .txt .parquet)."),
]
LabelColumn = Annotated[
    str | None, typer.Option("--label-column", metavar="COLUMN", help="Column of the classes in --labels.")
]
Features = Annotated[
    Path | None,
    typer.Option("--features", metavar="FILE", help="Table of node ids and numbers, or .npy in order of ids."),
]
Epochs = Annotated[int | None, typer.Option("--epochs", min=1, metavar="N", help="At most so many.")]
Preset = Annotated[str | None, typer.Option("--preset", metavar="NAME", help="best, paper or authors.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, max=2**32 - 1, metavar="N", help="Of everything random.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]

Engine = Annotated[
    str, typer.Option("--engine", metavar="NAME", help="local, or ray: steps are shared by workers of a Ray cluster.")
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address", metavar="HOST:PORT", help="Of the Ray cluster; without one a Ray starts on this machine."
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", metavar="N", help="Processes of engine ray that share a step; 2 by default.")
]


def load_data(
    file: GraphFile, labels: Path | None = None, label_column: str | None = None, features: Path | None = None
) -> tuple[Any, list[Any]]:
    """The graph with its features and labels as a data set of one, and the names of the classes.

    A name of a data set that is not a file is loaded by :func:`graphreach.datasets.load`.
    """
    from graphreach import datasets

    if not file.graph.is_file() and str(file.graph).lower() in datasets.names():
        with stage(f"loading {file.graph}"):
            return datasets.load(str(file.graph).lower()), []
    from graphreach.tables import read_features, read_labels

    graph = file.read()
    with stage("reading tables"):
        y, classes = (None, []) if labels is None else read_labels(labels, graph, label=label_column)
        x = None if features is None else read_features(features, graph)
    return datasets.Dataset(file.graph.name, (datasets.Sample(graph, x, y),)), classes


def one_graph(dataset: Any) -> Any:
    """The only graph of a data set."""
    if len(dataset.samples) != 1:
        raise gr.InputError(f"GRAPH must be one graph, got the {len(dataset.samples)} graphs of {dataset.name}")
    return dataset.samples[0]


def plain_ids(graph: gr.Graph, nodes: Any) -> list[Any]:
    """Ids as JSON and tables can hold them."""
    return [
        value if isinstance(value, int | float | str) else str(value) for value in graph.ids[np.asarray(nodes)].tolist()
    ]

"""``graphreach predict`` and ``graphreach evaluate``: what a finished run says about pairs and nodes."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import graphreach as gr
from graphreach.cli import run_options as options
from graphreach.cli.group import say
from graphreach.cli.output import check_output
from graphreach.cli.run_data import GraphNumber, GraphOption, NewAnchors, Run, open_run
from graphreach.cli.train import summary
from graphreach.files import replacing
from graphreach.progress import stage

Pairs = Annotated[Path | None, typer.Option("--pairs", metavar="FILE", help="Table of pairs of ids.")]
Nodes = Annotated[Path | None, typer.Option("--nodes", metavar="FILE", help="Table or list of ids.")]


class _Opened:
    """A run with the graph that it speaks of, embedded."""

    def __init__(
        self, folder: Path, graph: Path | None, features: Path | None, number: int | None, new_anchors: bool
    ) -> None:
        self.run, self.graph, x, self.classes = open_run(folder, graph, features, number, new_anchors)
        with stage("embedding the graph"):
            self.z = self.run.embed(self.graph, x)


def predict(
    run: Run,
    pairs: Pairs = None,
    nodes: Nodes = None,
    graph: GraphOption = None,
    graph_number: GraphNumber = None,
    new_anchors: NewAnchors = False,
    features: options.Features = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help=".csv or .parquet; stdout by default.")
    ] = None,
    json_: options.Json = False,
) -> None:
    """Score pairs (the probability of a link, or of one class) or tell nodes' classes.

    All edges of the graph are used, also those that were held out for testing.
    """
    if (pairs is None) == (nodes is None):
        raise gr.InputError("one of --pairs and --nodes must be given")
    if output is not None:
        check_output(output, [".csv", ".parquet"])
    opened = _Opened(run, graph, features, graph_number, new_anchors)
    table = _pair_table(opened, pairs) if pairs is not None else _node_table(opened, nodes)
    _write(table, output, json_)


def _pair_table(opened: _Opened, path: Path) -> dict[str, Any]:
    from graphreach.tables import read_pairs

    index = read_pairs(path, opened.graph)
    source, target = (options.plain_ids(opened.graph, side) for side in index)
    return {"source": source, "target": target, "score": opened.run.score_pairs(opened.z, index, opened.graph)}


def _node_table(opened: _Opened, path: Path | None) -> dict[str, Any]:
    from graphreach.tables import read_nodes

    index = np.arange(opened.graph.num_nodes) if path is None else read_nodes(path, opened.graph)
    chances = opened.run.class_probabilities(opened.z, index)
    names = opened.classes or list(range(chances.shape[1]))
    best = chances.argmax(1)
    table = {"node": options.plain_ids(opened.graph, index), "class": [names[each] for each in best]}
    return table | {f"p_{name}": chances[:, column] for column, name in enumerate(names)}


def _write(table: dict[str, Any], output: Path | None, as_json: bool) -> None:
    import polars as pl

    frame = pl.DataFrame(table)
    if as_json:
        typer.echo(json.dumps(frame.to_dicts()))
    elif output is None:
        sys.stdout.write(frame.write_csv(float_precision=6))
    else:
        with replacing(output) as partial:
            if output.suffix.lower() == ".csv":
                frame.write_csv(partial, float_precision=6)
            else:
                frame.write_parquet(partial)
        say(f"{len(frame)} rows are in {output}")


def evaluate(
    run: Run,
    pairs: Annotated[
        Path | None, typer.Option("--pairs", metavar="FILE", help="Table of pairs of ids with a column label, 0 or 1.")
    ] = None,
    labels: options.Labels = None,
    label_column: options.LabelColumn = None,
    graph: GraphOption = None,
    graph_number: GraphNumber = None,
    new_anchors: NewAnchors = False,
    features: options.Features = None,
    json_: options.Json = False,
) -> None:
    """Print the metrics of a run's test examples, or of pairs or nodes of your own whose truth is known."""
    from graphreach.training.outcome import read_record

    if pairs is None and labels is None:
        if graph is not None or features is not None or graph_number is not None or label_column is not None:
            raise gr.InputError("evaluate must have --pairs or --labels to say something about a graph, got neither")
        record = read_record(run)
        typer.echo(json.dumps(record["metrics"]) if json_ else summary(record))
        return
    opened = _Opened(run, graph, features, graph_number, new_anchors)
    found = _pair_metrics(opened, pairs) if pairs is not None else _node_metrics(opened, labels, label_column)
    typer.echo(json.dumps(found) if json_ else ", ".join(f"{name} {value:.4f}" for name, value in found.items()))


def _pair_metrics(opened: _Opened, path: Path) -> dict[str, float]:
    from graphreach import tasks
    from graphreach.tables import read_pair_labels

    index, label = read_pair_labels(path, opened.graph)
    scores = opened.run.score_pairs(opened.z, index, opened.graph)
    return tasks.metrics(opened.run.settings.task, scores, tasks.Examples(index, label))


def _node_metrics(opened: _Opened, path: Any, column: str | None) -> dict[str, float]:
    from graphreach import tasks
    from graphreach.tables import read_labels

    y, classes = read_labels(path, opened.graph, label=column)
    names = opened.classes or classes
    unknown = [name for name in classes if name not in names]
    if unknown:
        raise gr.InputError(f"--labels must hold classes that the run knows ({names[:5]}), got {unknown[:3]}")
    index = np.flatnonzero(y >= 0)
    label = np.array([names.index(name) for name in classes])[y[index]]
    chances = opened.run.class_probabilities(opened.z, index)
    return tasks.metrics("node", chances, tasks.Examples(index, label))

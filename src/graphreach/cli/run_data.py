"""The data of a finished run, found again."""

import inspect
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import graphreach as gr
from graphreach.cli.group import say
from graphreach.cli.train import SOURCE
from graphreach.progress import stage

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of graphreach train.", show_default=False)]
GraphOption = Annotated[
    Path | None,
    typer.Option("--graph", metavar="FILE", help="Another graph, or the same one grown; the run's own by default."),
]


GraphNumber = Annotated[
    int | None,
    typer.Option(
        "--graph-number",
        metavar="N",
        help="Which graph of a run on several, from 1 on; by default the one with most test examples.",
        show_default=False,
    ),
]

NewAnchors = Annotated[
    bool,
    typer.Option(
        "--new-anchors",
        help="Choose anchors anew on the graph, which need not have to do with the one that was trained on.",
    ),
]


class Opened(NamedTuple):
    """A run and what it speaks of."""

    run: Any
    graph: gr.Graph
    x: Any
    classes: list[Any]


def open_run(
    folder: Path, graph: Path | None, features: Path | None, number: int | None, new_anchors: bool = False
) -> Opened:
    """The model of a run with all edges of its graph, or with another graph.

    Args:
        folder: Of the run.
        graph: A file with another graph.
        features: A file with features.
        number: Which graph of a run on several, from 1 on; None for the one with most test examples.
        new_anchors: Whether the graph gets anchors of its own.
    """
    from graphreach import training
    from graphreach.tables import read_features

    run = training.TrainedRun(folder, new_anchors=new_anchors)
    source = read_source(folder)
    if graph is not None and number is not None:
        raise gr.InputError(f"--graph-number must not go with --graph, which is one graph, got {number}")
    with stage("reading the graph"):
        found, x = _read(folder, source, graph, number)
    known = features or (Path(source["features"]) if source["features"] and graph is None else None)
    if known is not None:
        x = read_features(known, found)
    if graph is None and number is None:
        _warn_of_change(folder, found)
    return Opened(run, found, x, source["classes"])


def _warn_of_change(folder: Path, graph: gr.Graph) -> None:
    """Say that the run's own graph is not what it was when the run was trained."""
    from graphreach.training.content import CONTENT, content_difference, content_hashes
    from graphreach.training.run_folder import read_content

    if not (folder / CONTENT).exists():
        return
    there = read_content(folder)
    here = {
        "hashes": content_hashes(gr.datasets.Sample(graph), []),
        "sizes": {"graph": {"graphs": 1, "nodes": graph.num_nodes, "edges": graph.num_edges}},
    }
    changed = content_difference(there, here, ["graph"]) if there["sizes"]["graph"]["graphs"] == 1 else None
    if changed:
        say(f"warning: the run's graph has changed since it was trained, it is {changed}")


def read_source(folder: Path) -> dict[str, Any]:
    """Where a run's graph came from; a part of several methods' run has it in the folder above."""
    from graphreach.training.outcome import SETTINGS
    from graphreach.training.record import read_dict
    from graphreach.training.run_folder import read_settings

    own, above = folder.resolve(), folder.resolve().parent
    inside = not (own / SOURCE).exists() and (above / SETTINGS).exists() and (above / SOURCE).exists()
    part = inside and own.name in read_settings(above).method.split("+")
    path = (above if part else folder) / SOURCE
    kinds: dict[str, Any] = {"graph": str, "options": dict, "features": (str, type(None)), "classes": list}
    found = read_dict(path, kinds)
    known = inspect.signature(gr.read_graph).parameters
    odd = [name for name in found["options"] if name not in known]
    if odd:
        raise gr.InputError(f"{path} must hold options for reading the graph, got the unknown {odd[0]!r}")
    return found


def _read(folder: Path, source: dict[str, Any], graph: Path | None, number: int | None) -> tuple[gr.Graph, Any]:
    path = graph or Path(source["graph"])
    if path.is_file():
        _pick(folder, 1, number)
        return gr.read_graph(path, **source["options"]), None
    from graphreach import datasets

    if graph is None and source["graph"].lower() in datasets.names():
        data = datasets.load(source["graph"].lower())
        sample = data[_pick(folder, len(data), number) - 1]
        return sample.graph, sample.x
    raise gr.InputError(f"--graph must be given, as the run's graph is not at {path} any more")


def _pick(folder: Path, count: int, number: int | None) -> int:
    """The number of a graph, said aloud where there are several and none was asked for."""
    from graphreach.training.outcome import RECORD, check_number, read_outcome

    if number is not None or count == 1:
        return check_number(1 if number is None else number, count, "--graph-number")
    if not (folder / RECORD).exists():
        raise gr.InputError(f"--graph-number must be given, from 1 to {count}, as the run did not finish, got none")
    found = read_outcome(folder).pick_graph()
    say(f"graph {found} of {count}; --graph-number picks another")
    return found


class Again(NamedTuple):
    """A run's data set, the splits of its graphs made again, and the names of its classes."""

    data: Any
    splits: list[Any]
    classes: list[Any]


def read_again(run: Path, settings: Any, labels: Path | None, column: str | None) -> Again:
    """What a run was trained and judged on."""
    from graphreach.training.content import CONTENT, KEYS, content_difference, describe_content
    from graphreach.training.harness import describe, make_splits
    from graphreach.training.outcome import read_record
    from graphreach.training.run_folder import read_content

    source, record = read_source(run), read_record(run)
    with stage("reading the graph"):
        data, classes = _data(source, settings, labels, column)
    splits = make_splits(data, settings)
    if (run / CONTENT).exists():
        compared = [key for key in KEYS if key != "labels" or settings.task != "link"]  # there they colour nodes alone
        other = content_difference(read_content(run), describe_content(data, splits), compared)
        if other:
            raise gr.InputError(f"RUN must have the graph and labels it was trained with, got {other}")
    keys, tested = ("graphs", "nodes", "edges"), "test nodes" if settings.task == "node" else "test pairs"
    trained_on = {key: record["data"][key] for key in keys} | {tested: record["test_examples"]}
    here = {key: describe(data)[key] for key in keys} | {tested: sum(len(split.test) for split in splits)}
    if here != trained_on:
        raise gr.InputError(f"RUN must have the graph and labels it was trained with, {trained_on}, got {here}")
    if settings.task == "node" and source["classes"] and classes != source["classes"]:
        raise gr.InputError(
            f"--labels must hold the classes that the run was trained with ({source['classes'][:5]}), got {classes[:5]}"
        )
    return Again(data, splits, classes)


def _data(source: dict[str, Any], settings: Any, labels: Path | None, column: str | None) -> tuple[Any, list[Any]]:
    from graphreach import datasets
    from graphreach.tables import read_features, read_labels

    path = Path(source["graph"])
    if not path.is_file():
        if source["graph"].lower() not in datasets.names():
            raise gr.InputError(f"RUN must have its graph at {path}, where it is not any more")
        data = datasets.load(source["graph"].lower())
        return data, [] if data.classes is None else list(data.classes)
    if settings.task != "link" and labels is None:
        raise gr.InputError(
            f"--labels must be given, the file that the run of task {settings.task} was trained with, got none"
        )
    graph = gr.read_graph(path, **source["options"])
    y, classes = (None, []) if labels is None else read_labels(labels, graph, label=column)
    x = read_features(Path(source["features"]), graph) if source["features"] else None
    return datasets.Dataset(path.name, (datasets.Sample(graph, x, y),)), classes

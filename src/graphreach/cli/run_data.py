"""The data of a finished run, found again."""

import inspect
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import graphreach as gr
from graphreach.cli.group import say
from graphreach.cli.options import option
from graphreach.progress import stage

NUMBER = "Which graph of a run on several, from 1 on."
ANEW = "Choose anchors anew on the graph, which need not have to do with the one that was trained on."

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of graphreach train.", show_default=False)]
GraphOption = Annotated[
    Path | None, option("--graph", "Another graph, or the same one grown.", "FILE", "that of the run")
]
GraphNumber = Annotated[int | None, option("--graph-number", NUMBER, "N", "the one with most test examples")]
NewAnchors = Annotated[bool, option("--new-anchors", ANEW, default="off")]


class LoadedRun(NamedTuple):
    """A run, the graph that it is asked about with its features, and the names of the classes."""

    run: Any
    graph: gr.Graph
    x: Any
    classes: list[Any]


def load_run(
    folder: Path, graph: Path | None, features: Path | None, number: int | None, new_anchors: bool = False,
    model: bool = False,
) -> LoadedRun:  # fmt: skip
    """A run, ready to score, with all edges of its graph, or with another graph.

    Args:
        folder: Folder of the run.
        graph: A file with another graph, read with the options of the run's own.
        features: A file with features.
        number: Which graph of a run on several, from 1 on; None for the one with most test examples.
        new_anchors: Whether the graph gets anchors of its own.
        model: Whether the run must have one model, not several or none.
    """
    from graphreach import training
    from graphreach.io.tables import read_features

    run = (training.TrainedRun if model else training.load_run)(folder, new_anchors=new_anchors)
    source = _read_source(folder)
    if graph is not None and number is not None:
        raise gr.InputError(f"--graph-number must not go with --graph, which is one graph, got {number}")
    if graph is not None and not graph.is_file():
        raise gr.InputError(f"--graph must be a file, got {graph}, which does not exist")
    data = (
        _load_dataset(source, "--graph must be given, as the run's graph is not at {} any more")
        if graph is None
        else None
    )
    place = _pick(folder, 1 if data is None else len(data), number)
    if data is None:
        found, x = _read_graph(graph or Path(source["graph"]), source), None
    else:
        found, x = data[place - 1].graph, data[place - 1].x
    known = features or (Path(source["features"]) if source["features"] and graph is None else None)
    if known is not None:
        x = read_features(known, found, report=say)
    if graph is None and number is None:
        _warn_of_change(folder, found)
    return LoadedRun(run, found, x, source["classes"])


class RunData(NamedTuple):
    """A run's data set, the splits of its graphs made again, and the names of its classes."""

    data: Any
    splits: list[Any]
    classes: list[Any]


def read_run_data(folder: Path, settings: Any, labels: Path | None, column: str | None) -> RunData:
    """What a run was trained and judged on; data that have changed since are refused."""
    from graphreach.training.harness import make_splits
    from graphreach.training.run_folder import KEYS, RunFolder, content_difference, describe_content

    source = _read_source(folder)
    data, classes = _data(source, settings, labels, column)
    splits = make_splits(data, settings)
    there, here = RunFolder(folder).content, describe_content(data, splits)
    keys = [key for key in KEYS if key != "labels" or settings.task != "link"]  # of links they are colours alone
    difference = RunFolder(folder).other_numbers(here) if there is None else content_difference(there, here, keys)
    if difference:
        raise gr.InputError(f"RUN must have the graph and labels it was trained with, got {difference}")
    if settings.task == "node" and source["classes"] and classes != source["classes"]:
        raise gr.InputError(
            f"--labels must hold the classes that the run was trained with ({source['classes'][:5]}), got {classes[:5]}"
        )
    return RunData(data, splits, classes)


def _read_source(folder: Path) -> dict[str, Any]:
    from graphreach.training.run_folder import SOURCE, RunFolder

    source = RunFolder(folder).source
    odd = [name for name in source["options"] if name not in inspect.signature(gr.read_graph).parameters]
    if odd:
        raise gr.InputError(f"{folder / SOURCE} must hold options for reading the graph, got the unknown {odd[0]!r}")
    return source


def _load_dataset(source: dict[str, Any], missing: str) -> Any:
    """The data set that a run was trained on, or None if it was a file."""
    from graphreach import datasets

    if Path(source["graph"]).is_file():
        return None
    if source["graph"].lower() not in datasets.names():
        raise gr.InputError(missing.format(source["graph"]))
    return datasets.load(source["graph"].lower())


def _read_graph(path: Path, source: dict[str, Any]) -> gr.Graph:
    """A graph, read as the run's own was, which is said."""
    with stage("reading the graph"):
        graph = gr.read_graph(path, **source["options"])
    if graph.reading is not None:
        say(str(graph.reading))
    return graph


def _pick(folder: Path, count: int, number: int | None) -> int:
    """The number of a graph; where there are several and none was asked for, a line says which it is."""
    from graphreach.training.outcome import check_graph_number
    from graphreach.training.run_folder import RunFolder

    if number is not None or count == 1:
        return check_graph_number(1 if number is None else number, count, "--graph-number")
    if not RunFolder(folder).finished:
        raise gr.InputError(f"--graph-number must be given, from 1 to {count}, as the run did not finish, got none")
    found = RunFolder(folder).outcome().pick_graph()
    say(f"graph {found} of {count}; --graph-number picks another")
    return found


def _warn_of_change(folder: Path, graph: gr.Graph) -> None:
    """Say that the run's own graph is not what it was when the run was trained."""
    from graphreach.training.run_folder import RunFolder, content_difference, describe_content

    there = RunFolder(folder).content
    if there is None or there["sizes"]["graph"]["graphs"] != 1:
        return
    changed = content_difference(there, describe_content(gr.datasets.Sample(graph), []), ["graph"])
    if changed:
        say(f"warning: the run's graph has changed since it was trained, it is {changed}")


def _data(source: dict[str, Any], settings: Any, labels: Path | None, column: str | None) -> tuple[Any, list[Any]]:
    from graphreach import datasets
    from graphreach.io.tables import read_features, read_labels

    data = _load_dataset(source, "RUN must have its graph at {}, where it is not any more")
    if data is not None:
        return data, [] if data.classes is None else list(data.classes)
    labels, column = _labels(source, settings.task, labels, column)
    graph = _read_graph(Path(source["graph"]), source)
    y, classes = (None, []) if labels is None else read_labels(labels, graph, label=column, report=say)
    x = read_features(Path(source["features"]), graph, report=say) if source["features"] else None
    return datasets.Dataset(Path(source["graph"]).name, (datasets.Sample(graph, x, y),)), classes


def _labels(
    source: dict[str, Any], task: str, labels: Path | None, column: str | None
) -> tuple[Path | None, str | None]:
    """The file and column of the labels: those given, else those that the run remembers."""
    stored = source["labels"]
    if labels is not None or stored is None:
        if labels is None and task != "link":
            raise gr.InputError(
                f"--labels must be given, the file that the run of task {task} was trained with, got none"
            )
        return labels, column
    path = Path(stored["path"])
    if not path.is_file():
        raise gr.InputError(f"--labels must be given, as the run's labels are not at {path} any more")
    return path, stored["column"] if column is None else column

"""The data of a finished run, found again."""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import graphreach as gr
from graphreach.cli.group import say
from graphreach.cli.run_source import read_source
from graphreach.progress import stage

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of graphreach train.", show_default=False)]
GraphOption = Annotated[
    Path | None,
    typer.Option(
        "--graph", metavar="FILE", help="Another graph, or the same one grown.", show_default="that of the run"
    ),
]


GraphNumber = Annotated[
    int | None,
    typer.Option(
        "--graph-number",
        metavar="N",
        help="Which graph of a run on several, from 1 on.",
        show_default="the one with most test examples",
    ),
]

NewAnchors = Annotated[
    bool,
    typer.Option(
        "--new-anchors",
        help="Choose anchors anew on the graph, which need not have to do with the one that was trained on.",
        show_default="off",
    ),
]


class Opened(NamedTuple):
    """A run and what it speaks of."""

    run: Any
    graph: gr.Graph
    x: Any
    classes: list[Any]


def open_run(
    folder: Path,
    graph: Path | None,
    features: Path | None,
    number: int | None,
    new_anchors: bool = False,
    model: bool = False,
) -> Opened:
    """A run, ready to score, with all edges of its graph, or with another graph.

    Args:
        folder: Of the run.
        graph: A file with another graph, read with the options of the run's own.
        features: A file with features.
        number: Which graph of a run on several, from 1 on; None for the one with most test examples.
        new_anchors: Whether the graph gets anchors of its own.
        model: Whether the run must have one model, not several or none.
    """
    from graphreach import training
    from graphreach.io.tables import read_features

    run = (training.TrainedRun if model else training.load_run)(folder, new_anchors=new_anchors)
    source = read_source(folder)
    if graph is not None and number is not None:
        raise gr.InputError(f"--graph-number must not go with --graph, which is one graph, got {number}")
    found, x = _read(folder, source, graph, number)
    known = features or (Path(source["features"]) if source["features"] and graph is None else None)
    if known is not None:
        x = read_features(known, found, report=say)
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


def _read(folder: Path, source: dict[str, Any], graph: Path | None, number: int | None) -> tuple[gr.Graph, Any]:
    path = graph or Path(source["graph"])
    if path.is_file():
        _pick(folder, 1, number)
        return _read_file(path, source), None
    from graphreach import datasets

    if graph is not None:
        raise gr.InputError(f"--graph must be a file, got {graph}, which does not exist")
    if source["graph"].lower() in datasets.names():
        data = datasets.load(source["graph"].lower())
        sample = data[_pick(folder, len(data), number) - 1]
        return sample.graph, sample.x
    raise gr.InputError(f"--graph must be given, as the run's graph is not at {path} any more")


def _read_file(path: Path, source: dict[str, Any]) -> gr.Graph:
    """A graph, read as the run's own was, which is said."""
    with stage("reading the graph"):
        graph = gr.read_graph(path, **source["options"])
    if graph.reading is not None:
        say(str(graph.reading))
    return graph


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
    from graphreach.training.harness import make_splits

    source = read_source(run)
    data, classes = _data(source, settings, labels, column)
    splits = make_splits(data, settings)
    _check_same(run, settings, data, splits)
    if settings.task == "node" and source["classes"] and classes != source["classes"]:
        raise gr.InputError(
            f"--labels must hold the classes that the run was trained with ({source['classes'][:5]}), got {classes[:5]}"
        )
    return Again(data, splits, classes)


def _check_same(run: Path, settings: Any, data: Any, splits: list[Any]) -> None:
    """Refuse a graph, features or labels that have changed since the run was trained."""
    from graphreach.training.content import CONTENT, KEYS, content_difference, describe_content
    from graphreach.training.outcome import read_record
    from graphreach.training.run_folder import read_content

    here = describe_content(data, splits)
    if (run / CONTENT).exists():
        keys = [key for key in KEYS if key != "labels" or settings.task != "link"]  # of links they are colours alone
        difference = content_difference(read_content(run), here, keys)
        if difference:
            raise gr.InputError(f"RUN must have the graph and labels it was trained with, got {difference}")
        return
    record, sizes = read_record(run), here["sizes"]
    counts, tested = ("graphs", "nodes", "edges"), "test nodes" if settings.task == "node" else "test pairs"
    trained_on = {key: record["data"][key] for key in counts} | {tested: record["test_examples"]}
    now = {key: sizes["graph"][key] for key in counts} | {tested: sizes["split"]["test"]}
    if now != trained_on:
        raise gr.InputError(f"RUN must have the graph and labels it was trained with, {trained_on}, got {now}")


def _data(source: dict[str, Any], settings: Any, labels: Path | None, column: str | None) -> tuple[Any, list[Any]]:
    from graphreach import datasets
    from graphreach.io.tables import read_features, read_labels

    path = Path(source["graph"])
    if not path.is_file():
        if source["graph"].lower() not in datasets.names():
            raise gr.InputError(f"RUN must have its graph at {path}, where it is not any more")
        data = datasets.load(source["graph"].lower())
        return data, [] if data.classes is None else list(data.classes)
    labels, column = _labels(source, settings.task, labels, column)
    graph = _read_file(path, source)
    y, classes = (None, []) if labels is None else read_labels(labels, graph, label=column, report=say)
    x = read_features(Path(source["features"]), graph, report=say) if source["features"] else None
    return datasets.Dataset(path.name, (datasets.Sample(graph, x, y),)), classes


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

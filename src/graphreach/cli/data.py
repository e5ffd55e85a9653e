"""The data of a command: a graph with tables of its nodes, or those that a finished run was trained on."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer

import graphreach as gr
from graphreach.arguments import nearest as did_you_mean
from graphreach.cli.completion import complete_graph
from graphreach.cli.group import say
from graphreach.cli.options import option
from graphreach.graph.ids import few_ids
from graphreach.progress import stage

GRAPH = (
    ".csv .tsv .txt .edg .edgelist (each also .gz), .parquet .npz .mtx .graphml .gml .gexf .adjlist .json, "
    "- for standard input, or the name of a data set."
)
FORMAT = "Format: text, edgelist, matrix, parquet, npz, mtx, graphml, gml, gexf, adjlist or json."
REDUCE = "How to merge unequal weights of the two directions: sum, mean, max or min."

GIVEN = ("test_pairs", "val_pairs")
"""Tables of pairs that a run may have been judged on."""

COMPARED = 20_000
"""Ids that one which is not known is compared with."""

_option = partial(option, rich_help_panel="Reading the graph")


@dataclass(frozen=True, kw_only=True)
class GraphFile:
    """The argument GRAPH and the options of :func:`graphreach.read_graph`, for every verb that reads a graph.

    Example:
        >>> GraphFile(graph=Path("roads.csv"), weight="2").arguments()["weight"]
        2
        >>> GraphFile(graph=Path("Communities")).dataset()
        'communities'
    """

    graph: Annotated[
        Path, typer.Argument(metavar="GRAPH", help=GRAPH, show_default=False, autocompletion=complete_graph)
    ]
    format: Annotated[str | None, _option("--format", FORMAT, "NAME", "by the suffix")] = None
    directed: Annotated[
        bool | None,
        _option("--directed/--undirected", "Whether edges are directed.", None, "as the file says, else undirected"),
    ] = None
    source: Annotated[
        str | None,
        _option("--source", "Column of sources: a name, or a number from 0.", "COLUMN", "by its name, else the first"),
    ] = None
    target: Annotated[
        str | None, _option("--target", "Column of targets.", "COLUMN", "by its name, else the second")
    ] = None
    weight: Annotated[str | None, _option("--weight", "Column of weights.", "COLUMN", "detected, and reported")] = None
    unweighted: Annotated[bool, _option("--unweighted", "Ignore weights.", None, "off")] = False
    time: Annotated[
        str | None, _option("--time", "Column of times, which are never weights.", "COLUMN", "by its name or values")
    ] = None
    bipartite: Annotated[
        bool | None,
        _option(
            "--bipartite/--no-bipartite", "Whether sources and targets are two kinds of nodes.", None,
            "if columns are named like user and item",
        ),
    ] = None  # fmt: skip
    nodes: Annotated[
        Path | None,
        _option("--nodes", "Text file of node ids to keep even without an edge.", "FILE", "nodes with an edge"),
    ] = None
    ids: Annotated[str, _option("--ids", "Kind of ids in text files: auto, int or str.", "KIND")] = "auto"
    header: Annotated[
        bool | None, _option("--header/--no-header", "Whether a text file has a header.", None, "detected")
    ] = None
    comments: Annotated[
        str | None, _option("--comments", "Characters that begin a comment line.", "CHARACTERS", "# and %")
    ] = None
    reduce: Annotated[str | None, _option("--reduce", REDUCE, "HOW", "refuse them")] = None
    self_loops: Annotated[bool, _option("--self-loops", "Keep edges from a node to itself.", None, "off")] = False

    def arguments(self) -> dict[str, Any]:
        """The arguments of :func:`graphreach.read_graph`."""
        arguments = asdict(self)
        del arguments["graph"]
        if arguments.pop("unweighted"):
            if self.weight is not None:
                raise gr.InputError(f"--weight must not be given with --unweighted, got {self.weight!r}")
            arguments["weight"] = False
        for name in ("source", "target", "weight", "time"):
            column = arguments[name]
            arguments[name] = int(column) if isinstance(column, str) and column.isdecimal() else column
        return arguments

    def dataset(self) -> str | None:
        """The name of a data set, if the argument is that and not a file."""
        from graphreach import datasets

        name = str(self.graph).lower()
        return name if not self.graph.is_file() and name in datasets.names() else None

    def read(self, **changes: Any) -> gr.Graph:
        """Read the graph, or load it if it is the name of a data set; ``changes`` replace arguments."""
        name = self.dataset()
        if name is None:
            return read_graph(self.graph, self.arguments() | changes)
        with stage(f"loading {name}"):
            graph: gr.Graph = one_graph(gr.datasets.load(name), name).graph
            return graph


def with_graph(verb: Callable[..., None], argument: Any = None) -> Callable[..., None]:
    """Give ``verb(file: GraphFile, ...)`` the argument and the options of a :class:`GraphFile`.

    ``argument`` is the annotation of the argument where it can be something else than a graph.
    """
    hints = get_type_hints(GraphFile, include_extras=True) | ({} if argument is None else {"graph": argument})
    kind, none = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty
    shared = [
        inspect.Parameter(
            each.name, kind, annotation=hints[each.name], default=none if each.default is MISSING else each.default
        )
        for each in fields(GraphFile)
    ]
    own = list(inspect.signature(verb, eval_str=True).parameters.values())[1:]
    parameters = [shared[0], *(parameter.replace(kind=kind) for parameter in own), *shared[1:]]

    def command(**values: Any) -> None:
        verb(GraphFile(**{each.name: values.pop(each.name) for each in shared}), **values)

    command.__name__, command.__doc__ = verb.__name__, verb.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def find_node(graph: gr.Graph, text: str, option: str = "--node") -> int:
    """The position of a node whose id was typed as an option."""
    kind = graph.ids.dtype.kind
    if kind == "O":  # ids of several kinds, or of none that can be typed: what they read as
        known = {str(each): position for position, each in reversed(list(enumerate(graph.ids.tolist())))}
        if text in known:
            return int(known[text])
    try:
        wanted: str | float = text if kind in "UO" else int(text) if kind in "iu" else float(text)
        return int(graph.index_of(wanted))
    except ValueError:
        hint = did_you_mean(text, graph.ids[:COMPARED].tolist())
        raise gr.InputError(
            f"{option} must be the id of a node (such as {few_ids(graph.ids[:3])}), got {text!r}{hint}"
        ) from None


class Tables(NamedTuple):
    """Files about a graph's nodes and pairs, as the command line names them."""

    labels: Path | None = None
    label_column: str | None = None
    features: Path | None = None
    test_pairs: Path | None = None
    val_pairs: Path | None = None


def read_graph(path: Path, arguments: dict[str, Any]) -> gr.Graph:
    """Read a graph and say on stderr how it was read."""
    with stage("reading the graph"):
        graph = gr.read_graph(path, **arguments)
    if graph.reading is not None:
        columns = "source" in graph.reading.columns and graph.sides is None
        assumed = columns and not graph.directed and arguments.get("directed") is None
        say(f"{graph.reading}{'; read as undirected, --directed keeps directions' if assumed else ''}")
    return graph


def one_graph(dataset: Any, name: str | None = None) -> Any:
    """The only graph of a data set."""
    if len(dataset) != 1:
        raise gr.InputError(f"GRAPH must be one graph, got the {len(dataset)} graphs of {name or dataset.name}")
    return dataset[0]


def _read_files(path: Path, arguments: dict[str, Any], tables: Tables) -> tuple[Any, list[Any]]:
    """A graph with its features and labels as a data set of one, and the names of the classes."""
    from graphreach import datasets
    from graphreach.io.tables import read_features, read_labels

    graph, (labels, column, features, *_) = read_graph(path, arguments), tables
    with stage("reading tables"):
        y, classes = (None, []) if labels is None else read_labels(labels, graph, label=column, report=say)
        x = None if features is None else read_features(features, graph, report=say)
        given = _read_given(tables, graph)
    return datasets.Dataset(path.name, (datasets.Sample(graph, x, y, given),)), classes


def _read_given(tables: Tables, graph: gr.Graph) -> Any:
    """The links of validation and test that the user has drawn, if there are any."""
    from graphreach.io.tables import read_links
    from graphreach.tasks import GivenPairs

    if tables.test_pairs is None:
        return None
    test, val = (
        (None, None) if path is None else read_links(path, graph, say) for path in (tables.test_pairs, tables.val_pairs)
    )
    return GivenPairs(test[0], val[0], test[1], val[1])


def load_data(file: GraphFile, tables: Tables) -> tuple[Any, list[Any]]:
    """The data set that was named, or the graph with its features and labels, and the names of the classes."""
    name = file.dataset()
    if name is None:
        return _read_files(file.graph, file.arguments(), tables)
    both = {**tables._asdict(), **vars(file)}
    plain = {**Tables()._asdict(), **vars(GraphFile(graph=file.graph))}
    given = [each for each, value in both.items() if value != plain[each]]
    if given:
        raise gr.InputError(
            f"--{given[0].replace('_', '-')} must go with a file, got it with the data set {name}, which has its own"
        )
    with stage(f"loading {name}"):
        return gr.datasets.load(name), []


def describe_source(file: GraphFile, tables: Tables, classes: list[Any]) -> dict[str, Any]:
    """How to read the data of a run again, as plain values."""
    labels = None if tables.labels is None else {"path": _absolute(tables.labels), "column": tables.label_column}
    return {
        "graph": _absolute(file.graph) if file.graph.is_file() else str(file.graph),
        "options": {name: _absolute(value) for name, value in file.arguments().items()},
        "features": _absolute(tables.features),
        "labels": labels,
        "classes": classes,
        **{name: _absolute(path) for name in GIVEN if (path := getattr(tables, name)) is not None},
    }


def _absolute(value: Any) -> Any:
    return str(value.resolve()) if isinstance(value, Path) else value


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
    from graphreach.training.run_folder import RunFolder
    from graphreach.training.settings import FITTED
    from graphreach.updates.graph_folder import holds_graph

    fitted = RunFolder(folder).settings.method in FITTED
    run = (training.TrainedRun if model and not fitted else training.load_run)(folder, new_anchors=new_anchors)
    source = read_source(folder)
    if graph is not None and number is not None:
        raise gr.InputError(f"--graph-number must not go with --graph, which is one graph, got {number}")
    if graph is not None and not graph.is_file():
        raise gr.InputError(f"--graph must be a file, got {graph}, which does not exist")
    if graph is None and holds_graph(folder):
        return _load_updated(run, folder, source, features, number)
    missing = "--graph must be given, as the run's graph is not at {} any more"
    data = _load_dataset(source, missing) if graph is None else None
    place = _pick(folder, 1 if data is None else len(data), number)
    if data is None:
        found, x = read_graph(graph or Path(source["graph"]), source["options"]), None
    else:
        found, x = data[place - 1].graph, data[place - 1].x
    known = features or (Path(source["features"]) if source["features"] and graph is None else None)
    if known is not None:
        x = read_features(known, found, report=say)
    if graph is None and number is None:
        _warn_of_change(folder, found)
    return LoadedRun(run, found, x, source["classes"])


def _load_updated(
    run: Any, folder: Path, source: dict[str, Any], features: Path | None, number: int | None
) -> LoadedRun:
    """A run with the changed graph that its folder holds."""
    from graphreach.io.tables import read_features
    from graphreach.training.outcome import check_graph_number
    from graphreach.updates.graph_folder import read_folder_graph

    check_graph_number(1 if number is None else number, 1, "--graph-number")
    graph = read_folder_graph(folder)
    known = features or (Path(source["features"]) if source["features"] else None)
    x = None if known is None else read_features(known, graph, report=say)
    return LoadedRun(run, graph, x, source["classes"])


class RunData(NamedTuple):
    """A run's data set, the splits of its graphs made again, and the names of its classes."""

    data: Any
    splits: list[Any]
    classes: list[Any]


def read_run_data(folder: Path, settings: Any, labels: Path | None, column: str | None) -> RunData:
    """What a run was trained and judged on; data that have changed since are refused."""
    from graphreach.training.harness import make_splits
    from graphreach.training.run_folder import KEYS, RunFolder, content_difference, describe_content
    from graphreach.updates.graph_folder import holds_graph

    if holds_graph(folder):
        raise gr.InputError(
            f"RUN must have the graph that it was judged on, got {folder}, whose graph was updated since"
        )
    source = read_source(folder)
    data = _load_dataset(source, "RUN must have its graph at {}, where it is not any more")
    if data is not None:
        classes = [] if data.classes is None else list(data.classes)
    else:
        features = Path(source["features"]) if source["features"] else None
        given = [_stored(source, name) for name in GIVEN]
        tables = Tables(*_labels(source, settings.task, labels, column), features, *given)
        data, classes = _read_files(Path(source["graph"]), source["options"], tables)
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


def _stored(source: dict[str, Any], name: str) -> Path | None:
    """Where a run's own pairs are."""
    path = Path(source[name]) if source.get(name) else None
    if path is not None and not path.is_file():
        raise gr.InputError(f"RUN must have its {name.replace('_', ' ')} at {path}, where they are not any more")
    return path


def read_source(folder: Path) -> dict[str, Any]:
    """How the data of a run are read again."""
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

"""The argument GRAPH and the options of :func:`graphreach.read_graph`, for every verb that reads a graph."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

import graphreach as gr
from graphreach.cli.group import say
from graphreach.progress import stage

PANEL = "Reading the graph"

GRAPH = (
    ".csv .tsv .txt .edg .edgelist (each also .gz), .parquet .npz .mtx .graphml .gml .gexf .adjlist .json, "
    "- for standard input, or the name of a data set."
)
FORMAT = "Format: text, edgelist, matrix, parquet, npz, mtx, graphml, gml, gexf, adjlist or json."
DIRECTED = "Whether edges have a direction."
SOURCE = "Column of sources: a name, or a number from 0."
BIPARTITE = "Whether sources and targets are two kinds of nodes."
NODES = "Text file of node ids to keep even without an edge."
REDUCE = "Merge unequal weights of the two directions: sum, mean, max or min."


def _option(name: str, text: str, metavar: str | None = None, default: Any = True) -> Any:
    return typer.Option(name, help=text, rich_help_panel=PANEL, metavar=metavar, show_default=default)


@dataclass(frozen=True, kw_only=True)
class GraphFile:
    """A graph's file and how to read it.

    Example:
        >>> GraphFile(graph=Path("roads.csv"), weight="2", unweighted=False).arguments()["weight"]
        2
    """

    graph: Annotated[Path, typer.Argument(metavar="GRAPH", help=GRAPH, show_default=False)]
    format: Annotated[str | None, _option("--format", FORMAT, "NAME", "by the suffix")] = None
    directed: Annotated[
        bool | None, _option("--directed/--undirected", DIRECTED, default="as the file says, else undirected")
    ] = None
    source: Annotated[str | None, _option("--source", SOURCE, "COLUMN", "by its name, else the first")] = None
    target: Annotated[
        str | None, _option("--target", "Column of targets.", "COLUMN", "by its name, else the second")
    ] = None
    weight: Annotated[str | None, _option("--weight", "Column of weights.", "COLUMN", "found out, and said")] = None
    unweighted: Annotated[bool, _option("--unweighted", "Ignore weights.", default="off")] = False
    time: Annotated[
        str | None, _option("--time", "Column of times, which are never weights.", "COLUMN", "by its name or values")
    ] = None
    bipartite: Annotated[
        bool | None,
        _option("--bipartite/--no-bipartite", BIPARTITE, default="if columns are named like user and item"),
    ] = None
    nodes: Annotated[Path | None, _option("--nodes", NODES, "FILE", "nodes with an edge")] = None
    ids: Annotated[str, _option("--ids", "Kind of ids in text files: auto, int or str.", "KIND")] = "auto"
    header: Annotated[
        bool | None, _option("--header/--no-header", "Whether a text file has a header.", default="found out")
    ] = None
    comments: Annotated[
        str | None, _option("--comments", "Characters that begin a comment line.", "CHARACTERS", "# and %")
    ] = None
    reduce: Annotated[str | None, _option("--reduce", REDUCE, "HOW", "refuse them")] = None
    self_loops: Annotated[bool, _option("--self-loops", "Keep edges from a node to itself.", default="off")] = False

    def arguments(self) -> dict[str, Any]:
        """The arguments of :func:`graphreach.read_graph`."""
        arguments = asdict(self)
        if arguments.pop("unweighted"):
            if self.weight is not None:
                raise gr.InputError(f"--weight must not be given with --unweighted, got {self.weight!r}")
            arguments["weight"] = False
        for name in ("source", "target", "weight", "time"):
            arguments[name] = _column(arguments[name])
        return {name: value for name, value in arguments.items() if name != "graph"}

    def dataset(self) -> str | None:
        """The name of a data set, if the argument is that and not a file.

        Example:
            >>> GraphFile(graph=Path("Communities")).dataset()
            'communities'
        """
        from graphreach import datasets

        name = str(self.graph).lower()
        return name if not self.graph.is_file() and name in datasets.names() else None

    def read(self, **changes: Any) -> gr.Graph:
        """Read the graph and say on stderr how it was read; ``changes`` replace arguments.

        The name of a data set that is not a file is loaded, if it is of one graph.
        """
        name = self.dataset()
        if name is not None:
            return self._load(name)
        with stage("reading the graph"):
            graph = gr.read_graph(self.graph, **(self.arguments() | changes))
        if graph.reading is not None:
            say(str(graph.reading))
        return graph

    def _load(self, name: str) -> gr.Graph:
        from graphreach import datasets

        with stage(f"loading {name}"):
            samples = datasets.load(name).samples
        if len(samples) != 1:
            raise gr.InputError(f"GRAPH must be one graph, got the {len(samples)} graphs of {name}")
        graph: gr.Graph = samples[0].graph
        return graph


def _column(name: Any) -> Any:
    return int(name) if isinstance(name, str) and name.isdecimal() else name


def with_graph(verb: Callable[..., None]) -> Callable[..., None]:
    """Give ``verb(file: GraphFile, ...)`` the argument and the options of a :class:`GraphFile`."""
    hints = get_type_hints(GraphFile, include_extras=True)
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

"""Runs whose graph changes: where that graph is, and files of edges to change it by."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import graphreach as gr
from graphreach.arguments import counted
from graphreach.cli.data import GraphFile, one_graph, read_graph, read_source
from graphreach.cli.group import say

GRAPH_THEN = "The graph that was learned from, of a folder that holds no graph or whose file has grown since."


@dataclass(frozen=True)
class Changing:
    """A run and its graph.

    Attributes:
        run: The folder, opened by :func:`graphreach.updates.runs.open_updatable`.
        graph: Its graph as it is so far.
        options: The options of :func:`graphreach.read_graph` that it was read by.
        path: The file that it was read from, or None.
    """

    run: Any
    graph: gr.Graph
    options: dict[str, Any]
    path: Path | None

    @property
    def self_loops(self) -> bool:
        """Whether edges from a node to itself are kept."""
        return bool(self.options.get("self_loops", False))


def load_changing(folder: Path, graph: Path | None) -> Changing:
    """A run that can be updated, and its graph; a graph that is not that of the run is refused.

    Args:
        folder: The folder of the run.
        graph: A file with the graph, if the folder holds none.
    """
    from graphreach.updates.graph_folder import holds_graph, read_folder_graph
    from graphreach.updates.runs import open_updatable, without_times

    run = open_updatable(folder)
    source: dict[str, Any] = read_source(folder) if run.is_run else {"graph": "", "options": {}}
    options = {name: value for name, value in source["options"].items() if name != "nodes"}
    if holds_graph(folder):
        if graph is not None:
            raise gr.InputError(
                f"--graph must go with a folder that holds no graph, got it with {folder}, which holds one"
            )
        return Changing(run, read_folder_graph(folder), options, None)
    if graph is not None and not graph.is_file():
        raise gr.InputError(f"--graph must be a file, got {graph}, which does not exist")
    if not run.is_run and graph is None:
        raise gr.InputError(f"--graph must be given with a folder that holds no graph, got none with {folder}")
    path = graph or Path(source["graph"])
    if path.is_file():
        found = read_graph(path, source["options"])
    elif run.is_run and str(path).lower() in gr.datasets.names():
        name = str(path).lower()
        found, path = one_graph(gr.datasets.load(name), name).graph, Path()
    else:
        raise gr.InputError(f"--graph must be given, as the run's graph is not at {path} any more")
    _check_same(run, found)
    return Changing(run, without_times(found), options, path if path.is_file() else None)


def _check_same(run: Any, graph: gr.Graph) -> None:
    """Refuse another graph than that of a run, or one that lacks nodes that were embedded."""
    from graphreach.graph.matching import match_ids
    from graphreach.training.run_folder import RunFolder, content_difference, describe_content

    if run.is_run:
        there = RunFolder(run.folder).content
        if there is None:
            return
        other = content_difference(there, describe_content(gr.datasets.Sample(graph), []), ["graph"])
        if other:
            raise gr.InputError(
                f"RUN must have the graph that it was trained with, got {other}; --graph names a file with the graph of"
                " that time"
            )
    elif run.is_embedding:
        missing = int(np.count_nonzero(match_ids(run.estimator.ids_.tolist(), graph.ids) < 0))
        if missing:
            raise gr.InputError(
                f"--graph must have all nodes that were embedded, got a graph that lacks {missing} of them"
            )


@dataclass(frozen=True)
class Changes:
    """Edges of files, as graphs.

    Attributes:
        add: Edges to add, or None.
        remove: Edges to remove, or None.
        weights: Edges with new weights, or None.
    """

    add: gr.Graph | None
    remove: gr.Graph | None
    weights: gr.Graph | None

    def arguments(self) -> dict[str, Any]:
        """Arguments of :meth:`graphreach.Graph.updated`; nodes without an edge that is kept join too."""
        found: dict[str, Any] = {"add": self.add, "remove": self.remove, "weights": self.weights}
        return {name: value for name, value in found.items() if value is not None}

    def counts(self, before: gr.Graph, after: gr.Graph) -> dict[str, int]:
        """How many edges and nodes a graph got and lost."""
        listed = {name: 0 if part is None else part.num_edges for name, part in vars(self).items()}
        known = 0 if self.add is None else _count_known(before, self.add)
        return {
            "added": listed["add"] - known,
            "there_already": known,
            "removed": listed["remove"],
            "reweighted": listed["weights"],
            "new_nodes": after.num_nodes - before.num_nodes,
        }


def read_changes(found: Changing, add: Path | None, remove: Path | None, weights: Path | None) -> Changes:
    """Read the files of changes with the options of the run's own graph."""
    if weights is not None and not found.graph.weighted:
        raise gr.InputError("--reweight must go with a graph that has weights, got one without")
    return Changes(
        None if add is None else _read(found, add, "--add", found.graph.weighted),
        None if remove is None else _read(found, remove, "--remove", False),
        None if weights is None else _read(found, weights, "--reweight", True),
    )


def _read(found: Changing, path: Path, option: str, weighted: bool) -> gr.Graph:
    from graphreach.graph.columns import normalise_name
    from graphreach.updates.edge_lines import OP

    if not path.is_file():
        raise gr.InputError(f"{option} must be a file, got {path}, which does not exist")
    graph = found.graph
    arguments = GraphFile(graph=path).arguments() | found.options | {"directed": graph.directed, "nodes": None}
    if graph.ids.dtype.kind == "i":
        arguments["ids"] = "int"
    elif graph.ids.dtype.kind == "U":
        arguments["ids"] = "str"
    if not weighted:
        arguments["weight"] = False
    read = read_graph(path, {name: value for name, value in arguments.items() if name != "format"})
    ignored = () if read.reading is None else read.reading.ignored
    if any(normalise_name(column) == OP for column in ignored):
        raise gr.InputError(
            f"{option} must name a file of edges that are all treated alike, got {path.name} with a column {OP}, which"
            " graphreach follow RUN EDGES --once reads"
        )
    if weighted and not read.weighted:
        raise gr.InputError(f"{option} must have weights, as the graph has, got a file without: {path.name}")
    if (graph.sides is None) != (read.sides is None):
        kinds = "two kinds" if graph.sides is not None else "one kind"
        raise gr.InputError(
            f"{option} must have columns like those of the graph, which has {kinds} of nodes, got others"
        )
    if read.ids.dtype.kind != graph.ids.dtype.kind and len(read.ids) and graph.ids.dtype.kind in "iU":
        kind = "integers" if graph.ids.dtype.kind == "i" else "text"
        raise gr.InputError(f"{option} must have ids of the kind of the graph's, which are {kind}, got {read.ids[0]!r}")
    say(f"{option[2:]}: {counted(read.num_edges, 'edge')}")
    return read


def _count_known(graph: gr.Graph, add: gr.Graph) -> int:
    """How many of the edges to add are there already."""
    from graphreach.pairs.direct import edge_weights
    from graphreach.updates.edge_events import known_places

    source, target = add.edge_index
    once = slice(None) if graph.directed else source <= target
    pairs = known_places(graph, add.ids)[np.stack([source[once], target[once]])]
    return int(np.count_nonzero(edge_weights(graph, pairs[:, (pairs >= 0).all(axis=0)])))

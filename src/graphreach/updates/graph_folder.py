"""The graph that a folder of a run or of an estimator holds, after it has been updated."""

from pathlib import Path
from typing import Any

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.io.records import write_json
from graphreach.io.saved_graph import read_saved_graph, write_graph
from graphreach.training.run_folder import read_json

GRAPH, FACTS, VECTORS = "graph.npz", "graph.json", "embedding.parquet"
"""The graph, what it is and how it came about, and the vectors of its nodes where the folder is of an embedding."""

FORMAT = 1


def holds_graph(folder: Path) -> bool:
    """Whether a folder has a graph of its own."""
    return (folder / FACTS).exists() or (folder / GRAPH).exists()


def write_folder_graph(folder: Path, graph: Graph, updates: list[dict[str, Any]]) -> None:
    """Write a graph to a folder.

    Args:
        folder: The folder.
        graph: The graph.
        updates: What was changed since the graph that was learned from, one record for each update.
    """
    write_graph(folder / GRAPH, graph)
    write_json(folder / FACTS, {
        "format": FORMAT, "hash": graph.content_hash, "nodes": graph.num_nodes, "edges": graph.num_edges,
        "directed": graph.directed, "weighted": graph.weighted, "updates": updates,
    })  # fmt: skip


def read_folder_graph(folder: Path) -> Graph:
    """The graph of a folder; one that is not what ``graph.json`` says is refused."""
    facts = _facts(folder)
    graph = read_saved_graph(folder / GRAPH)
    if graph.content_hash != facts.get("hash"):
        raise InputError(f"{folder / GRAPH} must be the graph that {FACTS} describes, but it has another hash")
    return graph


def read_updates(folder: Path) -> list[dict[str, Any]]:
    """What was changed since the graph that was learned from."""
    found = _facts(folder).get("updates") if holds_graph(folder) else []
    if not isinstance(found, list):
        raise InputError(f"{folder / FACTS} must have a list of updates, got {found!r:.80}")
    return found


def _facts(folder: Path) -> dict[str, Any]:
    facts = read_json(folder / FACTS)
    if facts.get("format") != FORMAT:
        raise InputError(
            f"{folder / FACTS} has format {facts.get('format')}, and this version of graphreach reads format {FORMAT}"
        )
    return facts

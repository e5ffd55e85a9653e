"""Edges that a caller lists by ids: pairs, triples, arrays, frames or another graph."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import as_frame, describe
from graphreach.errors import InputError
from graphreach.graph.build import check_each_weight
from graphreach.graph.convert import check_unmasked, object_column, split_rows
from graphreach.graph.graph import Graph


class Listed(NamedTuple):
    """Edges by ids.

    ``ids`` may repeat; ``source`` and ``target`` say where among them the ends of the edges stand. ``times`` are the
    latest and the earliest time of each edge, ``[2, m]``.
    """

    ids: NDArray[Any]
    source: Any
    target: Any
    size: int
    weights: NDArray[np.float64] | None = None
    times: NDArray[np.float64] | None = None


def list_edges(edges: Any, name: str, weighted: bool = True) -> Listed:
    """Return the edges of an argument; what is no edges is refused. Weights of graphs and frames may be left out."""
    if isinstance(edges, Listed):
        return edges
    if isinstance(edges, Graph):
        found = _of_graph(edges)
        return found if weighted else found._replace(weights=None)
    frame = as_frame(edges)
    if frame is not None:
        return _of_frame(frame, weighted)
    if hasattr(edges, "adj") or hasattr(edges, "tocoo"):
        way = "Graph.from_networkx" if hasattr(edges, "adj") else "Graph.from_scipy"
        raise InputError(f"{name} must be edges or a Graph, got {describe(edges)}; {way} makes a Graph of it")
    if hasattr(edges, "detach"):
        edges = edges.detach().cpu().numpy()
    if isinstance(edges, np.ndarray):
        edges = check_unmasked(edges, name)
        if edges.dtype.kind in "iufU":
            return _of_array(edges, name)
    source, target, weights = split_rows(edges, name)
    return _of_columns(object_column(source + target), len(source), weights, name)


def _of_columns(ids: NDArray[Any], size: int, weights: Any, name: str) -> Listed:
    checked = None if weights is None else check_each_weight(weights, size, f"weights of {name}")
    return Listed(ids, slice(0, size), slice(size, 2 * size), size, checked)


def _of_array(edges: NDArray[Any], name: str) -> Listed:
    if edges.ndim != 2 or edges.shape[1] not in (2, 3):
        hint = "; transpose it" if edges.ndim == 2 and edges.shape[0] in (2, 3) else ""
        raise InputError(f"{name} must be an array [m, 2] of ids, or [m, 3] with weights, got {describe(edges)}{hint}")
    ids = edges[:, :2].T.reshape(-1)
    return _of_columns(ids, len(edges), edges[:, 2] if edges.shape[1] == 3 else None, name)


def _of_graph(graph: Graph) -> Listed:
    source, target = graph.edge_index
    once = slice(None) if graph.directed else source <= target
    times = None
    if graph.time is not None and graph.first_time is not None:
        times = np.stack([graph.time[once], graph.first_time[once]])
    weights = None if graph.weights is None else graph.weights[once]
    source, target = source[once], target[once]
    return Listed(graph.ids, source, target, len(source), weights, times)


def _of_frame(frame: Any, weighted: bool) -> Listed:
    from graphreach.graph.columns import Asked
    from graphreach.graph.frames import edges_from_frame

    if not len(frame):
        nothing = np.empty(0, np.int64)
        return Listed(nothing, nothing, nothing, 0)
    edges = edges_from_frame(frame, Asked(weight=None if weighted else False), (), None)
    times = None if edges.time is None else np.stack([edges.time, edges.time])
    return Listed(edges.ids, edges.source, edges.target, len(edges.source), edges.weights, times)

"""Labels of nodes in Series and data frames: by the ids in a column or in the index, or in the order of the graph's ids."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import as_frame, few, series_values
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.columns import NODE_NAMES, normalise_name

WHAT = "a column of ids, named id or node, and one of labels, or else columns of zeros and ones"


def unframe_labels(labels: Any, graph: Graph) -> Any:
    """Labels of a Series or a data frame in a form without names; anything else as it is.

    The index of a pandas Series or frame holds ids of nodes. Only where it counts from 0, has as many rows as the graph has
    nodes, and some of its numbers are no ids, rows are in the order of the graph's ids. polars and pyarrow have no index.

    Args:
        labels: What :func:`graphreach.tasks.node_labels.read_labels` is given.
        graph: The graph.

    Example:
        >>> import polars as pl
        >>> path = Graph.from_edge_list([("a", "b"), ("b", "c")])
        >>> unframe_labels(pl.DataFrame({"node": ["c", "a"], "team": ["red", None]}), path)
        {'c': 'red', 'a': None}
    """
    frame = as_frame(labels)
    if frame is not None:
        return _of_frame(frame, graph)
    if not (hasattr(labels, "index") and hasattr(labels, "isna")):
        return series_values(labels)
    values, ids = _values(labels), _row_ids(labels, graph)
    return values if ids is None else _by_id(ids, values)


def _of_frame(frame: Any, graph: Graph) -> Any:
    names = list(frame.columns)
    columns = [frame.iloc[:, i] if hasattr(frame, "iloc") else frame[name] for i, name in enumerate(names)]
    at = next((i for i, name in enumerate(names) if normalise_name(name) in NODE_NAMES), None)
    ids = _row_ids(frame, graph) if at is None else _values(columns[at])
    others = [column for i, column in enumerate(columns) if i != at]
    if len(others) == 1:
        values = _values(others[0])
        return values if ids is None else _by_id(ids, values)
    try:
        matrix = np.stack([column.to_numpy().astype(np.float64) for column in others], axis=1)
    except (ValueError, TypeError):
        raise InputError(f"labels as a frame must have {WHAT}, got {few([repr(name) for name in names], 5)}") from None
    return matrix if ids is None else _by_position(matrix, ids, graph)


def _values(column: Any) -> list[Any]:
    """The values of a column, None where there is none."""
    if not hasattr(column, "isna"):
        return list(column.to_list())
    return [None if gap else value for value, gap in zip(column.to_list(), column.isna(), strict=True)]


def _row_ids(rows: Any, graph: Graph) -> list[Any] | None:
    """The ids in the index of a pandas object; None where rows are in the order of the graph's ids."""
    index = getattr(rows, "index", None)
    if index is None:
        return None
    ids = list(index.to_list())
    if ids == list(range(graph.num_nodes)) and (graph._lookup.positions(np.arange(graph.num_nodes)) < 0).any():
        return None
    return ids


def _by_id(ids: list[Any], values: list[Any]) -> Any:
    """A mapping, or pairs where an id has several rows."""
    found = dict(zip(ids, values, strict=True))
    return found if len(found) == len(ids) else list(zip(ids, values, strict=True))


def _by_position(matrix: NDArray[np.float64], ids: list[Any], graph: Graph) -> NDArray[np.float64]:
    """Rows in the order of the graph's ids, -1 for nodes without one."""
    try:
        index = graph.index_of(np.fromiter(ids, dtype=object, count=len(ids)))
    except InputError as error:
        raise InputError(f"labels must be of nodes of the graph, but {error}; leave the others out") from None
    if len(np.unique(index)) < len(index):
        raise InputError("labels as a frame of zeros and ones must name a node once, got one of them twice")
    found = np.full((graph.num_nodes, matrix.shape[1]), -1.0)
    found[index] = matrix
    return found

"""Edges in data frames, and what all tables of edges have in common."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.bipartite import looks_numbered_twice, split_kinds
from graphreach.graph.build import check_weights
from graphreach.graph.columns import SAMPLE, frame_column
from graphreach.graph.convert import number_columns
from graphreach.graph.edges import Edges
from graphreach.graph.reading import Reading
from graphreach.graph.roles import Asked, Roles, SampledTable, assign_roles, is_matrix, make_reading
from graphreach.graph.times import parse_times

TWICE = (
    "the ids look as if two kinds of nodes were numbered on their own, so that equal numbers would not be one node; "
    "bipartite=True (--bipartite) keeps them apart"
)


def number_edges(
    source: Any,
    target: Any,
    weights: NDArray[np.float64] | None,
    time: NDArray[np.float64] | None,
    nodes: Any,
    reading: Reading,
    bipartite: bool | None,
) -> Edges:
    """Number the ids of a table's columns; one or two kinds of nodes."""
    names = (reading.columns["source"], reading.columns["target"])
    source, target, sentences = split_kinds(source, target, names, bipartite)
    is_series = hasattr(nodes, "cast") and hasattr(nodes, "dtype")
    if is_series and not isinstance(source, np.ndarray) and nodes.dtype != source.dtype:
        import polars as pl

        source, target, nodes = (column.cast(pl.String) for column in (source, target, nodes))
    edges = number_columns(source, target, weights, nodes)
    if bipartite is None and not sentences and looks_numbered_twice(edges.source, edges.target, edges.ids):
        sentences = [TWICE]
    said = Reading(**(reading.as_dict() | {"ignored": reading.ignored, "assumed": (*reading.assumed, *sentences)}))
    return edges._replace(time=time, reading=said)


def edges_from_frame(frame: Any, asked: Asked, nodes: Iterable[Hashable], bipartite: bool | None) -> Edges:
    """Return the rows of a pandas or polars frame as edges.

    Example:
        >>> import polars as pl
        >>> edges_from_frame(pl.DataFrame({"u": [1], "v": [2]}), Asked(), [], None).ids
        array([1, 2])
    """
    if hasattr(frame, "collect"):
        frame = frame.collect()
    if not (hasattr(frame, "columns") and hasattr(frame, "head") and hasattr(frame, "to_numpy")):
        raise InputError(f"frame must be a pandas or polars data frame, got {type(frame).__name__}")
    table = sample_frame(frame, "frame")
    for argument, value in asked._asdict().items():
        if not isinstance(value, Hashable):
            raise InputError(f"{argument} must be a column's name, got {value!r:.80}")
    if asked == Asked() and is_matrix(table, len(frame), _row_names(frame)):
        raise InputError(
            f"frame must have one row per edge, but its {len(frame)} rows and columns look like an adjacency matrix; pass "
            "Graph.from_scipy(scipy.sparse.csr_array(frame.to_numpy()), ids=frame.columns), or name source and target"
        )
    roles = assign_roles(table, asked)
    return edges_from_columns(frame, table, roles, asked, nodes, bipartite, path=None)


def edges_from_columns(
    frame: Any,
    table: SampledTable,
    roles: Roles,
    asked: Asked,
    nodes: Iterable[Hashable],
    bipartite: bool | None,
    path: str | None,
) -> Edges:
    """Return the columns of a frame that have a role as edges; ``frame`` has at least these columns of ``table``."""
    kind, of = ("frame", "") if path is None else ("parquet", f" of {path}")
    names = table.names
    ends = [frame_column(column_at(frame, table, i), names[i]) for i in (roles.source, roles.target)]
    weights, time, sentences = None, None, []
    if roles.weight is not None:
        column = column_at(frame, table, roles.weight)
        weights = frame_weights(column, f"column {names[roles.weight]!r}{of}")
    if roles.time is not None:
        import polars as pl

        column = column_at(frame, table, roles.time)
        time = parse_times(column if isinstance(column, pl.Series) else pl.Series(column.tolist(), strict=False))
        if time is None:
            if asked.time not in (None, False):
                raise InputError(f"time={asked.time!r} must be a column of times in {table.what}: numbers or dates")
            sentences.append(f"column {names[roles.time]!r} is not read as times, as some of it is none")
            roles = roles._replace(time=None, ignored=(*roles.ignored, roles.time))
    reading = make_reading(path, kind, table, roles, sentences)
    return number_edges(ends[0], ends[1], weights, time, nodes, reading, bipartite)


def frame_weights(column: Any, title: str) -> NDArray[np.float64]:
    """Return a column of a frame as checked weights.

    Example:
        >>> import polars as pl
        >>> frame_weights(pl.Series([1, 2]), "column 'w'")
        array([1., 2.])
    """
    numeric = column.dtype.is_numeric() if hasattr(column.dtype, "is_numeric") else True
    missing = column.is_null() if hasattr(column, "is_null") else column.isna()
    if not numeric or missing.any():
        raise InputError(f"{title} must hold numbers in every row, got {column.dtype}{' with gaps' if numeric else ''}")
    if hasattr(column.dtype, "is_numeric"):
        import polars as pl

        column = column.cast(pl.Float64)
    return check_weights(column.to_numpy(), len(column), title)


def column_at(frame: Any, table: SampledTable, column: int) -> Any:
    """Return a column by its number, as names of pandas' columns may repeat."""
    return frame.iloc[:, column] if hasattr(frame, "iloc") else frame[table.names[column]]


def sample_frame(frame: Any, what: str) -> SampledTable:
    """Return the names and the first rows of a frame as text.

    Example:
        >>> import polars as pl
        >>> sample_frame(pl.DataFrame({"u": [1, None]}), "frame").rows
        [('1',), ('',)]
    """
    names, head = list(frame.columns), frame.head(SAMPLE)
    columns = [_texts(head.iloc[:, i] if hasattr(head, "iloc") else head[names[i]]) for i in range(len(names))]
    return SampledTable(names, True, list(zip(*columns, strict=True)), what)


def _texts(column: Any) -> list[str]:
    missing = (column.is_null() if hasattr(column, "is_null") else column.isna()).to_numpy()
    values = column.to_list() if hasattr(column, "to_list") else column.tolist()
    return ["" if gap else f"{value!s:.100}" for gap, value in zip(missing, values, strict=True)]


def _row_names(frame: Any) -> list[str] | None:
    return [str(name) for name in frame.index[:SAMPLE]] if hasattr(frame, "index") and hasattr(frame, "iloc") else None

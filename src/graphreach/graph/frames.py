"""Edges in data frames, and what all tables of edges have in common: times, and two kinds of nodes."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphreach.arguments import as_frame
from graphreach.errors import InputError
from graphreach.graph.build import Edges, check_weights
from graphreach.graph.columns import (
    SAMPLE,
    Asked,
    Roles,
    SampledTable,
    are_two_kinds,
    assign_roles,
    is_matrix,
    make_reading,
)
from graphreach.graph.convert import number_columns
from graphreach.graph.ids import ids_array, specialise

TWICE = (
    "the ids look as if two kinds of nodes were numbered on their own, so that equal numbers would not be one node; "
    "bipartite=True (--bipartite) keeps them apart"
)

APART = (
    "no id is in both columns; if they hold two kinds of nodes, such as users and items, bipartite=True (--bipartite) says "
    "so, and only pairs between the two count as possible links"
)

MANY = 10
"""Rows from which on columns without a common id are worth a remark."""

DENSE = 0.9
"""The share of numbers in a range that has to occur for the range to be counted through."""

FIRST_TIME = "first_time"
"""The column of a frame with the times at which edges were made first, in addition to the latest ones."""

FEWEST = 100
"""Rows below which numbers that never fall are not taken for times."""


class Columns(NamedTuple):
    """The columns of a table that have a role: ids, checked weights, and times as they are written."""

    source: Any
    target: Any
    weights: NDArray[np.float64] | None
    time: pl.Series | None
    first_time: pl.Series | None = None


def number_edges(
    columns: Columns,
    table: SampledTable,
    roles: Roles,
    asked: Asked,
    nodes: Any,
    bipartite: bool | None,
    *,
    kind: str,
    path: str | None,
    sentences: Sequence[str] = (),
) -> Edges:
    """Number the ids of a table's columns, one or two kinds of nodes, and say how the table was read."""
    time = None if columns.time is None else parse_times(columns.time)
    if roles.time is not None and time is None:
        if asked.time not in (None, False):
            raise InputError(
                f"time={asked.time!r} must be a column of times in {table.what}: numbers, or dates such as 2024-01-31"
            )
        sentences = [*sentences, f"{table.title(roles.time)} is not read as times, as some of it is none"]
        roles = roles._replace(time=None, ignored=(*roles.ignored, roles.time))
    reading = make_reading(path, kind, table, roles, sentences)
    names = (reading.columns["source"], reading.columns["target"])
    source, target, kinds = split_kinds(columns.source, columns.target, names, bipartite)
    is_series = hasattr(nodes, "cast") and hasattr(nodes, "dtype")
    if is_series and not isinstance(source, np.ndarray) and nodes.dtype != source.dtype:
        source, target, nodes = (column.cast(pl.String) for column in (source, target, nodes))
    edges = number_columns(source, target, columns.weights, nodes)
    if bipartite is None and not kinds and looks_numbered_twice(edges.source, edges.target, edges.ids):
        kinds = [TWICE]
    two_kinds = _have_two_kinds(edges, names, bipartite)
    if bipartite is None and not two_kinds and not kinds and _share_no_id(edges):
        kinds = [APART]
    reading = replace(reading, assumed=(*reading.assumed, *kinds))
    first = None if time is None or columns.first_time is None else parse_times(columns.first_time)
    if first is not None and time is not None and (first > time).any():
        first = None
    return edges._replace(time=time, reading=reading, two_kinds=two_kinds, first_time=first)


def edges_from_frame(frame: Any, asked: Asked, nodes: Iterable[Hashable], bipartite: bool | None) -> Edges:
    """Return the rows of a pandas or polars frame as edges."""
    given, frame = frame, as_frame(frame)
    if frame is None:
        raise InputError(f"frame must be a pandas or polars data frame, got {type(given).__name__}")
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
    source, target = (_ids_of(column_at(frame, table, i), names[i]) for i in (roles.source, roles.target))
    weights, time = None, None
    if roles.weight is not None:
        column = column_at(frame, table, roles.weight)
        weights = frame_weights(column, f"column {names[roles.weight]!r}{of}")
    if roles.time is not None:
        time = _as_polars(column_at(frame, table, roles.time))
    first = None
    if time is not None and path is None and FIRST_TIME in names:
        at = names.index(FIRST_TIME)
        first = _as_polars(column_at(frame, table, at))
        roles = roles._replace(ignored=tuple(i for i in roles.ignored if i != at))
    columns = Columns(source, target, weights, time, first)
    return number_edges(columns, table, roles, asked, nodes, bipartite, kind=kind, path=path)


def _as_polars(column: Any) -> pl.Series:
    return column if isinstance(column, pl.Series) else pl.Series(column.tolist(), strict=False)


def frame_weights(column: Any, title: str) -> NDArray[np.float64]:
    """Return a column of a frame as checked weights."""
    numeric = column.dtype.is_numeric() if hasattr(column.dtype, "is_numeric") else True
    missing = column.is_null() if hasattr(column, "is_null") else column.isna()
    if not numeric or missing.any():
        raise InputError(f"{title} must hold numbers in every row, got {column.dtype}{' with gaps' if numeric else ''}")
    if hasattr(column.dtype, "is_numeric"):
        column = column.cast(pl.Float64)
    return check_weights(column.to_numpy(), len(column), title)


def column_at(frame: Any, table: SampledTable, column: int) -> Any:
    """Return a column by its number, as names of pandas' columns may repeat."""
    return frame.iloc[:, column] if hasattr(frame, "iloc") else frame[table.names[column]]


def sample_frame(frame: Any, what: str) -> SampledTable:
    """Return the names and the first rows of a frame as text."""
    names, head = list(frame.columns), frame.head(SAMPLE)
    columns = [_texts(head.iloc[:, i] if hasattr(head, "iloc") else head[names[i]]) for i in range(len(names))]
    return SampledTable(names, True, list(zip(*columns, strict=True)), what)


def _texts(column: Any) -> list[str]:
    missing = (column.is_null() if hasattr(column, "is_null") else column.isna()).to_numpy()
    values = column.to_list() if hasattr(column, "to_list") else column.tolist()
    return ["" if gap else f"{value!s:.100}" for gap, value in zip(missing, values, strict=True)]


def _row_names(frame: Any) -> list[str] | None:
    return [str(name) for name in frame.index[:SAMPLE]] if hasattr(frame, "index") and hasattr(frame, "iloc") else None


def _ids_of(column: Any, name: Any) -> Any:
    """Return a column of a pandas or polars frame as a column of ids; missing ids are an error."""
    missing = column.is_null() if hasattr(column, "is_null") else column.isna()
    if missing.any():
        row = int(np.argmax(missing.to_numpy()))
        raise InputError(f"column {name!r} must hold an id in every row, got none in row {row}")
    if not hasattr(column, "is_null"):
        return specialise(np.asarray(column.to_numpy()))
    kind = str(column.dtype)
    if kind == "String":
        return column
    if kind.startswith(("Categorical", "Enum")):
        return column.cast(pl.String)
    # numpy has no integers of 128 bits, and decimals stay what they are.
    if column.dtype.is_float() or (column.dtype.is_integer() and "128" not in kind):
        return column.to_numpy()
    return ids_array(column.to_list())


def grows_like_time(values: NDArray[np.float64]) -> bool:
    """Tell whether numbers are whole, never fall from row to row and are mostly distinct, as times do."""
    if len(values) < FEWEST or values[0] > values[-1]:
        return False
    # The first rows settle most files without a look at all rows.
    for part in (values[:1000], values):
        steps = np.diff(part)
        if steps.min() < 0 or np.count_nonzero(steps) < 0.5 * len(steps) or np.any(part != np.floor(part)):
            return False
    return True


def parse_times(column: pl.Series) -> NDArray[np.float64] | None:
    """Return numbers as they are, and dates as seconds since 1970; ``None`` if a field is neither."""
    if column.dtype == pl.String:
        numbers = column.cast(pl.Float64, strict=False)
        column = _parse_dates(column) if numbers.null_count() else numbers
    if column.dtype.is_temporal():
        column = column.cast(pl.Datetime("us")).dt.timestamp("us").cast(pl.Float64) / 1e6
    if not column.dtype.is_numeric() or column.null_count():
        return None
    times = column.cast(pl.Float64).to_numpy()
    return np.ascontiguousarray(times) if np.isfinite(times).all() else None


def _parse_dates(column: pl.Series) -> pl.Series:
    text = column.str.replace_all("/", "-").str.replace(r"(\d)[T ]", "${1} ").str.replace(r" ?(Z|UTC)$", "+00:00")
    text = text.str.replace(r" ([+-]\d\d:?\d\d)$", "${1}")
    zoned = text.str.contains(r"[+-]\d\d:?\d\d$") & text.str.contains(":")
    best = pl.Series([None] * len(text), dtype=pl.Datetime("us"))
    for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S%.f"):
        plain = text.str.to_datetime(form, strict=False, time_unit="us")
        aware = text.str.to_datetime(form + "%z", strict=False, time_unit="us").dt.replace_time_zone(None)
        best = best.zip_with(best.is_not_null(), aware.zip_with(zoned, plain))
    return best


def split_kinds(source: Any, target: Any, names: tuple[Any, Any], bipartite: bool | None) -> tuple[Any, Any, list[str]]:
    """Give the ids of two kinds of nodes the name of their column, as ``user:3`` and ``item:3``.

    By default (``bipartite=None``) there are two kinds if the names of the columns say it, as user and item do, and ids
    are integers, or an id occurs in both columns. Returns both columns, and sentences on what was assumed.
    """
    if not (bipartite is None or isinstance(bipartite, bool)):
        raise InputError(f"bipartite must be True, False or None, got {bipartite!r:.80}")
    named = all(isinstance(name, str) for name in names)
    if bipartite is False or (bipartite is None and not (named and are_two_kinds(*names))):
        return source, target, []
    columns = [_as_series(column) for column in (source, target)]
    if bipartite is None and not _may_share_ids(*columns):
        return source, target, []
    if any(column is None for column in columns):
        raise InputError("bipartite=True needs ids that are integers or text, got others")
    kinds = [str(name) for name in names] if named else ["source", "target"]
    if kinds[0] == kinds[1]:
        raise InputError(f"bipartite=True needs columns of two names, got {kinds[0]!r} for both")
    texts = [
        pl.select(pl.lit(kind + ":") + column.cast(pl.String)).to_series()
        for kind, column in zip(kinds, columns, strict=True)
    ]
    sentence = f"two kinds of nodes with ids such as {texts[0][0]!r} and {texts[1][0]!r}"
    if bipartite is None:
        sentence += "; bipartite=False (--no-bipartite) makes equal ids one node"
    return texts[0], texts[1], [sentence]


def _have_two_kinds(edges: Edges, names: tuple[Any, Any], bipartite: bool | None) -> bool:
    """Whether the caller or the names of the columns say so, and no node is in both columns."""
    named = all(isinstance(name, str) for name in names) and are_two_kinds(*names)
    return bipartite is not False and bool(bipartite or named) and not _have_common_id(edges)


def _have_common_id(edges: Edges) -> bool:
    """Whether a node is in both columns."""
    is_source = np.zeros(len(edges.ids), np.bool_)
    is_source[edges.source] = True
    return bool(is_source[edges.target].any())


def _share_no_id(edges: Edges) -> bool:
    """Whether no node is in both columns though that is no accident: there are many rows, and as many as nodes."""
    return len(edges.source) >= max(MANY, len(edges.ids)) and not _have_common_id(edges)


def _as_series(column: Any) -> Any:
    """The column as a polars Series of integers or text, or ``None``."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind not in "iuU":
            return None
        column = pl.Series(column.tolist() if column.dtype.kind == "U" else column)
    return column if column.dtype.is_integer() or column.dtype == pl.String else None


def _may_share_ids(source: Any, target: Any) -> bool:
    """Whether columns of two kinds of nodes have ids in common, or integers, which may any day."""
    if source is None or target is None or source.dtype.is_integer() != target.dtype.is_integer():
        return False
    return source.dtype.is_integer() or bool(source.unique().is_in(target.unique().implode()).any())


def looks_numbered_twice(source: NDArray[np.uint32], target: NDArray[np.uint32], ids: NDArray[Any]) -> bool:
    """Tell whether edges look as if their two columns were numbered on their own.

    Both columns count through a range from 0 or 1 on, one range is much shorter than the other, and there are as many
    self-loops as chance would make if equal numbers meant nothing. Graphs with one kind of nodes have next to none.
    """
    if ids.dtype.kind != "i" or len(source) < 10 or ids[0] not in (0, 1):
        return False
    if len(ids) < DENSE * (int(ids[-1]) + 1 - int(ids[0])):
        return False
    ends = sorted(int(column.max()) + 1 for column in (source, target))
    if ends[0] > 0.8 * ends[1]:
        return False
    counts = [np.bincount(column, minlength=len(ids)) for column in (source, target)]
    if any(
        np.count_nonzero(count) < DENSE * (column.max() + 1)
        for count, column in zip(counts, (source, target), strict=True)
    ):
        return False
    expected = float(counts[0] @ counts[1].astype(np.float64)) / len(source)
    # Two standard deviations below what chance would make.
    return expected >= 2 and int(np.count_nonzero(source == target)) >= max(1, expected - 2 * expected**0.5)

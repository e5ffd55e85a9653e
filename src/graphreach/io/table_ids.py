"""From a table's column of ids to the positions of nodes."""

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.build import plain
from graphreach.graph.graph import Graph
from graphreach.io.read_text import PLAIN_INTEGER
from graphreach.io.table_files import Table

if TYPE_CHECKING:
    import polars as pl

FEW = 3
"""Ids that a message names."""

TWICE = -2
"""The position of a text that two nodes have."""


def few_ids(ids: Sequence[Any] | NDArray[Any]) -> str:
    """Name the first of several ids.

    Example:
        >>> few_ids(np.array([3, 1, 4, 1, 5]))
        '3, 1, 4 and 2 more'
    """
    named = ", ".join(repr(plain(value)) for value in ids[:FEW])
    return f"{named} and {len(ids) - FEW} more" if len(ids) > FEW else named


def known_nodes(table: Table, column: int, ids: "pl.Series", graph: Graph) -> NDArray[np.int64]:
    """Positions of ids, -1 with a warning for those that are not nodes of the graph; some must be."""
    found = _find(table, column, ids, _positions_by_id(graph), "known")
    unknown = ids.filter(found < 0).unique(maintain_order=True).to_numpy()
    if not (found >= 0).any():
        raise InputError(
            f"{table.what} must have ids of nodes (such as {few_ids(graph.ids[:FEW])}) in column "
            f"{table.title(column)}, got {few_ids(unknown)}"
        )
    if len(unknown):
        warnings.warn(
            f"{table.what} has {len(unknown)} ids that are not nodes of the graph and are ignored: {few_ids(unknown)}",
            stacklevel=3,
        )
    return found


def are_all_nodes(ids: "pl.Series", graph: Graph, distinct: bool = False) -> bool:
    """Whether every entry of a column is a node of the graph (and none occurs twice)."""
    import polars as pl

    known = _positions_by_id(graph)["id"]
    if isinstance(ids.dtype, pl.Categorical | pl.Enum):
        ids = ids.cast(pl.String)
    if not (ids.dtype.is_integer() or ids.dtype == pl.String):
        return False
    same = ids.cast(known.dtype, strict=False)
    if same.null_count() or (distinct and same.n_unique() < len(same)):
        return False
    return bool(same.is_in(known.implode()).all())


def all_nodes(table: Table, columns: Sequence[int], graph: Graph) -> NDArray[np.int64]:
    """Positions ``[columns, rows]`` of ids that all must be nodes of the graph."""
    given, known = table.texts(columns), _positions_by_id(graph)
    found = np.stack([_find(table, column, ids, known) for column, ids in zip(columns, given, strict=True)])
    unknown = _distinct(ids.filter(found[row] < 0) for row, ids in enumerate(given))
    if unknown:
        raise InputError(
            f"{table.what} must have ids of nodes (such as {few_ids(graph.ids[:FEW])}), "
            f"got {len(unknown)} that are none: {few_ids(unknown)}"
        )
    return found


def some_nodes(
    table: Table, columns: Sequence[int], graph: Graph
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Any]]:
    """Positions ``[columns, m]`` of the m rows whose ids are all nodes, these rows, and the distinct other ids."""
    given, known = table.texts(columns), _positions_by_id(graph)
    found = np.stack([_find(table, column, ids, known, "some") for column, ids in zip(columns, given, strict=True)])
    unknown = _distinct(ids.filter(found[row] < 0) for row, ids in enumerate(given))
    rows = np.flatnonzero((found >= 0).all(axis=0))
    return found[:, rows], rows, unknown


def _distinct(columns: Iterable["pl.Series"]) -> list[Any]:
    return list(dict.fromkeys(value for ids in columns for value in ids.to_list()))


def _positions_by_id(graph: Graph) -> "pl.DataFrame":
    """The ids as a table would have them, numbers or text (that of other kinds, too), and their positions.

    Ids such as 1 and "1", which read the same, have the position :data:`TWICE`.
    """
    import polars as pl

    by_text = graph.ids.dtype == object
    ids = pl.Series([str(value) for value in graph.ids.tolist()] if by_text else graph.ids)
    known = pl.DataFrame({"id": ids, "at": np.arange(len(ids))})
    if not by_text:
        return known
    return known.group_by("id").agg(pl.when(pl.len() == 1).then(pl.col("at").first()).otherwise(TWICE).alias("at"))


def _find(
    table: Table, column: int, ids: "pl.Series", known: "pl.DataFrame", others: str = "none"
) -> NDArray[np.int64]:
    """Positions of ids, -1 for those that are no nodes.

    Args:
        table: The table, for messages.
        column: The column of the ids.
        ids: The ids.
        known: From :func:`_positions_by_id`.
        others: ``"none"`` refuses ids of another kind than the graph's; ``"known"`` only those among them that look like
            numbers, such as 007, which may be meant for one of the graph's; ``"some"`` none.
    """
    import polars as pl

    if ids.null_count():
        place = table.place(int(np.argmax(ids.is_null().to_numpy())))
        raise InputError(f"{table.what} has nothing in column {table.title(column)} in {place}")
    if isinstance(ids.dtype, pl.Categorical | pl.Enum):
        ids = ids.cast(pl.String)
    kind = known["id"].dtype
    wanted = _as_text(table, column, ids) if kind == pl.String else _as_numbers(table, column, ids, kind, others)
    found = wanted.replace_strict(known["id"], known["at"], default=-1, return_dtype=pl.Int64).to_numpy()
    if (found == TWICE).any():
        row = int(np.argmax(found == TWICE))
        raise InputError(
            f"{table.what} must have ids that name one node, but the graph has two nodes that are written "
            f"{wanted[row]!r:.80} (a number and text), in column {table.title(column)} in {table.place(row)}"
        )
    return found


def _as_numbers(table: Table, column: int, ids: "pl.Series", kind: Any, others: str) -> "pl.Series":
    import polars as pl

    is_integer = kind == pl.Int64
    if ids.dtype.is_numeric():
        numbers = ids.cast(kind, strict=False)
        wrong = numbers.is_null() if ids.dtype.is_integer() else numbers.is_null() | (numbers != ids)
    elif ids.dtype == pl.String:
        numbers = ids.cast(kind, strict=False)
        wrong = numbers.is_null() | ~ids.str.contains(PLAIN_INTEGER) if is_integer else numbers.is_null()
    else:
        raise InputError(f"{table.what} must have ids in column {table.title(column)}, got {ids.dtype}")
    refused = wrong
    if others == "some":
        refused = wrong & False
    elif others == "known" and ids.dtype == pl.String and not wrong.all():
        refused = wrong & ids.cast(pl.Float64, strict=False).is_not_null()
    if refused.any():
        row = int(np.argmax(refused.to_numpy()))
        raise InputError(
            f"{table.what} must have {'integers' if is_integer else 'numbers'}, as the graph's ids are, in column "
            f"{table.title(column)}, got {ids[row]!r:.80} in {table.place(row)}"
        )
    return numbers.set(wrong, None)


def _as_text(table: Table, column: int, ids: "pl.Series") -> "pl.Series":
    import polars as pl

    if ids.dtype.is_float() and (ids == ids.round()).all() and (ids.abs() < 2**53).all():
        # pandas makes floats of integers as soon as one is missing.
        ids = ids.cast(pl.Int64)
    if not (ids.dtype.is_integer() or ids.dtype == pl.String):
        raise InputError(
            f"{table.what} must have text, as the graph's ids are, in column {table.title(column)}, got {ids.dtype}"
        )
    return ids.cast(pl.String)

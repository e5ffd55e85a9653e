"""Adjacency matrices as tables of text."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphreach.errors import InputError
from graphreach.graph.columns import TIMES, WEIGHTS, find_pair, is_unnamed
from graphreach.graph.convert import edges_from_index
from graphreach.graph.edges import Edges
from graphreach.graph.ids import ids_array
from graphreach.graph.reading import Reading
from graphreach.graph.roles import SampledTable
from graphreach.graph.sniff import is_plain_integer
from graphreach.graph.text_reader import _Reader
from graphreach.limits import check_memory

LARGE = 8
"""Rows from which on a square table of numbers is a matrix, whatever the numbers."""


def has_row_names(table: SampledTable) -> bool:
    """Tell whether the first column names the rows of a matrix rather than being part of it.

    Example:
        >>> has_row_names(SampledTable(["", "a", "b"], True, [["a", "0", "1"], ["b", "1", "0"]], "m.csv"))
        True
    """
    unnamed = table.has_header and is_unnamed(table.names[0])
    return unnamed or (bool(table.fields(0)) and not table.numeric[0])


def is_matrix(table: SampledTable, num_rows: int, row_names: Sequence[str] | None = None) -> bool:
    """Tell whether a table is an adjacency matrix: square, all numbers, and not like a list of edges.

    A small one has to be named alike in rows and columns, symmetric, or zero on its diagonal.

    Example:
        >>> table = SampledTable([0, 1, 2], False, [["0", "1", "0"], ["1", "0", "1"], ["0", "1", "0"]], "m.csv")
        >>> is_matrix(table, 3)
        True
        >>> is_matrix(SampledTable([0, 1, 2], False, [["1", "2", "5"], ["2", "3", "6"], ["3", "1", "7"]], "e.csv"), 3)
        False
    """
    first = int(row_names is None and len(table.names) > 1 and has_row_names(table))
    n = len(table.names) - first
    if n != num_rows or n < 2 or not all(table.numeric[first:]):
        return False
    titles = [table.name(i) for i in range(first, len(table.names))]
    if find_pair(titles) is not None or any(title in (*WEIGHTS, *TIMES) for title in titles if len(title) > 1):
        return False
    names = [str(name).strip() for name in table.names[first:]]
    rows = table.fields(0) if first else row_names
    # Numbers name the rows and columns of any frame, so they show less than names that are the same in both.
    counting = names == [str(i) for i in range(n)]
    if table.has_header and not counting and rows is not None and list(rows) == names[: len(rows)]:
        return True
    if n >= LARGE:
        return True
    if n < 3 or any(len(row) != len(table.names) for row in table.rows):
        return False
    values = np.array([[float(field or 0) for field in row[first:]] for row in table.rows])
    diagonal = np.diagonal(values)
    symmetric = bool(np.array_equal(values, values.T)) and bool(np.all(diagonal == diagonal[0]))
    return symmetric or not diagonal.any()


def read_matrix(reader: _Reader, table: SampledTable, weight: Any) -> Edges:
    """Read a square table of numbers as an adjacency matrix with one row per source."""
    import polars as pl

    what = reader.file.what
    first = int(has_row_names(table))
    n = len(table.names) - first
    check_memory(16 * n * n, f"the matrix of {n} x {n} numbers in {what}", "write its edges, one a line")
    try:
        frame = reader._read_csv(dict.fromkeys(range(first, first + n), pl.Float64))
    except pl.exceptions.PolarsError:
        frame = reader._read_strings(list(range(first, first + n)))
    reader._check_complete(frame)
    frame = frame.with_columns(
        reader._as_number(frame, name) for name in frame.columns if frame[name].dtype == pl.String
    )
    if len(frame) != n:
        raise InputError(
            f"{what} must have as many rows as columns of numbers to be a matrix, got {len(frame)} and {n}"
        )
    values = frame.to_numpy()
    rows, columns = np.nonzero(values)
    weights = None if weight is False or np.all(values[rows, columns] == 1) else values[rows, columns]
    names = _names(reader, table, first)
    edges = edges_from_index(np.stack([rows, columns]), n, weights, names)
    sentences = [
        f"a table of {n} x {n} numbers is an adjacency matrix; format='edgelist' (--format edgelist) reads edges"
    ]
    if names is None:
        sentences.append("ids are the numbers of its rows, from 0 on")
    return edges._replace(reading=Reading(what, "matrix", header=table.has_header, assumed=tuple(sentences)))


def _names(reader: _Reader, table: SampledTable, first: int) -> Any:
    if table.has_header:
        names = [str(name).strip() for name in table.names[first:]]
    elif first:
        names = reader._read_strings([0]).to_series().to_list()
    else:
        return None
    return ids_array([int(name) for name in names] if all(map(is_plain_integer, names)) else names)

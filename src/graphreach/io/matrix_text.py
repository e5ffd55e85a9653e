"""Adjacency matrices as tables of text."""

from typing import Any

import numpy as np

from graphreach.errors import InputError
from graphreach.graph.columns import is_plain_integer
from graphreach.graph.convert import edges_from_index
from graphreach.graph.edges import Edges
from graphreach.graph.ids import ids_array
from graphreach.graph.reading import Reading
from graphreach.graph.roles import SampledTable, has_row_names
from graphreach.io.text_reader import _Reader
from graphreach.limits import check_memory


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

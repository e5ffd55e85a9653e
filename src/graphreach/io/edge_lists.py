"""Edges in tables of text and in Parquet files, and adjacency matrices as text."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.build import Edges, check_weights, first_bad_weight
from graphreach.graph.columns import (
    NODE_NAMES,
    PLAIN_INTEGER,
    SAMPLE,
    Asked,
    Roles,
    assign_roles,
    has_row_names,
    is_matrix,
    is_number,
    is_plain_integer,
    normalise_name,
)
from graphreach.graph.convert import edges_from_index
from graphreach.graph.frames import (
    Columns,
    column_at,
    edges_from_columns,
    grows_like_time,
    number_edges,
    sample_frame,
)
from graphreach.graph.ids import ids_array
from graphreach.graph.reading import Reading
from graphreach.io.first_lines import find_header, find_start, is_marked_row, is_node_header, settle_header
from graphreach.io.open_file import TextFile
from graphreach.io.parquet import read_parquet
from graphreach.io.read_graph import Request
from graphreach.io.text import SKIPPED, Start, TextTable, sniff, take_header
from graphreach.limits import check_memory


class EdgeTable(NamedTuple):
    """A text file of edges, whether only all its rows can tell if it has a header, and what was assumed."""

    table: TextTable
    undecided: bool = False
    sentences: tuple[str, ...] = ()


def open_edges(file: TextFile, request: Request) -> EdgeTable:
    """Find out what a text file of edges looks like."""
    start = find_start(file.text) if request.comments is None else Start(0, 0, request.comments)
    found = _lay_out(file, start, request)
    layout, marked, is_row = found.table.layout, 0, False
    for line in found.table.comments_within():
        marked, is_row = marked + 1, is_row or is_marked_row(line, layout)
    integers = all(is_plain_integer(field) for row in layout.rows for field in row[:2])
    if is_row and request.comments is None and not integers:
        return _lay_out(file, start._replace(comments=""), request)
    if not marked:
        return found
    skipped = SKIPPED.format(marked, "" if marked == 1 else "s")
    return found._replace(sentences=(f"{skipped}; comments='' (--comments '') reads them",))


def _lay_out(file: TextFile, start: Start, request: Request) -> EdgeTable:
    layout = sniff(file, start)
    header = find_header(layout.rows, request.asked) if request.header is None else request.header
    return EdgeTable(TextTable(file, take_header(layout, file) if header else layout), header is None)


def read_text(file: TextFile, kind: str, request: Request, nodes: Any) -> tuple[Edges, bool | None]:
    """Read edges, or a matrix where the text looks like one.

    ``kind`` is ``"edgelist"`` or ``"matrix"`` where the caller says which of them it is, else ``"text"``. Returns also
    whether the edges are directed; ``None`` if their weights decide.
    """
    found = open_edges(file, request)
    matrix = _find_matrix(found.table, request, kind)
    if matrix is not None:
        return _read_matrix(matrix, request.asked.weight), None
    roles = _assign(found.table, request.asked)
    sentences = list(found.sentences)
    if found.undecided:
        frame = found.table.read_ids([roles.source, roles.target], [], request.ids)
        is_header, sentence = settle_header(*frame)
        sentences += [] if sentence is None else [sentence]
        if is_header:
            found = open_edges(file, request._replace(header=True))
            roles = _assign(found.table, request.asked)
    return _read_columns(found.table, roles, request, sentences, nodes), False


def _assign(table: TextTable, asked: Asked) -> Roles:
    rows = table.layout.rows
    if len(table.names) < 2:
        first = rows[0][0] if rows[0] else ""
        raise InputError(f"{table.what} must have at least two columns, got one: {first!r:.80}")
    if asked.weight is None and any(row[2][:1] == "{" and row[2] != "{}" for row in rows if row[2:]):
        raise InputError(
            f"{table.what} must have weights in a column, got dictionaries; write it by networkx' "
            "write_weighted_edgelist, or pass weight=False to ignore them"
        )
    return assign_roles(table.sample, asked)


def _read_columns(table: TextTable, roles: Roles, request: Request, sentences: list[str], nodes: Any) -> Edges:
    asked = request.asked
    frame = table.read_ids([roles.source, roles.target], [] if roles.weight is None else [roles.weight], request.ids)
    weights = None if roles.weight is None else _weights(table, frame.to_series(-1), roles.weight)
    _check_repeated_header(table, roles, frame)
    sentences += _say_text_ids(table, roles, frame, request.ids)
    time = None if roles.time is None else table.read_strings([roles.time]).to_series()
    guessed = asked.weight is None and not table.has_header and roles.weight == 2
    if weights is not None and guessed and asked.time is roles.time is None and grows_like_time(weights):
        time, weights = pl.Series(weights), None
        roles = roles._replace(weight=None, time=roles.weight)
        sentences.append(
            "column 2 never falls from row to row, as times do, and is no weight; weight=2 (--weight 2) makes it one"
        )
    columns = Columns(frame.to_series(0), frame.to_series(1), weights, time)
    return number_edges(
        columns, table.sample, roles, asked, nodes, request.bipartite, kind="text", path=table.what, sentences=sentences
    )


def _weights(table: TextTable, column: pl.Series, at: int) -> NDArray[np.float64]:
    values = column.to_numpy()
    wrong = first_bad_weight(values)
    if wrong is not None:
        raise InputError(
            f"{table.what} must have finite weights from 0 on in column {table.title(at)} "
            f"(weight=False or --unweighted ignores them), got {values[wrong]} in {table.place(wrong)}"
        )
    return check_weights(values, len(values), f"column {table.title(at)} of {table.what}")


def _check_repeated_header(table: TextTable, roles: Roles, frame: pl.DataFrame) -> None:
    """Refuse files that were put together with their headers."""
    if not table.has_header or frame.dtypes[0] != pl.String:
        return
    names = [str(table.names[column]) for column in (roles.source, roles.target)]
    repeated = ((frame.to_series(0) == names[0]) & (frame.to_series(1) == names[1])).arg_true()
    if len(repeated):
        raise InputError(f"{table.what} must have its header once, got it again in {table.place(int(repeated[0]))}")


def _say_text_ids(table: TextTable, roles: Roles, frame: pl.DataFrame, kind: str) -> list[str]:
    """Say why ids are text where most of the first ones are numbers."""
    if frame.dtypes[0] != pl.String or kind == "str":
        return []
    fields = [field for column in (roles.source, roles.target) for field in table.sample.fields(column)]
    if 2 * sum(map(is_number, fields)) < len(fields):
        return []
    for column in frame.get_columns()[:2]:
        others = (~column.str.contains(PLAIN_INTEGER)).arg_true()
        if len(others):
            row = int(others[0])
            return [f"ids are text, as {column[row]!r:.40} in {table.place(row)} is not a plain integer"]
    return []


def read_nodes_to_keep(file: TextFile, request: Request) -> pl.Series:
    """Return the ids of a text file with one node per line: the column named as ids, else the first."""
    layout = sniff(file, Start(0, 0, "#%" if request.comments is None else request.comments))
    layout = take_header(layout, file) if is_node_header(layout.rows) else layout
    usual = [i for i, name in enumerate(layout.names) if normalise_name(name) in NODE_NAMES]
    return TextTable(file, layout).read_ids([usual[0] if usual else 0], [], request.ids).to_series(0)


def _find_matrix(table: TextTable, request: Request, kind: str) -> TextTable | None:
    """Return the table that is an adjacency matrix, or ``None``."""
    if kind == "edgelist" or (kind == "text" and any(name not in (None, False) for name in request.asked)):
        return None
    layout = table.layout
    if request.header is None and not layout.has_header and _is_numbered_header(layout.rows):
        numbered = open_edges(table.file, request._replace(header=True, comments=layout.comments)).table
        if is_matrix(numbered.sample, numbered.count_rows()):
            return numbered
    numeric = len(table.names) > 2 and all(table.sample.numeric[1:])
    return table if kind == "matrix" or (numeric and is_matrix(table.sample, table.count_rows())) else None


def _is_numbered_header(rows: list[list[str]]) -> bool:
    """Tell whether the first row counts, and there is one row more than columns."""
    first = [field.strip() for field in rows[0]]
    counts = any(first == [str(i + begin) for i in range(len(first))] for begin in (0, 1))
    return counts and len(first) > 2 and len(rows) in (len(first) + 1, SAMPLE)


def _read_matrix(table: TextTable, weight: Any) -> Edges:
    """Read a square table of numbers as an adjacency matrix with one row per source."""
    first = int(has_row_names(table.sample))
    n = len(table.names) - first
    check_memory(16 * n * n, f"the matrix of {n} x {n} numbers in {table.what}", "write its edges, one per line")
    columns = range(first, first + n)
    frame = table.read_as(dict.fromkeys(columns, pl.Float64))
    frame = table.check_complete(table.read_strings(columns) if frame is None else frame)
    frame = frame.with_columns(table.as_number(column) for column in frame if column.dtype == pl.String)
    if len(frame) != n:
        raise InputError(
            f"{table.what} must have as many rows as columns of numbers to be a matrix, got {len(frame)} and {n}"
        )
    values = frame.to_numpy()
    rows, others = np.nonzero(values)
    weights = None if weight is False or np.all(values[rows, others] == 1) else values[rows, others]
    names = _names(table, first)
    edges = edges_from_index(np.stack([rows, others]), n, weights, names)
    sentences = [
        f"a table of {n} x {n} numbers is an adjacency matrix; format='edgelist' (--format edgelist) reads edges"
    ]
    if names is None:
        sentences.append("ids are the numbers of its rows, from 0 on")
    return edges._replace(reading=Reading(table.what, "matrix", header=table.has_header, assumed=tuple(sentences)))


def _names(table: TextTable, first: int) -> Any:
    if table.has_header:
        names = [str(name).strip() for name in table.names[first:]]
    elif first:
        names = table.read_strings([0]).to_series().to_list()
    else:
        return None
    return ids_array([int(name) for name in names] if all(map(is_plain_integer, names)) else names)


def edges_from_parquet(path: Path, request: Request, nodes: Any) -> Edges:
    """Read the columns of edges from a Parquet file."""
    asked = request.asked
    sampled = sample_frame(read_parquet(path, rows=SAMPLE + 1), str(path))
    roles = assign_roles(sampled, asked)
    used = [roles.source, roles.target, roles.weight, roles.time]
    frame = read_parquet(path, [sampled.names[i] for i in used if i is not None])
    if not len(frame):
        raise InputError(f"{path} must hold edges, but it is empty")
    if asked == Asked() and is_matrix(sampled, len(frame)):
        raise InputError(
            f"{path} must have one row per edge, but its {len(frame)} rows and columns look like an adjacency matrix; "
            "write its edges, or save it by scipy.sparse.save_npz, or name source and target"
        )
    if roles.weight is not None and not column_at(frame, sampled, roles.weight).dtype.is_numeric():
        kind = column_at(frame, sampled, roles.weight).dtype
        raise InputError(
            f"column {sampled.names[roles.weight]!r} of {path} must hold a number in every row, got {kind}"
        )
    return edges_from_columns(frame, sampled, roles, asked, nodes, request.bipartite, str(path))

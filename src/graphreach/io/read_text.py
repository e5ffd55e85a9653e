"""Text files of edges and of nodes."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.columns import NODE_NAMES, SAMPLE, is_number, is_plain_integer, normalise_name
from graphreach.graph.reading import Reading
from graphreach.graph.roles import Asked, Roles, SampledTable, assign_roles, is_matrix, make_reading
from graphreach.graph.times import grows_like_time, parse_times
from graphreach.io import text_kernels
from graphreach.io.comments import Start, find_start
from graphreach.io.header import find_header, settle_header
from graphreach.io.sniff import Layout, data_lines, sniff
from graphreach.io.text_reader import PLAIN_INTEGER, TextFile, TextOptions, _Reader

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "PLAIN_INTEGER",
    "TextEdges",
    "TextFile",
    "TextOptions",
    "_Reader",
    "find_matrix",
    "read_text_edges",
    "read_text_nodes",
]


class TextEdges(NamedTuple):
    """The columns of a text file of edges, and how they were read."""

    source: "pl.Series"
    target: "pl.Series"
    weights: NDArray[np.float64] | None
    time: NDArray[np.float64] | None
    reading: Reading


def read_text_edges(
    file: TextFile, options: TextOptions, comments: str | None = None, opened: "Opened | None" = None
) -> TextEdges:
    """Return the columns of a text file of edges; both columns of ids are of one kind.

    Args:
        file: The file.
        options: What the caller said about it.
        comments: The characters that begin a comment; by default found out.
        opened: What :func:`open_edges` returned for the same arguments, if it was called before.

    Example:
        >>> file = TextFile(np.frombuffer(b"1 2 0.5\\n2 3 1\\n", np.uint8), None, "edges.txt")
        >>> edges = read_text_edges(file, TextOptions())
        >>> edges.source.to_list(), edges.target.to_list(), edges.weights
        ([1, 2], [2, 3], array([0.5, 1. ]))
    """
    reader, sentences = open_edges(file, options, comments) if opened is None else opened
    table, roles = _assign(reader, options)
    if reader.undecided:
        frame = reader.read([roles.source, roles.target], [])
        is_header, sentence = settle_header(*frame)
        sentences += [] if sentence is None else [sentence]
        if is_header:
            reader, _ = open_edges(file, options._replace(header=True), comments)
            table, roles = _assign(reader, options)
    return _read(reader, table, roles, options, sentences)


class Opened(NamedTuple):
    """The reader of a text file, and sentences on what was assumed."""

    reader: "_EdgeReader"
    sentences: list[str]


def open_edges(file: TextFile, options: TextOptions, comments: str | None) -> Opened:
    """Find out what a text file looks like.

    Example:
        >>> file = TextFile(np.frombuffer(b"u;v\\n1;2\\n", np.uint8), None, "edges.txt")
        >>> open_edges(file, TextOptions(), None).reader.layout.names
        ['u', 'v']
    """
    start = find_start(file.text) if comments is None else Start(0, 0, comments)
    reader = _EdgeReader(file, start, options)
    if not reader.flags & text_kernels.UNTIDY or not start.comments:
        return Opened(reader, [])
    marks = np.frombuffer(start.comments.encode(), np.uint8)
    layout = reader.layout
    found = text_kernels.count_comments(
        np.asarray(file.text), layout.begin, ord(layout.separator), marks, len(layout.names)
    )
    marked, rows = (int(number) for number in found)
    if rows and comments is None and not reader.has_integers():
        return Opened(_EdgeReader(file, start._replace(comments=""), options), [])
    if not marked:
        return Opened(reader, [])
    lines = "1 line" if marked == 1 else f"{marked} lines"
    return Opened(reader, [f"{lines} within the data skipped as comments; comments='' (--comments '') reads them"])


def find_matrix(opened: Opened, options: TextOptions, kind: str) -> tuple[_Reader, SampledTable] | None:
    """Return the reader of a table that is an adjacency matrix, or ``None``.

    Example:
        >>> file = TextFile(np.frombuffer(b"0 1 0\\n1 0 1\\n0 1 0\\n", np.uint8), None, "matrix.txt")
        >>> find_matrix(open_edges(file, TextOptions(), None), TextOptions(), "text")[1].names
        [0, 1, 2]
    """
    named = (options.source, options.target, options.time, options.weight)
    if kind == "edgelist" or (kind == "text" and any(name not in (None, False) for name in named)):
        return None
    reader = opened.reader
    if options.header is None and not reader.layout.has_header and _is_numbered_header(reader.layout.rows):
        numbered, _ = open_edges(reader.file, options._replace(header=True), reader.options.comments)
        table = _sample(numbered)
        if is_matrix(table, numbered.count_rows()):
            return numbered, table
    table = _sample(reader)
    if kind == "matrix" or (len(table.names) > 2 and all(table.numeric[1:]) and is_matrix(table, reader.count_rows())):
        return reader, table
    return None


def _is_numbered_header(rows: list[list[str]]) -> bool:
    """Tell whether the first row counts, and there is one row more than columns."""
    first = [field.strip() for field in rows[0]]
    counts = any(first == [str(i + begin) for i in range(len(first))] for begin in (0, 1))
    return counts and len(first) > 2 and len(rows) in (len(first) + 1, SAMPLE)


def _sample(reader: _Reader) -> SampledTable:
    layout = reader.layout
    return SampledTable(layout.names, layout.has_header, layout.rows, reader.file.what)


class _EdgeReader(_Reader):
    """A reader of edges, with the header decided where the first rows can tell."""

    def __init__(self, file: TextFile, start: Start, options: TextOptions) -> None:
        text, asked = file.text[start.offset :], (options.source, options.target, options.weight, options.time)
        has_header, rows = options.header, sniff(text, file.what, start.comments, False, ()).rows
        if has_header is None:
            has_header = find_header(rows, asked)
        self.undecided = has_header is None
        layout = sniff(text, file.what, start.comments, bool(has_header), ())
        layout = layout._replace(begin=layout.begin + start.offset, first_line=layout.first_line + start.line)
        super().__init__(file, layout, options._replace(comments=start.comments))

    def count_rows(self) -> int:
        """The number of rows; counted beyond the first ones only where there are as many columns."""
        rows, width = len(self.layout.rows), len(self.layout.names)
        if rows + self.layout.has_header < SAMPLE or width < rows:
            return rows
        return sum(1 for _ in data_lines(self.file.text[self.layout.begin :], self.options.comments))

    def has_integers(self) -> bool:
        """Whether the first rows begin with two integers."""
        return all(is_plain_integer(field) for row in self.layout.rows for field in row[:2])


def _assign(reader: _Reader, options: TextOptions) -> tuple[SampledTable, Roles]:
    file, layout = reader.file, reader.layout
    if len(layout.names) < 2:
        first = layout.rows[0][0] if layout.rows[0] else ""
        raise InputError(f"{file.what} must have at least two columns, got one: {first!r:.80}")
    if options.weight is None and any(row[2][:1] == "{" and row[2] != "{}" for row in layout.rows if row[2:]):
        raise InputError(
            f"{file.what} must have weights in a column, got dictionaries; write it by networkx' "
            "write_weighted_edgelist, or pass weight=False to ignore them"
        )
    table = _sample(reader)
    return table, assign_roles(table, Asked(options.source, options.target, options.weight, options.time))


def _read(reader: _Reader, table: SampledTable, roles: Roles, options: TextOptions, sentences: list[str]) -> TextEdges:
    frame = reader.read([roles.source, roles.target], [] if roles.weight is None else [roles.weight])
    weights = None if roles.weight is None else reader.weights(frame)
    _check_repeated_header(reader, table, roles, frame)
    sentences += _say_text_ids(reader, table, roles, frame)
    time = None
    guessed = options.weight is None and not table.has_header and roles.weight == 2
    if weights is not None and guessed and options.time is roles.time is None and grows_like_time(weights):
        time, weights = weights, None
        roles = roles._replace(weight=None, time=roles.weight)
        sentences.append(
            "column 2 never falls from row to row, as times do, and is no weight; weight=2 (--weight 2) makes it one"
        )
    if roles.time is not None and time is None:
        time = parse_times(reader._read_strings([roles.time]).to_series())
        if time is None:
            roles = _drop_time(table, roles, options)
            sentences.append(f"{table.title(roles.ignored[-1])} is not read as times, as some of it is none")
    return TextEdges(
        frame.to_series(0),
        frame.to_series(1),
        weights,
        time,
        make_reading(reader.file.what, "text", table, roles, sentences),
    )


def _check_repeated_header(reader: _Reader, table: SampledTable, roles: Roles, frame: "pl.DataFrame") -> None:
    """Refuse files that were put together with their headers."""
    import polars as pl

    if not table.has_header or frame.dtypes[0] != pl.String:
        return
    names = [str(table.names[column]) for column in (roles.source, roles.target)]
    repeated = ((frame.to_series(0) == names[0]) & (frame.to_series(1) == names[1])).arg_true()
    if len(repeated):
        line = reader.line(int(repeated[0]))
        raise InputError(f"{table.what} must have its header once, got it again in line {line}")


def _say_text_ids(reader: _Reader, table: SampledTable, roles: Roles, frame: "pl.DataFrame") -> list[str]:
    """Say why ids are text where most of the first ones are numbers."""
    import polars as pl

    if frame.dtypes[0] != pl.String or reader.options.ids == "str":
        return []
    fields = [field for column in (roles.source, roles.target) for field in table.fields(column)]
    if 2 * sum(map(is_number, fields)) < len(fields):
        return []
    for column in frame.get_columns()[:2]:
        others = (~column.str.contains(PLAIN_INTEGER)).arg_true()
        if len(others):
            row = int(others[0])
            return [f"ids are text, as {column[row]!r:.40} in line {reader.line(row)} is not a plain integer"]
    return []


def _drop_time(table: SampledTable, roles: Roles, options: TextOptions) -> Roles:
    """Treat a column that does not hold times throughout as one that is not used."""
    assert roles.time is not None
    if options.time not in (None, False):
        raise InputError(
            f"time={options.time!r} must be a column of times in {table.what}: numbers, or dates such as 2024-01-31"
        )
    return roles._replace(time=None, ignored=(*roles.ignored, roles.time))


def read_text_nodes(file: TextFile, options: TextOptions) -> "pl.Series":
    """Return the ids of a text file with one node a line: the column named as ids, else the first.

    Example:
        >>> file = TextFile(np.frombuffer(b"id\\n5\\n7\\n", np.uint8), None, "nodes.txt")
        >>> read_text_nodes(file, TextOptions()).to_list()
        [5, 7]
    """
    layout: Layout = sniff(file.text, file.what, options.comments, None, ())
    usual = [i for i, name in enumerate(layout.names) if normalise_name(name) in NODE_NAMES]
    return _Reader(file, layout, options).read([usual[0] if usual else 0], []).to_series(0)

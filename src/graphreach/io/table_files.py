"""Tables about nodes as files: text with any separator, with or without a header, and Parquet."""

import csv
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.checks import check_graph
from graphreach.graph.columns import SAMPLE, is_number, is_plain_integer, looks_like_header, normalise_name
from graphreach.graph.graph import Graph
from graphreach.io import text_kernels
from graphreach.io.parquet import parquet_names, read_parquet
from graphreach.io.read_graph import open_text
from graphreach.io.read_text import TextFile, TextOptions, _Reader
from graphreach.io.sniff import SEPARATORS, Layout, data_lines, sniff

if TYPE_CHECKING:
    import polars as pl

TEXT = (".csv", ".tsv", ".txt")
TABLES = (*TEXT, *(f"{suffix}.gz" for suffix in TEXT), ".parquet")
"""Suffixes of tables."""

COMMENTS = TextOptions().comments
CONTROL = r"[\x00-\x08\x0b-\x1f\x7f]"
"""Characters that no id and no label has, but damaged files do."""

Block = tuple[str, NDArray[np.float32]]
"""A column's title and its numbers, ``[rows]`` or, of a column of lists, ``[rows, width]``."""


class TextTable(_Reader):
    """The columns of a text file."""

    def __init__(self, file: TextFile, layout: Layout, comments: str = COMMENTS) -> None:
        super().__init__(file, layout, TextOptions(comments=comments))
        self.what, self.names = file.what, layout.names
        self.assumed = ["with a header"] if layout.has_header else ["without a header"]
        skipped = self._count_comments()
        if skipped:
            lines = "1 line" if skipped == 1 else f"{skipped} lines"
            self.assumed.append(f"{lines} within the data skipped as comments")
        self.doubts: list[str] = []

    def _count_comments(self) -> int:
        if not self.flags & text_kernels.UNTIDY or not self.options.comments:
            return 0
        text = np.asarray(self.file.text[self.layout.begin :])
        starts = np.flatnonzero(text[:-1] == text_kernels.NEWLINE) + 1
        return int(np.isin(text[starts], np.frombuffer(self.options.comments.encode(), np.uint8)).sum())

    def check_long_enough(self, rows: NDArray[np.int64]) -> None:
        """Refuse rows that end before the last column; those of the other rows have all fields."""
        wanted = set(rows.tolist())
        if not wanted:
            return
        begin, first = self.layout.begin, self.layout.first_line
        for index, (number, _, line) in enumerate(data_lines(self.file.text[begin:], self.options.comments)):
            if index in wanted:
                separator = self.layout.separator
                fields = len(
                    line.split() if separator == " " else next(csv.reader([line.decode()], delimiter=separator))
                )
                if fields < len(self.names):
                    raise InputError(
                        f"{self.what} must have {len(self.names)} fields in every line, "
                        f"got {fields} in line {first + number + 1}"
                    )

    def missing_separator(self) -> str:
        """For a table of one column, the line that lacks the separator which most lines have; else nothing."""
        begin, first = self.layout.begin, self.layout.first_line
        lines = list(islice(data_lines(self.file.text[begin:], self.options.comments), SAMPLE))
        for separator in SEPARATORS:
            without = [number for number, _, line in lines if separator.encode() not in line]
            if 0 < len(without) <= len(lines) / 2:
                return f"; line {first + without[0] + 1} has no {separator!r}, as the others have"
        return ""

    def texts(self, columns: Sequence[int]) -> list["pl.Series"]:
        """Columns as text; an empty field is null."""
        frame = self._read_strings(list(dict.fromkeys(columns)))
        for column in frame:
            odd = column.str.contains(CONTROL).fill_null(False)
            if odd.any():
                row = int(np.argmax(odd.to_numpy()))
                raise InputError(
                    f"{self.what} must have text in column {self._title(column.name)}, got the control character in "
                    f"{column[row]!r:.80} in {self.place(row)}"
                )
        return [frame[f"column_{column + 1}"] for column in columns]

    def numbers(self, id: int, columns: Sequence[int]) -> tuple["pl.Series", Iterator[Block]]:
        """The column of ids as text, and columns of numbers; none has gaps."""
        import polars as pl

        try:
            frame = self._read_csv({id: pl.String} | dict.fromkeys(columns, pl.Float32))
        except pl.exceptions.PolarsError:
            # Text finds the field that is no number.
            frame = self._read_strings([id, *columns])
        self._check_complete(frame)
        ids, *rest = frame
        if self.flags & text_kernels.PADDED:
            ids = ids.str.strip_chars()
        number = (each if each.dtype == pl.Float32 else self._as_number(frame, each.name) for each in rest)
        return ids, ((self._title(each.name), each.to_numpy().astype(np.float32, copy=False)) for each in number)

    def title(self, column: int) -> str:
        """The name of a column, or its number from 1 on where there is no header."""
        return self._title(f"column_{column + 1}")

    def place(self, row: int) -> str:
        """Where a row stands."""
        return f"line {self.line(row)}"


class ParquetTable:
    """The columns of a Parquet file."""

    def __init__(self, path: Path) -> None:
        self.path, self.what = path, str(path)
        self.assumed: list[str] = []
        self.doubts: list[str] = []
        self.names = parquet_names(path)

    def check_long_enough(self, rows: NDArray[np.int64]) -> None:
        """Rows of a Parquet file are of one length."""

    def missing_separator(self) -> str:
        """Nothing: a Parquet file has no separators."""
        return ""

    def texts(self, columns: Sequence[int]) -> list["pl.Series"]:
        """Columns as they are."""
        names = [self.names[column] for column in columns]
        frame = read_parquet(self.path, list(dict.fromkeys(names)))
        if not len(frame):
            raise InputError(f"{self.what} must have rows, but it is empty")
        return [frame[name] for name in names]

    def numbers(self, id: int, columns: Sequence[int]) -> tuple["pl.Series", Iterator[Block]]:
        """The column of ids, and columns of numbers or of lists of numbers; none has gaps."""
        ids, *rest = self.texts([id, *columns])
        return ids, ((repr(each.name), self._as_numbers(each)) for each in rest)

    def _as_numbers(self, column: "pl.Series") -> NDArray[np.float32]:
        import polars as pl

        title, rows, kind = repr(column.name), len(column), column.dtype
        if column.null_count():
            place = self.place(int(np.argmax(column.is_null().to_numpy())))
            raise InputError(f"{self.what} has nothing in column {title} in {place}")
        shape: tuple[int, ...] = (rows,)
        if isinstance(kind, pl.Array):
            column = column.arr.to_list()
        if isinstance(column.dtype, pl.List):
            lengths = column.list.len().to_numpy()
            low, high = int(lengths.min()), int(lengths.max())
            if low < high or not high:
                raise InputError(f"{self.what} must have lists of one length in column {title}, got {low} to {high}")
            shape, column = (rows, high), column.list.explode()
        if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
            raise InputError(f"{self.what} must have numbers in column {title}, got {kind}")
        # A gap in a list becomes NaN, which is refused with the other numbers that are not finite.
        return column.cast(pl.Float32).to_numpy().reshape(shape)

    def title(self, column: int) -> str:
        """The name of a column."""
        return repr(self.names[column])

    def place(self, row: int) -> str:
        """Where a row stands."""
        return f"row {row}"


Table = TextTable | ParquetTable


def open_table(path: Path, graph: Graph, usual: Collection[str], asked: Sequence[Any] = ()) -> Table:
    """Open a table of ids.

    The first line of a text file is a header if a column is ``asked`` for by name; else it is none if its first field
    (or that of the column ``asked`` for first, by number) is a node of the graph; else it is one if it has one of the
    ``usual`` names, where its words stand above nodes and occur nowhere below, or where
    :func:`graphreach.read_graph` would take it for one.

    Example:
        >>> import tempfile
        >>> graph = Graph.from_edge_list([("ann", "bob")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "teams.csv")
        ...     _ = path.write_text("id;team\\nann;red\\nbob;blue\\n")
        ...     table = open_table(path, graph, ["id"])
        ...     table.names, table.texts([1])[0].to_list()
        (['id', 'team'], ['red', 'blue'])
    """
    check_graph(graph)
    if path.suffix.lower() == ".parquet":
        return ParquetTable(path)
    file = open_text(path)
    comments = _comments(graph)
    offset, lines = _start(file.text, graph, comments)
    text = file.text[offset:]
    if next(data_lines(text, comments), None) is None:
        raise InputError(f"{path} must have rows, but it is empty or holds only comments")
    rows = sniff(text, file.what, comments, False, ()).rows
    has_header, doubts = _has_header(rows[0], graph, usual, asked), []
    if has_header is None:
        has_header = len(rows) > 1 and sniff(text, file.what, comments, None, ()).has_header
        if not has_header and _stands_above_nodes(rows, graph):
            has_header = True
            doubts.append(f"the first line, {','.join(rows[0])!r:.80}, is taken for a header, as it names no node")
    if has_header and len(rows) == 1:
        raise InputError(f"{path} must have rows, but it has only a header")
    layout = sniff(text, file.what, comments, has_header, ())
    layout = layout._replace(begin=layout.begin + offset, first_line=layout.first_line + lines)
    table = TextTable(file, layout, comments)
    table.doubts += doubts
    return table


def _comments(graph: Graph) -> str:
    """The characters that begin a comment: those that begin no id of the graph, such as #love."""
    if graph.ids.dtype.kind in "if":
        return COMMENTS
    begins = {str(value)[:1] for value in graph.ids.tolist()}
    return "".join(mark for mark in COMMENTS if mark not in begins)


def _start(text: NDArray[np.uint8], graph: Graph, comments: str) -> tuple[int, int]:
    """Offset and line of the data, after comments whose mark begins ids, too."""
    if comments == COMMENTS:
        return 0, 0
    is_node = _node_test(graph)
    for number, offset, line in data_lines(text, ""):
        bare = line.decode(errors="replace").strip()
        if bare[:1] not in COMMENTS or any(is_node(field) for field in (bare, *re.split(r"[\t,;|]|\s+", bare)[:1])):
            return offset, number
    return 0, 0


def _stands_above_nodes(rows: list[list[str]], graph: Graph) -> bool:
    """Whether the first of several columns of words stands above nodes only, is none itself and never comes again."""
    first, rest = rows[0], rows[1:]
    if len(first) < 2 or len(rest) < 2 or any(len(row) < len(first) for row in rest):
        return False
    is_node, above = _node_test(graph), False
    for column, field in enumerate(first):
        below = [row[column].strip() for row in rest]
        if is_number(field) or field.strip() in below:
            return False
        if all(is_node(each) for each in below):
            if is_node(field.strip()):
                return False
            above = True
    return above


def _has_header(row: list[str], graph: Graph, usual: Collection[str], asked: Sequence[Any]) -> bool | None:
    """Whether the first line is a header; ``None`` if only the lines after it can tell."""
    first = [field.strip() for field in row]
    # Who asks for a column by name says that there is a header.
    if any(isinstance(name, str) and not name.isdecimal() for name in asked):
        return True
    column = int(asked[0]) if asked and isinstance(asked[0], int | str) else 0
    field = first[column] if 0 <= column < len(first) else ""
    if field and _node_test(graph)(field):
        return False
    # An id is never empty, but the name of pandas' index is.
    if not field or looks_like_header(first) or any(normalise_name(each) in usual for each in first):
        return True
    return None


def _node_test(graph: Graph) -> Callable[[str], bool]:
    """A function that tells whether a field of a text file is the id of a node; ids are sorted."""
    ids, kind = graph.ids, graph.ids.dtype.kind
    if kind not in "ifU":
        texts = {str(value) for value in ids.tolist()}
        return lambda field: field in texts
    width = ids.dtype.itemsize // 4

    def is_node(field: str) -> bool:
        value: Any = field
        if kind == "U" and len(field) > width:
            return False
        if kind == "i":
            if not is_plain_integer(field):
                return False
            value = int(field)
        elif kind == "f":
            if not is_number(field):
                return False
            value = float(field)
        at = int(np.searchsorted(ids, value))
        return at < len(ids) and bool(ids[at] == value)

    return is_node


def check_table(path: str | PathLike[str], suffixes: Sequence[str] = TABLES) -> Path:
    """Return the path of a file that exists and has a suffix that can be read.

    Example:
        >>> check_table("labels.xlsx")
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: path must end in .csv .tsv .txt .csv.gz .tsv.gz .txt.gz .parquet, got labels.xlsx
    """
    if not isinstance(path, str | PathLike):
        raise InputError(f"path must be a file's name, got {path!r:.80}")
    file = Path(path)
    if not file.name.lower().endswith(tuple(suffixes)):
        raise InputError(f"path must end in {' '.join(suffixes)}, got {file.name}")
    if not file.is_file():
        raise InputError(f"path must be a file, got the folder {file}" if file.is_dir() else f"there is no file {file}")
    if not file.stat().st_size:
        raise InputError(f"{file} must have rows, but it is empty")
    return file


def find_column(table: Table, name: Any, argument: str) -> int:
    """Return the number of the column with a name, or of a number from 0 on (which may be given as text).

    Names of tables without header are their numbers.
    """
    if isinstance(name, str) and name in table.names:
        if table.names.count(name) > 1:
            raise InputError(f"{argument}={name!r} must name one column of {table.what}, but several have this name")
        return table.names.index(name)
    is_number = isinstance(name, int | np.integer) and not isinstance(name, bool)
    number = int(name) if is_number or (isinstance(name, str) and name.isdecimal()) else -1
    if not 0 <= number < len(table.names):
        near = get_close_matches(str(name), [str(each) for each in table.names], 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(
            f"{argument}={name!r} is not a column of {table.what}; its columns are {list_names(table)}{hint}"
        )
    return number


def list_names(table: Table) -> str:
    """The names of a table's columns, for messages."""
    listed = ", ".join(repr(name) for name in table.names[:10])
    return f"{listed}, ..." if len(table.names) > 10 else listed

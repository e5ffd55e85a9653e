"""Lines of text as edges, some at a time: their columns are found once, at the first line, and then stay."""

import csv
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import describe
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.build import check_weights, first_bad_weight
from graphreach.graph.columns import SAMPLE, WEIGHTS, find_pair, looks_like_header, normalise_name
from graphreach.io.open_file import TextFile
from graphreach.io.text import NEWLINE, SEPARATORS, SPACE, Layout, TextTable, split_fields
from graphreach.updates.edge_events import EdgeEvents

OP = "op"
"""Name of the column that says whether an edge is added or removed."""

OPS = {"add": True, "remove": False, "+": True, "-": False}
"""What stands in that column."""

MARKS = "#%"
"""Characters that begin a comment, unless others are asked for."""


class Columns(NamedTuple):
    """What is asked about the columns of edges: names, numbers from 0 on, or None for the usual ones."""

    source: str | int | None = None
    target: str | int | None = None
    weight: str | int | None = None
    header: bool | None = None
    comments: str | None = None


class EdgeLines(NamedTuple):
    """How lines of edges are laid out.

    Attributes:
        what: Name of what the lines come from.
        separator: The character between fields; a blank stands for runs of blanks.
        names: Names of the columns, or their numbers where there is no header.
        has_header: Whether the first line is a header.
        source: Number of the column of sources.
        target: Number of the column of targets.
        weight: Number of the column of weights, or None.
        op: Number of the column that says what is done, or None where all edges are added.
        comments: Characters that begin a comment.
        kind: ``"int"`` or ``"str"``, the kind of ids.
    """

    what: str
    separator: str
    names: list[Any]
    has_header: bool
    source: int
    target: int
    weight: int | None
    op: int | None
    comments: str
    kind: str

    @classmethod
    def of(cls, first: bytes, graph: Graph, asked: Columns, what: str) -> Self:
        """Find the columns by the first line that is neither blank nor a comment.

        Args:
            first: The line.
            graph: The graph that edges are added to; it says of which kind ids are and whether there are weights.
            asked: What is known about the columns.
            what: Name of what the lines come from.
        """
        text = first.decode(errors="replace").strip("\r\n").lstrip("\ufeff")
        separator = next((each for each in SEPARATORS if each in text), " ")
        try:
            fields = [field.strip() for field in split_fields(text, separator)]
        except csv.Error as error:
            raise InputError(f"{what} must be lines of edges, but the first is none: {error}") from None
        if len(fields) < 2:
            raise InputError(f"{what} must have at least two columns, got one: {text!r:.80}")
        has_header = _is_header(fields, asked) if asked.header is None else asked.header
        names: list[Any] = fields if has_header else list(range(len(fields)))
        source, target = _ends(names, has_header, asked, what)
        op = next((at for at, name in enumerate(names) if has_header and normalise_name(name) == OP), None)
        if op is None and not has_header and fields[-1].lower() in OPS and len(fields) > 2 + graph.weighted:
            op = len(fields) - 1
        weight = _weight(names, has_header, asked, {source, target, op}, what) if graph.weighted else None
        comments = MARKS if asked.comments is None else asked.comments
        return cls(what, separator, names, has_header, source, target, weight, op, comments, _kind(graph))

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return self._asdict()

    def describe(self) -> str:
        """Which column is what, in one line.

        Example:
            >>> pair = Graph.from_edge_list([("a", "b")])
            >>> EdgeLines.of(b"from,to,op", pair, Columns(), "new.csv").describe()
            "new.csv: source 'from', target 'to', op 'op'"
        """
        named = {"source": self.source, "target": self.target, "weight": self.weight, "op": self.op}
        roles = [(role, self.names[at]) for role, at in named.items() if at is not None]
        texts = [f"{role} {name!r}" if self.has_header else f"{role} column {name}" for role, name in roles]
        return f"{self.what}: {', '.join(texts)}" + ("" if self.has_header else "; its first line is no header")

    def read(self, lines: bytes, before: int) -> tuple[EdgeEvents, NDArray[np.int64]]:
        """Edges of whole lines, and the number of the line of each, from 1 on.

        Args:
            lines: The lines; those that are blank or comments are passed over.
            before: How many lines there were before them.
        """
        numbers, first = self._contents(lines, before)
        if not len(numbers):
            empty = np.empty(0, np.int64 if self.kind == "int" else np.str_)
            return EdgeEvents(empty, empty, None, np.empty(0, np.bool_)), numbers
        rows = self._split(first, int(numbers[0]))
        layout = Layout(self.separator, list(range(len(self.names))), False, before, 0, rows, self.comments)
        table = TextTable(TextFile(np.frombuffer(lines, np.uint8), None, self.what), layout)
        last = table.read_strings(range(len(self.names))).to_series(-1)  # which refuses lines with more fields
        table.check_long_enough(last.is_null().arg_true().to_numpy())
        weight = [] if self.weight is None or self.op is not None else [self.weight]
        frame = table.read_ids([self.source, self.target], weight, self.kind)
        if len(frame) != len(numbers):
            raise InputError(f"{self.what} must have one edge per line, got a quote that goes on beyond one")
        added, weights = np.ones(len(frame), np.bool_), None
        if self.op is not None:
            added = self._ops(table)
        if self.weight is not None:
            values = frame.to_series(-1).to_numpy() if weight else self._weights_of_added(table, added)
            weights = self._checked(values, table)
        ends = [frame.to_series(at) for at in (0, 1)]
        source, target = (
            each.to_numpy() if self.kind == "int" else np.array(each.to_list(), dtype=np.str_) for each in ends
        )
        return EdgeEvents(source, target, weights, added), numbers

    def _contents(self, lines: bytes, before: int) -> tuple[NDArray[np.int64], list[bytes]]:
        """Numbers of the lines that are neither blank nor comments, and the first of these lines."""
        text = np.frombuffer(lines, np.uint8)
        starts = np.concatenate([[0], np.flatnonzero(text == NEWLINE) + 1])
        starts = starts[starts < len(text)]
        is_row = np.ones(len(starts), np.bool_)
        odd = np.flatnonzero(np.isin(text[starts], [*range(SPACE + 1), *self.comments.encode()]))
        is_row[odd] = [is_content(lines[at : lines.find(b"\n", at)], self.comments) for at in starts[odd].tolist()]
        first = [lines[at : lines.find(b"\n", at)] for at in starts[is_row][:SAMPLE].tolist()]
        return before + 1 + np.flatnonzero(is_row), first

    def _split(self, lines: list[bytes], number: int) -> list[list[str]]:
        rows = []
        for at, line in enumerate(lines):
            try:
                rows.append(split_fields(line.decode(errors="replace").rstrip("\r"), self.separator))
            except csv.Error as error:
                raise InputError(f"{self.what} is not a table of text near line {number + at}: {error}") from None
        return rows

    def _ops(self, table: TextTable) -> np.ndarray[Any, Any]:
        import polars as pl

        (column,) = table.texts([self.op or 0])
        lower = column.fill_null("add").str.to_lowercase()
        wrong = (~lower.is_in(list(OPS))).arg_true()
        if len(wrong):
            row = int(wrong[0])
            raise InputError(
                f"{self.what} must have add or remove in column {OP}, got {column[row]!r:.80} in {table.place(row)}"
            )
        return lower.replace_strict(OPS, return_dtype=pl.Boolean).to_numpy()

    def _weights_of_added(self, table: TextTable, added: Any) -> Any:
        """Weights of edges that are added; an edge that is removed needs none."""
        import polars as pl

        (column,) = table.texts([self.weight or 0])
        filled = pl.select(pl.when(pl.Series(added)).then(column).otherwise(pl.lit("1"))).to_series()
        frame = table.check_complete(filled.alias(f"column_{(self.weight or 0) + 1}").to_frame())
        return table.as_number(frame.to_series()).to_numpy()

    def _checked(self, values: Any, table: TextTable) -> Any:
        wrong = first_bad_weight(values)
        if wrong is not None:
            raise InputError(
                f"{self.what} must have finite weights from 0 on, got {values[wrong]} in {table.place(wrong)}"
            )
        return check_weights(values, len(values), self.what) if values.any() else values


def _is_header(fields: list[str], asked: Columns) -> bool:
    named = [name for name in (asked.source, asked.target) if isinstance(name, str)]
    return looks_like_header(fields) or (bool(named) and all(name in fields for name in named))


def _ends(names: list[Any], has_header: bool, asked: Columns, what: str) -> tuple[int, int]:
    usual = find_pair([normalise_name(name) for name in names]) if has_header else None
    first, second = usual or (0, 1)
    source = first if asked.source is None else _find(names, asked.source, "source", what)
    target = second if asked.target is None else _find(names, asked.target, "target", what)
    if source == target:
        raise InputError(f"{what} must have sources and targets in two columns, got column {names[source]!r} for both")
    return source, target


def _weight(names: list[Any], has_header: bool, asked: Columns, taken: set[int | None], what: str) -> int:
    if asked.weight is not None:
        return _find(names, asked.weight, "weight", what)
    left = [at for at in range(len(names)) if at not in taken]
    if has_header:
        left = [at for at in left if normalise_name(names[at]) in WEIGHTS]
    if not left:
        raise InputError(f"{what} must have a column of weights, as the graph has weights, got the columns {names[:8]}")
    return left[0]


def _find(names: list[Any], wanted: str | int, role: str, what: str) -> int:
    if isinstance(wanted, int) and wanted < len(names):
        return wanted
    if wanted in names:
        return names.index(wanted)
    raise InputError(f"{what} must have the column {wanted!r} of {role}s, got the columns {names[:8]}")


def _kind(graph: Graph) -> str:
    found = {"i": "int", "U": "str"}.get(graph.ids.dtype.kind)
    texts = graph.ids.dtype.kind == "O" and all(isinstance(value, str) for value in graph.ids.tolist())
    if found is None and not texts:
        raise InputError(f"ids of the graph must be integers or text to be read from lines, got {describe(graph.ids)}")
    return found or "str"


def is_content(line: bytes, comments: str) -> bool:
    """Whether a line is neither blank nor a comment.

    Example:
        >>> is_content(b"# edges", "#"), is_content(b"a,b", "#")
        (False, True)
    """
    bare = line.strip()
    return bool(bare) and not bare.startswith(tuple(mark.encode() for mark in comments) or (b"\0",))

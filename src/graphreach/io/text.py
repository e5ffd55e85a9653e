"""Tables of text: their separator and columns, read by polars with the ids and line numbers that it alone would lose."""

import csv
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.columns import PLAIN_INTEGER, SAMPLE, SampledTable, is_plain_integer
from graphreach.io.open_file import TextFile
from graphreach.io.parquet import quiet_panics

SEPARATORS = "\t,;|"
BLANKS = re.compile(r"[\x00-\x20]+")
STRAY_COMMA = re.compile(r"(?<!\d),|,(?!\d)|\t")
CONTROL = r"[\x00-\x08\x0b-\x1f\x7f]"
"""Characters that no id and no label has, but damaged files do."""

MOST = 0.8
"""The share of lines that a separator has to be in where it is not in all of them."""

ODD_INTEGERS, UNTIDY, PADDED, BINARY = 1, 2, 4, 8
"""What :func:`scan_text` reports: integers such as 007; lines for :func:`tidy_text`; blanks around fields; NUL bytes."""

SCANNED = 2**18
"""Bytes that are looked through at a time, so that they stay in the processor's cache."""

NEWLINE, SPACE = 10, 32
BLANK_TO_SPACE = bytes.maketrans(bytes({*range(SPACE)} - {NEWLINE}), b" " * (SPACE - 1))
SKIPPED = "{} line{} within the data skipped as comments"
BOM = b"\xef\xbb\xbf"
BLOCK = 2**20

Block = tuple[str, NDArray[np.float32]]
"""A column's title and its numbers, ``[rows]`` or, of a column of lists, ``[rows, width]``."""


def data_lines(text: NDArray[np.uint8], comments: str) -> Iterator[tuple[int, int, bytes]]:
    """Yield number (from 0 on), offset and bytes of each line that is neither blank nor a comment."""
    prefixes = tuple(comment.encode() for comment in comments)
    block, offset, number, rest = 2**16, 0, 0, b""
    for begin in range(0, len(text), block):
        last = begin + block >= len(text)
        lines = (rest + text[begin : begin + block].tobytes()).split(b"\n")
        rest = b"" if last else lines.pop()
        for line in lines:
            bare = line.removeprefix(BOM) if number == 0 else line
            if bare.strip() and not bare.strip().startswith(prefixes):
                yield number, offset, bare.rstrip(b"\r")
            number, offset = number + 1, offset + len(line) + 1


class Start(NamedTuple):
    """Where the data of a file begin, and which characters begin a comment from there on."""

    offset: int
    line: int
    comments: str


class Layout(NamedTuple):
    """How a text file is laid out.

    Attributes:
        separator: The character between fields; a space stands for runs of blanks.
        names: The header's fields, or the numbers of the columns from 0 on if there is no header.
        has_header: Whether the first data line is a header.
        first_line: The number of lines before the first row, header included.
        begin: The offset of the first row's first byte.
        rows: The fields of the first rows.
        comments: The characters that begin a comment.
        second: Line and offset of the second row, if there is one.
    """

    separator: str
    names: list[Any]
    has_header: bool
    first_line: int
    begin: int
    rows: list[list[str]]
    comments: str
    second: tuple[int, int] | None = None


def sniff(file: TextFile, start: Start) -> Layout:
    """Find out the layout of a text file from its first data lines, all of which are rows so far."""
    found = list(islice(data_lines(file.text[start.offset :], start.comments), SAMPLE))
    if not found:
        raise InputError(f"{file.what} must {file.must}, but it is empty or holds only comments")
    try:
        lines = [line.decode() for _, _, line in found]
    except UnicodeDecodeError:
        raise InputError(f"{file.what} is not text in UTF-8") from None
    separator = find_separator(lines)
    try:
        rows = [split_fields(line, separator) for line in lines]
    except csv.Error as error:
        raise InputError(f"{file.what} is not a table of text: {error}") from None
    places = [(number + start.line, offset + start.offset) for number, offset, _ in found[:2]]
    names = list(range(len(rows[0])))
    return Layout(separator, names, False, *places[0], rows, start.comments, places[1] if len(places) > 1 else None)


def take_header(layout: Layout, file: TextFile) -> Layout:
    """Return the layout of a file whose first row is its header."""
    if layout.second is None:
        raise InputError(f"{file.what} must {file.must}, but it has only a header")
    (line, offset), names = layout.second, [name.strip() for name in layout.rows[0]]
    return layout._replace(names=names, has_header=True, first_line=line, begin=offset, rows=layout.rows[1:])


def find_separator(lines: Sequence[str]) -> str:
    """Return the character between the fields of lines; a space stands for runs of blanks.

    It is the first of tab, comma, semicolon and bar that is in every line. One that is in nearly every line is taken,
    too: the lines without it are then reported as too short. networkx writes attributes in braces,
    which have commas of their own. A comma between digits may be a decimal one if there are semicolons.
    """
    if all(";" in line and not STRAY_COMMA.search(line) for line in lines):
        return ";"
    for least in (1.0, MOST):
        for each in SEPARATORS:
            if sum(each in line for line in lines) >= least * len(lines) and (least == 1 or "{" not in lines[0]):
                return each
    return " "


def split_fields(line: str, separator: str) -> list[str]:
    """Split a line of text into its fields."""
    if separator == " ":
        # Blanks are what tidy_text takes for blanks, not all that Unicode does.
        line = BLANKS.sub(" ", line).strip(" ")
    return next(csv.reader([line], delimiter=separator), [])


def scan_text(text: NDArray[np.uint8], separator: str, comments: str) -> int:
    """Look through the rows of a text, and return flags for what is unusual in them.

    Integers such as ``007`` or ``+7`` would lose their spelling if they were read as numbers. Comments, blank lines, and
    (where a space separates) runs of blanks, leading and trailing blanks are for :func:`tidy_text`.
    """
    flags, marks = 0, np.frombuffer(f"\n\r{comments}".encode(), np.uint8)
    end = np.full(1, NEWLINE, np.uint8)
    for begin in range(0, len(text), SCANNED):
        # Each block is shown with the byte before and the byte after it; newlines stand around the text.
        left = end if begin == 0 else text[begin - 1 : begin]
        right = text[begin + SCANNED : begin + SCANNED + 1]
        block = np.concatenate([left, text[begin : begin + SCANNED], right if len(right) else end])
        before, byte, after = block[:-2], block[1:-1], block[2:]
        bounds = (block <= SPACE) | (block == ord(separator)) | (block == ord('"'))
        spaces = block == SPACE
        leading = (byte == ord("0")) & (after >= ord("0")) & (after <= ord("9"))
        odd = leading | (byte == ord("+")) | ((byte == ord("-")) & (after == ord("0")))
        untidy = np.isin(byte[before == NEWLINE], marks).any()
        if separator == " ":
            low = block <= SPACE
            untidy |= (low[1:-1] & low[:-2] & (spaces[1:-1] | spaces[:-2])).any() or (byte == ord("\t")).any()
        flags |= ODD_INTEGERS * bool((bounds[:-2] & odd).any()) | UNTIDY * bool(untidy) | BINARY * (not byte.all())
        flags |= PADDED * bool(((bounds[:-2] & spaces[1:-1]) | (bounds[1:-1] & spaces[:-2])).any())
    return flags


def tidy_text(text: NDArray[np.uint8], separator: str, comments: str) -> bytes:
    """Return the text without comments and blank lines; where a space separates, one space stands for all blanks."""
    tidy = b"\n".join([b"", text.tobytes().removesuffix(b"\n"), b""])
    if separator == " ":
        tidy = tidy.translate(BLANK_TO_SPACE)
        while b"  " in tidy:
            tidy = tidy.replace(b"  ", b" ")
        tidy = tidy.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    else:
        tidy = tidy.replace(b"\r\n", b"\n")
        if b"\r\n" in tidy:  # several returns at the end of a line
            tidy = re.sub(rb"(?<!\r)\r+(?=\n)", b"", tidy)
    # The first bytes of the lines are seen faster than the lines.
    text = np.frombuffer(tidy, np.uint8)
    firsts = text[np.flatnonzero(text[:-1] == NEWLINE) + 1]
    if not np.isin(firsts, [*range(SPACE + 1), *comments.encode()]).any():
        return tidy[1:]
    comment = b"(?:[%s][^\n]*)?" % re.escape(comments.encode()) if comments else b""
    return re.sub(rb"\n[\x00-\x20]*" + comment + rb"(?=\n)", b"", tidy)[1:]


def plain_integers(column: pl.Series) -> pl.Series:
    """Return a column of text as integers if all of it are plain ones that fit 64 bits, else as it is."""
    if not column.str.contains(PLAIN_INTEGER).all():
        return column
    numbers = column.cast(pl.Int64, strict=False)
    return column if numbers.null_count() else numbers


class TextTable:
    """The columns of a text file; a row's line number is looked up only when there is an error to report."""

    def __init__(self, file: TextFile, layout: Layout) -> None:
        self.file, self.layout = file, layout
        self.what, self.names, self.has_header = file.what, layout.names, layout.has_header
        self.flags = scan_text(file.text[layout.begin :], layout.separator, layout.comments)
        if self.flags & BINARY:
            line = file.text[: int(np.argmin(file.text))].tobytes().count(b"\n") + 1
            raise InputError(f"{file.what} must be text, but it holds a NUL byte in line {line}")
        self.source: str | bytes
        self.skip = 0
        if self.flags & (UNTIDY | PADDED):
            self.source = tidy_text(file.text[layout.begin :], layout.separator, layout.comments)
        elif file.path is not None:
            self.source, self.skip = file.path, layout.first_line
        else:
            self.source = file.text[layout.begin :].tobytes()

    @cached_property
    def sample(self) -> SampledTable:
        """The first rows."""
        return SampledTable(self.names, self.has_header, self.layout.rows, self.what)

    def comments_within(self) -> Iterator[str]:
        """Lines within the data that begin as comments do."""
        if not self.flags & UNTIDY or not self.layout.comments:
            return
        marks, text = np.frombuffer(self.layout.comments.encode(), np.uint8), self.file.text[self.layout.begin :]
        for begin in range(0, len(text), BLOCK):
            starts = np.flatnonzero(text[begin : begin + BLOCK] == NEWLINE) + begin + 1
            starts = starts[starts < len(text)]
            for start in starts[np.isin(text[starts], marks)].tolist():
                yield text[start : start + 4096].tobytes().split(b"\n", 1)[0].decode(errors="replace")

    def read_ids(self, ids: list[int], weights: list[int], kind: str = "auto") -> pl.DataFrame:
        """Return columns of ids (integers if all are plain ones, else text), then columns of numbers.

        ``kind`` is ``"int"`` to insist on integers, ``"str"`` on text.
        """
        rows = [row for row in self.layout.rows if len(row) > max(ids, default=0)]
        if kind != "str" and not self.flags & ODD_INTEGERS:
            kinds = dict.fromkeys(ids, pl.Int64) | dict.fromkeys(weights, pl.Float64)
            expected = all(is_plain_integer(row[column]) for row in rows for column in ids)
            frame = self.read_as(kinds) if expected else None
            if frame is not None:
                return self.check_complete(frame)
        frame = self.check_complete(self.read_strings(ids + weights))
        names = frame.columns[: len(ids)]
        frame = frame.with_columns(self.as_number(frame[name]) for name in frame.columns[len(ids) :])
        # The first rows settle most files without a look at all rows.
        plain = all(each[name].str.contains(PLAIN_INTEGER).all() for each in (frame.head(100), frame) for name in names)
        if kind == "int" or (kind == "auto" and plain):
            numbers = frame.select(pl.col(names).cast(pl.Int64, strict=False))
            if not sum(numbers.null_count().row(0)):
                return frame.with_columns(numbers)
            if kind == "int":
                row, name = min((_first(one.is_null()), one.name) for one in numbers if one.null_count())
                self._refuse(name, row, "an integer", " (ids='int')", frame[name][row])
        return frame

    def read_as(self, kinds: dict[int, Any]) -> pl.DataFrame | None:
        """Return columns as polars' types, or ``None`` if a field is of another one."""
        try:
            return self._read_csv(kinds)
        except pl.exceptions.PolarsError:
            return None

    def _read_csv(self, kinds: dict[int, Any]) -> pl.DataFrame:
        # Columns that nobody asked for are read as text, which accepts anything.
        schema = {f"column_{i + 1}": kinds.get(i, pl.String) for i in range(len(self.names))}
        with quiet_panics(len(self.file.text)):
            frame = pl.read_csv(
                self.source, has_header=False, separator=self.layout.separator, schema=schema,
                columns=sorted(kinds), skip_lines=self.skip, glob=False,
            )  # fmt: skip
        return frame.select(f"column_{i + 1}" for i in kinds)

    def read_strings(self, columns: Sequence[int]) -> pl.DataFrame:
        """Return columns as text; an empty field is null."""
        try:
            frame = self._read_csv(dict.fromkeys(columns, pl.String))
        except pl.exceptions.PolarsError as error:
            self._raise_unreadable(str(error))
        if self.flags & PADDED:
            frame = frame.with_columns(pl.all().str.strip_chars())
        return frame.with_columns(pl.when(pl.all() != "").then(pl.all()))

    def texts(self, columns: Sequence[int]) -> list[pl.Series]:
        """Return columns as text without control characters; an empty field is null."""
        frame = self.read_strings(list(dict.fromkeys(columns)))
        for column in frame:
            odd = column.str.contains(CONTROL).fill_null(False)
            if odd.any():
                row = _first(odd)
                raise InputError(
                    f"{self.what} must have text in column {self._title_of(column.name)}, got the control character in "
                    f"{column[row]!r:.80} in {self.place(row)}"
                )
        return [frame[f"column_{column + 1}"] for column in columns]

    def numbers(self, id: int, columns: Sequence[int]) -> tuple[pl.Series, Iterator[Block]]:
        """Return the column of ids as text, and columns of numbers; none has gaps."""
        frame = self.read_as({id: pl.String} | dict.fromkeys(columns, pl.Float32))
        # Text finds the field that is no number.
        ids, *rest = self.check_complete(self.read_strings([id, *columns]) if frame is None else frame)
        if self.flags & PADDED:
            ids = ids.str.strip_chars()
        numbers = (each if each.dtype == pl.Float32 else self.as_number(each) for each in rest)
        return ids, ((self._title_of(each.name), each.to_numpy().astype(np.float32, copy=False)) for each in numbers)

    def check_complete(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return columns that have no empty field."""
        for column in frame:
            if column.null_count():
                place = self.place(_first(column.is_null()))
                raise InputError(f"{self.what} has nothing in column {self._title_of(column.name)} in {place}")
        return frame

    def as_number(self, column: pl.Series) -> pl.Series:
        """Return a column of text as numbers."""
        numbers = column.cast(pl.Float64, strict=False)
        if numbers.null_count():
            row = _first(numbers.is_null())
            self._refuse(column.name, row, "a number", "", column[row])
        return numbers

    def _refuse(self, name: str, row: int, kind: str, why: str, got: Any) -> NoReturn:
        place = f"column {self._title_of(name)}{why}"
        raise InputError(f"{self.what} must have {kind} in {place}, got {got!r:.80} in {self.place(row)}")

    def _raise_unreadable(self, message: str) -> NoReturn:
        if "utf-8" in message:
            raise InputError(f"{self.what} is not text in UTF-8")
        # Rows that are too short are filled up, unless the first is.
        too_short, expected = "not found" in message, len(self.names)
        for number, fields in self._field_counts():
            if fields < expected if too_short else fields > expected:
                raise InputError(f"{self.what} must have {expected} fields per line, got {fields} in line {number}")
        raise InputError(f"{self.what} is not a table of text: {message.splitlines()[0][:200]}")

    def check_long_enough(self, rows: NDArray[np.int64]) -> None:
        """Refuse rows that end before the last column; all others have all fields."""
        wanted, expected = set(rows.tolist()), len(self.names)
        for index, (number, fields) in enumerate(self._field_counts() if wanted else ()):
            if index in wanted and fields < expected:
                raise InputError(
                    f"{self.what} must have {expected} fields in every line, got {fields} in line {number}"
                )

    def _field_counts(self) -> Iterator[tuple[int, int]]:
        """Line (from 1 on) and number of fields of each row, up to a quote that is not closed."""
        for number, line in self._lines():
            try:
                yield number, len(split_fields(line.decode(errors="replace"), self.layout.separator))
            except csv.Error:
                return

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        lines = data_lines(self.file.text[self.layout.begin :], self.layout.comments)
        return ((self.layout.first_line + number + 1, line) for number, _, line in lines)

    def missing_separator(self) -> str:
        """For a table of one column, the line that lacks the separator which most lines have; else nothing."""
        lines = list(islice(self._lines(), SAMPLE))
        for separator in SEPARATORS:
            without = [number for number, line in lines if separator.encode() not in line]
            if 0 < len(without) <= len(lines) / 2:
                return f"; line {without[0]} has no {separator!r}, as the others have"
        return ""

    def count_rows(self) -> int:
        """The number of rows; counted beyond the first ones only where there are as many columns."""
        rows = len(self.layout.rows)
        if rows + self.has_header < SAMPLE or len(self.names) < rows:
            return rows
        return sum(1 for _ in self._lines())

    def title(self, column: int) -> str:
        """The name of a column, or its number from 1 on where there is no header."""
        return repr(self.names[column]) if self.has_header else str(column + 1)

    def _title_of(self, name: str) -> str:
        return self.title(int(name.removeprefix("column_")) - 1)

    def place(self, row: int) -> str:
        """The line on which a row stands."""
        number = next((number for number, _ in islice(self._lines(), row, None)), self.layout.first_line + row + 1)
        return f"line {number}"


def _first(wrong: pl.Series) -> int:
    return int(np.argmax(wrong.to_numpy()))

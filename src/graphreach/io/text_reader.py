"""Columns of text files, by polars, with the ids and line numbers that polars alone would lose."""

import csv
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.build import check_weights, first_bad_weight
from graphreach.graph.columns import is_plain_integer
from graphreach.io import text_kernels
from graphreach.io.guard import quiet_panics
from graphreach.io.sniff import Layout, data_lines, split_fields

if TYPE_CHECKING:
    import polars as pl

PLAIN_INTEGER = r"^(0|-?[1-9]\d*)$"


class TextFile(NamedTuple):
    """A text file's bytes, and its path if polars can read it from there."""

    text: NDArray[np.uint8]
    path: str | None
    what: str


class TextOptions(NamedTuple):
    """What the caller of :func:`graphreach.read_graph` said about a text file."""

    source: Any = None
    target: Any = None
    weight: Any = None
    ids: str = "auto"
    header: bool | None = None
    comments: str = "#%"
    time: Any = None


def _scan(text: NDArray[np.uint8], separator: int, comments: bytes) -> int:
    # A newline in place of a comment's character asks for blank lines, which are untidy anyway.
    comment = comments.ljust(4, b"\n")
    newline = np.full(1, text_kernels.NEWLINE, np.uint8)
    flags = 0
    # The kernel looks at inner bytes only; the ends are shown to it with a newline around them.
    for part in (text, np.concatenate([newline, text[:2]]), np.concatenate([text[-2:], newline])):
        flags |= text_kernels.scan_text(np.asarray(part), separator, *comment)
    return flags


def _blocks(text: NDArray[np.uint8]) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    for begin in range(0, len(text), 2**20):
        yield begin, np.asarray(text[begin : begin + 2**20])


class _Reader:
    """Reads columns of one file; a row's line number is looked up only when there is an error to report."""

    def __init__(self, file: TextFile, layout: Layout, options: TextOptions) -> None:
        self.file, self.layout, self.options = file, layout, options
        comments = np.frombuffer(options.comments.encode(), np.uint8)
        separator = ord(layout.separator)
        self.flags = _scan(file.text[layout.begin :], separator, options.comments.encode())
        if self.flags & text_kernels.BINARY:
            raise InputError(f"{file.what} must be text, but it holds a NUL byte in line {self._line_of_nul()}")
        self.source: str | bytes
        self.skip = 0
        if self.flags & (text_kernels.UNTIDY | text_kernels.PADDED):
            self.source = text_kernels.tidy_text(file.text, layout.begin, separator, comments).tobytes()
        elif file.path is not None:
            self.source, self.skip = file.path, layout.first_line
        else:
            self.source = file.text[layout.begin :].tobytes()

    def _line_of_nul(self) -> int:
        offset = next(
            begin + int(np.argmin(block)) for begin, block in _blocks(self.file.text) if block.size and not block.all()
        )
        return 1 + sum(
            int(np.count_nonzero(block == text_kernels.NEWLINE)) for _, block in _blocks(self.file.text[:offset])
        )

    def read(self, ids: list[int], weights: list[int]) -> "pl.DataFrame":
        """Return the columns of ids (integers if all are plain ones, else strings), then those of weights."""
        import polars as pl

        if self._expect_integers(ids):
            try:
                frame = self._read_csv(dict.fromkeys(ids, pl.Int64) | dict.fromkeys(weights, pl.Float64))
            except pl.exceptions.PolarsError:
                frame = None
            if frame is not None:
                self._check_complete(frame)
                return frame
        frame = self._read_strings(ids + weights)
        self._check_complete(frame)
        names = frame.columns[: len(ids)]
        frame = frame.with_columns(self._as_number(frame, name) for name in frame.columns[len(ids) :])
        # The first rows settle most files without a look at all rows.
        plain = all(each[name].str.contains(PLAIN_INTEGER).all() for each in (frame.head(100), frame) for name in names)
        if self.options.ids == "int" or (self.options.ids == "auto" and plain):
            numbers = frame.select(pl.col(names).cast(pl.Int64, strict=False))
            if not sum(numbers.null_count().row(0)):
                return frame.with_columns(numbers)
            if self.options.ids == "int":
                self._raise_not_an_integer(frame, numbers)
        return frame

    def _expect_integers(self, ids: list[int]) -> bool:
        if self.options.ids == "str" or self.flags & text_kernels.ODD_INTEGERS:
            return False
        rows = [row for row in self.layout.rows if len(row) > max(ids, default=0)]
        return all(is_plain_integer(row[column]) for row in rows for column in ids)

    def _read_csv(self, kinds: dict[int, Any]) -> "pl.DataFrame":
        import polars as pl

        number = len(self.layout.names)
        # Columns that nobody asked for are read as text, which accepts anything.
        schema = {f"column_{i + 1}": kinds.get(i, pl.String) for i in range(number)}
        with quiet_panics(len(self.file.text)):
            frame = pl.read_csv(
                self.source,
                has_header=False,
                separator=self.layout.separator,
                schema=schema,
                columns=sorted(kinds),
                skip_lines=self.skip,
                glob=False,
            )
        return frame.select(f"column_{i + 1}" for i in kinds)

    def _read_strings(self, columns: list[int]) -> "pl.DataFrame":
        import polars as pl

        try:
            frame = self._read_csv(dict.fromkeys(columns, pl.String))
        except pl.exceptions.PolarsError as error:
            self._raise_unreadable(str(error))
        if self.flags & text_kernels.PADDED:
            frame = frame.with_columns(pl.all().str.strip_chars())
        return frame.with_columns(pl.when(pl.all() != "").then(pl.all()))

    def _check_complete(self, frame: "pl.DataFrame") -> None:
        for name in frame.columns:
            if frame[name].null_count():
                line = self.line(int(np.argmax(frame[name].is_null().to_numpy())))
                raise InputError(f"{self.file.what} has nothing in column {self._title(name)} in line {line}")

    def _title(self, name: str) -> str:
        column = int(name.removeprefix("column_")) - 1
        return repr(self.layout.names[column]) if self.layout.has_header else str(column + 1)

    def _as_number(self, frame: "pl.DataFrame", name: str) -> "pl.Series":
        import polars as pl

        numbers = frame[name].cast(pl.Float64, strict=False)
        if numbers.null_count():
            row = int(np.argmax(numbers.is_null().to_numpy()))
            raise InputError(
                f"{self.file.what} must have a number in column {self._title(name)}, "
                f"got {frame[name][row]!r:.80} in line {self.line(row)}"
            )
        return numbers

    def _raise_not_an_integer(self, frame: "pl.DataFrame", numbers: "pl.DataFrame") -> NoReturn:
        wrong = [(int(np.argmax(one.is_null().to_numpy())), one.name) for one in numbers if one.null_count()]
        row, name = min(wrong)
        raise InputError(
            f"{self.file.what} must have an integer in column {self._title(name)} (ids='int'), "
            f"got {frame[name][row]!r:.80} in line {self.line(row)}"
        )

    def _raise_unreadable(self, message: str) -> NoReturn:
        if "utf-8" in message:
            raise InputError(f"{self.file.what} is not text in UTF-8")
        expected, separator = len(self.layout.names), self.layout.separator
        begin, first = self.layout.begin, self.layout.first_line
        # Rows that are too short are filled up, unless the first is.
        too_short = "not found" in message
        for number, _, line in data_lines(self.file.text[begin:], self.options.comments):
            try:
                fields = len(split_fields(line.decode(errors="replace"), separator))
            except csv.Error:  # a quote that is not closed
                break
            if fields < expected if too_short else fields > expected:
                raise InputError(
                    f"{self.file.what} must have {expected} fields a line, got {fields} in line {first + number + 1}"
                )
        raise InputError(f"{self.file.what} is not a table of text: {message.splitlines()[0][:200]}")

    def weights(self, frame: "pl.DataFrame") -> NDArray[np.float64]:
        """Return the last column as checked weights."""
        column = frame.to_series(-1)
        values = column.to_numpy()
        wrong = first_bad_weight(values)
        if wrong is not None:
            raise InputError(
                f"{self.file.what} must have finite weights from 0 on in column {self._title(column.name)} "
                f"(weight=False or --unweighted ignores them), got {values[wrong]} in line {self.line(wrong)}"
            )
        return check_weights(values, len(values), f"column {self._title(column.name)} of {self.file.what}")

    def line(self, row: int) -> int:
        """Return the line (from 1 on) on which a row stands."""
        begin, first = self.layout.begin, self.layout.first_line
        for index, (number, _, _) in enumerate(data_lines(self.file.text[begin:], self.options.comments)):
            if index == row:
                return first + number + 1
        return first + row + 1

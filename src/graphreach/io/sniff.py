"""What a text file of edges looks like: separator, header, number of columns, where its data begin."""

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.columns import NODE_NAMES, SAMPLE, is_number, looks_like_header, normalise_name

SEPARATORS = "\t,;|"
BLANKS = re.compile(r"[\x00-\x20]+")
STRAY_COMMA = re.compile(r"(?<!\d),|,(?!\d)|\t")
MOST = 0.8
"""The share of lines that a separator has to be in where it is not in all of them."""

BOM = b"\xef\xbb\xbf"


class Layout(NamedTuple):
    """How a text file is laid out.

    Attributes:
        separator: The character between fields; a space stands for runs of blanks.
        names: The header's fields, or the numbers of the columns from 0 on if there is no header.
        has_header: Whether the first data line is a header.
        first_line: The number of lines before the first row, header included.
        begin: The offset of the first row's first byte.
        rows: The fields of the first rows.
    """

    separator: str
    names: list[Any]
    has_header: bool
    first_line: int
    begin: int
    rows: list[list[str]]


def data_lines(text: NDArray[np.uint8], comments: str) -> Iterator[tuple[int, int, bytes]]:
    """Yield number (from 0 on), offset and bytes of each line that is neither blank nor a comment.

    Example:
        >>> list(data_lines(np.frombuffer(b"# comment\\n1 2\\n", np.uint8), "#"))
        [(1, 10, b'1 2')]
    """
    prefixes = tuple(comment.encode() for comment in comments)
    block, offset, number, rest = 2**16, 0, 0, b""
    for begin in range(0, len(text), block):
        lines = (rest + text[begin : begin + block].tobytes()).split(b"\n")
        rest = lines.pop()
        for line in lines:
            bare = line.removeprefix(BOM) if number == 0 else line
            if not bare.strip().startswith(prefixes) and bare.strip():
                yield number, offset, bare.rstrip(b"\r")
            number, offset = number + 1, offset + len(line) + 1
    bare = rest.removeprefix(BOM) if number == 0 else rest
    if not bare.strip().startswith(prefixes) and bare.strip():
        yield number, offset, bare


def sniff(text: NDArray[np.uint8], what: str, comments: str, header: bool | None, asked: tuple[Any, ...]) -> Layout:
    """Find out the layout of a text file from its first data lines.

    The separator is the first of tab, comma, semicolon and bar that is in every line, else blanks. The first
    line is a header if ``header`` says so, if it has all columns that were ``asked`` for by name, if it has a
    usual pair of names such as source and target or names a weight from its third column on, or if it has text
    in a column that holds numbers in all the lines after it.

    Example:
        >>> layout = sniff(np.frombuffer(b"u;v\\n1;2\\n", np.uint8), "edges.csv", "#", None, ())
        >>> layout.separator, layout.names, layout.rows
        (';', ['u', 'v'], [['1', '2']])
    """
    found = list(islice(data_lines(text, comments), SAMPLE))
    if not found:
        raise InputError(f"{what} must hold edges, but it is empty or holds only comments")
    try:
        lines = [line.decode() for _, _, line in found]
    except UnicodeDecodeError:
        raise InputError(f"{what} is not text in UTF-8") from None
    separator = find_separator(lines)
    try:
        rows = [split_fields(line, separator) for line in lines]
    except csv.Error as error:
        raise InputError(f"{what} is not a table of text: {error}") from None
    has_header = _has_header(rows, asked) if header is None else header
    names: list[Any] = [name.strip() for name in rows[0]] if has_header else list(range(len(rows[0])))
    if has_header and len(found) == 1:
        raise InputError(f"{what} must hold edges, but it has only a header")
    number, offset, _ = found[1 if has_header else 0]
    return Layout(separator, names, has_header, number, offset, rows[1 if has_header else 0 :])


def find_separator(lines: Sequence[str]) -> str:
    """Return the character between the fields of lines; a space stands for runs of blanks.

    It is the first of tab, comma, semicolon and bar that is in every line. One that is in nearly every line is taken
    too, as the lines without it are then too short, and are reported as such; networkx writes attributes in braces,
    which have commas of their own. A comma between digits may be a decimal one if there are semicolons.

    Example:
        >>> find_separator(["1,2", "2,3"]), find_separator(["1 2", "2 3"])
        (',', ' ')
    """
    if all(";" in line and not STRAY_COMMA.search(line) for line in lines):
        return ";"
    for least in (1.0, MOST):
        for each in SEPARATORS:
            if sum(each in line for line in lines) >= least * len(lines) and (least == 1 or "{" not in lines[0]):
                return each
    return " "


def split_fields(line: str, separator: str) -> list[str]:
    """Split a line of text into its fields.

    Example:
        >>> split_fields('"Smith, J",b', ","), split_fields("a   b", " ")
        (['Smith, J', 'b'], ['a', 'b'])
    """
    if separator == " ":
        # Blanks are what tidy_text takes for blanks, not all that Unicode does.
        line = BLANKS.sub(" ", line).strip(" ")
    return next(csv.reader([line], delimiter=separator), [])


def _has_header(rows: list[list[str]], asked: tuple[Any, ...]) -> bool:
    first, rest = [field.strip() for field in rows[0]], rows[1:]
    named = [name for name in asked if isinstance(name, str)]
    if (named and all(name in first for name in named)) or looks_like_header(first):
        return True
    if len(first) == 1 and normalise_name(first[0]) in NODE_NAMES:
        return True
    for column, field in enumerate(first):
        below = [row[column] for row in rest if len(row) > column]
        if below and not is_number(field) and all(is_number(each) and each.lower() != "nan" for each in below):
            return True
    return False

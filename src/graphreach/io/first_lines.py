"""The first lines of a text file: where its data begin after comments, and whether the first row names the columns."""

import csv
import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphreach.graph.columns import (
    NODE_NAMES,
    SAMPLE,
    TIMES,
    SampledTable,
    are_two_kinds,
    is_number,
    is_plain_integer,
    looks_like_header,
    normalise_name,
)
from graphreach.io.text import SEPARATORS, Layout, Start, data_lines, find_separator, split_fields

MARKS = "#%"
"""Characters that begin a comment where the caller names none."""

TRAITS: tuple[Callable[[str], bool], ...] = (
    lambda text: any(letter.isdigit() for letter in text),
    lambda text: not text[:1].isalnum(),
    lambda text: "@" in text,
    lambda text: "/" in text,
    lambda text: text[:1].isupper(),
)
"""Ways in which all ids of a column can differ from the column's name."""

LONELY = 0.1
"""If fewer rows than this share have two ids that occur nowhere else, a first row of such words is a header."""


def find_start(text: NDArray[np.uint8]) -> Start:
    """Find where the data begin in a file whose comments begin with ``#`` or ``%``.

    A line such as ``#love,#peace`` is no comment: every field of it begins with a mark. Neither are lines such as
    ``#love,ann`` where a table of text would otherwise have no rows, or where there are several of them before it.
    """
    plain = list(islice(data_lines(text, MARKS), SAMPLE))
    usual = Start(0, 0, MARKS)
    stop = plain[1][1] if len(plain) > 1 else len(text)
    lines = [
        (number, offset, _decode(line)) for number, offset, line in islice(data_lines(text[:stop], ""), 2 * SAMPLE)
    ]
    named = [each for each in lines if _begins_as_id(each[2]) and _fields(each[2])]
    if not named or (len(plain) > 1 and all(_has_integers(_decode(line)) for _, _, line in plain[1:])):
        return usual
    width = max(len(_fields(line)) for _, _, line in named)
    if len(plain) > 1:
        texts = [_decode(line) for _, _, line in plain]
        width = len(_split(texts[-1], find_separator(texts)))
    fitting = [each for each in named if len(_fields(each[2])) == width]
    double = [each for each in fitting if all(field.strip()[:1] in MARKS for field in _fields(each[2])[:2])]
    several = [each for each in fitting if any(mark in each[2] for mark in SEPARATORS)]
    rows = double or (several if len(several) > 1 or len(plain) < 2 else [])
    if not rows:
        return usual
    number, offset = min(each[:2] for each in (rows[0], *plain[:1]))
    return Start(offset, number, "")


def find_start_among(text: NDArray[np.uint8], ids: NDArray[Any], is_node: Callable[[str], bool]) -> Start:
    """Find where the data begin in a table about known nodes: a mark that begins one of their ids begins no comment."""
    begins = set() if ids.dtype.kind in "if" else {str(value)[:1] for value in ids.tolist()}
    comments = "".join(mark for mark in MARKS if mark not in begins)
    for number, offset, line in data_lines(text, "") if comments != MARKS else ():
        bare = _decode(line)
        if bare[:1] not in MARKS or is_node(bare) or is_node(re.split(r"[\t,;|]|\s+", bare)[0]):
            return Start(offset, number, comments)
    return Start(0, 0, comments)


def is_marked_row(line: str, layout: Layout) -> bool:
    """Tell whether a line that begins as a comment does looks like a row, as ``#love,#peace`` does.

    Such a row has as many fields as the others and a word right after the mark; where blanks separate, a second field
    has to begin with a mark too.
    """
    fields = _split(line.strip(), layout.separator)
    twice = layout.separator != " " or any(map(_begins_as_id, fields[1:]))
    return twice and _begins_as_id(line.strip()) and len(fields) == len(layout.names)


def _decode(line: bytes) -> str:
    return line.decode(errors="replace").strip()


def _begins_as_id(text: str) -> bool:
    return text[:1] in MARKS and (text[1:2].isalnum() or text[1:2] == "_")


def _fields(text: str) -> list[str]:
    fields = _split(text, next((each for each in SEPARATORS if each in text), " "))
    return fields if len(fields) > 1 and all(field.strip() for field in fields[:2]) else []


def _split(text: str, separator: str) -> list[str]:
    try:
        return split_fields(text, separator)
    except csv.Error:  # which is reported when the line is read
        return []


def _has_integers(text: str) -> bool:
    fields = _fields(text)
    return bool(fields) and all(is_plain_integer(field) for field in fields[:2])


def find_header(rows: Sequence[Sequence[str]], asked: Sequence[Any] = ()) -> bool | None:
    """Tell from the first rows whether the first of them is a header; ``None`` if only all rows can tell.

    It is one if it has all columns that were ``asked`` for by name, usual names, an unnamed first column, or text above
    a column of numbers. It is none if it holds a number in another way, or a word that occurs below.
    """
    first, below = [field.strip() for field in rows[0]], rows[1:]
    named = [name for name in asked if isinstance(name, str)]
    if (named and all(name in first for name in named)) or looks_like_header(first):
        return True
    if len(first) > 1 and (are_two_kinds(*first[:2]) or any(normalise_name(name) in TIMES for name in first[2:])):
        return True
    if not below:
        return False
    # An id is never empty, but the name of pandas' index is.
    if len(first) > 2 and not first[0] and all(first[1:]) and all(row[0].strip() for row in below if row):
        return True
    if any(is_number(field) for field in first[:2]):
        return False
    table = SampledTable(first, True, below, "")
    numbers = [table.holds(i, lambda each: is_number(each) and each.lower() != "nan") for i in range(len(first))]
    if any(above and not is_number(word) for word, above in zip(first[2:], numbers[2:], strict=True)):
        return True
    words = set(first[:2])
    if "" in words or any(words & set(table.fields(i)) for i in range(len(first[:2]))):
        return False
    if any(numbers[:2]):
        return True
    return False if any(map(is_number, first)) else None


def is_node_header(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row of a table about nodes is a header: a usual name alone, or as in a table of edges."""
    alone = len(rows[0]) == 1 and normalise_name(rows[0][0]) in NODE_NAMES
    return alone or find_header(rows) is True


def _is_unlike(words: list[str], columns: list[pl.Series]) -> bool:
    """Tell whether a word differs in some way from all ids of its column."""
    for word, column in zip(words, columns, strict=True):
        ids = column.drop_nulls().to_list()
        if len(ids) > 1 and any(not has(word) and all(map(has, ids)) for has in TRAITS):
            return True
    return False


def settle_header(source: pl.Series, target: pl.Series) -> tuple[bool, str | None]:
    """Tell from all rows whether the first is a header, and what was assumed if that is not certain.

    Words that occur nowhere else are a header if all ids are unlike one of them, as ``n1`` and ``n2`` are unlike
    ``Quelle``. They also are if nearly every other row has an id that occurs again, as ids of a graph do.
    """
    words = [source[0], target[0]]
    if source.slice(1).is_in(words).any() or target.slice(1).is_in(words).any():
        return False, None
    if words[0] != words[1] and _is_unlike(words, [column.slice(1, SAMPLE) for column in (source, target)]):
        return True, None
    single = pl.concat([source, target]).is_unique()
    rows = len(source)
    lonely = single.slice(1, rows - 1) & single.slice(rows + 1)
    is_header = words[0] != words[1] and len(lonely) > 1 and int(lonely.sum()) < LONELY * len(lonely)
    line = f"the first line, {words[0]!r} and {words[1]!r}, whose words occur nowhere else, was read as"
    if is_header:
        return True, f"{line} a header; header=False (--no-header) makes it an edge"
    return False, f"{line} an edge; header=True (--header) makes it a header"

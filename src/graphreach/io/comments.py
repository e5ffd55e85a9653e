"""Which lines of a text file are comments, and which hold ids that begin as comments do."""

import csv
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.graph.columns import SAMPLE, is_plain_integer
from graphreach.io.sniff import SEPARATORS, data_lines, find_separator, split_fields

MARKS = "#%"
"""Characters that begin a comment where the caller names none."""


class Start(NamedTuple):
    """Where the data of a file begin, and which characters begin a comment from there on."""

    offset: int
    line: int
    comments: str


def find_start(text: NDArray[np.uint8]) -> Start:
    """Find where the data begin in a file whose comments begin with ``#`` or ``%``.

    A line such as ``#love,#peace`` is no comment: every field of it begins with a mark. Neither are lines such as
    ``#love,ann`` where a table of text would otherwise have no rows, or where there are several of them before it.

    Example:
        >>> find_start(np.frombuffer(b"# tags\\n#love,#peace\\n#peace,#joy\\n", np.uint8))
        Start(offset=7, line=1, comments='')
        >>> find_start(np.frombuffer(b"# a graph\\n1,2\\n", np.uint8)).comments
        '#%'
    """
    plain = list(islice(data_lines(text, MARKS), SAMPLE))
    usual = Start(0, 0, MARKS)
    stop = plain[1][1] if len(plain) > 1 else len(text)
    marked = [each for each in islice(data_lines(text[:stop], ""), 2 * SAMPLE) if _begins_with_mark(each[2])]
    named = [each for each in marked if _fields(each[2])]
    if not named or (len(plain) > 1 and all(_has_integers(line) for _, _, line in plain[1:])):
        return usual
    width = max(len(_fields(line)) for _, _, line in named)
    if len(plain) > 1:
        width = len(_split(plain[-1][2].decode(errors="replace"), find_separator(_texts(plain))))
    fitting = [each for each in named if len(_fields(each[2])) == width]
    double = [each for each in fitting if all(field.strip()[:1] in MARKS for field in _fields(each[2])[:2])]
    several = [each for each in fitting if any(mark in each[2].decode(errors="replace") for mark in SEPARATORS)]
    rows = double or (several if len(several) > 1 or len(plain) < 2 else [])
    if not rows:
        return usual
    number, offset, _ = min(rows[0], plain[0]) if plain else rows[0]
    return Start(offset, number, "")


def _begins_with_mark(line: bytes) -> bool:
    bare = line.strip().decode(errors="replace")
    return bare[:1] in MARKS and bool(bare) and (bare[1:2].isalnum() or bare[1:2] == "_")


def _fields(line: bytes) -> list[str]:
    text = line.strip().decode(errors="replace")
    fields = _split(text, next((each for each in SEPARATORS if each in text), " "))
    return fields if len(fields) > 1 and all(field.strip() for field in fields[:2]) else []


def _split(text: str, separator: str) -> list[str]:
    try:
        return split_fields(text, separator)
    except csv.Error:  # which is reported when the line is read
        return []


def _texts(lines: list[tuple[int, int, bytes]]) -> list[str]:
    return [line.decode(errors="replace") for _, _, line in lines]


def _has_integers(line: bytes) -> bool:
    fields = _fields(line)
    return bool(fields) and all(is_plain_integer(field) for field in fields[:2])

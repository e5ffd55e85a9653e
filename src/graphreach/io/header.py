"""Whether the first row of a text file of edges names the columns."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from graphreach.graph.columns import SAMPLE, TIMES, are_two_kinds, is_number, looks_like_header, normalise_name

if TYPE_CHECKING:
    import polars as pl

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


def find_header(rows: Sequence[Sequence[str]], asked: Sequence[Any]) -> bool | None:
    """Tell from the first rows whether the first of them is a header; ``None`` if only all rows can tell.

    It is one if it has all columns that were ``asked`` for by name, usual names, an unnamed first column, or text above
    a column of numbers. It is none if it holds a number in another way, or a word that occurs below.

    Example:
        >>> find_header([["Quelle", "Ziel"], ["1", "2"]], ())
        True
        >>> find_header([["ann", "bob"], ["bob", "cid"]], ())
        False
        >>> find_header([["follower", "followee"], ["ann", "bob"]], ()) is None
        True
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
    columns = [[row[i].strip() for row in below if len(row) > i and row[i].strip()] for i in range(len(first))]
    above_numbers = [
        bool(column) and all(is_number(each) and each.lower() != "nan" for each in column) for column in columns
    ]
    if any(above and not is_number(word) for word, above in zip(first[2:], above_numbers[2:], strict=True)):
        return True
    words = set(first[:2])
    if "" in words or any(words & set(column) for column in columns[:2]):
        return False
    if any(above_numbers[:2]):
        return True
    return False if any(map(is_number, first)) else None


def _is_unlike(words: list[str], columns: "list[pl.Series]") -> bool:
    """Tell whether a word differs in some way from all ids of its column."""
    for word, column in zip(words, columns, strict=True):
        ids = column.drop_nulls().to_list()
        if len(ids) > 1 and any(not has(word) and all(map(has, ids)) for has in TRAITS):
            return True
    return False


def settle_header(source: "pl.Series", target: "pl.Series") -> tuple[bool, str | None]:
    """Tell from all rows whether the first is a header, and what was assumed if that is not certain.

    Words that occur nowhere else are a header if all ids are unlike one of them, as ``n1`` and ``n2`` are unlike
    ``Quelle``, or if nearly every other row has an id that occurs again, as ids of a graph do.

    Example:
        >>> import polars as pl
        >>> settle_header(pl.Series(["a", "x", "y", "z"]), pl.Series(["b", "y", "z", "x"]))[0]
        True
        >>> settle_header(pl.Series(["a", "x", "y"]), pl.Series(["b", "x", "a"]))
        (False, None)
    """
    import polars as pl

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

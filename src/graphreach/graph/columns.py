"""Names of columns that say what the columns hold, and columns of frames."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphreach.errors import InputError
from graphreach.graph.ids import specialise

SAMPLE = 200
"""Data lines that are looked at."""

INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
NODE_NAMES = ("id", "ids", "node", "nodes", "node_id", "nodeid", "name")

PAIRS = (
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("from", "to"),
    ("from_node", "to_node"),
    ("from_id", "to_id"),
    ("fromnodeid", "tonodeid"),
    ("source_id", "target_id"),
    ("u", "v"),
    ("s", "t"),
    ("head", "tail"),
    ("start", "end"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("node1", "node2"),
    ("node_1", "node_2"),
)
"""Names under which sources and targets are found, whatever their case."""

WEIGHTS = ("weight", "weights", "edge_weight", "w", "value")
"""Names under which weights are found, whatever their case."""

TIMES = (
    "time",
    "times",
    "timestamp",
    "timestamps",
    "time_stamp",
    "unixtime",
    "unix_time",
    "unix_timestamp",
    "unixtimestamp",
    "datetime",
    "date",
    "ts",
    "created_at",
    "updated_at",
    "year",
    "zeit",
    "datum",
    "zeitstempel",
)
"""Names under which times are found, whatever their case."""

USERS = (
    "user",
    "customer",
    "client",
    "reader",
    "viewer",
    "listener",
    "buyer",
    "shopper",
    "reviewer",
    "rater",
    "author",
)
ITEMS = (
    *("item", "product", "movie", "film", "show", "book", "song", "track", "artist", "album", "article", "paper"),
    *("business", "restaurant", "shop", "store", "venue", "place", "location", "poi", "game", "app", "job", "course"),
    *("tag", "hashtag", "topic", "category", "group", "event", "recipe", "video", "page", "word", "term"),
)
"""What columns of the two kinds of nodes of a bipartite graph are named after."""


def is_number(field: str) -> bool:
    """Tell whether a field of a text file is a number.

    Example:
        >>> is_number("1e-3"), is_number("one")
        (True, False)
    """
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def is_plain_integer(field: str) -> bool:
    """Tell whether a field is an integer written as Python would write it, and fits 64 bits.

    Example:
        >>> is_plain_integer("7"), is_plain_integer("007")
        (True, False)
    """
    bare = field.strip(" ")
    return INTEGER.fullmatch(bare) is not None and -(2**63) <= int(bare) < 2**63


def normalise_name(name: Any) -> str:
    """Return a column name without surrounding blanks and in lower case.

    Example:
        >>> normalise_name(" Source ")
        'source'
    """
    return str(name).strip().lower()


def is_unnamed(name: Any) -> bool:
    """Tell whether a column has no name of its own, as an index has that pandas wrote.

    Example:
        >>> is_unnamed(""), is_unnamed("Unnamed: 0"), is_unnamed("__index_level_0__"), is_unnamed("name")
        (True, True, True, False)
    """
    return re.fullmatch(r"(unnamed: \d+|__index_level_\d+__)?", normalise_name(name)) is not None


def are_two_kinds(source: Any, target: Any) -> bool:
    """Tell whether the names of two columns say that their nodes are of two kinds, such as users and items.

    Example:
        >>> are_two_kinds("user_id", "itemId"), are_two_kinds("source", "target")
        (True, False)
    """
    kinds = [
        re.sub(r"s?[_ .-]*(ids?|idx|index|no|nr|name|key)?$", "", normalise_name(name)) for name in (source, target)
    ]
    return any(a in USERS and b in ITEMS for a, b in (kinds, reversed(kinds)))


def looks_like_header(names: Sequence[str]) -> bool:
    """Tell whether the fields of a line contain a usual pair of names for sources and targets, or name a weight.

    Example:
        >>> looks_like_header(["From", "To", "capacity"]), looks_like_header(["ann", "bob"])
        (True, False)
        >>> looks_like_header(["a", "b", "weight"])
        True
    """
    usual = [normalise_name(name) for name in names]
    return find_pair(usual) is not None or any(name in WEIGHTS for name in usual[2:])


def find_pair(names: Sequence[str]) -> tuple[int, int] | None:
    """Return where the usual names for source and target stand, or ``None``.

    Example:
        >>> find_pair(["weight", "from", "to"])
        (1, 2)
    """
    for first, second in PAIRS:
        if first in names and second in names:
            return names.index(first), names.index(second)
    return None


def frame_column(column: Any, name: Any) -> Any:
    """Return a column of a pandas or polars frame as a column of ids; missing ids are an error.

    Example:
        >>> import polars as pl
        >>> frame_column(pl.Series([1, 2]), "u").dtype
        dtype('int64')
    """
    missing = column.is_null() if hasattr(column, "is_null") else column.isna()
    if missing.any():
        row = int(np.argmax(missing.to_numpy()))
        raise InputError(f"column {name!r} must hold an id in every row, got none in row {row}")
    if not hasattr(column, "is_null"):
        return specialise(np.asarray(column.to_numpy()))
    kind = str(column.dtype)
    if kind == "String":
        return column
    if kind.startswith(("Categorical", "Enum")):
        import polars as pl

        return column.cast(pl.String)
    # numpy has no integers of 128 bits, and decimals stay what they are.
    if column.dtype.is_float() or (column.dtype.is_integer() and "128" not in kind):
        return column.to_numpy()
    values = column.to_list()
    return specialise(np.fromiter(values, dtype=object, count=len(values)))

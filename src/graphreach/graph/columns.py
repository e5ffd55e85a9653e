"""Which columns of a table hold sources, targets and weights."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from graphreach.errors import InputError
from graphreach.graph.ids import specialise

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


def normalise_name(name: Any) -> str:
    """Return a column name without surrounding blanks and in lower case.

    Example:
        >>> normalise_name(" Source ")
        'source'
    """
    return str(name).strip().lower()


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


def choose_columns(
    names: Sequence[Any],
    source: Any,
    target: Any,
    weight: Any,
    *,
    what: str,
    third_is_weight: bool = False,
) -> tuple[Any, Any, Any]:
    """Return the columns of sources, targets and weights (``None`` for none).

    Sources and targets not asked for are found by their usual names, else they are the first two columns that
    were not asked for as something else. Weights not asked for are found by their usual names, or in the
    third of three columns if ``third_is_weight``.

    Example:
        >>> choose_columns(["from", "to", "capacity"], None, None, None, what="roads.csv")
        ('from', 'to', None)
        >>> choose_columns(["from", "to", "capacity"], None, None, "capcity", what="roads.csv")
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: weight='capcity' is not a column of roads.csv; did you mean 'capacity'?
    """
    if weight is True:
        raise InputError("weight must be the name of a column, None or False, got True")
    for argument, name in (("source", source), ("target", target), ("weight", weight)):
        if name is not None and name is not False and name not in names:
            raise InputError(f"{argument}={name!r} is not a column of {what}; {_suggest(name, names)}")
    if len(names) < 2:
        raise InputError(f"{what} must have a column of sources and one of targets, got only {list(names)}")
    # False equals 0, which is the name of a first column without header.
    candidates = [name for name in names if weight is False or name != weight]
    found = find_pair([normalise_name(name) for name in names])
    usual = (names[found[0]], names[found[1]]) if found else (None, None)
    source, target = _fill_in([source, target], usual, candidates, what)
    if source == target:
        raise InputError(f"source and target must be two columns of {what}, got {source!r} for both")
    if weight is None:
        weight = _find_weight(names, source, target, third_is_weight)
    return source, target, None if weight is False else weight


def _fill_in(asked: list[Any], usual: tuple[Any, Any], names: list[Any], what: str) -> list[Any]:
    chosen = list(asked)
    for end in (0, 1):
        if chosen[end] is None and usual[end] is not None and usual[end] not in asked:
            chosen[end] = usual[end]
    for end in (0, 1):
        if chosen[end] is None:
            free = [name for name in names if name not in chosen]
            if not free:
                raise InputError(f"{what} must have a column of sources and one of targets, got {names}")
            chosen[end] = free[0]
    return chosen


def _find_weight(names: Sequence[Any], source: Any, target: Any, third_is_weight: bool) -> Any:
    free = [name for name in names if name not in (source, target)]
    if third_is_weight and len(free) == 1:
        return free[0]
    usual = {normalise_name(name): name for name in reversed(free)}
    return next((usual[name] for name in WEIGHTS if name in usual), None)


def _suggest(name: Any, names: Sequence[Any]) -> str:
    close = get_close_matches(str(name), [str(other) for other in names], n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    listed = ", ".join(repr(other) for other in names[:10])
    return f"its columns are {listed}{', ...' if len(names) > 10 else ''}"


def frame_column(frame: Any, name: Any) -> Any:
    """Return a column of a pandas or polars frame as a column of ids; missing ids are an error.

    Example:
        >>> import polars as pl
        >>> frame_column(pl.DataFrame({"u": [1, 2]}), "u").dtype
        dtype('int64')
    """
    column = frame[name]
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
    if column.dtype.is_numeric():
        return column.to_numpy()
    values = column.to_list()
    return specialise(np.fromiter(values, dtype=object, count=len(values)))

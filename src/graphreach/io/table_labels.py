"""From a table's column of labels to classes, and the questions that a column raises which is none of classes."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.io.read_text import PLAIN_INTEGER
from graphreach.io.table_files import Table, list_names

if TYPE_CHECKING:
    import polars as pl

DECIMAL = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"
"""A number as programs write it."""

MANY = 20
"""Fewer classes than this are never too many, however few nodes there are."""

BETWEEN = (",", ";", "|", " ")
"""What stands between several labels of one cell."""


def encode_classes(
    labels: "pl.Series", rows: NDArray[np.int64], table: Table, column: int
) -> tuple[list[Any], NDArray[np.int64]]:
    """The sorted distinct labels, and each label's place among them.

    Args:
        labels: Labels without gaps.
        rows: The row of the table that each label stands in.
        table: The table, for messages.
        column: The column of the labels.
    """
    import polars as pl

    kind = labels.dtype
    if isinstance(kind, pl.Categorical | pl.Enum):
        labels = labels.cast(pl.String)
    if labels.dtype == pl.String:
        labels = _numbers_of_text(labels)
    if labels.dtype.is_float():
        labels = _whole(labels, rows, table, column)
    if not (labels.dtype.is_integer() or labels.dtype in (pl.String, pl.Boolean)):
        raise InputError(f"{table.what} must have text or whole numbers in column {table.title(column)}, got {kind}")
    classes = labels.unique().sort()
    if labels.dtype == pl.String:
        _check_one_label(labels, classes, rows, table, column)
    _check_shared(classes, labels, table, column)
    codes = labels.replace_strict(classes, pl.arange(len(classes), eager=True), return_dtype=pl.Int64)
    return classes.to_list(), codes.to_numpy()


def _numbers_of_text(labels: "pl.Series") -> "pl.Series":
    """Text that is all plain integers, or all numbers of which some have a decimal point, as these numbers."""
    import polars as pl

    if labels.str.contains(PLAIN_INTEGER).all():
        numbers = labels.cast(pl.Int64, strict=False)
        return labels if numbers.null_count() else numbers
    if labels.str.contains(DECIMAL).all() and labels.str.contains(".", literal=True).any():
        return labels.cast(pl.Float64)
    return labels


def _whole(labels: "pl.Series", rows: NDArray[np.int64], table: Table, column: int) -> "pl.Series":
    """Whole numbers as integers: pandas makes floats of integers as soon as one is missing."""
    import polars as pl

    whole = (labels == labels.round()) & (labels.abs() < 2**53)
    if whole.all():
        return labels.cast(pl.Int64)
    row = int(np.argmin(whole.to_numpy()))
    raise InputError(
        f"{table.what} must have classes (text or whole numbers) in column {table.title(column)}, got "
        f"{labels.n_unique()} different numbers, such as {labels[row]:g} in {table.place(int(rows[row]))}; is this a "
        f"regression target or the wrong column? The columns are {list_names(table)}"
    )


def _check_one_label(
    labels: "pl.Series", classes: "pl.Series", rows: NDArray[np.int64], table: Table, column: int
) -> None:
    known = set(classes.to_list())
    for text in classes.filter(classes.str.contains("[,;| ]")).to_list():
        if _is_several(text, known):
            row = int(rows[int(np.argmax((labels == text).to_numpy()))])
            raise InputError(
                f"{table.what} must have one label per node, got {text!r:.80} in column {table.title(column)} in "
                f"{table.place(row)}; are these several labels in one cell? Keep one of them, or name another column"
            )


def _is_several(text: str, known: set[str]) -> bool:
    """Whether a cell lists integers, or labels that other nodes have alone."""
    inner = text.strip("[](){} ")
    for separator in BETWEEN:
        parts = [part.strip(" '\"") for part in inner.split(separator)]
        if len(parts) > 1 and (all(re.fullmatch(r"-?\d+", part) for part in parts) or known.issuperset(parts)):
            return True
    return False


def _check_shared(classes: "pl.Series", labels: "pl.Series", table: Table, column: int) -> None:
    if len(classes) >= MANY and 2 * len(classes) > len(labels):
        raise InputError(
            f"{table.what} must have classes that nodes share in column {table.title(column)}, got {len(classes)} "
            f"different labels in {len(labels)} rows; is this a quantity, a name or the wrong column? The columns are "
            f"{list_names(table)}"
        )

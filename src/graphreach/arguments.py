"""Checks of what Python callers pass: one sentence that names the argument, what came and what would be right."""

import difflib
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError

KINDS = {"iu": "integers", "biuf": "numbers", "biufUO": "numbers or text"}
"""Words for kinds of numpy types."""


def describe(value: Any) -> str:
    """A value for a message: its repr where that is short and says something, else its type."""
    if isinstance(value, np.ndarray) or (
        hasattr(value, "shape") and hasattr(value, "dtype") and hasattr(value, "ndim")
    ):
        return f"an array of shape {list(value.shape)} of {value.dtype}"
    if value is None or isinstance(
        value, bool | int | float | complex | str | bytes | list | tuple | dict | np.generic
    ):
        return f"{value!r:.80}"
    kind = type(value).__name__
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"


def check_whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return a whole number within bounds."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < low or (high is not None and value > high):
        bounds = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise InputError(f"{name} must be an integer {bounds}, got {describe(value)}")
    return int(value)


def check_number(name: str, value: Any, low: float, high: float = math.inf, above: bool = False) -> float:
    """Return a finite number within bounds; ``above`` leaves out the lower one."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    fits = is_number and (low < value if above else low <= value) and value <= high and abs(value) < math.inf
    if not fits:
        if above:
            bounds = "a positive number" if (low, high) == (0, math.inf) else f"above {low} and at most {high:g}"
        else:
            bounds = f"a number of at least {low}" if high == math.inf else f"a number from {low} to {high}"
        raise InputError(f"{name} must be {bounds}, got {describe(value)}")
    return float(value)


def check_flag(name: str, value: Any) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {describe(value)}")
    return bool(value)


def nearest(word: Any, known: Iterable[Any]) -> str:
    """The end of a message that names the known word nearest to one that is not known, or nothing if none is near."""
    near = difflib.get_close_matches(str(word), [str(each) for each in known], 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def counted(number: int, noun: str) -> str:
    """A number of things.

    Example:
        >>> counted(1, "new node"), counted(0, "edge")
        ('1 new node', '0 edges')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def few(words: Sequence[str], most: int) -> str:
    """The first of several words for a message, and how many more there are."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def check_choice(name: str, value: Any, known: Collection[str], where: str = "", more: str = "") -> str:
    """Return a value that is one of several names, or suggest the nearest.

    ``where`` is text after the list of names, such as " for task node", and ``more`` what is allowed besides names, such
    as " or a function".
    """
    if isinstance(value, str) and value in known:
        return value
    two = len(known) == 2 and not more
    listed = " or ".join(f'"{each}"' for each in known) if two else f"one of {', '.join(known)}"
    hint = nearest(value, known) if isinstance(value, str) else ""
    raise InputError(f"{name} must be {listed}{more}{where}, got {describe(value)}{hint}")


def as_frame(value: Any) -> Any:
    """A pandas or polars data frame: the value itself, a lazy one collected, or a pyarrow table; None for anything else."""
    if isinstance(value, type):
        return None
    if hasattr(value, "collect") and hasattr(value, "lazy"):
        value = value.collect()
    if hasattr(value, "column_names") and hasattr(value, "to_pandas"):
        import polars as pl

        value = pl.from_arrow(value)
    return value if hasattr(value, "columns") and hasattr(value, "head") and hasattr(value, "to_numpy") else None


def frame_columns(name: str, frame: Any, count: int, what: str) -> list[Any]:
    """The columns of a data frame, pandas or polars Series, which must be so many; ``what`` says what they hold."""
    if len(frame.columns) != count:
        wanted = "one column" if count == 1 else f"{count} columns"
        names = few([repr(each) for each in frame.columns], 5) or "none"
        raise InputError(f"{name} as a frame must have {wanted} of {what}, got {len(frame.columns)}: {names}")
    by_place = hasattr(frame, "iloc")
    return [frame.iloc[:, i] if by_place else frame[frame.columns[i]] for i in range(count)]


def series_values(values: Any) -> Any:
    """The values of a pandas or polars Series or of a pyarrow column as a list; anything else as it is."""
    if not hasattr(values, "to_numpy") or isinstance(values, type):
        return values
    return next((getattr(values, name)() for name in ("to_list", "to_pylist") if hasattr(values, name)), values)


def to_array(name: str, values: Any, kinds: str = "biuf", what: str | None = None) -> NDArray[Any]:
    """Return a list, array or tensor of numbers as a numpy array; nothing is guessed and no mask is lost.

    ``kinds`` are the kinds of numpy types that are allowed, one of :data:`KINDS`; ``what`` says what would be right.
    """
    wanted, frame = what or f"a list or array of {KINDS[kinds]}", as_frame(values)
    values = values if frame is None else frame
    if values is None or isinstance(values, str | bytes | dict | set | frozenset | Iterator):
        hint = "; make a list of it" if isinstance(values, Iterator) else ""
        raise InputError(f"{name} must be {wanted}, got {describe(values)}{hint}")
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        masked = int(np.count_nonzero(np.ma.getmaskarray(values)))
        raise InputError(f"{name} must be {wanted} without gaps, got a masked array with {masked} entries masked")
    try:
        if hasattr(values, "detach"):
            values = values.detach().cpu().numpy()
        elif hasattr(values, "to_numpy"):
            values = values.to_numpy()
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError, MemoryError, OverflowError):
        raise InputError(f"{name} must be {wanted}, got {describe(values)}") from None
    if array.size and array.dtype.kind not in kinds:
        raise InputError(f"{name} must be {wanted}, got {_found(values, array)}")
    return array


def _found(values: Any, array: NDArray[Any]) -> str:
    if array.ndim == 0 or array.dtype == object:
        return describe(values if not isinstance(values, np.ndarray) else array)
    return f"shape {list(array.shape)} of {array.dtype}"


def to_integers(name: str, values: Any, what: str | None = None) -> NDArray[np.int64]:
    """Return a list, array or tensor of integers as ``int64``; an empty one may be of any kind."""
    array = to_array(name, values, "iu", what)
    if array.dtype == np.uint64 and array.size and int(array.max()) >= 2**63:
        raise InputError(f"{name} must hold integers below 2**63, got {int(array.max())}")
    return array.astype(np.int64, copy=False)


def to_finite(name: str, values: Any, what: str | None = None) -> NDArray[Any]:
    """Return numbers, none of which is missing or infinite."""
    array = to_array(name, values, "biuf", what)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, got {np.count_nonzero(~np.isfinite(array))} that are not")
    return array


def to_list(name: str, values: Any, what: str) -> list[Any]:
    """Return what can be listed as a list."""
    is_one = isinstance(values, str | bytes | dict) or getattr(values, "ndim", 1) == 0
    if is_one or not isinstance(values, Iterable):
        raise InputError(f"{name} must be {what}, got {describe(values)}")
    try:
        return list(values)
    except (MemoryError, OverflowError):
        raise InputError(f"{name} must be {what}, got {describe(values)} of more entries than memory holds") from None


def check_pairs(pairs: Any, num_nodes: int | None, name: str = "pairs") -> NDArray[np.int64]:
    """Return pairs of positions, below ``num_nodes`` if that is known, as an ``int64`` array ``[2, m]``.

    A data frame has one row per pair.
    """
    frame = as_frame(pairs)
    if frame is not None:
        columns = frame_columns(name, frame, 2, "positions")
        pairs = np.stack([to_array(name, column, "iu", "columns of integers") for column in columns])
    array = to_array(name, pairs, "biufUO", "an integer array of shape [2, m]")
    if array.size == 0:
        return np.empty((2, 0), np.int64)
    if array.ndim != 2 or array.shape[0] != 2 or array.dtype.kind not in "iu":
        hint = "; transpose it" if array.ndim == 2 and array.shape[1] == 2 else ""
        raise InputError(
            f"{name} must be an integer array of shape [2, m], got shape {list(array.shape)} of {array.dtype}{hint}"
        )
    low, high = array.min(), array.max()
    if low < 0 or (num_nodes is not None and high >= num_nodes):
        bounds = "of at least 0" if num_nodes is None else f"between 0 and {num_nodes - 1}"
        raise InputError(f"{name} must hold positions {bounds}, got {low if low < 0 else high}")
    return array.astype(np.int64)


def pair_rows(pairs: Any, name: str = "pairs") -> tuple[list[Any], list[Any]]:
    """Return the first and the second ids of pairs of node ids, which are rows ``(u, v)``."""
    frame = as_frame(pairs)
    if frame is not None:
        first, second = frame_columns(name, frame, 2, "node ids")
        return first.to_list(), second.to_list()
    shape = tuple(getattr(pairs, "shape", (0, 2)))
    if 0 not in shape and (len(shape) != 2 or shape[1] != 2):
        hint = "; transpose it" if len(shape) == 2 and shape[0] == 2 else ""
        raise InputError(f"{name} must be rows (u, v), shape [m, 2], got shape {list(shape)}{hint}")
    if hasattr(pairs, "tocsr"):
        raise InputError(f"{name} must be rows (u, v) of node ids, got {describe(pairs)}")
    if isinstance(pairs, np.ma.MaskedArray) and np.ma.is_masked(pairs):
        raise InputError(f"{name} must be rows (u, v) without gaps, got a masked array")
    rows = [series_values(row) for row in to_list(name, pairs, "rows (u, v) of node ids")]
    for row in rows:
        if isinstance(row, str | bytes | dict | set) or getattr(row, "__len__", int)() != 2:
            raise InputError(f"{name} must be rows (u, v) of two node ids each, got {describe(row)} among them")
    return [row[0] for row in rows], [row[1] for row in rows]


def to_path(name: str, value: Any) -> Path:
    """Return a file's or folder's name as a path."""
    text = fspath(value) if isinstance(value, str | PathLike) else None
    # Lone surrogates stand for bytes that are no UTF-8 (U+DC80 to U+DCFF); others no file system can hold.
    if not isinstance(text, str) or "\0" in text or any("\ud800" <= each < "\udc80" for each in text):
        raise InputError(f"{name} must be a path, got {describe(value)}")
    return Path(text)

"""Node ids of any hashable kind, and their order: numbers, then strings, then the rest.

A column of ids is a numpy array or a polars Series. :func:`encode_ids` numbers the ids of several columns by
their sorted order; integers and strings never pass through a Python loop.
"""

import numbers
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.build import MAX_NODES, plain
from graphreach.limits import check_memory

if TYPE_CHECKING:
    import polars as pl

Codes = NDArray[np.uint32]
Column = Any
"""A numpy array or a polars Series with one id per entry."""

WIDEST_TEXT = 64
"""Ids are stored as fixed-width text up to this many characters, as Python strings beyond."""


def encode_ids(columns: Sequence[Column]) -> tuple[NDArray[Any], list[Codes]]:
    """Return the sorted distinct ids of all columns, and each column as positions among them."""
    # An empty list arrives as float64 and says nothing about the kind of the ids.
    kinds = {_kind(column) for column in columns if len(column)}
    if kinds <= {"integer"}:
        return _encode_integers([np.asarray(column).astype(np.int64, copy=False) for column in columns])
    if kinds == {"string"}:
        return _encode_strings(columns)
    if kinds <= {"integer", "float"}:
        return _encode_floats([np.asarray(column, dtype=np.float64) for column in columns])
    return _encode_objects([ids.tolist() if isinstance(ids, np.ndarray) else ids.to_list() for ids in columns])


def _kind(column: Column) -> str:
    if not isinstance(column, np.ndarray):
        if column.dtype.is_integer() and str(column.dtype) not in ("UInt64", "Int128", "UInt128"):
            return "integer"
        return "string" if str(column.dtype) == "String" else "object"
    if column.dtype.kind in "iu" and column.dtype != np.uint64:
        return "integer"
    if column.dtype.kind == "u":
        return "integer" if not len(column) or int(column.max()) < 2**63 else "object"
    return {"f": "float", "U": "string"}.get(column.dtype.kind, "object")


def _encode_integers(columns: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], list[Codes]]:
    filled = [column for column in columns if len(column)]
    if not filled:
        return np.empty(0, np.int64), [np.empty(0, np.uint32) for _ in columns]
    low = min(int(column.min()) for column in filled)
    high = max(int(column.max()) for column in filled)
    total = sum(len(column) for column in columns)
    if high - low >= 2 * total + 2**16:
        return _rank_by_hash(columns)
    codes = [np.empty(len(column), np.uint32) for column in columns]
    present = np.zeros(high - low + 1, np.uint8)
    for column in columns:
        present[column - low] = 1
    ids = np.flatnonzero(present)
    check_number_of_nodes(len(ids))
    ranks = np.cumsum(present, dtype=np.uint32)
    ranks -= 1
    for column, out in zip(columns, codes, strict=True):
        np.take(ranks, column - low, out=out, mode="clip")
    return ids + low, codes


def _rank_by_hash(columns: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], list[Codes]]:
    codes, first_rows = _number_by_hash(columns)
    ids = np.concatenate([column[rows] for column, rows in zip(columns, first_rows, strict=True)])
    order = np.argsort(ids)
    _renumber(codes, order)
    return ids[order], codes


def _number_by_hash(columns: list[NDArray[np.int64]]) -> tuple[list[Codes], list[NDArray[np.intp]]]:
    """Numbers in the order of first occurrence, and the rows of each column that have a new one."""
    from graphreach.graph import kernels

    table, count = np.zeros((2**16, 2), np.int64), 0
    codes, first_rows = [np.empty(len(column), np.uint32) for column in columns], []
    for column, out in zip(columns, codes, strict=True):
        highest, values = count - 1, column.view()
        values.flags.writeable = False  # as those of a frame are: one version of the kernel
        table, count = kernels.number_values(values, out, table, count)
        first_rows.append(np.flatnonzero(np.diff(np.maximum.accumulate(np.concatenate([[highest], out])))))
    check_number_of_nodes(count)
    return codes, first_rows


def _renumber(codes: list[Codes], order: NDArray[np.intp]) -> None:
    """Replace each code by its place in ``order``."""
    ranks = np.empty(len(order), np.uint32)
    ranks[order] = np.arange(len(order), dtype=np.uint32)
    for out in codes:
        np.take(ranks, out, out=out, mode="clip")


def _encode_strings(columns: Sequence[Column]) -> tuple[NDArray[Any], list[Codes]]:
    import polars as pl

    series = [_as_text_series(column) for column in columns]
    # Numbering the hashes is several times faster than polars' own grouping of the strings.
    hashes = [one.hash().to_numpy().view(np.int64) for one in series]
    codes, first_rows = _number_by_hash(hashes)
    del hashes
    distinct = pl.concat([one.gather(rows) for one, rows in zip(series, first_rows, strict=True)], rechunk=True)
    if not all((distinct.gather(code) == one).all() for code, one in zip(codes, series, strict=True)):
        return _encode_colliding_strings(series)
    # Sorting a frame takes a fifth of the time of Series.arg_sort.
    ordered = pl.DataFrame({"id": distinct, "code": np.arange(len(distinct))}).sort("id")
    _renumber(codes, ordered["code"].to_numpy())
    return _text_array(ordered["id"]), codes


def _encode_colliding_strings(series: list["pl.Series"]) -> tuple[NDArray[Any], list[Codes]]:
    """Number strings of which two have the same hash."""
    import polars as pl

    distinct = pl.concat(series).unique().sort()
    kind = pl.Enum(distinct)
    codes = [one.cast(kind).to_physical().to_numpy().astype(np.uint32) for one in series]
    return _text_array(distinct), codes


def _as_text_series(column: Column) -> "pl.Series":
    import polars as pl

    if isinstance(column, np.ndarray):
        return pl.Series(column.tolist(), dtype=pl.String)
    series: pl.Series = column.cast(pl.String)
    return series


def _text_array(texts: "pl.Series") -> NDArray[Any]:
    objects: NDArray[Any] = texts.to_numpy()
    width = texts.str.len_chars().max()
    # Fixed-width text drops trailing NULs, which would make two ids one.
    if isinstance(width, int) and (width > WIDEST_TEXT or texts.str.ends_with("\0").any()):
        return objects
    return objects.astype(np.str_)


def _encode_floats(columns: list[NDArray[np.float64]]) -> tuple[NDArray[np.float64], list[Codes]]:
    joined = np.concatenate(columns)
    if np.isnan(joined).any():
        raise InputError("node ids must not be missing, got NaN")
    ids, inverse = np.unique(joined, return_inverse=True)
    check_number_of_nodes(len(ids))
    parts = np.split(inverse.astype(np.uint32), np.cumsum([len(column) for column in columns])[:-1])
    return ids, parts


def _encode_objects(columns: list[list[Any]]) -> tuple[NDArray[Any], list[Codes]]:
    columns = [[plain(value) for value in column] for column in columns]
    distinct: dict[Hashable, int] = {}
    try:
        for column in columns:
            for value in column:
                distinct.setdefault(value, len(distinct))
    except TypeError:
        raise InputError(f"node ids must be hashable, got {value!r:.80} of type {type(value).__name__}") from None
    ordered = sort_ids(distinct)
    ids = ids_array(ordered)
    rank_of = {value: rank for rank, value in enumerate(ordered)}
    codes = [np.fromiter((rank_of[value] for value in column), np.uint32, len(column)) for column in columns]
    return ids, codes


def ids_array(values: Iterable[Any]) -> NDArray[Any]:
    """Return ids as an array: ``int64``, ``float64`` or text where all are of that kind, else ``object``."""
    values = [plain(value) for value in values]
    kinds = {type(value) for value in values}
    if kinds <= {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    if kinds == {float}:
        return np.array(values, dtype=np.float64)
    if kinds == {str} and all(len(text) <= WIDEST_TEXT and text[-1:] != "\0" for text in values):
        return np.array(values, dtype=np.str_)
    return np.fromiter(values, dtype=object, count=len(values))


def plain_ids(ids: NDArray[Any]) -> list[Any]:
    """Return ids as numbers and text, which is what JSON and tables can hold; other kinds by their text."""
    return [value if is_plain(value) else str(value) for value in ids.tolist()]


def few_ids(ids: Sequence[Any] | NDArray[Any]) -> str:
    """Name the first of several ids."""
    more = f" and {len(ids) - 3} more" if len(ids) > 3 else ""
    return ", ".join(repr(plain(value)) for value in ids[:3]) + more


def is_plain(value: Any) -> bool:
    """Tell whether an id is a number or text; ``True`` is no name of node 1."""
    return isinstance(value, int | float | str) and not isinstance(value, bool)


def sort_ids(values: Iterable[Hashable]) -> list[Any]:
    """Sort distinct ids: numbers by value, then strings, then the rest by name of type and by value.

    Values of one type that cannot be compared with each other are sorted by their ``repr``.
    """
    groups: dict[tuple[int, str], list[Any]] = {}
    values = list(values)
    tensors = [kind.__name__ for kind in {type(value) for value in values} if hasattr(kind, "detach")]
    if tensors:  # they are hashed by identity: two of one number would be two nodes
        raise InputError(f"node ids must be numbers, text or other plain values, got a {tensors[0]}; pass its tolist()")
    for value in values:
        if value != value:
            raise InputError(f"node ids must equal themselves, got {value!r}")
        groups.setdefault(_group(value), []).append(value)
    return [value for group in sorted(groups) for value in _sort_group(groups[group])]


def _group(value: Any) -> tuple[int, str]:
    if isinstance(value, numbers.Real | Decimal):
        return 0, ""
    return (1, "") if isinstance(value, str) else (2, type(value).__name__)


def _sort_group(values: list[Any]) -> list[Any]:
    if isinstance(values[0], tuple | frozenset):
        return sorted(values, key=_nested_key)
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=canonical_text)


def _nested_key(value: Any) -> tuple[Any, ...]:
    """Return a key by which tuples and frozensets of unlike things can be compared."""
    group = _group(value)
    if group[0] < 2:
        return (*group, value)
    if isinstance(value, tuple):
        return (*group, tuple(map(_nested_key, value)))
    if isinstance(value, frozenset):
        return (*group, tuple(sorted(map(_nested_key, value))))
    return (*group, canonical_text(value))


def canonical_text(value: Any) -> str:
    """Return a text for an id that does not depend on the process: frozensets are written sorted."""
    if isinstance(value, tuple):
        inner = ",".join(map(canonical_text, value))
    elif isinstance(value, frozenset):
        inner = ",".join(sorted(map(canonical_text, value)))
    else:
        inner = repr(value)
    return f"{type(value).__name__}({inner})"


def rank_ids(ids: Sequence[Any] | NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """Return given ids sorted, and the rank of each; they must be distinct."""
    ordered, (ranks,) = encode_ids([specialise(ids) if isinstance(ids, np.ndarray) else ids_array(ids)])
    if len(ordered) < len(ids):
        repeated = plain(ordered[np.flatnonzero(np.bincount(ranks) > 1)[0]])
        raise InputError(f"ids must be distinct, got {repeated!r} more than once")
    return ordered, ranks


def specialise(column: NDArray[Any]) -> NDArray[Any]:
    """Return an object array of integers, of floats or of strings as an array of that type."""
    return ids_array(column.tolist()) if column.dtype == object else column


def check_number_of_nodes(n: int) -> None:
    """Raise if there are more nodes than the index type can number."""
    if n > MAX_NODES:
        raise InputError(f"a graph has at most 2**32 nodes, got {n}")


def check_listed(values: Any, name: str) -> None:
    """Refuse what has too many entries for a list of them in memory, such as a range."""
    try:
        count = len(values) if hasattr(values, "__len__") else 0
    except TypeError:
        raise InputError(f"{name} must be a list or an array, got {type(values).__name__}") from None
    check_memory(16 * count, f"a list of {count} {name}", f"give fewer {name}")


def hash_ids(ids: NDArray[Any], digest: Any) -> None:
    """Feed ids to a hash so that neither the width of text nor the process shows in it."""
    if ids.dtype.kind in "if":
        digest.update(ids.dtype.kind.encode())
        digest.update(np.ascontiguousarray(ids).data)
        return
    values = ids.tolist()
    if all(isinstance(value, str) for value in values):
        digest.update(b"s")
    else:
        digest.update(b"o")
        values = [canonical_text(value) for value in values]
    digest.update(np.fromiter(map(len, values), np.int64, len(values)).data)
    digest.update("".join(values).encode("utf-8", "surrogatepass"))

"""Two kinds of nodes that are numbered on their own: user 3 and item 3 are not one node."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.columns import are_two_kinds

DENSE = 0.9
"""The share of numbers in a range that has to occur for the range to be counted through."""


def split_kinds(source: Any, target: Any, names: tuple[Any, Any], bipartite: bool | None) -> tuple[Any, Any, list[str]]:
    """Give the ids of two kinds of nodes the name of their column, as ``user:3`` and ``item:3``.

    Args:
        source: A column of ids.
        target: A column of ids.
        names: The names of the columns, or numbers where they have none.
        bipartite: Whether there are two kinds; by default (``None``) that is so if the names say it, as user and item
            do, and ids are integers, or an id occurs in both columns.

    Returns:
        Both columns, and sentences on what was assumed.

    Example:
        >>> source, target, _ = split_kinds(np.array([1, 2]), np.array([2, 2]), ("user", "item"), None)
        >>> source.to_list(), target.to_list()
        (['user:1', 'user:2'], ['item:2', 'item:2'])
    """
    import polars as pl

    if not (bipartite is None or isinstance(bipartite, bool)):
        raise InputError(f"bipartite must be True, False or None, got {bipartite!r:.80}")
    named = all(isinstance(name, str) for name in names)
    if bipartite is False or (bipartite is None and not (named and are_two_kinds(*names))):
        return source, target, []
    columns = [_as_series(column) for column in (source, target)]
    if bipartite is None and not _may_share_ids(*columns):
        return source, target, []
    if any(column is None for column in columns):
        raise InputError("bipartite=True needs ids that are integers or text, got others")
    kinds = [str(name) for name in names] if named else ["source", "target"]
    if kinds[0] == kinds[1]:
        raise InputError(f"bipartite=True needs columns of two names, got {kinds[0]!r} for both")
    texts = [
        pl.select(pl.lit(kind + ":") + column.cast(pl.String)).to_series()
        for kind, column in zip(kinds, columns, strict=True)
    ]
    sentence = f"two kinds of nodes with ids such as {texts[0][0]!r} and {texts[1][0]!r}"
    if bipartite is None:
        sentence += "; bipartite=False (--no-bipartite) makes equal ids one node"
    return texts[0], texts[1], [sentence]


def _as_series(column: Any) -> Any:
    """The column as a polars Series of integers or text, or ``None``."""
    import polars as pl

    if isinstance(column, np.ndarray):
        if column.dtype.kind not in "iuU":
            return None
        column = pl.Series(column.tolist() if column.dtype.kind == "U" else column)
    return column if column.dtype.is_integer() or column.dtype == pl.String else None


def _may_share_ids(source: Any, target: Any) -> bool:
    """Whether columns of two kinds of nodes have ids in common, or integers, which may any day."""
    if source is None or target is None or source.dtype.is_integer() != target.dtype.is_integer():
        return False
    return source.dtype.is_integer() or bool(source.unique().is_in(target.unique().implode()).any())


def looks_numbered_twice(source: NDArray[np.uint32], target: NDArray[np.uint32], ids: NDArray[Any]) -> bool:
    """Tell whether edges look as if their two columns were numbered on their own.

    Both columns count through a range from 0 or 1 on, one range is much shorter than the other, and there are as many
    self-loops as chance would make if equal numbers meant nothing. Graphs with one kind of nodes have next to none.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> users, items = rng.integers(0, 200, 2000), rng.integers(0, 40, 2000)
        >>> looks_numbered_twice(users, items, np.arange(200))
        True
    """
    if ids.dtype.kind != "i" or len(source) < 10 or ids[0] not in (0, 1):
        return False
    if len(ids) < DENSE * (int(ids[-1]) + 1 - int(ids[0])):
        return False
    ends = sorted(int(column.max()) + 1 for column in (source, target))
    if ends[0] > 0.8 * ends[1]:
        return False
    counts = [np.bincount(column, minlength=len(ids)) for column in (source, target)]
    if any(
        np.count_nonzero(count) < DENSE * (column.max() + 1)
        for count, column in zip(counts, (source, target), strict=True)
    ):
        return False
    expected = float(counts[0] @ counts[1].astype(np.float64)) / len(source)
    # Two standard deviations below what chance would make.
    return expected >= 2 and int(np.count_nonzero(source == target)) >= max(1, expected - 2 * expected**0.5)

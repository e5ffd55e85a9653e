"""Times of edges: columns of numbers or of dates."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

FEWEST = 100
"""Rows below which numbers that never fall are not taken for times."""


def grows_like_time(values: NDArray[np.float64]) -> bool:
    """Tell whether numbers are whole, never fall from row to row and are mostly distinct, as times do.

    Example:
        >>> grows_like_time(np.arange(200.0)), grows_like_time(np.ones(200))
        (True, False)
    """
    if len(values) < FEWEST or values[0] > values[-1]:
        return False
    # The first rows settle most files without a look at all rows.
    for part in (values[:1000], values):
        steps = np.diff(part)
        if steps.min() < 0 or np.count_nonzero(steps) < 0.5 * len(steps) or np.any(part != np.floor(part)):
            return False
    return True


def parse_times(column: "pl.Series") -> NDArray[np.float64] | None:
    """Return numbers as they are, and dates as seconds since 1970; ``None`` if a field is neither.

    Example:
        >>> import polars as pl
        >>> parse_times(pl.Series(["1970-01-02", "1970-01-03 00:00:01"]))
        array([ 86400., 172801.])
        >>> parse_times(pl.Series(["1.5", "2"])), parse_times(pl.Series(["soon"]))
        (array([1.5, 2. ]), None)
    """
    import polars as pl

    if column.dtype == pl.String:
        numbers = column.cast(pl.Float64, strict=False)
        column = _parse_dates(column) if numbers.null_count() else numbers
    if column.dtype.is_temporal():
        column = column.cast(pl.Datetime("us")).dt.timestamp("us").cast(pl.Float64) / 1e6
    if not column.dtype.is_numeric() or column.null_count():
        return None
    times = column.cast(pl.Float64).to_numpy()
    return np.ascontiguousarray(times) if np.isfinite(times).all() else None


def _parse_dates(column: "pl.Series") -> "pl.Series":
    import polars as pl

    text = column.str.replace_all("/", "-").str.replace(r"(\d)[T ]", "${1} ").str.replace(r" ?(Z|UTC)$", "+00:00")
    text = text.str.replace(r" ([+-]\d\d:?\d\d)$", "${1}")
    zoned = text.str.contains(r"[+-]\d\d:?\d\d$") & text.str.contains(":")
    best = pl.Series([None] * len(text), dtype=pl.Datetime("us"))
    for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S%.f"):
        plain = text.str.to_datetime(form, strict=False, time_unit="us")
        aware = text.str.to_datetime(form + "%z", strict=False, time_unit="us").dt.replace_time_zone(None)
        best = best.zip_with(best.is_not_null(), aware.zip_with(zoned, plain))
    return best

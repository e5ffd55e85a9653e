"""Values of every kind that an argument must not have, and values near to a right one."""

import datetime
import decimal
import fractions
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.entry import Dice


class Odd:
    """An object that is nothing in particular."""

    def __repr__(self) -> str:
        return "Odd()"


def _masked() -> Any:
    return np.ma.masked_array([0, 1, 2], mask=[False, True, False])


def _series() -> Any:
    import polars as pl

    return pl.Series([0, 1, 2])


def _frame() -> Any:
    import pandas as pd

    return pd.DataFrame([[0, 1, 2], [1, 2, 3]], columns=["a", "a", "b"])


def _tensor() -> Any:
    import torch

    return torch.tensor([[0.5, 1.0], [2.0, float("nan")]])


def _nx() -> Any:
    import networkx as nx

    return nx.path_graph(3)


def _sparse() -> Any:
    import scipy.sparse

    return scipy.sparse.csr_array([[0, 1], [1, 0]])


def _nested() -> Any:
    out: list[Any] = []
    for _ in range(200):
        out = [out]
    return out


def _of_itself() -> Any:
    out: list[Any] = [1]
    out.append(out)
    return out


ODD: list[Callable[[], Any]] = [
    lambda: None, lambda: True, lambda: False, lambda: 0, lambda: 1, lambda: -1, lambda: 2, lambda: 7, lambda: 2**31,
    lambda: 2**63, lambda: 2**64, lambda: 10**30, lambda: -(2**63) - 1, lambda: 0.0, lambda: -0.0, lambda: 0.5,
        lambda: 1.0,
    lambda: 2.5, lambda: -0.5, lambda: float("nan"), lambda: float("inf"), lambda: float("-inf"), lambda: 1e308,
    lambda: 5e-324, lambda: 1j, lambda: "", lambda: "a", lambda: "0", lambda: "nan", lambda: "a\0b", lambda: "\u00e9",
    lambda: "\ud800", lambda: "x" * 10_000, lambda: b"", lambda: b"abc", lambda: bytearray(3),
        lambda: memoryview(b"abc"),
    lambda: [], lambda: [[]], lambda: [0], lambda: [0, 1, 2], lambda: [[0, 1], [1, 2]], lambda: [[0, 1, 2], [1, 2]],
    lambda: [None], lambda: ["a", "b"], lambda: [1, "a"], lambda: [0.5, float("nan")], lambda: [-1, 99],
        lambda: [10**30],
    lambda: [True, False], lambda: (), lambda: (1, 2), lambda: (0, 1, 2), lambda: {}, lambda: {"a": 1}, lambda: {0: 1},
    lambda: set(), lambda: {1, 2}, lambda: frozenset(), lambda: range(3), lambda: range(10**12),
        lambda: (i for i in range(3)),
    lambda: iter([]), lambda: map(str, [1]), lambda: zip([1], [2], strict=True), Odd, lambda: Odd, lambda: int,
        lambda: len,
    lambda: lambda *a, **k: None, lambda: Ellipsis, lambda: NotImplemented, lambda: slice(1), lambda: Path("none"),
    lambda: decimal.Decimal("1.5"), lambda: fractions.Fraction(1, 3), lambda: datetime.date(2020, 1, 1),
    lambda: np.int8(3), lambda: np.uint64(2**64 - 1), lambda: np.float16(0.5), lambda: np.float32("nan"),
        lambda: np.bool_(1),
    lambda: np.str_("a"), lambda: np.datetime64("2020-01-01"), lambda: np.complex64(1j), lambda: np.array(3),
        lambda: np.array("a"),
    lambda: np.array([]), lambda: np.zeros((0, 2)), lambda: np.zeros((2, 0), int), lambda: np.zeros((2, 3), int),
    lambda: np.ones((3, 3, 3)), lambda: np.array([1.5, np.nan]), lambda: np.array([[0, 1], [1, 2]]),
        lambda: np.array([-1, 5]),
    lambda: np.array([0, 2**62]), lambda: np.array([0, 1], np.uint8), lambda: np.array([0, 1], ">i4"),
        lambda: np.array([1j, 2]),
    lambda: np.array([0, None, "a"], object), lambda: np.array([[1, 2], [3, 4]], object), lambda: np.array(["a", "b"]),
    lambda: np.array([b"a"]), lambda: np.array(["2020-01-01"], "M8[D]"), lambda: np.zeros(2, [("a", int)]), _masked,
    lambda: np.ma.masked_array(np.ones((2, 3)), mask=True), lambda: np.arange(12).reshape(3, 4)[:, ::2],
        lambda: np.eye(3) > 0,
    lambda: np.zeros((3, 0, 2)), lambda: np.empty(0, "U1"), lambda: np.array([np.inf, -np.inf]), _series, _frame,
        _tensor, _nx,
    _sparse, _nested, _of_itself,
]  # fmt: skip


def odd(dice: Dice) -> Any:
    """A value of some kind."""
    return dice.pick(ODD)()


def near(value: Any, dice: Dice) -> Any:
    """A value of the right kind that is wrong, or right in another form."""
    if isinstance(value, bool) or value is None:
        return odd(dice)
    if isinstance(value, int):
        return dice.pick([0, -1, -value, value + 1, value * 1000, value + 0.5, float(value), str(value),
            np.int64(value),
                          np.array(value), np.uint8(value % 256), [value], 10**9, 10**12, 10**18,
                              np.float64(value)])  # fmt: skip
    if isinstance(value, float):
        return dice.pick(
            [-value, value * 1e30, 0.0, 1.0, 1e-300, str(value), np.float32(value), [value], int(value), np.nan]
        )
    if isinstance(value, str):
        return dice.pick(
            [value.upper(), value[:-1], f" {value}", f"{value}\0", value.encode(), [value], np.str_(value), ""]
        )
    if isinstance(value, np.ndarray):
        return near_array(value, dice)
    if isinstance(value, list | tuple):
        return dice.pick([list(value), tuple(value), iter(value), value[:1], [*value, *value], [value],
            np.array(value, object),
                          [*value, None], set(range(len(value))), dict(enumerate(value))])  # fmt: skip
    return odd(dice)


def near_array(value: Any, dice: Dice) -> Any:
    """An array with another type, shape, order or number in it."""
    kind = dice.below(12)
    if kind == 0:
        dtypes = ["f4", "f8", "i1", "u8", "b1", "O", "U8", "c8", ">i4", "f2", "M8[s]", "S4", "i4", "u2"]
        try:
            return value.astype(dice.pick(dtypes))
        except (TypeError, ValueError):
            return value.astype("U9")
    if kind == 1:
        return value.T
    if kind == 2:
        return value[None]
    if kind == 3:
        return value.ravel()
    if kind == 4:
        return value[: dice.below(len(value) + 1)] if value.ndim else value
    if kind == 5:
        return np.concatenate([value, value]) if value.ndim else value
    if kind == 6:
        return np.ma.masked_array(value, mask=dice.chance(0.5))
    if kind == 7:
        return value.tolist()
    if kind == 8:
        return np.asfortranarray(value)[..., ::-1] if value.ndim else value
    out = value.astype(np.float64) if dice.chance(0.3) and value.dtype.kind in "iufb" else value.copy()
    if out.size and out.dtype.kind in "iuf":
        numbers: list[Any] = (
            [-1, 99, 2**31, 2**62] if out.dtype.kind != "f" else [np.nan, np.inf, -1.0, 1e300, 0.5, 1e-320]
        )
        with np.errstate(all="ignore"):
            out.flat[dice.below(out.size)] = np.array(dice.pick(numbers)).astype(out.dtype)
    return out

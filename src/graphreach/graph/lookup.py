"""Finding the positions of ids, in whatever order they stand, also of those that joined a graph later."""

from collections.abc import Hashable, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import as_frame, frame_columns
from graphreach.errors import InputError
from graphreach.graph.build import plain
from graphreach.graph.ids import check_listed, few_ids, ids_array, specialise

EXACT_FLOAT = 2**53
"""Integers up to which a float is the same number."""

_growing = Lock()
"""Held while late ids are added, as graphs that were made from each other share them."""


class IdLookup:
    """Finds the positions of ids in an array of distinct ids.

    Ids are equal where Python says so: 1 is 1.0 but not ``"1"``. Sorted integers, floats and text are searched, others
    and those in another order are found by a table that the first search makes. :meth:`extended` gives a lookup with
    further ids that shares what is known of the first ones.
    """

    def __init__(self, ids: NDArray[Any]) -> None:
        self._first, self._late, self._num_late = _FirstIds(ids), _LateIds(), 0
        self.kind: str = ids.dtype.kind

    def __len__(self) -> int:
        return len(self._first.ids) + self._num_late

    def __reduce__(self) -> Any:
        return IdLookup, (self.ids,)

    @property
    def num_late(self) -> int:
        """How many ids were added to the first ones."""
        return self._num_late

    @cached_property
    def ids(self) -> NDArray[Any]:
        """All ids, ``[n]``, in the order of their positions."""
        first = self._first.ids
        if not self._num_late:
            return first
        late = self._late.values[: self._num_late]
        if self.kind == first.dtype.kind != "O":
            ids = np.concatenate([first, ids_array(late)])
        else:
            ids = ids_array([*first.tolist(), *late])
        ids.flags.writeable = False
        return ids

    def extended(self, ids: NDArray[Any]) -> "IdLookup":
        """A lookup with further ids, none of which is known, at the positions after those of the others."""
        new = [plain(value) for value in ids.tolist()]
        other = IdLookup.__new__(IdLookup)
        other._first, other._num_late = self._first, self._num_late + len(new)
        other.kind = self.kind if ids_array(new).dtype.kind == self.kind else "O"
        with _growing:
            # Whoever comes first goes on writing behind our ids; another graph made from ours needs a copy.
            late = self._late if len(self._late.values) == self._num_late else self._late.copy(self._num_late)
            late.add(new, len(self))
        other._late = late
        return other

    def normal(self, values: NDArray[Any]) -> NDArray[Any]:
        """New ids as they would stand among those known: 7.0 becomes 7 among integers, and 7 becomes 7.0 among floats."""
        if self.kind == "i" and values.dtype.kind in "fO":
            values = ids_array([int(v) if isinstance(v, float) and v.is_integer() else v for v in values.tolist()])
        elif self.kind == "f" and values.dtype.kind in "iuO":
            values = ids_array([float(v) if type(v) is int and float(v) == v else v for v in values.tolist()])
        return values

    def positions(self, wanted: NDArray[Any]) -> NDArray[np.int64]:
        """The position of each of several ids, -1 for those that are not known."""
        found = self._first.find(wanted)
        if self._num_late:
            unknown = np.flatnonzero(found < 0)
            if len(unknown):
                get, size = self._late.positions.get, len(self)
                late = _find_by(get, wanted[unknown].tolist())
                found[unknown] = np.where(late < size, late, -1)
        return found

    def find(self, ids: Any) -> Any:
        """Return the position of one id as ``int``, of several as an ``int64`` array."""
        if self._is_one(ids):
            return int(self._find_many(np.fromiter([ids], dtype=object, count=1))[0])
        frame = as_frame(ids)
        if frame is not None:
            (ids,) = frame_columns("ids", frame, 1, "node ids")
        if hasattr(ids, "detach"):
            ids = ids.detach().cpu()
        if hasattr(ids, "to_numpy") or hasattr(ids, "numpy"):
            ids = ids.to_numpy() if hasattr(ids, "to_numpy") else ids.numpy()
        if not isinstance(ids, np.ndarray):
            check_listed(ids, "ids")
            values = list(ids)
            ids = np.fromiter(values, dtype=object, count=len(values))
        return self._find_many(ids.reshape(-1)).reshape(ids.shape)

    def _is_one(self, ids: Any) -> bool:
        if isinstance(ids, np.ndarray) or hasattr(ids, "__array__"):
            return getattr(ids, "ndim", 1) == 0 or isinstance(ids, np.generic)
        if isinstance(ids, str | bytes) or not hasattr(ids, "__iter__"):
            return True
        try:
            known = self._late.positions.get(ids, len(self)) < len(self)
            return self.kind == "O" and (known or ids in self._first.positions)
        except TypeError:  # it holds a list
            return False

    def _find_many(self, wanted: NDArray[Any]) -> NDArray[np.int64]:
        found = self.positions(wanted)
        known = found >= 0
        if not known.all():
            known_ids, unknown = few_ids(self._first.ids[:3]), few_ids(wanted[~known])
            raise InputError(f"ids must be ids of nodes (such as {known_ids}), got {unknown}")
        return found


class _FirstIds:
    """An array of distinct ids, and what finds them; nothing in it changes."""

    def __init__(self, ids: NDArray[Any]) -> None:
        self.ids = ids

    @cached_property
    def positions(self) -> dict[Hashable, int]:
        return {value: position for position, value in enumerate(self.ids.tolist())}

    @cached_property
    def order(self) -> NDArray[np.intp] | None:
        """Positions by sorted order, or None if the ids are sorted."""
        return None if bool((self.ids[1:] > self.ids[:-1]).all()) else np.argsort(self.ids)

    @cached_property
    def begin(self) -> int | None:
        """The first id if ids are integers that count up from it, else None."""
        ids = self.ids
        counts = ids.dtype.kind == "i" and self.order is None and int(ids[-1]) - int(ids[0]) == len(ids) - 1
        return int(ids[0]) if counts else None

    def find(self, wanted: NDArray[Any]) -> NDArray[np.int64]:
        """The position of each of several ids, -1 for those that are not there."""
        wanted = specialise(wanted)
        own, kind = self.ids.dtype.kind, wanted.dtype.kind
        if not len(self.ids) or not len(wanted) or (own in "if" and kind == "U") or (own == "U" and kind in "iuf"):
            return np.full(len(wanted), -1, np.int64)
        if own in "if" and kind in "iuf":
            converted = _convert(wanted, own)
            if converted is not None:
                return self._search(converted, converted)
        if own == kind == "U":
            # An id that is cut to the width of the known ones is none of them, which the comparison shows.
            return self._search(wanted.astype(self.ids.dtype, copy=False), wanted)
        return self._find_values(wanted.tolist())

    def _search(self, keys: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.int64]:
        last = len(self.ids) - 1
        if self.begin is not None:
            # A difference may overflow, which the comparison shows.
            at = np.clip(keys - self.begin, 0, last)
        else:
            at = np.minimum(np.searchsorted(self.ids, keys, sorter=self.order), last)
            at = at if self.order is None else self.order[at]
        return np.where(self.ids[at] == wanted, at, -1).astype(np.int64, copy=False)

    def _find_values(self, values: list[Any]) -> NDArray[np.int64]:
        """The same for ids of several kinds; among integers, text is left out before a table of all ids is made."""
        if self.ids.dtype.kind != "i" or not {type(value) for value in values} <= {int, float, str}:
            return _find_by(self.positions.get, values)
        values = [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]
        rows = [i for i, v in enumerate(values) if isinstance(v, int) and -(2**63) <= v < 2**63]
        found = np.full(len(values), -1, np.int64)
        found[rows] = self.find(np.array([values[i] for i in rows], np.int64))
        return found


class _LateIds:
    """Ids in the order in which they came, and their positions."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.positions: dict[Hashable, int] = {}

    def copy(self, size: int) -> "_LateIds":
        """The first ``size`` of them."""
        other = _LateIds()
        other.values = self.values[:size]
        other.positions = {value: self.positions[value] for value in other.values}
        return other

    def add(self, values: list[Any], begin: int) -> None:
        """Add ids that get the positions from ``begin`` on."""
        self.values.extend(values)
        self.positions.update(zip(values, range(begin, begin + len(values)), strict=True))


def _convert(wanted: NDArray[Any], kind: str) -> NDArray[Any] | None:
    """Numbers as ``int64`` or ``float64`` if that changes none of them."""
    if kind == "i":
        if wanted.dtype.kind == "f":
            whole = bool((wanted == np.floor(wanted)).all()) and bool((np.abs(wanted) < 2**63).all())
            return wanted.astype(np.int64) if whole else None
        fits = wanted.dtype != np.uint64 or int(wanted.max()) < 2**63
        return wanted.astype(np.int64, copy=False) if fits else None
    if wanted.dtype.kind == "f":
        return wanted.astype(np.float64, copy=False)
    fits = int(wanted.min()) >= -EXACT_FLOAT and int(wanted.max()) <= EXACT_FLOAT
    return wanted.astype(np.float64) if fits else None


def _find_by(get: Any, values: Sequence[Any]) -> NDArray[np.int64]:
    try:
        return np.fromiter((get(plain(value), -1) for value in values), np.int64, len(values))
    except TypeError:
        raise InputError(f"ids must be hashable, got {values!r:.80}") from None

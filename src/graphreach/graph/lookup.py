"""From ids back to positions, and the hash of ids."""

from collections.abc import Hashable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.build import plain
from graphreach.graph.ids import canonical_text, check_listed


class IdLookup:
    """Finds the positions of ids in a sorted array of ids.

    Example:
        >>> IdLookup(np.array([10, 20, 30])).find([30, 10])
        array([2, 0])
    """

    def __init__(self, ids: NDArray[Any]) -> None:
        self.ids = ids

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        return {value: position for position, value in enumerate(self.ids.tolist())}

    def find(self, ids: Any) -> Any:
        """Return the position of one id as ``int``, of several as an ``int64`` array.

        Example:
            >>> IdLookup(np.array(["a", "b"])).find("b")
            1
        """
        if self._is_one(ids):
            return int(self._find_many(np.fromiter([ids], dtype=object, count=1))[0])
        if hasattr(ids, "detach"):
            ids = ids.detach().cpu()
        column = ids if isinstance(ids, np.ndarray) else None
        if column is None and hasattr(ids, "to_numpy"):
            column = ids.to_numpy()
        elif column is None and hasattr(ids, "numpy"):
            column = ids.numpy()
        if column is None:
            check_listed(ids, "ids")
            values = list(ids)
            column = np.fromiter(values, dtype=object, count=len(values))
        shape = column.shape
        return self._find_many(column.reshape(-1)).reshape(shape)

    def _is_one(self, ids: Any) -> bool:
        if isinstance(ids, np.ndarray) or hasattr(ids, "__array__"):
            return getattr(ids, "ndim", 1) == 0 or isinstance(ids, np.generic)
        if isinstance(ids, str | bytes) or not hasattr(ids, "__iter__"):
            return True
        return isinstance(ids, Hashable) and self.ids.dtype == object and _is_key(ids, self._positions)

    def _find_many(self, wanted: NDArray[Any]) -> NDArray[np.int64]:
        same_kind = wanted.dtype.kind in "iu" and self.ids.dtype.kind == "i"
        if same_kind or (wanted.dtype.kind == "U" and self.ids.dtype.kind == "U"):
            found = np.searchsorted(self.ids, wanted).astype(np.int64)
            known = found < len(self.ids)
            known[known] = self.ids[found[known]] == wanted[known]
        else:
            # A dictionary compares as Python does: 1 is 1.0, and ids of any kind may be asked for.
            get = self._positions.get
            values = [plain(value) for value in wanted.tolist()]
            try:
                found = np.fromiter((get(value, -1) for value in values), np.int64, len(values))
            except TypeError:
                raise InputError(f"ids must be hashable, got {values!r:.80}") from None
            known = found >= 0
        if not known.all():
            self._raise_unknown(wanted[~known])
        return found

    def _raise_unknown(self, unknown: NDArray[Any]) -> None:
        few = ", ".join(repr(plain(value)) for value in unknown[:3])
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        example = ", ".join(repr(plain(value)) for value in self.ids[:3])
        raise InputError(f"ids must be ids of nodes (such as {example}), got {few}{more}")


def _is_key(value: Hashable, positions: dict[Hashable, int]) -> bool:
    try:
        return value in positions
    except TypeError:
        return False


def hash_ids(ids: NDArray[Any], digest: Any) -> None:
    """Feed ids to a hash so that neither the width of text nor the process shows in it.

    Example:
        >>> import hashlib
        >>> narrow, wide = hashlib.sha256(), hashlib.sha256()
        >>> hash_ids(np.array(["a"], dtype="U1"), narrow)
        >>> hash_ids(np.array(["a"], dtype="U9"), wide)
        >>> narrow.hexdigest() == wide.hexdigest()
        True
    """
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

"""The anchors of a trained model, found again in a graph that has grown or changed."""

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.ids import few_ids

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
"""An integer as it is written; 07 is another id than 7."""

FEW_MISSING = 0.1
"""The share of anchors that a graph may lack, and one at least."""


class AnchorMatch(NamedTuple):
    """Where the anchors of a model are in a graph.

    Attributes:
        positions: Positions of those that the graph has, in the order of the anchors.
        columns: Which of the anchors these are.
        missing: Ids of the others.
    """

    positions: NDArray[np.int64]
    columns: NDArray[np.int64]
    missing: list[Any]

    def widen(self, z: NDArray[np.float32]) -> NDArray[np.float32]:
        """Embeddings with a column of zeros for each anchor that is missing.

        Args:
            z: Embeddings ``[n, found + others]``: a column for each anchor that was found, then any others.

        Example:
            >>> AnchorMatch(np.array([4]), np.array([1]), ["a"]).widen(np.ones((1, 2), np.float32))
            array([[0., 1., 1.]], dtype=float32)
        """
        if not self.missing:
            return z
        found, count = len(self.columns), len(self.columns) + len(self.missing)
        wide = np.zeros((len(z), z.shape[1] + len(self.missing)), z.dtype)
        wide[:, self.columns] = z[:, :found]
        wide[:, count:] = z[:, found:]
        return wide


def match_ids(wanted: Sequence[Any], ids: NDArray[Any]) -> NDArray[np.int64]:
    """Positions of ids, -1 where there is none; an integer and its text are one id if they are not both there.

    A graph's ids are all text as soon as one of them is, so that the node 7 may be ``"7"`` after the graph has grown.

    Example:
        >>> match_ids([7, 8, 9], np.array(["7", "8", "new"])).tolist(), match_ids(["7"], np.array([5, 7])).tolist()
        ([0, 1, -1], [1])
    """
    if ids.dtype.kind in "iuU" and len(ids):
        kind = str if ids.dtype.kind == "U" else int
        asked = [_as_kind(each, kind) for each in wanted]
        column = np.array([each for each in asked if each is not None], dtype=None if kind is str else np.int64)
        known = ids.astype(np.int64, copy=False) if kind is int else ids
        found = np.minimum(np.searchsorted(known, column), len(ids) - 1) if len(column) else np.empty(0, np.int64)
        out = np.full(len(asked), -1, np.int64)
        out[[each is not None for each in asked]] = np.where(known[found] == column, found, -1) if len(column) else -1
        return out
    values = ids.tolist()
    exact = {value: position for position, value in enumerate(values)}
    by_text: dict[str, int] = {}
    for position, value in enumerate(values):
        if isinstance(value, str | int | float):
            text = _as_kind(value, str)
            by_text[text] = -1 if text in by_text else position  # two nodes of one text are told apart by kind alone
    return np.array([exact.get(each, by_text.get(_as_kind(each, str), -1)) for each in wanted], np.int64)


def match_anchors(anchors: Sequence[Any], graph: Graph, *, all_needed: bool = False) -> AnchorMatch:
    """Where a model's anchors are in a graph; too many that are missing are refused, a few are named in a warning.

    Args:
        anchors: Ids of the anchors.
        graph: The graph that was trained on, grown or changed.
        all_needed: Whether none may be missing, as classes of nodes are learned from the anchors' columns.

    Example:
        >>> path = Graph.from_edge_list([("1", "2"), ("2", "3"), ("3", "new")])
        >>> match_anchors([3, 1], path).positions
        array([2, 0])
    """
    positions = match_ids(anchors, graph.ids)
    found = positions >= 0
    missing = [each for each, known in zip(anchors, found, strict=True) if not known]
    if missing:
        _check_missing(missing, len(anchors), all_needed)
    return AnchorMatch(positions[found], np.flatnonzero(found), missing)


def check_anchor_ids(anchors: Any, path: Path) -> list[Any] | None:
    """The ids of anchors that a file holds, or None if it holds none.

    Example:
        >>> check_anchor_ids(["a", 7], Path("config.json"))
        ['a', 7]
    """
    plain = isinstance(anchors, list) and all(type(each) in (int, float, str) for each in anchors)
    if anchors is not None and (not plain or not anchors or len(set(anchors)) < len(anchors)):
        raise InputError(f"{path} must have a list of ids, each once, as anchors, got {anchors!r:.80}")
    return None if anchors is None else list(anchors)


def check_saved_ids(ids: NDArray[Any]) -> list[Any]:
    """Ids of anchors as JSON holds them; other kinds could not be told apart again.

    Example:
        >>> check_saved_ids(np.array([3, 5]))
        [3, 5]
    """
    values: list[Any] = ids.tolist()
    if not all(isinstance(value, int | float | str) for value in values):
        raise InputError("node ids must be numbers or strings to be saved")
    return values


def _check_missing(missing: list[Any], count: int, all_needed: bool) -> None:
    named = few_ids(missing)
    if all_needed:
        raise InputError(
            f"graph must have all {count} anchors that the classes were learned from, got one without {len(missing)} of"
            f" them: {named}"
        )
    if len(missing) > max(1, int(FEW_MISSING * count)) or 2 * len(missing) >= count:
        raise InputError(
            f"graph must have the anchors that the model was trained with, got one without {len(missing)} of {count}: "
            f"{named}; new_anchors=True (--new-anchors) chooses anchors of its own"
        )
    warnings.warn(
        f"the graph lacks {len(missing)} of {count} anchors that the model was trained with: {named}; their columns of the"
        " embedding are zero",
        stacklevel=4,
    )


def _as_kind(value: Any, kind: type) -> Any:
    """An id as text or as an integer, or None if it is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if kind is str:
        return str(value)
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        value = int(value)
    return value if isinstance(value, int) and -(2**63) <= value < 2**63 else None

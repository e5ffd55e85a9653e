"""Ids of one graph found in another, and as files hold them."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import describe
from graphreach.errors import InputError
from graphreach.graph.ids import few_ids
from graphreach.graph.lookup import IdLookup

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
"""An integer as it is written; 07 is another id than 7."""


def match_ids(wanted: Sequence[Any], ids: NDArray[Any]) -> NDArray[np.int64]:
    """Positions of ids, -1 where there is none; an integer and its text are one id if they are not both there.

    A graph's ids are all text as soon as one of them is, so that the node 7 may be ``"7"`` after the graph has grown.
    """
    if ids.dtype.kind in "iuU" and len(ids):
        kind = str if ids.dtype.kind == "U" else int
        asked = [_as_kind(each, kind) for each in wanted]
        column = np.array([each for each in asked if each is not None], dtype=None if kind is str else np.int64)
        out = np.full(len(asked), -1, np.int64)
        out[[each is not None for each in asked]] = IdLookup(ids).positions(column)
        return out
    values = ids.tolist()
    exact = {value: position for position, value in enumerate(values)}
    by_text: dict[str, int] = {}
    for position, value in enumerate(values):
        if isinstance(value, str | int | float):
            text = _as_kind(value, str)
            by_text[text] = -1 if text in by_text else position  # two nodes of one text are told apart by kind alone
    return np.array([exact.get(each, by_text.get(_as_kind(each, str), -1)) for each in wanted], np.int64)


def find_ids(wanted: Sequence[Any], ids: NDArray[Any], name: str) -> NDArray[np.int64]:
    """Positions of ids as in :func:`match_ids`; an id that is not there is refused.

    Args:
        wanted: The ids.
        ids: Ids of all nodes.
        name: The argument that holds the ids.
    """
    plain = [each.item() if isinstance(each, np.generic) else each for each in wanted]
    can_be = [_can_be_id(each) for each in plain]
    found = np.where(can_be, match_ids([each if ok else 0 for each, ok in zip(plain, can_be, strict=True)], ids), -1)
    if (found < 0).any():
        wrong = describe(plain[int(np.argmax(found < 0))])
        raise InputError(f"{name} must hold ids of nodes (such as {few_ids(ids[:3])}), got {wrong}")
    return found


def _can_be_id(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return value is not None


def _as_kind(value: Any, kind: type) -> Any:
    """An id as text or as an integer, or None if it is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if kind is str:
        return str(value)
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        value = int(value)
    return value if isinstance(value, int) and -(2**63) <= value < 2**63 else None


def check_anchor_ids(anchors: Any, path: Path) -> list[Any] | None:
    """The ids of anchors that a file holds, or None if it holds none."""
    plain = isinstance(anchors, list) and all(type(each) in (int, float, str) for each in anchors)
    if anchors is not None and (not plain or not anchors or len(set(anchors)) < len(anchors)):
        raise InputError(f"{path} must have a list of ids, each once, as anchors, got {anchors!r:.80}")
    return None if anchors is None else list(anchors)


def check_saved_ids(ids: NDArray[Any]) -> list[Any]:
    """Ids of anchors as JSON holds them; other kinds could not be distinguished again."""
    values: list[Any] = ids.tolist()
    if not all(isinstance(value, int | float | str) for value in values):
        raise InputError("node ids must be numbers or strings to be saved")
    return values

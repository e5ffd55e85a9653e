"""Figures from published tables, read from `published.yaml`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, NamedTuple

import yaml


class Published(NamedTuple):
    """What a published table says about one method.

    Attributes:
        name: Name of the method.
        source: Paper or table that the figures come from.
        year: Year of the source, or None where it has no date.
        checked: Whether the figures were compared with a copy of the source.
        figures: Figure for each data set.
    """

    name: str
    source: str
    year: int | None
    checked: bool
    figures: dict[str, float]


@functools.cache
def _tables() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return found


def published(table: str) -> list[Published]:
    """The methods of a published table."""
    return [Published(**each) for each in _tables()[table]]


def figures(table: str, method: str) -> dict[str, float]:
    """The figures of one method of a published table."""
    (found,) = (each.figures for each in published(table) if each.name == method)
    return found

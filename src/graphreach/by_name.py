"""What a room finds in a later one, by name: the one place that knows of both. Nothing is imported until it is wanted."""

from pkgutil import resolve_name
from typing import Any

from graphreach.errors import needed_packages

ENGINES = {"local": "graphreach.walks.engine:Local", "ray": "graphreach.cluster:Ray"}
"""Engines that walk and train."""

CONVERTERS = {"torch": "graphreach.nn.positions:Positions.from_reachability"}
"""From reachability to what layers read."""


def find(place: str) -> Any:
    """The object at a place of one of these tables."""
    with needed_packages(place.partition(":")[2]):
        return resolve_name(place)

"""Graphs: compressed sparse rows with the user's node ids, from arrays, frames and other libraries."""

from typing import TYPE_CHECKING

from graphreach.graph.graph import Graph
from graphreach.lazy import import_lazily

if TYPE_CHECKING:
    from graphreach.graph.snapshots import Snapshot, replay

__all__ = ["Graph", "Snapshot", "replay"]

__getattr__, __dir__ = import_lazily(__name__, {"snapshots": "Snapshot replay"})

"""Graphs: compressed sparse rows with the user's node ids, from arrays, frames and other libraries."""

from graphreach.graph.graph import Graph

__all__ = ["Graph"]

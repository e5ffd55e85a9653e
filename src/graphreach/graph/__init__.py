"""Graphs: compressed sparse rows with the user's node ids, from arrays, frames, other libraries and files."""

from graphreach.graph.graph import Graph
from graphreach.graph.read_graph import read_graph

__all__ = ["Graph", "read_graph"]

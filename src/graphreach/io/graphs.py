"""Graphs from what people have."""

from os import PathLike
from typing import Any

from graphreach.arguments import describe
from graphreach.errors import InputError
from graphreach.graph import Graph


def as_graph(graph: Any, name: str = "graph") -> Graph:
    """A graph from what people have: a :class:`Graph`, networkx, SciPy, PyG, a file's path."""
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, str | PathLike):
        from graphreach.io import read_graph

        return read_graph(graph)
    module = type(graph).__module__.partition(".")[0]
    if module == "networkx":
        return Graph.from_networkx(graph)
    if module == "scipy":
        return Graph.from_scipy(graph)
    if module == "torch_geometric":
        return Graph.from_pyg(graph)
    raise InputError(f"{name} must be a Graph, a networkx, SciPy or PyG graph or a path, got {describe(graph)}")

"""Graphs from what people have."""

from collections.abc import Callable
from os import PathLike
from typing import Any

from graphreach.arguments import describe
from graphreach.errors import InputError
from graphreach.graph import Graph

MAKERS: dict[str, tuple[Callable[..., Graph], str]] = {
    "networkx": (Graph.from_networkx, "G"),
    "scipy": (Graph.from_scipy, "A"),
    "torch_geometric": (Graph.from_pyg, "data"),
}
"""What makes a graph of the objects of a package, and the name that its messages have for the object."""


def as_graph(graph: Any, name: str = "graph") -> Graph:
    """A graph from what people have: a :class:`Graph`, networkx, SciPy, PyG, a file's path."""
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, str | PathLike):
        from graphreach.io import read_graph

        return read_graph(graph)
    module = type(graph).__module__.partition(".")[0]
    if module not in MAKERS:
        raise InputError(f"{name} must be a Graph, a networkx, SciPy or PyG graph or a path, got {describe(graph)}")
    make, own = MAKERS[module]
    try:
        return make(graph)
    except InputError as error:
        said = str(error)
        if said.startswith(f"{own} "):
            raise InputError(name + said.removeprefix(own)) from None
        raise

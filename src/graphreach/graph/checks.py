"""The check of arguments that must be graphs."""

from os import PathLike
from typing import Any

from graphreach.arguments import describe
from graphreach.errors import InputError
from graphreach.graph.graph import Graph

REMEDIES = {
    "networkx": "Graph.from_networkx",
    "scipy": "Graph.from_scipy",
    "torch_geometric": "Graph.from_pyg",
    "pandas": "Graph.from_frame",
    "polars": "Graph.from_frame",
}


def check_graph(graph: Any, name: str = "graph") -> Graph:
    """Return a :class:`Graph`; other libraries' graphs are not converted, as their nodes may be in another order."""
    if isinstance(graph, Graph):
        return graph
    module = type(graph).__module__.partition(".")[0]
    remedy = REMEDIES.get(module, "")
    hint = f"; make one by {remedy}" if remedy and hasattr(Graph, remedy.partition(".")[2]) else ""
    if isinstance(graph, str | PathLike):
        hint = "; read it by graphreach.read_graph"
    what = f"a {module} {type(graph).__name__}" if remedy else describe(graph)
    raise InputError(f"{name} must be a Graph, got {what}{hint}")

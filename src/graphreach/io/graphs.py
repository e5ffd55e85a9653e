"""Graphs from what people have."""

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np

from graphreach.arguments import as_frame, describe
from graphreach.errors import InputError
from graphreach.graph import Graph

MAKERS: dict[str, tuple[Callable[..., Graph], str]] = {
    "networkx": (Graph.from_networkx, "G"),
    "scipy": (Graph.from_scipy, "A"),
    "torch_geometric": (Graph.from_pyg, "data"),
    "frame": (Graph.from_frame, "frame"),
}
"""What makes a graph of the objects of a package, and the name that its messages have for the object."""


def as_graph(graph: Any, name: str = "graph") -> Graph:
    """A graph from what people have: a :class:`Graph`, networkx, SciPy, PyG, a data frame of edges, a file's path."""
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, str | PathLike):
        from graphreach.io import read_graph

        return read_graph(graph)
    frame = as_frame(graph)
    module = "frame" if frame is not None else type(graph).__module__.partition(".")[0]
    if module not in MAKERS:
        raise InputError(
            f"{name} must be a Graph, a networkx, SciPy or PyG graph, a data frame or a path, got {describe(graph)}"
        )
    make, own = MAKERS[module]
    try:
        return make(graph)
    except InputError as error:
        said = str(error)
        if said.startswith(f"{own} "):
            raise InputError(name + said.removeprefix(own)) from None
        raise


def changed_graph(known: Graph | None, add: Any, remove: Any, weights: Any, graph: Any) -> Graph:
    """The graph that an estimator is to know: the one it knows with changes, or one that is given whole.

    Args:
        known: The graph that is known, or None.
        add: Edges to add, as :meth:`Graph.updated` takes them.
        remove: Edges to remove.
        weights: Edges with new weights.
        graph: A graph in which the nodes of the known one come first, in their order, or None.
    """
    if graph is None and known is not None:
        return known.updated(add=add, remove=remove, weights=weights)
    for name, value in (("add", add), ("remove", remove), ("weights", weights)):
        if value is not None:
            raise InputError(f"{name} must be None where graph is given, as that is the changed graph, got both")
    changed = as_graph(graph)
    if known is not None and not np.array_equal(known.ids, changed.ids[: known.num_nodes]):
        raise InputError(
            "graph must have the nodes that are known first, in their order, as Graph.updated has them; got another one"
        )
    return changed

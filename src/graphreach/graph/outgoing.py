"""From a graph, and from columns of results, to the objects of other libraries."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_choice
from graphreach.errors import InputError
from graphreach.graph.convert import check_ids
from graphreach.graph.graph import Graph

KINDS = ("polars", "pandas")
"""Libraries of data frames."""


def make_frame(columns: Mapping[str, Any], kind: str) -> Any:
    """Columns as a data frame of one of :data:`KINDS`; ids of several kinds become a column of objects.

    Example:
        >>> make_frame({"id": np.array(["a", "b"]), "value": [1, 2]}, "polars").rows()
        [('a', 1), ('b', 2)]
    """
    check_choice("kind", kind, KINDS)
    if kind == "pandas":
        try:
            import pandas as pd
        except ImportError:
            raise InputError(
                'a frame of kind "pandas" needs pandas, which is not installed: pip install "graphreach[pandas]"'
            ) from None
        # Kinds of single ids stay as they are: pandas would make numbers of one kind of them.
        kept = {name: isinstance(each, np.ndarray) and each.dtype == object for name, each in columns.items()}
        return pd.DataFrame(
            {name: pd.Series(each, dtype=object if kept[name] else None) for name, each in columns.items()}
        )
    import polars as pl

    return pl.DataFrame([_polars_column(name, values) for name, values in columns.items()])


def given_ids(ids: Any, num_nodes: int) -> NDArray[Any]:
    """Ids of nodes for a frame of results, by default positions."""
    if ids is None:
        return np.arange(num_nodes)
    found = check_ids(ids)
    if len(found) != num_nodes:
        raise InputError(f"ids must hold one id for each of the {num_nodes} nodes, got {len(found)}")
    return found


def _polars_column(name: str, values: Any) -> Any:
    import polars as pl

    if isinstance(values, np.ndarray) and values.dtype == object:
        listed = values.tolist()
        is_text = all(isinstance(value, str) for value in listed)
        return pl.Series(name, listed, dtype=pl.String if is_text else pl.Object)
    return pl.Series(name, values)


def edge_columns(graph: Graph, source: str, target: str) -> dict[str, Any]:
    """Edges as columns by ids, an undirected edge once, from the first kind of nodes to the second if there are two."""
    for argument, name in (("source", source), ("target", target)):
        if not isinstance(name, str) or name in ("weight", "time", "first_time"):
            raise InputError(f"{argument} must be a name for a column other than weight or time, got {name!r:.80}")
    if source == target:
        raise InputError(f"source and target must be two names, got {source!r} for both")
    ends, values = _each_edge(graph)
    if graph.sides is not None and not graph.directed:
        ends = np.where(graph.sides[ends[0]] == 1, ends[::-1], ends)
    return {source: graph.ids[ends[0]], target: graph.ids[ends[1]], **values}


def _each_edge(graph: Graph) -> tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]:
    """Positions of the ends of each edge ``[2, m]``, and what else is known of each."""
    ends = graph.edge_index
    once = np.ones(ends.shape[1], np.bool_) if graph.directed else ends[0] <= ends[1]
    return ends[:, once], {name: values[once] for name, values in _per_entry(graph).items()}


def _per_entry(graph: Graph) -> dict[str, NDArray[np.float64]]:
    """Weights and times, one per entry."""
    found = {"weight": graph.weights, "time": graph.time}
    if graph.time is not None and not np.array_equal(graph.time, graph.first_time):  # type: ignore[arg-type]
        found["first_time"] = graph.first_time
    return {name: values for name, values in found.items() if values is not None}


def to_networkx(graph: Graph) -> Any:
    """See :meth:`graphreach.Graph.to_networkx`."""
    try:
        import networkx as nx
    except ImportError:
        raise InputError('networkx is not installed: pip install "graphreach[networkx]"') from None
    G = nx.DiGraph() if graph.directed else nx.Graph()
    ids = graph.ids.tolist()
    if any(each is None for each in ids):
        raise InputError("graph must have ids that networkx can hold, got None")
    G.add_nodes_from(ids)
    if graph.sides is not None:
        kinds = {ids[node]: int(graph.sides[node]) for node in np.flatnonzero(graph.sides >= 0).tolist()}
        nx.set_node_attributes(G, kinds, "bipartite")
    (source, target), values = _each_edge(graph)
    rows = zip(*(each.tolist() for each in values.values()), strict=True) if values else ((),) * len(source)
    G.add_edges_from(
        (ids[u], ids[v], dict(zip(values, row, strict=True)))
        for u, v, row in zip(source.tolist(), target.tolist(), rows, strict=True)
    )
    return G


def to_pyg(graph: Graph, dtype: Any) -> Any:
    """See :meth:`graphreach.Graph.to_pyg`."""
    try:
        import torch
        from torch_geometric.data import Data
    except ImportError:
        raise InputError('torch_geometric is not installed: pip install "graphreach[nn]"') from None
    data = Data(edge_index=torch.from_numpy(graph.edge_index), num_nodes=graph.num_nodes)
    values = _per_entry(graph)
    if "weight" in values:
        data.edge_weight = _weights(values.pop("weight"), torch.float32 if dtype is None else dtype)
    for name, times in values.items():
        data[f"edge_{name}"] = torch.tensor(times)
    if graph.sides is not None:
        data.sides = torch.tensor(graph.sides)
    if graph.ids.dtype.kind not in "if":
        data.ids = graph.ids.tolist()
    elif not np.array_equal(graph.ids, np.arange(graph.num_nodes)):
        data.ids = torch.tensor(graph.ids)
    return data


def _weights(weights: NDArray[np.float64], dtype: Any) -> Any:
    """Weights as a tensor; a type in which one would be zero or infinite is refused."""
    import torch

    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise InputError(f"dtype must be a floating-point type of torch, got {dtype!r:.80}")
    found = torch.tensor(weights).to(dtype)
    lost = ~(torch.isfinite(found) & (found > 0))
    if bool(lost.any()):
        wrong = float(weights[int(lost.nonzero()[0, 0])])
        raise InputError(f"dtype must be one that holds all weights, such as torch.float64, got {dtype} and {wrong!r}")
    return found

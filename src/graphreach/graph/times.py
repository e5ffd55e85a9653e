"""The times of a graph's entries, from those of the edges that they were merged from."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from graphreach.graph.graph import Graph

Ends = NDArray[np.uint32]

Times = NDArray[np.float64]


def first_times(graph: "Graph", source: Ends, target: Ends, time: Times) -> Times:
    """The earliest time of the edges that each entry was merged from."""
    found: Times = -latest_times(graph, source, target, -time)
    found.flags.writeable = False
    return found


def latest_times(graph: "Graph", source: Ends, target: Ends, time: Times) -> Times:
    """The latest time of the edges that each entry was merged from; edges that were dropped have no entry."""
    rows, columns = graph.edge_index
    entries = rows * graph.num_nodes + columns
    found = np.full(len(entries), -np.inf)
    for u, v in ((source, target),) if graph.directed else ((source, target), (target, source)):
        edges = u.astype(np.int64) * graph.num_nodes + v
        at = np.minimum(np.searchsorted(entries, edges), max(0, len(entries) - 1))
        kept = entries[at] == edges if len(entries) else np.zeros(len(edges), np.bool_)
        np.maximum.at(found, at[kept], time[kept])
    found.flags.writeable = False
    return found

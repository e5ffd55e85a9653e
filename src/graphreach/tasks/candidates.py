"""Wrong targets to rank a right one against."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.jit import kernel, parallel_kernel
from graphreach.tasks.sides import Sides
from graphreach.walks.rng import start_key, step_bits

CHANCE = 2.0**-53


def closed_graph(graph: Graph) -> Graph:
    """The undirected graph in which each node is linked to those it has an edge with, either way, and to itself."""
    nodes = np.arange(graph.num_nodes)
    edges = np.concatenate([graph.edge_index, [nodes, nodes]], axis=1)
    return Graph.from_edges(edges, graph.num_nodes, self_loops=True)


def draw_candidates(linked: Graph, sources: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64]:
    """``count`` different nodes for each source that are neither linked to it nor the source itself, ``[m, count]``."""
    degree = np.diff(linked.indptr.astype(np.int64))
    left = linked.num_nodes - degree[sources]
    if len(left) and left.min() < count:
        node = int(sources[left.argmin()])
        raise InputError(
            f"candidates must be at most {left.min()}, the nodes that node {node} is not linked to, got {count}"
        )
    out = np.empty((len(sources), count), np.int64)
    fill_candidates(linked.indptr, linked.indices, linked.num_nodes, sources, seed, out)
    return out


def draw_candidates_across(
    linked: Graph, sides: Sides, sources: NDArray[np.int64], count: int, seed: int
) -> NDArray[np.int64]:
    """The same of a bipartite graph, with nodes of the side that a source is not on."""
    out = np.empty((len(sources), count), np.int64)
    for side, others in enumerate(sides.nodes[::-1]):
        rows = np.flatnonzero(sides.side[sources] == side)
        row, column = linked.edge_index
        kept = (sides.side[row] == side) & (sides.side[column] == 1 - side)
        row, column = row[kept], np.searchsorted(others, column[kept])
        degree = np.bincount(row, minlength=linked.num_nodes)
        left = len(others) - degree[sources[rows]]
        if len(left) and left.min() < count:
            node = int(sources[rows[left.argmin()]])
            raise InputError(
                f"candidates must be at most {left.min()}, the nodes of the other side that node {node} is not linked to, "
                f"got {count}"
            )
        indptr, found = np.concatenate([[0], np.cumsum(degree)]), np.empty((len(rows), count), np.int64)
        fill_candidates(indptr, column, len(others), sources[rows], seed ^ side, found)
        out[rows] = others[found]
    return out


@kernel
def random_below(key: Any, step: Any, bound: Any) -> Any:
    """A number from 0 to ``bound - 1``, by the hash of a key and a step."""
    return np.int64(np.float64(step_bits(key, step) >> np.uint64(11)) * CHANCE * bound)


@kernel
def unlinked_node(indptr: Any, indices: Any, source: Any, rank: Any) -> Any:
    """The node of this rank among those that are not in the row of ``source``."""
    begin = np.int64(indptr[source])
    low, high = np.int64(0), np.int64(indptr[source + 1]) - begin
    while low < high:  # how many of the row have at most ``rank`` other nodes before them
        middle = (low + high) // 2
        if np.int64(indices[begin + middle]) - middle <= rank:
            low = middle + 1
        else:
            high = middle
    return rank + low


@parallel_kernel
def fill_candidates(share: Any, indptr: Any, indices: Any, num_targets: Any, sources: Any, seed: Any, out: Any) -> None:
    """Different unlinked nodes for each source: by drawing again, or where most are needed, by going through all."""
    n, count = num_targets, out.shape[1]
    parts = min(64, max(1, len(sources)))
    for part in range(share[0], parts, share[1]):
        seen = np.full(n, -1, np.int64)
        for row in range(part, len(sources), parts):
            source = np.int64(sources[row])
            left = n - (np.int64(indptr[source + 1]) - np.int64(indptr[source]))
            key = start_key(seed, row)
            step, found = np.int64(0), np.int64(0)
            if 2 * count > left:
                for rank in range(left):
                    if random_below(key, rank, left - rank) < count - found:
                        out[row, found] = unlinked_node(indptr, indices, source, rank)
                        found += 1
            while found < count:
                rank = random_below(key, step, left)
                step += 1
                if seen[rank] != row:
                    seen[rank] = row
                    out[row, found] = unlinked_node(indptr, indices, source, rank)
                    found += 1

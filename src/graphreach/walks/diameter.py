"""The diameter in hops, exactly or between bounds."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.walks.bfs_kernels import all_eccentricities, directed_sweeps, undirected_diameter
from graphreach.walks.rng import hash_nodes

BUDGET = 500_000_000
"""Edges that are looked at before the search settles for bounds: about two seconds."""

FEW_STEPS = 2_000_000
"""Nodes times edges up to which SciPy searches, before the kernels would be compiled."""

SWEEPS = 16


class Diameter(NamedTuple):
    """Bounds of the diameter; equal when it is known exactly.

    Example:
        >>> Diameter(3, 3).exact
        True
    """

    lower: int
    upper: int

    @property
    def exact(self) -> bool:
        """Whether the bounds meet."""
        return self.lower == self.upper


def diameter(graph: Graph, budget: int = BUDGET) -> Diameter:
    """The longest shortest path of ``graph`` in hops, over all pairs that are connected at all.

    Weights do not count: a walk's jump is one hop. Undirected graphs are searched by iFUB, component by component, which
    is exact unless ``budget`` edges are used up; then the lower bound is the length of a real shortest path. Directed
    graphs are searched from every node where the budget allows it, and by sweeps otherwise, with the trivial upper bound.

    Example:
        >>> import graphreach as gr
        >>> gr.diameter(gr.Graph.from_edges([[0, 1, 2, 4], [1, 2, 3, 5]]))
        Diameter(lower=3, upper=3)
    """
    if not isinstance(graph, Graph):
        raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
    if isinstance(budget, bool) or not isinstance(budget, int | np.integer) or budget < 0:
        raise InputError(f"budget must be an integer of at least 0, got {budget!r}")
    n = graph.num_nodes
    if len(graph.indices) == 0:
        return Diameter(0, 0)
    if n * len(graph.indices) <= min(budget, FEW_STEPS):
        hops = _by_scipy(graph)
        return Diameter(hops, hops)
    if n * len(graph.indices) <= budget:
        longest = np.empty(graph.num_nodes, np.int64)
        all_eccentricities(graph.indptr, graph.indices, longest)
        hops = int(longest.max())
        return Diameter(hops, hops)
    if graph.directed:
        return _directed_bounds(graph)
    lower, upper = undirected_diameter(graph.indptr, graph.indices, *_components(graph), budget)
    return Diameter(int(lower), int(upper))


def _edges(graph: Graph) -> Any:
    """The edges as SciPy reads them, all of length 1."""
    from scipy.sparse import csr_array

    kind = np.int32 if len(graph.indices) < 2**31 else np.int64
    parts = (np.ones(len(graph.indices), np.uint8), graph.indices.astype(kind), graph.indptr.astype(kind))
    return csr_array(parts, (graph.num_nodes, graph.num_nodes))


def _components(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A node of largest degree of each component, and the components' sizes, largest first."""
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(_edges(graph), directed=False)
    sizes = np.bincount(label, minlength=count)
    by_degree = np.lexsort((-np.diff(graph.indptr.astype(np.int64)), label))
    seeds = by_degree[np.concatenate([[0], np.cumsum(sizes)[:-1]])]
    order = np.argsort(-sizes, kind="stable")
    return seeds[order], sizes[order]


def _by_scipy(graph: Graph) -> int:
    from scipy.sparse.csgraph import dijkstra

    n, hops, longest = graph.num_nodes, _edges(graph), 0
    for start in range(0, n, 256):
        found = dijkstra(hops, unweighted=True, indices=np.arange(start, min(n, start + 256)))
        longest = max(longest, int(found[np.isfinite(found)].max()))
    return longest


def _directed_bounds(graph: Graph) -> Diameter:
    degree = np.diff(graph.indptr.astype(np.int64))
    by_hash = np.argsort(hash_nodes(0, np.arange(graph.num_nodes)), kind="stable")
    sources = np.concatenate([np.argsort(-degree, kind="stable")[:SWEEPS], by_hash[:SWEEPS]])
    back = graph.transpose()
    lower = directed_sweeps(graph.indptr, graph.indices, back.indptr, back.indices, sources)
    return Diameter(int(lower), graph.num_nodes - 1)

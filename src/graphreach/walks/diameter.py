"""The diameter in hops, exactly or between bounds."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.jit import kernel, long_kernel
from graphreach.walks.rng import hash_nodes

BUDGET = 500_000_000
"""Edges that are looked at before the search settles for bounds: about two seconds."""

FEW_STEPS = 10_000_000
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
    if len(graph.indices) == 0:
        return Diameter(0, 0)
    steps = graph.num_nodes * len(graph.indices)
    if steps <= budget:
        few = steps + graph.num_nodes**2 <= FEW_STEPS  # each search by SciPy makes an array of all nodes
        hops = _by_scipy(graph) if few else _by_all_searches(graph)
        return Diameter(hops, hops)
    return _directed_bounds(graph) if graph.directed else _undirected_bounds(graph, int(budget))


def _edges(graph: Graph) -> Any:
    """The edges as SciPy reads them, all of length 1."""
    from scipy.sparse import csr_array

    kind = np.int32 if len(graph.indices) < 2**31 else np.int64
    parts = (np.ones(len(graph.indices)), graph.indices.astype(kind), graph.indptr.astype(kind))
    return csr_array(parts, (graph.num_nodes, graph.num_nodes))


def _by_scipy(graph: Graph) -> int:
    from scipy.sparse.csgraph import breadth_first_order

    edges, longest = _edges(graph), 0
    for source in range(graph.num_nodes):
        met, before = breadth_first_order(edges, source)
        node, hops = met[-1], 0
        while node != source:
            node = before[node]
            hops += 1
        longest = max(longest, hops)
    return longest


def _by_all_searches(graph: Graph) -> int:
    longest = np.empty(graph.num_nodes, np.int64)
    _all_eccentricities(graph.indptr, graph.indices, longest)
    return int(longest.max())


class _Search:
    """Breadth-first searches one after the other, and the edges that they may still look at."""

    def __init__(self, graph: Graph, budget: int = 0) -> None:
        self.indptr, self.indices, self.budget = graph.indptr, graph.indices, budget
        self.distance, self.queue = np.full(graph.num_nodes, -1, np.int32), np.empty(graph.num_nodes, np.int64)
        self.count = 0

    def run(self, source: int) -> tuple[int, int]:
        """Search from a node; the last node met, and its distance."""
        clear(self.distance, self.queue, self.count)
        self.count, edges = _search(self.indptr, self.indices, source, self.distance, self.queue)
        self.budget -= edges
        last = self.queue[self.count - 1]
        return int(last), int(self.distance[last])

    def halfway(self, node: int) -> int:
        """The node in the middle of a shortest path from the last search's source to ``node``."""
        for hops in range(self.distance[node], (self.distance[node] + 1) // 2, -1):
            neighbours = self.indices[self.indptr[node] : self.indptr[node + 1]]
            node = neighbours[np.argmax(self.distance[neighbours] == hops - 1)]
        return int(node)


def _undirected_bounds(graph: Graph, budget: int) -> Diameter:
    """Bounds over components, largest first; one that is too small to matter is not searched."""
    search, lower, upper = _Search(graph, budget), 0, 0
    for i, (seed, size) in enumerate(zip(*_components(graph), strict=True)):
        if size - 1 <= lower:
            break
        if search.budget <= 0 and i > 0:
            upper = max(upper, int(size) - 1)
            break
        lower, bound = _ifub(search, seed, lower)
        upper = max(upper, bound)
    return Diameter(lower, max(lower, upper))


def _components(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A node of largest degree of each component, and the components' sizes, largest first."""
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(_edges(graph), directed=False)
    sizes = np.bincount(label, minlength=count)
    by_degree = np.lexsort((-np.diff(graph.indptr.astype(np.int64)), label))
    seeds = by_degree[np.concatenate([[0], np.cumsum(sizes)[:-1]])]
    order = np.argsort(-sizes, kind="stable")
    return seeds[order], sizes[order]


def _ifub(search: _Search, seed: int, lower: int) -> tuple[int, int]:
    """Bounds of the diameter of the component of ``seed`` (iFUB after four sweeps).

    Nodes at level i of a search from a central node u can be ends of a path longer than 2 (i - 1) only if one of them
    has such an eccentricity. So the levels are searched from the outside in until that is ruled out.
    """
    centre = seed
    for _ in range(2):
        rim, _ = search.run(centre)
        node, hops = search.run(rim)
        centre = search.halfway(node)
        lower = max(lower, hops)
    _, radius = search.run(centre)
    nodes = search.queue[: search.count].copy()
    level = search.distance[nodes]
    lower, upper, i = max(lower, radius), 2 * radius, len(nodes) - 1
    while upper > lower and i >= 0 and search.budget > 0:
        lower = max(lower, search.run(nodes[i])[1])
        i -= 1
        if i < 0 or level[i] < level[i + 1]:
            upper = max(lower, 2 * (int(level[i + 1]) - 1))
    return lower, max(lower, upper)


def _directed_bounds(graph: Graph) -> Diameter:
    """A lower bound: forward to the farthest node, backward from it, and forward again, from several sources."""
    degree = np.diff(graph.indptr.astype(np.int64))
    by_hash = np.argsort(hash_nodes(0, np.arange(graph.num_nodes)), kind="stable")
    forward, backward, longest = _Search(graph), _Search(graph.transpose()), 0
    for source in np.concatenate([np.argsort(-degree, kind="stable")[:SWEEPS], by_hash[:SWEEPS]]):
        last, there = forward.run(source)
        first, back = backward.run(last)
        longest = max(longest, there, back, forward.run(first)[1])
    return Diameter(longest, graph.num_nodes - 1)


@kernel
def _search(indptr: Any, indices: Any, source: Any, distance: Any, queue: Any) -> Any:
    """Breadth-first search; ``queue`` holds the nodes met, nearest first. Returns how many, and the edges looked at.

    ``distance`` is -1 everywhere before; :func:`clear` makes it so again.
    """
    distance[source] = 0
    queue[0] = source
    head, tail, edges = 0, 1, np.int64(0)
    while head < tail:
        v = queue[head]
        head += 1
        begin, end = np.int64(indptr[v]), np.int64(indptr[v + 1])
        edges += end - begin
        for e in range(begin, end):
            u = np.int64(indices[e])
            if distance[u] < 0:
                distance[u] = distance[v] + 1
                queue[tail] = u
                tail += 1
    return tail, edges


@kernel
def clear(distance: Any, queue: Any, count: Any) -> None:
    """Forget a search."""
    for i in range(count):
        distance[queue[i]] = -1


@long_kernel
def _all_eccentricities(share: Any, indptr: Any, indices: Any, out: Any) -> None:
    """For each node the longest of its shortest paths, by a search from it."""
    n = len(out)
    distance, queue = np.full(n, -1, np.int32), np.empty(n, np.int64)
    for source in range(share[0], n, share[1]):
        if share[2][0] != 0:
            return
        count, _ = _search(indptr, indices, source, distance, queue)
        out[source] = distance[queue[count - 1]]
        clear(distance, queue, count)

"""Groups of nodes that are linked more among themselves than to others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.jit import kernel
from graphreach.walks.rng import check_seed


@kernel
def move_nodes(indptr: Any, indices: Any, weights: Any, order: Any, rounds: Any) -> Any:
    """Put every node, in the given order, into the neighbouring community that raises modularity most; repeat.

    Returns:
        The community of each node, some number from 0 to n - 1.
    """
    n = len(indptr) - 1
    community, degree = np.arange(n), np.zeros(n)
    for u in range(n):
        for edge in range(indptr[u], indptr[u + 1]):
            degree[u] += weights[edge]
    total, sums, towards = max(degree.sum(), 1e-300), degree.copy(), np.zeros(n)
    for _ in range(rounds):
        moved = 0
        for u in order:
            for edge in range(indptr[u], indptr[u + 1]):
                if indices[edge] != u:
                    towards[community[indices[edge]]] += weights[edge]
            old = community[u]
            sums[old] -= degree[u]
            best, gain = old, towards[old] - degree[u] * sums[old] / total
            for edge in range(indptr[u], indptr[u + 1]):
                other = community[indices[edge]]
                value = towards[other] - degree[u] * sums[other] / total
                if value > gain + 1e-12:
                    best, gain = other, value
            for edge in range(indptr[u], indptr[u + 1]):
                towards[community[indices[edge]]] = 0.0
            sums[best] += degree[u]
            community[u] = best
            moved += best != old
        if moved == 0:
            break
    return community


LEVELS, ROUNDS = 10, 20


def communities(graph: Graph, seed: int = 0) -> NDArray[np.int64]:
    """The community of each node, the largest being 0: modularity raised by moving nodes, then groups (Louvain).

    Directions of edges are ignored. The same graph has the same communities.

    Example:
        >>> two = Graph.from_edges([[0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]])
        >>> communities(two).tolist()
        [0, 0, 0, 1, 1, 1]
    """
    from scipy.sparse import csr_array

    links = check_graph(graph).to_scipy()
    check_seed(seed)
    links = csr_array(links + links.T) if graph.directed else links
    groups, rng = np.arange(graph.num_nodes), np.random.default_rng(seed)
    for _ in range(LEVELS):
        size = links.shape[0]
        found = move_nodes(links.indptr, links.indices, links.data, rng.permutation(size), ROUNDS)
        names, own = np.unique(found, return_inverse=True)
        groups = own[groups]
        if len(names) == size:
            break
        member = csr_array((np.ones(size), (np.arange(size), own)), shape=(size, len(names)))
        links = csr_array(member.T @ links @ member)
    return by_size(groups)


def by_size(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Groups numbered by size, the largest 0; of equal ones the first."""
    _, first, own, sizes = np.unique(groups, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(sizes), np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[own]

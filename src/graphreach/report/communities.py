"""Groups of nodes that are linked more among themselves than to others."""

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.report.community_kernels import move_nodes
from graphreach.walks.rng import check_seed

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

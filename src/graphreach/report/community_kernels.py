"""Moves of nodes between communities."""

from typing import Any

import numpy as np

from graphreach.jit import kernel


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

"""The most travelled paths from one node, found step by step."""

from typing import Any

import numpy as np

from graphreach.jit import kernel


@kernel
def improve(
    indptr: Any, indices: Any, weights: Any, degree: Any, frontier: Any, chance: Any, best: Any, place: Any
) -> Any:
    """One more jump from the frontier (nodes with the chance of their path): who is reached better than before.

    Returns nodes, chances and the place in the frontier that each comes from. ``best`` is brought up to date. A path
    that a shorter and likelier one overtakes needs no continuation, so later jumps start from the improved nodes only.

    Args:
        indptr, indices, weights, degree: The graph; ``weights`` may be empty.
        frontier, chance: Nodes improved by the jump before, and the chance of their paths.
        best: Best chance of each node so far, changed.
        place: For each node, -1, as it is again afterwards.
    """
    room = 0
    for u in frontier:
        room += indptr[u + 1] - indptr[u]
    room = min(room, len(best))
    nodes, chances, parents = np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64)
    count = 0
    for i in range(len(frontier)):
        u = frontier[i]
        for edge in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[edge])
            weight = weights[edge] if len(weights) else 1.0
            reached = chance[i] * weight / degree[u]
            if reached > best[v]:
                best[v] = reached
                if place[v] < 0:
                    place[v] = count
                    nodes[count] = v
                    count += 1
                chances[place[v]] = reached
                parents[place[v]] = i
    for i in range(count):
        place[nodes[i]] = -1
    return nodes[:count], chances[:count], parents[:count]

"""Powers of the transition matrix between the two ends of pairs."""

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.graph.build import compact
from graphreach.pairs.meeting import meeting_powers
from graphreach.pairs.own_edge import Between
from graphreach.reachability.pairs import pair_products


def edge_entries(graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the edge from the first node of each pair to the second is among ``graph.indices``; -1 if there is none."""
    low, end = graph.indptr[pairs[0]].astype(np.int64), graph.indptr[pairs[0] + 1].astype(np.int64)
    high, last = end.copy(), max(0, len(graph.indices) - 1)
    while len(graph.indices) and (low < high).any():
        middle = (low + high) // 2
        below = (low < high) & (graph.indices[np.minimum(middle, last)] < pairs[1])
        low, high = np.where(below, middle + 1, low), np.where(below | (low >= high), high, middle)
    found = (low < end) & (graph.indices[np.minimum(low, last)] == pairs[1]) if len(graph.indices) else low < end
    return np.where(found, low, -1)


def edge_weights(graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """The weight of the edge from the first node of each pair to the second, zero where there is none, ``[m]``."""
    at = edge_entries(graph, pairs)
    if graph.weights is None or not len(graph.weights):
        return (at >= 0).astype(np.float64)
    return np.where(at >= 0, graph.weights[at], 0.0)


def without_edges(graph: Graph, pairs: NDArray[np.int64]) -> Graph:
    """The graph with all its nodes but without the edges between the nodes of pairs ``[2, m]``, in either direction."""
    at = np.concatenate([edge_entries(graph, pairs), edge_entries(graph, pairs[::-1])])
    keep = np.ones(len(graph.indices), np.bool_)
    keep[at[at >= 0]] = False
    kept = np.concatenate([[0], np.cumsum(keep)])[graph.indptr.astype(np.int64)]
    weights = None if graph.weights is None else graph.weights[keep]
    found = Graph(compact(kept, graph.indices[keep], weights), graph.ids, graph.directed)
    found.sides = graph.sides
    return found


def exact_between(graph: Graph, pairs: NDArray[np.int64], steps: int, returns: int) -> Between:
    """P^t between the ends, t = 0 .. steps, by sparse rows; P^t(u, u) and P^t(v, v) for t up to ``returns`` only."""
    out = np.zeros((2, 2, steps + 1, pairs.shape[1]))
    out[0, 0, 0] = out[1, 1, 0] = 1.0
    inverse = np.divide(1.0, graph.degree, out=np.zeros(graph.num_nodes), where=graph.degree > 0)
    out[0, 1, 1:] = pair_products(graph, pairs, inverse, steps, True, "reachability of pairs").T
    if graph.directed:
        out[1, 0, 1:] = pair_products(graph, pairs[::-1], inverse, steps, True, "reachability of pairs").T
    else:
        out[1, 0, 1:] = out[0, 1, 1:] * (graph.degree[pairs[0]] * inverse[pairs[1]])
    nodes, place = np.unique(pairs, return_inverse=True)
    same = np.stack([nodes, nodes])
    back = pair_products(graph, same, inverse, returns, True, "return probabilities").T
    place = place.reshape(pairs.shape)
    out[0, 0, 1 : returns + 1], out[1, 1, 1 : returns + 1] = back[:, place[0]], back[:, place[1]]
    return out


def sampled_between(graph: Graph, pairs: NDArray[np.int64], steps: int, num_walks: int, seed: int) -> Between:
    """The same by walks that meet; P^t(u, u) and P^t(v, v) for t up to 4."""
    out = np.zeros((2, 2, max(steps, 4) + 1, pairs.shape[1]))
    out[0, 0, 0] = out[1, 1, 0] = 1.0
    inverse = np.divide(1.0, graph.degree, out=np.zeros(graph.num_nodes), where=graph.degree > 0)
    for first, second in ((0, 1), (1, 0)):
        ends = pairs[[first, second]]
        out[first, second, 1] = edge_weights(graph, ends) * inverse[ends[0]]
    forward = meeting_powers(graph, pairs, num_walks, seed).T[: steps - 1]
    out[0, 1, 2 : steps + 1] = forward
    if graph.directed:
        out[1, 0, 2 : steps + 1] = meeting_powers(graph, pairs[::-1], num_walks, seed).T[: steps - 1]
    else:
        degree = graph.degree[pairs]
        out[1, 0, 2 : steps + 1] = forward * np.divide(
            degree[0], degree[1], out=np.zeros(len(degree[0])), where=degree[1] > 0
        )
    nodes, place = np.unique(pairs, return_inverse=True)
    back = meeting_powers(graph, np.stack([nodes, nodes]), num_walks, seed).T[:3]
    place = place.reshape(pairs.shape)
    out[0, 0, 2:5], out[1, 1, 2:5] = back[:, place[0]], back[:, place[1]]
    return out

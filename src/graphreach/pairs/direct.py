"""Powers of the transition matrix between the two ends of pairs."""

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.pairs.own_edge import Between
from graphreach.reachability.pairs import pair_products


def edge_weights(graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """The weight of the edge from the first node of each pair to the second, zero where there is none, ``[m]``."""
    keys = pairs[0] * graph.num_nodes + pairs[1]
    sources = np.unique(pairs[0])
    indptr = graph.indptr.astype(np.int64)
    sizes = indptr[sources + 1] - indptr[sources]
    entries = np.repeat(indptr[sources] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    known = np.repeat(sources, sizes) * graph.num_nodes + graph.indices[entries]
    at = np.minimum(np.searchsorted(known, keys), max(0, len(known) - 1))
    found = known[at] == keys if len(known) else np.zeros(len(keys), np.bool_)
    weights = np.zeros(len(keys))
    weights[found] = 1.0 if graph.weights is None else graph.weights[entries[at[found]]]
    return weights


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

"""Ways to choose anchors, each a function behind a name."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.anchors.bipartite import NUM_SAMPLES, BipartiteGraph
from graphreach.arguments import to_array
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.walks.rng import hash_nodes

Strategy = Callable[..., Any]
"""``strategy(graph, num_anchors, seed)`` returns ``num_anchors`` different positions, best first."""


def random(graph: Graph, num_anchors: int, seed: int) -> NDArray[np.int64]:
    """Anchors at random, as in P-GNN."""
    return np.argsort(hash_nodes(seed, np.arange(graph.num_nodes)), kind="stable")[:num_anchors]


def degree(graph: Graph, num_anchors: int, seed: int) -> NDArray[np.int64]:
    """The nodes of greatest weighted in-degree (in an undirected graph: degree), ties at random."""
    return _highest(graph.transpose().degree, num_anchors, seed)


def pagerank(graph: Graph, num_anchors: int, seed: int, damping: float = 0.85) -> NDArray[np.int64]:
    """The nodes of greatest PageRank, ties at random."""
    n = graph.num_nodes
    incoming = graph.transpose().to_scipy()
    out_degree = graph.degree
    dangling = out_degree == 0
    per_weight = np.divide(1.0, out_degree, out=np.zeros(n), where=~dangling)
    score = np.full(n, 1.0 / n)
    for _ in range(200):
        update = damping * (incoming @ (score * per_weight) + score[dangling].sum() / n) + (1 - damping) / n
        change = np.abs(update - score).sum()
        score = update
        if change < 1e-10:
            break
    return _highest(score, num_anchors, seed)


def _highest(score: NDArray[Any], count: int, seed: int) -> NDArray[np.int64]:
    return np.lexsort((hash_nodes(seed, np.arange(len(score))), -score))[:count]


def consensus(walks: BipartiteGraph, num_anchors: int, num_samples: int = NUM_SAMPLES) -> NDArray[np.int64]:
    """Greedy anchors of each sample of walks, and of these the ones that most samples agree on (section 3.2).

    Ties go to the greater summed marginal coverage, then to more visits, then to a seeded hash. Should fewer nodes be
    visited than anchors are wanted, the rest follow by the last two.

    Differs from the authors' code: greedy looks at all nodes, not at 3k random candidates, and votes come first.
    """
    n = len(walks.rank)
    votes, gained = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for chosen, gain in walks.greedy(num_anchors, bits=range(num_samples)):
        votes[chosen] += 1
        gained[chosen] += gain
    return np.lexsort((walks.rank, -gained, -votes))[:num_anchors]


STRATEGIES: dict[str, Strategy] = {"random": random, "degree": degree, "pagerank": pagerank}


def check_chosen(chosen: Any, num_anchors: int, num_nodes: int, strategy: str) -> NDArray[np.int64]:
    """What a strategy returned, as positions; a user's function may err."""
    anchors = to_array(f"strategy {strategy}", chosen, "biufUO", f"a function that returns {num_anchors} positions")
    if anchors.shape != (num_anchors,) or anchors.dtype.kind not in "iu":
        raise InputError(
            f"strategy {strategy} must return {num_anchors} integer positions, "
            f"got an array of shape {anchors.shape} of {anchors.dtype}"
        )
    if anchors.min() < 0 or anchors.max() >= num_nodes or len(np.unique(anchors)) < num_anchors:
        raise InputError(f"strategy {strategy} must return different positions between 0 and {num_nodes - 1}")
    return anchors.astype(np.int64)

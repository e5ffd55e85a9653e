"""Walks of node2vec."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.interrupts import call
from graphreach.walks.defaults import NODE2VEC_WALK_LENGTH, NODE2VEC_WALKS
from graphreach.walks.engine import LocalWalker
from graphreach.walks.random_walks import StoreWalks, check_starts, walk_type
from graphreach.walks.rng import check_seed
from graphreach.walks.second_order_kernels import store_second_order_walks
from graphreach.walks.transitions import Transitions
from graphreach.walks.walk_length import check_count, resolve_walk_length


@dataclass(frozen=True, kw_only=True)
class StoreSecondOrderWalks(StoreWalks):
    """Walks that remember where they came from."""

    p: float
    q: float

    def store(self, table: Transitions, starts: NDArray[np.uint32], out: NDArray[Any]) -> None:
        """Fill ``out`` with the walks of some starts."""
        call(store_second_order_walks, *table, starts, self.p, self.q, self.seed, out, work=out.size)


def second_order_walks(
    graph: Graph,
    starts: ArrayLike | None = None,
    num_walks: int = NODE2VEC_WALKS,
    walk_length: int | str = NODE2VEC_WALK_LENGTH,
    p: float = 1.0,
    q: float = 1.0,
    seed: int = 0,
) -> NDArray[Any]:
    r"""Second-order random walks from the `"node2vec: Scalable Feature Learning for Networks"
    <https://arxiv.org/abs/1607.00653>`_ paper.

    A walker that came from t to v goes to x with probability proportional to the weight of (v, x) times :math:`1/p` if x
    is t, 1 if t has an edge to x, and :math:`1/q` otherwise. It is drawn by rejection, without tables for edges of edges.

    Args:
        graph: The graph.
        starts: Positions of the start nodes; all nodes by default.
        num_walks: Walks from each start.
        walk_length: Jumps of a walk, or ``"diameter"``.
        p: Return parameter: large values keep the walker from turning back.
        q: In-out parameter: small values send it outward.
        seed: Any integer from 0 to :math:`2^{63} - 1`; the same seed gives the same walks on any number of threads.

    Returns:
        Integers of shape ``[len(starts), num_walks, walk_length + 1]``, -1 after a dead end, as of :func:`random_walks`.

    Example:
        >>> import graphreach as gr
        >>> ring = gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> walk = second_order_walks(ring, [0], num_walks=1, walk_length=4, p=1e6)[0, 0]  # never back: around the ring
        >>> sorted(walk[1:].tolist())
        [0, 1, 2, 3]
    """
    for name, value in (("p", p), ("q", q)):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 1e-100 <= value <= 1e100:
            raise InputError(f"{name} must be a number between 1e-100 and 1e100, got {value!r}")
    positions, seed = check_starts(graph, starts), check_seed(seed)
    num_walks, length = check_count("num_walks", num_walks), resolve_walk_length(graph, walk_length)
    job = StoreSecondOrderWalks(
        num_walks=num_walks, length=length, seed=seed, dtype=walk_type(graph), p=float(p), q=float(q)
    )
    return job.stored(LocalWalker(graph), positions, "node2vec walks")

"""Walks of node2vec, which remember where they came from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import uint32, uint64
from numpy.typing import ArrayLike, NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.jit import kernel, long_kernel
from graphreach.walks.defaults import NODE2VEC_WALK_LENGTH, NODE2VEC_WALKS
from graphreach.walks.engine import LocalWalker, Transitions
from graphreach.walks.random_walks import StoreWalks, check_starts, walk_type
from graphreach.walks.rng import GOLDEN, check_seed, mix, start_key, step_bits, walk_key
from graphreach.walks.walk_length import check_count, resolve_walk_length

PROPOSALS = 256
"""Steps that are proposed in vain before one is drawn from the exact distribution."""


@dataclass(frozen=True, kw_only=True)
class StoreSecondOrderWalks(StoreWalks):
    """Walks that remember where they came from."""

    p: float
    q: float

    def store(self, table: Transitions, starts: NDArray[np.uint32], out: NDArray[Any]) -> None:
        """Fill ``out`` with the walks of some starts."""
        _store_second_order_walks(*table, starts, self.p, self.q, self.seed, out)


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


@kernel
def _has_edge(indptr: Any, indices: Any, u: Any, v: Any) -> Any:
    """Whether u's sorted row holds v."""
    low, high = np.int64(indptr[u]), np.int64(indptr[u + 1])
    while low < high:
        middle = (low + high) // 2
        if np.int64(indices[middle]) < v:
            low = middle + 1
        else:
            high = middle
    return low < np.int64(indptr[u + 1]) and np.int64(indices[low]) == v


@kernel
def _propose(indptr: Any, indices: Any, alias: Any, v: Any, bits: Any) -> Any:
    """A neighbour of v by a first-order step."""
    begin = uint64(indptr[v])
    edge = np.int64(begin + (((bits >> uint64(32)) * (uint64(indptr[v + 1]) - begin)) >> uint64(32)))
    if alias is None:
        return np.int64(indices[edge])
    coin = uint32(bits & uint64(0xFFFFFFFF))
    return np.int64(alias[edge * 3 + 1] if coin < alias[edge * 3] else alias[edge * 3 + 2])


@kernel
def _bias(indptr: Any, indices: Any, before: Any, there: Any, p: Any, q: Any) -> Any:
    """What the chance of a first-order step is multiplied by, for a walker that came from ``before``."""
    if there == before:
        return 1.0 / p
    return 1.0 if _has_edge(indptr, indices, before, there) else 1.0 / q


@kernel
def _outcome(indptr: Any, indices: Any, alias: Any, edge: Any, own: Any, before: Any, p: Any, q: Any) -> Any:
    """A target of an edge's slot (its own, or the alias), and its chance in units of the slot's, times the bias."""
    if alias is None:
        there = np.int64(indices[edge])
        chance = 1.0 if own else 0.0
    else:
        there = np.int64(alias[edge * 3 + 1] if own else alias[edge * 3 + 2])
        share = np.float64(alias[edge * 3]) / 4294967296.0
        chance = share if own else 1.0 - share
    return there, chance * _bias(indptr, indices, before, there, p, q)


@kernel
def _draw(indptr: Any, indices: Any, alias: Any, before: Any, here: Any, p: Any, q: Any, bits: Any) -> Any:
    """A step from ``here`` by its exact distribution, in time proportional to the edges."""
    total, last = 0.0, np.int64(-1)
    for edge in range(np.int64(indptr[here]), np.int64(indptr[here + 1])):
        for own in (True, False):
            total += _outcome(indptr, indices, alias, edge, own, before, p, q)[1]
    left = np.float64(bits >> uint64(11)) * 2.0**-53 * total
    for edge in range(np.int64(indptr[here]), np.int64(indptr[here + 1])):
        for own in (True, False):
            there, chance = _outcome(indptr, indices, alias, edge, own, before, p, q)
            if chance > 0.0:
                last = there
                left -= chance
                if left < 0.0:
                    return there
    return last


@long_kernel
def _store_second_order_walks(
    share: Any, indptr: Any, indices: Any, alias: Any, starts: Any, p: Any, q: Any, seed: Any, out: Any
) -> None:
    """Fill ``out`` [starts, num_walks, walk_length + 1].

    First-order steps are proposed until one is accepted. After :data:`PROPOSALS` of them the step is drawn from its
    exact distribution instead.
    """
    top = max(1.0, 1.0 / p, 1.0 / q)
    for r in range(share[0], len(starts), share[1]):
        for walk in range(out.shape[1]):
            key = walk_key(start_key(seed, starts[r]), walk)
            before, here = np.int64(-1), np.int64(starts[r])
            out[r, walk, 0] = here
            for step in range(1, out.shape[2]):
                if share[2][0] != 0:
                    return
                there = np.int64(-1)
                bits = step_bits(key, step)
                proposals = 0
                while here >= 0 and indptr[here] < indptr[here + 1]:
                    there = _propose(indptr, indices, alias, here, bits)
                    bits = mix(bits + GOLDEN)
                    bias = top if before < 0 else _bias(indptr, indices, before, there, p, q)
                    if np.float64(bits >> uint64(11)) * 2.0**-53 * top < bias:
                        break
                    bits = mix(bits + GOLDEN)
                    proposals += 1
                    if proposals == PROPOSALS:
                        there = _draw(indptr, indices, alias, before, here, p, q, bits)
                        break
                out[r, walk, step] = there
                before, here = here, there

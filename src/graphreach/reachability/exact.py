"""Reachability by powers of the transition matrix (no sampling)."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.progress import track
from graphreach.reachability.exact_kernels import COLUMNS, multiply, transition_weights
from graphreach.reachability.layouts import Block, from_columns

MAX_ORDER_COST = 10**11
"""Multiplications that the exact order-weighted s(a, v) may take: about a minute."""


class Propagation:
    """The powers of the transition matrix, applied to a block of columns at a time.

    ``direction`` is ``"to"`` for columns of P^t (the chance that a walk from v is at the column's node after t steps) or
    ``"from"`` for rows of P^t (the chance that a walk from the column's node is at v).
    """

    def __init__(self, graph: Graph, direction: str) -> None:
        by_row = direction == "to"
        edges = graph if by_row else graph.transpose()
        self.edges = (edges.indptr, edges.indices)
        ones: NDArray[np.float64] = np.ones(graph.num_nodes)
        self.left, self.right, self.weights = ones, ones, None
        if edges.weights is not None:
            self.weights = transition_weights(*self.edges, edges.weights, graph.degree, by_row)
        else:  # scale rows of x instead of keeping a number an edge
            inverse = np.divide(1.0, graph.degree, out=np.zeros(graph.num_nodes), where=graph.degree > 0)
            self.left, self.right = (inverse, ones) if by_row else (ones, inverse)
        self.x, self.y, self.sums = (np.empty((graph.num_nodes, COLUMNS), np.float32) for _ in range(3))

    def start(self, nodes: NDArray[Any]) -> None:
        """Put all weight of column j on ``nodes[j]``, and nothing into the sums."""
        self.x[:] = 0
        self.sums[:] = 0
        self.x[nodes, np.arange(len(nodes))] = self.right[nodes]

    def step(self, factor: float) -> None:
        """One more power; ``factor`` times it is added to the sums."""
        multiply(*self.edges, self.weights, self.left, self.right, self.x, self.y, self.sums, factor)
        self.x, self.y = self.y, self.x


def frequency_blocks(graph: Graph, anchors: NDArray[Any], length: int, direction: str) -> Iterator[Block]:
    """Eq. 1 in expectation: the mean of the first ``length`` powers, in blocks of columns."""
    powers = Propagation(graph, direction)
    for first, here in _anchor_blocks(anchors, f"exact reachability {direction} anchors"):
        powers.start(here)
        for _ in range(length):
            powers.step(1.0 / length)
        yield first, powers.sums[:, : len(here)]


def hop_blocks(graph: Graph, anchors: NDArray[Any], length: int, direction: str) -> Iterator[Block]:
    """Each power by itself: ``length`` columns an anchor."""
    powers = Propagation(graph, direction)
    for first, here in _anchor_blocks(anchors, f"exact reachability {direction} anchors"):
        out = np.empty((graph.num_nodes, len(here), length), np.float32)
        powers.start(here)
        for t in range(length):
            powers.sums[:] = 0
            powers.step(1.0)
            out[:, :, t] = powers.sums[:, : len(here)]
        yield first * length, out.reshape(graph.num_nodes, len(here) * length)


def order_to_blocks(graph: Graph, anchors: NDArray[Any], length: int, num_walks: int) -> Iterator[Block]:
    """App. A in expectation, s_o(v, a) = n_w sum_t f_t(v, a) / t, by first passages: the anchor absorbs."""
    powers = Propagation(graph, "to")
    for first, here in _anchor_blocks(anchors, "exact order-weighted reachability to anchors"):
        powers.start(here)
        for t in range(1, length + 1):
            powers.step(num_walks / t)
            powers.x[here, np.arange(len(here))] = 0
        yield first, powers.sums[:, : len(here)]


def order_from_blocks(graph: Graph, anchors: NDArray[Any], length: int, num_walks: int) -> Iterator[Block]:
    """App. A in expectation, s_o(a, v): first passages f_t(a, v) = P^t(a, v) - sum_{s<t} f_s(a, v) P^{t-s}(v, v)."""
    returns = _return_probabilities(graph, length)
    for first, block in hop_blocks(graph, anchors, length, "from"):
        passage = block.reshape(graph.num_nodes, -1, length).astype(np.float64)
        for t in range(1, length):
            for s in range(t):
                passage[:, :, t] -= passage[:, :, s] * returns[:, t - s - 1, None]
        weighted = num_walks * (passage / np.arange(1, length + 1)).sum(axis=2)
        yield first // length, np.maximum(weighted, 0).astype(np.float32)


def order_cost(graph: Graph, length: int) -> int:
    """Multiplications for the return probabilities of all nodes."""
    return graph.num_nodes * len(graph.indices) * (length - 1)


def check_order_cost(graph: Graph, length: int) -> None:
    """Refuse what would take too long."""
    cost = order_cost(graph, length)
    if cost > MAX_ORDER_COST:
        raise InputError(
            f'similarity="order" with method="exact" needs the return probabilities of all {graph.num_nodes} nodes, '
            f'{cost:.1e} multiplications where {MAX_ORDER_COST:.0e} are allowed; use method="walks"'
        )


def _return_probabilities(graph: Graph, length: int) -> NDArray[np.float64]:
    """P^t(v, v) for t = 1 .. length - 1, ``[n, length - 1]``."""
    out = np.zeros((graph.num_nodes, max(1, length - 1)))
    powers = Propagation(graph, "to")
    for _, here in _anchor_blocks(np.arange(graph.num_nodes), "return probabilities"):
        powers.start(here)
        for t in range(length - 1):
            powers.step(0.0)
            out[here, t] = powers.x[here, np.arange(len(here))]
    return out


def balanced(graph: Graph, to_anchors: Any, anchors: NDArray[Any], hops: int) -> Any:
    """s(a, v) = deg(v) s(v, a) / deg(a): detailed balance of the exact frequency similarity in an undirected graph."""
    degree = graph.degree
    per_anchor = np.divide(1.0, degree[anchors], out=np.zeros(len(anchors)), where=degree[anchors] > 0)
    columns = np.repeat(per_anchor, hops)
    if isinstance(to_anchors, np.ndarray):
        out = np.empty_like(to_anchors)
        for begin in range(0, len(out), 4096):  # rows at a time, so that double precision needs no second matrix
            rows = slice(begin, begin + 4096)
            out[rows] = degree[rows, None] * to_anchors[rows] * columns
        return out
    copy = to_anchors.copy()
    copy.data = (np.repeat(degree, np.diff(copy.indptr)) * copy.data * columns[copy.indices]).astype(np.float32)
    return copy


def exact_reachability(
    graph: Graph,
    anchors: NDArray[Any],
    similarity: str,
    length: int,
    hops: int | None,
    num_walks: int,
    layout: str,
) -> tuple[Any, Any]:
    """Both matrices, in the layout asked for; with hops their columns are anchor by anchor."""
    n, columns = graph.num_nodes, len(anchors) * (hops or 1)
    if similarity == "order":
        check_order_cost(graph, length)
        to = from_columns(order_to_blocks(graph, anchors, length, num_walks), n, columns, layout)
        return to, from_columns(order_from_blocks(graph, anchors, length, num_walks), n, columns, layout)
    blocks = hop_blocks if hops else frequency_blocks
    to = from_columns(blocks(graph, anchors, length, "to"), n, columns, layout)
    if not graph.directed:
        return to, balanced(graph, to, anchors, hops or 1)
    return to, from_columns(blocks(graph, anchors, length, "from"), n, columns, layout)


def _anchor_blocks(anchors: NDArray[Any], description: str) -> Iterator[tuple[int, NDArray[Any]]]:
    begins = range(0, len(anchors), COLUMNS)
    for first in track(begins, len(begins), description):
        yield first, anchors[first : first + COLUMNS]

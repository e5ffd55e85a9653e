"""Reachability by powers of the transition matrix (no sampling)."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.interrupts import row_pieces
from graphreach.reachability.exact_kernels import COLUMNS, multiply, transition_weights
from graphreach.reachability.layouts import from_columns
from graphreach.walks.engine import Walker

MAX_ORDER_COST = 10**11
"""Multiplications that the exact order-weighted s(a, v) may take: about a minute."""


BALANCED_RATIO = 1e12
"""Largest ratio of two degrees up to which one direction is computed from the other.

Single precision ends at 1e-45: a greater ratio would make much of what was lost below that.
"""


class Powers(NamedTuple):
    """What a step multiplies by: the rows' entries, and factors of rows before and after."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    weights: NDArray[np.float32] | None
    left: NDArray[np.float64]
    right: NDArray[np.float64]


def transition_powers(graph: Graph, direction: str) -> Powers:
    """The transition matrix P.

    ``direction`` is ``"to"`` for columns of P^t (the chance that a walk from v is at the column's node after t steps) or
    ``"from"`` for rows of P^t (the chance that a walk from the column's node is at v).
    """
    by_row = direction == "to"
    edges = graph if by_row else graph.transpose()
    ones: NDArray[np.float64] = np.ones(graph.num_nodes)
    if edges.weights is not None:
        weights = np.empty(len(edges.indices), np.float32)
        transition_weights(edges.indptr, edges.indices, edges.weights, graph.degree, by_row, weights)
        return _read_only(Powers(edges.indptr, edges.indices, weights, ones, ones))
    # scale rows of x instead of keeping a number an edge
    inverse = np.divide(1.0, graph.degree, out=np.zeros(graph.num_nodes), where=graph.degree > 0)
    left, right = (inverse, ones) if by_row else (ones, inverse)
    return _read_only(Powers(edges.indptr, edges.indices, None, left, right))


def _read_only(powers: Powers) -> Powers:
    """As in the shared memory of a cluster's nodes, so that kernels are compiled for one case."""
    for array in powers:
        if array is not None:
            array.flags.writeable = False
    return powers


class Propagation:
    """The powers of the transition matrix, applied to a block of columns at a time."""

    def __init__(self, powers: Powers) -> None:
        self.powers, self.pieces = powers, row_pieces(powers.indptr)
        self.x = self.y = self.sums = np.empty((0, COLUMNS), np.float32)

    @property
    def num_nodes(self) -> int:
        """The number of rows."""
        return len(self.powers.left)

    def start(self, nodes: NDArray[Any]) -> None:
        """Put all weight of column j on ``nodes[j]``, and nothing into the sums."""
        if not len(self.x):  # where columns are computed, not where they are asked for
            self.x, self.y, self.sums = (np.empty((self.num_nodes, COLUMNS), np.float32) for _ in range(3))
        self.x[:] = 0
        self.sums[:] = 0
        self.x[nodes, np.arange(len(nodes))] = self.powers.right[nodes]

    def step(self, factor: float) -> None:
        """One more power; ``factor`` times it is added to the sums."""
        indptr, indices, weights, left, right = self.powers
        for rows in self.pieces:
            multiply(
                indptr[rows.start : rows.stop + 1], indices, weights, left[rows], right[rows],
                self.x, self.y[rows], self.sums[rows], factor,
            )  # fmt: skip
        self.x, self.y = self.y, self.x


def frequency_block(powers: Propagation, anchors: NDArray[Any], length: int) -> NDArray[np.float32]:
    """Eq. 1 in expectation: the mean of the first ``length`` powers."""
    powers.start(anchors)
    for _ in range(length):
        powers.step(1.0 / length)
    return powers.sums[:, : len(anchors)]


def hop_block(powers: Propagation, anchors: NDArray[Any], length: int) -> NDArray[np.float32]:
    """Each power by itself: ``length`` columns an anchor."""
    out = np.empty((powers.num_nodes, len(anchors), length), np.float32)
    powers.start(anchors)
    for t in range(length):
        powers.sums[:] = 0
        powers.step(1.0)
        out[:, :, t] = powers.sums[:, : len(anchors)]
    return out.reshape(powers.num_nodes, len(anchors) * length)


def order_to_block(powers: Propagation, anchors: NDArray[Any], length: int, num_walks: int) -> NDArray[np.float32]:
    """App. A in expectation, s_o(v, a) = n_w sum_t f_t(v, a) / t, by first passages: the anchor absorbs."""
    powers.start(anchors)
    for t in range(1, length + 1):
        powers.step(num_walks / t)
        powers.x[anchors, np.arange(len(anchors))] = 0
    return powers.sums[:, : len(anchors)]


def order_from_block(
    powers: Propagation, anchors: NDArray[Any], length: int, num_walks: int, returns: NDArray[np.float64]
) -> NDArray[np.float32]:
    """App. A in expectation, s_o(a, v): first passages f_t(a, v) = P^t(a, v) - sum_{s<t} f_s(a, v) P^{t-s}(v, v)."""
    block = hop_block(powers, anchors, length)
    passage = block.reshape(powers.num_nodes, -1, length).astype(np.float64)
    for t in range(1, length):
        for s in range(t):
            passage[:, :, t] -= passage[:, :, s] * returns[:, t - s - 1, None]
    weighted = num_walks * (passage / np.arange(1, length + 1)).sum(axis=2)
    positive: NDArray[np.float32] = np.maximum(weighted, 0).astype(np.float32)
    return positive


def return_block(powers: Propagation, nodes: NDArray[Any], length: int) -> NDArray[np.float64]:
    """P^t(v, v) for t = 1 .. length - 1, a row for each of ``nodes``."""
    out = np.zeros((len(nodes), max(1, length - 1)))
    powers.start(nodes)
    for t in range(length - 1):
        powers.step(0.0)
        out[:, t] = powers.x[nodes, np.arange(len(nodes))]
    return out


BlockFunction = Callable[[Propagation, NDArray[Any]], NDArray[Any]]


def blocks_of(
    walker: Walker, compute: BlockFunction, powers: Powers, anchors: NDArray[Any], description: str
) -> Iterator[NDArray[Any]]:
    """``compute`` for each COLUMNS of the anchors, in order."""
    pieces = [anchors[first : first + COLUMNS] for first in range(0, len(anchors), COLUMNS)]
    return walker.compute(compute, Propagation(powers), pieces, description)


def order_cost(graph: Graph, length: int) -> int:
    """Multiplications for the return probabilities of all nodes."""
    return graph.num_nodes * len(graph.indices) * (length - 1)


def check_order_cost(graph: Graph, length: int) -> None:
    """Refuse what would take too long."""
    cost = max(order_cost(graph, length), graph.num_nodes * length**2)  # first passages subtract all earlier ones
    if cost > MAX_ORDER_COST:
        raise InputError(
            f'similarity="order" with method="exact" needs the return probabilities of all {graph.num_nodes} nodes, '
            f'{cost:.1e} multiplications where {MAX_ORDER_COST:.0e} are allowed; use method="walks"'
        )


def _return_probabilities(walker: Walker, graph: Graph, length: int) -> NDArray[np.float64]:
    """P^t(v, v) for t = 1 .. length - 1, ``[n, length - 1]``."""
    nodes, powers = np.arange(graph.num_nodes), transition_powers(graph, "to")
    compute = partial(return_block, length=length)
    return np.concatenate(list(blocks_of(walker, compute, powers, nodes, "return probabilities")))


def is_balanced(graph: Graph) -> bool:
    """Whether s(a, v) can be computed from s(v, a) without loss.

    Example:
        >>> is_balanced(Graph.from_edges([[0, 1], [1, 2]], edge_weight=[1.0, 1e50]))
        False
    """
    if graph.directed:
        return False
    degree = graph.degree[graph.degree > 0]
    return not len(degree) or float(degree.max() / degree.min()) <= BALANCED_RATIO


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
    walker: Walker, graph: Graph, anchors: NDArray[Any], similarity: str, length: int, hops: int | None, num_walks: int,
    layout: str,
) -> tuple[Any, Any]:  # fmt: skip
    """Both matrices, in the layout asked for; with hops their columns are anchor by anchor."""

    def matrix(compute: BlockFunction, direction: str) -> Any:
        powers = transition_powers(graph, direction)
        what = f"exact reachability {direction} anchors"
        return from_columns(
            blocks_of(walker, compute, powers, anchors, what), graph.num_nodes, len(anchors) * (hops or 1), layout
        )

    if similarity == "order":
        check_order_cost(graph, length)
        to = matrix(partial(order_to_block, length=length, num_walks=num_walks), "to")
        returns = _return_probabilities(walker, graph, length)
        return to, matrix(partial(order_from_block, length=length, num_walks=num_walks, returns=returns), "from")
    function = partial(hop_block if hops else frequency_block, length=length)
    to = matrix(function, "to")
    if is_balanced(graph):
        return to, balanced(graph, to, anchors, hops or 1)
    return to, matrix(function, "from")

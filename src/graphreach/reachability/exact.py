"""Reachability by powers of the transition matrix (no sampling)."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.jit import kernel, long_kernel, parallel_kernel, rows_of
from graphreach.reachability.layouts import from_columns
from graphreach.walks.engine import Walker
from graphreach.walks.kernels import prefetch

MAX_ORDER_COST = 10**11
"""Multiplications that the exact order-weighted s(a, v) may take: about a minute."""

BALANCED_RATIO = 1e12
"""Largest ratio of two degrees up to which one direction is computed from the other.

Single precision ends at 1e-45: a greater ratio would make much of what was lost below that.
"""

COLUMNS = 64
"""Columns computed together: one neighbour costs one burst of 256 bytes instead of 64 misses."""

ROWS = 256
"""Rows a thread takes at a time."""

AHEAD = 12
"""How many neighbours ahead to ask for."""

FLUSH = 256
"""Neighbours summed in single precision before the sum moves to double: a hub's sum stays right to 1e-6."""


class Powers(NamedTuple):
    """What a step multiplies by: the rows' entries, and factors of rows before and after."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    weights: NDArray[np.float32] | None
    left: NDArray[np.float64]
    right: NDArray[np.float64]


def transition_powers(graph: Graph, direction: str) -> Powers:
    """The transition matrix P.

    With ``direction="to"`` these are columns of P^t: the chance that a walk from v is at the column's node after t steps.
    With ``"from"`` they are rows of P^t: the chance that a walk from the column's node is at v.
    """
    by_row = direction == "to"
    edges = graph if by_row else graph.transpose()
    ones: NDArray[np.float64] = np.ones(graph.num_nodes)
    if edges.weights is not None:
        weights = np.empty(len(edges.indices), np.float32)
        _transition_weights(edges.indptr, edges.indices, edges.weights, graph.degree, by_row, weights)
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
        self.powers = powers
        self.x = self.y = self.sums = np.empty((0, COLUMNS), np.float32)
        self.alive = np.empty((0, 0), np.bool_)  # rows of x and of y that are not all zero; none is known before a step

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
        self.alive = np.empty((0, 0), np.bool_)

    def step(self, factor: float) -> None:
        """One more power; ``factor`` times it is added to the sums."""
        if not len(self.alive):
            self.alive = np.stack([self.x.any(axis=1), np.ones(self.num_nodes, np.bool_)])
        _multiply(*self.powers, self.x, self.y, self.sums, factor, *self.alive)
        self.x, self.y, self.alive = self.y, self.x, self.alive[::-1]


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
    """Whether s(a, v) can be computed from s(v, a) without loss."""
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


@intrinsic  # type: ignore[untyped-decorator]
def _add_row(typing_context: Any, total: Any, x: Any, row: Any, weight: Any) -> Any:
    """total[:] += weight * x[row, :], COLUMNS single-precision numbers at once (weight None: 1).

    Written as vector instructions because the compiler cannot know that the two arrays do not overlap and would add them
    one number at a time.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total_type, x_type, _, weight_type = signature.args
        vector = ir.VectorType(ir.FloatType(), COLUMNS)
        target = context.make_array(total_type)(context, builder, args[0]).data
        struct = context.make_array(x_type)(context, builder, args[1])
        zero = ir.Constant(args[2].type, 0)
        source = cgutils.get_item_pointer(context, builder, x_type, struct, [args[2], zero], wraparound=False)
        target, source = (builder.bitcast(p, vector.as_pointer()) for p in (target, source))
        value = builder.load(source, align=4)
        if weight_type is not types.none:
            single = builder.insert_element(ir.Constant(vector, ir.Undefined), args[3], ir.IntType(32)(0))
            lanes = ir.Constant(ir.VectorType(ir.IntType(32), COLUMNS), [0] * COLUMNS)
            value = builder.fmul(value, builder.shuffle_vector(single, ir.Constant(vector, ir.Undefined), lanes))
        builder.store(builder.fadd(builder.load(target, align=4), value), target, align=4)
        return context.get_dummy_value()

    return types.void(total, x, types.intp, weight), codegen


@kernel
def _add_rows(indices: Any, weights: Any, begin: Any, end: Any, x: Any, alive: Any, partial: Any) -> Any:
    """partial = sum over neighbours u = indices[begin : end] of w_u x[u], in single precision; whether any was alive."""
    partial[:] = np.float32(0.0)
    some = False
    for e in range(begin, end):
        if not alive[np.int64(indices[e])]:
            continue
        some = True
        # rows of x come from far away in memory; the list of neighbours tells early which will be wanted
        ahead = np.int64(indices[min(e + AHEAD, len(indices) - 1)])
        for line in range(0, COLUMNS, 16):
            prefetch(x, ahead * COLUMNS + line)
        if weights is None:
            _add_row(partial, x, np.int64(indices[e]), None)
        else:
            _add_row(partial, x, np.int64(indices[e]), np.float32(weights[e]))
    return some


@kernel
def _write_row(total: Any, left: Any, right: Any, factor: Any, sums: Any, y: Any) -> None:
    """What :func:`_multiply` makes of a row's sum."""
    for c in range(COLUMNS):
        z = left * np.float64(total[c])
        sums[c] += np.float32(factor * z)
        y[c] = np.float32(right * z)


@long_kernel
def _multiply(
    share: Any, indptr: Any, indices: Any, weights: Any, left: Any, right: Any, x: Any, y: Any, sums: Any, factor: Any,
    alive: Any, alive_after: Any,
) -> None:  # fmt: skip
    """One step: z = left * (A x) row by row; ``sums`` += factor * z and y = right * z. All have COLUMNS columns.

    Rows of x that are not ``alive`` are zero and passed over: a walk's first steps reach little of a road network.
    """
    n = len(indptr) - 1
    for b in range(share[0], (n + ROWS - 1) // ROWS, share[1]):
        if share[2][0] != 0:
            return
        partial, total = np.empty(COLUMNS, np.float32), np.empty(COLUMNS, np.float64)
        for v in range(b * ROWS, min((b + 1) * ROWS, n)):
            begin, end = np.int64(indptr[v]), np.int64(indptr[v + 1])
            some = _add_rows(indices, weights, begin, min(begin + FLUSH, end), x, alive, partial)
            if end - begin > FLUSH:
                for c in range(COLUMNS):  # a slice takes two seconds to compile
                    total[c] = partial[c]
                for chunk in range(begin + FLUSH, end, FLUSH):
                    some |= _add_rows(indices, weights, chunk, min(chunk + FLUSH, end), x, alive, partial)
                    for c in range(COLUMNS):
                        total[c] += partial[c]
                _write_row(total, left[v], right[v], factor, sums[v], y[v])
            elif some:
                _write_row(partial, left[v], right[v], factor, sums[v], y[v])
            elif alive_after[v]:  # what y held two steps ago
                y[v] = np.float32(0.0)
            alive_after[v] = some


@parallel_kernel
def _transition_weights(
    share: Any, indptr: Any, indices: Any, weights: Any, degree: Any, by_row: Any, out: Any
) -> None:
    """w / degree of the edge's source (its row, or in a transposed graph its column): numbers between 0 and 1."""
    for v in rows_of(share, len(indptr) - 1):
        for e in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            source = np.int64(v) if by_row else np.int64(indices[e])
            out[e] = np.float32(weights[e] / degree[source])

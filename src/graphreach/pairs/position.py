"""Where nodes are: log(1 + lift) of walks to anchors; and how alike the positions of two nodes are."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.jit import parallel_kernel, rows_of
from graphreach.pairs.own_edge import Between, OwnEdge, column_weights, row_weights
from graphreach.progress import live
from graphreach.reachability.exact import COLUMNS, Powers, Propagation, transition_powers

COMPARED = ("dot", "cosine", "difference", "overlap")
"""What is said of two positions: mean product, cosine, mean absolute difference, share of the minimum in the maximum."""

ALIKE = 4
"""Numbers of :data:`COMPARED`."""


NOTHING = 0.01
"""Added to what cosine and overlap divide by, so that two positions that are all but zero are not alike."""


class OwnRows(NamedTuple):
    """What positions of the ends of some pairs need to leave the pair's own edge out.

    Attributes:
        pairs: Positions of the nodes, ``[2, m]``.
        after: P'^t between the ends without the edge.
        edge: The edges.
        into: In-degrees without them, ``[2, m]``; those of an undirected graph are its degrees.
    """

    pairs: NDArray[np.int64]
    after: Between
    edge: OwnEdge
    into: NDArray[np.float64]


class Positions(NamedTuple):
    """Positions of all nodes, and of the ends of pairs without their own edges.

    Attributes:
        nodes: ``[n, k]`` for each length.
        ends: ``[2 m, k]`` for each length: the first ends of the pairs, then the second ones.
    """

    nodes: list[NDArray[np.float32]]
    ends: list[NDArray[np.float32]]


def volume(graph: Graph) -> float:
    """The sum of all (out-)degrees."""
    return float(graph.degree.sum())


def in_degree(graph: Graph) -> NDArray[np.float64]:
    """Degrees of an undirected graph, in-degrees of a directed one."""
    return graph.transpose().degree if graph.directed else graph.degree


def positions(
    graph: Graph, anchors: NDArray[np.int64], lengths: Sequence[int], direction: str = "to", own: OwnRows | None = None
) -> Positions:
    r"""Log-lift between nodes and anchors, :math:`\log(1 + \bar P^l(v, a) \, vol / d_a)`, the mean over steps 1 .. l.

    Args:
        graph: The graph.
        anchors: The anchors' positions.
        lengths: Jumps of the walks.
        direction: ``"to"`` for walks from nodes to anchors, ``"from"`` for walks from anchors to nodes.
        own: Pairs whose ends are placed without the edge between them, or None.
    """
    out = mean_powers(graph, anchors, lengths, direction, own)
    _to_lift(graph, anchors, direction, out, own)
    return out


def mean_powers(
    graph: Graph, anchors: NDArray[np.int64], lengths: Sequence[int], direction: str = "to", own: OwnRows | None = None
) -> Positions:
    r"""Mean powers :math:`\bar P^l(v, a)` between nodes and anchors: what :func:`positions` scales.

    A change of the graph moves them only where walks of that length meet it, while the factor :math:`vol / d_a` of all
    nodes moves with every edge.
    """
    weights = None if own is None else [_weights(own, length, direction) for length in lengths]
    return _mean_powers(transition_powers(graph, direction), anchors, lengths, weights, own)


def mean_powers_by(powers: Powers, anchors: NDArray[np.int64], lengths: Sequence[int]) -> list[NDArray[np.float32]]:
    """Mean powers ``[n, k]`` of each length by the matrix that is given.

    Args:
        powers: What a step multiplies by.
        anchors: The columns.
        lengths: Jumps of the walks.
    """
    return _mean_powers(powers, anchors, lengths).nodes


def _mean_powers(
    powers: Powers, anchors: NDArray[np.int64], lengths: Sequence[int],
    weights: list[NDArray[np.float32]] | None = None, own: OwnRows | None = None,
) -> Positions:  # fmt: skip
    n, k = len(powers.left), len(anchors)
    count = 0 if own is None else 2 * own.pairs.shape[1]
    out = Positions(*([np.empty((rows, k), np.float32) for _ in lengths] for rows in (n, count)))
    propagation = Propagation(powers)
    steps = -(-k // COLUMNS) * max(lengths)
    with live("positions", steps) as show:
        for begin in range(0, k, COLUMNS):
            columns = slice(begin, min(begin + COLUMNS, k))
            for t in _steps(propagation, anchors[columns], lengths, out, weights, own, columns):
                show(begin // COLUMNS * max(lengths) + t, "positions")
    return out


def to_lift(
    graph: Graph, anchors: NDArray[np.int64], direction: str, means: Sequence[NDArray[np.float32]]
) -> list[NDArray[np.float32]]:
    """Positions of all nodes from their :func:`mean_powers`, which stay as they are."""
    out = Positions([each.copy() for each in means], [])
    _to_lift(graph, anchors, direction, out, None)
    return out.nodes


def _steps(
    propagation: Propagation, anchors: NDArray[np.int64], lengths: Sequence[int], out: Positions,
    weights: list[NDArray[np.float32]] | None, own: OwnRows | None, columns: slice,
) -> Iterator[int]:  # fmt: skip
    """Walk as far as the longest length, and note the mean of each on the way."""
    size, apart = len(anchors), weights is not None and own is not None
    propagation.start(anchors)
    step = total = propagation.sums
    if apart:
        total = np.zeros_like(step)
        step[anchors, np.arange(size)] = 1.0
    for ends in out.ends:
        ends[:, columns] = 0.0
    for t in range(max(lengths) + 1):
        if t > 0:
            if apart:
                step[:] = 0.0
            propagation.step(1.0)
            if apart:
                total += step
        for number, length in enumerate(lengths):
            if weights is not None and own is not None and t <= length:
                ends = out.ends[number].reshape(2, -1, out.ends[number].shape[1])
                _add_rows(step, own.pairs, weights[number][:, :, t], columns.start, size, ends)
            if t == length:
                out.nodes[number][:, columns] = total[:, :size] / length
        yield t


def _weights(own: OwnRows, length: int, direction: str) -> NDArray[np.float32]:
    """What the step's rows of both ends count in the position of each, ``[2, 2, length + 1, m]``."""
    if direction == "to":
        found = row_weights(own.after, own.edge, length)
    else:
        found = column_weights(own.after, own.edge, own.edge.weight + own.edge.degree, length)
    return found.astype(np.float32)


def _to_lift(graph: Graph, anchors: NDArray[np.int64], direction: str, out: Positions, own: OwnRows | None) -> None:
    """From mean powers to log(1 + lift), in place; lift is relative to a walk that has forgotten its start."""
    into, total = in_degree(graph), volume(graph)
    lift = np.divide(total, into, out=np.zeros(len(into)), where=into > 0)
    for nodes in out.nodes:
        nodes *= lift[anchors].astype(np.float32) if direction == "to" else lift[:, None].astype(np.float32)
        _log1p(nodes)
    if own is None:
        return
    lost = own.edge.weight.sum(axis=0) if graph.directed else 2 * own.edge.weight[0]
    lift_here = np.divide(total - lost, own.into, out=np.zeros(own.into.shape), where=own.into > 0)
    column = np.full(graph.num_nodes, -1)
    column[anchors] = np.arange(len(anchors))
    for ends in out.ends:
        rows = ends.reshape(2, -1, ends.shape[1])
        if direction == "from":
            rows *= lift_here[:, :, None].astype(np.float32)
        else:
            shrunk = ((total - lost) / total).astype(np.float32)
            raw = [rows[:, np.arange(rows.shape[1]), column[end]] for end in own.pairs]
            rows *= shrunk[:, None] * lift[anchors].astype(np.float32)
            for end, before, now in zip(own.pairs, raw, lift_here, strict=True):
                chosen = np.flatnonzero(column[end] >= 0)
                rows[:, chosen, column[end][chosen]] = (before * now)[:, chosen]
        _log1p(ends)


def _log1p(array: NDArray[np.float32]) -> None:
    np.maximum(array, 0.0, out=array)
    np.log1p(array, out=array)


def compare(
    first: NDArray[np.float32], second: NDArray[np.float32], rows: NDArray[np.int64], out: NDArray[np.float32]
) -> None:
    """Fill ``out`` ``[m, 4]`` with :data:`COMPARED` of row ``rows[0, i]`` of one matrix and ``rows[1, i]`` of the other."""
    _compare_rows(first, second, rows, out)


@parallel_kernel
def _add_rows(share: Any, x: Any, pairs: Any, weights: Any, begin: Any, count: Any, out: Any) -> None:
    """out[e, i, begin + c] += weights[e, 0, i] x[u, c] + weights[e, 1, i] x[v, c], where (u, v) is pair i."""
    for i in rows_of(share, pairs.shape[1]):
        for e in range(2):
            for z in range(2):
                v, weight = pairs[z, i], weights[e, z, i]
                for c in range(count):
                    out[e, i, begin + c] += weight * x[v, c]


@parallel_kernel
def _compare_rows(share: Any, first: Any, second: Any, rows: Any, out: Any) -> None:
    """The four numbers of :data:`COMPARED` for each pair of rows."""
    k = first.shape[1]
    for i in rows_of(share, rows.shape[1]):
        u, v = rows[0, i], rows[1, i]
        dot = a2 = b2 = gap = low = high = 0.0
        for c in range(k):
            a, b = np.float64(first[u, c]), np.float64(second[v, c])
            dot += a * b
            a2 += a * a
            b2 += b * b
            gap += abs(a - b)
            low += min(a, b)
            high += max(a, b)
        out[i, 0] = dot / k
        out[i, 1] = dot / (np.sqrt(a2 * b2) + NOTHING)
        out[i, 2] = gap / k
        out[i, 3] = low / (high + NOTHING)

"""Columns of a pair from attributes of its nodes: how alike both are, by themselves and with what is around them."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse

from graphreach.arguments import to_finite
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.pairs.direct import edge_weights
from graphreach.pairs.own_edge import OwnEdge, row_weights, without_own_edge

HOPS = (0, 1, 2)
"""Jumps up to which attributes around a node are added to its own."""

NAMES = tuple(f"attributes.cosine_{hops}" for hops in HOPS)

FULL = 0.2
"""Share of entries from which on a matrix is kept with its zeros."""

ENTRIES = 1 << 23
"""Attributes of one end of pairs that are compared at a time."""

NOTHING = 1e-9
"""Added to what a cosine divides by, so that rows of zeros are not alike."""


def check_attributes(x: Any, num_nodes: int, width: int | None = None) -> csr_array:
    """Attributes ``[n, d]``, an array or a SciPy matrix, as a compressed matrix in single precision.

    Args:
        x: The attributes.
        num_nodes: Number of rows that it must have.
        width: Number of columns that it must have, if that is known.
    """
    shape = f"[{num_nodes}, {'attributes' if width is None else width}]"
    wanted = f"an array or a sparse matrix {shape} of numbers, one row per node in the order of graph.ids"
    values = csr_array(x) if issparse(x) and x.ndim == 2 else to_finite("x", x, wanted)
    if values.ndim != 2 or values.shape[0] != num_nodes or values.shape[1] != (width or values.shape[1] or -1):
        raise InputError(f"x must be {wanted}, got shape {list(values.shape)}")
    if issparse(x):
        to_finite("x", values.data, wanted)
    with np.errstate(over="ignore"):
        found = csr_array(values, dtype=np.float32, copy=True)
    if not np.isfinite(found.data).all():
        raise InputError("x must hold numbers that fit 32 bits, got one that does not")
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


class AttributeScaling(NamedTuple):
    """How attributes are brought to one scale, chosen by those of the graph that is learned from.

    Counts and other sparse attributes without negative ones, such as words, are divided by the sum of their row. Columns of
    all others get mean 0 and deviation 1.

    Attributes:
        mean: Mean of each column, ``[d]``; zeros for words.
        scale: Inverse of the deviation of each column, ``[d]``; zeros for words, which have none.
    """

    mean: NDArray[np.float32]
    scale: NDArray[np.float32]

    @classmethod
    def of(cls, x: csr_array) -> Self:
        """The scaling that suits attributes."""
        size = x.shape[0] * x.shape[1]
        if 2 * x.nnz <= size and not (x.data < 0).any():
            return cls(np.zeros(x.shape[1], np.float32), np.zeros(x.shape[1], np.float32))
        dense = x.toarray().astype(np.float64)
        mean, deviation = dense.mean(0), dense.std(0)
        scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > NOTHING)
        if not scale.any():  # all nodes are alike
            return cls(np.zeros(x.shape[1], np.float32), np.zeros(x.shape[1], np.float32))
        return cls(mean.astype(np.float32), scale.astype(np.float32))

    def apply(self, x: csr_array) -> csr_array:
        """Attributes on that scale."""
        if self.scale.any():
            return csr_array((x.toarray() - self.mean) * self.scale)
        total = np.abs(x).sum(1)
        share = np.divide(1.0, total, out=np.zeros(total.shape, np.float32), where=total > 0)
        return csr_array(diags_array(share.astype(np.float32)) @ x)


class PairAttributes:
    r"""Cosines of the attributes of both nodes of a pair: of :math:`x`, :math:`(I + P) x` and :math:`(I + P + P^2) x`.

    Args:
        graph: The graph.
        x: Attributes ``[n, d]``.
    """

    def __init__(self, graph: Graph, x: csr_array) -> None:
        self.graph, self._steps = graph, [_compact(x)]
        degree = graph.degree
        inverse = np.divide(1.0, degree, out=np.zeros(len(degree)), where=degree > 0).astype(np.float32)
        transition = csr_array(diags_array(inverse) @ graph.to_scipy(np.float32))
        for _ in HOPS[1:]:
            self._steps.append(_compact(transition @ self._steps[-1]))
        self._sums = self._steps[:1]
        for step in self._steps[1:]:
            self._sums.append(_compact(self._sums[-1] + step))
        self._norms = [np.sqrt(_row_dots(each, each)) for each in self._sums]

    def describe(self, pairs: NDArray[np.int64], exclude_own_edge: bool = True) -> NDArray[np.float32]:
        """Cosines ``[m, 3]``; a pair with an edge is described without it, unless ``exclude_own_edge`` is False."""
        if not self.graph.directed:
            pairs = np.sort(pairs, axis=0)
        out = np.empty((pairs.shape[1], len(HOPS)), np.float32)
        weight = np.stack([edge_weights(self.graph, side) for side in (pairs, pairs[::-1])])
        linked = (weight > 0).any(axis=0) & exclude_own_edge
        size = max(256, ENTRIES // self._steps[0].shape[1])
        for begin in range(0, pairs.shape[1], size):
            part = slice(begin, begin + size)
            first, second = pairs[:, part]
            for column, (rows, norms) in enumerate(zip(self._sums, self._norms, strict=True)):
                dots = _row_dots(rows[first], rows[second])
                out[part, column] = dots / (norms[first] * norms[second] + NOTHING)
        for chosen in np.split(np.flatnonzero(linked), range(size, int(linked.sum()), size)):
            if len(chosen):
                out[chosen] = self._without_edge(pairs[:, chosen], weight[:, chosen])
        return out

    def _without_edge(self, pairs: NDArray[np.int64], weight: NDArray[np.float64]) -> NDArray[np.float32]:
        """Cosines of linked pairs, the rows of whose ends are put together from those of the graph with the edge."""
        degree = self.graph.degree[pairs]
        edge = OwnEdge(weight, degree - weight)
        between = np.zeros((2, 2, 2, pairs.shape[1]))
        between[0, 0, 0] = between[1, 1, 0] = 1.0
        for end in (0, 1):
            for other in (0, 1):
                joined = edge_weights(self.graph, np.stack([pairs[end], pairs[other]]))
                between[end, other, 1] = np.divide(
                    joined, degree[end], out=np.zeros(len(joined)), where=degree[end] > 0
                )
        after = without_own_edge(between, edge)
        out = np.empty((pairs.shape[1], len(HOPS)), np.float32)
        for column, hops in enumerate(HOPS):
            weights = row_weights(after, edge, hops) * hops if hops else np.zeros((2, 2, 1, pairs.shape[1]))
            weights[0, 0, 0] += 1.0
            weights[1, 1, 0] += 1.0
            ends = [
                sum(
                    _scaled(self._steps[step][pairs[z]], weights[end, z, step])
                    for step in range(hops + 1)
                    for z in (0, 1)
                )
                for end in (0, 1)
            ]
            norms = [np.sqrt(_row_dots(each, each)) for each in ends]
            out[:, column] = _row_dots(*ends) / (norms[0] * norms[1] + NOTHING)
        return out


def _compact(rows: Any) -> Any:
    """A matrix with its zeros if they are few, else without."""
    if not issparse(rows):
        return rows
    return rows.toarray() if rows.nnz > FULL * rows.shape[0] * rows.shape[1] else csr_array(rows)


def _row_dots(first: Any, second: Any) -> NDArray[np.float64]:
    """The dot product of each row of one matrix with that of the other."""
    if issparse(first):
        return np.asarray(first.multiply(second).sum(1), np.float64)
    dots: NDArray[np.float64] = np.einsum("ij,ij->i", first, second).astype(np.float64)
    return dots


def _scaled(rows: Any, factors: NDArray[np.float64]) -> Any:
    factors = factors.astype(np.float32)
    return (diags_array(factors) @ rows).toarray() if issparse(rows) else rows * factors[:, None]

"""What edges say about each node: log(1 + lift) of one step to all nodes, and the outline of the graph, compressed."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from graphreach.graph import Graph
from graphreach.vectors.reduce import NOTHING, Matrix, rotation, truncated_svd

Both = tuple[csr_array, csr_array]
"""A matrix of the edges, and that of the edges reversed."""


def log_lift(graph: Graph) -> csr_array:
    r"""The matrix :math:`\log(1 + w_{uv} \, vol / (d_u d_v))` of a graph, with its zeros left out.

    In a directed graph :math:`d_u` is the out-degree and :math:`d_v` the in-degree.
    """
    matrix = csr_array(graph.to_scipy(np.float64))
    out, into = graph.degree, graph.transpose().degree if graph.directed else graph.degree
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(matrix.indptr))
    both = out[rows] * into[matrix.indices]
    lift = matrix.data * out.sum() / np.where(both > 0, both, np.inf)
    return csr_array((np.log1p(lift).astype(np.float32), matrix.indices, matrix.indptr), matrix.shape)


def lift_matrices(graph: Graph) -> Both:
    """:func:`log_lift` and its transpose."""
    matrix = log_lift(graph)
    return matrix, csr_array(matrix.T)


def outline_matrices(graph: Graph, alike: bool) -> tuple[csr_array, Matrix, Matrix]:
    r"""The edges, in units of their mean weight, and :math:`(d + c)^{-1/2}` of each node's out- and in-degree.

    The constant c keeps small components and nodes with few edges out of the leading eigenvectors, as in regularised
    spectral clustering: one edge, or the mean degree where linked nodes are not alike.
    """
    edges = csr_array(graph.to_scipy(np.float64))
    edges.data /= edges.data.mean() if edges.nnz else 1.0
    extra = 1.0 if alike else edges.nnz / max(1, graph.num_nodes)
    out, into = (1 / np.sqrt(np.asarray(edges.sum(axis=axis)).ravel() + extra) for axis in (1, 0))
    return csr_array(edges.astype(np.float32)), out.astype(np.float32), into.astype(np.float32)


def outline_steps(graph: Graph, alike: bool) -> Both:
    r"""The matrices :math:`(D + c)^{-1} A` of edges and of edges reversed."""
    edges, out, into = outline_matrices(graph, alike)
    return csr_array(diags_array(out**2) @ edges), csr_array(diags_array(into**2) @ edges.T)


class FactorPart(NamedTuple):
    r"""Factors of a matrix of edges, from which a node that comes later gets its row by its neighbours alone.

    Attributes:
        rows: One row per node, ``[n, r]``: :math:`U \Sigma^{1/2}` of log-lift, :math:`(D + c)^{-1/2} U` of the outline.
        columns: The same for V: equal to ``rows`` except for signs where edges have no direction.
        inverse: :math:`\Sigma^{-1}`, ``[r, r]``: a diagonal, unless the factors were turned.
    """

    rows: Matrix
    columns: Matrix
    inverse: Matrix

    def narrowed(self, rank: int) -> "FactorPart":
        """The factors of the largest singular values."""
        return FactorPart(self.rows[:, :rank], self.columns[:, :rank], self.inverse[:rank, :rank])

    def taken(self, nodes: NDArray[np.int64]) -> "FactorPart":
        """Rows and columns of some of the nodes."""
        return self._replace(rows=self.rows[nodes], columns=self.columns[nodes])

    def turned(self, before: "FactorPart") -> "FactorPart":
        """The same factors, turned so that rows and columns come nearest to earlier ones."""
        turn = rotation([(self.rows, before.rows), (self.columns, before.columns)])
        inverse = (turn.T @ self.inverse @ turn).astype(np.float32)
        return FactorPart(self.rows @ turn, self.columns @ turn, inverse)

    def rebuilt(self, pairs: NDArray[np.int64]) -> Matrix:
        """Log-lift of pairs ``[2, m]`` as its factors have it."""
        first, second = pairs
        found: Matrix = np.einsum("ij,ij->i", self.rows[first], self.columns[second])
        return found

    def grown(self, both: Both, known: NDArray[np.int64], new: NDArray[np.int64]) -> "FactorPart":
        """Rows of a grown graph's nodes: known ones keep theirs, new ones are projected.

        Args:
            both: The grown graph's matrices.
            known: Positions of the known nodes in it, in their order.
            new: Positions of the others.
        """
        matrix, flipped = both
        rows, columns = (np.zeros((matrix.shape[0], len(self.inverse)), np.float32) for _ in range(2))
        rows[known], columns[known] = self.rows, self.columns
        for _ in range(2):  # the second time new nodes see each other
            found = matrix[new] @ columns @ self.inverse, flipped[new] @ rows @ self.inverse
            rows[new], columns[new] = found
        return FactorPart(rows, columns, self.inverse)


def near_part(graph: Graph, rank: int, seed: int, before: FactorPart | None = None) -> FactorPart:
    """Factors of log-lift, found faster from those of a graph that differs little."""
    left, values, right = truncated_svd(log_lift(graph), rank, seed, None if before is None else before.columns)
    root = np.sqrt(values)
    return FactorPart(left * root, right * root, _inverse(values))


def outline_part(graph: Graph, rank: int, alike: bool, seed: int, before: FactorPart | None = None) -> FactorPart:
    r"""The graph's outline, as spectral clustering sees it: leading singular vectors of
    :math:`(D + c)^{-1/2} A (D + c)^{-1/2}` without the first, which is nearly constant.

    Args:
        graph: The graph.
        rank: Number of columns.
        alike: Whether linked nodes are alike; see :func:`outline_matrices`.
        seed: Random seed.
        before: The outline of a graph that differs little, to start from.
    """
    edges, out, into = outline_matrices(graph, alike)
    start = None if before is None else before.columns / into[:, None]
    matrix = csr_array(diags_array(out) @ edges @ diags_array(into))
    left, values, right = truncated_svd(matrix, rank + 1, seed, start)
    return FactorPart(left[:, 1:] * out[:, None], right[:, 1:] * into[:, None], _inverse(values[1:]))


def _inverse(values: Matrix) -> Matrix:
    """A diagonal of inverse singular values; zero where there is nothing."""
    return np.diag(np.divide(1.0, values, out=np.zeros_like(values), where=values > NOTHING))

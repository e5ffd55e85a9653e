"""What a node's neighbours say: log(1 + lift) of one step to all nodes, compressed."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphreach.graph import Graph
from graphreach.vectors.reduce import NOTHING, Matrix, rotation, truncated_svd


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


class NearPart(NamedTuple):
    r"""The factors of log-lift, from which a node that comes later gets its row by its neighbours alone.

    Attributes:
        rows: :math:`U \Sigma^{1/2}`, ``[n, r]``.
        columns: :math:`V \Sigma^{1/2}`, ``[n, r]``: the same but for signs where edges have no direction.
        inverse: :math:`\Sigma^{-1}`, ``[r, r]``: a diagonal, unless the factors were turned.
    """

    rows: Matrix
    columns: Matrix
    inverse: Matrix

    @classmethod
    def of(cls, graph: Graph, rank: int, seed: int, before: "NearPart | None" = None) -> "NearPart":
        """Factors of a graph, found faster from those of one that differs little."""
        left, values, right = truncated_svd(log_lift(graph), rank, seed, None if before is None else before.columns)
        root = np.sqrt(values)
        share = np.divide(1.0, values, out=np.zeros_like(values), where=values > NOTHING)
        return cls(left * root, right * root, np.diag(share))

    def narrowed(self, rank: int) -> "NearPart":
        """The factors of the largest singular values."""
        return NearPart(self.rows[:, :rank], self.columns[:, :rank], self.inverse[:rank, :rank])

    def turned(self, before: "NearPart") -> "NearPart":
        """The same factors, turned so that rows and columns come nearest to earlier ones."""
        turn = rotation([(self.rows, before.rows), (self.columns, before.columns)])
        inverse = (turn.T @ self.inverse @ turn).astype(np.float32)
        return NearPart(self.rows @ turn, self.columns @ turn, inverse)

    def rebuilt(self, pairs: NDArray[np.int64]) -> Matrix:
        """Log-lift of pairs ``[2, m]`` as the factors have it."""
        first, second = pairs
        found: Matrix = np.einsum("ij,ij->i", self.rows[first], self.columns[second])
        return found

    def grown(self, graph: Graph, known: NDArray[np.int64], new: NDArray[np.int64]) -> "NearPart":
        """Rows of a grown graph's nodes: known ones keep theirs, new ones are projected.

        Args:
            graph: The grown graph.
            known: Positions of the known nodes in it, in their order.
            new: Positions of the others.
        """
        n, matrix = graph.num_nodes, log_lift(graph)
        rows, columns = (np.zeros((n, len(self.inverse)), np.float32) for _ in range(2))
        rows[known], columns[known] = self.rows, self.columns
        flipped = csr_array(matrix.T)
        for _ in range(2):  # the second time new nodes see each other
            found = matrix[new] @ columns @ self.inverse, flipped[new] @ rows @ self.inverse
            rows[new], columns[new] = found
        return NearPart(rows, columns, self.inverse)

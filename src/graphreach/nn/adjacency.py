"""Neighbourhoods as the baseline layers read them."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from scipy.sparse import block_diag, csr_array, diags_array
from torch import Tensor

from graphreach.arguments import describe
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph


class Adjacency:
    r"""Which nodes a node hears from: :math:`A_{vu}` is the weight of the edge from u to v, 1 without weights.

    Messages go along edges, from source to target. Made once a graph; the matrices that layers multiply by are made at
    first use and kept.

    Args:
        matrix: SciPy matrix with row v for what arrives at v.
        symmetric: Whether it equals its transpose.
        weighted: Whether edges have weights.

    Example:
        >>> import graphreach as gr
        >>> path = gr.Graph.from_edges([[0, 1], [1, 2]], directed=True)
        >>> adjacency = gr.nn.Adjacency.from_graph(path)
        >>> adjacency
        Adjacency(num_nodes=3, num_entries=2)
        >>> adjacency.edge_index
        tensor([[0, 1],
                [1, 2]])
    """

    def __init__(self, matrix: Any, *, symmetric: bool = False, weighted: bool = True) -> None:
        if not hasattr(matrix, "ndim") or not hasattr(matrix, "dtype") or matrix.dtype == object:
            raise InputError(f"matrix must be a square matrix of numbers, got {describe(matrix)}")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"matrix must be square, got shape {list(matrix.shape)}")
        self.matrix = csr_array(matrix)
        self.symmetric, self.weighted = symmetric, weighted
        self._made: dict[Any, Tensor] = {}

    @classmethod
    def from_graph(cls, graph: Graph) -> "Adjacency":
        """Of one graph."""
        return cls(check_graph(graph).transpose().to_scipy(), symmetric=not graph.directed, weighted=graph.weighted)

    @classmethod
    def from_edge_index(cls, edge_index: Tensor, num_nodes: int) -> "Adjacency":
        """Of edges as PyG has them; one that is listed twice counts twice.

        Example:
            >>> Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 2]]), 3)
            Adjacency(num_nodes=3, num_entries=2)
        """
        source, target = edge_index.cpu().numpy()
        matrix = csr_array((np.ones(len(source)), (target, source)), shape=(num_nodes, num_nodes))
        return cls(matrix, weighted=False)

    @classmethod
    def batch(cls, parts: Sequence["Adjacency"]) -> "Adjacency":
        """Several graphs side by side, as one graph without edges between them.

        Example:
            >>> import graphreach as gr
            >>> edge = gr.nn.Adjacency.from_graph(gr.Graph.from_edges([[0], [1]]))
            >>> Adjacency.batch([edge, edge]).edge_index
            tensor([[1, 0, 3, 2],
                    [0, 1, 2, 3]])
        """
        if not parts:
            raise InputError("parts must hold at least one Adjacency, got none")
        matrix = block_diag([part.matrix for part in parts], format="csr")
        symmetric, weighted = all(part.symmetric for part in parts), any(part.weighted for part in parts)
        return cls(matrix, symmetric=symmetric, weighted=weighted)

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return int(self.matrix.shape[0])

    @property
    def edge_index(self) -> Tensor:
        """Source and target of each entry, ``[2, m]``, as in PyG; an undirected edge appears in both directions."""
        return _edges(self.matrix)

    @property
    def edge_weight(self) -> Tensor | None:
        """The weight of each entry, or ``None``."""
        return torch.from_numpy(self.matrix.data.astype(np.float32)) if self.weighted else None

    def adj_t(self, kind: str, like: Tensor) -> Tensor:
        r"""The matrix that a layer of PyG multiplies by, sparse CSR, in the precision and on the device of ``like``.

        ``"gcn"``: :math:`\hat D^{-1/2} \hat A \hat D^{-1/2}` with :math:`\hat A` = A and ones on the diagonal where it has
        nothing; ``"sage"``: rows of A divided by their sum; ``"gin"``: A; ``"gat"``: edges, with a loop at each node, as
        ``edge_index``, since attention has weights of its own. Made once.
        """
        key = (kind, like.dtype, like.device)
        if key not in self._made:
            matrix = OPERATORS[kind](self.matrix)
            with torch.inference_mode(False):
                made = _edges(matrix) if kind == "gat" else _sparse(matrix, like.dtype)
                self._made[key] = made.to(like.device)
        return self._made[key]

    def without_weights(self) -> "Adjacency":
        """The same edges with weight 1.

        Example:
            >>> import graphreach as gr
            >>> heavy = gr.nn.Adjacency.from_graph(gr.Graph.from_edges([[0], [1]], edge_weight=[5.0]))
            >>> heavy.edge_weight, heavy.without_weights().edge_weight
            (tensor([5., 5.]), None)
        """
        A = self.matrix
        ones = csr_array((np.ones_like(A.data), A.indices, A.indptr), shape=A.shape)
        return Adjacency(ones, symmetric=self.symmetric, weighted=False)

    def to(self, target: torch.device | torch.dtype | str) -> "Adjacency":
        """The same: matrices go where the features are when they are used."""
        return self

    def __repr__(self) -> str:
        return f"Adjacency(num_nodes={self.num_nodes}, num_entries={self.matrix.nnz})"


def as_adjacency(structure: Any) -> Adjacency:
    """An :class:`Adjacency` from itself or from a graph."""
    if isinstance(structure, Adjacency):
        return structure
    if isinstance(structure, Graph):
        return Adjacency.from_graph(structure)
    raise InputError(f"structure must be an Adjacency or a Graph, got {type(structure).__name__}")


def _edges(matrix: Any) -> Tensor:
    target = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return torch.from_numpy(np.stack([matrix.indices.astype(np.int64), target]))


def _sparse(matrix: Any, dtype: torch.dtype) -> Tensor:
    most = torch.finfo(dtype).max
    if matrix.nnz and matrix.data.max() > most:
        raise InputError(
            f"weights of edges must be at most {most:.2g} for a layer that adds them up, got {matrix.data.max():.2g}; "
            "scale them"
        )
    return csr_tensor(matrix).to(dtype)


def csr_tensor(matrix: Any) -> Tensor:
    """A compressed matrix of SciPy as a tensor.

    Example:
        >>> csr_tensor(csr_array([[0.0, 2.0]])).to_dense()
        tensor([[0., 2.]], dtype=torch.float64)
    """
    pointer, column = (torch.from_numpy(each.astype(np.int64)) for each in (matrix.indptr, matrix.indices))
    values = torch.from_numpy(matrix.data)
    with (
        warnings.catch_warnings()
    ):  # torch calls its CSR layout beta; products, batching and reading it back is all we do
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(pointer, column, values, matrix.shape, check_invariants=False)


def _with_loops(A: Any) -> Any:
    return csr_array(A + diags_array((A.diagonal() == 0).astype(A.dtype)))


def _normalized(A: Any) -> Any:
    loops = _with_loops(A)
    scale = diags_array(loops.sum(1) ** -0.5)
    return csr_array(scale @ loops @ scale)


def _mean(A: Any) -> Any:
    total = A.sum(1)
    return csr_array(diags_array(np.divide(1, total, out=np.zeros_like(total), where=total > 0)) @ A)


OPERATORS: dict[str, Callable[[Any], Any]] = {"gcn": _normalized, "sage": _mean, "gat": _with_loops, "gin": csr_array}

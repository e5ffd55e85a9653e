"""Neighbourhoods as the baseline layers read them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from scipy.sparse import block_diag, csr_array, diags_array
from torch import Tensor

from graphreach.arguments import describe
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph

PARTS = 64
"""Runs of rows with about equally many entries that the kernels share out among threads."""


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A square matrix in compressed rows, and its transpose likewise, which gradients are multiplied by.

    Attributes:
        pointer: Where each row's entries begin, ``[n + 1]``.
        index: The column of each entry.
        value: The entries.
        bounds: The first row of each part, and n.
        transpose: The transpose; of a symmetric matrix the matrix itself.
    """

    pointer: Tensor
    index: Tensor
    value: Tensor
    bounds: Tensor
    _transpose: "SparseMatrix | None" = field(default=None, repr=False)

    @property
    def transpose(self) -> "SparseMatrix":
        """The transpose; of a symmetric matrix the matrix itself."""
        return self._transpose or self

    @classmethod
    def from_scipy(cls, matrix: Any, dtype: torch.dtype, device: torch.device, *, symmetric: bool) -> "SparseMatrix":
        """From a SciPy matrix."""
        transpose = None if symmetric else cls.from_scipy(matrix.T.tocsr(), dtype, device, symmetric=True)
        pointer = matrix.indptr.astype(np.int64)
        load = pointer + np.arange(len(pointer))
        bounds = np.searchsorted(load, np.linspace(0, load[-1], PARTS + 1))
        bounds[-1] = len(pointer) - 1
        arrays = (pointer, matrix.indices, matrix.data, bounds)
        rows, index, value, parts = (torch.from_numpy(array).to(device) for array in arrays)
        return cls(rows, index, value.to(dtype), parts, transpose)

    @property
    def rows(self) -> Tensor:
        """The row of each entry."""
        n = self.pointer.numel() - 1
        return torch.repeat_interleave(torch.arange(n, device=self.pointer.device), self.pointer.diff())

    def as_torch(self) -> Tensor:
        """As PyTorch's own sparse matrix, for devices without kernels."""
        n = self.pointer.numel() - 1
        index = torch.stack([self.rows, self.index.long()])
        return torch.sparse_coo_tensor(index, self.value, (n, n), check_invariants=False)


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
        self._made: dict[Any, SparseMatrix] = {}

    @classmethod
    def from_graph(cls, graph: Graph) -> "Adjacency":
        """Of one graph."""
        return cls(check_graph(graph).transpose().to_scipy(), symmetric=not graph.directed, weighted=graph.weighted)

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
        target = np.repeat(np.arange(self.num_nodes), np.diff(self.matrix.indptr))
        return torch.from_numpy(np.stack([self.matrix.indices.astype(np.int64), target]))

    @property
    def edge_weight(self) -> Tensor | None:
        """The weight of each entry, or ``None``."""
        return torch.from_numpy(self.matrix.data.astype(np.float32)) if self.weighted else None

    def operator(self, name: str, like: Tensor) -> SparseMatrix:
        r"""A matrix that a layer multiplies by, in the precision and on the device of ``like``.

        ``"gcn"``: :math:`\hat D^{-1/2} \hat A \hat D^{-1/2}` with :math:`\hat A` = A and ones on the diagonal where it has
        nothing; ``"mean"``: rows of A divided by their sum; ``"sum"``: A; ``"self"``: ones where A has an entry and on the
        whole diagonal.
        """
        key = (name, like.dtype, like.device)
        if key not in self._made:
            symmetric = self.symmetric and name != "mean"
            matrix = OPERATORS[name](self.matrix)
            if matrix.nnz and matrix.data.max() > torch.finfo(like.dtype).max:
                raise InputError(
                    f"weights of edges must be at most {torch.finfo(like.dtype).max:.2g} for a layer that adds them up, "
                    f"got {matrix.data.max():.2g}; scale them"
                )
            self._made[key] = SparseMatrix.from_scipy(matrix, like.dtype, like.device, symmetric=symmetric)
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


def _gcn(A: Any) -> Any:
    loops = csr_array(A + diags_array((A.diagonal() == 0).astype(A.dtype)))
    scale = diags_array(loops.sum(1) ** -0.5)
    return csr_array(scale @ loops @ scale)


def _mean(A: Any) -> Any:
    total = A.sum(1)
    return csr_array(diags_array(np.divide(1, total, out=np.zeros_like(total), where=total > 0)) @ A)


def _self(A: Any) -> Any:
    loops = csr_array(A + diags_array((A.diagonal() == 0).astype(A.dtype)))
    return csr_array((np.ones_like(loops.data), loops.indices, loops.indptr), shape=loops.shape)


OPERATORS: dict[str, Callable[[Any], Any]] = {"gcn": _gcn, "mean": _mean, "sum": csr_array, "self": _self}

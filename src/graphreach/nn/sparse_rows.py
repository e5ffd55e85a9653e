"""Products of a sparse matrix with a dense one that can be differentiated, with entries left out at random."""

from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from graphreach.nn.neighbourhood import csr_tensor


def random_mask(size: int, share: float, generator: torch.Generator) -> Tensor:
    """Which of ``size`` entries stay if a share of them, in 256ths, is left out: one byte of a random number for each."""
    words = torch.empty(-(-size // 8), dtype=torch.int64)
    words.random_(-(2**63), None, generator=generator)
    return words.view(torch.uint8)[:size] >= round(256 * share)


def drop(h: Tensor, share: float, generator: torch.Generator | None) -> Tensor:
    """Dropout by bytes, several times as fast as torch's; without a generator nothing is dropped."""
    if generator is None or not share:
        return h
    kept = random_mask(h.numel(), share, generator).view(h.shape)
    return h * kept.to(h.dtype).mul_(1 / (1 - share))


class SparseRows:
    """A sparse matrix and its transpose, for products and their gradients.

    Args:
        matrix: A SciPy matrix.

    Example:
        >>> SparseRows(csr_array([[0.0, 2.0], [1.0, 0.0]])).times(torch.eye(2))
        tensor([[0., 2.],
                [1., 0.]])
    """

    def __init__(self, matrix: Any) -> None:
        rows = csr_array(matrix, dtype=np.float32)
        rows.sort_indices()
        places = csr_array((np.arange(rows.nnz), rows.indices, rows.indptr), rows.shape).T.tocsr()
        places.sort_indices()
        self.shape: tuple[int, int] = rows.shape
        self.forward = csr_tensor(rows)
        self._places = torch.from_numpy(places.data.astype(np.int64))
        self._columns = torch.from_numpy(places.indices.astype(np.int64))
        self._pointer = torch.from_numpy(places.indptr.astype(np.int64))
        self.backward = self._matrix(
            self._pointer, self._columns, self.forward.values()[self._places], self.shape[::-1]
        )

    @staticmethod
    def _matrix(pointer: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, ...]) -> Tensor:
        return torch.sparse_csr_tensor(pointer, columns, values, shape, check_invariants=False)

    def times(self, h: Tensor, dropout: float = 0.0, generator: torch.Generator | None = None) -> Tensor:
        """The product with ``h``; with a generator, a share of the entries is left out and the others are larger for it."""
        if generator is None or not dropout:
            return _Product.apply(h, self.forward, self.backward)  # type: ignore[no-any-return,no-untyped-call]
        kept = random_mask(len(self._places), dropout, generator)
        there = self._some(self.forward, kept, dropout)
        back = self._some(self.backward, kept[self._places], dropout)
        return _Product.apply(h, there, back)  # type: ignore[no-any-return,no-untyped-call]

    def _some(self, matrix: Any, kept: Tensor, dropout: float) -> Tensor:
        before = torch.nn.functional.pad(torch.cumsum(kept, 0), (1, 0))
        values = matrix.values()[kept] / (1 - dropout)
        return self._matrix(before[matrix.crow_indices()], matrix.col_indices()[kept], values, matrix.shape)


class _Product(torch.autograd.Function):
    """``forward @ h``; the gradient is ``backward @ g``."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, there: Tensor, back: Tensor) -> Tensor:
        ctx.back = back
        return there @ h

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return ctx.back @ gradient, None, None

"""Dense or compressed: matrices put together from blocks, so that the whole is never there twice."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from graphreach.jit import parallel_kernel, rows_of


def compress(block: NDArray[np.float32]) -> csr_array:
    """The non-zero entries of a dense block."""
    counts = np.zeros(len(block), np.int64)
    _count_nonzero_rows(block, counts)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    indices, data = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.float32)
    _compress_rows(block, offsets, indices, data)
    if offsets[-1] < 2**31:
        offsets = offsets.astype(np.int32)
    return csr_array((data, indices, offsets), shape=block.shape)


def from_columns(blocks: Iterable[NDArray[np.float32]], num_rows: int, num_columns: int, layout: str) -> Any:
    """One matrix from blocks of columns, which come in order."""
    if layout == "csr":
        return csr_array(hstack([compress(block) for block in blocks], format="csr"))
    out = np.empty((num_rows, num_columns), np.float32)
    first = 0
    for block in blocks:
        out[:, first : first + block.shape[1]] = block
        first += block.shape[1]
    return out


def from_rows(pieces: Iterable[csr_array], num_rows: int, num_columns: int) -> csr_array:
    """A compressed matrix from compressed blocks of rows, which come in order."""
    pieces = list(pieces)
    lengths = np.concatenate([[0], *(np.diff(piece.indptr) for piece in pieces)])
    indptr = np.cumsum(lengths, dtype=np.int64)
    # column numbers first, then values: each piece is freed as soon as it is copied
    indices = np.concatenate([_take(piece, "indices") for piece in pieces]) if pieces else np.empty(0, np.int32)
    data = np.concatenate([_take(piece, "data") for piece in pieces]) if pieces else np.empty(0, np.float32)
    return csr_array((data, indices, indptr), shape=(num_rows, num_columns))


def _take(piece: csr_array, name: str) -> NDArray[Any]:
    array: NDArray[Any] = getattr(piece, name)
    setattr(piece, name, array[:0])
    return array


@parallel_kernel
def _count_nonzero_rows(share: Any, block: Any, counts: Any) -> None:
    """Add the number of non-zero entries of each row."""
    for v in rows_of(share, len(block)):
        found = 0
        for c in range(block.shape[1]):
            found += block[v, c] != 0
        counts[v] += found


@parallel_kernel
def _compress_rows(share: Any, block: Any, offsets: Any, indices: Any, data: Any) -> None:
    """Write the non-zero entries of row v from ``offsets[v]`` on."""
    for v in rows_of(share, len(block)):
        i = offsets[v]
        for c in range(block.shape[1]):
            if block[v, c] != 0:
                indices[i] = c
                data[i] = block[v, c]
                i += 1

"""Rows of a graph that changed, kept next to the arrays that they replace.

Rows are kept in layers, the later ones over the earlier; a layer is merged into the one below as soon as it is not much
smaller. So there are few of them, and an entry is copied a few times however many updates follow each other.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import change_kernels as kernels
from graphreach.graph.build import CSR

STEP = 4
"""A layer is at least this many times as large as the one over it."""


class Rows(NamedTuple):
    """Rows of some nodes.

    ``values`` are what belongs to each entry, ``[c, entries]``: of the weight, the latest and the earliest time, those
    that the graph has.
    """

    nodes: NDArray[np.int64]
    ptr: NDArray[np.int64]
    targets: NDArray[np.uint32]
    values: NDArray[np.float64]

    @property
    def size(self) -> int:
        """What they take, in nodes and entries."""
        return len(self.nodes) + len(self.targets)


class Base(NamedTuple):
    """The arrays that layers lie on; ``values`` as in :class:`Rows`, one array each."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    values: tuple[NDArray[np.float64], ...]

    def take(self, nodes: NDArray[np.int64]) -> Rows:
        """The rows of some nodes; those of nodes that it does not have are empty."""
        ptr, targets = kernels.take_rows(self.indptr, self.indices, nodes)
        values = np.empty((len(self.values), len(targets)))
        for row, array in zip(values, self.values, strict=True):
            kernels.take_values(self.indptr, array, nodes, ptr, row)
        return Rows(nodes, ptr, targets, values)


def push(layers: tuple[Rows, ...], rows: Rows) -> tuple[Rows, ...]:
    """Lay rows over the others."""
    below = [*layers]
    while below and below[-1].size < STEP * rows.size:
        rows = _merge(below.pop(), rows)
    return (*below, rows)


def take(base: Base, layers: tuple[Rows, ...], nodes: NDArray[np.int64]) -> Rows:
    """The rows of some sorted nodes as they are now."""
    left, found = nodes, None
    for layer in reversed(layers):
        at = np.searchsorted(layer.nodes, left)
        there = layer.nodes[np.minimum(at, len(layer.nodes) - 1)] == left
        if there.any():
            above = Base(layer.ptr, layer.targets, tuple(layer.values)).take(at[there])._replace(nodes=left[there])
            found = above if found is None else _merge(found, above)
            left = left[~there]
    if found is None:
        return base.take(nodes)
    return found if not len(left) else _merge(base.take(left), found)


def join(base: Base, layers: tuple[Rows, ...], num_nodes: int) -> tuple[CSR, list[NDArray[np.float64]]]:
    """The arrays with all changed rows in their places: the CSR without weights, and the values of its entries."""
    rows = layers[0] if layers else base.take(np.empty(0, np.int64))
    for layer in layers[1:]:
        rows = _merge(rows, layer)
    known = rows.nodes[: np.searchsorted(rows.nodes, len(base.indptr) - 1)]
    replaced = int((base.indptr[known + 1].astype(np.int64) - base.indptr[known].astype(np.int64)).sum())
    size = len(base.indices) - replaced + len(rows.targets)
    indptr = np.empty(num_nodes + 1, np.uint32 if size < 2**32 else np.int64)
    indices = np.empty(size, np.uint16 if num_nodes <= 2**16 else np.uint32)
    kernels.join_rows(base.indptr, base.indices, rows.nodes, rows.ptr, rows.targets, indptr, indices)
    joined = [np.empty(size) for _ in base.values]
    for old, new, out in zip(base.values, rows.values, joined, strict=True):
        kernels.join_values(base.indptr, old, rows.nodes, rows.ptr, new, indptr, out)
    return CSR(indptr, indices, None), joined


def _merge(rows: Rows, new: Rows) -> Rows:
    return Rows(*kernels.merge_rows(*rows, *new))

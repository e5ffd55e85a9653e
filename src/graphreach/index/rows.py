"""The neighbours of all nodes, stored so that a row can be replaced without moving the others."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.jit import kernel
from graphreach.walks.engine import transitions
from graphreach.walks.kernels import build_alias

SPARE = 1.25
"""Room of a store that is made, or made anew, relative to what is in it."""

GROWTH = 1.5
"""Room of a row that is moved to the end, relative to its size."""


class Changed(NamedTuple):
    """New rows of some nodes, one after the other: those of ``nodes[i]`` are ``pointer[i] .. pointer[i + 1]``.

    Attributes:
        nodes: Different positions, rising.
        pointer: ``[c + 1]``.
        targets: Neighbours, rising in each row.
        weights: Beside them, empty where edges have none.
        alias: The rows' alias tables, empty where edges have no weights.
    """

    nodes: NDArray[np.int64]
    pointer: NDArray[np.int64]
    targets: NDArray[np.uint32]
    weights: NDArray[np.float64]
    alias: NDArray[np.uint32]

    @classmethod
    def make(
        cls, nodes: NDArray[np.int64], pointer: NDArray[Any], targets: NDArray[Any], weights: NDArray[np.float64] | None
    ) -> "Changed":
        """The rows, with alias tables as those of a whole graph."""
        pointer, targets = pointer.astype(np.int64, copy=False), targets.astype(np.uint32, copy=False)
        if weights is None:
            return cls(nodes, pointer, targets, np.empty(0), np.empty(0, np.uint32))
        alias = np.empty(3 * len(targets), np.uint32)
        build_alias(pointer, targets, weights, alias)
        return cls(nodes, pointer, targets, weights, alias)


class Rows:
    """Out-edges of all nodes; rows that outgrow their place move to the end.

    Attributes:
        num_nodes: How many there are.
        head: Where each row begins and how many neighbours it has, ``[room, 2]``; nodes that come later have their places
            there already.
        place: How many it has room for.
        targets: The neighbours.
        weights: Their weights, empty where edges have none.
        alias: The alias tables, empty where edges have no weights.
    """

    def __init__(self, graph: Graph) -> None:
        table = transitions(graph)
        pointer = np.asarray(graph.indptr).astype(np.int64)
        self.weighted, self.num_nodes, self.end = graph.weighted, graph.num_nodes, len(graph.indices)
        self.head = _with_room(np.stack([pointer[:-1], np.diff(pointer)], axis=1))
        self.place = self.head[:, 1].copy()
        self.weights, self.alias = np.empty(0), np.empty(0, np.uint32)
        self._store(graph.indices.astype(np.uint32, copy=False), graph.weights, table.alias, self.end)

    @property
    def table(self) -> tuple[NDArray[Any], ...]:
        """What kernels walk by: head, targets, alias."""
        return self.head, self.targets, self.alias

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        used = self.end * sum(a.itemsize * (3 if a is self.alias else 1) for a in (self.targets, self.weights, self.alias) if len(a))
        return used + self.head.nbytes + self.place.nbytes

    def grow(self, num_nodes: int) -> None:
        """More nodes, without edges."""
        if num_nodes > len(self.place):
            self.head, self.place = _with_room(self.head, num_nodes), _with_room(self.place, num_nodes)
        self.num_nodes = num_nodes

    def taken(self, nodes: NDArray[np.int64]) -> Changed:
        """The rows of some nodes."""
        pointer = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(self.head[nodes, 1], out=pointer[1:])
        count = int(pointer[-1])
        targets, weights = np.empty(count, np.uint32), np.empty(count if self.weighted else 0)
        alias = np.empty(3 * count if self.weighted else 0, np.uint32)
        _take(*self.table, self.weights, nodes, pointer, targets, weights, alias)
        return Changed(nodes, pointer, targets, weights, alias)

    def put(self, changed: Changed, before: Changed) -> NDArray[np.int64]:
        """Replace rows; those from before stay behind the end for as long as nothing else is put.

        Returns:
            Where those from before are, as in :attr:`head`, for :meth:`turn`.
        """
        needed = int(GROWTH * len(changed.targets)) + len(changed.nodes) + len(before.targets)
        if self.end + needed > len(self.targets):
            self._rewrite(needed)
        self.end = _put(*changed, self.head, self.place, self.targets, self.weights, self.alias, self.end)
        behind = slice(self.end, self.end + len(before.targets))
        self.targets[behind] = before.targets
        if self.weighted:
            self.alias[3 * behind.start : 3 * behind.stop] = before.alias
        return np.stack([before.pointer[:-1] + self.end, np.diff(before.pointer)], axis=1)

    def turn(self, nodes: NDArray[np.int64], head: NDArray[np.int64]) -> NDArray[np.int64]:
        """Let rows of nodes be elsewhere; returns where they were."""
        before: NDArray[np.int64] = self.head[nodes]
        self.head[nodes] = head
        return before

    def _rewrite(self, more: int) -> None:
        """All rows one after the other, without the places that were left."""
        rows = self.csr()
        self.head[: self.num_nodes, 0], self.end = rows.pointer[:-1], len(rows.targets)
        self.place[:] = self.head[:, 1]
        self._store(rows.targets, rows.weights, rows.alias, self.end + more)

    def _store(self, targets: NDArray[np.uint32], weights: Any, alias: Any, room: int) -> None:
        self.targets = _with_room(targets, room)
        if self.weighted:
            self.weights, self.alias = np.zeros(len(self.targets)), np.zeros(3 * len(self.targets), np.uint32)
            self.weights[: len(weights)], self.alias[: len(alias)] = weights, alias

    def csr(self) -> Changed:
        """All rows."""
        return self.taken(np.arange(self.num_nodes))


def _with_room(array: NDArray[Any], size: int = 0) -> NDArray[Any]:
    """A copy with zeros after it, which take no memory until they are written."""
    out = np.zeros((int(max(len(array), size) * SPARE) + 64, *array.shape[1:]), array.dtype)
    out[: len(array)] = array
    return out


@kernel
def _take(
    head: Any, targets: Any, alias: Any, weights: Any, nodes: Any, pointer: Any, out: Any, out_weights: Any, out_alias: Any
) -> None:
    for i in range(len(nodes)):
        begin, at = head[nodes[i], 0], pointer[i]
        for j in range(pointer[i + 1] - at):
            out[at + j] = targets[begin + j]
            if len(out_weights) > 0:
                out_weights[at + j] = weights[begin + j]
                for c in range(3):
                    out_alias[3 * (at + j) + c] = alias[3 * (begin + j) + c]


@kernel
def _put(
    nodes: Any, pointer: Any, new: Any, new_weights: Any, new_alias: Any, head: Any, place: Any, targets: Any,
    weights: Any, alias: Any, end: Any,
) -> Any:  # fmt: skip
    """Rows where they were, or at the end with room to grow; returns the new end."""
    for i in range(len(nodes)):
        v, first = nodes[i], pointer[i]
        count = pointer[i + 1] - first
        if count > place[v]:
            head[v, 0], place[v] = end, np.int64(count * GROWTH) + 1
            end += place[v]
        head[v, 1] = count
        for j in range(count):
            targets[head[v, 0] + j] = new[first + j]
            if len(weights) > 0:
                weights[head[v, 0] + j] = new_weights[first + j]
                for c in range(3):
                    alias[3 * (head[v, 0] + j) + c] = new_alias[3 * (first + j) + c]
    return end

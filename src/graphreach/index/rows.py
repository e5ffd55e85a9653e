"""The neighbours of all nodes, stored so that a row can be replaced without moving the others."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.index.steady import tables
from graphreach.jit import kernel
from graphreach.walks.engine import transitions
from graphreach.walks.kernels import build_alias

SPARE = 1.25
"""Room of a store that is made for the first time or again, relative to what is in it."""

GROWTH = 1.5
"""Room of a row that is moved to the end, relative to its size."""

NO_WEIGHTS = np.empty(0)


class Changed(NamedTuple):
    """Rows of some nodes, one after the other: those of ``nodes[i]`` are ``pointer[i] .. pointer[i + 1]``.

    Attributes:
        nodes: Different positions, rising.
        pointer: ``[c + 1]``.
        targets: Neighbours, rising in each row.
        weights: Their weights, empty where edges have none.
        walk_pointer: Where the table of each row begins that walkers draw from.
        walk_table: These tables.
    """

    nodes: NDArray[np.int64]
    pointer: NDArray[np.int64]
    targets: NDArray[np.uint32]
    weights: NDArray[np.float64]
    walk_pointer: NDArray[np.int64]
    walk_table: NDArray[np.uint32]


class Store:
    """Rows of entries; one that outgrows its place moves to the end.

    Args:
        pointer: Where each row begins, and the end.
        values: The entries, ``width`` numbers each.
        width: How many numbers an entry has.

    Attributes:
        head: Where each row begins and how many entries it has, ``[room, 2]``.
        place: How many it has room for.
        data: The entries.
        end: Where the next row that moves begins.
    """

    def __init__(self, pointer: NDArray[np.int64], values: NDArray[Any], width: int = 1) -> None:
        self.width, self.end = width, int(pointer[-1])
        self.head = _with_room(np.stack([pointer[:-1], np.diff(pointer)], axis=1))
        self.place = self.head[:, 1].copy()
        self.data = self._copied(values, self.end)

    def _copied(self, values: NDArray[Any], room: int) -> NDArray[Any]:
        """Entries with zeros after them, which take no memory until they are written."""
        data = np.zeros(self.width * (int(room * SPARE) + 64), values.dtype)
        data[: len(values)] = values
        return data

    @property
    def nbytes(self) -> int:
        """Memory that is in use."""
        return self.width * self.end * self.data.itemsize + self.head.nbytes + self.place.nbytes

    def grow(self, num_nodes: int) -> None:
        """Room for more rows, which are empty."""
        if num_nodes > len(self.place):
            self.head, self.place = _with_room(self.head, num_nodes), _with_room(self.place, num_nodes)

    def taken(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Some rows: where each begins and the end, and their entries."""
        pointer = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(self.head[nodes, 1], out=pointer[1:])
        values = np.empty(self.width * int(pointer[-1]), self.data.dtype)
        _take(self.head, self.data, self.width, nodes, pointer, values)
        return pointer, values

    def put(self, nodes: NDArray[np.int64], pointer: NDArray[np.int64], values: NDArray[Any], more: int = 0) -> None:
        """Replace rows, and have room for some entries more behind the end."""
        needed = int(GROWTH * (pointer[-1])) + len(nodes) + more
        if self.width * (self.end + needed) > len(self.data):
            every = np.arange(len(self.place))
            starts, kept = self.taken(every)
            self.head[:, 0], self.end = starts[:-1], int(starts[-1])
            self.place[:] = self.head[:, 1]
            self.data = self._copied(kept, self.end + needed)
        self.end = _put(nodes, pointer, values, self.width, self.head, self.place, self.data, self.end)

    def put_behind(self, pointer: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.int64]:
        """Put rows behind the end, where they are until others are put; returns their ``head``."""
        begin = self.width * self.end
        self.data[begin : begin + len(values)] = values
        return np.stack([pointer[:-1] + self.end, np.diff(pointer)], axis=1)

    def turn(self, nodes: NDArray[np.int64], head: NDArray[np.int64]) -> NDArray[np.int64]:
        """Let rows of nodes be elsewhere; returns where they were."""
        before: NDArray[np.int64] = self.head[nodes]
        self.head[nodes] = head
        return before


class Rows:
    """Out-edges of all nodes, and the tables that walkers draw a neighbour from.

    Args:
        graph: The graph in the beginning.
        steady: Whether walkers draw from tables of :mod:`graphreach.index.steady`.
    """

    def __init__(self, graph: Graph, steady: bool = False) -> None:
        pointer = np.asarray(graph.indptr).astype(np.int64)
        self.num_nodes, self.weighted, self.steady = graph.num_nodes, graph.weighted, steady
        targets = graph.indices.astype(np.uint32, copy=False)
        self.targets = self.walking = Store(pointer, targets)
        self.weights = None if graph.weights is None else Store(pointer, graph.weights)
        alias = transitions(graph).alias
        if alias is not None:
            self.walking = Store(pointer, alias, 3)
        elif steady:
            self.walking = Store(*tables(pointer, targets))
        kept = (self.targets, self.weights, None if self.walking is self.targets else self.walking)
        self._stores = [store for store in kept if store is not None]

    @property
    def table(self) -> tuple[NDArray[Any], NDArray[np.uint32], int]:
        """What walkers draw from: where each node's table begins and its size, the tables, and numbers of an entry.

        With one number, it is a neighbour, or none, and then the walker draws again; with three it is an alias table.
        """
        return self.walking.head, self.walking.data, self.walking.width

    def grow(self, num_nodes: int) -> None:
        """More nodes, without edges."""
        for store in self._stores:
            store.grow(num_nodes)
        self.num_nodes = num_nodes

    def taken(self, nodes: NDArray[np.int64]) -> Changed:
        """The rows of some nodes."""
        pointer, targets = self.targets.taken(nodes)
        weights = NO_WEIGHTS if self.weights is None else self.weights.taken(nodes)[1]
        walk = (pointer, targets) if self.walking is self.targets else self.walking.taken(nodes)
        return Changed(nodes, pointer, targets, weights, *walk)

    def changed(
        self,
        nodes: NDArray[np.int64],
        pointer: NDArray[np.int64],
        targets: NDArray[np.uint32],
        weights: Any,
        before: Changed,
    ) -> Changed:
        """Rows that nodes shall have instead of those from before, with their tables."""
        walk_pointer, table = pointer, targets
        if self.weighted:
            table = np.empty(3 * len(targets), np.uint32)
            build_alias(pointer, targets, weights, table)
        elif self.steady:
            walk_pointer, table = tables(
                pointer, targets, (before.pointer, before.targets, before.walk_pointer, before.walk_table)
            )
        return Changed(nodes, pointer, targets, weights if self.weighted else NO_WEIGHTS, walk_pointer, table)

    def put(self, changed: Changed, before: Changed) -> NDArray[np.int64]:
        """Replace rows; tables from before stay behind the end until others are put.

        Returns:
            Where the tables from before are, for ``walking.turn``.
        """
        nodes, last = changed.nodes, int(before.walk_pointer[-1])
        if self.weights is not None:
            self.weights.put(nodes, changed.pointer, changed.weights)
        if self.walking is not self.targets:
            self.targets.put(nodes, changed.pointer, changed.targets)
        self.walking.put(nodes, changed.walk_pointer, changed.walk_table, last)
        return self.walking.put_behind(before.walk_pointer, before.walk_table)

    def csr(self) -> Changed:
        """All rows."""
        return self.taken(np.arange(self.num_nodes))


def _with_room(array: NDArray[Any], size: int = 0) -> NDArray[Any]:
    out = np.zeros((int(max(len(array), size) * SPARE) + 64, *array.shape[1:]), array.dtype)
    out[: len(array)] = array
    return out


@kernel
def _take(head: Any, data: Any, width: Any, nodes: Any, pointer: Any, out: Any) -> None:
    for i in range(len(nodes)):
        begin, at = width * head[nodes[i], 0], width * pointer[i]
        for j in range(width * pointer[i + 1] - at):
            out[at + j] = data[begin + j]


@kernel
def _put(nodes: Any, pointer: Any, values: Any, width: Any, head: Any, place: Any, data: Any, end: Any) -> Any:
    """Rows where they were, or at the end with room to grow; returns the new end."""
    for i in range(len(nodes)):
        v, first = nodes[i], width * pointer[i]
        count = pointer[i + 1] - pointer[i]
        if count > place[v]:
            head[v, 0], place[v] = end, np.int64(count * GROWTH) + 1
            end += place[v]
        head[v, 1] = count
        for j in range(width * count):
            data[width * head[v, 0] + j] = values[first + j]
    return end

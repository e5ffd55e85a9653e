"""A graph that was made from another one by a few changes: its arrays are joined when they are first asked for."""

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_flag, to_finite
from graphreach.errors import InputError
from graphreach.graph import change_kernels as kernels
from graphreach.graph import layers as layered
from graphreach.graph.build import CSR, plain
from graphreach.graph.changes import Changes, check_found, resolve_changes
from graphreach.graph.graph import Graph
from graphreach.graph.layers import Base, Rows
from graphreach.graph.listed import list_edges
from graphreach.graph.lookup import IdLookup

SHARE_JOINED = 8
"""Changed rows are joined with the others once they are more than one part in this many of all entries."""

STATE = ("indptr", "indices", "weights", "ids", "directed", "time", "first_time", "sides", "reading")
"""The attributes that make a graph."""


class UpdatedGraph(Graph):
    """A graph whose changed rows lie next to the arrays of the graph that it was made from."""

    def __init__(self, base: Graph, layers: tuple[Rows, ...], lookup: IdLookup, more_edges: int) -> None:
        self._base: Graph | None = base
        self._layers, self._more_edges = layers, more_edges
        self.directed = base.directed
        self.__dict__["_lookup"] = lookup

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return len(self._lookup)

    @cached_property
    def num_edges(self) -> int:
        """The number of edges."""
        base = self._base
        return super().num_edges if base is None else base.num_edges + self._more_edges

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        base = self._base
        return self.weights is not None if base is None else base.weighted

    @cached_property
    def ids(self) -> Any:  # type: ignore[override]
        """Ids in the order of their positions."""
        return self._lookup.ids

    @cached_property
    def indptr(self) -> Any:  # type: ignore[override]
        """Row pointers."""
        return self._joined("indptr")

    @cached_property
    def indices(self) -> Any:  # type: ignore[override]
        """Neighbours."""
        return self._joined("indices")

    @cached_property
    def weights(self) -> Any:  # type: ignore[override]
        """Weights."""
        return self._joined("weights")

    @cached_property
    def time(self) -> Any:  # type: ignore[override]
        """Latest times."""
        return self._joined("time")

    @cached_property
    def first_time(self) -> Any:  # type: ignore[override]
        """Earliest times."""
        return self._joined("first_time")

    def _joined(self, name: str) -> Any:
        base, layers = self._base, self._layers
        if base is not None:
            csr, values = layered.join(_arrays(base), layers, self.num_nodes)
            names = [each for each in ("weights", "time", "first_time") if getattr(base, each) is not None]
            found = {"weights": None, "time": None, "first_time": None, **dict(zip(names, values, strict=True))}
            found |= {"indptr": csr.indptr, "indices": csr.indices}
            for array in found.values():
                if array is not None:
                    array.flags.writeable = False
            self.__dict__.update(found)
            self._base, self._layers = None, ()
        return self.__dict__[name]

    def __reduce__(self) -> Any:
        return _plain_graph, ({name: getattr(self, name) for name in STATE},)

    def _arrays_and_layers(self) -> tuple[Graph, tuple[Rows, ...], int]:
        base, layers = self._base, self._layers
        return (self, (), 0) if base is None else (base, layers, self._more_edges)


def _plain_graph(state: dict[str, Any]) -> Graph:
    graph = Graph.__new__(Graph)
    graph.__dict__.update(state)
    for value in state.values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    return graph


def _parts(graph: Graph) -> tuple[Graph, tuple[Rows, ...], int]:
    """The graph whose arrays are there, the layers over it, and how many edges more they make."""
    return graph._arrays_and_layers() if isinstance(graph, UpdatedGraph) else (graph, (), 0)


def _arrays(graph: Graph) -> Base:
    values = (graph.weights, graph.time, graph.first_time)
    return Base(graph.indptr, graph.indices, tuple(each for each in values if each is not None))


def rows_of(graph: Graph, nodes: NDArray[np.int64]) -> tuple[Any, Any, Any]:
    """``ptr``, ``targets`` and ``weights`` of the rows of some nodes."""
    base, layers, _ = _parts(graph)
    distinct, place = np.unique(nodes, return_inverse=True)
    rows = layered.take(_arrays(base), layers, distinct)
    if len(distinct) != len(nodes) or not np.array_equal(distinct, nodes):
        rows = Base(rows.ptr, rows.targets, tuple(rows.values)).take(place)
    return rows.ptr, rows.targets, rows.values[0] if graph.weighted else None


def update(
    graph: Graph,
    add: Any,
    remove: Any,
    weights: Any,
    nodes: Iterable[Hashable],
    time: Any,
    self_loops: bool,
) -> Graph:
    """See :meth:`graphreach.Graph.updated`."""
    check_flag("self_loops", self_loops)
    base, layers, more_edges = _parts(graph)
    if add is not None and (time is not None or base.time is not None):
        add = list_edges(add, "add")
    times = _check_times(base, add, time)
    lookup, weighted = graph._lookup, base.weighted
    changes = resolve_changes(
        lookup,
        add,
        remove,
        weights,
        nodes=nodes,
        directed=graph.directed,
        weighted=weighted,
        self_loops=self_loops,
        time=times,
    )
    if len(changes.source):
        rows, found = _changed(layered.take(_arrays(base), layers, changes.touched), changes, base)
        check_found(changes, found, lookup)
        more_edges += int(np.count_nonzero((changes.kind == kernels.ADD) & ~found)) - int(
            np.count_nonzero(changes.kind == kernels.REMOVE)
        )
        layers = layered.push(layers, rows)
    sides = None if graph.sides is None else sides_after(graph.sides, changes, lookup)
    if len(changes.ids):
        lookup = lookup.extended(changes.ids)
    made: Graph = UpdatedGraph(base, layers, lookup, more_edges)
    if SHARE_JOINED * sum(len(layer.targets) for layer in layers) > len(base.indices):
        made = _plain_graph({name: getattr(made, name) for name in STATE})
        if SHARE_JOINED * lookup.num_late <= len(lookup):
            made.__dict__["_lookup"] = lookup
    made.sides = sides
    return made


def _changed(old: Rows, changes: Changes, base: Graph) -> tuple[Rows, NDArray[np.bool_]]:
    """The rows of the touched nodes after the changes, and which edges were there before."""
    edges = (changes.source, changes.target)
    weights = old.values[0] if base.weighted else np.empty(0)
    ptr, targets, new_weights, found = kernels.changed_rows(
        changes.touched, old.ptr, old.targets, weights, *edges, changes.weight, changes.kind, base.directed
    )
    values = [new_weights[None]] if base.weighted else []
    if base.time is not None:
        before = np.ascontiguousarray(old.values[-2:])
        rows = (changes.touched, old.ptr, old.targets, before, ptr, targets)
        times = changes.times if changes.times.size else np.zeros((2, len(changes.source)))
        values.append(kernels.changed_times(*rows, *edges, times, changes.kind, base.directed))
    return Rows(changes.touched, ptr, targets, np.concatenate(values) if values else np.empty((0, len(targets)))), found


def _check_times(graph: Graph, add: Any, time: Any) -> NDArray[np.float64] | None:
    """The latest and earliest times of the edges that are added, if the graph has times."""
    if time is not None and add is None:
        raise InputError("time must be None where no edges are added, got times")
    if graph.time is None:
        if time is not None:
            raise InputError("time must be None for a graph without times, got times; read the graph with time=")
        return None
    if add is None or (time is None and not add.size):
        return None
    if time is None:
        if add.times is None:
            raise InputError("time must have a number per added edge, as the graph has times, got None")
        times: NDArray[np.float64] = add.times
        return times
    given = to_finite("time", time, "a number per added edge").astype(np.float64)
    if given.shape != (add.size,):
        raise InputError(f"time must have {add.size} numbers, one per added edge, got shape {list(given.shape)}")
    return np.stack([given, given])


def sides_after(sides: NDArray[np.int8], changes: Changes, lookup: IdLookup) -> NDArray[np.int8]:
    """The sides of all nodes, new ones on the side that their edges imply; an edge within a side is refused."""
    source, target = changes.listed[:, changes.listed[0] != changes.listed[1]]
    if not len(source) and not len(changes.ids):
        return sides
    found = np.concatenate([sides, np.full(len(changes.ids), -1, np.int8)])
    while True:
        forth, back = (found[source] >= 0) & (found[target] < 0), (found[source] < 0) & (found[target] >= 0)
        if not (forth.any() or back.any()):
            break
        found[target[forth]] = 1 - found[source[forth]]
        found[source[back]] = 1 - found[target[back]]
    free = found[source] < 0
    found[source[free]], found[target[free]] = 0, 1
    wrong = np.flatnonzero(found[source] == found[target])
    if len(wrong):
        known = lookup.extended(changes.ids).ids if len(changes.ids) else lookup.ids
        u, v = (plain(known[end[wrong[0]]]) for end in (source, target))
        raise InputError(f"add must list edges between the two kinds of nodes, got ({u!r}, {v!r}) within one of them")
    found.flags.writeable = False
    return found


def in_order(graph: Graph, ids: NDArray[Any]) -> Graph:
    """The same graph with its nodes in the order of ``ids``, which must be those of its nodes.

    A graph that was updated and saved is read with its ids sorted; this gives it the positions that it had.
    """
    if np.array_equal(graph.ids, ids):
        return graph
    if len(ids) != graph.num_nodes:
        raise InputError(f"ids must be those of the {graph.num_nodes} nodes of the graph, got {len(ids)}")
    old = graph.index_of(ids)
    if len(np.unique(old)) < len(ids):
        raise InputError("ids must be distinct, got some more than once")
    new = np.empty(len(old), np.int64)
    new[old] = np.arange(len(old))
    ptr, targets = kernels.take_rows(graph.indptr, graph.indices, old)
    row = np.repeat(np.arange(len(old)), ptr[1:] - ptr[:-1])
    order = np.lexsort((new[targets], row))
    names = [name for name in ("weights", "time", "first_time") if getattr(graph, name) is not None]
    values = {name: np.empty(len(targets)) for name in names}
    for name, out in values.items():
        kernels.take_values(graph.indptr, getattr(graph, name), old, ptr, out)
        values[name] = out[order]
    indptr = ptr.astype(graph.indptr.dtype)
    indices = new[targets][order].astype(graph.indices.dtype)
    found = Graph(CSR(indptr, indices, values.pop("weights", None)), graph.ids[old], graph.directed)
    for name, array in values.items():
        array.flags.writeable = False
        setattr(found, name, array)
    found.sides = None if graph.sides is None else graph.sides[old]
    found.reading = graph.reading
    return found

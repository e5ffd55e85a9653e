"""Edges that are added and removed one after the other, combined into one change of a graph."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.graph.ids import encode_ids
from graphreach.pairs.direct import edge_weights

Places = NDArray[np.int64]


class EdgeEvents(NamedTuple):
    """Edges in the order in which they came.

    Attributes:
        source: Ids, ``[m]``.
        target: Ids, ``[m]``.
        weights: Weights of the edges that are added, or None.
        added: Whether an edge is added, not removed, ``[m]``.
    """

    source: NDArray[Any]
    target: NDArray[Any]
    weights: NDArray[np.float64] | None
    added: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.added)


class Applied(NamedTuple):
    """A graph after some events.

    Attributes:
        graph: The graph.
        ends: Positions of the nodes that the events name, sorted.
        counts: How many edges were added, were there already, were removed, and how many nodes are new.
    """

    graph: Graph
    ends: Places
    counts: dict[str, int]


class _Edges(NamedTuple):
    """Which events are of which edge of a graph.

    Attributes:
        event: Numbers of the events that are of an edge at all, ``[e]``: not of a self-loop that is dropped.
        edge: The edge of each of them, ``[e]``.
        is_there: Whether the graph has each of the edges.
        oriented: The events, those of an undirected edge all in one direction.
    """

    event: Places
    edge: Places
    is_there: NDArray[np.bool_]
    oriented: EdgeEvents


def first_impossible(graph: Graph, events: EdgeEvents, self_loops: bool = False) -> int | None:
    """The first event that removes an edge which is not there by then, or None.

    Args:
        graph: The graph before the events.
        events: The events.
        self_loops: Whether the graph keeps edges from a node to itself; otherwise events of such edges are passed over.
    """
    found = _edges(graph, events, self_loops)
    if events.added.all():
        return None
    order = np.lexsort((found.event, found.edge))
    edge, added = found.edge[order], events.added[found.event[order]]
    is_first = np.ones(len(edge), np.bool_)
    is_first[1:] = edge[1:] != edge[:-1]
    there = np.ones(len(edge), np.bool_)
    there[1:] = added[:-1]
    there[is_first] = found.is_there[edge[is_first]]
    wrong = found.event[order][~added & ~there]
    return int(wrong.min()) if len(wrong) else None


def apply_events(graph: Graph, events: EdgeEvents, self_loops: bool = False) -> Applied:
    """The graph after events that are all possible, as if they were applied one by one.

    Every event adds its weight, also where an undirected edge comes in both directions, so that it does not matter which
    events come together. An edge that is removed and added again has the weight of what came after the removal. Nodes of
    edges that were removed again stay.

    Args:
        graph: The graph before the events.
        events: The events.
        self_loops: See :func:`first_impossible`.
    """
    found = _edges(graph, events, self_loops)
    events = found.oriented
    added = events.added[found.event]
    number = len(found.is_there)
    last_removal = np.full(number, -1)
    np.maximum.at(last_removal, found.edge[~added], found.event[~added])
    gone = (last_removal >= 0) & found.is_there
    representative = np.full(number, -1)
    representative[found.edge] = found.event
    stays = found.event[added & (found.event > last_removal[found.edge])]
    after = graph
    if gone.any():
        after = after.updated(remove=_rows(events, representative[gone]))
    named = np.flatnonzero(events.added)
    ids = np.concatenate([events.source[named], events.target[named]])
    if len(ids):
        add = _rows(events, stays, events.weights) if len(stays) else None
        after = after.updated(add=add, nodes=_distinct(ids), self_loops=self_loops)
    kept = np.unique(found.edge[added & (found.event > last_removal[found.edge])])
    again = int(np.count_nonzero(found.is_there[kept] & ~gone[kept]))
    ends = np.unique(known_places(after, np.concatenate([events.source, events.target])))
    counts = {
        "added": len(kept) - again,
        "there_already": again,
        "removed": int(np.count_nonzero(gone)),
        "new_nodes": after.num_nodes - graph.num_nodes,
    }
    return Applied(after, ends[ends >= 0], counts)


def _edges(graph: Graph, events: EdgeEvents, self_loops: bool) -> _Edges:
    ids, codes = encode_ids([events.source, events.target])
    first, second = (each.astype(np.int64) for each in codes)
    oriented = events
    if not graph.directed:
        turned = first > second
        source, target = (np.where(turned, b, a) for a, b in (events[:2], events[1::-1]))
        oriented = events._replace(source=source, target=target)
        first, second = np.minimum(first, second), np.maximum(first, second)
    counts = (first != second) | self_loops
    if events.weights is not None:  # an edge of weight zero carries no walk and is none
        counts &= (events.weights > 0) | ~events.added
    event = np.flatnonzero(counts)
    keys, edge = np.unique(first[event] * len(ids) + second[event], return_inverse=True)
    ends = np.stack(np.divmod(keys, max(1, len(ids))))
    place = known_places(graph, ids)[ends] if len(ids) else ends
    known = (place >= 0).all(axis=0)
    is_there = np.zeros(len(keys), np.bool_)
    is_there[known] = edge_weights(graph, place[:, known]) > 0
    return _Edges(event, edge.reshape(-1), is_there, oriented)


def known_places(graph: Graph, ids: NDArray[Any]) -> Places:
    """Positions of ids, -1 of those that are not in the graph."""
    return graph._lookup.positions(ids)


def _rows(events: EdgeEvents, which: Places, weights: NDArray[np.float64] | None = None) -> list[tuple[Any, ...]]:
    columns = [events.source[which].tolist(), events.target[which].tolist()]
    if weights is not None:
        columns.append(weights[which].tolist())
    return list(zip(*columns, strict=True))


def _distinct(ids: NDArray[Any]) -> list[Any]:
    """Ids, each once, in the order in which they come first."""
    return list(dict.fromkeys(ids.tolist()))

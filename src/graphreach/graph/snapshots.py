"""The snapshots of a graph whose edges have times."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_choice, check_number, check_whole
from graphreach.errors import InputError
from graphreach.graph.build import compact
from graphreach.graph.checks import check_graph
from graphreach.graph.graph import Graph
from graphreach.graph.ids import specialise
from graphreach.graph.listed import Listed

UNITS = {"second": "s", "minute": "m", "hour": "h", "day": "D", "week": "D", "month": "M", "year": "Y"}
"""Intervals by their names, and numpy's letters for them; a week is made of days."""

FIRST_MONDAY = -3
"""The Monday before the first day of 1970, in days from then."""

SECONDS = (1e8, 6e10)
"""The largest of times lies between these if they are seconds since 1970."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A graph at the end of an interval of time, and the edges that came in it.

    Attributes:
        begin: When the interval begins: a ``datetime`` (UTC) where times are times since 1970, else a
            number in the unit of the times.
        graph: The graph of all edges up to the end of the interval. Nodes keep their positions from one to the next.
        new: Ids of the ends of the edges that came in the interval for the first time, ``[m, 2]``.
        repeated: Ids of the ends of the edges that were there and came again, ``[r, 2]``.

    Example:
        >>> import polars as pl
        >>> frame = pl.DataFrame({"from": ["a", "b"], "to": ["b", "c"], "time": [3, 17]})
        >>> first, second = replay(Graph.from_frame(frame, time="time"), by=10)
        >>> first.begin, second.begin, second.graph.ids, second.new
        (0.0, 10.0, array(['a', 'b', 'c'], dtype='<U1'), array([['b', 'c']], dtype='<U1'))
    """

    begin: datetime | float
    graph: Graph
    new: NDArray[Any]
    repeated: NDArray[Any]


def replay(graph: Graph, by: str | float | None = None, *, batches: int | None = None) -> Iterator[Snapshot]:
    """Iterate over the snapshots of a graph with times, one per interval in which an edge came.

    A graph keeps the earliest and the latest time of each edge. If an edge came more than twice, only the first and the
    last time are seen. The last snapshot has all nodes and edges of the graph, its nodes in the order in which they came;
    nodes without an edge are there from the beginning.

    Args:
        graph: A graph that was read with times, without weights or with each edge listed at one time only: how weights grew
            is not kept.
        by: Length of an interval. A number is in the unit of the times, and intervals begin at its multiples. ``"second"``,
            ``"minute"``, ``"hour"``, ``"day"``, ``"week"`` (from Monday), ``"month"`` and ``"year"`` are in UTC; they need
            dates, or times since 1970 in seconds or in thousandths to billionths of seconds.
        batches: Instead of ``by``, the number of intervals with about the same number of edges each; edges of one time are
            not separated.

    Example:
        >>> import polars as pl
        >>> frame = pl.DataFrame({"from": [1, 2, 1], "to": [2, 3, 2], "date": ["2024-01-31", "2024-01-31", "2024-02-02"]})
        >>> for snapshot in replay(Graph.from_frame(frame, time="date"), by="day"):
        ...     print(snapshot.begin.date(), snapshot.graph.num_edges, snapshot.new.tolist(), snapshot.repeated.tolist())
        2024-01-31 2 [[1, 2], [2, 3]] []
        2024-02-02 2 [] [[1, 2]]
    """
    entries = _entries(check_graph(graph))
    if (by is None) == (batches is None):
        raise InputError(f"by or batches must be given, and not both, got by={by!r:.40} and batches={batches!r:.40}")
    if batches is not None:
        check_whole("batches", batches, 1)
    elif not isinstance(by, str):
        check_number("by", by, 0, above=True)
    return _snapshots(graph, entries, _intervals(entries, by, batches))


class _Entries(NamedTuple):
    """Each edge once: its ends, its weight, and its earliest and latest time."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    first: NDArray[np.float64]
    last: NDArray[np.float64]


def _entries(graph: Graph) -> _Entries:
    if graph.time is None or graph.first_time is None:
        raise InputError(
            "graph must have times, got one without; name their column when it is read, as in read_graph(path, time='date')"
        )
    if graph.weights is not None and not np.array_equal(graph.time, graph.first_time):
        count = int(np.count_nonzero(graph.time != graph.first_time))
        raise InputError(
            "graph must have no weights, or no edge at several times, as how weights grew is not kept, got "
            f"{count} entries at several times; read it with weight=False"
        )
    source, target = graph.edge_index
    once = np.arange(len(source)) if graph.directed else np.flatnonzero(source <= target)
    if not len(once):
        raise InputError("graph must have edges, got one without")
    source, target = source[once], target[once]
    if graph.sides is not None and not graph.directed:  # a new edge has its source on the side of the sources
        turned = graph.sides[source] == 1
        source, target = np.where(turned, target, source), np.where(turned, source, target)
    weights = None if graph.weights is None else graph.weights[once]
    return _Entries(source, target, weights, graph.first_time[once], graph.time[once])


class _Intervals(NamedTuple):
    """When the intervals in which edges came begin, in order, and in which of them each edge came first and last."""

    begins: list[datetime | float]
    first: NDArray[np.intp]
    last: NDArray[np.intp]


def _intervals(entries: _Entries, by: Any, batches: int | None) -> _Intervals:
    times = np.concatenate([entries.first, entries.last])
    scale = _scale(times)
    if batches is not None:
        begins = _batches(times, entries, batches)
    elif isinstance(by, str):
        begins = _seconds(times, scale, check_choice("by", by, UNITS, more=" or a number in the unit of the times"))
        scale = 1.0
    else:
        begins = _multiples(times, by)
    found, numbers = np.unique(begins, return_inverse=True)
    named = found.tolist() if scale is None else [datetime.fromtimestamp(each * scale, UTC) for each in found.tolist()]
    first, last = numbers.reshape(2, -1)
    return _Intervals(named, first, last)


def _multiples(times: NDArray[np.float64], by: float) -> NDArray[np.float64]:
    """The last multiple of a number up to each time; a time that is a multiple up to rounding, as 0.3 is of 0.1, counts."""
    least = float(np.abs(times).max()) / 2**53
    if by < least:  # the times themselves are not known so precisely
        raise InputError(f"by must be at least {least:g} for times as large as these, got {by:g}")
    steps = times / by
    nearest = np.rint(steps)
    is_near = np.abs(steps - nearest) <= 4 * np.spacing(np.abs(nearest))
    begins: NDArray[np.float64] = np.where(is_near, nearest, np.floor(steps)) * by
    return begins


def _scale(times: NDArray[np.float64]) -> float | None:
    """What makes seconds since 1970 of times, or None if they are none."""
    largest = float(np.abs(times).max())
    units = [unit for unit in (1.0, 1e3, 1e6, 1e9) if SECONDS[0] * unit <= largest < SECONDS[1] * unit]
    return 1 / units[0] if units else None


def _batches(times: NDArray[np.float64], entries: _Entries, count: int) -> NDArray[np.float64]:
    """When the batch of each time begins."""
    events = np.sort(np.concatenate([entries.first, entries.last[entries.first != entries.last]]))
    count = min(count, len(events))
    begins: NDArray[np.float64] = np.unique(events[np.arange(count) * len(events) // count])
    return begins[np.searchsorted(begins, times, side="right") - 1]


def _seconds(times: NDArray[np.float64], scale: float | None, by: str) -> NDArray[np.float64]:
    """When the interval of each time begins, in seconds since 1970."""
    if scale is None:
        low, high = float(times.min()), float(times.max())
        raise InputError(
            f"by must be a number in the unit of the times, which are no times since 1970 but from {low:g} to {high:g}, "
            f"got {by!r}"
        )
    moments = np.floor(times * scale).astype(np.int64).astype("M8[s]").astype(f"M8[{UNITS[by]}]")
    if by == "week":
        days = moments.astype(np.int64) - FIRST_MONDAY
        moments = (days - days % 7 + FIRST_MONDAY).astype("M8[D]")
    return moments.astype("M8[s]").astype(np.int64).astype(np.float64)


def _snapshots(graph: Graph, entries: _Entries, intervals: _Intervals) -> Iterator[Snapshot]:
    first, last = intervals.first, intervals.last
    came, again = np.argsort(first, kind="stable"), np.argsort(last, kind="stable")
    bounds = np.arange(len(intervals.begins) + 1)
    came_from, again_from = np.searchsorted(first[came], bounds), np.searchsorted(last[again], bounds)
    now: Graph | None = None
    for number, begin in enumerate(intervals.begins):
        new = came[came_from[number] : came_from[number + 1]]
        repeated = again[again_from[number] : again_from[number + 1]]
        repeated = repeated[first[repeated] < number]
        seen = np.where(last[new] == number, entries.last[new], entries.first[new])
        added = _listed(graph, entries, np.concatenate([new, repeated]), np.concatenate([seen, entries.last[repeated]]))
        now = (_start(graph, added.ids) if now is None else now).updated(add=added, self_loops=True)
        yield Snapshot(begin, now, _pairs(graph, entries, new), _pairs(graph, entries, repeated))


def _listed(graph: Graph, entries: _Entries, edges: NDArray[np.intp], last: NDArray[np.float64]) -> Listed:
    """Some edges with the times at which they came so far."""
    ends, place = np.unique(np.stack([entries.source[edges], entries.target[edges]]), return_inverse=True)
    source, target = place.reshape(2, -1)
    weights = None if entries.weights is None else entries.weights[edges]
    return Listed(graph.ids[ends], source, target, len(edges), weights, np.stack([last, entries.first[edges]]))


def _start(graph: Graph, ids: NDArray[Any]) -> Graph:
    """A graph without edges of the nodes that come first and those that have no edge."""
    chosen = np.ones(graph.num_nodes, np.bool_)
    chosen[graph.edge_index.ravel()] = False
    chosen[graph.index_of(ids)] = True
    nothing = np.empty(0)
    rows = compact(
        np.zeros(np.count_nonzero(chosen) + 1), np.empty(0, np.uint32), None if graph.weights is None else nothing
    )
    start = Graph(rows, specialise(graph.ids[chosen]), graph.directed)
    start.time = start.first_time = nothing
    if graph.sides is not None:
        start.sides = np.full(start.num_nodes, -1, np.int8)
    return start


def _pairs(graph: Graph, entries: _Entries, edges: NDArray[np.intp]) -> NDArray[Any]:
    """Edges by the ids of their ends, in the order of their positions."""
    edges = np.sort(edges)
    return graph.ids[np.stack([entries.source[edges], entries.target[edges]], axis=1)]

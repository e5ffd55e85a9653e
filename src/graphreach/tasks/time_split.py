"""Links split by time: the past for training, the future for the test."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.tasks.examples import part_sizes
from graphreach.tasks.pair_keys import Keys, encode

TRAIN, VAL, TEST = range(3)


class TimeParts(NamedTuple):
    """The parts of links by time.

    Attributes:
        part: The part of each link.
        current: Which entries of the graph were made within the part of their link. Others are edges in the direction
            opposite to an earlier one, of a later part, or later self-loops: they are neither seen nor asked for.
    """

    part: NDArray[np.int8]
    current: NDArray[np.bool_]


def cut_by_time(graph: Graph, keys: Keys, fractions: tuple[float, float, float]) -> TimeParts:
    """Cut the links of a graph, given as sorted keys, by when each was made first, in either direction."""
    if graph.first_time is None or graph.time is None:
        raise InputError(
            f"protocol 'time' must have a graph with times of its edges, got {graph}; name the column by "
            "read_graph(path, time=...) (--time)"
        )
    edges = graph.edge_index
    links = edges[0] != edges[1]
    place = np.searchsorted(keys, encode(edges[:, links]))
    first = np.full(len(keys), np.inf)
    np.minimum.at(first, place, graph.first_time[links])
    last = last_times(first, fractions)
    part = np.searchsorted(last, first).astype(np.int8)
    current = graph.first_time <= last[0]
    current[links] = np.searchsorted(last, graph.first_time[links]) == part[place]
    _check_weights(graph, current, last[0])
    return TimeParts(part, current)


def last_times(times: NDArray[np.float64], fractions: tuple[float, float, float]) -> NDArray[np.float64]:
    """The last time of training and of validation; links of one time are in one part, so the shares are met nearly.

    Example:
        >>> last_times(np.array([2001.0, 2001, 2002, 2003, 2003]), (0.6, 0.2, 0.2))
        array([2001., 2002.])
    """
    sizes = part_sizes(len(times), fractions, "edges")
    moments, counts = np.unique(times, return_counts=True)
    wanted, ends = sum(size > 0 for size in sizes), np.cumsum(counts)
    if len(moments) < wanted:
        raise InputError(f"protocol 'time' must have edges of at least {wanted} different times, got {len(moments)}")
    later = int(sizes[1] > 0) + int(sizes[2] > 0)
    train = _nearest(ends, sizes[0], 0, len(ends) - later)
    val = train
    if sizes[1]:
        val = _nearest(ends, sizes[0] + sizes[1], train + 1, len(ends) - int(sizes[2] > 0))
    return moments[[train, val]]


def _nearest(ends: NDArray[np.int64], size: int, low: int, high: int) -> int:
    """Which of the times ``low .. high - 1`` has nearly ``size`` links up to it."""
    return low + int(np.argmin(np.abs(ends[low:high] - size)))


def _check_weights(graph: Graph, entries: NDArray[np.bool_], last: float) -> None:
    """Refuse weights that were added up over times beyond those of training."""
    assert graph.time is not None
    assert graph.first_time is not None
    if graph.weights is None:
        return
    seen = entries & (graph.first_time <= last)
    late = int(np.count_nonzero(seen & (graph.time > last)))
    if late:
        raise InputError(
            f"protocol 'time' must have weights known at the time of training, got {late} of {np.count_nonzero(seen)} "
            "training entries that add up later edges; read the graph with weight=False (--unweighted)"
        )

"""A graph with more nodes than can be drawn: circles that stand for communities, and some nodes inside each."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.plot import stress_layout
from graphreach.report.drawing import on_square

CIRCLES, SMALLEST, STRONGEST = 60, 1000, 3
"""Maximum number of communities with a circle of their own; the share of the nodes, as one in this many, that each of them
needs; and the number of neighbours that pull each."""

GAP, ROUNDS = 0.06, 300
"""Room between circles, as a share of the largest radius; rounds in which those that overlap are moved apart."""


class Detail(NamedTuple):
    """Where the drawn nodes of a large graph stand.

    Attributes:
        places: Place of each drawn node, whole numbers from 0 to 65535, ``[m, 2]``.
        circles: What each circle stands for, how many of its nodes are drawn, and where it is; the largest first. The
            ``community`` of all small ones together is -1.
    """

    places: NDArray[np.uint16]
    circles: list[dict[str, int]]


def detail(graph: Graph, groups: NDArray[np.int64], nodes: NDArray[np.int64]) -> Detail:
    """Communities as circles whose areas are as their numbers of nodes, those with many edges between them close together.

    The drawn nodes of a community fill its circle, those with most neighbours in the middle.

    Args:
        graph: The graph.
        groups: The community of each node, the largest 0.
        nodes: The drawn nodes.

    Example:
        >>> ring = Graph.from_edges([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])
        >>> [each["nodes"] for each in detail(ring, np.array([0, 0, 0, 0, 1, 1]), np.array([0, 2, 4])).circles]
        [4, 2]
    """
    large = np.bincount(groups) * SMALLEST >= graph.num_nodes
    kept = min(CIRCLES, max(1, int(np.count_nonzero(large))))
    own = np.minimum(groups, kept)
    sizes = np.bincount(own)
    radius = np.sqrt(sizes)
    centre = _apart(_places(graph, own, len(sizes)), radius)
    count = np.diff(graph.indptr.astype(np.int64))[nodes]
    at = np.empty((len(nodes), 2))
    drawn = np.bincount(own[nodes], minlength=len(sizes))
    for each in range(len(sizes)):
        inside = np.flatnonzero(own[nodes] == each)
        inside = inside[np.argsort(-count[inside], kind="stable")]
        at[inside] = centre[each] + 0.94 * radius[each] * _sunflower(len(inside))
    ends = np.concatenate([centre - radius[:, None], centre + radius[:, None]])
    square = on_square(np.concatenate([at, ends])).astype(np.int64)
    low, high = square[len(nodes) : len(nodes) + len(sizes)], square[len(nodes) + len(sizes) :]
    circles = [
        {
            "community": -1 if each == kept else each, "nodes": int(sizes[each]), "drawn": int(drawn[each]),
            "x": int(low[each, 0] + high[each, 0]) // 2, "y": int(low[each, 1] + high[each, 1]) // 2,
            "radius": int(high[each, 0] - low[each, 0]) // 2,
        }
        for each in range(len(sizes))
    ]  # fmt: skip
    return Detail(square[: len(nodes)].astype(np.uint16), circles)


def _places(graph: Graph, own: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """Places of communities by hops among the strongest links between them, which are more than their sizes suggest."""
    from scipy.sparse import csr_array

    member = csr_array((np.ones(len(own)), (np.arange(len(own)), own)), shape=(len(own), count))
    links: Any = (member.T @ graph.to_scipy() @ member).toarray()
    links += links.T
    volume = np.maximum(links.sum(axis=1), 1.0)
    strength = links / np.sqrt(volume[:, None] * volume)
    np.fill_diagonal(strength, 0.0)
    best = np.argsort(-strength, axis=1, kind="stable")[:, :STRONGEST]
    rows = np.repeat(np.arange(count), best.shape[1])
    kept = strength[rows, best.ravel()] > 0
    edges = np.stack([rows[kept], best.ravel()[kept]])
    return stress_layout(Graph.from_edges(edges, count, reduce="max"))


def _apart(at: NDArray[np.float64], radius: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move circles until they do not overlap, starting with about as much room as they need."""
    at = at - at.mean(axis=0)
    at = at / max(float(np.abs(at).max(initial=0.0)), 1e-12) * np.sqrt((radius**2).sum())
    at = at + 1e-3 * radius.max() * _sunflower(len(at))  # so that no two stand at one place
    need = radius[:, None] + radius + GAP * radius.max()
    np.fill_diagonal(need, 0.0)
    for _ in range(ROUNDS):
        gaps = at[:, None] - at
        far = np.maximum(np.hypot(gaps[..., 0], gaps[..., 1]), 1e-9)
        push = np.maximum(0.0, need - far) / far / 2
        if push.max(initial=0.0) < 1e-6:
            break
        at = 0.995 * at + (push[..., None] * gaps).sum(axis=1)
    return at


def _sunflower(count: int) -> NDArray[np.float64]:
    """Points spread evenly over the unit disc, from the middle outwards."""
    order = np.arange(count)
    angle, away = order * (np.pi * (3 - np.sqrt(5))), np.sqrt((order + 0.5) / max(count, 1))
    return np.column_stack([away * np.cos(angle), away * np.sin(angle)])

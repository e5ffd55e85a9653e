"""Where nodes are: log(1 + lift) of walks to greedy anchors, as columns or along their principal axes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.anchors import select_anchors
from graphreach.graph import Graph
from graphreach.nn.skip_gram import undirected
from graphreach.pairs.position import positions
from graphreach.vectors.reduce import Axes, Matrix, principal_axes, rotation, unit_rows

LENGTHS = (4, 10)
"""Jumps of the walks to anchors."""

NUM_ANCHORS, FEWER_ANCHORS, MANY_NODES = 256, 128, 50_000
"""Numbers of anchors of a graph and of a large graph, and the number of nodes beyond which a graph is large."""

ANCHOR_WALK = 10
"""Jumps of the walks by which anchors are chosen."""


def default_anchors(num_nodes: int) -> int:
    """Default number of anchors of a graph."""
    return min(num_nodes, NUM_ANCHORS if num_nodes <= MANY_NODES else FEWER_ANCHORS)


def find_anchors(graph: Graph, count: int, strategy: str, seed: int) -> NDArray[np.int64]:
    """Anchors of a graph, at most as many as it has nodes."""
    found = select_anchors(graph, min(count, graph.num_nodes), strategy, walk_length=ANCHOR_WALK, seed=seed)
    return found.anchors


def raw_positions(graph: Graph, anchors: NDArray[np.int64], direction: str = "to") -> Matrix:
    """Log-lift to (or from) anchors for each of :data:`LENGTHS`, side by side."""
    return np.concatenate(positions(graph, anchors, LENGTHS, direction).nodes, axis=1)


class PositionPart(NamedTuple):
    """Positions along their principal axes.

    Attributes:
        rows: ``[n, r]``.
        axes: The axes.
    """

    rows: Matrix
    axes: Axes

    @classmethod
    def of(cls, graph: Graph, anchors: NDArray[np.int64], rank: int, direction: str = "to") -> "PositionPart":
        """Positions of all nodes of a graph."""
        found = raw_positions(graph, anchors, direction)
        axes = principal_axes(found, rank)
        return cls(axes.apply(found), axes)

    def turned(self, before: "PositionPart") -> "PositionPart":
        """The same positions, turned so that they come nearest to earlier ones."""
        turn = rotation([(self.rows, before.rows)])
        return PositionPart(self.rows @ turn, Axes(self.axes.mean, self.axes.axes @ turn))


class PositionVectors(NamedTuple):
    """Log-lift to anchors as a vector, without training.

    Attributes:
        rows: ``[n, dim]``.
        anchors: Positions of the anchors.
        degree: Degrees, ``[n]``.
    """

    rows: Matrix
    anchors: NDArray[np.int64]
    degree: NDArray[np.float64]

    def columns(self, pairs: NDArray[np.int64]) -> Matrix:
        """What describes pairs ``[2, m]``: product, cosine and mean difference of both rows, and both degrees."""
        first, second = (self.rows[side] for side in pairs)
        degree = np.sort(np.log1p(self.degree[pairs]), axis=0)
        found = [
            np.einsum("ij,ij->i", first, second) / first.shape[1],
            np.einsum("ij,ij->i", unit_rows(first), unit_rows(second)),
            np.abs(first - second).mean(axis=1),
            *degree,
        ]
        return np.stack(found, axis=1).astype(np.float32)

    def alike(self, pairs: NDArray[np.int64]) -> Matrix:
        """The cosine of both rows of pairs ``[2, m]``."""
        found: Matrix = self.columns(pairs)[:, 1]
        return found


def fit_positions(
    graph: Graph, dim: int, strategy: str, seed: int, anchors: NDArray[np.int64] | None = None
) -> PositionVectors:
    """Vectors of some width: half as many anchors, for each the log-lift of short and of long walks.

    Directions are ignored: a node with incoming edges only would have no position.

    Args:
        graph: The graph.
        dim: Width; columns beyond twice the number of anchors are zero.
        strategy: How anchors are chosen.
        seed: Random seed of the anchors.
        anchors: Anchors that are chosen already.
    """
    if graph.directed:
        graph = undirected(graph)
    chosen = find_anchors(graph, -(-dim // len(LENGTHS)), strategy, seed) if anchors is None else anchors
    out = np.zeros((graph.num_nodes, dim), np.float32)
    found = raw_positions(graph, chosen)[:, :dim]
    out[:, : found.shape[1]] = found
    return PositionVectors(out, chosen, np.asarray(graph.degree))

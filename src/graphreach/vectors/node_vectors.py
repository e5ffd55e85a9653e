"""The default embedding: neighbours, position and walks, each of a third of the width, with what places later nodes."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from graphreach.graph import Graph
from graphreach.nn.skip_gram import SkipGram, undirected
from graphreach.pairs.attributes import AttributeScaling
from graphreach.threads import one_blas_thread
from graphreach.vectors.near import NearPart
from graphreach.vectors.positions import PositionPart, find_anchors
from graphreach.vectors.reduce import Axes, Matrix, principal_axes, truncated_svd, unit_rows

WALKS: dict[str, Any] = {"num_walks": 4, "learning_rate": 0.1, "negatives": 3}
"""Skip-gram of fewer walks and a higher rate than DeepWalk's, to save time."""

MANY_NODES = 500_000
"""Nodes beyond which walks are half as many and half as long: four whole ones take two minutes each at a million nodes."""

FEWER_WALKS: dict[str, Any] = {**WALKS, "num_walks": 2, "walk_length": 20}
"""The walks of such a graph."""

WALK_DIM = 64
"""Width of the vectors of walks at most, to save time."""

LATER_WALKS: dict[str, Any] = {"num_walks": 2, "learning_rate": 0.05, "negatives": 3}
"""The same where training goes on from known vectors."""

SMOOTHED = 2
"""Steps over which the vectors of walks, and attributes, are added up."""

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class VectorOptions:
    """How vectors are made.

    Attributes:
        dim: Width.
        num_anchors: Number of anchors.
        strategy: How anchors are chosen.
        directed: Whether source and target of edges have a half of the width each.
        attributes: ``"smooth"`` or ``"append"``: attributes with those of the nodes around, or by themselves.
        seed: Random seed.
    """

    dim: int
    num_anchors: int
    strategy: str
    directed: bool = False
    attributes: str = "smooth"
    seed: int = 0

    def widths(self, attributes: bool) -> list[int]:
        """Columns of each part of a half, or of the whole: neighbours, position, walks, and attributes if there are any."""
        total, count = self.dim // 2 if self.directed else self.dim, 4 if attributes else 3
        return [total // count + (number >= count - total % count) for number in range(count)]


class AttributePart(NamedTuple):
    """Attributes, compressed.

    Attributes:
        rows: ``[n, r]``.
        axes: By which attributes of later nodes are compressed, ``[d, r]``.
        scaling: How they are brought to one scale.
    """

    rows: Matrix
    axes: Matrix
    scaling: AttributeScaling

    @classmethod
    def of(
        cls, graph: Graph, x: csr_array, options: VectorOptions, rank: int, before: "AttributePart | None" = None
    ) -> "AttributePart":
        """Attributes of all nodes of a graph; along earlier axes, if there are any."""
        scaling = AttributeScaling.of(x) if before is None else before.scaling
        matrix = _around(graph, scaling.apply(x), options)
        axes = truncated_svd(matrix, rank, options.seed).right if before is None else before.axes
        return cls(matrix @ axes, axes, scaling)

    def grown(
        self, graph: Graph, x: csr_array, options: VectorOptions, known: Positions, new: Positions
    ) -> "AttributePart":
        """Attributes of a grown graph's nodes; known ones keep their rows."""
        rows = np.zeros((graph.num_nodes, self.rows.shape[1]), np.float32)
        rows[known] = self.rows
        rows[new] = _around(graph, self.scaling.apply(x), options)[new] @ self.axes
        return self._replace(rows=rows)


def _around(graph: Graph, x: csr_array, options: VectorOptions) -> csr_array:
    """Attributes with those of the nodes one and two steps away, unless they are to be appended as they are."""
    return csr_array(smoothed(graph, x)) if options.attributes == "smooth" else x


@dataclass(eq=False)
class NodeVectors:
    """Vectors of the nodes of a graph, and what nodes that come later are placed by.

    Attributes:
        options: How they were made.
        anchors: Positions of the anchors.
        near: What neighbours say.
        places: Where nodes are; two of them, to and from anchors, with directions.
        walks: What walks say.
        axes: Along which the smoothed vectors of walks are compressed; two of them with directions.
        attributes: What attributes say, or None.
        degree: Degrees, ``[n]``; ``[2, n]`` out and in with directions.
    """

    options: VectorOptions
    anchors: Positions
    near: NearPart
    places: list[PositionPart]
    walks: SkipGram
    axes: list[Axes]
    attributes: AttributePart | None
    degree: NDArray[np.float64]
    parts: list[list[Matrix]] = field(default_factory=list)
    """Rows of length 1 of each part; for the source, and for the target with directions."""

    @property
    def rows(self) -> Matrix:
        """The embedding, ``[n, dim]``."""
        found = np.concatenate([part for side in self.parts for part in side], axis=1)
        out = np.zeros((len(found), self.options.dim), np.float32)
        out[:, : found.shape[1]] = found
        return out

    def put_together(self, graph: Graph) -> "NodeVectors":
        """Fill :attr:`parts` from what each part is made of; nodes without edges have zeros but for attributes."""
        out = [self.walks.embedding_, self.walks.context_]
        ends = [self.near.rows, self.near.columns]
        alone = (self.degree.reshape(-1, graph.num_nodes) == 0).all(axis=0)
        self.parts = []
        for number, place in enumerate(self.places):
            found = [ends[number], place.rows, self.axes[number].apply(smoothed(graph, out[number]))]
            for part in found:
                part[alone] = 0.0
            found += [] if self.attributes is None else [self.attributes.rows]
            self.parts.append([unit_rows(part) for part in found])
        return self

    def columns(self, pairs: Positions) -> Matrix:
        """What describes pairs ``[2, m]``: alikeness in each part, the product that was trained, both degrees."""
        first, second = pairs
        found = [_dots(own, other, first, second) for own, other in zip(self.parts[0], self.parts[-1], strict=True)]
        low, high = np.log1p(self.degree[..., first].reshape(-1, len(first))[0]), np.log1p(
            self.degree[..., second].reshape(-1, len(second))[-1]
        )  # fmt: skip
        if not self.options.directed:
            low, high = np.minimum(low, high), np.maximum(low, high)
        return np.stack([*found, self.walks.score_pairs(pairs), low, high], axis=1).astype(np.float32)

    def alike(self, pairs: Positions) -> Matrix:
        """The mean cosine of the parts of both rows of pairs ``[2, m]``."""
        found: Matrix = self.columns(pairs)[:, : len(self.parts[0])].mean(axis=1)
        return found

    def taken(self, nodes: Positions) -> "NodeVectors":
        """The vectors of some of the nodes; anchors are no longer known."""
        walks = replace(self.walks)
        walks.directed_ = self.walks.directed_
        walks.embedding_, walks.context_ = self.walks.embedding_[nodes], self.walks.context_[nodes]
        return replace(
            self, near=self.near._replace(rows=self.near.rows[nodes], columns=self.near.columns[nodes]),
            places=[place._replace(rows=place.rows[nodes]) for place in self.places], walks=walks,
            attributes=None if self.attributes is None else self.attributes._replace(rows=self.attributes.rows[nodes]),
            degree=self.degree[..., nodes], parts=[[part[nodes] for part in side] for side in self.parts],
            anchors=np.empty(0, np.int64),
        )  # fmt: skip

    def grown(self, graph: Graph, known: Positions, new: Positions, x: csr_array | None) -> "NodeVectors":
        """Vectors of a grown graph: those of known nodes stay, new nodes are placed by what is around them.

        Args:
            graph: The grown graph.
            known: Positions of the known nodes in it, in their order.
            new: Positions of the others.
            x: Attributes, if they are read.
        """
        graph = graph if self.options.directed else _plain(graph)
        with one_blas_thread():
            near = self.near.grown(graph, known, new)
            places = [
                PositionPart(_averaged(graph if number == 0 else graph.transpose(), place.rows, known, new), place.axes)
                for number, place in enumerate(self.places)
            ]
            attributes = self.attributes
            if attributes is not None and x is not None:
                attributes = attributes.grown(graph, x, self.options, known, new)
            larger = replace(
                self, near=near, places=places, walks=self.walks.grown(graph, known, new), attributes=attributes,
                degree=_degrees(graph, self.options.directed), anchors=known[self.anchors],
            )  # fmt: skip
            larger.put_together(graph)
        for side, before in zip(larger.parts, self.parts, strict=True):
            for part, old in zip(side, before, strict=True):
                part[known] = old
        return larger


def fit_vectors(
    graph: Graph, options: VectorOptions, x: csr_array | None = None, anchors: Positions | None = None,
    start: NodeVectors | None = None,
) -> NodeVectors:  # fmt: skip
    """Vectors of all nodes of a graph.

    Args:
        graph: The graph; its directions count only if the options say so.
        options: How they are made.
        x: Attributes of the nodes, or None.
        anchors: Anchors that are chosen already.
        start: Vectors of the same nodes to go on from: walks are trained from theirs, and the other parts are turned so
            that they differ least from theirs.
    """
    graph = graph if options.directed else _plain(graph)
    widths, seed = options.widths(x is not None), options.seed
    with one_blas_thread():
        if anchors is None:
            anchors = find_anchors(graph, options.num_anchors, options.strategy, seed)
        near = NearPart.of(graph, widths[0], seed)
        ways = ("to", "from") if options.directed else ("to",)
        places = [PositionPart.of(graph, anchors, widths[1], way) for way in ways]
        settings = LATER_WALKS if start is not None else WALKS if graph.num_nodes <= MANY_NODES else FEWER_WALKS
        walks = SkipGram(dim=min(options.dim, WALK_DIM), directed=options.directed, seed=seed, **settings)
        walks.fit(graph, None if start is None else (start.walks.embedding_, start.walks.context_))
        if start is not None:
            near = near.turned(start.near)
            places = [place.turned(before) for place, before in zip(places, start.places, strict=True)]
        sides = (walks.embedding_, walks.context_)[: len(ways)]
        axes = [principal_axes(smoothed(graph, side), widths[2]) for side in sides] if start is None else start.axes
        before = None if start is None else start.attributes
        attributes = None if x is None else AttributePart.of(graph, x, options, widths[3], before)
        return NodeVectors(
            options, anchors, near, places, walks, axes, attributes, _degrees(graph, options.directed)
        ).put_together(graph)


def smoothed(graph: Graph, rows: Any) -> Any:
    """Rows with those of the nodes one and two steps away: :math:`(I + P + P^2) Z`."""
    step, out, transition = rows, rows, _transition(graph)
    for _ in range(SMOOTHED):
        step = transition @ step
        out = out + step
    return out


def _transition(graph: Graph) -> csr_array:
    degree = graph.degree
    inverse = np.divide(1.0, degree, out=np.zeros(len(degree)), where=degree > 0).astype(np.float32)
    return csr_array(diags_array(inverse) @ graph.to_scipy(np.float32))


def _plain(graph: Graph) -> Graph:
    return undirected(graph) if graph.directed else graph


def _degrees(graph: Graph, directed: bool) -> NDArray[np.float64]:
    return np.stack([graph.degree, graph.transpose().degree]) if directed else np.asarray(graph.degree)


def _dots(own: Matrix, other: Matrix, first: Positions, second: Positions) -> Matrix:
    found: Matrix = np.einsum("ij,ij->i", own[first], other[second])
    return found


def _averaged(graph: Graph, rows: Matrix, known: Positions, new: Positions) -> Matrix:
    """Rows of known nodes, and for new ones the mean of their neighbours', where there are any."""
    out = np.zeros((graph.num_nodes, rows.shape[1]), np.float32)
    out[known] = rows
    share = np.zeros(graph.num_nodes, np.float32)
    share[known] = 1.0
    around = _transition(graph)[new]
    for _ in range(2):  # the second time new nodes see each other
        found, seen = around @ out, around @ share
        out[new] = np.divide(found, seen[:, None], out=np.zeros_like(found), where=seen[:, None] > 0)
        share[new] = seen > 0
    return out

"""The default embedding: neighbours, position, walks and outline, compressed together, and vectors of later nodes."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from graphreach.auc import auc
from graphreach.graph import Graph
from graphreach.nn.skip_gram import SkipGram, undirected
from graphreach.pairs.attributes import AttributeScaling
from graphreach.threads import one_blas_thread
from graphreach.vectors.near import FactorPart, lift_matrices, near_part, outline_part, outline_steps
from graphreach.vectors.positions import PositionPart, find_anchors
from graphreach.vectors.reduce import Axes, Matrix, principal_axes, truncated_svd, unit_rows

WALKS: dict[str, Any] = {"num_walks": 4, "learning_rate": 0.1, "negatives": 3}
"""Options of skip-gram: fewer walks and a higher learning rate than DeepWalk, to save time."""

MANY_NODES = 500_000
"""Beyond this number of nodes, walks are half as many and half as long; four whole ones would take minutes each."""

FEWER_WALKS: dict[str, Any] = {**WALKS, "num_walks": 2, "walk_length": 20}
"""The walks of such a graph."""

WALK_DIM = 64
"""Maximum width of the vectors of walks, to save time."""

LATER_WALKS: dict[str, Any] = {"num_walks": 2, "learning_rate": 0.05, "negatives": 3}
"""The same where training continues from known vectors."""

FEW_NODES, WIDER = 10_000, 2
"""Up to this number of nodes, the part of neighbours is wider than the embedding by this factor, in a second or two."""

UNLIKE = 0.5
"""Weight of position and walks where linked nodes are not alike."""

OUTLINE_DIM, OUTLINE = 64, 0.7
"""Maximum width of the outline, and its weight; more columns would only add details of single nodes."""

SMOOTHED, FURTHER = 2, 4
"""Steps over which the outline and attributes are added up; neighbours and walks, where linked nodes are alike."""

LEADING = 0.25
"""Each axis is multiplied by this power of its deviation where linked nodes are alike: differences between
large groups count more, which helps where few labels are known.
"""

Positions = NDArray[np.int64]


class Examples(NamedTuple):
    """Pairs ``[2, m]``, and which of them are links."""

    pairs: Positions
    linked: NDArray[np.bool_]


@dataclass(frozen=True)
class VectorOptions:
    """How vectors are made.

    Attributes:
        dim: Width.
        num_anchors: Number of anchors.
        strategy: How anchors are chosen.
        directed: Whether a vector has one half for sources of edges and one for targets.
        attributes: ``"smooth"`` adds attributes of the nodes around, ``"append"`` does not.
        seed: Random seed.
        alike: Whether linked nodes are alike; then the part of neighbours is added up over the nodes around.
    """

    dim: int
    num_anchors: int
    strategy: str
    directed: bool = False
    attributes: str = "smooth"
    seed: int = 0
    alike: bool = True

    @property
    def width(self) -> int:
        """Columns of a half with directions, else of the whole."""
        return self.dim // 2 if self.directed else self.dim

    def part_widths(self, num_nodes: int) -> tuple[int, int]:
        """Columns of the part of neighbours, and of position or attributes, before they are compressed together."""
        if num_nodes > MANY_NODES:
            return (-(-self.width // 3),) * 2
        return self.width * (WIDER if self.alike and num_nodes <= FEW_NODES else 1), self.width


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
    """Attributes averaged with those of the nodes one and two steps away, unless the options append them unchanged."""
    return csr_array(smoothed(graph, x)) if options.attributes == "smooth" else x


@dataclass(eq=False)
class NodeVectors:
    """Vectors of the nodes of a graph, and what is needed for nodes that come later.

    Attributes:
        options: How they were made.
        anchors: Positions of the anchors.
        near: What neighbours say.
        outline: What the graph's leading eigenvectors say.
        places: Where nodes are; two of them, to and from anchors, with directions.
        walks: What walks say.
        attributes: What attributes say, or None.
        degree: Degrees, ``[n]``; ``[2, n]`` out and in with directions.
        axes: Along which all parts are compressed together; two of them with directions. Empty until then.
    """

    options: VectorOptions
    anchors: Positions
    near: FactorPart
    outline: FactorPart
    places: list[PositionPart]
    walks: SkipGram
    attributes: AttributePart | None
    degree: NDArray[np.float64]
    axes: list[Axes] = field(default_factory=list)
    parts: list[list[Matrix]] = field(default_factory=list)
    """Rows of length 1 of each part; for the source, and for the target with directions."""
    halves: list[Matrix] = field(default_factory=list)
    """The parts compressed together, of the source and of the target, or one."""

    @property
    def rows(self) -> Matrix:
        """The embedding, ``[n, dim]``."""
        return self.halves[0] if len(self.halves) == 1 else np.concatenate(self.halves, axis=1)

    def put_together(self, graph: Graph) -> "NodeVectors":
        """Fill :attr:`parts` and compress them; nodes without edges have zeros, except for their attributes."""
        self.parts = [self._parts(graph, side) for side in range(len(self.places))]
        self.halves = []
        for number, side in enumerate(self.parts):
            found = np.concatenate([part * weight for part, weight in zip(side, self._weights(), strict=True)], axis=1)
            is_empty = ~found.any(axis=1)
            if len(self.axes) == number:
                power = LEADING if self.options.alike else 0.0
                self.axes.append(principal_axes(found[~is_empty], self.options.width, power))
            half = self.axes[number].apply(found)
            half[is_empty] = 0.0
            self.halves.append(half)
        return self

    def _parts(self, graph: Graph, side: int) -> list[Matrix]:
        near, outline = ((part.rows, part.columns)[side] for part in (self.near, self.outline))
        steps = FURTHER if self.options.alike else SMOOTHED
        walks = smoothed(graph, (self.walks.embedding_, self.walks.context_)[side], steps)
        if self.options.alike:
            near, outline = smoothed(graph, near, steps), smoothed(graph, outline)
        found = [self._linked(part, graph) for part in (near, self.places[side].rows, walks, outline)]
        return [unit_rows(part) for part in found + ([] if self.attributes is None else [self.attributes.rows])]

    def _linked(self, part: Matrix, graph: Graph) -> Matrix:
        """A part with zeros for nodes without edges."""
        alone = (self.degree.reshape(-1, graph.num_nodes) == 0).all(axis=0)
        return np.where(alone[:, None], np.float32(0), part) if alone.any() else part

    def _weights(self) -> list[np.float32]:
        other = 1.0 if self.options.alike else UNLIKE
        return [np.float32(weight) for weight in (1.0, other, other, OUTLINE, 1.0)][: len(self.parts[0])]

    def columns(self, pairs: Positions) -> Matrix:
        """What describes pairs ``[2, m]``: similarity in each part, log-lift as its factors have it, the product that was
        trained, both degrees.
        """
        first, second = pairs
        found = [_dots(own, other, first, second) for own, other in zip(self.parts[0], self.parts[-1], strict=True)]
        low, high = np.log1p(self.degree[..., first].reshape(-1, len(first))[0]), np.log1p(
            self.degree[..., second].reshape(-1, len(second))[-1]
        )  # fmt: skip
        rebuilt = self.near.rebuilt(pairs)
        if not self.options.directed:
            low, high = np.minimum(low, high), np.maximum(low, high)
            rebuilt = (rebuilt + self.near.rebuilt(pairs[::-1])) * np.float32(0.5)
        return np.stack([*found, rebuilt, self.walks.score_pairs(pairs), low, high], axis=1).astype(np.float32)

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
            self, near=self.near.taken(nodes), outline=self.outline.taken(nodes),
            places=[place._replace(rows=place.rows[nodes]) for place in self.places], walks=walks,
            attributes=None if self.attributes is None else self.attributes._replace(rows=self.attributes.rows[nodes]),
            degree=self.degree[..., nodes], parts=[[part[nodes] for part in side] for side in self.parts],
            halves=[half[nodes] for half in self.halves], anchors=np.empty(0, np.int64),
        )  # fmt: skip

    def grown(self, graph: Graph, known: Positions, new: Positions, x: csr_array | None) -> "NodeVectors":
        """Vectors of a grown graph: those of known nodes stay, those of new nodes come from the nodes around them.

        Args:
            graph: The grown graph.
            known: Positions of the known nodes in it, in their order.
            new: Positions of the others.
            x: Attributes, if they are read.
        """
        graph = graph if self.options.directed else _plain(graph)
        with one_blas_thread():
            near = self.near.grown(lift_matrices(graph), known, new)
            outline = self.outline.grown(outline_steps(graph, self.options.alike), known, new)
            places = [
                PositionPart(_averaged(graph if number == 0 else graph.transpose(), place.rows, known, new), place.axes)
                for number, place in enumerate(self.places)
            ]
            attributes = self.attributes
            if attributes is not None and x is not None:
                attributes = attributes.grown(graph, x, self.options, known, new)
            larger = replace(
                self, near=near, outline=outline, places=places, walks=self.walks.grown(graph, known, new),
                attributes=attributes, degree=_degrees(graph, self.options.directed), anchors=known[self.anchors],
            )  # fmt: skip
            larger.put_together(graph)
        for side, before in zip([*larger.parts, larger.halves], [*self.parts, self.halves], strict=True):
            for part, old in zip(side, before, strict=True):
                part[known] = old
        return larger


def fit_vectors(
    graph: Graph, options: VectorOptions, x: csr_array | None = None, anchors: Positions | None = None,
    start: NodeVectors | None = None, examples: Examples | None = None,
) -> NodeVectors:  # fmt: skip
    """Vectors of all nodes of a graph.

    Args:
        graph: The graph; its directions count only if the options ask for it.
        options: How they are made.
        x: Attributes of the nodes, or None.
        anchors: Anchors that are chosen already.
        start: Vectors of the same nodes to start from: training of walks continues from them, and the other parts are
            rotated so that they differ least from them.
        examples: Pairs for testing whether linked nodes are alike; the graph must not contain the links among them.
    """
    graph = graph if options.directed else _plain(graph)
    if start is not None:
        options = replace(options, alike=start.options.alike)
    (wide, width), seed = options.part_widths(graph.num_nodes), options.seed
    with one_blas_thread():
        if anchors is None:
            anchors = find_anchors(graph, options.num_anchors, options.strategy, seed)
        near = near_part(graph, wide, seed, None if start is None else start.near)
        if examples is not None and not _are_alike(graph, near, options.directed, examples):
            options = replace(options, alike=False)
            near = near.narrowed(options.part_widths(graph.num_nodes)[0])
        outline = outline_part(
            graph, min(width, OUTLINE_DIM), options.alike, seed, None if start is None else start.outline
        )
        ways = ("to", "from") if options.directed else ("to",)
        places = [PositionPart.of(graph, anchors, width, way) for way in ways]
        settings = LATER_WALKS if start is not None else WALKS if graph.num_nodes <= MANY_NODES else FEWER_WALKS
        walks = SkipGram(dim=min(options.dim, WALK_DIM), directed=options.directed, seed=seed, **settings)
        walks.fit(graph, None if start is None else (start.walks.embedding_, start.walks.context_))
        if start is not None:
            near, outline = near.turned(start.near), outline.turned(start.outline)
            places = [place.turned(before) for place, before in zip(places, start.places, strict=True)]
        before = None if start is None else start.attributes
        attributes = None if x is None else AttributePart.of(graph, x, options, width, before)
        return NodeVectors(
            options, anchors, near, outline, places, walks, attributes, _degrees(graph, options.directed),
            [] if start is None else start.axes,
        ).put_together(graph)  # fmt: skip


def _are_alike(graph: Graph, near: FactorPart, directed: bool, examples: Examples) -> bool:
    """Whether the part of neighbours finds links no worse when it is added up with those of the nodes around."""
    ends = [near.rows, near.columns] if directed else [near.rows]
    plain, added = [unit_rows(each) for each in ends], [unit_rows(smoothed(graph, each)) for each in ends]
    return _finds(added, examples) >= _finds(plain, examples)


def _finds(sides: list[Matrix], examples: Examples) -> float:
    """How well the cosine of rows of length 1 finds links."""
    first, second = examples.pairs
    return auc(_dots(sides[0], sides[-1], first, second), examples.linked)


def smoothed(graph: Graph, rows: Any, steps: int = SMOOTHED) -> Any:
    """Rows with those of the nodes some steps away: :math:`(I + P + P^2) Z` with two."""
    step, out, transition = rows, rows, _transition(graph)
    for _ in range(steps):
        step = transition @ step
        out = out + step
    return out


def _transition(graph: Graph) -> csr_array:
    """The transition matrix; shares are taken before they are rounded, as weights may be beyond single precision."""
    degree = graph.degree
    precision = np.float64 if graph.weighted else np.float32
    inverse = np.divide(1.0, degree, out=np.zeros(len(degree)), where=degree > 0).astype(precision)
    shares = csr_array(diags_array(inverse) @ graph.to_scipy(precision))
    return csr_array((shares.data.astype(np.float32, copy=False), shares.indices, shares.indptr), shares.shape)


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

"""Pairs described by the attributes of nodes: a network is trained on them, and later sees them as in training."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array, vstack
from torch import Tensor

from graphreach.graph import Graph
from graphreach.nn.attributed_pair_head import AttributedPairHead
from graphreach.nn.attributed_training import Examples, fit_attributed_pair_head, message_matrix
from graphreach.nn.sparse_rows import SparseRows
from graphreach.pairs.attributes import NAMES, AttributeScaling, PairAttributes
from graphreach.pairs.direct import edge_entries, without_edges
from graphreach.threads import one_torch_thread
from graphreach.training.link_folds import FOLDS, folds


class AttributedPairs:
    """What attributes say of pairs: cosines, and products of the rows that the members of a head have for both nodes.

    Where links are learned, a pair that has an edge is seen without it: its messages go along the edges of the graph
    without a tenth of them, the pair's own among these. Which tenth depends on the pair alone, not on what else is asked.

    Args:
        graph: The graph.
        x: Its attributes, ``[n, d]``.
        head: The trained head.
        own_edge: Whether the edge between the nodes of a pair is seen.
    """

    def __init__(self, graph: Graph, x: csr_array, head: AttributedPairHead, own_edge: bool) -> None:
        self.graph, self.head, self.own_edge = graph, head, own_edge
        scaled = head.scaling.apply(x)
        self._cosines, self._x = PairAttributes(graph, scaled), SparseRows(scaled)
        self._whole: Tensor | None = None

    def describe(self, pairs: NDArray[np.int64]) -> NDArray[np.float32]:
        """Columns ``[m, 3 + members * g]`` of pairs ``[2, m]``."""
        cosines = self._cosines.describe(pairs, not self.own_edge)
        out = np.empty((pairs.shape[1], self.head.num_members * self.head.gnn_channels), np.float32)
        part = np.full(pairs.shape[1], -1)
        if not self.own_edge:
            linked = (edge_entries(self.graph, pairs) >= 0) | (edge_entries(self.graph, pairs[::-1]) >= 0)
            part[linked] = _tenth(pairs[:, linked])
        for number in np.unique(part):
            rows = np.flatnonzero(part == number)
            out[rows] = self.head.products(self._nodes(int(number)), pairs[:, rows])
        return np.concatenate([cosines, out], axis=1)

    def _nodes(self, number: int) -> Tensor:
        """Rows of all nodes with messages along all edges, if the number is -1, or without one tenth of them."""
        if number < 0 and self._whole is not None:
            return self._whole
        graph = self.graph
        if number >= 0:
            edges = graph.edge_index
            graph = without_edges(graph, edges[:, _tenth(edges) == number])
        with one_torch_thread():
            found = self.head.nodes(self._x, message_matrix(graph))
        if number < 0:
            self._whole = found
        return found


def _tenth(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number below :data:`FOLDS` for each pair, whichever of its nodes comes first."""
    low, high = np.sort(pairs, axis=0).astype(np.uint64)
    mixed = (low * np.uint64(0x9E3779B97F4A7C15) ^ high) * np.uint64(0xBF58476D1CE4E5B9)
    number: NDArray[np.int64] = ((mixed >> np.uint64(33)) % np.uint64(FOLDS)).astype(np.int64)
    return number


def attribute_names(head: AttributedPairHead) -> list[str]:
    """Names of the columns of :meth:`AttributedPairs.describe`."""
    products = [f"attributes.product_{m}_{i}" for m in range(head.num_members) for i in range(head.gnn_channels)]
    return [*NAMES, *products]


BATCHES = 10
"""Parts that several graphs are dealt in, of which a step reads one; as many steps make a pass over one graph."""


class AttributeExamples(NamedTuple):
    """Pairs of one graph to learn from, and the attributes of its nodes.

    Attributes:
        graph: The graph.
        pairs: Positions of the nodes, ``[2, m]``.
        y: 1 or 0, ``[m]``.
        x: Scaled attributes, ``[n, d]``.
    """

    graph: Graph
    pairs: NDArray[np.int64]
    y: NDArray[np.int64]
    x: csr_array


def learn_attributes(
    parts: Sequence[AttributeExamples], features: NDArray[np.float32], scaling: AttributeScaling, links: bool, seed: int,
    **arguments: Any,
) -> tuple[AttributedPairHead, NDArray[np.float64], NDArray[np.int64]]:  # fmt: skip
    """Train a head on features of pairs and on attributes of nodes, of one graph or of several.

    Args:
        parts: Pairs of each graph.
        features: What else describes the pairs, in order.
        scaling: How attributes were scaled, the same for all graphs.
        links: Whether links are learned: the messages of a step leave out the links that it learns from.
        seed: Random seed of folds and weights.
        arguments: Arguments of :class:`AttributedPairHead`.

    Returns:
        The head, logits of pairs by members that were trained without them, and the kinds of these pairs.
    """
    joined = _join_folds(parts, seed) if links else _join_batches(parts)
    y = np.concatenate([part.y for part in parts])
    with one_torch_thread():
        head, unseen, kinds = fit_attributed_pair_head(
            Examples(features, joined.pairs, y, joined.part, joined.messages, joined.x),
            scaling,
            seed,
            links,
            own_attributes=not links,
            **arguments,
        )
    return head, unseen.double().numpy(), kinds.long().numpy()


class _Joined(NamedTuple):
    """Graphs side by side: positions of pairs in them, which of them each pair is learned with, and their attributes."""

    pairs: NDArray[np.int64]
    part: NDArray[np.int64]
    messages: list[Graph]
    x: list[csr_array]


def _join_folds(parts: Sequence[AttributeExamples], seed: int) -> _Joined:
    """All graphs side by side, as often as links are dealt in folds, each time without the links of one fold."""
    dealt = [folds(part.graph, part.pairs, part.y, seed) for part in parts]
    fold = [np.zeros(len(part.y), np.int64) for part in parts]
    for own, found in zip(fold, dealt, strict=True):
        for number, each in enumerate(found):
            own[each.rows] = number
    count = max(len(found) for found in dealt)
    messages = [
        _side_by_side(
            [found[k].graph if k < len(found) else part.graph for part, found in zip(parts, dealt, strict=True)]
        )
        for k in range(count)
    ]
    return _Joined(_shifted(parts), np.concatenate(fold), messages, [_stacked(parts)] * count)


def _join_batches(parts: Sequence[AttributeExamples]) -> _Joined:
    """A few graphs at a time side by side, so that a step need not read all of them."""
    count = min(BATCHES, len(parts))
    batches = [parts[k::count] for k in range(count)]
    batch = np.concatenate([np.full(len(part.y), number % count) for number, part in enumerate(parts)])
    pairs = np.empty((2, len(batch)), np.int64)
    for number, own in enumerate(batches):
        pairs[:, batch == number] = _shifted(own)
    return _Joined(
        pairs, batch, [_side_by_side([part.graph for part in own]) for own in batches], [*map(_stacked, batches)]
    )


def _shifted(parts: Sequence[AttributeExamples]) -> NDArray[np.int64]:
    """Positions of all pairs among the nodes of all graphs, side by side."""
    first = np.cumsum([0, *(part.graph.num_nodes for part in parts)])
    return np.concatenate([part.pairs + shift for part, shift in zip(parts, first, strict=False)], axis=1)


def _stacked(parts: Sequence[AttributeExamples]) -> csr_array:
    return parts[0].x if len(parts) == 1 else csr_array(vstack([part.x for part in parts]))


def _side_by_side(graphs: Sequence[Graph]) -> Graph:
    """One graph of several that have no edges between them."""
    if len(graphs) == 1:
        return graphs[0]
    matrix = block_diag([graph.to_scipy() for graph in graphs], format="csr")
    return Graph.from_scipy(matrix, graphs[0].directed, self_loops=True)

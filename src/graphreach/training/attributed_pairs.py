"""Pairs of one graph described by the attributes of its nodes, as the network that reads them was trained to see them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from graphreach.graph import Graph
from graphreach.nn.attributed_pair_head import AttributedPairHead
from graphreach.nn.attributed_training import Examples, fit_attributed_pair_head, message_matrix
from graphreach.nn.sparse_rows import SparseRows
from graphreach.pairs.attributes import NAMES, AttributeScaling, PairAttributes, check_attributes
from graphreach.pairs.direct import edge_entries, without_edges
from graphreach.threads import one_torch_thread
from graphreach.training.link_folds import FOLDS, folds


class AttributedPairs:
    """What attributes say of pairs: cosines, and products of the rows that the members of a head have for both nodes.

    Where links are learnt, a pair that has an edge is seen without it: its messages go along the edges of the graph
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


class AttributeExamples:
    """Attributes of the graph that is learnt from, scaled, with the graphs along which messages of each pair go.

    Args:
        graph: The graph.
        x: Attributes as the user gave them.
    """

    def __init__(self, graph: Graph, x: object) -> None:
        self.graph, self.given = graph, check_attributes(x, graph.num_nodes)
        self.scaling = AttributeScaling.of(self.given)
        self.x = self.scaling.apply(self.given)

    def learn(
        self, features: NDArray[np.float32], pairs: NDArray[np.int64], y: NDArray[np.int64], links: bool, seed: int,
        **arguments: Any,
    ) -> tuple[AttributedPairHead, NDArray[np.float64], NDArray[np.int64]]:  # fmt: skip
        """Train a head on features of pairs and their attributes.

        Returns:
            The head, logits of pairs by members that were trained without them, and the kinds of these pairs.
        """
        part, messages = np.zeros(len(y), np.int64), [self.graph]
        if links:
            found = folds(self.graph, pairs, y, seed)
            messages = [fold.graph for fold in found]
            for number, fold in enumerate(found):
                part[fold.rows] = number
        examples = Examples(features, pairs, y, part, messages)
        with one_torch_thread():
            head, unseen, kinds = fit_attributed_pair_head(examples, self.x, self.scaling, seed, **arguments)
        return head, unseen.double().numpy(), kinds.long().numpy()

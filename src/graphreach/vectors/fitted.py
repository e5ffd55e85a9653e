"""Vectors of a graph under its ids, and what they are in another graph."""

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.matching import match_ids
from graphreach.pairs import check_attributes
from graphreach.vectors.link_scorer import LinkScorer
from graphreach.vectors.node_vectors import NodeVectors, fit_vectors
from graphreach.vectors.positions import PositionVectors, find_anchors, fit_positions


class Fitted(NamedTuple):
    """All that fitting finds.

    Attributes:
        vectors: The vectors.
        scorer: How pairs are scored by them.
        ids: Ids of the nodes, in the order of the vectors.
        anchors: Ids of the anchors.
    """

    vectors: NodeVectors | PositionVectors
    scorer: LinkScorer
    ids: NDArray[Any]
    anchors: NDArray[Any]

    def read_attributes(self, x: Any, graph: Graph) -> Any:
        """Attributes of the nodes of another graph: as many as were fitted with, or none."""
        part = self.vectors.attributes if isinstance(self.vectors, NodeVectors) else None
        if part is None and x is not None:
            raise InputError("x must be None, as it was fitted without attributes of nodes")
        if part is not None and x is None:
            raise InputError(f"x must be given, as it was fitted with {len(part.axes)} attributes, got None")
        return None if part is None else check_attributes(x, graph.num_nodes, len(part.axes))

    def on(self, graph: Graph, x: Any, new_anchors: bool, strategy: str, seed: int) -> NodeVectors | PositionVectors:
        """Vectors of another graph.

        Args:
            graph: The graph.
            x: Its attributes, or None.
            new_anchors: Whether positions are relative to other anchors.
            strategy: How these are chosen.
            seed: Random seed of these.
        """
        if isinstance(self.vectors, PositionVectors):
            return self._positions(self.vectors, graph, new_anchors, strategy, seed)
        if new_anchors:
            raise InputError("new_anchors must be False with method 'reach', which needs no anchors for new nodes")
        x = self.read_attributes(x, graph)
        known = self.known_vectors(graph, x)
        return self._alone(self.vectors, graph, x) if known is None else known

    def known_vectors(self, graph: Graph, x: Any) -> NodeVectors | None:
        """Vectors of a graph some of whose nodes are known, which keep theirs; None where none is.

        Args:
            graph: The graph.
            x: Its attributes as :meth:`read_attributes` gives them.
        """
        if not isinstance(self.vectors, NodeVectors):
            return None
        if self.vectors.options.directed and not graph.directed:
            raise InputError(
                "graph must be directed, as the one that was fitted with directed=True, got an undirected one"
            )
        place = match_ids(self.ids.tolist(), graph.ids)
        kept = np.flatnonzero(place >= 0)
        if not len(kept):
            return None
        vectors = self.vectors if len(kept) == len(place) else self.vectors.taken(kept)
        known = place[kept]
        is_new = np.ones(graph.num_nodes, np.bool_)
        is_new[known] = False
        return vectors.grown(graph, known, np.flatnonzero(is_new), x)

    def _positions(
        self, vectors: PositionVectors, graph: Graph, new_anchors: bool, strategy: str, seed: int
    ) -> PositionVectors:
        if new_anchors:
            at = find_anchors(graph, len(self.anchors), strategy, seed)
        else:
            at = match_ids(self.anchors.tolist(), graph.ids)
            gone = int((at < 0).sum())
            if gone:
                raise InputError(
                    f"graph must have all {len(at)} anchors, got one without {gone}; new_anchors=True chooses others"
                )
        return fit_positions(graph, vectors.rows.shape[1], strategy, seed, at)

    def _alone(self, vectors: NodeVectors, graph: Graph, x: Any) -> NodeVectors:
        if graph.num_edges == 0:
            raise InputError("graph must have links, or nodes that were embedded before, got one without both")
        warnings.warn(
            "no node of graph was embedded before, so that it is embedded by itself: its vectors cannot be compared"
            " with those of the graph that was fitted",
            stacklevel=5,
        )
        before = vectors.options
        return fit_vectors(graph, replace(before, num_anchors=min(before.num_anchors, graph.num_nodes)), x)

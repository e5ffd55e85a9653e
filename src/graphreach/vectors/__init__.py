"""Vectors of nodes that are computed, not trained by layers: neighbours, position, walks and outline."""

from graphreach.vectors.link_scorer import LinkScorer
from graphreach.vectors.node_vectors import NodeVectors, fit_vectors
from graphreach.vectors.positions import PositionVectors, fit_positions

__all__ = ["LinkScorer", "NodeVectors", "PositionVectors", "fit_positions", "fit_vectors"]

"""Anchors: the nodes that positions are measured against."""

from graphreach.anchors.select_anchors import AnchorSet, select_anchors
from graphreach.anchors.strategies import STRATEGIES

__all__ = ["STRATEGIES", "AnchorSet", "select_anchors"]

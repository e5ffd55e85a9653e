"""Anchors: the nodes that positions are measured against."""

from graphreach.anchors.anchor_set import AnchorSet
from graphreach.anchors.select_anchors import select_anchors
from graphreach.anchors.strategies import STRATEGIES

__all__ = ["STRATEGIES", "AnchorSet", "select_anchors"]

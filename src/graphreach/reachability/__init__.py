"""Reachability: how likely walks from nodes visit anchors, and from anchors visit nodes."""

from graphreach.reachability.pairs import pair_reachability
from graphreach.reachability.reachability import reachability
from graphreach.reachability.result import Reachability

__all__ = ["Reachability", "pair_reachability", "reachability"]

"""Reachability that is kept up to date while a graph changes."""

from graphreach.index.reach_index import IndexUpdate, ReachIndex

__all__ = ["IndexUpdate", "ReachIndex"]

"""The same results on a Ray cluster."""

from graphreach.cluster.connection import connected

__all__ = ["connected"]

"""The same results on a Ray cluster.

:func:`graphreach.random_walks`, :func:`graphreach.select_anchors` and :func:`graphreach.reachability` run on a cluster with
``engine="ray"``, and give the same numbers bit for bit as on one machine.
"""

from graphreach.cluster.connection import connected
from graphreach.cluster.partitioned_graph import PartitionedGraph, write_partitions
from graphreach.cluster.use import ClusterUse, last_use

__all__ = ["ClusterUse", "PartitionedGraph", "connected", "last_use", "write_partitions"]

"""The same results on a Ray cluster.

:func:`graphreach.random_walks`, :func:`graphreach.select_anchors`, :func:`graphreach.reachability` and the estimators run
on a cluster with ``engine=graphreach.cluster.Ray(...)``, or ``engine="ray"`` for its defaults. Walks, anchors and
reachability are the same bit for bit as on one machine.
"""

from typing import TYPE_CHECKING

from graphreach.cluster.connection import connected
from graphreach.cluster.machines import ClusterUse
from graphreach.cluster.partitioned_graph import PartitionedGraph, write_partitions
from graphreach.cluster.ray_engine import Ray
from graphreach.lazy import import_lazily

if TYPE_CHECKING:
    from graphreach.cluster.inference import embed_partitions

__all__ = ["ClusterUse", "PartitionedGraph", "Ray", "connected", "embed_partitions", "write_partitions"]

__getattr__, __dir__ = import_lazily(__name__, {"inference": "embed_partitions"})  # needs torch

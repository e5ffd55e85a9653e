"""Ray as an engine."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphreach.cluster.connection import check_address, connected, explained
from graphreach.cluster.machines import ClusterUse, Machines
from graphreach.cluster.partitioned import Partitioned
from graphreach.cluster.partitioned_graph import PartitionedGraph
from graphreach.cluster.replicated import Replicated
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.walks.engine import AnyGraph, Walker
from graphreach.walks.walk_length import check_count

if TYPE_CHECKING:
    from typing import Any

    from graphreach.training.trainer import Trainer

WORKERS = 2
"""Processes that share the steps of a training, unless the cluster has fewer CPUs."""


class Ray:
    """A Ray cluster that walks and trains; pass it as ``engine``.

    Args:
        address: ``"HOST:PORT"`` of the cluster's head node, or ``"auto"`` for the cluster that this machine is a node of.
            By default a Ray of this machine's cores starts, reachable from this machine only, and ends with the call; a
            connection that is there already is used. See :func:`graphreach.cluster.connected`.
        partitions: Number of parts to split a graph into, where it is too large for the memory of each of the cluster's
            nodes. By default every node has the whole graph.
        workers: Number of processes that share the steps of a training; 2 by default.

    Attributes:
        last_use: What the last call that walked took of the cluster, or None if there was none.

    Example:
        >>> import graphreach as gr
        >>> gr.cluster.Ray(partitions=4)
        Ray(partitions=4)
        >>> gr.cluster.Ray(workers=0)
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: workers must be a positive integer, got 0
    """

    name = "ray"

    def __init__(self, address: str | None = None, partitions: int | None = None, workers: int | None = None) -> None:
        check_address(address)
        for name, count in (("partitions", partitions), ("workers", workers)):
            if count is not None:
                check_count(name, count)
        self.address, self.partitions, self.workers = address, partitions, workers
        self.last_use: ClusterUse | None = None

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Be connected to the cluster within the block, and sure that it has room for the workers."""
        with connected(self.address):
            if self.workers is not None:
                Machines.of_cluster().cores_for(self.workers)
            yield

    def in_parts(self, graph: AnyGraph) -> bool:
        """Whether no worker has the whole graph."""
        stored = isinstance(graph, PartitionedGraph)
        if self.partitions is None:
            return stored
        if isinstance(graph, PartitionedGraph) and self.partitions != graph.num_parts:
            raise InputError(f"partitions must be None or {graph.num_parts}, as the graph has, got {self.partitions}")
        if self.partitions > max(1, graph.num_nodes):
            raise InputError(
                f"partitions must be at most {graph.num_nodes}, the number of nodes, got {self.partitions}"
            )
        return True

    @contextmanager
    def walker(self, graph: AnyGraph) -> Iterator[Walker]:
        """The graph laid out on the cluster within the block: whole on every node, or in parts."""
        in_parts = self.in_parts(graph)
        if not isinstance(graph, Graph | PartitionedGraph):
            raise InputError(f"graph must be a Graph or a PartitionedGraph, got {type(graph).__name__}")
        with connected(self.address), explained():
            self.last_use = Machines.of_cluster().use()
            if in_parts or isinstance(graph, PartitionedGraph):
                layout: Replicated | Partitioned = Partitioned(graph, self.partitions, self.last_use)
            else:
                layout = Replicated(graph, self.last_use)
            try:
                yield layout
            finally:
                layout.close()

    def train(self, trainer: "Trainer") -> "dict[str, Any]":
        """Share the steps between workers; see :func:`graphreach.cluster.training.train_on_ray`."""
        from graphreach.cluster.training import train_on_ray

        return train_on_ray(trainer, self)

    def __repr__(self) -> str:
        values = {"address": self.address, "partitions": self.partitions, "workers": self.workers}
        return f"Ray({', '.join(f'{name}={value!r}' for name, value in values.items() if value is not None)})"

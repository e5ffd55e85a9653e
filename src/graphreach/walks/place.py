"""Where walks run: in this process, or on a Ray cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.walks.walk_length import check_count

ENGINES = ("local", "ray")


def check_engine(engine: str, **of_ray: Any) -> None:
    """Refuse an engine that is none, and settings of a cluster without one.

    Example:
        >>> check_engine("local", address=None, workers=3)
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: workers must go with engine='ray', got 3 with engine='local'
    """
    if not isinstance(engine, str) or engine not in ENGINES:
        raise InputError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    for name, value in of_ray.items():
        if engine == "local" and value is not None:
            raise InputError(f"{name} must go with engine='ray', got {value!r} with engine='local'")


class Place(NamedTuple):
    """A graph, and where to walk on it.

    Attributes:
        graph: A :class:`Graph`, or a :class:`graphreach.cluster.PartitionedGraph`.
        engine: ``"local"`` or ``"ray"``.
        address: Of the cluster, or None.
        partitions: Into how many parts the graph is split, or None.
    """

    graph: Any
    engine: str
    address: str | None
    partitions: int | None

    @classmethod
    def make(cls, graph: Any, engine: str, address: str | None, partitions: int | None) -> "Place":
        """A place, or one sentence that says what is wrong.

        Example:
            >>> Place.make(Graph.from_edges([[0], [1]]), "spark", None, None)
            Traceback (most recent call last):
            ...
            graphreach.errors.InputError: engine must be one of local, ray, got 'spark'
        """
        check_engine(engine, address=address, partitions=partitions)
        stored = not isinstance(graph, Graph)
        if stored and engine == "local":
            raise InputError(f"engine must be 'ray' for a partitioned graph, got {engine!r}")
        if partitions is not None:
            check_count("partitions", partitions)
            if stored and partitions != graph.num_parts:
                raise InputError(f"partitions must be None or {graph.num_parts}, as the graph has, got {partitions}")
            if partitions > max(1, graph.num_nodes):
                raise InputError(f"partitions must be at most {graph.num_nodes}, the number of nodes, got {partitions}")
        return cls(graph, engine, address, partitions)

    @property
    def partitioned(self) -> bool:
        """Whether no worker has the whole graph."""
        return self.partitions is not None or not isinstance(self.graph, Graph)

    @contextmanager
    def cluster(self) -> Iterator[Any]:
        """The graph laid out on the cluster within the block; None where walks run in this process."""
        if self.engine == "local":
            yield None
            return
        from graphreach.cluster.layout import laid_out

        with laid_out(self.graph, self.address, self.partitions) as layout:
            yield layout

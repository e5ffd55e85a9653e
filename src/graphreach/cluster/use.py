"""What a call took of a cluster."""

from dataclasses import asdict, dataclass
from typing import Any

from graphreach.errors import InputError


@dataclass
class ClusterUse:
    """Nodes, cores and traffic of one call with ``engine="ray"``.

    Attributes:
        nodes: Nodes of the cluster that were alive when the call began.
        cores: Their CPUs.
        partitions: Parts of the graph, or None if every node had all of it.
        tasks: Tasks that workers did; one that was repeated after a failure counts once.
        bytes_moved: Bytes of the graph, of walkers and of results that went through Ray's object store.

    Example:
        >>> ClusterUse(nodes=2, cores=8).as_dict()["cores"]
        8
    """

    nodes: int = 0
    cores: int = 0
    partitions: int | None = None
    tasks: int = 0
    bytes_moved: int = 0

    def as_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return asdict(self)


_last: list[ClusterUse] = []


def begin_use(use: ClusterUse) -> ClusterUse:
    """Make ``use`` the last one."""
    _last[:] = [use]
    return use


def last_use() -> ClusterUse:
    """What the last call with ``engine="ray"`` in this process took; see :class:`ClusterUse`."""
    if not _last:
        raise InputError("last_use must come after a call with engine='ray', but there was none")
    return _last[0]


def size_of(result: Any) -> int:
    """Bytes of the arrays in a result.

    Example:
        >>> import numpy as np
        >>> size_of((np.zeros(3, np.uint8), [np.zeros(2, np.int64)], 7))
        19
    """
    if isinstance(result, tuple | list):
        return sum(map(size_of, result))
    if hasattr(result, "indptr"):
        return size_of([result.data, result.indices, result.indptr])
    return int(getattr(result, "nbytes", 0))

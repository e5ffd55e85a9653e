"""The nodes of a cluster, and what a call took of them."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from graphreach.errors import InputError

STORAGE, MARK = "ray", "mark"
"""The folder of Ray Train in that of a run, and a file in it by which workers know it."""


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


@dataclass(frozen=True)
class Machines:
    """Nodes that are alive: their CPUs, addresses, names, and the bytes of their object stores.

    Example:
        >>> machines = Machines((8, 4), ("10.0.0.1", "10.0.0.2"))
        >>> machines.cores_for(3), machines.cores_for(6), machines.one_machine
        (4, 2, False)
    """

    cores: tuple[int, ...]
    addresses: tuple[str, ...]
    names: tuple[str, ...] = ()
    stores: tuple[int, ...] = ()

    @classmethod
    def of_cluster(cls) -> "Machines":
        """Those of the cluster that this process is connected to."""
        import ray

        nodes = [node for node in ray.nodes() if node["Alive"]]
        return cls(
            tuple(int(node["Resources"].get("CPU", 0)) for node in nodes),
            tuple(node["NodeManagerAddress"] for node in nodes),
            tuple(node["NodeID"] for node in nodes),
            tuple(int(node["Resources"].get("object_store_memory", 0)) for node in nodes),
        )

    def use(self) -> ClusterUse:
        """The record of a call that begins now."""
        if not self.count:
            raise InputError("the Ray cluster must have a node with a CPU to do the work, but none has one")
        return ClusterUse(nodes=self.count, cores=sum(self.cores))

    @property
    def workplaces(self) -> list[str]:
        """Names of the nodes that have a CPU, sorted."""
        return sorted(name for name, cores in zip(self.names, self.cores, strict=True) if cores)

    @property
    def count(self) -> int:
        """How many nodes can work; that of a driver may have no CPU."""
        return sum(cores > 0 for cores in self.cores)

    @property
    def one_machine(self) -> bool:
        """Whether all nodes have one address, and so one disk."""
        return len(set(self.addresses)) == 1

    @property
    def loopback(self) -> bool:
        """Whether no other machine can reach them."""
        return all(address.startswith("127.") for address in self.addresses)

    def cores_for(self, processes: int) -> int:
        """The most CPUs that each of this number of processes can have."""
        if processes > sum(self.cores):
            raise InputError(
                f"workers must be at most {sum(self.cores)}, the number of CPUs in the Ray cluster, got {processes}"
            )
        return next(
            share for share in range(max(self.cores), 0, -1) if sum(cores // share for cores in self.cores) >= processes
        )


def size_of(result: Any) -> int:
    """Bytes of the arrays in an object, also in those that it consists of."""
    if isinstance(result, tuple | list):
        return sum(map(size_of, result))
    if isinstance(result, np.ndarray):
        return result.nbytes
    if hasattr(result, "indptr"):
        return size_of([result.data, result.indices, result.indptr])
    if isinstance(result, type) or not hasattr(result, "__dict__"):
        return 0
    return size_of(list(vars(result).values()))

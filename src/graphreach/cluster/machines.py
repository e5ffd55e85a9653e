"""The nodes of a cluster, as far as they can hold workers."""

from dataclasses import dataclass

from graphreach.errors import InputError

STORAGE, MARK = "ray", "mark"
"""The folder of Ray Train in that of a run, and a file in it by which workers know it."""


@dataclass(frozen=True)
class Machines:
    """Nodes that are alive.

    Attributes:
        cores: CPUs of each node.
        addresses: Their addresses.

    Example:
        >>> machines = Machines((8, 4), ("10.0.0.1", "10.0.0.2"))
        >>> machines.cores_for(3), machines.cores_for(6)
        (4, 2)
        >>> machines.one_machine
        False
    """

    cores: tuple[int, ...]
    addresses: tuple[str, ...]

    @classmethod
    def of_cluster(cls) -> "Machines":
        """Those of the cluster that this process is connected to."""
        import ray

        nodes = [node for node in ray.nodes() if node["Alive"]]
        return cls(
            tuple(int(node["Resources"].get("CPU", 0)) for node in nodes),
            tuple(node["NodeManagerAddress"] for node in nodes),
        )

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

    def cores_for(self, workers: int) -> int:
        """The most CPUs that every one of so many workers can have."""
        if workers > sum(self.cores):
            raise InputError(
                f"workers must be at most {sum(self.cores)}, the number of CPUs in the Ray cluster, got {workers}"
            )
        return next(
            share for share in range(max(self.cores), 0, -1) if sum(cores // share for cores in self.cores) >= workers
        )

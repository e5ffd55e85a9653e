"""Where a training runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from graphreach.training.trainer import Trainer
from graphreach.walks.place import check_engine
from graphreach.walks.walk_length import check_count

WORKERS = 2


class Engine(NamedTuple):
    """This process, or workers of a Ray cluster.

    Attributes:
        name: ``"local"`` or ``"ray"``.
        address: Of the cluster, or None.
        workers: Processes that share the steps, or None.
    """

    name: str = "local"
    address: str | None = None
    workers: int | None = None

    @classmethod
    def make(cls, name: str = "local", address: str | None = None, workers: int | None = None) -> "Engine":
        """An engine, or one sentence that says what is wrong.

        Example:
            >>> Engine.make("spark")
            Traceback (most recent call last):
            ...
            graphreach.errors.InputError: engine must be one of local, ray, got 'spark'
        """
        check_engine(name, address=address, workers=workers)
        if workers is not None:
            check_count("workers", workers)
        return cls(name, address, workers)

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Be connected to the cluster within the block, and sure that it has room for the workers."""
        if self.name == "local":
            yield
            return
        from graphreach.cluster.connection import connected
        from graphreach.cluster.machines import Machines

        with connected(self.address):
            Machines.of_cluster().cores_for(self.num_workers)
            yield

    @property
    def place(self) -> dict[str, Any]:
        """Where walks run, as arguments of :func:`graphreach.reachability`."""
        return {} if self.name == "local" else {"engine": self.name, "address": self.address}

    @property
    def num_workers(self) -> int:
        """Processes that share the steps of engine ``"ray"``."""
        return WORKERS if self.workers is None else self.workers

    def train(self, trainer: Trainer) -> dict[str, Any] | None:
        """Train to the end; returns what the record says about the cluster, if there is one."""
        if self.name == "local":
            trainer.run()
            return None
        from graphreach.cluster.training import train_on_ray

        return train_on_ray(trainer, self.address, self.num_workers)

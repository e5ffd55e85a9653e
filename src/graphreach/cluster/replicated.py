"""The whole graph in the shared memory of every node; tasks take some of the starts, or some of the columns."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from graphreach._version import __version__
from graphreach.cluster.jobs import Job
from graphreach.cluster.layout import Layout, alive, slices
from graphreach.cluster.use import ClusterUse, size_of
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.reachability.exact import Propagation
from graphreach.walks.transitions import transitions

PIECE_STEPS = 1 << 22
"""Steps of a task: about a tenth of a second, so that tasks balance and a lost one costs little."""

PIECE_BYTES = 1 << 24
"""Bytes of a task's result."""

PIECES_PER_CORE = 4
"""Tasks for each core at least, where there are starts enough."""

STORE_SHARE = 0.8
"""The share of a node's object store that a graph may fill; results need room too."""


class Replicated(Layout):
    """Tasks that read one copy of the graph on each node."""

    def __init__(self, graph: Graph, use: ClusterUse) -> None:
        super().__init__(graph.num_nodes, use)
        self.table = transitions(graph)
        self._table_reference: Any = None

    def map(self, job: Job, starts: NDArray[np.uint32], description: str) -> Iterator[tuple[int, Any]]:
        """The job's results for slices of the starts, in order."""
        import ray

        if self._table_reference is None:
            self._table_reference = self._put(self.table)
        shared = self._put(job)
        task = ray.remote(num_cpus=1, max_retries=-1)(walk_here)

        def submit(rows: slice) -> Any:
            self.use.tasks += 1
            return task.remote(__version__, self._table_reference, shared, starts[rows])

        pieces = slices(len(starts), self._piece_rows(job, len(starts)))
        for rows, result in self.in_order(submit, pieces, 2 * self.use.cores + 1, description):
            yield rows.start, result

    def columns(
        self, compute: Callable[..., Any], powers: Any, pieces: Sequence[NDArray[Any]], description: str
    ) -> Iterator[Any]:
        """Blocks of columns, in order."""
        import ray

        matrix, function = self._put(powers), self._put(compute)
        task = ray.remote(num_cpus=1, max_retries=-1)(compute_here)

        def submit(nodes: NDArray[Any]) -> Any:
            self.use.tasks += 1
            return task.remote(__version__, matrix, function, nodes)

        for _, block in self.in_order(submit, pieces, self.use.cores + 1, description):
            yield block

    def close(self) -> None:
        """Let go of the graph; Ray frees it then."""
        self._table_reference = None

    def _piece_rows(self, job: Job, num_starts: int) -> int:
        by_cores = -(-num_starts // (PIECES_PER_CORE * max(1, self.use.cores)))
        return max(1, min(PIECE_STEPS // job.steps, PIECE_BYTES // max(1, job.row_bytes), by_cores))

    def _put(self, shared: Any) -> Any:
        """Put what all tasks read into the object store, unless the nodes have no room for it."""
        import ray

        size = size_of(_arrays(shared))
        check_room(size, [int(node["Resources"].get("object_store_memory", 0)) for node in alive(ray.nodes(), cpus=0)])
        self.use.bytes_moved += size * self.use.nodes
        return ray.put(shared)


def _arrays(shared: Any) -> Any:
    return list(vars(shared).values()) if isinstance(shared, Job) else shared


def check_room(size: int, stores: Sequence[int]) -> None:
    """Refuse what does not fit into the nodes' object stores.

    Example:
        >>> check_room(900_000_000, [2_000_000_000, 1_000_000_000])
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: every node needs 900 MB of its object store for the graph, ...
    """
    smallest = min(stores, default=0)
    if size > STORE_SHARE * smallest:
        parts = -(-size // max(1, int(STORE_SHARE * smallest / 2)))
        raise InputError(
            f"every node needs {size / 1e6:,.0f} MB of its object store for the graph, and the smallest has"
            f" {smallest / 1e6:,.0f} MB, of which {STORE_SHARE:.0%} may be used: pass partitions, such as"
            f" partitions={max(2, parts)}, so that each worker holds a part"
        )


def walk_here(version: str, table: Any, job: Job, starts: NDArray[np.uint32]) -> Any:
    """One task of a job, in a worker."""
    check_version(version)
    use_one_thread()
    return job.walk(table, starts.copy())


def compute_here(version: str, powers: Any, compute: Callable[..., Any], nodes: NDArray[Any]) -> Any:
    """One block of columns, in a worker."""
    check_version(version)
    use_one_thread()
    return compute(Propagation(powers), nodes)


def use_one_thread() -> None:
    """Tasks have one CPU."""
    numba.set_num_threads(1)


def check_version(version: str) -> None:
    """Refuse to work for another version, whose random numbers may be others.

    Example:
        >>> check_version(__version__)
    """
    if version != __version__:
        raise InputError(f"every node of the cluster must have graphreach {version}, but one has {__version__}")

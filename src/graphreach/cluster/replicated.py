"""The whole graph in the shared memory of every node; tasks take some of the starts, or some of the items."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from graphreach._version import __version__
from graphreach.cluster.machines import ClusterUse, Machines, size_of
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.progress import track
from graphreach.walks.engine import Job, Walker, transitions

T = TypeVar("T")

PIECE_STEPS = 1 << 22
"""Steps of a task: about a tenth of a second, so that tasks balance and a lost one costs little."""

PIECE_BYTES = 1 << 24
"""Bytes of a task's result."""

PIECES_PER_CORE = 4
"""Tasks for each core at least, where there are starts enough."""

STORE_SHARE = 0.8
"""The share of a node's object store that a graph may fill; results need room too."""


def in_order(submitted: Iterable[tuple[T, Any]], ahead: int) -> Iterator[tuple[T, Any]]:
    """Items and the results of their tasks, in order; tasks are submitted ``ahead`` of them at a time."""
    waiting: deque[tuple[T, Any]] = deque()
    for each in submitted:
        waiting.append(each)
        if len(waiting) >= ahead:
            yield take(waiting)
    while waiting:
        yield take(waiting)


def take(waiting: deque[tuple[T, Any]]) -> tuple[T, Any]:
    """The first of those under way and its result, which is waited for."""
    import ray

    item, reference = waiting.popleft()
    return item, ray.get(reference)


class Layout(Walker):
    """A graph laid out on a cluster; ``use`` is the record of what that takes."""

    def __init__(self, num_nodes: int, use: ClusterUse) -> None:
        super().__init__(num_nodes)
        self.use = use

    def in_order(
        self, submit: Callable[[T], Any], items: Sequence[T], ahead: int, description: str
    ) -> Iterator[tuple[T, Any]]:
        """Submit a task for each item, ``ahead`` of them at a time, and yield items and results in order."""
        submitted = ((item, submit(item)) for item in items)
        for item, result in track(in_order(submitted, ahead), len(items), description):
            self.use.bytes_moved += size_of(result)
            yield item, result


class Replicated(Layout):
    """Tasks that read one copy of the graph on each node."""

    def __init__(self, graph: Graph, use: ClusterUse) -> None:
        super().__init__(graph.num_nodes, use)
        self.graph = graph
        self._table: Any = None

    def map(self, job: Job, starts: NDArray[np.uint32], description: str) -> Iterator[tuple[int, Any]]:
        """The job's results for slices of the starts, in order."""
        if self._table is None:
            self._table = self._put(transitions(self.graph))
        submit = self._task(walk, self._table, self._put(job))
        pieces = slices(len(starts), self._piece_rows(job, len(starts)))
        ahead = 2 * self.use.cores + 1
        for rows, result in self.in_order(lambda rows: submit(starts[rows]), pieces, ahead, description):
            yield rows.start, result

    def compute(
        self, function: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any], description: str
    ) -> Iterator[Any]:
        """One task for each item."""
        submit = self._task(self._put(function), self._put(shared))
        for _, result in self.in_order(submit, items, self.use.cores + 1, description):
            yield result

    def close(self) -> None:
        """Let go of the graph; Ray frees it then."""
        self._table = None

    def _task(self, function: Any, *shared: Any) -> Callable[[Any], Any]:
        """What submits a task for an item."""
        import ray

        task = ray.remote(num_cpus=1, max_retries=-1)(call_here)

        def submit(item: Any) -> Any:
            self.use.tasks += 1
            return task.remote(__version__, function, *shared, item)

        return submit

    def _piece_rows(self, job: Job, num_starts: int) -> int:
        by_cores = -(-num_starts // (PIECES_PER_CORE * max(1, self.use.cores)))
        return max(1, min(PIECE_STEPS // job.steps, PIECE_BYTES // max(1, job.row_bytes), by_cores))

    def _put(self, shared: Any) -> Any:
        """Put what all tasks read into the object store, unless the nodes have no room for it."""
        import ray

        size = size_of(shared)
        check_room(size, Machines.of_cluster().stores)
        self.use.bytes_moved += size * self.use.nodes
        return ray.put(shared)


def check_room(size: int, stores: Sequence[int]) -> None:
    """Refuse what does not fit into the nodes' object stores."""
    smallest = min(stores, default=0)
    if size > STORE_SHARE * smallest:
        parts = -(-size // max(1, int(STORE_SHARE * smallest / 2)))
        raise InputError(
            f"every node needs {size / 1e6:,.0f} MB of its object store for the graph, and the smallest has"
            f" {smallest / 1e6:,.0f} MB, of which {STORE_SHARE:.0%} may be used: pass partitions, such as"
            f" partitions={max(2, parts)}, so that each worker holds a part"
        )


def call_here(version: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """One task, in a worker."""
    check_version(version)
    use_one_thread()
    return function(*arguments)


def walk(table: Any, job: Job, starts: NDArray[np.uint32]) -> Any:
    """The result of a job for some of the starts."""
    return job.walk(table, starts.copy())


def use_one_thread() -> None:
    """Tasks have one CPU."""
    numba.set_num_threads(1)


def check_version(version: str) -> None:
    """Refuse to work for another version, whose random numbers may differ."""
    if version != __version__:
        raise InputError(f"every node of the cluster must have graphreach {version}, but one has {__version__}")


def slices(num_rows: int, size: int) -> list[slice]:
    """Rows in slices of ``size``."""
    return [slice(begin, min(begin + size, num_rows)) for begin in range(0, num_rows, size)]

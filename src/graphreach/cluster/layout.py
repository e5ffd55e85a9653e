"""A graph laid out on a cluster: whole on every node, or in parts."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphreach.anchors.bipartite import Piece
from graphreach.cluster.connection import connected
from graphreach.cluster.failures import explained
from graphreach.cluster.jobs import CollectVisits, CountFromAnchors, CountReached, CountToAnchors, Job, StoreWalks
from graphreach.cluster.use import ClusterUse, begin_use, size_of
from graphreach.errors import InputError
from graphreach.progress import track
from graphreach.reachability.layouts import from_rows
from graphreach.reachability.sampled import Counting, Targets, Visits, bitmap

T = TypeVar("T")


class Layout(ABC):
    """Does jobs for many starts on a cluster, and puts the results together in their order."""

    def __init__(self, num_nodes: int, use: ClusterUse) -> None:
        self.num_nodes, self.use = num_nodes, use

    @abstractmethod
    def map(self, job: Job, starts: NDArray[np.uint32], description: str) -> Iterator[tuple[int, Any]]:
        """The job's results for slices of the starts, each with the number of its first start, in order."""

    @abstractmethod
    def columns(
        self, compute: Callable[..., Any], powers: Any, pieces: Sequence[NDArray[Any]], description: str
    ) -> Iterator[Any]:
        """``compute`` of the exact method for blocks of columns, in order."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the layout holds on the cluster."""

    def random_walks(self, starts: NDArray[np.uint32], num_walks: int, length: int, seed: int, out: Any) -> None:
        """Fill ``out`` with walks."""
        size = num_walks * (length + 1) * out.itemsize
        job = StoreWalks(num_walks=num_walks, length=length, seed=seed, row_bytes=size, dtype=out.dtype)
        for first, walks in self.map(job, starts, "random walks"):
            out[first : first + len(walks)] = walks

    def visits(
        self, starts: NDArray[np.uint32], num_walks: int, length: int, seed: int, num_samples: int, share: float
    ) -> Iterator[tuple[int, Piece]]:
        """Pieces of the bipartite graph of walks."""
        job = CollectVisits(
            num_walks=num_walks, length=length, seed=seed, row_bytes=21 * num_walks * length, num_samples=num_samples,
            share=share,
        )  # fmt: skip
        return self.map(job, starts, "walks for anchors")

    def reached(
        self, starts: NDArray[np.uint32], anchors: NDArray[Any], is_anchor: NDArray[np.bool_], num_walks: int,
        length: int, seed: int,
    ) -> int:  # fmt: skip
        """How many starts have a walk that visits an anchor."""
        job = CountReached(
            num_walks=num_walks, length=length, seed=seed, wanted=bitmap(anchors, self.num_nodes), is_anchor=is_anchor
        )
        return sum(count for _, count in self.map(job, starts, "measuring coverage"))

    def to_anchors(
        self, anchors: NDArray[Any], counting: Counting, seed: int, layout: str, nodes: NDArray[Any] | None = None
    ) -> Any:
        """s(v, a) of all nodes, or of some."""
        starts = np.arange(self.num_nodes, dtype=np.uint32) if nodes is None else nodes.astype(np.uint32)
        targets, columns = Targets.make(anchors, self.num_nodes), len(anchors) * counting.hops
        job = CountToAnchors(
            num_walks=counting.num_walks, length=counting.length, seed=seed, wanted=targets.bitmap,
            row_bytes=4 * columns, targets=targets, counting=counting, compressed=layout == "csr",
        )  # fmt: skip
        results = self.map(job, starts, "walks to anchors")
        if layout == "csr":
            return from_rows((piece for _, piece in results), len(starts), columns)
        out = np.empty((len(starts), columns), np.float32)
        for first, block in results:
            out[first : first + len(block)] = block
        return out

    def from_anchors(self, anchors: NDArray[Any], counting: Counting, seed: int) -> Iterator[Visits]:
        """s(a, v) in blocks of anchors."""
        steps = counting.num_walks * counting.length
        job = CountFromAnchors(
            num_walks=counting.num_walks, length=counting.length, seed=seed, row_bytes=28 * steps, counting=counting
        )
        return (piece for _, piece in self.map(job, anchors.astype(np.uint32), "walks from anchors"))

    def in_order(
        self, submit: Callable[[T], Any], items: Sequence[T], ahead: int, description: str
    ) -> Iterator[tuple[T, Any]]:
        """Submit a task for each item, ``ahead`` of them at a time, and yield items and results in order."""
        import ray

        waiting: deque[tuple[T, Any]] = deque()

        def results() -> Iterator[tuple[T, Any]]:
            for item in items:
                waiting.append((item, submit(item)))
                if len(waiting) >= ahead:
                    yield self._take(ray, waiting)
            while waiting:
                yield self._take(ray, waiting)

        yield from track(results(), len(items), description)

    def _take(self, ray: Any, waiting: deque[tuple[T, Any]]) -> tuple[T, Any]:
        item, reference = waiting.popleft()
        result = ray.get(reference)
        self.use.bytes_moved += size_of(result)
        return item, result


@contextmanager
def laid_out(graph: Any, address: str | None, partitions: int | None) -> Iterator[Layout]:
    """The graph on the cluster within the block."""
    from graphreach.cluster.partitioned import Partitioned
    from graphreach.cluster.replicated import Replicated
    from graphreach.graph import Graph

    with connected(address), explained():
        use = begin_use(_cluster_size())
        whole = isinstance(graph, Graph) and partitions is None
        layout: Layout = Replicated(graph, use) if whole else Partitioned(graph, partitions, use)
        try:
            yield layout
        finally:
            layout.close()


def alive(nodes: Iterable[dict[str, Any]], cpus: int = 1) -> list[dict[str, Any]]:
    """The nodes that are up and have at least so many CPUs."""
    return [node for node in nodes if node["Alive"] and node["Resources"].get("CPU", 0) >= cpus]


def _cluster_size() -> ClusterUse:
    import ray

    nodes = alive(ray.nodes())
    if not nodes:
        raise InputError("the Ray cluster must have a node with a CPU to do the work, but none has one")
    return ClusterUse(nodes=len(nodes), cores=int(sum(node["Resources"]["CPU"] for node in nodes)))


def slices(num_rows: int, size: int) -> list[slice]:
    """Rows in slices of ``size``.

    Example:
        >>> slices(5, 2)
        [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(begin, min(begin + size, num_rows)) for begin in range(0, num_rows, size)]

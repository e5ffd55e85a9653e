"""A graph in parts, each in a worker of its own; walkers travel between them in batches, step by step."""

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach._version import __version__
from graphreach.cluster.machines import ClusterUse, Machines, size_of
from graphreach.cluster.partitioned_graph import PartitionedGraph, Shard, part_bounds, shard_of, stored_bytes
from graphreach.cluster.replicated import Layout, check_version, slices, use_one_thread
from graphreach.cluster.walker_kernels import SLOT, by_part, first_walkers, keep_wanted, move
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.walks.engine import Job, Transitions
from graphreach.walks.kernels import DEAD

WALKER_SHARE = 0.07
"""The memory of the walkers that travel together, as a share of the whole graph's."""

WALKER_BYTES = 28
"""Memory of a walker: where it was, where it is, which part that is, and a copy on its way."""

LEAST_STEPS, MOST_STEPS = 7 << 20, 1 << 28
"""Steps of the walkers that travel together, whatever the graph's size; 2^28 take a gigabyte where they are collected."""

WAVE_BYTES = 1 << 26
"""Bytes of a wave's result."""

M_MMAP_THRESHOLD = -3
"""glibc's number for the size from which arrays get memory of their own."""

FIRST_BLOCKS = 8
"""Blocks of starts in the first step."""

WAVES = 2
"""Waves at a time, so that a part has work while it waits for walkers from the others."""


class Batch(NamedTuple):
    """Walkers on their way to a group of parts that share a node, so that one object carries them.

    Attributes:
        first: The first part of the group.
        begin: Where each part's walkers begin, and the end.
        walkers: Sorted by part.

    Example:
        >>> batch = Batch.cut(np.array([7, 8, 9], np.uint64), np.array([0, 1, 1, 3]), 1, 3)
        >>> batch.of(1).tolist(), batch.of(2).tolist(), batch.has(0)
        ([], [8, 9], False)
    """

    first: int
    begin: NDArray[np.int64]
    walkers: NDArray[np.uint64]

    @classmethod
    def cut(cls, walkers: NDArray[np.uint64], begin: NDArray[np.int64], first: int, end: int) -> "Batch":
        """The walkers on the parts ``first .. end - 1``, out of those on all parts."""
        own = begin[first : end + 1]
        return cls(first, own - own[0], walkers[own[0] : own[-1]])

    def has(self, part: int) -> bool:
        """Whether the part is one of the group."""
        return self.first <= part < self.first + len(self.begin) - 1

    def of(self, part: int) -> NDArray[np.uint64]:
        """The walkers on one part of the group."""
        begin, end = self.begin[part - self.first : part - self.first + 2]
        return self.walkers[begin:end]


class Part:
    """One part of a graph, in a worker. Methods depend on their arguments alone, so Ray may repeat them anywhere."""

    def __init__(self, version: str, part: int, bounds: Sequence[int], groups: Sequence[int]) -> None:
        self.version, self.part, self.bounds, self.groups = version, part, np.array(bounds, np.uint64), groups
        self.shard: Shard | None = None

    def load(self, source: Any) -> Shard:
        """The part's rows; fetched by the first call, also of a worker that takes the place of a lost one."""
        if self.shard is None:
            import ray

            check_version(self.version)
            use_one_thread()
            give_back_memory()
            self.shard = source.shard(self.part) if isinstance(source, PartitionedGraph) else ray.get(source[0])
            for array in self.shard[1:]:
                if array is not None:
                    array.flags.writeable = False  # as in shared memory: one version of each kernel
        return self.shard

    def advance(self, source: Any, job: Job, starts: NDArray[np.uint32], step: int, *arrived: Batch) -> Any:
        """Take the walkers that have arrived (at the first step those that start here) one step further.

        Returns:
            A batch of walkers for each group of parts, unless this was the last step, and with them what was visited and
            how many bytes travel to other groups.
        """
        shard, starts = self.load(source), starts.copy()
        low, *rows = shard
        if step == 1:
            walkers, begin = self._first_step(shard, starts, job)
        else:
            walkers = np.concatenate([batch.of(self.part) for batch in arrived])
            move(*rows, low, walkers, starts, job.num_walks, job.seed, step)
            walkers, begin = by_part(walkers, self.bounds)
        visits = walkers if job.wanted is None else keep_wanted(walkers, job.wanted)
        if step == job.length:
            return visits, 0
        batches = [Batch.cut(walkers, begin, *group) for group in pairwise(self.groups)]
        travelling = sum(batch.walkers.nbytes for batch in batches if not batch.has(self.part))
        return (*batches, (visits, travelling))

    def _first_step(
        self, shard: Shard, starts: NDArray[np.uint32], job: Job
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The walkers of a wave that start here after their first step, sorted by part, and where each part's begin.

        Neighbouring starts are in one part, so this may be the whole wave. It is done in blocks, once to count and once to
        keep, so that only the result needs memory for all of them.
        """
        low, *rows = shard
        high = int(self.bounds[self.part + 1])

        def block(first: int, end: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
            walkers = first_walkers(starts, first, end, job.num_walks, low, high)
            move(*rows, low, walkers, starts, job.num_walks, job.seed, 1)
            return by_part(walkers, self.bounds)  # type: ignore[no-any-return]

        blocks = list(pairwise(len(starts) * number // FIRST_BLOCKS for number in range(FIRST_BLOCKS + 1)))
        sizes = np.stack([np.diff(block(*each)[1]) for each in blocks])
        begin = np.concatenate([[0], np.cumsum(sizes.sum(0))])
        places = begin[:-1] + np.cumsum(sizes, 0) - sizes
        out = np.empty(begin[-1], np.uint64)
        for each, size, place in zip(blocks, sizes, places, strict=True):
            walkers, own = block(*each)
            for part in range(len(size)):
                out[place[part] : place[part] + size[part]] = walkers[own[part] : own[part + 1]]
        return out, begin

    def memory(self) -> dict[str, int]:
        """The process, and the bytes of its part."""
        return {"pid": os.getpid(), "graph": size_of(self.shard or ())}


class Partitioned(Layout):
    """Workers that each hold a part of the graph."""

    def __init__(self, graph: Graph | PartitionedGraph, parts: int | None, use: ClusterUse) -> None:
        import ray

        super().__init__(graph.num_nodes, use)
        self.graph = graph
        self.bounds = graph.bounds if isinstance(graph, PartitionedGraph) else part_bounds(graph, parts or 1)
        self.graph_bytes = stored_bytes(graph)
        use.partitions = len(self.bounds) - 1
        actor = ray.remote(max_restarts=-1, max_task_retries=-1, allow_out_of_order_execution=True)(Part)
        self.groups, places = _places(use.partitions)
        self.parts: list[Any] = []
        self.sources: list[Any] = []
        for part, place in enumerate(places):
            there = actor.options(scheduling_strategy=place)
            self.parts.append(there.remote(__version__, part, self.bounds, self.groups))
            self.sources.append(self._source(part))

    def map(self, job: Job, starts: NDArray[np.uint32], description: str) -> Iterator[tuple[int, Any]]:
        """The job's results for waves of starts, in order."""
        import ray

        shared = ray.put(job)
        self.use.bytes_moved += size_of(job) * self.use.nodes
        collect = ray.remote(num_cpus=1, max_retries=-1)(collect_here)

        def submit(rows: slice) -> Any:
            here = ray.put(starts[rows])
            visits = self._travel(job, shared, here)
            self.use.tasks += len(visits) + 1
            return collect.remote(shared, here, len(self.parts), *visits)

        size = max(1, min(wave_steps(self.graph_bytes, job.length) // job.steps, WAVE_BYTES // max(1, job.row_bytes)))
        for rows, (result, travelled) in self.in_order(submit, slices(len(starts), size), WAVES, description):
            self.use.bytes_moved += travelled
            yield rows.start, result

    def _travel(self, job: Job, shared: Any, starts: Any) -> list[Any]:
        """Let the walkers of a wave take all steps; returns what they visited, by step and part."""
        sizes = np.diff(self.groups)
        visits: list[Any] = []
        batches: list[list[Any]] = [[] for _ in self.parts]
        for step in range(1, job.length + 1):
            last = step == job.length
            returns = 1 if last else len(sizes) + 1
            results = [
                part.advance.options(num_returns=returns).remote(source, shared, starts, step, *arrived)
                for part, source, arrived in zip(self.parts, self.sources, batches, strict=True)
            ]
            if last:
                return visits + results
            visits += [result[-1] for result in results]
            batches = [[result[group] for result in results] for group in np.repeat(np.arange(len(sizes)), sizes)]
        return visits

    def compute(
        self, function: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any], description: str
    ) -> Iterator[Any]:
        """The exact method is not for parts."""
        raise InputError('method must be "walks" with partitions: the exact one needs the whole graph in one place')

    def close(self) -> None:
        """End the workers."""
        import ray

        for part in self.parts:
            ray.kill(part)
        self.sources.clear()

    def _source(self, part: int) -> Any:
        """Where a worker gets its part from."""
        import ray

        if isinstance(self.graph, PartitionedGraph):
            return self.graph
        shard = shard_of(self.graph, self.bounds[part], self.bounds[part + 1])
        self.use.bytes_moved += size_of(shard)
        return [ray.put(shard)]  # a bare reference Ray would look up before every call


def give_back_memory() -> None:
    """Let freed arrays go back to the machine at once: glibc would keep those below 32 MB, and its heap would grow.

    It is set for the whole process, where there is such a setting.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        library.mallopt(M_MMAP_THRESHOLD, 1 << 18)


def wave_steps(graph_bytes: int, length: int) -> int:
    """Steps of the walkers that travel together.

    Example:
        >>> wave_steps(4 * 10**9, length=20) == 20 * (4 * 10**9 * 7 // 100 // 28)
        True
        >>> wave_steps(1000, length=20) == LEAST_STEPS
        True
    """
    walkers = int(WALKER_SHARE * graph_bytes) // WALKER_BYTES
    return min(MOST_STEPS, max(LEAST_STEPS, walkers * length))


def _places(parts: int) -> tuple[list[int], list[Any]]:
    """The parts in groups, one for each node, as the first part of each and the end; and a place for each part.

    If its node is lost, a part moves to another one; the groups stay as they are.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = Machines.of_cluster().workplaces[:parts]
    groups = [group * parts // len(nodes) for group in range(len(nodes) + 1)]
    sizes = [end - begin for begin, end in pairwise(groups)]
    places = [NodeAffinitySchedulingStrategy(node, soft=True) for node in nodes]
    return groups, [place for place, size in zip(places, sizes, strict=True) for _ in range(size)]


def collect_here(job: Job, starts: NDArray[np.uint32], parts: int, *visits: Any) -> tuple[Any, int]:
    """The result of a wave from what its walkers visited, and the bytes that travelled; in a worker."""
    use_one_thread()
    starts = starts.copy()
    paths = np.full((len(starts) * job.num_walks, job.length), DEAD, np.uint32)
    travelled = 0
    for number, (walkers, moved) in enumerate(visits):
        paths[walkers & SLOT, number // parts] = walkers >> np.uint64(32)
        travelled += moved + walkers.nbytes
    return job.walk(Transitions(None, paths.ravel(), None), starts), travelled

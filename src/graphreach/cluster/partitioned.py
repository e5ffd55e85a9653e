"""A graph in parts, each in a worker of its own; walkers travel between them in batches, step by step."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach._version import __version__
from graphreach.cluster.jobs import Job
from graphreach.cluster.layout import Layout, alive, slices
from graphreach.cluster.partitioned_graph import PartitionedGraph, Shard, part_bounds, shard_of
from graphreach.cluster.replicated import check_version, use_one_thread
from graphreach.cluster.use import ClusterUse, size_of
from graphreach.cluster.walker_kernels import by_part, first_walkers, keep_wanted, move, note_visits
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.walks.kernels import DEAD

WAVE_STEPS = 1 << 23
"""Steps of the walkers that travel together; bounds the memory they need."""

WAVE_BYTES = 1 << 26
"""Bytes of a wave's result."""

WAVES = 3
"""Waves at a time, so that a part has work while it waits for walkers from the others."""


class Part:
    """One part of a graph, in a worker. Methods depend on their arguments alone, so Ray may repeat them anywhere."""

    def __init__(self, version: str, part: int, bounds: Sequence[int]) -> None:
        self.version, self.part, self.bounds = version, part, np.array(bounds, np.uint64)
        self.shard: Shard | None = None

    def load(self, source: Any) -> Shard:
        """The part's rows; fetched by the first call, also of a worker that takes the place of a lost one."""
        if self.shard is None:
            check_version(self.version)
            use_one_thread()
            self.shard = source.shard(self.part) if isinstance(source, PartitionedGraph) else _get(source)
            for array in self.shard[1:]:
                if array is not None:
                    array.flags.writeable = False  # as in shared memory: one version of each kernel
        return self.shard

    def advance(
        self, source: Any, job: Job, starts: NDArray[np.uint32], step: int, *arrived: NDArray[np.uint64]
    ) -> Any:
        """Take the walkers that have arrived (at the first step those that start here) one step further.

        Returns:
            A batch of walkers for each part, unless this was the last step, and with them what was visited and how many
            bytes travel to other parts.
        """
        low, *rows = self.load(source)
        high = int(self.bounds[self.part + 1])
        starts = starts.copy()
        walkers = first_walkers(starts, job.num_walks, low, high) if step == 1 else np.concatenate(arrived)
        move(*rows, low, walkers, starts, job.num_walks, job.seed, step)
        sorted_walkers, begin = by_part(walkers, self.bounds)
        visits = sorted_walkers if job.wanted is None else keep_wanted(sorted_walkers, job.wanted)
        if step == job.length:
            return visits, 0
        batches = [sorted_walkers[begin[p] : begin[p + 1]] for p in range(len(begin) - 1)]
        travelling = sorted_walkers.nbytes - batches[self.part].nbytes
        return (*batches, (visits, travelling))

    def memory(self) -> dict[str, int]:
        """Bytes of the part, and the peak of the whole process."""
        import resource

        return {"graph": size_of(self.shard or ()), "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


class Partitioned(Layout):
    """Workers that each hold a part of the graph."""

    def __init__(self, graph: Graph | PartitionedGraph, partitions: int | None, use: ClusterUse) -> None:
        import ray

        super().__init__(graph.num_nodes, use)
        self.graph = graph
        self.bounds = graph.bounds if isinstance(graph, PartitionedGraph) else part_bounds(graph, partitions or 1)
        use.partitions = len(self.bounds) - 1
        actor = ray.remote(max_restarts=-1, max_task_retries=-1, allow_out_of_order_execution=True)(Part)
        self.parts: list[Any] = []
        self.sources: list[Any] = []
        for part, place in enumerate(_places(use.partitions)):
            self.parts.append(actor.options(scheduling_strategy=place).remote(__version__, part, self.bounds))
            self.sources.append(self._source(part))

    def map(self, job: Job, starts: NDArray[np.uint32], description: str) -> Iterator[tuple[int, Any]]:
        """The job's results for waves of starts, in order."""
        import ray

        shared = ray.put(job)
        self.use.bytes_moved += size_of(list(vars(job).values())) * self.use.nodes
        collect = ray.remote(num_cpus=1, max_retries=-1)(collect_here)

        def submit(rows: slice) -> Any:
            here = ray.put(starts[rows])
            visits = self._travel(job, shared, here)
            self.use.tasks += len(visits) + 1
            return collect.remote(shared, here, len(self.parts), *visits)

        size = max(1, min(WAVE_STEPS // job.steps, WAVE_BYTES // max(1, job.row_bytes)))
        for rows, (result, travelled) in self.in_order(submit, slices(len(starts), size), WAVES, description):
            self.use.bytes_moved += travelled
            yield rows.start, result

    def _travel(self, job: Job, shared: Any, starts: Any) -> list[Any]:
        """Let the walkers of a wave take all steps; returns what they visited, by step and part."""
        parts = len(self.parts)
        visits: list[Any] = []
        batches: list[list[Any]] = [[] for _ in self.parts]
        for step in range(1, job.length + 1):
            last = step == job.length
            returns = 1 if last else parts + 1
            results = [
                part.advance.options(num_returns=returns).remote(source, shared, starts, step, *arrived)
                for part, source, arrived in zip(self.parts, self.sources, batches, strict=True)
            ]
            if last:
                return visits + results
            visits += [result[-1] for result in results]
            batches = [[result[p] for result in results] for p in range(parts)]
        return visits

    def columns(
        self, compute: Callable[..., Any], powers: Any, pieces: Sequence[NDArray[Any]], description: str
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
        return [ray.put(shard)]


def _get(boxed: list[Any]) -> Any:
    """What is behind the one reference in a list; a bare one Ray would look up before every call."""
    import ray

    return ray.get(boxed[0])


def _places(parts: int) -> list[Any]:
    """A node for each part, in turn; another one if it is lost."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = sorted(node["NodeID"] for node in alive(ray.nodes()))
    return [NodeAffinitySchedulingStrategy(nodes[part % len(nodes)], soft=True) for part in range(parts)]


def collect_here(job: Job, starts: NDArray[np.uint32], parts: int, *visits: Any) -> tuple[Any, int]:
    """The result of a wave from what its walkers visited, and the bytes that travelled; in a worker."""
    use_one_thread()
    starts = starts.copy()
    paths = np.full((len(starts) * job.num_walks, job.length), DEAD, np.uint32)
    travelled = 0
    for number, (walkers, moved) in enumerate(visits):
        note_visits(walkers, number // parts + 1, paths)
        travelled += moved + walkers.nbytes
    return job.replay(paths.reshape(len(starts), job.num_walks, job.length), starts), travelled

"""What workers do, without Ray: parts that hand walkers on give what walking on the whole graph gives."""

import numpy as np
import pytest

from graphreach import __version__
from graphreach.anchors.bipartite import CollectVisits
from graphreach.anchors.select_anchors import CountReached
from graphreach.cluster.partitioned import Part, collect_here
from graphreach.cluster.partitioned_graph import part_bounds, write_partitions
from graphreach.reachability.sampled import CountFromAnchors, Counting, CountToAnchors
from graphreach.walks.engine import transitions
from graphreach.walks.kernels import bitmap
from graphreach.walks.random_walks import StoreWalks
from helpers import KIND_NAMES, KINDS, random_graph
from ray_nodes import same_bits

ANCHORS = np.array([7, 3, 41])
WALKS = {"num_walks": 6, "length": 5, "seed": 11}

GROUPS, GROUP_OF_PART = [0, 1, 3], [0, 1, 1]


def jobs(num_nodes):
    yield StoreWalks(**WALKS, dtype=np.int32)
    yield CollectVisits(**WALKS, num_samples=5, share=0.3)
    yield CountReached(**WALKS, wanted=bitmap(ANCHORS, num_nodes))
    for similarity, hops in (("frequency", None), ("order", None), ("frequency", 5)):
        counting = Counting(similarity, 6, 5, hops)
        for compressed in (False, True):
            yield CountToAnchors.make(ANCHORS, num_nodes, counting, WALKS["seed"], compressed)
        yield CountFromAnchors.make(counting, WALKS["seed"])


def by_parts(parts, stored, job, starts):
    """What :class:`Partitioned` asks of its workers, one call after the other."""
    visits, batches = [], [[] for _ in parts]
    for step in range(1, job.length + 1):
        results = [
            part.advance(stored, job, starts, step, *arrived) for part, arrived in zip(parts, batches, strict=True)
        ]
        if step == job.length:
            return collect_here(job, starts, len(parts), *visits, *results)
        visits += [result[-1] for result in results]
        batches = [[result[group] for result in results] for group in GROUP_OF_PART]
    return None


def assert_same(found, expected):
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, int):
        assert found == expected
    else:
        assert same_bits(found, expected)


@pytest.mark.parametrize(("directed", "weighted"), KINDS, ids=KIND_NAMES)
def test_parts_give_what_the_whole_graph_gives(directed, weighted, tmp_path):
    graph = random_graph(60, 90, directed, weighted)  # with dead ends
    stored = write_partitions(graph, tmp_path, 3)
    starts = np.array([5, 59, 0, 33, 5, 41], np.uint32)
    parts = [Part(__version__, part, part_bounds(graph, 3), GROUPS) for part in range(3)]
    for job in jobs(60):
        result, travelled = by_parts(parts, stored, job, starts)
        assert_same(result, job.walk(transitions(graph), starts))
        assert travelled > 0


def test_a_call_can_be_repeated(tmp_path):
    """Ray repeats calls after a failure: the arguments must be as they were."""
    graph = random_graph(60, 200)
    stored = write_partitions(graph, tmp_path, 2)
    parts = [Part(__version__, part, stored.bounds, [0, 1, 2]) for part in range(2)]
    job, starts = next(jobs(60)), np.arange(60, dtype=np.uint32)
    first = [part.advance(stored, job, starts, 1) for part in parts]
    arrived = [result[1] for result in first]
    for batch in arrived:
        batch.walkers.flags.writeable = False
    once, again = (parts[1].advance(stored, job, starts, 2, *arrived) for _ in range(2))
    assert_same(once, again)
    assert once[0].walkers.nbytes == once[2][1]  # what leaves for the other part


def test_memory_is_that_of_the_part(tmp_path):
    graph = random_graph(1000, 8000)
    stored = write_partitions(graph, tmp_path, 4)
    whole = graph.indptr.nbytes + graph.indices.nbytes
    for part in range(4):
        worker = Part(__version__, part, stored.bounds, [0, 4])
        worker.load(stored)
        assert worker.memory()["graph"] < 0.3 * whole

"""Workers and nodes that are lost in the middle: the same result bit for bit."""

import errno

import pytest

import graphreach as gr
from graphreach.cluster import Ray, connected, partitioned, replicated
from graphreach.cluster.connection import explained
from helpers import random_graph
from ray_nodes import same_bits

OPTIONS = {"walk_length": 8, "num_walks": 20, "seed": 3}
ANCHORS = [5, 3, 77, 120]


@pytest.fixture(scope="module")
def nodes(three_nodes):
    with connected(three_nodes.address):
        yield three_nodes


@pytest.fixture
def graph():
    return random_graph(1000, 3000, weighted=True)


@pytest.fixture
def after_results(monkeypatch):
    """Make small tasks, and do something when some of their results are there and others are under way."""
    monkeypatch.setattr(replicated, "PIECE_STEPS", 20 * 8 * 20)
    monkeypatch.setattr(partitioned, "LEAST_STEPS", 20 * 8 * 100)
    taken, take = [], replicated.take

    def register(number, action):
        def counted(waiting):
            result = take(waiting)
            taken.append(result)
            if len(taken) == number:
                assert waiting, "nothing is under way any more"
                taken.append(action())
            return result

        monkeypatch.setattr(replicated, "take", counted)
        return taken

    return register


@pytest.mark.parametrize(("partitions", "titles"), [(None, ("call_here", "IDLE")), (3, ("Part",))])
def test_killed_workers_in_the_middle_of_walks(nodes, graph, after_results, partitions, titles):
    killed = []
    after_results(3, lambda: killed.append(nodes.kill_workers(titles)))
    walks = gr.random_walks(graph, **OPTIONS, engine=Ray(partitions=partitions))
    assert killed[0] > 0
    assert same_bits(walks, gr.random_walks(graph, **OPTIONS))


@pytest.mark.parametrize("partitions", [None, 3])
def test_a_node_lost_in_the_middle_of_reachability(nodes, graph, after_results, partitions):
    nodes.grow(3)
    lost = []
    after_results(3, lambda: lost.append(nodes.remove_one()))
    there = gr.reachability(graph, ANCHORS, **OPTIONS, engine=Ray(partitions=partitions))
    assert len(lost) == 1
    here = gr.reachability(graph, ANCHORS, **OPTIONS)
    assert same_bits(there.to_anchors, here.to_anchors)
    assert same_bits(there.from_anchors, here.from_anchors)


def raised_by_task(error):
    import ray

    def fail():
        raise error

    with explained():
        ray.get(ray.remote(fail).remote())


def test_a_full_disk_of_a_worker(nodes):
    with pytest.raises(gr.InputError, match="the disk of a node of the cluster is full"):
        raised_by_task(OSError(errno.ENOSPC, "No space left on device"))


def test_a_node_without_graphreach(nodes):
    with pytest.raises(gr.InputError, match="every node of the cluster must have graphreach installed"):
        raised_by_task(ModuleNotFoundError("No module named 'graphreach'"))


def test_other_errors_stay_as_they_are(nodes):
    with pytest.raises(ZeroDivisionError):
        raised_by_task(ZeroDivisionError("division by zero"))


def test_full_stores():
    exceptions = pytest.importorskip("ray", reason="ray is not installed").exceptions
    with pytest.raises(gr.InputError, match="the disk of a node"), explained():
        raise exceptions.OutOfDiskError("full")
    with pytest.raises(gr.InputError, match="the object store of a node"), explained():
        raise exceptions.ObjectStoreFullError("full")


def test_another_version_on_a_node():
    with pytest.raises(gr.InputError, match=r"must have graphreach 9\.9, but one has"):
        replicated.check_version("9.9")

"""The same walks, anchors and reachability bit for bit, on any number of workers and in both layouts."""

import pytest

import graphreach as gr
from graphreach.cluster import ClusterUse, Ray, connected, replicated, write_partitions
from helpers import KIND_NAMES, KINDS, random_graph
from ray_nodes import Nodes, same_bits

OPTIONS = {"walk_length": 5, "num_walks": 20, "seed": 3}
REACH = {
    "frequency": {},
    "order": {"similarity": "order"},
    "hops-csr": {"hops": 3, "layout": "csr"},
    "exact": {"method": "exact"},
    "exact-csr": {"method": "exact", "layout": "csr"},
    "exact-order": {"method": "exact", "similarity": "order"},
    "exact-hops": {"method": "exact", "hops": 3},
}


@pytest.fixture(scope="module", autouse=True)
def connection():
    """A cluster that grows with the tests."""
    cluster = Nodes()
    with connected(cluster.address):
        with pytest.raises(gr.InputError, match="must have a node with a CPU"):
            gr.random_walks(random_graph(5, 5), engine="ray")
        cluster.grow(1)
        yield cluster
    cluster.shutdown()


@pytest.fixture
def nodes(connection):
    return connection


def assert_same_walks(graph, **where):
    assert same_bits(gr.random_walks(graph, **OPTIONS, **where), gr.random_walks(graph, **OPTIONS))


def assert_same_anchors(graph, strategy="greedy", num_starts=None, **where):
    here, there = (
        gr.select_anchors(graph, 9, strategy, num_starts=num_starts, **OPTIONS, **place) for place in ({}, where)
    )
    assert same_bits(there.anchors, here.anchors)
    for name in ("coverage", "upper_bound", "coverage_lower", "num_starts"):
        assert getattr(there, name) == getattr(here, name)


def assert_same_reach(graph, name, **where):
    anchors = [5, 3, 77, 120]
    here, there = (gr.reachability(graph, anchors, **(OPTIONS | REACH[name]), **place) for place in ({}, where))
    assert same_bits(there.to_anchors, here.to_anchors)
    assert same_bits(there.from_anchors, here.from_anchors)


@pytest.fixture(params=KINDS, ids=KIND_NAMES)
def graph(request):
    return random_graph(200, 300, *request.param)  # with nodes that have no way out


def test_replicated(graph):
    assert_same_walks(graph, engine="ray")
    for strategy, num_starts in (("greedy", None), ("greedy", 60), ("degree", 60)):
        assert_same_anchors(graph, strategy, num_starts, engine="ray")
    for name in REACH:
        assert_same_reach(graph, name, engine="ray")


@pytest.mark.parametrize(
    "graph", [(False, False), (True, True)], ids=["undirected", "directed-weighted"], indirect=True
)
def test_partitioned(graph):
    """Everything else that walks are made for is tested without Ray, in test_jobs.py, and there on all kinds of graphs."""
    assert_same_walks(graph, engine=Ray(partitions=2))
    assert_same_anchors(graph, engine=Ray(partitions=2))
    assert_same_reach(graph, "hops-csr", engine=Ray(partitions=2))


def test_a_graph_on_disk(tmp_path):
    graph = random_graph(200, 300, directed=True, weighted=True)
    stored = write_partitions(graph, tmp_path, 2)
    assert same_bits(gr.random_walks(stored, **OPTIONS, engine="ray"), gr.random_walks(graph, **OPTIONS))
    there, here = (
        gr.select_anchors(each, 9, **OPTIONS, engine=engine) for each, engine in ((stored, "ray"), (graph, "local"))
    )
    assert same_bits(there.anchors, here.anchors)
    assert (there.coverage, there.upper_bound) == (here.coverage, here.upper_bound)
    there = gr.reachability(stored, here, **OPTIONS, engine="ray", method="auto")
    here = gr.reachability(graph, here, **OPTIONS)
    assert same_bits(there.to_anchors, here.to_anchors)
    assert same_bits(there.from_anchors, here.from_anchors)


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
def test_any_number_of_workers(nodes, workers):
    nodes.grow(workers)
    graph = random_graph(200, 300, directed=True, weighted=True)
    assert_same_walks(graph, engine="ray")
    assert_same_anchors(graph, engine="ray")
    for partitions in (None, workers):
        engine = Ray(partitions=partitions)
        assert_same_reach(graph, "frequency", engine=engine)
        assert engine.last_use.nodes == engine.last_use.cores == workers
    assert_same_reach(graph, "exact", engine="ray")


def test_what_was_used(nodes):
    graph = random_graph(200, 300)
    engine = Ray()
    assert engine.last_use is None
    gr.random_walks(graph, **OPTIONS, engine=engine)
    replicated_use = engine.last_use
    walks = 200 * 20 * 6 * 4
    graph_size = graph.indptr.nbytes + graph.indices.nbytes
    assert replicated_use == ClusterUse(
        nodes=len(nodes.workers),
        cores=len(nodes.workers),
        tasks=replicated_use.tasks,
        bytes_moved=len(nodes.workers) * graph_size + walks,
    )
    assert replicated_use.tasks >= len(nodes.workers)
    engine = Ray(partitions=2)
    gr.random_walks(graph, **OPTIONS, engine=engine)
    assert engine.last_use.partitions == 2
    assert engine.last_use.bytes_moved > walks


def test_too_little_memory_for_the_whole_graph(monkeypatch):
    monkeypatch.setattr(replicated, "STORE_SHARE", 1e-6)
    with pytest.raises(gr.InputError, match=r"every node needs .* MB of its object store .* pass partitions"):
        gr.random_walks(random_graph(200, 300), **OPTIONS, engine="ray")


def test_a_folder_that_workers_cannot_read(tmp_path):
    stored = write_partitions(random_graph(200, 300), tmp_path, 2)
    (tmp_path / "part-00001.npz").unlink()
    with pytest.raises(gr.InputError, match="must be readable on every node"):
        gr.random_walks(stored, **OPTIONS, engine="ray")

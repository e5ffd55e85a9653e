"""A Ray cluster of several nodes on this machine, against this process alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphreach as gr
from benchmarks.harness import Row, alternate, ratios, summary, timed
from benchmarks.rmat import rmat_graph
from benchmarks.walks import nodes_with_neighbours

WALK_LENGTH = 20
# A lost node is noticed after at most five seconds, not half a minute.
HEALTH = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 1000, "health_check_failure_threshold": 5}
NOTE = "All nodes are on this machine, each with an object store of its own and one CPU; the driver's node has none."


@contextmanager
def ray_nodes(count: int, quick: bool) -> Iterator[Any]:
    """A cluster of nodes of one CPU on loopback, and a connection to it."""
    from ray.cluster_utils import Cluster

    node = {"object_store_memory": (1 if quick else 15) * 10**8, "node_ip_address": "127.0.0.1"}
    head = {**node, "num_cpus": 0, "include_dashboard": False, "_system_config": HEALTH}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(count):
            cluster.add_node(num_cpus=1, **node)
        with gr.cluster.connected(cluster.address):
            yield cluster
    finally:
        cluster.shutdown()


class Work:
    """The graph, and what is computed on it here or on the cluster."""

    def __init__(self, quick: bool) -> None:
        self.scale = 12 if quick else 20
        self.graph = rmat_graph(self.scale)
        self.anchors = np.random.default_rng(0).choice(nodes_with_neighbours(self.graph), 100, replace=False)

    def walks(self, **place: Any) -> NDArray[Any]:
        """Ten stored walks from each node."""
        return gr.random_walks(self.graph, num_walks=10, walk_length=WALK_LENGTH, **place)

    def reach(self, **place: Any) -> gr.Reachability:
        """Reachability to and from 100 anchors by fifty walks from each node."""
        return gr.reachability(self.graph, self.anchors, walk_length=WALK_LENGTH, layout="dense", **place)

    def both(self) -> dict[str, Callable[..., Any]]:
        """What is measured, by name."""
        return {"walks": self.walks, "reachability": self.reach}

    @property
    def sizes(self) -> dict[str, Any]:
        """Sizes of the graph and of the walks."""
        size = {"nodes": self.graph.num_nodes, "edges": self.graph.num_edges}
        return {**size, "anchors": len(self.anchors), "walk_length": WALK_LENGTH}

    @property
    def graph_bytes(self) -> int:
        """Bytes of the whole graph."""
        return self.graph.indptr.nbytes + self.graph.indices.nbytes


def replicated(quick: bool) -> list[Row]:
    """Two workers of one core against two threads."""
    work = Work(quick)
    rows = []
    with ray_nodes(2, quick):
        for name, function in work.both().items():
            check_same(function(), function(engine="ray"))
            sides = {"local": function, "ray": lambda function=function: function(engine="ray")}
            seconds = alternate(sides, rounds=3, warm_up=False)
            rows.append(
                Row(
                    f"{name}, replicated on 2 workers of 1 core, against local with 2 threads, R-MAT 2^{work.scale}",
                    "at least",
                    0.7,
                    ratios(seconds["local"], seconds["ray"])["of_medians"],
                    sizes=work.sizes,
                    raw={
                        "use": gr.cluster.last_use().as_dict(),
                        **{side: summary(values) for side, values in seconds.items()},
                    },
                    notes=[NOTE],
                )
            )
    return rows


def partitioned(quick: bool) -> list[Row]:
    """Four parts against the replicated layout, both on two workers' cores; and the memory of a part's worker."""
    work = Work(quick)
    with ray_nodes(2, quick) as cluster:
        whole, parts = (work.reach(engine="ray", partitions=count) for count in (None, 4))
        check_same(whole, parts)
        del whole, parts
        sides = {
            "replicated": lambda: work.reach(engine="ray"),
            "partitioned": lambda: work.reach(engine="ray", partitions=4),
        }
        seconds = alternate(sides, rounds=1 if quick else 2, warm_up=False)
        use = gr.cluster.last_use().as_dict()
        memory = workers_memory(work, cluster.address)
    return [
        Row(
            f"reachability, 4 partitions, against replicated, R-MAT 2^{work.scale}",
            "at least",
            0.1,
            ratios(seconds["replicated"], seconds["partitioned"])["of_medians"],
            sizes=work.sizes,
            raw={"use": use, **{side: summary(values) for side, values in seconds.items()}},
            notes=[NOTE],
        ),
        Row(
            f"memory that a worker of 4 partitions takes for its part and its walkers, R-MAT 2^{work.scale}",
            "at most",
            0.35,
            max(memory["growth"]) / work.graph_bytes,
            "of the whole graph",
            sizes={**work.sizes, "graph_bytes": work.graph_bytes},
            raw=memory,
            notes=[
                "Growth of the worker's peak resident memory over that of a worker that did the same on a few nodes."
            ],
        ),
    ]


def workers_memory(work: Work, address: str) -> dict[str, list[int]]:
    """Bytes of each worker's part, and how far its peak is above that of a worker with hardly any graph."""
    import ray

    from graphreach.cluster.layout import laid_out
    from graphreach.reachability.sampled import Counting

    counting = Counting("frequency", 50, WALK_LENGTH, None)

    def measured(graph: gr.Graph, anchors: NDArray[Any]) -> list[dict[str, int]]:
        with laid_out(graph, address, 4) as layout:
            layout.to_anchors(anchors, counting, 0, "dense")
            found: list[dict[str, int]] = ray.get([part.memory.remote() for part in layout.parts])  # type: ignore
        return found

    small = rmat_graph(8)
    base = max(part["peak"] for part in measured(small, nodes_with_neighbours(small)[:100]))
    parts = measured(work.graph, work.anchors)
    return {"part": [each["graph"] for each in parts], "growth": [each["peak"] - base for each in parts]}


def lost_node(quick: bool) -> list[Row]:
    """One of three nodes is killed in the middle."""
    work = Work(quick)
    expected = work.reach()
    with ray_nodes(3, quick) as cluster:
        work.reach(engine="ray")
        undisturbed = timed(lambda: work.reach(engine="ray"))
        victim = next(iter(cluster.worker_nodes))
        killer = threading.Timer(undisturbed / 2, cluster.remove_node, (victim, False))
        killer.start()
        found: list[gr.Reachability] = []
        disturbed = timed(lambda: found.append(work.reach(engine="ray")))
        killer.join()
    check_same(expected, found[0])
    return [
        Row(
            f"reachability with one of 3 nodes killed half-way, against undisturbed, R-MAT 2^{work.scale}",
            "at most",
            2,
            disturbed / undisturbed,
            sizes=work.sizes,
            raw={"undisturbed": undisturbed, "disturbed": disturbed},
            notes=["The result is the same bit for bit.", NOTE],
        )
    ]


def check_same(one: Any, other: Any) -> None:
    """Refuse to measure what does not give the same result."""
    pairs = [(one, other)]
    if isinstance(one, gr.Reachability):
        pairs = [(getattr(one, name), getattr(other, name)) for name in ("to_anchors", "from_anchors")]
    if not all(np.array_equal(a, b) for a, b in pairs):
        raise RuntimeError("both sides must give the same numbers")


BENCHMARKS = {
    "cluster-replicated": replicated,
    "cluster-partitioned": partitioned,
    "cluster-lost-node": lost_node,
}

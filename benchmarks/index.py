"""Reachability kept up to date against computing it anew: batches of random edges, streams of single edges, memory."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphreach as gr
from benchmarks.harness import Row, peak_gigabytes, summary, timed
from benchmarks.rmat import rmat_graph, uniform_edges
from graphreach.index.visit_lists import COUNT

SETTINGS: dict[str, Any] = {"num_walks": 50, "walk_length": 10}
ANCHORS = 128
SINGLE = 1000
BARS = {1: 10_000, 1000: 500, 100_000: 8}
"""How many times faster than computing anew a batch of so many edges shall be."""

RATES = {"uniform": 2000, "R-MAT": 500}
"""Edges per second, one at a time."""


def batches(quick: bool) -> list[Row]:
    """Random pairs of nodes become edges of a large graph: one, a thousand, a hundred thousand at a time."""
    scale, single = (12, 20) if quick else (20, SINGLE)
    graph = rmat_graph(scale)
    anchors = gr.select_anchors(graph, ANCHORS, **SETTINGS).anchors
    sizes = {"nodes": graph.num_nodes, "edges": graph.num_edges, "anchors": len(anchors), **SETTINGS}
    rows = []
    for steady in (False, True):
        rng = np.random.default_rng(0)
        _warm_up(graph.num_nodes, steady)
        started = time.perf_counter()
        index = gr.ReachIndex(graph, anchors, **SETTINGS, steady=steady)
        raw: dict[str, Any] = {"steady": steady, "made_seconds": time.perf_counter() - started}
        seconds, walks, anew = {}, {}, [_anew(graph, anchors)]
        for size in BARS:
            times = single if size == 1 else 3 if size == 1000 else 1
            listed = rng.integers(0, graph.num_nodes, (times, 4 if quick and size > 1 else size, 2))
            if size == 1:
                raw["fewest_walks"] = statistics.mean(_fewest(index, edges) for edges in listed)
            found = [_update(index, edges) for edges in listed]
            seconds[size], walks[size] = [each[0] for each in found], statistics.mean(each[1] for each in found)
            anew.append(_anew(graph, anchors))
        again = gr.reachability(index.graph, anchors, **SETTINGS, layout="dense")
        if not steady:  # of steady walks those of an index made anew are the same, as the tests say
            reach = index.reachability()
            for name in ("to_anchors", "from_anchors"):
                if not np.array_equal(getattr(reach, name), getattr(again, name)):
                    raise AssertionError(f"{name} differs from what is computed anew")
        raw |= {
            "anew_seconds": summary(anew), "update_seconds": {str(size): summary(s) for size, s in seconds.items()},
            "walks_that_go_elsewhere": {str(size): count for size, count in walks.items()},
            "bytes_per_step": index.bytes_per_step, "peak_gigabytes": peak_gigabytes(),
        }  # fmt: skip
        rows += _batch_rows(scale, steady, sizes, raw, seconds, statistics.median(anew), index.bytes_per_step)
        del index
    return rows


def _batch_rows(
    scale: int, steady: bool, sizes: dict[str, Any], raw: dict[str, Any], seconds: dict[int, list[float]], anew: float,
    memory: float,
) -> list[Row]:  # fmt: skip
    kind = "steady walks" if steady else "walks"
    where = f"R-MAT, 2^{scale} nodes, {SETTINGS['num_walks']} {kind} of {SETTINGS['walk_length']} steps"
    rows = []
    for size, bar in BARS.items():
        what = "one random edge" if size == 1 else f"{size:,} random edges"
        measured = anew / statistics.mean(seconds[size])
        first = size == 1
        rows.append(
            Row(
                f"`ReachIndex.update` with {what} against `gr.reachability` anew, {where}", "at least", bar, measured,
                sizes=sizes, raw=raw if first else {},
            )
        )  # fmt: skip
    rows.append(Row(f"memory of the index, {where}", "at most", 8, memory, unit="bytes per stored step", sizes=sizes))
    return rows


def _warm_up(num_nodes: int, steady: bool) -> None:
    """Compile, for the type of positions that a graph of this size has."""
    small = gr.Graph.from_edges([[0, 1, 2], [1, 2, 3]], num_nodes=num_nodes if num_nodes <= 2**16 else 2**16 + 1)
    index = gr.ReachIndex(small, [0], num_walks=2, walk_length=3, steady=steady)
    index.update(add=np.array([[0, 2], [4, 9]]))
    gr.reachability(small, [0], num_walks=2, walk_length=3)


def _anew(graph: gr.Graph, anchors: NDArray[Any]) -> float:
    return timed(lambda: gr.reachability(graph, anchors, **SETTINGS, layout="dense"))


def _update(index: gr.ReachIndex, edges: NDArray[Any]) -> tuple[float, int]:
    """Seconds of an update, and how many walks go elsewhere."""
    started = time.perf_counter()
    update = index.update(add=edges)
    return time.perf_counter() - started, update.walks


def _fewest(index: gr.ReachIndex, edges: NDArray[Any]) -> float:
    """How many walks a coupling as FIRM's would move: of those that leave an end with d neighbours, one in d + 1."""
    visits = index._walks.lists.head[edges.ravel(), COUNT] + SETTINGS["num_walks"]
    return float((visits / (index._walks.rows.targets.head[edges.ravel(), 1] + 1)).sum())


def streams(quick: bool) -> list[Row]:
    """Random edges one at a time, as fast as they can be taken in."""
    scale, count = (10, 50) if quick else (17, 4000)
    nodes, rows = 1 << scale, []
    graphs = {
        "uniform": lambda: gr.Graph.from_edges(uniform_edges(nodes, 16 * nodes), num_nodes=nodes),
        "R-MAT": lambda: rmat_graph(scale),
    }
    for name, make in graphs.items():
        graph = make()
        anchors = gr.select_anchors(graph, ANCHORS, **SETTINGS).anchors
        sizes = {"nodes": nodes, "edges": graph.num_edges, "anchors": len(anchors), "updates": count, **SETTINGS}
        for steady in (False, True):
            index = gr.ReachIndex(graph, anchors, **SETTINGS, steady=steady)
            edges = np.random.default_rng(1).integers(0, nodes, (count + 50, 1, 2))
            for edge in edges[:50]:
                index.update(add=edge)
            started = time.perf_counter()
            walks = statistics.mean(index.update(add=edge).walks for edge in edges[50:])
            seconds = time.perf_counter() - started
            kind = "steady walks" if steady else "walks"
            rows.append(
                Row(
                    f"`ReachIndex.update`, one edge at a time, {name} graph, 2^{scale} nodes, {kind}", "at least",
                    RATES[name], count / seconds, unit="edges per second", sizes=sizes,
                    raw={"seconds": seconds, "walks_that_go_elsewhere": walks, "bytes_per_step": index.bytes_per_step},
                )
            )  # fmt: skip
    return rows


def exact(quick: bool) -> list[Row]:
    """Exact powers under single edges: what is passed on of a change, against computing all powers anew."""
    side = 20 if quick else 300
    nodes = np.arange(side * side).reshape(side, side)
    ends = [
        np.concatenate([nodes[:, :-1].ravel(), nodes[:-1].ravel()]),
        np.concatenate([nodes[:, 1:].ravel(), nodes[1:].ravel()]),
    ]
    graph, rng, rows = gr.Graph.from_edges(ends), np.random.default_rng(0), []
    anchors = gr.select_anchors(graph, ANCHORS, **SETTINGS).anchors
    anew = [timed(lambda: gr.reachability(graph, anchors, "exact", walk_length=10)) for _ in range(3)]
    for tolerance in (1e-6, 1e-4):
        index = gr.ReachIndex(graph, anchors, "exact", walk_length=10, tolerance=tolerance)
        corners = rng.integers(0, graph.num_nodes - side - 1, (50, 1))
        edges = np.concatenate([corners, corners + side + 1], axis=1)[:, None]
        index.update(add=edges[0])
        seconds = [_update(index, edge)[0] for edge in edges[1:]]
        error = np.abs(
            index.to_anchors() - gr.reachability(index.graph, anchors, "exact", walk_length=10).to_anchors
        ).max()
        raw = {
            "anew_seconds": summary(anew),
            "update_seconds": summary(seconds),
            "bound": index.error_bound,
            "error": float(error),
        }
        what = f"`ReachIndex(method='exact', tolerance={tolerance:g})`, one edge in a grid of {side} x {side}, against anew"
        rows.append(Row(what, "at least", 100, statistics.median(anew) / statistics.mean(seconds), raw=raw))
    return rows


BENCHMARKS = {"index-batches": batches, "index-streams": streams, "index-exact": exact}

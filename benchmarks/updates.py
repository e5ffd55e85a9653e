"""Graphs that change: one random edge added to a large graph against building that graph anew."""

from __future__ import annotations

import statistics

import numpy as np

import graphreach as gr
from benchmarks.harness import Row, alternate, peak_gigabytes, summary, timed
from benchmarks.rmat import rmat_edges

SCALE = 20
UPDATES = 1000


def graph_updated(quick: bool) -> list[Row]:
    """Median of single-edge updates against the median of building from the arrays of edges."""
    scale, updates = (12, 50) if quick else (SCALE, UPDATES)
    edges = rmat_edges(scale)
    graph = gr.Graph.from_edges(edges, num_nodes=1 << scale)
    added = np.random.default_rng(0).integers(0, 1 << scale, (updates, 1, 2))
    graph.updated(add=added[0]).indices  # noqa: B018 -- kernels are compiled and ids looked at
    single = [timed(lambda edge=edge: graph.updated(add=edge)) for edge in added]
    chained, chain = graph, []
    for edge in added:
        before = chained
        chain.append(timed(lambda edge=edge, before=before: before.updated(add=edge)))
        chained = before.updated(add=edge)
    sides = {
        "anew": lambda: gr.Graph.from_edges(np.concatenate([edges, added[0].T], axis=1), num_nodes=1 << scale),
        "joined": lambda: graph.updated(add=added[0]).indices,
    }
    seconds = alternate(sides, rounds=1 if quick else 3)
    raw = {
        "updated": {"median": statistics.median(single), "longest": max(single)},
        "updated_after_others": {"median": statistics.median(chain), "longest": max(chain)},
        **{name: summary(each) for name, each in seconds.items()},
        "peak_gigabytes": peak_gigabytes(),
    }
    what = f"`graph.updated` with one random edge against building the graph anew, R-MAT, 2^{scale} nodes"
    sizes = {"nodes": 1 << scale, "listed_edges": edges.shape[1], "edges": graph.num_edges, "updates": updates}
    anew, joined = raw["anew"]["median"], raw["joined"]["median"]
    return [
        Row(what, "at least", 1000, anew / raw["updated"]["median"], sizes=sizes, raw=raw),
        Row(
            f"the same, after up to {updates} such updates of which none was joined",
            "at least",
            1000,
            anew / raw["updated_after_others"]["median"],
            sizes=sizes,
        ),
        Row("the same, the arrays joined as well", "at least", 1, anew / joined, sizes=sizes),
    ]


BENCHMARKS = {"graph-updated": graph_updated}

"""Peak memory, from edges to reachability, in a process that does nothing else."""

from __future__ import annotations

from functools import partial

import numpy as np

import graphreach as gr
from benchmarks.harness import Row, peak_gigabytes
from benchmarks.rmat import rmat_edges


def peak(quick: bool, *, method: str, walk_length: int, bar: float) -> list[Row]:
    """Generate edges, build the graph, compute reachability to 400 anchors: the peak of all of it."""
    scale = 14 if quick else 20
    edge_index = rmat_edges(scale)
    drawn = edge_index.shape[1]
    generated = peak_gigabytes()
    graph = gr.Graph.from_edges(edge_index, num_nodes=1 << scale)
    del edge_index
    built = peak_gigabytes()
    anchors = np.argsort(-np.diff(graph.indptr.astype(np.int64)), stable=True)[:400]
    reach = gr.reachability(graph, anchors, method=method, num_walks=50, walk_length=walk_length)
    return [
        Row(
            f"peak memory with building the graph, R-MAT 2^{scale}, k = 400, {method}",
            "at most",
            bar,
            peak_gigabytes(),
            "GB",
            sizes={
                "nodes": graph.num_nodes,
                "edges_drawn": drawn,
                "edges_merged": graph.num_edges,
                "anchors": 400,
                "walk_length": walk_length,
            },
            raw={
                "gigabytes_after_generating": generated,
                "gigabytes_after_building": built,
                "layout": reach.layout,
            },
            notes=[
                "Peak resident size (ru_maxrss) in 10^9 bytes; the edges are generated in the same process.",
                "Anchors are the nodes of greatest degree, which fill most entries of a sparse layout.",
            ],
        )
    ]


BENCHMARKS = {
    "memory-exact": partial(peak, method="exact", walk_length=10, bar=8),
    "memory-walks": partial(peak, method="walks", walk_length=20, bar=4),
}

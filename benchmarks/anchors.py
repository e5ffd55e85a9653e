"""Greedy anchors against one pass of all walks."""

from __future__ import annotations

import numpy as np

import graphreach as gr
from benchmarks.harness import Row, alternate, ratios, summary
from benchmarks.rmat import rmat_graph
from benchmarks.walks import NUM_WALKS, WALK_LENGTH, walk_only


def greedy(quick: bool) -> list[Row]:
    """All five samples of walks and their consensus, against walks from every node that keep nothing."""
    scale = 14 if quick else 20
    graph = rmat_graph(scale)
    every = np.arange(graph.num_nodes, dtype=np.uint32)

    def select() -> gr.AnchorSet:
        return gr.select_anchors(graph, strategy="greedy", num_walks=NUM_WALKS, walk_length=WALK_LENGTH)

    chosen = select()
    sample = np.sort(np.random.default_rng(0).choice(every, chosen.num_starts, replace=False))
    seconds = alternate(
        {
            "pass": lambda: walk_only(graph, every, NUM_WALKS, WALK_LENGTH),
            "greedy": select,
            "pass_from_as_many_starts": lambda: walk_only(graph, sample, NUM_WALKS, WALK_LENGTH),
        },
        rounds=2 if quick else 5,
    )
    measured = ratios(seconds["greedy"], seconds["pass"])
    like_for_like = ratios(seconds["greedy"], seconds["pass_from_as_many_starts"])["of_medians"]
    return [
        Row(
            f"greedy anchors, R-MAT 2^{scale}, on a sample of {chosen.num_starts:,} starts, "
            f"against one pass of 50 walks of length 20 from all {graph.num_nodes:,} nodes",
            "at most",
            2,
            measured["of_medians"],
            sizes={
                "nodes": graph.num_nodes,
                "edges": graph.num_edges,
                "anchors": len(chosen),
                "starts_selected_on": chosen.num_starts,
                "num_walks": NUM_WALKS,
                "walk_length": WALK_LENGTH,
            },
            raw={
                "ratio_of_best": measured["of_best"],
                "ratio_to_a_pass_from_as_many_starts": like_for_like,
                "coverage": chosen.coverage,
                "coverage_lower": chosen.coverage_lower,
                "upper_bound": chosen.upper_bound,
                **{name: summary(values) for name, values in seconds.items()},
            },
            notes=[f"Against a pass from as many starts as it selects on: {like_for_like:.3g} times."],
        )
    ]


BENCHMARKS = {"anchors": greedy}

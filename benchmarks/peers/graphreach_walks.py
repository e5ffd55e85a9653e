"""Walks by graphreach, through the same protocol: graphreach_walks.py GRAPH NUM_WALKS JUMPS [--weighted]."""

from __future__ import annotations

import sys

import numpy as np
from protocol import serve

import graphreach as gr


def main() -> None:
    """Serve turns of random_walks, stored as ensmallen stores them, from every node with a neighbour."""
    path, num_walks, walk_length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    weighted = "--weighted" in sys.argv
    with open(path.removesuffix(".npz") + ".size") as file:
        num_nodes, num_directed_edges = map(int, file.read().split())
    stored = np.load(path)
    edge_index = stored["edge_index"].astype(np.int64)
    graph = gr.Graph.from_edges(
        edge_index, num_nodes=num_nodes, edge_weight=stored["edge_weight"] if weighted else None
    )
    starts = np.unique(edge_index)
    settings = {
        "engine": f"graphreach {gr.__version__}",
        "call": "random_walks",
        "nodes": num_nodes,
        "directed_edges": num_directed_edges,
        "weighted": weighted,
        "num_walks": num_walks,
        "walk_length_in_jumps": walk_length,
    }

    def make_walks(seed: int) -> np.ndarray:
        return gr.random_walks(graph, starts, num_walks=num_walks, walk_length=walk_length, seed=seed)

    # Undirected walks from nodes with neighbours never end early: a -1 would be a fault, not a shorter walk.
    def count_steps(walks: np.ndarray) -> int:
        assert walks[:, :, -1].min() >= 0
        return walks.shape[0] * walks.shape[1] * (walks.shape[2] - 1)

    serve(settings, make_walks, count_steps)


main()

"""Walks by ensmallen (Rust) in its own environment: ensmallen_walks.py GRAPH NUM_WALKS JUMPS [FLAGS]."""

from __future__ import annotations

import sys
from importlib.metadata import version

import numpy as np
from ensmallen import Graph
from protocol import serve


def read_graph(path: str, weighted: bool) -> Graph:
    """The graph of a sorted, complete edge list with numeric ids, the form that ensmallen loads fastest."""
    edges = path.removesuffix(".npz") + ".csv"
    with open(path.removesuffix(".npz") + ".size") as file:
        num_nodes, num_edges = map(int, file.read().split())
    columns = {"weights_column": "weight"} if weighted else {}
    return Graph.from_csv(
        edge_path=edges,
        edge_list_separator=",",
        edge_list_header=True,
        sources_column="source",
        destinations_column="target",
        number_of_nodes=num_nodes,
        number_of_edges=num_edges,
        numeric_node_ids=True,
        minimum_node_id=0,
        edge_list_numeric_node_ids=True,
        edge_list_is_complete=True,
        edge_list_is_sorted=True,
        edge_list_is_correct=True,
        edge_list_may_contain_duplicates=False,
        directed=False,
        verbose=False,
        **columns,
    )


def main() -> None:
    """Serve turns of complete_walks: every node that has a neighbour starts `num_walks` walks."""
    path, num_walks, walk_length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    weighted = "--weighted" in sys.argv
    # By default ensmallen looks at 100 random neighbours of a hub only: faster, but by weights not the same walk.
    limit = 2**31 if "--all-neighbours" in sys.argv else 100
    graph = read_graph(path, weighted)
    settings = {
        "engine": f"ensmallen {version('ensmallen')}",
        "call": f"complete_walks, first order, max_neighbours={limit}",
        "nodes": graph.get_number_of_nodes(),
        "directed_edges": graph.get_number_of_directed_edges(),
        "weighted": graph.has_edge_weights(),
        "num_walks": num_walks,
        "walk_length_in_jumps": walk_length,
    }

    def make_walks(seed: int) -> np.ndarray:
        # ensmallen counts nodes: a walk of 20 jumps has length 21.
        return graph.complete_walks(
            walk_length=walk_length + 1, iterations=num_walks, random_state=seed, max_neighbours=limit
        )

    serve(settings, make_walks, lambda walks: walks.shape[0] * (walks.shape[1] - 1))


main()

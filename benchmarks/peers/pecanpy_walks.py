"""Walks by PecanPy (numba), in its own environment: pecanpy_walks.py GRAPH NUM_WALKS JUMPS [--kernel]."""

from __future__ import annotations

import sys
from importlib.metadata import version

import numpy as np
from numba_progress import ProgressBar
from pecanpy.pecanpy import FirstOrderUnweighted
from protocol import serve
from scipy.sparse import csr_array


def read_graph(path: str) -> FirstOrderUnweighted:
    """PecanPy's fastest mode for p = q = 1, on the CSR arrays of the stored edges."""
    with open(path.removesuffix(".npz") + ".size") as file:
        num_nodes = int(file.read().split()[0])
    source, target = np.load(path)["edge_index"].astype(np.int64)
    row, column = np.concatenate([source, target]), np.concatenate([target, source])
    matrix = csr_array((np.ones(row.size, np.float32), (row, column)), shape=(num_nodes, num_nodes))
    graph = FirstOrderUnweighted(p=1, q=1, workers=2, random_state=1)
    graph.indptr, graph.indices = matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32)
    graph.data = matrix.data
    graph.set_node_ids([str(node) for node in range(num_nodes)])
    return graph


def serve_public(graph: FirstOrderUnweighted, num_walks: int, walk_length: int, settings: dict) -> None:
    """Serve simulate_walks, which users call; it compiles anew at every call and returns lists of ids."""
    settings["call"] = "FirstOrderUnweighted(p=1, q=1, workers=2).simulate_walks"

    def make_walks(seed: int) -> list[list[str]]:
        graph.random_state = seed
        return graph.simulate_walks(num_walks, walk_length)

    serve(settings, make_walks, lambda walks: sum(map(len, walks)) - len(walks))


def serve_kernel(graph: FirstOrderUnweighted, num_walks: int, walk_length: int, settings: dict) -> None:
    """Serve the private kernel below it, compiled once, which no user calls."""
    settings["call"] = "FirstOrderUnweighted._random_walks (private), compiled beforehand, indices out"
    starts = np.repeat(np.arange(graph.num_nodes, dtype=np.uint32), num_walks)
    np.random.default_rng(0).shuffle(starts)
    has_nbrs, move_forward = graph.get_has_nbrs(), graph.get_move_forward()

    def make_walks(seed: int) -> np.ndarray:
        with ProgressBar(total=starts.size, disable=True) as progress:
            return graph._random_walks(starts.size, walk_length, seed, starts, has_nbrs, move_forward, progress)

    serve(settings, make_walks, lambda walks: int(walks[:, -1].sum()) - walks.shape[0])


def main() -> None:
    """Serve turns of PecanPy's walks from every node; `walk_length` already counts jumps there."""
    path, num_walks, walk_length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    graph = read_graph(path)
    settings = {
        "engine": f"PecanPy {version('pecanpy')}",
        "numpy": np.__version__,
        "nodes": graph.num_nodes,
        "directed_edges": int(graph.indices.size),
        "weighted": False,
        "num_walks": num_walks,
        "walk_length_in_jumps": walk_length,
    }
    serve_mode = serve_kernel if "--kernel" in sys.argv else serve_public
    serve_mode(graph, num_walks, walk_length, settings)


main()

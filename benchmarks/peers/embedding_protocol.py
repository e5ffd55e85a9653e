"""How an embedding of another package is measured: SCRIPT METHOD GRAPH.npz VECTORS.npy SEED, one process per embedding.

Importing, reading, building the package's own graph and writing are outside of the clock, and a small graph is embedded
first, so that compilers are done. Vectors are in the order of positions; seconds and versions are in VECTORS.json. Only
NumPy and SciPy, so that it runs in every peer's own environment.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

WIDTH = 128
THREADS = 2
# More nodes than an embedding has columns, or methods by factorization refuse the graph.
SMALL = 4 * WIDTH


class Edges(NamedTuple):
    """An undirected graph: each edge in both directions; weights are None if all are 1."""

    num_nodes: int
    index: np.ndarray
    weight: np.ndarray | None

    def matrix(self) -> csr_matrix:
        """The adjacency matrix."""
        weight = np.ones(self.index.shape[1]) if self.weight is None else self.weight
        matrix = csr_matrix((weight, tuple(self.index)), shape=(self.num_nodes, self.num_nodes))
        matrix.sort_indices()
        return matrix


# From edges and a seed, with the package's graph built, to a call that embeds it: only that call is timed.
Prepare = Callable[[Edges, int], Callable[[], np.ndarray]]


def read_edges(path: str) -> Edges:
    """The stored graph."""
    stored = np.load(path)
    weight = stored.get("edge_weight")
    return Edges(int(stored["num_nodes"]), stored["edge_index"].astype(np.int64), weight)


def small_edges(weighted: bool) -> Edges:
    """A ring with chords."""
    node = np.arange(SMALL)
    index = np.concatenate([np.stack([node, (node + step) % SMALL]) for step in (1, 7, -1, -7)], axis=1)
    return Edges(SMALL, index, np.full(index.shape[1], 2.0) if weighted else None)


def measure(methods: Mapping[str, Prepare], package: str, *others: str) -> None:
    """Embed as the command line says, and write vectors and seconds."""
    method, graph, output, seed = sys.argv[1:]
    edges = read_edges(graph)
    methods[method](small_edges(edges.weight is not None), int(seed))()
    embed = methods[method](edges, int(seed))
    start = time.perf_counter()
    vectors = embed()
    seconds = time.perf_counter() - start
    if vectors.shape != (edges.num_nodes, WIDTH):
        raise RuntimeError(f"{method} must give [{edges.num_nodes}, {WIDTH}] vectors, got {list(vectors.shape)}")
    np.save(output, np.asarray(vectors, np.float32))
    versions = {name: version(name) for name in (package, *others, "numpy", "scipy")}
    Path(output).with_suffix(".json").write_text(json.dumps({"seconds": seconds, "versions": versions}))

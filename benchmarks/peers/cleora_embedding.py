"""Cleora (Rust) with its defaults: 40 steps, whitened after each. It knows no weights of edges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from embedding_protocol import THREADS, WIDTH, Edges, measure
from pycleora import SparseMatrix, embed


def prepare(edges: Edges, seed: int) -> Callable[[], np.ndarray]:
    """Cleora orders nodes in its own way and never hears of isolated ones, whose vectors are zero."""
    once = edges.index[:, edges.index[0] < edges.index[1]]
    graph = SparseMatrix.from_iterator((f"{u} {v}" for u, v in once.T.tolist()), "complex::reflexive::node")
    position = np.array([int(name) for name in graph.entity_ids])

    def run() -> np.ndarray:
        vectors = np.zeros((edges.num_nodes, WIDTH), np.float32)
        vectors[position] = embed(graph, WIDTH, seed=seed, num_workers=THREADS)
        return vectors

    return run


measure({"cleora": prepare}, "pycleora")

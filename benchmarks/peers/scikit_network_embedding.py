"""Spectral embedding and random projection by scikit-network, with its defaults."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from embedding_protocol import WIDTH, Edges, measure
from sknetwork.embedding import RandomProjection, Spectral


def spectral(edges: Edges, seed: int) -> Callable[[], np.ndarray]:
    """Eigenvectors of the transition matrix. The solver starts from NumPy's global generator."""
    matrix = edges.matrix()
    np.random.seed(seed)  # noqa: NPY002
    return lambda: Spectral(WIDTH).fit_transform(matrix)


def projection(edges: Edges, seed: int) -> Callable[[], np.ndarray]:
    """Powers of the adjacency matrix, projected at random."""
    matrix = edges.matrix()
    return lambda: RandomProjection(WIDTH, random_state=seed).fit_transform(matrix)


measure({"spectral": spectral, "random-projection": projection}, "scikit-network")

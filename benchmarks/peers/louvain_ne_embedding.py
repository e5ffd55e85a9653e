"""LouvainNE by scikit-network 0.31, the last version that has it, with its defaults and one repair.

That version gives zeros for every graph, also for the one of its own example: it takes what Louvain's `fit_transform`
returns, by then probabilities of clusters, for labels. Here it gets the labels.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from embedding_protocol import WIDTH, Edges, measure
from sknetwork.embedding import LouvainNE


def prepare(edges: Edges, seed: int) -> Callable[[], np.ndarray]:
    """Random vectors of nested clusters, added."""
    matrix, model = edges.matrix(), LouvainNE(WIDTH, random_state=seed)
    louvain = model._clustering_method
    louvain.fit_transform = louvain.fit_predict
    return lambda: model.fit_transform(matrix)


measure({"louvain-ne": prepare}, "scikit-network")

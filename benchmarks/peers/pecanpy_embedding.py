"""node2vec with p = q = 1 by PecanPy and gensim: 10 walks of length 80, window 10, 5 negatives, one epoch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from embedding_protocol import THREADS, WIDTH, Edges, measure
from pecanpy.pecanpy import FirstOrderUnweighted, PreCompFirstOrder


def prepare(edges: Edges, seed: int) -> Callable[[], np.ndarray]:
    """PecanPy's fastest mode for p = q = 1; its `embed` has gensim's defaults, which are 5 negatives."""
    mode = FirstOrderUnweighted if edges.weight is None else PreCompFirstOrder
    graph = mode(p=1, q=1, workers=THREADS, random_state=seed)
    matrix = edges.matrix()
    graph.indptr, graph.indices = matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32)
    graph.data = matrix.data.astype(np.float32)
    graph.set_node_ids([str(node) for node in range(edges.num_nodes)])
    return lambda: graph.embed(dim=WIDTH, num_walks=10, walk_length=80, window_size=10, epochs=1)


measure({"pecanpy": prepare}, "pecanpy", "gensim", "numba")

"""ProNE by nodevectors, with its defaults."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from csrgraph import csrgraph
from embedding_protocol import WIDTH, Edges, measure
from nodevectors import ProNE


def prepare(edges: Edges, seed: int) -> Callable[[], np.ndarray]:
    """The randomized factorization draws from NumPy's global generator."""
    graph = csrgraph(edges.matrix(), nodenames=np.arange(edges.num_nodes))
    np.random.seed(seed)  # noqa: NPY002
    return lambda: ProNE(WIDTH, verbose=False).fit_transform(graph)


measure({"prone": prepare}, "nodevectors", "csrgraph", "scikit-learn")

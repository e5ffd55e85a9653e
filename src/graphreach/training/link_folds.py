"""Links of a graph as examples to learn from: each is described by a graph without it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphreach.graph import Graph
from graphreach.pairs.attributes import PairAttributes
from graphreach.pairs.direct import without_edges
from graphreach.pairs.features import PairFeatures
from graphreach.pairs.recipe import PairRecipe
from graphreach.progress import track

FOLDS = 10
"""Parts of the links of which one at a time is hidden, as a tenth of them is in a usual test."""


class Fold(NamedTuple):
    """Some pairs, and the graph that they are described by.

    Attributes:
        graph: The graph without the links among the pairs.
        rows: Which of all pairs these are.
    """

    graph: Graph
    rows: NDArray[np.int64]


def folds(graph: Graph, pairs: NDArray[np.int64], y: NDArray[np.int64], seed: int = 0) -> list[Fold]:
    """Deal pairs into parts, each with the graph without the links of that part.

    A part hides at most a tenth of the graph's links: as many parts as that takes, at most :data:`FOLDS`. Of a graph with
    many more links than there are examples all can be hidden at once.

    Args:
        graph: The graph.
        pairs: Pairs ``[2, m]``.
        y: 1 for links, else 0.
        seed: Random seed of the parts.
    """
    links = int(np.count_nonzero(y))
    count = max(1, min(-(-FOLDS * links // max(1, graph.num_edges)), FOLDS, links))
    rng, part = np.random.default_rng([seed, 0x666F6C64]), np.empty(len(y), np.int64)
    for kind in (0, 1):
        own = np.flatnonzero(y == kind)
        part[rng.permutation(own)] = np.arange(len(own)) % count
    return [
        Fold(without_edges(graph, pairs[:, (part == number) & (y == 1)]), np.flatnonzero(part == number))
        for number in range(count)
    ]


def link_features(
    graph: Graph,
    recipe: PairRecipe,
    anchors: NDArray[np.int64],
    pairs: NDArray[np.int64],
    y: NDArray[np.int64],
    seed: int,
    x: csr_array | None = None,
) -> NDArray[np.float32]:
    """Features of pairs, those of a link by a graph without it, ``[m, f]``; with columns of scaled attributes, if any."""
    parts = folds(graph, pairs, y, seed)
    out: NDArray[np.float32] | None = None
    for fold in track(parts, len(parts), "features of training pairs"):
        found = PairFeatures(fold.graph, recipe, anchors, seed).describe(pairs[:, fold.rows])
        if x is not None:
            found = np.concatenate([found, PairAttributes(fold.graph, x).describe(pairs[:, fold.rows])], axis=1)
        if out is None:
            out = np.empty((pairs.shape[1], found.shape[1]), np.float32)
        out[fold.rows] = found
    return np.empty((0, 0), np.float32) if out is None else out

"""The pairs that a model is most confident of and has not been told about."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.explain import Explainer
from graphreach.graph import Graph
from graphreach.tasks.pair_keys import contains, decode, encode, unique

CANDIDATES = 20_000
"""Pairs of each kind that are scored."""

EXHAUSTIVE, BLOCK, PER_ROW = 20_000, 256, 8
"""Nodes up to which every row of the embedding is compared with all; rows at a time; pairs that a row may bring."""

BUSIEST, WORK = 200, 5_000_000
"""Nodes with more neighbours introduce nobody, as their neighbours have little in common; paths that are held at a time."""

Pairs = NDArray[np.int64]


def new_pairs(explainer: Explainer, known: NDArray[np.int64], count: int, seed: int = 0) -> tuple[Pairs, Any]:
    """At most ``count`` pairs ``[2, m]`` with the highest scores ``[m]``, but for those whose sorted keys are known.

    Candidates are nodes two hops apart and nodes with near embeddings, from blocks of rows: never all n x n pairs.
    """
    keys = unique(np.concatenate([_two_hops(explainer.graph, seed), _near(explainer.z, seed)]))
    pairs = decode(keys[~contains(known, keys)])
    scores = score_pairs(explainer, pairs)
    order = np.argsort(-scores, kind="stable")[:count]
    return pairs[:, order], scores[order]


def score_pairs(explainer: Explainer, pairs: Pairs) -> NDArray[np.float64]:
    """Logits of pairs ``[2, m]``, some at a time."""
    parts = [explainer.scores(pairs[:, begin : begin + BLOCK * 32]) for begin in range(0, pairs.shape[1], BLOCK * 32)]
    return np.concatenate(parts) if parts else np.empty(0)


def _two_hops(graph: Graph, seed: int) -> NDArray[np.int64]:
    """Keys of the pairs that share most neighbours, each counted for less the more neighbours it has."""
    from scipy.sparse import csr_array, diags_array

    links = graph.to_scipy()
    links = csr_array(((links + links.T) > 0).astype(np.float64))
    degree = np.diff(links.indptr)
    weight = np.divide(1.0, degree, out=np.zeros(len(degree)), where=(degree > 0) & (degree <= BUSIEST))
    paths = csr_array(diags_array(weight) @ links)
    rows = _rows(graph.num_nodes, seed)
    work = np.cumsum((links @ np.where(weight > 0, degree, 0))[rows])
    kept = []
    for begin, end in _pieces(work):
        shared = csr_array(links[rows[begin:end]] @ paths).tocoo()
        pairs = np.stack([rows[begin:end][shared.row], shared.col]).astype(np.int64)
        kept.append(_best(pairs[:, pairs[0] != pairs[1]], shared.data[pairs[0] != pairs[1]]))
    return _merged(kept)


def _near(z: NDArray[np.float32], seed: int) -> NDArray[np.int64]:
    """Keys of the pairs whose embeddings have the greatest products."""
    rows, kept = _rows(len(z), seed), min(PER_ROW, len(z) - 1)
    found = []
    for begin in range(0, len(rows), BLOCK):
        block = rows[begin : begin + BLOCK]
        products = z[block] @ z.T
        products[np.arange(len(block)), block] = -np.inf
        best = np.argpartition(-products, kept - 1, axis=1)[:, :kept]
        pairs = np.stack([np.repeat(block, kept), best.ravel()])
        found.append((pairs, np.take_along_axis(products, best, 1).ravel()))
    return _merged(found)


def _rows(count: int, seed: int) -> NDArray[np.int64]:
    if count <= EXHAUSTIVE:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, EXHAUSTIVE // 10, replace=False))


def _pieces(work: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Runs of rows that take about :data:`WORK` together, from the work up to each row."""
    steps = np.arange(WORK, work[-1] if len(work) else 0, WORK)
    edges = np.unique([0, *np.searchsorted(work, steps).tolist(), len(work)]).tolist()
    return list(itertools.pairwise(edges))


def _best(pairs: Pairs, values: NDArray[Any]) -> tuple[Pairs, NDArray[Any]]:
    if len(values) <= CANDIDATES:
        return pairs, values
    top = np.argpartition(-values, CANDIDATES)[:CANDIDATES]
    return pairs[:, top], values[top]


def _merged(parts: list[tuple[Pairs, NDArray[Any]]]) -> NDArray[np.int64]:
    if not parts:
        return np.empty(0, np.int64)
    pairs, _ = _best(*(np.concatenate(side, axis=-1) for side in zip(*parts, strict=True)))
    return encode(pairs)

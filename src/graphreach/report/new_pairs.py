"""The pairs that a model is most confident of and has not been told about."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.explain import Explainer
from graphreach.explain.reach_explainer import ReachExplainer
from graphreach.graph import Graph
from graphreach.pairs.candidates import candidates
from graphreach.tasks.pair_keys import contains, decode, encode, unique

CANDIDATES, FIRST = 8000, 60_000
"""Pairs of each kind that are scored, and those that are looked at before known ones are left out."""

BUSIEST, HELD, WORK = 200, 5_000_000, 30_000_000
"""Nodes with more neighbours introduce nobody, as their neighbours have little in common; paths of two edges that are held
at a time, and altogether."""

PIECE, PER_ROW, SMALL = 512, 8, 2000
"""Embeddings that are compared with each other at a time, and pairs that a row of them may bring. Then the
number of nodes up to which positions of method ``reach`` are compared as well: its scores read no products of them."""

Pairs = NDArray[np.int64]
Found = tuple[NDArray[np.int64], NDArray[Any]]
"""Keys of pairs, and how promising each is."""


def new_pairs(explainer: Explainer, known: NDArray[np.int64], count: int, seed: int = 0) -> tuple[Pairs, Any]:
    """At most ``count`` pairs ``[2, m]`` with the highest scores ``[m]``, except those whose sorted keys are known.

    Candidates are nodes two hops apart and nodes with near embeddings; where a graph has two kinds of nodes, those that
    walks reach. Time grows with the number of edges up to a bound, and with the number of nodes: nothing is n x n. In a
    directed graph a pair is scored both ways.
    """
    graph, fitted = explainer.graph, isinstance(explainer, ReachExplainer)
    found = [_few_steps(explainer, known, seed)]
    if not fitted or graph.num_nodes <= SMALL:
        found.append(_most_promising([_near(explainer.z, seed)], known))
    pairs = decode(unique(np.concatenate(found)))
    if graph.sides is not None:
        pairs = pairs[:, graph.sides[pairs[0]] != graph.sides[pairs[1]]]
    if graph.directed:
        pairs = np.concatenate([pairs, pairs[::-1]], axis=1)
    scores = score_pairs(explainer, pairs)
    order = np.argsort(-scores, kind="stable")
    if graph.directed:  # of both directions the better one
        _, first = np.unique(encode(pairs[:, order]), return_index=True)
        order = order[np.sort(first)]
    return pairs[:, order[:count]], scores[order[:count]]


def score_pairs(explainer: Explainer, pairs: Pairs) -> NDArray[np.float64]:
    """Logits of pairs ``[2, m]``, some at a time."""
    parts = [explainer.scores(pairs[:, begin : begin + CANDIDATES]) for begin in range(0, pairs.shape[1], CANDIDATES)]
    return np.concatenate(parts) if parts else np.empty(0)


def _few_steps(explainer: Explainer, known: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    graph = explainer.graph
    if graph.sides is None or not isinstance(explainer, ReachExplainer):
        return _most_promising(_two_hops(graph, seed), known)
    nodes = np.random.default_rng(seed).permutation(graph.num_nodes)[: CANDIDATES // PER_ROW]
    keys = unique(encode(candidates(explainer.known.features, np.sort(nodes), PER_ROW, nearest=False)))
    return keys[~contains(known, keys)]


def _two_hops(graph: Graph, seed: int) -> list[Found]:
    """The pairs that share most neighbours, each counted for less the more neighbours it has."""
    from scipy.sparse import csr_array, diags_array

    links = graph.to_scipy()
    links = csr_array(((links + links.T) > 0).astype(np.float64))
    degree = np.diff(links.indptr)
    weight = np.divide(1.0, degree, out=np.zeros(len(degree)), where=(degree > 0) & (degree <= BUSIEST))
    paths = csr_array(diags_array(weight) @ links)
    every = links @ np.where(weight > 0, degree, 0)
    rows = np.random.default_rng(seed).permutation(graph.num_nodes)
    rows = np.sort(rows[np.cumsum(every[rows]) <= WORK])
    found = []
    for begin, end in _pieces(np.cumsum(every[rows])):
        shared = csr_array(links[rows[begin:end]] @ paths).tocoo()
        own = rows[begin:end][shared.row]
        apart = own != shared.col
        found.append(_best(encode(np.stack([own, shared.col]).astype(np.int64)[:, apart]), shared.data[apart], FIRST))
    return found


def _near(z: NDArray[np.float32], seed: int) -> Found:
    """Pairs whose embeddings have great products: of nodes that lie next to each other in an order by nearest pivots."""
    n = len(z)
    pivots = z[np.sort(np.random.default_rng(seed).permutation(n)[: int(np.ceil(np.sqrt(n)))])]
    length = np.sqrt(np.einsum("ij,ij->i", pivots, pivots))[:, None]
    pivots = pivots / np.maximum(length, 1e-12)
    bucket = np.concatenate([(z[begin : begin + 4096] @ pivots.T).argmax(1) for begin in range(0, n, 4096)])
    along = np.argsort(np.argsort(pivots @ pivots.sum(0), kind="stable"))  # alike pivots stand together
    order = np.argsort(along[bucket], kind="stable")
    starts = sorted({*range(0, n, PIECE), *range(-(PIECE // 2), n, PIECE)})
    parts = [_products(z, order[max(0, begin) : begin + PIECE]) for begin in starts]
    keys, values = (np.concatenate(side) for side in zip(*parts, strict=True))
    return _best(keys, values, FIRST)


def _products(z: NDArray[np.float32], nodes: NDArray[np.int64]) -> Found:
    """For each of a few nodes the others whose embeddings have the greatest products with its own."""
    kept = min(PER_ROW, len(nodes) - 1)
    if kept < 1:
        return np.empty(0, np.int64), np.empty(0, z.dtype)
    products = z[nodes] @ z[nodes].T
    np.fill_diagonal(products, -np.inf)
    best = np.argpartition(-products, kept - 1, axis=1)[:, :kept]
    pairs = np.stack([np.repeat(nodes, kept), nodes[best].ravel()])
    return encode(pairs), np.take_along_axis(products, best, 1).ravel()


def _pieces(work: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Runs of rows that take about :data:`HELD` together, from the work up to each row."""
    steps = np.arange(HELD, work[-1] if len(work) else 0, HELD)
    edges = np.unique([0, *np.searchsorted(work, steps).tolist(), len(work)]).tolist()
    return list(itertools.pairwise(edges))


def _best(keys: NDArray[np.int64], values: NDArray[Any], most: int) -> Found:
    if len(values) <= most:
        return keys, values
    top = np.argpartition(-values, most)[:most]
    return keys[top], values[top]


def _most_promising(parts: list[Found], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """Keys of the best pairs that are not known."""
    if not parts:
        return np.empty(0, np.int64)
    keys, values = (np.concatenate(side) for side in zip(*parts, strict=True))
    keys, first = np.unique(keys, return_index=True)
    fresh = ~contains(known, keys)
    return _best(keys[fresh], values[first[fresh]], CANDIDATES)[0]

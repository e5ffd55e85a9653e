"""Nodes whose vectors are nearest: exact for any nodes that are asked about, approximate for all of many.

Every product is summed in one order, whichever nodes are asked about together. Of equal scores the smaller position is
better, so that the answer is the same bit for bit on any number of threads and in blocks of any size.
"""

import warnings
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import check_choice, check_flag, check_whole, describe, to_finite, to_integers
from graphreach.errors import InputError
from graphreach.jit import borrowed, fast_inline_kernel, fast_kernel, fast_parallel_kernel, kernel, on_helpers, rows_of
from graphreach.limits import check_memory
from graphreach.progress import stage, track

METRICS = ("cosine", "dot")

EXACT_NODES = 50_000
"""Largest graph of which :meth:`NearestNodes.all` compares all pairs: this takes less time than compiling the index."""

MORE = 20
"""Extra neighbours in the approximate index; with fewer it misses more of the nearest nodes."""

TOGETHER = 4
"""Nodes whose products with a vector are computed together. The number is fixed, so no bit depends on it."""

QUERIES, TILE = 32, 64
"""Nodes and vectors that are compared while both are in the processor's cache."""

BLOCK = 1 << 12
"""Nodes between two updates of the progress bar."""

Positions = NDArray[np.int64]
Scores = NDArray[np.float32]


def nearest_nodes(vectors: Any, index: Any, top: int = 10, metric: str = "cosine") -> tuple[Positions, Scores]:
    """Find the nodes whose vectors are most similar to those of the given nodes.

    To ask several times about the same vectors, use :class:`NearestNodes`, which prepares them once.

    Args:
        vectors: One vector per node, ``[n, d]``, such as an embedding.
        index: Positions of the nodes to find neighbours of, ``[q]``, or one position.
        top: Number of neighbours of each node; at most ``n - 1`` are found.
        metric: ``"cosine"`` or ``"dot"``, the inner product.

    Returns:
        Positions ``[q, top]`` and similarities ``[q, top]``, the most similar node first. A node is not a neighbour of
        itself.

    Example:
        >>> positions, scores = nearest_nodes([[1, 0], [3, 4], [0, 2]], [0, 2], top=1)
        >>> positions.tolist(), scores.round(2).tolist()
        ([[1], [1]], [[0.6000000238418579], [0.800000011920929]])
    """
    return NearestNodes(vectors, metric).of(index, top)


class NearestNodes:
    """Vectors that are prepared once to find nearest nodes many times.

    Args:
        vectors: One vector per node, ``[n, d]``. Numbers are compared as 32-bit floats.
        metric: ``"cosine"`` or ``"dot"``, the inner product. The cosine of a vector of zeros with any other is 0.

    Example:
        >>> near = NearestNodes([[1, 0], [3, 4], [0, 2], [0, 1]])
        >>> near
        NearestNodes(4 vectors of width 2, metric=cosine)
        >>> near.of(2, top=2)[0], near.all(top=1)[0].ravel()
        (array([[3, 1]]), array([1, 2, 3, 2]))
    """

    def __init__(self, vectors: Any, metric: str = "cosine") -> None:
        self.metric = check_choice("metric", metric, METRICS)
        given = to_finite("vectors", vectors, "finite numbers of shape [n, d]")
        if given.ndim != 2:
            raise InputError(f"vectors must have shape [n, d], got {describe(given)}")
        with np.errstate(over="ignore"):
            self._vectors = np.ascontiguousarray(given, np.float32)
        lengths = np.empty(len(given), np.float64)
        _lengths(self._vectors, lengths)
        longest = lengths.max(initial=0.0)
        if longest == np.inf or (metric == "dot" and longest > np.sqrt(np.finfo(np.float32).max)):
            raise InputError(
                f"vectors must have products within the range of 32-bit floats, got {float(longest):.3g} as a length"
            )
        if metric == "cosine":
            scaled = np.empty_like(self._vectors)
            _scale(self._vectors, lengths, scaled)
            self._vectors = scaled

    def __repr__(self) -> str:
        n, width = self._vectors.shape
        return f"{type(self).__name__}({n} vectors of width {width}, metric={self.metric})"

    def of(self, index: Any, top: int = 10) -> tuple[Positions, Scores]:
        """Compare the given nodes with all others.

        Args:
            index: Positions of nodes, ``[q]``, or one position.
            top: Number of neighbours of each node; at most ``n - 1`` are found.

        Returns:
            Positions ``[q, top]`` and similarities ``[q, top]``, the most similar node first.
        """
        n = len(self._vectors)
        own = np.atleast_1d(to_integers("index", index, "a position or a list of positions"))
        if own.ndim != 1:
            raise InputError(f"index must be a position or a list of positions, got {describe(own)}")
        wrong = own[(own < 0) | (own >= n)]
        if len(wrong):
            must = f"hold positions between 0 and {n - 1}" if n else "be empty, as there are no vectors"
            raise InputError(f"index must {must}, got {wrong[0]}")
        return self._exact(own, self._columns(len(own), top))

    def all(self, top: int = 10, exact: bool = False) -> tuple[Positions, Scores]:
        """Find the nearest nodes of all nodes.

        Up to 50,000 nodes, and for inner products, all pairs are compared. Beyond that, candidates come from the k-nearest
        neighbour graph of `pynndescent <https://pynndescent.readthedocs.io>`_ (``pip install "graphreach[nearest]"``), and
        their similarities are computed as those of :meth:`of`. It builds this graph directly, in
        less time than building an HNSW index and searching it for every node would take, and it needs numba, scipy and
        scikit-learn, which this package uses as well. It runs on one thread, so the same vectors always give the same
        graph. The graph finds nearly all neighbours of vectors that form clusters, but few of vectors that are mostly
        noise: on 100,000 vectors of width 128 a recall@10 of 1.00 and of 0.37 was measured.

        Args:
            top: Number of neighbours of each node; at most ``n - 1`` are found.
            exact: Whether to compare all pairs of any number of nodes.

        Returns:
            Positions ``[n, top]`` and similarities ``[n, top]``, the most similar node first.
        """
        n = len(self._vectors)
        columns = self._columns(n, top)
        if check_flag("exact", exact) or n <= EXACT_NODES or self.metric == "dot":
            return self._exact(np.arange(n), columns)
        return self._approximate(columns)

    def _columns(self, rows: int, top: Any) -> int:
        columns = min(check_whole("top", top, 1), max(0, len(self._vectors) - 1))
        needed = rows * columns * (np.dtype(np.int64).itemsize + np.dtype(np.float32).itemsize)
        check_memory(needed, f"{columns} neighbours of each of {rows} nodes", "lower top, or give fewer nodes")
        return columns

    def _exact(self, own: Positions, columns: int) -> tuple[Positions, Scores]:
        positions, scores = np.empty((len(own), columns), np.int64), np.empty((len(own), columns), np.float32)
        begins = range(0, len(own) if columns else 0, BLOCK)
        for begin in track(begins, len(begins), "comparing vectors"):
            rows = slice(begin, begin + BLOCK)
            positions[rows], scores[rows] = self._block(own[rows], columns)
        return positions, scores

    def _block(self, own: Positions, columns: int) -> tuple[Positions, Scores]:
        """Neighbours of some nodes. Few nodes are shared out by what they are compared with, many one by one."""
        padded = np.concatenate([own, np.repeat(own[-1:], -len(own) % TOGETHER)])
        parts = numba.get_num_threads() if len(own) <= QUERIES else 1
        positions = np.full((parts, len(padded), columns), -1)
        scores = np.full(positions.shape, -np.inf, np.float32)
        _compare(self._vectors, padded, self._vectors[padded], self._limit, positions, scores)
        if parts == 1:
            return positions[0, : len(own)], scores[0, : len(own)]
        found = positions.transpose(1, 0, 2).reshape(len(padded), -1)[: len(own)]
        value = scores.transpose(1, 0, 2).reshape(len(padded), -1)[: len(own)]
        return _best_columns(found, value, columns)

    @property
    def _limit(self) -> np.float32:
        """What no similarity exceeds but by rounding."""
        return np.float32(1 if self.metric == "cosine" else np.inf)

    def _approximate(self, columns: int) -> tuple[Positions, Scores]:
        n = len(self._vectors)
        found = _neighbour_graph(self._vectors, min(n, columns + 1 + MORE))
        scores = np.full(found.shape, -np.inf, np.float32)
        with stage("comparing vectors"):
            _score(self._vectors, found, self._limit, scores)
            positions, best = _best_columns(found, scores, columns)
        few = np.flatnonzero(best[:, -1] == -np.inf)
        if len(few):
            positions[few], best[few] = self._exact(few, columns)
        return positions, best


def _neighbour_graph(vectors: Scores, count: int) -> Positions:
    """Approximate neighbours ``[n, count]`` by cosine, itself among them; -1 where none was found."""
    try:
        from pynndescent import NNDescent
    except ImportError:
        raise InputError(
            f"exact must be True for more than {EXACT_NODES} nodes without pynndescent, which is not installed: "
            'pip install "graphreach[nearest]"'
        ) from None
    with stage("searching for neighbours of all nodes"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows with too few neighbours are computed exactly
        found = NNDescent(vectors, "cosine", n_neighbors=count, random_state=0, n_jobs=1).neighbor_graph[0]
    return np.ascontiguousarray(found, np.int64)


def _best_columns(positions: Positions, scores: Scores, columns: int) -> tuple[Positions, Scores]:
    """The best entries of each row: by score, then by position."""
    order = np.lexsort((positions, -scores), axis=1)[:, :columns]
    return np.take_along_axis(positions, order, 1), np.take_along_axis(scores, order, 1)


@fast_parallel_kernel
def _lengths(share: Any, vectors: Any, out: Any) -> None:
    """Euclidean lengths."""
    for i in rows_of(share, len(vectors)):
        total = 0.0
        for j in range(vectors.shape[1]):
            total += np.float64(vectors[i, j]) * np.float64(vectors[i, j])
        out[i] = np.sqrt(total)


@fast_parallel_kernel
def _scale(share: Any, vectors: Any, lengths: Any, out: Any) -> None:
    """Vectors of length 1; those of length 0 stay as they are."""
    for i in rows_of(share, len(vectors)):
        inverse = 1.0 / lengths[i] if lengths[i] > 0.0 else 0.0
        for j in range(vectors.shape[1]):
            out[i, j] = np.float32(vectors[i, j] * inverse)


@fast_inline_kernel
def _products(queries: Any, first: Any, vectors: Any, i: Any) -> Any:
    """Products of :data:`TOGETHER` rows with one vector."""
    a = b = c = d = np.float32(0)
    for j in range(vectors.shape[1]):
        x = vectors[i, j]
        a += queries[first, j] * x
        b += queries[first + 1, j] * x
        c += queries[first + 2, j] * x
        d += queries[first + 3, j] * x
    return a, b, c, d


@kernel
def _insert(positions: Any, scores: Any, position: Any, score: Any) -> None:
    """Put a node to its place among the best, if it is one of them; the worst is dropped."""
    place = len(scores) - 1
    if score < scores[place] or (score == scores[place] and 0 <= positions[place] < position):
        return
    while place > 0 and (
        score > scores[place - 1]
        or (score == scores[place - 1] and (positions[place - 1] < 0 or position < positions[place - 1]))
    ):
        scores[place], positions[place] = scores[place - 1], positions[place - 1]
        place -= 1
    scores[place], positions[place] = score, position


@on_helpers
@fast_kernel
def _compare(share: Any, vectors: Any, own: Any, queries: Any, limit: Any, positions: Any, scores: Any) -> None:
    """Fill the best rows ``[parts, q, top]`` with what is nearest to each query in each part of the vectors."""
    vectors, queries = borrowed((vectors, queries))
    parts, q, top = positions.shape
    n, blocks = len(vectors), (q + QUERIES - 1) // QUERIES
    for item in range(share[0], parts * blocks, share[1]):
        part, block = item // blocks, item % blocks
        end = (part + 1) * n // parts
        for tile in range(part * n // parts, end, TILE):
            if share[2][0] != 0:
                return
            for first in range(block * QUERIES, min(q, (block + 1) * QUERIES), TOGETHER):
                for i in range(tile, min(end, tile + TILE)):
                    found = _products(queries, first, vectors, i)
                    for k in range(TOGETHER):
                        row = first + k
                        if found[k] >= scores[part, row, top - 1] and own[row] != i:
                            _insert(positions[part, row], scores[part, row], i, min(found[k], limit))


@on_helpers
@fast_kernel
def _score(share: Any, vectors: Any, found: Any, limit: Any, scores: Any) -> None:
    """Similarities of the nodes with those that were found for them; itself and none stay as they are."""
    queries = np.empty((TOGETHER, vectors.shape[1]), np.float32)
    for i in rows_of((share[0], share[1]), len(found)):
        if share[2][0] != 0:
            return
        for k in range(TOGETHER):
            queries[k] = vectors[i]
        for column in range(found.shape[1]):
            j = found[i, column]
            if j >= 0 and j != i:
                scores[i, column] = min(_products(queries, 0, vectors, j)[0], limit)

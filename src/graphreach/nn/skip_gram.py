"""Embeddings from walks alone: DeepWalk and node2vec."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import describe
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.limits import check_memory, check_steps
from graphreach.nn.kernels.skip_gram import bucket_pairs, place_new, train, train_three
from graphreach.progress import track
from graphreach.walks import random_walks
from graphreach.walks.defaults import NODE2VEC_WALK_LENGTH, NODE2VEC_WALKS
from graphreach.walks.rng import check_seed
from graphreach.walks.second_order_walks import second_order_walks
from graphreach.walks.walk_length import check_count

PARTS = 8
"""Parts of the nodes; as many threads can train at a time."""

SMALL = 1024
"""Nodes up to which there is one part, as negatives come from a part."""

STEPS_PER_CALL = 1 << 19
"""Steps of walks that are held and trained on at a time."""

PLACING_WALKS, PLACING_RATE = 100, 0.1
"""Walks from a node that comes later, and the learning rate at their beginning."""


def undirected(graph: Graph) -> Graph:
    """A directed graph without its directions."""
    reduce: Any = "sum" if graph.weighted else None
    return Graph.from_edges(graph.edge_index, graph.num_nodes, graph.weights, reduce=reduce)


@dataclass(eq=False)
class SkipGram:
    r"""Node embeddings by skip-gram with negative sampling on random walks: `DeepWalk <https://arxiv.org/abs/1403.6652>`_,
    or with p and q `node2vec <https://arxiv.org/abs/1607.00653>`_.

    A node u and a node v within the window of u in a walk are a pair. The model learns to distinguish v from
    ``negatives`` random nodes, drawn with probability proportional to :math:`frequency^{0.75}`, by gradient steps on
    :math:`\log \sigma(s_u^T c_v) + \sum \log \sigma(-s_u^T c_w)`. Steps are taken in a fixed order, bucket by bucket:
    the same seed gives the same embedding bit for bit on any number of threads.

    The score of a pair is the dot product that was trained, :math:`s_u^T c_v + s_v^T c_u`, which finds links much better
    than :math:`s_u^T s_v`. Directions are ignored, as is usual with these methods. With ``directed=True`` walks in a
    directed graph follow its edges, the window looks forward only, and the score :math:`s_u^T c_v` of (u, v) is not that
    of (v, u); as such walks end soon, this finds fewer links.

    Args:
        dim: Width of the embedding.
        num_walks: Walks from each node.
        walk_length: Jumps of a walk.
        window: Largest distance in a walk that counts as near; for each node of a walk it is drawn from 1 to this number.
        negatives: Number of random nodes per pair.
        epochs: Number of passes over all walks.
        p: Return parameter of node2vec.
        q: In-out parameter of node2vec; p = q = 1 is DeepWalk.
        learning_rate: Initial learning rate; it falls linearly to a hundredth.
        directed: Whether walks in a directed graph follow its edges.
        seed: Random seed for walks, windows, negatives and initial values.

    Attributes:
        embedding_: :math:`s`, ``[n, dim]``, rows in the order of the graph's ids.
        context_: :math:`c`, ``[n, dim]``.
        directed_: Whether scores have a direction.

    Example:
        >>> import graphreach as gr
        >>> graph = gr.Graph.from_edges([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])
        >>> model = gr.nn.SkipGram(dim=8, num_walks=2).fit(graph)
        >>> model.embedding_.shape, model.score_pairs([[0, 1], [1, 3]]).shape
        ((5, 8), (2,))
    """

    dim: int = 64
    num_walks: int = NODE2VEC_WALKS
    walk_length: int = NODE2VEC_WALK_LENGTH
    window: int = 5
    negatives: int = 5
    epochs: int = 1
    p: float = 1.0
    q: float = 1.0
    learning_rate: float = 0.05
    directed: bool = False
    seed: int = 0

    def fit(self, graph: Graph, start: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None) -> Self:
        """Train on walks of ``graph``, which are made for some nodes at a time and not kept.

        Args:
            graph: The graph.
            start: First values of ``embedding_`` and ``context_``; random ones and zeros by default.
        """
        for name in ("dim", "num_walks", "walk_length", "window", "negatives", "epochs"):
            setattr(self, name, check_count(name, getattr(self, name)))
        check_seed(self.seed)
        bias = "a number between 1e-100 and 1e100"
        for name, bounds in (("learning_rate", "above 0"), ("p", bias), ("q", bias)):
            _check_real(name, getattr(self, name), bounds)
        if not 0 < self.learning_rate < np.inf:
            raise InputError(f"learning_rate must be above 0, got {self.learning_rate}")
        if check_graph(graph).num_edges == 0:
            raise InputError("graph must have links to walk along, got none")
        if graph.directed and not self.directed:
            graph = undirected(graph)
        rng, n = np.random.default_rng(self.seed), graph.num_nodes
        near = min(self.window, self.walk_length)
        check_steps(n, self.num_walks * self.epochs, self.walk_length * near * (self.negatives + 1))
        check_memory(
            8 * n * self.dim + 16 * self.walk_length * near, f"{n} vectors of {self.dim} numbers and one walk's pairs",
            "lower dim, window or walk_length",
        )  # fmt: skip
        self.embedding_ = ((rng.random((n, self.dim), np.float32) - 0.5) / self.dim).astype(np.float32)
        self.context_ = np.zeros((n, self.dim), np.float32)
        if start is not None:
            for own, given in zip((self.embedding_, self.context_), start, strict=True):
                if given.shape != own.shape:
                    raise InputError(f"start must be two arrays {list(own.shape)}, got shape {list(given.shape)}")
                own[:] = given
        self.directed_ = graph.directed
        table = self._negative_table(graph)
        rounds = self.num_walks * self.epochs
        for number in track(range(rounds), rounds, "skip-gram"):
            self._round(graph, rng, table, number, rounds)
        return self

    def grown(self, graph: Graph, known: NDArray[np.int64], new: NDArray[np.int64]) -> Self:
        """The model of a grown graph: known nodes keep their vectors, and vectors of new nodes are trained on walks
        from them.

        Args:
            graph: The grown graph.
            known: Positions in it of the nodes that were trained on, in their order.
            new: Positions of the others.
        """
        larger = replace(self)
        larger.directed_ = self.directed_
        if graph.directed and not self.directed_:
            graph = undirected(graph)
        n, dim = graph.num_nodes, self.embedding_.shape[1]
        source, context = np.zeros((n, dim), np.float32), np.zeros((n, dim), np.float32)
        source[known], context[known] = self.embedding_, self.context_
        is_known = np.zeros(n, np.bool_)
        is_known[known] = True
        weight = np.where(is_known, graph.degree**0.75, 0.0)
        if len(new) and weight.any():
            seen = np.cumsum(weight)
            size = max(1 << 16, 8 * n)
            table = np.searchsorted(seen, (np.arange(size) + 0.5) / size * seen[-1]).astype(np.int64)
            block = max(1, STEPS_PER_CALL // (PLACING_WALKS * (self.window + 1)))
            for begin in range(0, len(new), block):
                part = new[begin : begin + block]
                walks = random_walks(graph, part, PLACING_WALKS, self.window, self.seed)
                place_new(
                    part, walks, is_known, table, self.window, self.negatives, np.float32(PLACING_RATE), self.seed,
                    source, context,
                )  # fmt: skip
        larger.embedding_, larger.context_ = source, context
        return larger

    def _round(
        self, graph: Graph, rng: np.random.Generator, table: NDArray[np.int32], number: int, rounds: int
    ) -> None:
        """One walk from every node, in random order."""
        order = rng.permutation(graph.num_nodes)
        size = max(1, STEPS_PER_CALL // self.walk_length)
        for begin in range(0, len(order), size):
            seeds = rng.integers(2**63, size=3).tolist()
            done = (number + begin / len(order)) / rounds
            rate = np.float32(self.learning_rate * max(0.01, 1 - done))
            walks = self._walks(graph, order[begin : begin + size], seeds[0])
            pairs = bucket_pairs(walks, self.window, not graph.directed, len(table), seeds[1])
            for turn in range(len(table)):
                if self.negatives == 3:
                    train_three(*pairs, table, turn, rate, seeds[2], self.embedding_, self.context_)
                else:
                    train(*pairs, table, turn, self.negatives, rate, seeds[2], self.embedding_, self.context_)

    def _walks(self, graph: Graph, starts: NDArray[np.int64], seed: int) -> NDArray[Any]:
        if self.p == self.q == 1:
            return random_walks(graph, starts, 1, self.walk_length, seed)[:, 0]
        return second_order_walks(graph, starts, 1, self.walk_length, self.p, self.q, seed)[:, 0]

    def _negative_table(self, graph: Graph) -> NDArray[np.int32]:
        """Nodes of each part, repeated in proportion to (visits of a walk from every node) ** 0.75."""
        n = graph.num_nodes
        parts = 1 if n <= SMALL else PARTS
        visits = self._walks(graph, np.arange(n), self.seed)
        weight = np.bincount(visits[visits >= 0], minlength=n) ** 0.75
        size = max(1 << 16, 8 * (n // parts))
        table = np.empty((parts, size), np.int32)
        for part in range(parts):
            share = np.cumsum(weight[part::parts])
            ticks = (np.arange(size) + 0.5) / size * share[-1]
            table[part] = part + parts * np.searchsorted(share, ticks)
        return table

    def score_pairs(self, pairs: ArrayLike) -> NDArray[np.float32]:
        """The score of each pair of positions ``[2, m]``: higher means more likely linked."""
        if not hasattr(self, "embedding_"):
            raise InputError("SkipGram must be fitted first: call fit(graph)")
        index = np.asarray(pairs)
        if index.ndim != 2 or len(index) != 2 or (index.size and index.dtype.kind not in "iu"):
            raise InputError(f"pairs must be integers of shape [2, m], got shape {list(index.shape)} of {index.dtype}")
        index = index.astype(np.int64)
        if index.size and not 0 <= index.min() <= index.max() < len(self.embedding_):
            raise InputError(
                f"pairs must hold positions between 0 and {len(self.embedding_) - 1}, got {index.min()} to {index.max()}"
            )
        u, v = index
        scores: NDArray[np.float32] = np.einsum("ij,ij->i", self.embedding_[u], self.context_[v])
        if not self.directed_:
            scores += np.einsum("ij,ij->i", self.embedding_[v], self.context_[u])
        return scores


def _check_real(name: str, value: Any, bounds: str) -> None:
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        raise InputError(f"{name} must be {bounds}, got {describe(value)}")

"""Links by vectors only: a head is trained on held-out links, which are described by vectors made without them."""

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from graphreach.auc import auc
from graphreach.graph import Graph
from graphreach.nn.pair_head import PARTS, PairHead, fit_pair_head
from graphreach.pairs.direct import edge_entries, without_edges
from graphreach.threads import one_torch_thread
from graphreach.vectors.node_vectors import Examples

HELD_OUT, MOST_LINKS, FEWEST_LINKS = 0.1, 10_000, 50
"""Share of the links that are held out, their maximum number, and the links that a graph needs for it."""

FEWEST_HELD = PARTS
"""Minimum number of held-out links, and of pairs without a link to go with them: fewer would not allow a fair test."""

DRAWS = 8
"""Number of attempts to draw pairs without a link in a graph with few of them."""

ENOUGH = 0.99
"""If the first vectors have seen this share of the links, they are not made again."""

HIDDEN = 32
"""Width of the head's hidden layers."""

SCORED = 1 << 17
"""Number of pairs that are described at a time."""

Pairs = NDArray[np.int64]


class Described(Protocol):
    """Vectors that describe pairs."""

    def columns(self, pairs: Pairs) -> NDArray[np.float32]:
        """What describes pairs ``[2, m]``, ``[m, f]``."""

    def alike(self, pairs: Pairs) -> NDArray[np.float32]:
        """The cosine of both rows of pairs ``[2, m]``."""


Vectors = TypeVar("Vectors", bound=Described)


class LinkScorer(NamedTuple):
    """A small network that reads what two vectors say about a pair.

    Attributes:
        head: The network; None if there were too few links to train it. Then the score of a pair is the similarity of its
            rows, which is not calibrated.
        auc: AUC of the held-out links, each scored by a member that was trained without it; nan if there were none.
        links: Number of links held out.
    """

    head: PairHead | None
    auc: float = math.nan
    links: int = 0

    def logits(self, vectors: Described, pairs: Pairs) -> NDArray[np.float64]:
        """Logits of pairs ``[2, m]`` where half of them are links."""
        if self.head is None:
            return 4 * vectors.alike(pairs).astype(np.float64) - 2
        out = np.empty(pairs.shape[1])
        with one_torch_thread(), torch.no_grad():
            for begin in range(0, pairs.shape[1], SCORED):
                part = vectors.columns(pairs[:, begin : begin + SCORED])
                out[begin : begin + SCORED] = self.head(torch.from_numpy(part)).double().numpy()
        return out


def fit_with_links(
    graph: Graph, make: Callable[[Graph, Vectors | None, Examples | None], Vectors], seed: int
) -> tuple[Vectors, LinkScorer]:
    """Vectors of a graph, and a scorer of pairs that was trained on links which its vectors had not seen.

    A tenth of the links, at least 10 and at most 10,000, are held out, and vectors are made without them. A head learns to
    distinguish these links from random pairs; if the graph was read as one with two kinds of nodes, these are pairs of both
    kinds. Then vectors are made again with all links, unless all but a hundredth were there. No links are held out of fewer
    than 50, or where hardly any pair has none.

    Args:
        graph: The graph.
        make: Makes vectors of a graph with the same nodes: first with the held-out links and as many random pairs as
            examples, then from the first vectors.
        seed: Random seed of links, pairs and the head.
    """
    edges = graph.edge_index
    links = edges[:, edges[0] != edges[1] if graph.directed else edges[0] < edges[1]]
    rng = np.random.default_rng([seed, 0x6C696E6B])
    count = min(max(int(HELD_OUT * links.shape[1]), FEWEST_HELD), MOST_LINKS)
    others = np.empty((2, 0), np.int64)
    if links.shape[1] >= FEWEST_LINKS:
        others = _unlinked(graph, count, rng)
    if others.shape[1] < FEWEST_HELD:
        return make(graph, None, None), LinkScorer(None)
    held = links[:, np.sort(rng.permutation(links.shape[1])[:count])]
    linked = np.arange(held.shape[1] + others.shape[1]) < held.shape[1]
    vectors = make(without_edges(graph, held), None, Examples(np.concatenate([held, others], axis=1), linked))
    scorer = _train(vectors, held, others, seed)
    return (vectors if count <= (1 - ENOUGH) * links.shape[1] else make(graph, vectors, None)), scorer


def _unlinked(graph: Graph, count: int, rng: np.random.Generator) -> Pairs:
    """Random pairs without a link in either direction, at most ``count``; fewer in a graph that has hardly any."""
    found = np.empty((2, 0), np.int64)
    for _ in range(DRAWS):
        drawn = _draw(rng, graph, 2 * count)
        linked = (edge_entries(graph, drawn) >= 0) | (edge_entries(graph, drawn[::-1]) >= 0)
        found = np.concatenate([found, drawn[:, (drawn[0] != drawn[1]) & ~linked]], axis=1)
        if found.shape[1] >= count:
            break
    return found[:, :count]


def _draw(rng: np.random.Generator, graph: Graph, size: int) -> Pairs:
    """Random pairs; if the graph has two kinds of nodes, between these and in the directions of its edges."""
    if graph.sides is None:
        return rng.integers(0, graph.num_nodes, (2, size))
    pairs = np.stack([rng.choice(np.flatnonzero(graph.sides == side), size) for side in (0, 1)])
    sources = graph.edge_index[0]
    turned = graph.sides[sources[rng.integers(0, len(sources), size)]] == 1
    return np.where(turned, pairs[::-1], pairs)


def _train(vectors: Described, held: Pairs, others: Pairs, seed: int) -> LinkScorer:
    described = torch.from_numpy(np.concatenate([vectors.columns(held), vectors.columns(others)]))
    truth = torch.from_numpy(np.repeat([1.0, 0.0], [held.shape[1], others.shape[1]]).astype(np.float32))
    with one_torch_thread():
        head, unseen, rows = fit_pair_head(described, truth, seed, hidden_channels=HIDDEN)
    found = auc(unseen.numpy(), truth[rows].numpy() == 1) if len(rows) else math.nan
    return LinkScorer(head, found, held.shape[1])

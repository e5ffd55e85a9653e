"""The bipartite graph of walks (section 3.2), by node, and greedy coverage on it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.anchors.kernels import (
    ALL_WALKS,
    add_counts,
    collect_visits,
    count_distinct,
    cover_all,
    gains,
    greedy_samples,
    invert,
    merge_visits,
)
from graphreach.interrupts import call
from graphreach.walks.engine import Job, Walker
from graphreach.walks.rng import hash_nodes
from graphreach.walks.transitions import Transitions

NUM_SAMPLES = 5
SAMPLE_SHARE = 0.3
"""The paper's five samples of 30% of the walks."""


@dataclass(frozen=True)
class BipartiteGraph:
    """Entries (u, v): a walk that starts from v visits u at a step >= 1, u != v.

    Attributes:
        pointer: ``[n + 1]``; node u's entries are ``pointer[u] .. pointer[u + 1]``.
        starts: Which of the starts, ``[entries]``.
        masks: In which samples of walks; bit :data:`ALL_WALKS` is set everywhere, ``[entries]``.
        visits: How often walks visit each node, ``[n]``.
        rank: The order of nodes with equal gains: more visits first, then a seeded hash, ``[n]``.
        num_starts: How many starts there are.
    """

    pointer: NDArray[np.int64]
    starts: NDArray[np.uint32]
    masks: NDArray[np.uint8]
    visits: NDArray[np.int64]
    rank: NDArray[np.int64]
    num_starts: int

    def greedy(
        self, k: int, bits: Sequence[int] = (ALL_WALKS,), rounds: bool = True
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """For each sample, up to k nodes of greatest marginal coverage and these gains (Algorithm 2)."""
        chosen, gained = np.zeros((len(bits), k), np.int64), np.zeros((len(bits), k), np.int64)
        picked, by_rank = np.zeros(len(bits), np.int64), np.argsort(self.rank)
        call(
            lambda *values: greedy_samples(*values[:-1]), self.pointer, self.starts, self.masks, np.array(bits),
            self.num_starts, self.rank, by_rank, rounds, chosen, gained, picked, work=len(self.starts) * len(bits),
        )  # fmt: skip
        return [(chosen[s, :p], gained[s, :p]) for s, p in enumerate(picked)]

    def covered_by(self, anchors: NDArray[Any], bit: int = ALL_WALKS) -> int:
        """The number of starts that the anchors cover."""
        return int(np.count_nonzero(self._covered(anchors, bit)))

    def optimum_bound(self, k: int) -> int:
        """An upper bound of the number of starts that any k nodes cover, over all walks.

        For every set A, the optimum is at most f(A) plus the k greatest marginal gains given A (submodularity); the least
        of these over greedy sets of growing size is returned.
        """
        ((chosen, _),) = self.greedy(k, rounds=False)
        bound, size, gain = self.num_starts, 0, np.empty(len(self.rank), np.int64)
        while size <= len(chosen):
            covered = self._covered(chosen[:size], ALL_WALKS)
            gains(self.pointer, self.starts, self.masks, ALL_WALKS, covered, gain)
            top = np.partition(gain, len(gain) - k)[len(gain) - k :].sum() if k < len(gain) else gain.sum()
            bound = min(bound, int(np.count_nonzero(covered) + top))
            if size == len(chosen):
                break
            size = min(max(1, 2 * size), len(chosen))
        return bound

    def _covered(self, anchors: NDArray[Any], bit: int) -> NDArray[np.uint8]:
        covered: NDArray[np.uint8] = cover_all(anchors, self.pointer, self.starts, self.masks, bit, self.num_starts)
        return covered


class Piece(NamedTuple):
    """What walks from some starts visit: entries ``offsets[r] .. offsets[r + 1]`` are those of the r-th of them."""

    offsets: NDArray[np.int64]
    nodes: NDArray[np.uint32]
    masks: NDArray[np.uint8]
    counts: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class CollectVisits(Job):
    """A piece of the bipartite graph; each walk belongs to each of the samples with probability ``share``."""

    num_samples: int = NUM_SAMPLES
    share: float = SAMPLE_SHARE

    @property
    def row_bytes(self) -> int:
        """Memory that the result of one start takes."""
        return 21 * self.steps

    def walk(self, table: Transitions, starts: NDArray[np.uint32], out: NDArray[Any] | None = None) -> Piece:
        """The result for some starts."""
        visits, lengths = np.empty((len(starts), self.steps), np.int64), np.zeros(len(starts), np.int64)
        self.run(collect_visits, table, starts, self.num_samples, self.share, visits, lengths)
        offsets = np.zeros(len(starts) + 1, np.int64)
        count_distinct(visits, lengths, offsets[1:])
        np.cumsum(offsets, out=offsets)
        nodes, masks = np.empty(offsets[-1], np.uint32), np.empty(offsets[-1], np.uint8)
        counts = np.empty(offsets[-1], np.int64)
        merge_visits(visits, lengths, offsets, nodes, masks, counts)
        return Piece(offsets, nodes, masks, counts)


def bipartite_graph(walker: Walker, starts: NDArray[np.uint32], job: CollectVisits) -> BipartiteGraph:
    """Walk from ``starts`` and note who is visited from where; memory is proportional to the entries.

    Example:
        >>> from graphreach import Graph
        >>> from graphreach.walks.engine import LocalWalker
        >>> path = LocalWalker(Graph.from_edges([[0, 1], [1, 2]], directed=True))
        >>> job = CollectVisits(num_walks=2, length=2, seed=0)
        >>> bipartite_graph(path, np.arange(3, dtype=np.uint32), job).pointer  # 1 is visited from 0; 2 from 0 and 1
        array([0, 0, 1, 3])
    """
    return _by_node(walker.map(job, starts, "walks for anchors"), walker.num_nodes, len(starts), job.seed)


def _by_node(found: Iterable[tuple[int, Piece]], n: int, num_starts: int, seed: int) -> BipartiteGraph:
    """The bipartite graph from pieces with the number of their first start, which come in order."""
    degree, visits = np.zeros(n, np.int64), np.zeros(n, np.int64)
    pieces = []
    for first, piece in found:
        add_counts(piece.nodes, piece.counts, degree, visits)
        pieces.append((first, piece.offsets, piece.nodes, piece.masks))
    pointer = np.concatenate([[0], np.cumsum(degree)])
    by_start, by_mask = np.empty(pointer[-1], np.uint32), np.empty(pointer[-1], np.uint8)
    cursor = pointer[:-1].copy()
    for first, offsets, nodes, masks in pieces:
        invert(nodes, masks, offsets, first, cursor, by_start, by_mask)
    order = np.lexsort((hash_nodes(seed, np.arange(n)), -visits))
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    return BipartiteGraph(pointer, by_start, by_mask, visits, rank, num_starts)

"""The bipartite graph of walks (section 3.2), by node, and greedy coverage on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.anchors.kernels import add_counts, gains, greedy_samples, invert
from graphreach.walks.engine import Job, Transitions, Walker
from graphreach.walks.rng import hash_nodes
from graphreach.walks.visits import ALL_WALKS, BYTES_PER_STEP, Visits, collect_visits

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
        chosen, gained = np.zeros((2, len(bits), k), np.int64)
        picked, nobody = np.zeros(len(bits), np.int64), np.zeros(self.num_starts, np.uint8)
        keys = self._gains(nobody, bits)
        np.subtract(self.num_starts, keys, out=keys)  # in place: a graph may have very many nodes
        keys *= len(self.rank)
        keys += self.rank
        keys.sort(axis=1)
        greedy_samples(
            bits, self.pointer, self.starts, self.masks, np.argsort(self.rank), rounds, self.num_starts, keys, chosen,
            gained, picked,
        )  # fmt: skip
        return [(chosen[s, :p], gained[s, :p]) for s, p in enumerate(picked)]

    def covered_by(self, anchors: NDArray[Any]) -> int:
        """The number of starts that the anchors cover, over all walks."""
        return int(np.count_nonzero(self._covered(anchors)))

    def optimum_bound(self, k: int) -> int:
        """An upper bound of the number of starts that any k nodes cover, over all walks.

        For every set A, the optimum is at most f(A) plus the k greatest marginal gains given A (submodularity); the least
        of these over greedy sets of growing size is returned.
        """
        ((chosen, _),) = self.greedy(k, rounds=False)
        bound, size = self.num_starts, 0
        while size <= len(chosen):
            covered = self._covered(chosen[:size])
            (gain,) = self._gains(covered, [ALL_WALKS])
            top = np.partition(gain, len(gain) - k)[len(gain) - k :].sum() if k < len(gain) else gain.sum()
            bound = min(bound, int(np.count_nonzero(covered) + top))
            if size == len(chosen):
                break
            size = min(max(1, 2 * size), len(chosen))
        return bound

    def _gains(self, covered: NDArray[np.uint8], bits: Sequence[int]) -> NDArray[np.int64]:
        """How many starts each node would cover that are not covered yet, in each sample, ``[bits, n]``."""
        out = np.empty((len(bits), len(self.rank)), np.int64)
        gains(self.pointer, self.starts, self.masks, np.array(bits), covered, out)
        return out

    def _covered(self, anchors: NDArray[Any]) -> NDArray[np.uint8]:
        """1 for each start that any of the anchors covers, else 0."""
        covered = np.zeros(self.num_starts, np.uint8)
        for u in anchors:
            covered[self.starts[self.pointer[u] : self.pointer[u + 1]]] = 1
        return covered


@dataclass(frozen=True, kw_only=True)
class CollectVisits(Job):
    """A piece of the bipartite graph; each walk belongs to each of the samples with probability ``share``."""

    num_samples: int = NUM_SAMPLES
    share: float = SAMPLE_SHARE

    @property
    def row_bytes(self) -> int:
        """Memory that the result of one start takes."""
        return BYTES_PER_STEP * self.steps

    def walk(self, table: Transitions, starts: NDArray[np.uint32], out: NDArray[Any] | None = None) -> Visits:
        """The result for some starts."""
        ones = np.ones(self.length + 1, np.int64)
        return collect_visits(self, table, starts, ones, samples=self.num_samples, chance=self.share, returns=False)


def bipartite_graph(walker: Walker, starts: NDArray[np.uint32], job: CollectVisits) -> BipartiteGraph:
    """Walk from ``starts`` and note who is visited from where; memory is proportional to the entries."""
    n = walker.num_nodes
    degree, visits = np.zeros(n, np.int64), np.zeros(n, np.int64)
    pieces = []
    for first, piece in walker.map(job, starts, "walks for anchors"):
        add_counts(piece.entries, piece.totals, degree, visits)
        pieces.append((first, piece._replace(totals=visits)))  # a piece's own totals are no longer needed
    pointer = np.concatenate([[0], np.cumsum(degree)])
    by_start, by_mask = np.empty(pointer[-1], np.uint32), np.empty(pointer[-1], np.uint8)
    cursor = pointer[:-1].copy()
    for first, piece in pieces:
        invert(piece.entries, piece.samples, piece.offsets, first, cursor, by_start, by_mask)
    order = np.lexsort((hash_nodes(job.seed, np.arange(n)), -visits))
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    return BipartiteGraph(pointer, by_start, by_mask, visits, rank, len(starts))

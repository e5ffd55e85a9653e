"""Reachability by counting what random walks visit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from graphreach.errors import InputError
from graphreach.reachability.layouts import compress, from_rows
from graphreach.walks.engine import Job, Transitions, Walker
from graphreach.walks.kernels import bitmap
from graphreach.walks.visits import BYTES_PER_STEP, collect_visits, count_visits, equal_weights

ORDER_UNIT = 1 << 40
"""1 / t is counted as a whole number of 2^-40, so that sums do not depend on their order."""

MAX_ORDER_WALKS = (2**63 - 1) // ORDER_UNIT
"""Walks whose counts fit into 64 bits in that unit."""

CSR_ROWS = 8192
"""Rows that are counted densely before they are compressed."""


class Counting:
    """What a visit at each step counts, and what one count is worth."""

    def __init__(self, similarity: str, num_walks: int, length: int, hops: int | None) -> None:
        self.num_walks, self.length, self.hops = num_walks, length, hops or 1
        self.first_only = similarity == "order"
        if self.first_only and num_walks > MAX_ORDER_WALKS:
            raise InputError(f'num_walks must be at most {MAX_ORDER_WALKS} with similarity="order", got {num_walks}')
        visits = num_walks if hops else num_walks * length
        self.step_weight = equal_weights(length, visits)
        if self.first_only:
            self.step_weight = np.rint(ORDER_UNIT / np.maximum(1, np.arange(length + 1))).astype(np.int64)
            self.step_weight.flags.writeable = False
        self.scale = 1.0 / ORDER_UNIT if self.first_only else 1.0 / visits


@dataclass(frozen=True, kw_only=True)
class CountToAnchors(Job):
    """s(v, a) of the starts v, dense or compressed.

    Attributes:
        column: Each anchor's column, ``[n]``; which nodes are anchors ``wanted`` says.
        num_anchors: How many there are.
        counting: What a visit counts.
        compressed: Whether rows are compressed.
    """

    column: NDArray[np.uint32]
    num_anchors: int
    counting: Counting
    compressed: bool = False

    @classmethod
    def make(
        cls, anchors: NDArray[Any], num_nodes: int, counting: Counting, seed: int, compressed: bool = False
    ) -> "CountToAnchors":
        """The job for these anchors."""
        column = np.zeros(num_nodes, np.uint32)
        column[anchors] = np.arange(len(anchors))
        column.flags.writeable = False
        return cls(
            num_walks=counting.num_walks, length=counting.length, seed=seed, wanted=bitmap(anchors, num_nodes),
            column=column, num_anchors=len(anchors), counting=counting, compressed=compressed,
        )  # fmt: skip

    @property
    def columns(self) -> int:
        """Columns of the matrix."""
        return self.num_anchors * self.counting.hops

    @property
    def row_bytes(self) -> int:
        """Memory that the result of one start takes."""
        return 4 * self.columns

    @property
    def most_rows(self) -> int | None:
        """Maximum number of starts to walk from at a time: their rows are dense before they are compressed."""
        return CSR_ROWS if self.compressed else None

    def walk(self, table: Transitions, starts: NDArray[np.uint32], out: NDArray[Any] | None = None) -> Any:
        """The result for some starts."""
        counting = self.counting
        if out is None:
            out = np.empty((len(starts), self.columns), np.float32)
        self.run(
            count_visits, table, starts, self.wanted, self.column, self.num_anchors, counting.step_weight, counting.hops,
            True, counting.first_only, counting.scale, out,
        )  # fmt: skip
        return compress(out) if self.compressed else out

    def matrix(self, walker: Walker, starts: NDArray[np.uint32]) -> Any:
        """One row for each start."""
        if self.compressed:
            pieces = (piece for _, piece in walker.map(self, starts, "walks to anchors"))
            return from_rows(pieces, len(starts), self.columns)
        out = np.empty((len(starts), self.columns), np.float32)
        walker.fill(self, starts, out, "walks to anchors")
        return out


Shares = tuple[NDArray[Any], NDArray[np.float32], NDArray[np.int64]]
"""Entries source by source, their values, and how many each source has."""


@dataclass(frozen=True, kw_only=True)
class CountFromAnchors(Job):
    """s(a, v) of the starts a where it is not zero: at most n_w l_w entries for each."""

    counting: Counting

    @classmethod
    def make(cls, counting: Counting, seed: int) -> "CountFromAnchors":
        """The job for any starts."""
        return cls(num_walks=counting.num_walks, length=counting.length, seed=seed, counting=counting)

    @property
    def row_bytes(self) -> int:
        """Memory that the result of one start takes."""
        return BYTES_PER_STEP * self.steps

    def walk(self, table: Transitions, starts: NDArray[np.uint32], out: NDArray[Any] | None = None) -> Shares:
        """The result for some starts."""
        counting = self.counting
        found = collect_visits(
            self, table, starts, counting.step_weight, hops=counting.hops, first_only=counting.first_only
        )
        return found.entries, (found.totals * counting.scale).astype(np.float32), np.diff(found.offsets)

    def matrix(self, walker: Walker, starts: NDArray[np.uint32], description: str = "walks from anchors") -> csc_array:
        """One column for each start, or one for each start and hop."""
        pieces = (piece for _, piece in walker.map(self, starts, description))
        return by_column(pieces, walker.num_nodes, self.counting.hops)


def by_column(pieces: Iterable[Shares], num_nodes: int, hops: int) -> csc_array:
    """A matrix of nodes by anchors, or by anchors and hops, from pieces of anchors in order."""
    entries, values, lengths = (np.concatenate(part) for part in zip(*pieces, strict=True))
    shape = (num_nodes, len(lengths) * hops)
    if hops == 1:
        return csc_array((values, entries, np.concatenate([[0], np.cumsum(lengths)])), shape=shape)
    column = np.repeat(np.arange(len(lengths)), lengths) * hops + entries % hops
    order = np.argsort(column, kind="stable")
    pointer = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=shape[1]))])
    return csc_array((values[order], (entries // hops)[order], pointer), shape=shape)


def sampled_reachability(
    walker: Walker, anchors: NDArray[Any], counting: Counting, seed: int, layout: str
) -> tuple[Any, Any]:
    """Both matrices, in the layout asked for; with hops their columns are anchor by anchor."""
    n = walker.num_nodes
    job = CountToAnchors.make(anchors, n, counting, seed, compressed=layout == "csr")
    to = job.matrix(walker, np.arange(n, dtype=np.uint32))
    back = CountFromAnchors.make(counting, seed).matrix(walker, anchors.astype(np.uint32))
    return to, csr_array(back.tocsr()) if layout == "csr" else back.toarray()

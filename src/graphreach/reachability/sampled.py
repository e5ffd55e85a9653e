"""Reachability by counting what random walks visit."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.interrupts import call
from graphreach.reachability.layouts import Block, compress, from_entries, from_rows
from graphreach.reachability.walk_kernels import count_visits, visits_from
from graphreach.walks.random_walks import row_chunks
from graphreach.walks.transitions import Transitions, transitions

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
        # the kernel counts in the type of this array; 32 bits keep more counters in cache
        self.step_weight = np.ones(length + 1, np.int32 if visits < 2**31 else np.int64)
        if self.first_only:
            self.step_weight = np.rint(ORDER_UNIT / np.maximum(1, np.arange(length + 1))).astype(np.int64)
        self.step_weight.flags.writeable = False
        self.scale = 1.0 / ORDER_UNIT if self.first_only else 1.0 / visits

    def room(self, rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Arrays for the visits of so many sources, their totals, and how many there are."""
        shape = (rows, self.num_walks * self.length)
        return np.empty(shape, np.int64), np.empty(shape, np.int64), np.zeros(rows, np.int64)

    def entries(self, visits: NDArray[np.int64], totals: NDArray[np.int64], count: NDArray[np.int64]) -> "Visits":
        """The filled part of such arrays."""
        kept = np.arange(visits.shape[1]) < count[:, None]
        return visits[kept], (totals[kept] * self.scale).astype(np.float32), count


class Targets(NamedTuple):
    """Anchors as the kernels look them up: a bitmap of the nodes, each anchor's column, how many there are."""

    bitmap: NDArray[np.uint64]
    column: NDArray[np.uint32]
    number: int

    @classmethod
    def make(cls, anchors: NDArray[Any], num_nodes: int) -> "Targets":
        """Look-up tables for ``anchors``."""
        flags, column = bitmap(anchors, num_nodes), np.zeros(num_nodes, np.uint32)
        column[anchors] = np.arange(len(anchors))
        column.flags.writeable = False
        return cls(flags, column, len(anchors))


def count_rows(
    table: Transitions, starts: NDArray[np.uint32], targets: Targets, counting: Counting, seed: int,
    out: NDArray[np.float32],
) -> None:  # fmt: skip
    """s(v, a) of the starts v, one row each."""
    call(
        count_visits, *table, starts, counting.num_walks, counting.length, seed, *targets, counting.step_weight,
        counting.hops, counting.first_only, counting.scale, out,
        work=len(starts) * counting.num_walks * counting.length,
    )  # fmt: skip


def to_anchor_blocks(
    graph: Graph, anchors: NDArray[Any], counting: Counting, seed: int, out: NDArray[np.float32] | None = None
) -> Iterator[Block]:
    """s(v, a) in blocks of rows, written to ``out`` where it is given."""
    n, k = graph.num_nodes, len(anchors)
    targets, starts = Targets.make(anchors, n), np.arange(n, dtype=np.uint32)
    for chunk in row_chunks(n, counting.num_walks * counting.length, "walks to anchors"):
        step = chunk.stop - chunk.start if out is not None else CSR_ROWS
        for begin in range(chunk.start, chunk.stop, step):
            rows = slice(begin, min(begin + step, chunk.stop))
            block = np.empty((rows.stop - begin, k * counting.hops), np.float32) if out is None else out[rows]
            count_rows(transitions(graph), starts[rows], targets, counting, seed, block)
            yield begin, block


Visits = tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]
"""Entries source by source, their values, and how many each source has."""


def visits_of(table: Transitions, sources: NDArray[np.uint32], counting: Counting, seed: int) -> Visits:
    """s(a, v) of the sources a where it is not zero: there are at most n_w l_w of them a source."""
    visits, totals, count = counting.room(len(sources))
    call(
        visits_from, *table, sources, counting.num_walks, counting.length, seed, counting.step_weight, counting.hops,
        counting.first_only, visits, totals, count, work=visits.size,
    )  # fmt: skip
    return counting.entries(visits, totals, count)


def from_anchor_pieces(graph: Graph, anchors: NDArray[Any], counting: Counting, seed: int) -> Iterator[Visits]:
    """s(a, v) in blocks of anchors."""
    sources = anchors.astype(np.uint32)
    for rows in row_chunks(len(anchors), counting.num_walks * counting.length, "walks from anchors", bytes_per_step=16):
        yield visits_of(transitions(graph), sources[rows], counting, seed)


def by_column(pieces: Iterable[Visits], num_nodes: int, hops: int) -> csc_array:
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
    graph: Graph, anchors: NDArray[Any], counting: Counting, seed: int, layout: str, cluster: Any = None
) -> tuple[Any, Any]:
    """Both matrices, in the layout asked for; with hops their columns are anchor by anchor."""
    n, columns = graph.num_nodes, len(anchors) * counting.hops
    if cluster is not None:
        to = cluster.to_anchors(anchors, counting, seed, layout)
        pieces = cluster.from_anchors(anchors, counting, seed)
    else:
        if layout == "csr":
            to = from_rows(
                (compress(block) for _, block in to_anchor_blocks(graph, anchors, counting, seed)), n, columns
            )
        else:
            to = np.empty((n, columns), np.float32)
            for _ in to_anchor_blocks(graph, anchors, counting, seed, out=to):
                pass
        pieces = from_anchor_pieces(graph, anchors, counting, seed)
    return to, from_entries(by_column(pieces, n, counting.hops), layout)


def bitmap(anchors: NDArray[Any], num_nodes: int) -> NDArray[np.uint64]:
    """A bit for each node, 64 in a number.

    Example:
        >>> bitmap(np.array([0, 65]), num_nodes=70)
        array([1, 2], dtype=uint64)
    """
    flags = np.zeros(-(-num_nodes // 64) * 64, np.bool_)
    flags[anchors] = True
    packed: NDArray[np.uint64] = np.packbits(flags, bitorder="little").view("<u8").astype(np.uint64)
    packed.flags.writeable = False
    return packed

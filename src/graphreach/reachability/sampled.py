"""Reachability by counting what random walks visit."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from graphreach.graph import Graph
from graphreach.reachability.layouts import Block, from_entries, from_rows
from graphreach.reachability.walk_kernels import count_visits, visits_from
from graphreach.walks.random_walks import row_chunks
from graphreach.walks.transitions import transitions

ORDER_UNIT = 1 << 40
"""1 / t is counted as a whole number of 2^-40, so that sums do not depend on their order."""

CSR_ROWS = 8192
"""Rows that are counted densely before they are compressed."""


class Counting:
    """What a visit at each step counts, and what one count is worth."""

    def __init__(self, similarity: str, num_walks: int, length: int, hops: int | None) -> None:
        self.num_walks, self.length, self.hops = num_walks, length, hops or 1
        self.first_only = similarity == "order"
        visits = num_walks if hops else num_walks * length
        # the kernel counts in the type of this array; 32 bits keep more counters in cache
        self.step_weight = np.ones(length + 1, np.int32 if visits < 2**31 else np.int64)
        if self.first_only:
            self.step_weight = np.rint(ORDER_UNIT / np.maximum(1, np.arange(length + 1))).astype(np.int64)
        self.scale = 1.0 / ORDER_UNIT if self.first_only else 1.0 / visits


def to_anchor_blocks(
    graph: Graph, anchors: NDArray[Any], counting: Counting, seed: int, out: NDArray[np.float32] | None = None
) -> Iterator[Block]:
    """s(v, a) in blocks of rows, written to ``out`` where it is given."""
    n, k = graph.num_nodes, len(anchors)
    bitmap, column = _bitmap(anchors, n), np.zeros(n, np.uint32)
    column[anchors] = np.arange(k)
    starts = np.arange(n, dtype=np.uint32)
    for chunk in row_chunks(n, counting.num_walks * counting.length, "walks to anchors"):
        step = chunk.stop - chunk.start if out is not None else CSR_ROWS
        for begin in range(chunk.start, chunk.stop, step):
            rows = slice(begin, min(begin + step, chunk.stop))
            block = np.empty((rows.stop - begin, k * counting.hops), np.float32) if out is None else out[rows]
            count_visits(
                *transitions(graph), starts[rows], counting.num_walks, counting.length, seed, bitmap, column, k,
                counting.step_weight, counting.hops, counting.first_only, counting.scale, block,
            )  # fmt: skip
            yield begin, block


def from_anchor_entries(graph: Graph, anchors: NDArray[Any], counting: Counting, seed: int) -> csc_array:
    """s(a, v) as entries by column: there are at most n_w l_w of them an anchor."""
    longest = counting.num_walks * counting.length
    sources = anchors.astype(np.uint32)
    nodes, values, lengths = [], [], []
    for rows in row_chunks(len(anchors), longest, "walks from anchors"):
        size = rows.stop - rows.start
        visits, totals = np.empty((size, longest), np.int64), np.empty((size, longest), np.int64)
        count = np.zeros(size, np.int64)
        visits_from(
            *transitions(graph), sources[rows], counting.num_walks, counting.length, seed, counting.step_weight,
            counting.hops, counting.first_only, visits, totals, count,
        )  # fmt: skip
        kept = np.arange(longest) < count[:, None]
        nodes.append(visits[kept])
        values.append((totals[kept] * counting.scale).astype(np.float32))
        lengths.append(count)
    return _by_column(np.concatenate(nodes), np.concatenate(values), np.concatenate(lengths), graph, counting.hops)


def _by_column(
    entries: NDArray[np.int64],
    values: NDArray[np.float32],
    lengths: NDArray[np.int64],
    graph: Graph,
    hops: int,
) -> csc_array:
    shape = (graph.num_nodes, len(lengths) * hops)
    if hops == 1:
        return csc_array((values, entries, np.concatenate([[0], np.cumsum(lengths)])), shape=shape)
    column = np.repeat(np.arange(len(lengths)), lengths) * hops + entries % hops
    order = np.argsort(column, kind="stable")
    pointer = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=shape[1]))])
    return csc_array((values[order], (entries // hops)[order], pointer), shape=shape)


def sampled_reachability(
    graph: Graph, anchors: NDArray[Any], counting: Counting, seed: int, layout: str
) -> tuple[Any, Any]:
    """Both matrices, in the layout asked for; with hops their columns are anchor by anchor."""
    n, columns = graph.num_nodes, len(anchors) * counting.hops
    if layout == "csr":
        to = from_rows(to_anchor_blocks(graph, anchors, counting, seed), n, columns)
    else:
        to = np.empty((n, columns), np.float32)
        for _ in to_anchor_blocks(graph, anchors, counting, seed, out=to):
            pass
    return to, from_entries(from_anchor_entries(graph, anchors, counting, seed), layout)


def _bitmap(anchors: NDArray[Any], num_nodes: int) -> NDArray[np.uint64]:
    flags = np.zeros(-(-num_nodes // 64) * 64, np.bool_)
    flags[anchors] = True
    packed: NDArray[np.uint64] = np.packbits(flags, bitorder="little").view("<u8").astype(np.uint64)
    return packed

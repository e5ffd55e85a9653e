"""Numba kernels that train embeddings on pairs of nodes that are near each other in walks.

Nodes are dealt out to ``parts`` parts by their number. A pair (u, v) changes the source row of u and context rows of v's
part only. So buckets of pairs (part i, part j) with different i and different j can be trained at the same time. The
result depends on the number of parts, never on threads.
"""

from typing import Any

import numpy as np
from numba import uint64

from graphreach.jit import fast_inline_kernel, fast_kernel, fast_parallel_kernel, fill, kernel
from graphreach.walks.rng import start_key, step_bits


@kernel
def _context(key: Any, i: Any, window: Any, both_ways: Any, length: Any) -> Any:
    """The positions that are context of position i: up to a number of steps drawn from 1 .. window."""
    reach = 1 + np.int64(step_bits(key, i + 1) % uint64(window))
    return max(0, i - reach) if both_ways else i + 1, min(length, i + reach + 1)


@kernel
def bucket_pairs(walks: Any, window: Any, both_ways: Any, parts: Any, seed: Any) -> Any:
    """Pairs (node, node near it in a walk) of each bucket, parts x parts of them: pointer, node, context."""
    pointer = np.zeros(parts * parts + 1, np.int64)
    for turn in range(2):
        if turn == 1:
            for b in range(parts * parts):
                pointer[b + 1] += pointer[b]
            cursor = pointer.copy()
            node, near = np.empty(pointer[-1], np.int32), np.empty(pointer[-1], np.int32)
        for r in range(len(walks)):
            walk, key = walks[r], start_key(seed, r)
            for i in range(len(walk)):
                u = np.int64(walk[i])
                if u < 0:
                    break
                begin, end = _context(key, i, window, both_ways, len(walk))
                for j in range(begin, end):
                    v = np.int64(walk[j])
                    if v < 0 or v == u:
                        continue
                    bucket = u % parts * parts + v % parts
                    if turn == 0:
                        pointer[bucket + 1] += 1
                    else:
                        node[cursor[bucket]], near[cursor[bucket]] = u, v
                        cursor[bucket] += 1
    return pointer, node, near


@fast_kernel
def _pull(target: Any, row: Any, label: Any, rate: Any, change: Any) -> None:
    """One step for one (node, context): the context's row moves, the node's change is added up."""
    dot = row.dtype.type(0)
    for c in range(len(row)):
        dot += row[c] * target[c]
    g = rate * (label - row.dtype.type(1) / (row.dtype.type(1) + np.exp(-dot)))
    for c in range(len(row)):
        before = target[c]
        change[c] += g * before
        target[c] = before + g * row[c]


@fast_parallel_kernel
def train(
    share: Any, pointer: Any, node: Any, near: Any, table: Any, turn: Any, negatives: Any, rate: Any, seed: Any,
    source: Any, context: Any,
) -> None:  # fmt: skip
    """One of ``parts`` turns of a pass over bucketed pairs, in which no two buckets share a part.

    ``table`` [parts, size] lists each part's nodes as often as they shall be drawn.
    """
    parts, size = table.shape
    one, zero = source.dtype.type(1), source.dtype.type(0)
    for i in range(share[0], parts, share[1]):
        j = (i + turn) % parts
        bucket = i * parts + j
        key = start_key(seed, bucket)
        change = np.empty(source.shape[1], source.dtype)
        for e in range(pointer[bucket], pointer[bucket + 1]):
            row = source[node[e]]
            fill(change, 0)
            _pull(context[near[e]], row, one, rate, change)
            for k in range(negatives):
                draw = step_bits(key, e * negatives + k + 1) >> uint64(32)
                other = table[j, (draw * uint64(size)) >> uint64(32)]
                if other != near[e]:
                    _pull(context[other], row, zero, rate, change)
            for c in range(len(row)):
                row[c] += change[c]


@fast_inline_kernel
def _slope(one: Any, dot: Any, label: Any, rate: Any) -> Any:
    """How far a step goes along the vector on the other side of a dot product."""
    return rate * (label - one / (one + np.exp(-dot)))


@fast_inline_kernel
def _four_dots(row: Any, near: Any, first: Any, second: Any, third: Any) -> Any:
    """Dot products of a row with its context and with three others."""
    p = a = b = c = row.dtype.type(0)
    for k in range(len(row)):
        own = row[k]
        p += own * near[k]
        a += own * first[k]
        b += own * second[k]
        c += own * third[k]
    return p, a, b, c


@fast_inline_kernel
def _four_steps(
    row: Any, near: Any, first: Any, second: Any, third: Any, p: Any, a: Any, b: Any, c: Any
) -> None:  # fmt: skip
    """Move a row, its context and three others, all from what they were before.

    The context is written last: where one of the others is the same node, its step counts, not theirs of length 0.
    """
    for k in range(len(row)):
        own, w, x, y, z = row[k], near[k], first[k], second[k], third[k]
        first[k] = x + a * own
        second[k] = y + b * own
        third[k] = z + c * own
        near[k] = w + p * own
        row[k] = own + (p * w + a * x + b * y + c * z)


@fast_inline_kernel
def _drawn(listed: Any, key: Any, number: Any) -> Any:
    """One node of a list."""
    return listed[((step_bits(key, number) >> uint64(32)) * uint64(len(listed))) >> uint64(32)]


@fast_parallel_kernel
def train_three(
    share: Any, pointer: Any, node: Any, near: Any, table: Any, turn: Any, rate: Any, seed: Any, source: Any,
    context: Any,
) -> None:  # fmt: skip
    """:func:`train` with three negatives, faster: one pass over the vectors takes all four steps of a pair.

    A node that is drawn twice for a pair takes one step.
    """
    parts, one, zero = len(table), source.dtype.type(1), source.dtype.type(0)
    for i in range(share[0], parts, share[1]):
        j = (i + turn) % parts
        bucket, listed = i * parts + j, table[j]
        key = start_key(seed, bucket)
        for e in range(pointer[bucket], pointer[bucket + 1]):
            v = near[e]
            x, y, z = _drawn(listed, key, 3 * e + 1), _drawn(listed, key, 3 * e + 2), _drawn(listed, key, 3 * e + 3)
            row, pulled, first, second, third = source[node[e]], context[v], context[x], context[y], context[z]
            p, a, b, c = _four_dots(row, pulled, first, second, third)
            p = _slope(one, p, one, rate)
            a = _slope(one, a, zero, zero if x == v else rate)
            b = _slope(one, b, zero, zero if y == v else rate)
            c = _slope(one, c, zero, zero if z == v else rate)
            _four_steps(row, pulled, first, second, third, p, a, b, c)


@fast_inline_kernel
def _lean(row: Any, target: Any, label: Any, rate: Any) -> None:
    """One step of a row towards a target, or away from it; the target stays."""
    dot = row.dtype.type(0)
    for c in range(len(row)):
        dot += row[c] * target[c]
    g = rate * (label - row.dtype.type(1) / (row.dtype.type(1) + np.exp(-dot)))
    for c in range(len(row)):
        row[c] += g * target[c]


@fast_parallel_kernel
def place_new(
    share: Any, new: Any, walks: Any, known: Any, table: Any, window: Any, negatives: Any, rate: Any, seed: Any,
    source: Any, context: Any,
) -> None:  # fmt: skip
    """Train the rows of new nodes on walks that begin there, while the rows of all known nodes stay.

    ``walks`` [new, walks, steps + 1]. Rows of different nodes do not meet, so that threads change nothing.
    """
    one, zero = source.dtype.type(1), source.dtype.type(0)
    count, size = walks.shape[1], len(table)
    for i in range(share[0], len(new), share[1]):
        row, other = source[new[i]], context[new[i]]
        key = start_key(seed, i)
        for w in range(count):
            reach = 1 + np.int64(step_bits(key, w + 1) % uint64(window))
            now = rate * max(source.dtype.type(0.01), one - source.dtype.type(w) / source.dtype.type(count))
            for j in range(1, min(reach + 1, walks.shape[2])):
                v = np.int64(walks[i, w, j])
                if v < 0:
                    break
                if not known[v]:
                    continue
                _lean(row, context[v], one, now)
                _lean(other, source[v], one, now)
                for k in range(negatives):
                    draw = step_bits(key, ((w + 1) * window + j) * negatives + k + count + 1) >> uint64(32)
                    far = np.int64(table[(draw * uint64(size)) >> uint64(32)])
                    if far != v:
                        _lean(row, context[far], zero, now)
                        _lean(other, source[far], zero, now)

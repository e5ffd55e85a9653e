"""Numba kernels for the reachability of listed pairs: sparse rows of the powers of P, a source at a time.

From a source u the distribution after t jumps is spread from its support only. The last two steps need not be spread: for
a target v, P^{t+1}(u, v) is a sum over the in-neighbours w of v, and P^{t+2}(u, v) one over their in-neighbours. Per
source the cheaper way is taken; both give the same number.
"""

from typing import Any

import numpy as np

from graphreach.jit import kernel, parallel_kernel, rows_of

PARTS = 128
"""Sources are dealt out to this many pieces, each with scratch memory of its own."""


@kernel
def spread(
    indptr: Any,
    indices: Any,
    weights: Any,
    inverse: Any,
    x: Any,
    support: Any,
    count: Any,
    y: Any,
    found: Any,
) -> Any:
    """y = x P for an x with ``count`` non-zero entries at ``support``; x is cleared. Returns the size of y's support."""
    size = 0
    for i in range(count):
        v = support[i]
        share = x[v] * inverse[v]
        x[v] = 0.0
        for e in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            u = np.int64(indices[e])
            part = share if weights is None else share * weights[e]
            if part > 0.0:  # a product may vanish; a node without weight must not be listed twice
                if y[u] == 0.0:
                    found[size] = u
                    size += 1
                y[u] += part
    return size


@kernel
def pull(indptr: Any, indices: Any, weights: Any, inverse: Any, x: Any, v: Any) -> Any:
    """(x P)(v), summed over the in-neighbours of v (the arrays are those of the transposed graph)."""
    total = 0.0
    for e in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
        u = np.int64(indices[e])
        total += x[u] * inverse[u] if weights is None else x[u] * inverse[u] * weights[e]
    return total


@kernel
def pull_twice(indptr: Any, indices: Any, weights: Any, inverse: Any, x: Any, v: Any) -> Any:
    """(x P P)(v), summed over the in-neighbours of the in-neighbours of v."""
    total = 0.0
    for e in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
        u = np.int64(indices[e])
        part = pull(indptr, indices, weights, inverse, x, u) * inverse[u]
        total += part if weights is None else part * weights[e]
    return total


@kernel
def _spread_cost(indptr: Any, support: Any, count: Any) -> Any:
    """The edges of the listed nodes."""
    cost = np.int64(0)
    for i in range(count):
        cost += np.int64(indptr[support[i] + 1]) - np.int64(indptr[support[i]])
    return cost


@kernel
def source_powers(
    indptr: Any, indices: Any, weights: Any, back_indptr: Any, back_indices: Any, back_weights: Any, inverse: Any,
    pull_cost: Any, source: Any, targets: Any, length: Any, x: Any, y: Any, support: Any, found: Any, out: Any,
) -> None:  # fmt: skip
    """out[p, t - 1] = P^t(source, targets[p]) for t = 1 .. length. x and y are zero before and after."""
    x[source] = 1.0
    support[0] = source
    count = 1
    once, twice = _spread_cost(back_indptr, targets, len(targets)), np.int64(0)
    for v in targets:
        twice += pull_cost[v]
    t = 0
    while t < length:
        if t >= length - 2 and (once if t == length - 1 else twice) <= _spread_cost(indptr, support, count):
            break
        count = spread(indptr, indices, weights, inverse, x, support, count, y, found)
        x, y = y, x
        support, found = found, support
        t += 1
        for p in range(len(targets)):
            out[p, t - 1] = x[targets[p]]
    for p in range(len(targets)):
        if t <= length - 2:
            out[p, length - 2] = pull(back_indptr, back_indices, back_weights, inverse, x, targets[p])
            out[p, length - 1] = pull_twice(back_indptr, back_indices, back_weights, inverse, x, targets[p])
        elif t == length - 1:
            out[p, length - 1] = pull(back_indptr, back_indices, back_weights, inverse, x, targets[p])
    for i in range(count):
        x[support[i]] = 0.0


@parallel_kernel
def pair_powers(
    share: Any, indptr: Any, indices: Any, weights: Any, back_indptr: Any, back_indices: Any, back_weights: Any,
    inverse: Any, pull_cost: Any, sources: Any, pointer: Any, targets: Any, length: Any, hops: Any, out: Any,
) -> None:  # fmt: skip
    """out[p] = mean over t of P^t(u, targets[p]), or each power apart if ``hops``; source j owns pointer[j]..[j + 1]."""
    n = len(indptr) - 1
    for part in range(share[0], min(PARTS, len(sources)), share[1]):
        x, y = np.zeros(n, np.float64), np.zeros(n, np.float64)
        support, found = np.empty(n, np.uint32), np.empty(n, np.uint32)
        for j in range(part, len(sources), PARTS):
            here = targets[pointer[j] : pointer[j + 1]]
            powers = np.zeros((len(here), length), np.float64)
            source_powers(
                indptr, indices, weights, back_indptr, back_indices, back_weights, inverse,
                pull_cost, sources[j], here, length, x, y, support, found, powers,
            )  # fmt: skip
            for p in range(len(here)):
                if hops:
                    for t in range(length):
                        out[pointer[j] + p, t] = powers[p, t]
                else:
                    out[pointer[j] + p, 0] = powers[p].sum() / length


@parallel_kernel
def two_hop_edges(share: Any, indptr: Any, indices: Any, out: Any) -> None:
    """For each node the edges that :func:`pull_twice` looks at."""
    for v in rows_of(share, len(out)):
        out[v] = 0
        for e in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            u = np.int64(indices[e])
            out[v] += np.int64(indptr[u + 1]) - np.int64(indptr[u]) + 1

"""Numba kernels for graphs that change: edges of a batch merged, rows of touched nodes made again, rows joined to arrays.

Rows are given as ``ptr`` and ``targets``, those of listed nodes one after the other; weights and times are ``float64``,
empty where there are none, so that each kernel is compiled once. No row is written to: all kernels return new arrays.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.graph.build import EQUAL
from graphreach.graph.kernels import merge_weights
from graphreach.jit import kernel

ADD, REMOVE, SET = 0, 1, 2
"""What a change does to an edge."""

SOUND, TWICE, ASYMMETRIC, UNEQUAL = 0, 1, 2, 3
"""Why edges cannot be merged: one is in two arguments, has different sums in its directions, or is given two weights."""

Position = NDArray[np.int64]
Target = NDArray[np.uint32]
Value = NDArray[np.float64]


@kernel
def merge_changes(
    source: Position, target: Position, weight: Value, kind: Any, times: Value, directed: bool, self_loops: bool
) -> tuple[Position, Position, Value, Any, Value, Position, int]:
    """Sort changes by their edges and merge those of one edge.

    An undirected edge has its smaller end as source. ``times`` are the latest and the earliest of each edge, ``[2, m]``.

    Returns:
        Source, target, weight, kind and times of each edge, the sorted nodes whose rows change, and what is wrong with
        the last edge, if anything is: the edges end there.
    """
    weighted, timed = weight.size > 0, times.size > 0
    keys, rows = np.empty(source.size, np.uint64), np.empty(source.size, np.int64)
    size = 0
    for e in range(source.size):
        u, v = source[e], target[e]
        if kind[e] == ADD and ((u == v and not self_loops) or (weighted and weight[e] == 0)):
            continue
        if not directed and u > v:
            u, v = v, u
        keys[size] = (np.uint64(u) << np.uint64(32)) | np.uint64(v)
        rows[size] = e
        size += 1
    order = np.argsort(keys[:size], kind="mergesort") if size > 1 else np.zeros(size, np.int64)
    new_source, new_target = np.empty(size, np.int64), np.empty(size, np.int64)
    new_weight, new_kind = np.empty(size if weighted else 0, np.float64), np.empty(size, np.int8)
    new_times = np.empty((2, size if timed else 0), np.float64)
    values = np.empty(size if weighted else 0, np.float64)
    count, begin, problem = 0, 0, SOUND
    while begin < size and problem == SOUND:
        key, first = keys[order[begin]], rows[order[begin]]
        stop = begin
        while stop < size and keys[order[stop]] == key:
            e = rows[order[stop]]
            if kind[e] != kind[first]:
                problem = TWICE
            if weighted:
                values[stop] = -weight[e] if not directed and source[e] > target[e] else weight[e]
                if kind[e] == SET and weight[e] != weight[first]:
                    problem = max(problem, UNEQUAL) if problem != TWICE else TWICE
            if timed and stop == begin:
                new_times[:, count] = times[:, e]
            elif timed:
                new_times[0, count] = max(new_times[0, count], times[0, e])
                new_times[1, count] = min(new_times[1, count], times[1, e])
            stop += 1
        new_source[count], new_target[count] = np.int64(key >> np.uint64(32)), np.int64(key & np.uint64(0xFFFFFFFF))
        new_kind[count] = kind[first]
        if weighted and (kind[first] != ADD or stop == begin + 1):
            new_weight[count] = weight[first]
        elif weighted:
            new_weight[count] = merge_weights(values[begin:stop], EQUAL)
            if new_weight[count] < 0 and problem == SOUND:
                problem = ASYMMETRIC
        count += 1
        begin = stop
    kept = count if weighted else 0
    times_kept = count if timed else 0
    touched = _distinct(new_source[:count], new_target[: 0 if directed else count])
    merged = (new_source[:count], new_target[:count], new_weight[:kept], new_kind[:count])
    return (*merged, new_times[:, :times_kept].copy(), touched, problem)


@kernel
def _distinct(first: Position, second: Position) -> Position:
    """The sorted distinct values of two arrays."""
    values = np.concatenate((first, second))
    values.sort()
    size = 0
    for i in range(values.size):
        if size == 0 or values[i] != values[size - 1]:
            values[size] = values[i]
            size += 1
    return values[:size]


@kernel
def changed_rows(
    touched: Position,
    ptr: Position,
    targets: Target,
    weights: Value,
    source: Position,
    target: Position,
    weight: Value,
    kind: Any,
    directed: bool,
) -> tuple[Position, Target, Value, NDArray[np.bool_]]:
    """The new rows of the touched nodes, made of their old rows and of what changes.

    Args:
        touched: The nodes whose rows change, sorted, ``[t]``: those of :class:`graphreach.graph.changes.Changes`.
        ptr: Where their old rows begin, and the end, ``[t + 1]``; the row of a new node is empty.
        targets: Their neighbours, sorted within each row.
        weights: Their weights, empty for an unweighted graph.
        source: First node of each change; ``target``, ``weight`` and ``kind`` are those of the changes, too.
        target: See ``source``.
        weight: See ``source``.
        kind: See ``source``.
        directed: Whether an edge is in the row of its source only.

    Returns:
        ``ptr``, ``targets`` and ``weights`` of the new rows, and for each change whether its edge was there before. One
        that removes an edge or sets its weight and finds none changes nothing.
    """
    weighted = weights.size > 0 or weight.size > 0
    keys, edges = _entries(source, target, directed)
    found = np.zeros(source.size, np.bool_)
    new_ptr = np.zeros(touched.size + 1, np.int64)
    new_targets = np.empty(targets.size + keys.size, np.uint32)
    new_weights = np.empty(new_targets.size if weighted else 0, np.float64)
    size, k = 0, 0
    for i in range(touched.size):
        at, stop, row = ptr[i], ptr[i + 1], np.uint64(touched[i])
        while True:
            here = k < keys.size and (keys[k] >> np.uint64(32)) == row
            column = np.uint32(keys[k] & np.uint64(0xFFFFFFFF)) if here else np.uint32(0)
            last = stop
            if here:
                last = at
                while last < stop and targets[last] < column:
                    last += 1
            for j in range(at, last):
                new_targets[size + j - at] = targets[j]
                if weighted:
                    new_weights[size + j - at] = weights[j]
            size += last - at
            at = last
            if not here:
                break
            e = edges[k]
            there = at < stop and targets[at] == column
            found[e] = there
            if kind[e] == ADD or (kind[e] == SET and there):
                new_targets[size] = column
                if weighted:
                    new_weights[size] = weight[e] + weights[at] if there and kind[e] == ADD else weight[e]
                size += 1
            at += 1 if there else 0
            k += 1
        new_ptr[i + 1] = size
    return new_ptr, new_targets[:size], new_weights[: size if weighted else 0], found


@kernel
def _entries(source: Position, target: Position, directed: bool) -> tuple[Any, Position]:
    """Keys of the entries that changes are about, sorted by row and column, and the change that each belongs to."""
    keys = np.empty(source.size if directed else 2 * source.size, np.uint64)
    edges = np.empty(keys.size, np.int64)
    size = 0
    for e in range(source.size):
        u, v = np.uint64(source[e]), np.uint64(target[e])
        keys[size], edges[size] = (u << np.uint64(32)) | v, e
        size += 1
        if not directed and u != v:
            keys[size], edges[size] = (v << np.uint64(32)) | u, e
            size += 1
    if directed or size == 1:
        return keys[:size], edges[:size]
    order = np.argsort(keys[:size])
    return keys[:size][order], edges[:size][order]


@kernel
def changed_times(
    touched: Position,
    ptr: Position,
    targets: Target,
    times: Value,
    new_ptr: Position,
    new_targets: Target,
    source: Position,
    target: Position,
    added: Value,
    kind: Any,
    directed: bool,
) -> Value:
    """The latest and earliest times of the entries of :func:`changed_rows`, ``[2, entries]``."""
    out = np.empty((2, new_targets.size), np.float64)
    out[0, :], out[1, :] = -np.inf, np.inf
    for i in range(touched.size):
        j = ptr[i]
        for k in range(new_ptr[i], new_ptr[i + 1]):
            while j < ptr[i + 1] and targets[j] < new_targets[k]:
                j += 1
            if j < ptr[i + 1] and targets[j] == new_targets[k]:
                out[:, k] = times[:, j]
    for e in range(source.size):
        if kind[e] != ADD:
            continue
        for way in range(1 if directed or source[e] == target[e] else 2):
            u, v = (source[e], target[e]) if way == 0 else (target[e], source[e])
            i = np.searchsorted(touched, u)
            begin, end = new_ptr[i], new_ptr[i + 1]
            k = begin + np.searchsorted(new_targets[begin:end], np.uint32(v))
            out[0, k] = max(out[0, k], added[0, e])
            out[1, k] = min(out[1, k], added[1, e])
    return out


@kernel
def take_rows(indptr: Any, indices: Any, rows: Position) -> tuple[Position, Target]:
    """``ptr`` and ``targets`` of some rows of a CSR, in their order; rows behind the last one are empty."""
    ptr = np.zeros(rows.size + 1, np.int64)
    for i in range(rows.size):
        size = np.int64(indptr[rows[i] + 1]) - np.int64(indptr[rows[i]]) if rows[i] < indptr.size - 1 else 0
        ptr[i + 1] = ptr[i] + size
    targets = np.empty(ptr[-1], np.uint32)
    for i in range(rows.size):
        if ptr[i + 1] > ptr[i]:
            begin = np.int64(indptr[rows[i]])
            for j in range(ptr[i + 1] - ptr[i]):
                targets[ptr[i] + j] = indices[begin + j]
    return ptr, targets


@kernel
def take_values(indptr: Any, values: Any, rows: Position, ptr: Position, out: Value) -> None:
    """Copy the values that belong to the entries of :func:`take_rows`."""
    for i in range(rows.size):
        if ptr[i + 1] > ptr[i]:
            begin = np.int64(indptr[rows[i]])
            for j in range(ptr[i + 1] - ptr[i]):
                out[ptr[i] + j] = values[begin + j]


@kernel
def merge_rows(
    nodes: Position,
    ptr: Position,
    targets: Target,
    values: Value,
    new_nodes: Position,
    new_ptr: Position,
    new_targets: Target,
    new_values: Value,
) -> tuple[Position, Position, Target, Value]:
    """Rows of sorted nodes, the new ones for nodes that are in both; ``values`` are ``[any, entries]``."""
    out_nodes = np.empty(nodes.size + new_nodes.size, np.int64)
    out_ptr = np.zeros(out_nodes.size + 1, np.int64)
    out_targets = np.empty(targets.size + new_targets.size, np.uint32)
    out_values = np.empty((values.shape[0], out_targets.size), np.float64)
    i, j, count, size = 0, 0, 0, 0
    while i < nodes.size or j < new_nodes.size:
        new = i == nodes.size or (j < new_nodes.size and new_nodes[j] <= nodes[i])
        if new:
            node, begin, end = new_nodes[j], new_ptr[j], new_ptr[j + 1]
            i += 1 if i < nodes.size and nodes[i] == node else 0
            j += 1
        else:
            node, begin, end = nodes[i], ptr[i], ptr[i + 1]
            i += 1
        for k in range(begin, end):
            out_targets[size + k - begin] = new_targets[k] if new else targets[k]
            for c in range(out_values.shape[0]):
                out_values[c, size + k - begin] = new_values[c, k] if new else values[c, k]
        size += end - begin
        out_nodes[count], out_ptr[count + 1] = node, size
        count += 1
    return out_nodes[:count], out_ptr[: count + 1], out_targets[:size], out_values[:, :size].copy()


@kernel
def join_rows(
    indptr: Any, indices: Any, nodes: Position, ptr: Position, targets: Target, out_indptr: Any, out_indices: Any
) -> None:
    """Write a CSR with the rows of some sorted nodes replaced; nodes behind its last one are new."""
    n, node, size = indptr.size - 1, 0, np.int64(0)
    for i in range(nodes.size + 1):
        stop = nodes[i] if i < nodes.size else out_indptr.size - 1
        begin, last = np.int64(indptr[min(node, n)]), min(stop, n)
        for v in range(node, stop):
            out_indptr[v] = size + (np.int64(indptr[v]) if v < last else np.int64(indptr[n])) - begin
        end = np.int64(indptr[max(last, min(node, n))])
        for j in range(end - begin):
            out_indices[size + j] = indices[begin + j]
        size += end - begin
        if i < nodes.size:
            out_indptr[stop] = size
            for j in range(ptr[i + 1] - ptr[i]):
                out_indices[size + j] = targets[ptr[i] + j]
            size += ptr[i + 1] - ptr[i]
        node = stop + 1
    out_indptr[out_indptr.size - 1] = size


@kernel
def join_values(
    indptr: Any, values: Any, nodes: Position, ptr: Position, new_values: Value, out_indptr: Any, out: Value
) -> None:
    """Write the values that belong to the entries of :func:`join_rows`."""
    n, node, size = indptr.size - 1, 0, np.int64(0)
    for i in range(nodes.size + 1):
        stop = nodes[i] if i < nodes.size else out_indptr.size - 1
        begin = np.int64(indptr[min(node, n)])
        end = np.int64(indptr[max(min(stop, n), min(node, n))])
        for j in range(end - begin):
            out[size + j] = values[begin + j]
        size += end - begin
        if i < nodes.size:
            for j in range(ptr[i + 1] - ptr[i]):
                out[size + j] = new_values[ptr[i] + j]
            size += ptr[i + 1] - ptr[i]
        node = stop + 1

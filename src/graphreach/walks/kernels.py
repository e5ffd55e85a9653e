"""Numba kernels that move walkers.

Walkers of a block advance in lockstep: while the memory of one neighbour list is on its way, the next walkers' hashes are
computed and their loads issued, so cache misses overlap instead of adding up. A kernel that does something with walks
(stores, counts, collects) opens a block, calls :func:`advance` for each step and looks at ``current``.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import uint32, uint64
from numba.core import types
from numba.extending import intrinsic

from graphreach.jit import kernel, long_kernel, parallel_kernel, rows_of
from graphreach.walks.rng import start_key, step_bits, walk_key

BLOCK = 512
"""Walkers that advance together: enough to hide memory latency, few enough to stay in the nearest caches."""

DEAD = np.uint32(0xFFFFFFFF)
"""Position of a walker that met a node without outgoing edges."""

NO_EDGE = np.int64(-1)


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing_context: Any, array: Any, position: Any) -> Any:
    """Ask the processor to load entry ``position`` of a contiguous array (counted flat) without waiting for it."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer = builder.gep(data, [args[1]])
        byte_pointer = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch",
            [byte_pointer.type],
            ir.FunctionType(ir.VoidType(), [byte_pointer.type, flag, flag, flag]),
        )
        builder.call(function, [byte_pointer, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


@kernel
def new_block() -> Any:
    """Arrays for the walkers of one block: current node, key, chosen edge, coin."""
    return (
        np.empty(BLOCK, np.uint32),
        np.empty(BLOCK, np.uint64),
        np.empty(BLOCK, np.int64),
        np.empty(BLOCK, np.uint32),
    )


@kernel
def rows_per_block(num_walks: Any) -> Any:
    """How many starts share a block; with more than BLOCK walks a start takes several rounds of its own."""
    return max(1, BLOCK // num_walks)


@kernel
def enter(block: Any, starts: Any, row: Any, end: Any, num_walks: Any, walk_length: Any, first: Any, seed: Any) -> Any:
    """Put up to BLOCK walkers from ``first`` on of each of ``starts[row:end]`` on it; returns how many there are."""
    current, keys, edges, _ = block
    last = min(first + BLOCK, num_walks)
    i = 0
    for r in range(row, end):
        key = start_key(seed, starts[r])
        for walk in range(first, last):
            current[i] = starts[r]
            keys[i] = walk_key(key, walk)
            edges[i] = (r * num_walks + walk) * walk_length
            i += 1
    return i


@kernel
def advance(indptr: Any, indices: Any, alias: Any, block: Any, count: Any, step: Any) -> None:
    """Move the first ``count`` walkers one step: uniformly if ``alias`` is None, else by the alias table.

    Without ``indptr``, ``indices`` are walks that were taken elsewhere, one after the other, and are followed.
    """
    if indptr is None:
        for i in range(count):
            block[0][i] = uint32(indices[block[2][i] + step - 1])
    else:
        _draw_step(indptr, indices, alias, block, count, step)


@kernel
def _draw_step(indptr: Any, indices: Any, alias: Any, block: Any, count: Any, step: Any) -> None:
    current, keys, edges, coins = block
    for i in range(count):
        v = current[i]
        edges[i] = NO_EDGE
        if v != DEAD:
            begin = uint64(indptr[v])
            degree = uint64(indptr[v + 1]) - begin
            if degree > uint64(0):
                bits = step_bits(keys[i], step)
                edge = np.int64(begin + (((bits >> uint64(32)) * degree) >> uint64(32)))
                edges[i] = edge
                if alias is None:
                    prefetch(indices, edge)
                else:
                    coins[i] = uint32(bits & uint64(0xFFFFFFFF))
                    prefetch(alias, edge * 3)
    for i in range(count):
        edge = edges[i]
        v = DEAD
        if edge != NO_EDGE:
            if alias is None:
                v = uint32(indices[edge])
            else:
                v = alias[edge * 3 + 1] if coins[i] < alias[edge * 3] else alias[edge * 3 + 2]
            prefetch(indptr, np.int64(v))
        current[i] = v


@kernel
def in_bitmap(bits: Any, v: Any) -> Any:
    """1 if node ``v`` is in a :func:`bitmap`, else 0; without a branch, which no processor could predict."""
    node = uint64(v)
    return np.int64((bits[node >> uint64(6)] >> (node & uint64(63))) & uint64(1))


def bitmap(nodes: Any, num_nodes: int) -> Any:
    """A bit for each node, 64 in a number, set for ``nodes``."""
    flags = np.zeros(-(-num_nodes // 64) * 64, np.bool_)
    flags[nodes] = True
    packed = np.packbits(flags, bitorder="little").view("<u8").astype(np.uint64)
    packed.flags.writeable = False  # as in the shared memory of a cluster's nodes: one version of each kernel
    return packed


@long_kernel
def store_walks(
    share: Any, indptr: Any, indices: Any, alias: Any, starts: Any, num_walks: Any, walk_length: Any, seed: Any, out: Any,
) -> None:  # fmt: skip
    """Fill ``out`` [starts, num_walks, walk_length + 1] with walks, -1 after a dead end."""
    rows = rows_per_block(num_walks)
    for b in range(share[0], (len(starts) + rows - 1) // rows, share[1]):
        block = new_block()
        current = block[0]
        row = b * rows
        end = min(row + rows, len(starts))
        for first in range(0, num_walks, BLOCK):
            last = min(first + BLOCK, num_walks)
            count = enter(block, starts, row, end, num_walks, walk_length, first, seed)
            for step in range(walk_length + 1):
                if share[2][0] != 0:
                    return
                if step > 0:
                    advance(indptr, indices, alias, block, count, step)
                i = 0
                for r in range(row, end):
                    for walk in range(first, last):
                        v = current[i]
                        out[r, walk, step] = np.int64(-1) if v == DEAD else np.int64(v)
                        i += 1


@parallel_kernel
def build_alias(share: Any, indptr: Any, indices: Any, weights: Any, table: Any) -> None:
    """Alias tables of all nodes, three numbers per edge side by side: threshold, own target, alias target.

    A walker picks one of the node's edges uniformly and takes its own target if 32 random bits are below the threshold,
    else the alias: one line of memory a step whatever the weights.
    """
    for v in rows_of(share, len(indptr) - 1):
        begin, end = np.int64(indptr[v]), np.int64(indptr[v + 1])
        _alias_row(indices[begin:end], weights[begin:end], table[3 * begin : 3 * end])


@kernel
def _alias_row(targets: Any, weights: Any, table: Any) -> None:
    """Vose's construction for one node; the thresholds are in units of 2^-32."""
    degree = len(targets)
    total = 0.0
    for w in weights:
        total += w
    scaled = np.empty(degree, np.float64)
    order = np.empty(degree, np.int64)
    small, large = 0, degree
    for i in range(degree):
        table[3 * i] = uint32(0xFFFFFFFF)
        table[3 * i + 1] = targets[i]
        table[3 * i + 2] = targets[i]
        scaled[i] = weights[i] * degree / total
        if scaled[i] < 1.0:
            order[small] = i
            small += 1
        else:
            large -= 1
            order[large] = i
    while small > 0 and large < degree:
        small -= 1
        poor, rich = order[small], order[large]
        table[3 * poor] = uint32(min(scaled[poor] * 4294967296.0, 4294967295.0))
        table[3 * poor + 2] = targets[rich]
        scaled[rich] -= 1.0 - scaled[poor]
        if scaled[rich] < 1.0:
            large += 1
            order[small] = rich
            small += 1

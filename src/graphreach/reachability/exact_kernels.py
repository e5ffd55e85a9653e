"""Numba kernels for powers of the transition matrix times a few columns, and for compressed rows."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from graphreach.jit import kernel, parallel_kernel, rows_of
from graphreach.walks.kernels import prefetch

COLUMNS = 64
"""Columns computed together: one neighbour costs one burst of 256 bytes instead of 64 misses."""

ROWS = 256
"""Rows a thread takes at a time."""

AHEAD = 12
"""How many neighbours ahead to ask for."""

FLUSH = 256
"""Neighbours summed in single precision before the sum moves to double: a hub's sum stays right to 1e-6."""


@intrinsic  # type: ignore[untyped-decorator]
def _add_row(typing_context: Any, total: Any, x: Any, row: Any, weight: Any) -> Any:
    """total[:] += weight * x[row, :], COLUMNS single-precision numbers at once (weight None: 1).

    Written as vector instructions because the compiler cannot know that the two arrays do not overlap and would add them
    one number at a time.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total_type, x_type, _, weight_type = signature.args
        vector = ir.VectorType(ir.FloatType(), COLUMNS)
        target = context.make_array(total_type)(context, builder, args[0]).data
        struct = context.make_array(x_type)(context, builder, args[1])
        zero = ir.Constant(args[2].type, 0)
        source = cgutils.get_item_pointer(context, builder, x_type, struct, [args[2], zero], wraparound=False)
        target, source = (builder.bitcast(p, vector.as_pointer()) for p in (target, source))
        value = builder.load(source, align=4)
        if weight_type is not types.none:
            single = builder.insert_element(ir.Constant(vector, ir.Undefined), args[3], ir.IntType(32)(0))
            lanes = ir.Constant(ir.VectorType(ir.IntType(32), COLUMNS), [0] * COLUMNS)
            value = builder.fmul(value, builder.shuffle_vector(single, ir.Constant(vector, ir.Undefined), lanes))
        builder.store(builder.fadd(builder.load(target, align=4), value), target, align=4)
        return context.get_dummy_value()

    return types.void(total, x, types.intp, weight), codegen


@kernel
def _row_sum(indices: Any, weights: Any, begin: Any, end: Any, x: Any, partial: Any, total: Any) -> None:
    """total = sum over the row's neighbours u of w_u x[u]."""
    total[:] = 0.0
    for chunk in range(begin, end, FLUSH):
        partial[:] = np.float32(0.0)
        for e in range(chunk, min(chunk + FLUSH, end)):
            # rows of x come from far away in memory; the list of neighbours tells early which will be wanted
            ahead = np.int64(indices[min(e + AHEAD, len(indices) - 1)])
            for line in range(0, COLUMNS, 16):
                prefetch(x, ahead * COLUMNS + line)
            if weights is None:
                _add_row(partial, x, np.int64(indices[e]), None)
            else:
                _add_row(partial, x, np.int64(indices[e]), np.float32(weights[e]))
        for c in range(COLUMNS):
            total[c] += partial[c]


@parallel_kernel
def multiply(
    share: Any, indptr: Any, indices: Any, weights: Any, left: Any, right: Any, x: Any, y: Any, sums: Any, factor: Any
) -> None:
    """One step: z = left * (A x) row by row; ``sums`` += factor * z and y = right * z. All have COLUMNS columns."""
    n = len(indptr) - 1
    for b in range(share[0], (n + ROWS - 1) // ROWS, share[1]):
        partial, total = np.empty(COLUMNS, np.float32), np.empty(COLUMNS, np.float64)
        for v in range(b * ROWS, min((b + 1) * ROWS, n)):
            _row_sum(indices, weights, np.int64(indptr[v]), np.int64(indptr[v + 1]), x, partial, total)
            for c in range(COLUMNS):
                z = left[v] * total[c]
                sums[v, c] += np.float32(factor * z)
                y[v, c] = np.float32(right[v] * z)


@parallel_kernel
def transition_weights(share: Any, indptr: Any, indices: Any, weights: Any, degree: Any, by_row: Any, out: Any) -> None:
    """w / degree of the edge's source (its row, or in a transposed graph its column): numbers between 0 and 1."""
    for v in rows_of(share, len(indptr) - 1):
        for e in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            source = np.int64(v) if by_row else np.int64(indices[e])
            out[e] = np.float32(weights[e] / degree[source])


@parallel_kernel
def count_nonzero_rows(share: Any, block: Any, counts: Any) -> None:
    """Add the number of non-zero entries of each row."""
    for v in rows_of(share, len(block)):
        found = 0
        for c in range(block.shape[1]):
            found += block[v, c] != 0
        counts[v] += found


@parallel_kernel
def compress_rows(share: Any, block: Any, offsets: Any, indices: Any, data: Any) -> None:
    """Write the non-zero entries of row v from ``offsets[v]`` on."""
    for v in rows_of(share, len(block)):
        i = offsets[v]
        for c in range(block.shape[1]):
            if block[v, c] != 0:
                indices[i] = c
                data[i] = block[v, c]
                i += 1

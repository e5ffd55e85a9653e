"""The one way from a list of edges to a compact CSR: every constructor and reader goes through here."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import check_flag
from graphreach.errors import InputError
from graphreach.graph.reading import Reading

Reduce = Literal["sum", "mean", "max", "min"]

SUM, MEAN, MAX, MIN, EQUAL = 0, 1, 2, 3, 4
"""Ways to merge the weights of an undirected edge's two directions; ``EQUAL`` reports those that differ."""

REDUCE: dict[str | None, int] = {"sum": SUM, "mean": MEAN, "max": MAX, "min": MIN, None: EQUAL}

RELATIVE_TOLERANCE = 1e-9
"""Two directions have equal weights within this: sums of the same repeats may differ in the last bits."""

MAX_NODES = 2**32

FEW_EDGES = 1 << 16
"""Edges up to which numpy sorts them, before the kernels would be compiled."""

WEIGHT_RANGE = (1e-100, 1e100)
"""Positive weights beyond it are refused: their sums and ratios could leave the range of double precision."""


class CSR(NamedTuple):
    """A compressed sparse row matrix with sorted rows and no repeats."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    weights: NDArray[np.float64] | None


class Edges(NamedTuple):
    """Edges between positions in ids, which readers have sorted, with checked weights.

    ``time`` holds one number per edge, ``reading`` says how they were read, and ``two_kinds`` whether no source is of the
    kind of the targets, where they came from a table. ``first_time`` is given where an edge was made more than once but
    is listed once, and ``sides``, one number per id, where the kinds of nodes are known apart from the edges.
    """

    source: NDArray[np.uint32]
    target: NDArray[np.uint32]
    weights: NDArray[np.float64] | None
    ids: NDArray[Any]
    time: NDArray[np.float64] | None = None
    reading: Reading | None = None
    two_kinds: bool = False
    first_time: NDArray[np.float64] | None = None
    sides: NDArray[np.int8] | None = None


def build_csr(edges: Edges, *, directed: bool, reduce: str | None = None, self_loops: bool = False) -> CSR:
    """Merge edges between positions ``0..n-1`` into a CSR; their weights went through :func:`check_weights`."""
    check_flag("self_loops", self_loops)
    if not (reduce is None or isinstance(reduce, str)) or reduce not in REDUCE:
        raise InputError(f"reduce must be 'sum', 'mean', 'max', 'min' or None, got {reduce!r}")
    if edges.weights is not None and not np.all(edges.weights):
        carries = edges.weights > 0
        source, target = edges.source[carries], edges.target[carries]
        edges = edges._replace(source=source, target=target, weights=edges.weights[carries])
    bits = max(1, (len(edges.ids) - 1).bit_length())
    build = _build_by_numpy if len(edges.source) <= FEW_EDGES else _build_by_kernels
    indptr, indices, values, conflict = build(edges, bits, directed, REDUCE[reduce], self_loops)
    if conflict is not None:
        u, v = (plain(edges.ids[end]) for end in divmod(conflict, 1 << bits))
        raise InputError(
            f"the undirected edge between {u!r} and {v!r} has different weights in its directions; "
            "pass reduce='sum', 'mean', 'max' or 'min' (--reduce) to merge them, or directed=True (--directed)"
        )
    if values is not None and values.size and values.max() == np.inf:
        raise InputError("repeated edges must have a finite sum of weights, got infinity")
    return compact(indptr, indices, values)


Built = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None, int | None]
"""Row pointers, columns, weights, and the key of an edge whose directions may not differ in weight but do."""


def _build_by_kernels(edges: Edges, bits: int, directed: bool, reduce: int, self_loops: bool) -> Built:
    from graphreach.graph import kernels

    given = np.empty(0) if edges.weights is None else edges.weights
    keys, values = kernels.pack_edges(edges.source, edges.target, given, bits, directed, self_loops)
    keys, values = kernels.radix_sort(keys, values, 0, 2 * bits)
    size, conflict = kernels.merge_repeats(keys, values, reduce)
    conflicting = int(keys[conflict]) if conflict >= 0 else None
    keys, values = keys[:size], values[: size if values.size else 0]
    if directed:
        lower, lower_values = keys[:0], values[:0]
    else:
        # The keys are sorted by their new columns already, so sorting by the new rows completes the order.
        lower, lower_values = kernels.radix_sort(*_swap_ends(keys, values, bits), bits, 2 * bits)
    indptr, indices, values = kernels.join_rows(lower, lower_values, keys, values, len(edges.ids), bits)
    return indptr, indices, None if edges.weights is None else values, conflicting


def _build_by_numpy(edges: Edges, bits: int, directed: bool, reduce: int, self_loops: bool) -> Built:
    """The same as by the kernels, bit for bit."""
    kept = slice(None) if self_loops else edges.source != edges.target
    rows, columns = edges.source[kept].astype(np.uint64), edges.target[kept].astype(np.uint64)
    backward = np.zeros(len(rows), np.bool_) if directed else rows > columns
    shift, mask = np.uint64(bits), np.uint64((1 << bits) - 1)
    listed = np.where(backward, columns << shift | rows, rows << shift | columns)
    keys, edge = np.unique(listed, return_inverse=True)
    values, conflicting = None, None
    if edges.weights is not None:
        values, differ = _merge_weights(edge, edges.weights[kept], backward, reduce)
        conflicting = int(keys[np.argmax(differ)]) if differ.any() else None
    if not directed:
        swapped, swapped_values = _swap_ends(keys, np.empty(0) if values is None else values, bits)
        keys = np.concatenate([keys, swapped])
        order = np.argsort(keys)
        keys, values = keys[order], None if values is None else np.concatenate([values, swapped_values])[order]
    indptr = np.searchsorted(keys >> shift, np.arange(len(edges.ids) + 1, dtype=np.uint64))
    return indptr, (keys & mask).astype(np.uint32), values, conflicting


def _swap_ends(
    keys: NDArray[np.uint64], values: NDArray[np.float64], bits: int
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Keys with row and column exchanged, without self-loops, and their weights, if there are any."""
    rows, columns = keys >> np.uint64(bits), keys & np.uint64((1 << bits) - 1)
    kept, swapped = rows != columns, columns << np.uint64(bits) | rows
    return swapped[kept], values[kept] if values.size else values


def _merge_weights(
    edge: NDArray[np.int64], weights: NDArray[np.float64], backward: NDArray[np.bool_], reduce: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The weight of each edge, and whether its directions differ in weight where they must not."""
    order = np.lexsort((weights, edge))  # each direction is summed from small to large, as the kernel does
    edge, weights, backward = edge[order], weights[order], backward[order]
    back = np.bincount(edge, np.where(backward, weights, 0.0)).astype(np.float64)
    forth = np.bincount(edge, np.where(backward, 0.0, weights)).astype(np.float64)
    merged, both = forth + back, (forth > 0) & (back > 0)
    differ = both & (reduce == EQUAL) & (abs(forth - back) > RELATIVE_TOLERANCE * np.fmax(forth, back))
    if reduce == MEAN:
        merged[both] *= 0.5
    elif reduce in (MAX, EQUAL):
        merged[both] = np.fmax(forth, back)[both]
    elif reduce == MIN:
        merged[both] = np.fmin(forth, back)[both]
    return merged, differ


def compact(indptr: NDArray[Any], indices: NDArray[Any], weights: NDArray[np.float64] | None) -> CSR:
    """Store a CSR in the smallest integer types that fit."""
    n, size = len(indptr) - 1, len(indices)
    index_type = np.uint16 if n <= 2**16 else np.uint32
    pointer_type = np.uint32 if size < 2**32 else np.int64
    return CSR(indptr.astype(pointer_type), indices.astype(index_type, copy=False), weights)


def check_weights(weights: ArrayLike, num_edges: int, name: str = "edge_weight") -> NDArray[np.float64]:
    """Return weights as ``float64``, or raise if one is no finite number of at least zero, or all are zero."""
    checked = check_each_weight(weights, num_edges, name)
    if num_edges and not checked.any():
        raise InputError(f"{name} must have at least one positive weight, got {num_edges} zeros")
    return checked


def check_each_weight(weights: ArrayLike, num_edges: int, name: str) -> NDArray[np.float64]:
    """Return weights as ``float64``, or raise if one is no finite number of at least zero."""
    try:
        given = np.asarray(weights)
        holds_text = given.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in given.flat)
        # Text and dates would be turned into numbers, and masks would be lost.
        if given.dtype.kind not in "biufO" or np.ma.is_masked(weights) or holds_text:
            raise TypeError
        checked = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must hold numbers, got {weights!r:.80}") from None
    if checked.shape == (num_edges, 1):
        checked = checked[:, 0]
    if checked.shape != (num_edges,):
        raise InputError(f"{name} must hold one number per edge, shape ({num_edges},), got shape {checked.shape}")
    wrong = first_bad_weight(checked)
    if wrong is not None:
        raise InputError(f"{name} must be finite and not negative, got {checked[wrong]} at position {wrong}")
    check_weight_range(checked, name)
    return np.ascontiguousarray(checked)


def check_weight_range(weights: NDArray[np.float64], name: str) -> None:
    """Refuse positive weights that are outside :data:`WEIGHT_RANGE`."""
    lowest, highest = WEIGHT_RANGE
    if not len(weights) or (weights.min() >= lowest and weights.max() <= highest):
        return
    wrong = ((weights > 0) & (weights < lowest)) | (weights > highest)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InputError(
            f"{name} must be 0 or between {lowest:g} and {highest:g}, got {weights[at]} at position {at}; scale them"
        )


def first_bad_weight(weights: NDArray[np.float64]) -> int | None:
    """Return the position of the first negative, NaN or infinite weight."""
    if not len(weights):
        return None
    # NaN fails both comparisons, so two reductions settle the usual case without temporaries.
    if weights.min() >= 0 and weights.max() < np.inf:
        return None
    return int(np.argmin((weights >= 0) & (weights < np.inf)))


def plain(value: Any) -> Any:
    """Return a numpy scalar as the Python value it stands for, anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value

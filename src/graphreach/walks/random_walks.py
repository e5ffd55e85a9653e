"""Walks, materialised on request."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.interrupts import call
from graphreach.limits import check_memory
from graphreach.progress import track
from graphreach.walks.costs import check_steps
from graphreach.walks.kernels import store_walks
from graphreach.walks.place import Place
from graphreach.walks.rng import check_seed
from graphreach.walks.transitions import transitions
from graphreach.walks.walk_length import check_count, resolve_walk_length

if TYPE_CHECKING:
    from graphreach.cluster.partitioned_graph import PartitionedGraph

STEPS_PER_CALL = 1 << 24
"""Steps between two updates of a progress bar: a few tenths of a second."""


def random_walks(
    graph: "Graph | PartitionedGraph",
    starts: ArrayLike | None = None,
    num_walks: int = 50,
    walk_length: int | str = 20,
    seed: int = 0,
    *,
    engine: str = "local",
    address: str | None = None,
    partitions: int | None = None,
) -> NDArray[Any]:
    r"""First-order random walks, as in section 2 of the `"GraphReach" <https://arxiv.org/abs/2008.09657>`_ paper.

    From node :math:`v` the walker takes edge :math:`e` with probability
    :math:`p(e) = w_e / \sum_{e' \in N(v)} w_{e'}`, :math:`l_w` times. The random numbers are a hash of
    (seed, start, walk, step): the same seed gives the same walks bit for bit, whatever the number of threads and whichever
    other starts are asked for. Walks that are only counted need not be stored: see :func:`graphreach.reachability`.

    Args:
        graph: The graph.
        starts: Positions of the start nodes; all nodes by default.
        num_walks: Walks from each start, :math:`n_w`.
        walk_length: Jumps of a walk, :math:`l_w`, or ``"diameter"``.
        seed: Any integer from 0 to :math:`2^{63} - 1`.
        engine: ``"local"``, or ``"ray"`` for a Ray cluster; the walks are the same bit for bit. See
            :mod:`graphreach.cluster`.
        address: Of the Ray cluster; see :func:`graphreach.cluster.connected`.
        partitions: Into how many parts to split the graph, where it is too large for the memory of each of the cluster's
            nodes.

    Returns:
        Integers of shape ``[len(starts), num_walks, walk_length + 1]``. The first column is the start; after a node
        without outgoing edges the rest is -1.

    Example:
        >>> import graphreach as gr
        >>> path = gr.Graph.from_edges([[0, 1], [1, 2]], directed=True)
        >>> gr.random_walks(path, starts=[0, 2], num_walks=1, walk_length=3)
        array([[[ 0,  1,  2, -1]],
        <BLANKLINE>
               [[ 2, -1, -1, -1]]], dtype=int32)
    """
    positions = check_starts(graph, starts)
    num_walks = check_count("num_walks", num_walks)
    length = resolve_walk_length(graph, walk_length)
    seed = check_seed(seed)
    dtype = np.int32 if graph.num_nodes < 2**31 else np.int64
    out = new_walks(len(positions), num_walks, length, dtype)
    place = Place.make(graph, engine, address, partitions)
    with place.cluster() as cluster:
        if cluster is not None:
            cluster.random_walks(positions, num_walks, length, seed, out)
            return out
    for rows in row_chunks(len(positions), num_walks * length, "random walks"):
        walks = out[rows]
        call(store_walks, *transitions(place.graph), positions[rows], num_walks, seed, walks, work=walks.size)
    return out


def new_walks(num_starts: int, num_walks: int, walk_length: int, dtype: Any) -> NDArray[Any]:
    """Room for walks, or one sentence if there are too many steps or too little memory.

    Example:
        >>> new_walks(2, 3, 4, np.int32).shape
        (2, 3, 5)
    """
    check_steps(num_starts, num_walks, walk_length)
    shape = (num_starts, num_walks, walk_length + 1)
    check_memory(
        max(1, num_starts) * num_walks * (walk_length + 1) * np.dtype(dtype).itemsize,
        f"{num_walks} walks of {walk_length} jumps from each of {num_starts} nodes",
        "lower num_walks, walk_length or the number of starts; reachability counts walks without storing them",
    )
    return np.empty(shape, dtype)


def row_chunks(num_rows: int, steps_per_row: int, description: str, *, bytes_per_step: int = 0) -> Iterator[slice]:
    """Slices of rows worth :data:`STEPS_PER_CALL` steps each, with a progress bar when it takes long.

    Args:
        num_rows: Starts of walks.
        steps_per_row: Steps of all walks from one start; too many are refused.
        description: Of the progress bar.
        bytes_per_step: Memory that a step takes until its slice is done; too much is refused.

    Example:
        >>> list(row_chunks(5, STEPS_PER_CALL // 2, "walking"))
        [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    check_steps(num_rows, 1, steps_per_row)
    size = max(1, STEPS_PER_CALL // max(1, steps_per_row))
    check_memory(
        bytes_per_step * size * steps_per_row, f"{description}: {steps_per_row} steps from one start",
        "lower num_walks or walk_length",
    )  # fmt: skip
    begins = range(0, num_rows, size)
    for begin in track(begins, len(begins), description):
        yield slice(begin, min(begin + size, num_rows))


def integer_array(graph: Any, values: Any, name: str) -> NDArray[Any]:
    """``values`` as an array, whatever is in it; refused if part of it is masked, or if ``graph`` is none.

    Example:
        >>> integer_array(Graph.from_edges([[0], [1]]), [1, 0], "starts")
        array([1, 0])
    """
    if not hasattr(graph, "num_nodes") or isinstance(graph, type):
        raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(
            f"{name} must not be a masked array; pass {name}.compressed(), or {name}.data to ignore the mask"
        )
    try:
        return np.asarray(values)
    except (TypeError, ValueError, MemoryError) as error:
        raise InputError(
            f"{name} must be an array of integer positions, got {type(values).__name__}: {error}"
        ) from None


def check_starts(
    graph: "Graph | PartitionedGraph", starts: ArrayLike | None, name: str = "starts"
) -> NDArray[np.uint32]:
    """Positions as the kernels want them, all nodes by default."""
    if starts is None:
        integer_array(graph, (), name)
        return np.arange(graph.num_nodes, dtype=np.uint32)
    array = integer_array(graph, starts, name)
    if array.size == 0:
        return np.empty(0, np.uint32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            f"{name} must be a one-dimensional array of integer positions, got shape {array.shape} of {array.dtype};"
            " graph.index_of(ids) turns ids into positions"
        )
    if array.min() < 0 or array.max() >= graph.num_nodes:
        wrong = array[(array < 0) | (array >= graph.num_nodes)][0]
        raise InputError(f"{name} must be between 0 and {graph.num_nodes - 1}, got {wrong}")
    return array.astype(np.uint32)

"""Walks, materialised on request."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.errors import InputError
from graphreach.limits import check_memory, check_steps
from graphreach.walks.defaults import NUM_WALKS, STORED_WALK_LENGTH
from graphreach.walks.engine import AnyGraph, Engine, Job, Transitions, Walker, find_engine
from graphreach.walks.kernels import store_walks
from graphreach.walks.rng import check_seed
from graphreach.walks.walk_length import check_count, resolve_walk_length


@dataclass(frozen=True, kw_only=True)
class StoreWalks(Job):
    """The walks themselves, as integers of type ``dtype``."""

    dtype: Any

    @property
    def row_bytes(self) -> int:
        """Memory that the result of one start takes."""
        return self.num_walks * (self.length + 1) * int(np.dtype(self.dtype).itemsize)

    def walk(self, table: Transitions, starts: NDArray[np.uint32], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """The result for some starts."""
        if out is None:
            out = np.empty((len(starts), self.num_walks, self.length + 1), self.dtype)
        self.store(table, starts, out)
        return out

    def store(self, table: Transitions, starts: NDArray[np.uint32], out: NDArray[Any]) -> None:
        """Fill ``out`` with the walks of some starts."""
        self.run(store_walks, table, starts, out)

    def stored(self, walker: Walker, starts: NDArray[np.uint32], description: str) -> NDArray[Any]:
        """All walks, or one sentence if there are too many steps or too little memory."""
        check_steps(len(starts), self.num_walks, self.length)
        check_memory(
            max(1, len(starts)) * self.row_bytes,
            f"{self.num_walks} walks of {self.length} jumps from each of {len(starts)} nodes",
            "lower num_walks, walk_length or the number of starts; reachability counts walks without storing them",
        )
        out = np.empty((len(starts), self.num_walks, self.length + 1), self.dtype)
        walker.fill(self, starts, out, description)
        return out


def random_walks(
    graph: AnyGraph,
    starts: ArrayLike | None = None,
    num_walks: int = NUM_WALKS,
    walk_length: int | str = STORED_WALK_LENGTH,
    seed: int = 0,
    *,
    engine: Engine | str = "local",
) -> NDArray[Any]:
    r"""First-order random walks, as in section 2 of the `"GraphReach" <https://arxiv.org/abs/2008.09657>`_ paper.

    From node :math:`v` the walker takes edge :math:`e` with probability
    :math:`p(e) = w_e / \sum_{e' \in N(v)} w_{e'}`, :math:`l_w` times. The random numbers are a hash of
    (seed, start, walk, step): the same seed gives the same walks bit for bit, for any number of threads and whichever
    other starts are in the call. Walks that are only counted need not be stored: see :func:`graphreach.reachability`.

    Args:
        graph: The graph.
        starts: Positions of the start nodes; all nodes by default.
        num_walks: Walks from each start, :math:`n_w`.
        walk_length: Jumps of a walk, :math:`l_w`, or ``"diameter"``.
        seed: Any integer from 0 to :math:`2^{63} - 1`.
        engine: ``"local"``, ``"ray"``, or an engine such as :class:`graphreach.cluster.Ray`; the walks are the same bit
            for bit.

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
    where = find_engine(engine)
    job = StoreWalks(num_walks=num_walks, length=length, seed=seed, dtype=walk_type(graph))
    where.in_parts(graph)
    with where.walker(graph) as walker:
        return job.stored(walker, positions, "random walks")


def walk_type(graph: AnyGraph) -> type[np.signedinteger[Any]]:
    """The smallest integers that hold the graph's positions and -1."""
    return np.int32 if graph.num_nodes < 2**31 else np.int64


def check_starts(graph: Any, starts: ArrayLike | None, name: str = "starts") -> NDArray[np.uint32]:
    """Positions as the kernels want them, all nodes by default."""
    if not hasattr(graph, "num_nodes") or isinstance(graph, type):
        raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
    if starts is None:
        return np.arange(graph.num_nodes, dtype=np.uint32)
    if isinstance(starts, np.ma.MaskedArray):
        raise InputError(
            f"{name} must not be a masked array; pass {name}.compressed(), or {name}.data to ignore the mask"
        )
    try:
        array = np.asarray(starts.to_numpy() if hasattr(starts, "to_numpy") else starts)
    except (TypeError, ValueError, MemoryError) as error:
        raise InputError(
            f"{name} must be an array of integer positions, got {type(starts).__name__}: {error}"
        ) from None
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

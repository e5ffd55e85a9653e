"""Reachability estimations."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.limits import check_memory, check_products, check_steps
from graphreach.reachability.cache import cached
from graphreach.reachability.exact import COLUMNS, MAX_ORDER_COST, check_order_cost, exact_reachability, order_cost
from graphreach.reachability.result import Reachability
from graphreach.reachability.sampled import CSR_ROWS, Counting, sampled_reachability
from graphreach.walks.defaults import NUM_WALKS, WALK_LENGTH
from graphreach.walks.engine import AnyGraph, Engine, find_engine
from graphreach.walks.random_walks import check_starts
from graphreach.walks.rng import check_seed
from graphreach.walks.walk_length import check_count, resolve_walk_length

STEP_COST = 32
"""Number of multiplications of the exact method that take as long as one step of a walk (see benchmarks/)."""

DENSE_BYTES = 1 << 30
"""Size of the two dense matrices up to which ``layout="auto"`` chooses them for walks (four times that for exact)."""


def reachability(
    graph: AnyGraph,
    anchors: ArrayLike,
    method: str = "walks",
    similarity: str = "frequency",
    num_walks: int = NUM_WALKS,
    walk_length: int | str = WALK_LENGTH,
    hops: int | None = None,
    seed: int = 0,
    *,
    layout: str = "auto",
    cache: str | Path | bool | None = None,
    engine: Engine | str = "local",
) -> Reachability:
    r"""Reachability between every node and every anchor, in both directions, from the
    `"GraphReach" <https://arxiv.org/abs/2008.09657>`_ paper.

    ``similarity="frequency"`` is Eq. 1: the share of visits that :math:`n_w` walks of :math:`l_w` jumps from :math:`v_i`
    pay to :math:`v_j`,

    .. math::
        s(v_i, v_j) = \frac{\sum_{k=1}^{n_w} count_k(v_i, v_j)}{l_w \times n_w},

    where the start itself is not a visit, so :math:`\sum_v s(a, v) = 1` unless walks meet dead ends.
    ``similarity="order"`` is App. A, :math:`s_o(v_i, v_j) = \sum_{k=1}^{n_w} 1 / o(v_i, v_j, k)` with the step
    :math:`o` of the first visit.

    ``method="walks"`` counts visits of walks that are never stored. ``method="exact"`` computes their limit:
    :math:`\frac{1}{l} \sum_{t=1}^{l} P^t` restricted to the anchors, or the expected order-weighted sum. In an undirected
    graph one direction follows from the other (deg(v) s(v, a) = deg(a) s(a, v)). No array of n x n is made.

    Differs from the authors' code: they count the start as a visit, keep raw counts, and weight every visit in the order
    similarity.

    Args:
        graph: The graph. Walks follow edge weights and directions.
        anchors: Positions of the anchors, such as the result of :func:`select_anchors`.
        method: ``"walks"``, ``"exact"``, or ``"auto"`` for the one that costs less.
        similarity: ``"frequency"`` or ``"order"``. Exact and order-weighted is refused where it would cost more than
            10^11 multiplications.
        num_walks: Walks from each node, :math:`n_w`; for the exact order similarity only a factor.
        walk_length: Jumps of a walk, :math:`l_w`, or ``"diameter"``.
        hops: L keeps the first L steps separate: the share of walks that are at the anchor after 1, ..., L jumps. The walk
            length is then L.
        seed: Random seed of the walks. The same seed gives the same numbers bit for bit on any number of threads.
        layout: ``"dense"``, ``"csr"``, or ``"auto"``: dense unless that is large.
        cache: A folder for results, or ``True`` for the user's cache folder. A result is found again if graph and all
            parameters are equal.
        engine: ``"local"``, ``"ray"``, or an engine such as :class:`graphreach.cluster.Ray`; the numbers are the same bit
            for bit.

    Example:
        >>> import graphreach as gr
        >>> star = gr.Graph.from_edges([[0, 0, 0], [1, 2, 3]])
        >>> reach = gr.reachability(star, [0], walk_length=2, num_walks=10)
        >>> reach.to_anchors[:, 0]  # from the centre the walk is back after two jumps; from a leaf it is there after one
        array([0.5, 0.5, 0.5, 0.5], dtype=float32)
        >>> float(reach.from_anchors.sum())
        1.0
    """
    positions = check_anchors(graph, anchors)
    _check_choice("similarity", similarity, ("frequency", "order"))
    _check_choice("method", method, ("walks", "exact", "auto"))
    _check_choice("layout", layout, ("dense", "csr", "auto"))
    num_walks, seed = check_count("num_walks", num_walks), check_seed(seed)
    if hops is not None and similarity == "order":
        raise InputError('hops must be None with similarity="order", which is a sum over steps by definition')
    length = resolve_walk_length(graph, walk_length, hops=hops)
    hops = None if hops is None else length
    where = find_engine(engine)
    if where.in_parts(graph) or not isinstance(graph, Graph):
        if method == "exact":
            raise InputError('method must be "walks" with partitions: the exact one needs the whole graph in one place')
        method = "walks"
    elif method == "auto":
        method = cheaper_method(graph, len(positions), similarity, num_walks, length)
    if layout == "auto":
        limit = DENSE_BYTES * (4 if method == "exact" else 1)
        layout = "dense" if 2 * 4 * graph.num_nodes * len(positions) * (hops or 1) <= limit else "csr"
    _check_cost(graph, len(positions), method, similarity, num_walks, length, hops, layout)
    parameters: dict[str, Any] = {
        "method": method,
        "similarity": similarity,
        "num_walks": None if method == "exact" and similarity == "frequency" else num_walks,
        "walk_length": length,
        "hops": hops,
        "seed": seed if method == "walks" else None,
    }
    return cached(
        cache, graph, positions, layout, parameters, lambda: _compute(graph, positions, layout, parameters, where)
    )


def _compute(
    graph: Any, anchors: NDArray[np.int64], layout: str, parameters: dict[str, Any], engine: Engine
) -> Reachability:
    similarity, length, hops = (parameters[name] for name in ("similarity", "walk_length", "hops"))
    with engine.walker(graph) as walker:
        if parameters["method"] == "exact":
            factor = parameters["num_walks"] or 1
            to, back = exact_reachability(walker, graph, anchors, similarity, length, hops, factor, layout)
        else:
            counting = Counting(similarity, parameters["num_walks"], length, hops)
            to, back = sampled_reachability(walker, anchors, counting, parameters["seed"], layout)
    if hops is not None and layout == "dense":
        to, back = (matrix.reshape(graph.num_nodes, len(anchors), hops) for matrix in (to, back))
    return Reachability(to, back, anchors, **parameters)


def cheaper_method(graph: Graph, num_anchors: int, similarity: str, num_walks: int, length: int) -> str:
    """``"exact"`` or ``"walks"``, whichever takes fewer operations."""
    columns = -(-num_anchors // COLUMNS) * COLUMNS
    cost = len(graph.indices) * columns * length
    if similarity == "order":
        extra = order_cost(graph, length)
        if extra > MAX_ORDER_COST:
            return "walks"
        cost += extra
    if graph.directed or similarity == "order":
        cost *= 2
    return "exact" if cost <= STEP_COST * graph.num_nodes * num_walks * length else "walks"


def _check_cost(
    graph: Any, num_anchors: int, method: str, similarity: str, num_walks: int, length: int, hops: int | None, layout: str
) -> None:  # fmt: skip
    """Refuse what would take months, or more memory than there is, before anything is allocated."""
    n, width = graph.num_nodes, num_anchors * (hops or 1)
    if method == "walks":
        check_steps(n, num_walks, length)
        work = 16 * num_walks * length + 4 * width * min(n, CSR_ROWS)
    else:
        if similarity == "order":
            check_order_cost(graph, length)
        check_products(len(graph.indices), -(-num_anchors // COLUMNS) * COLUMNS, length)
        columns = min(num_anchors, COLUMNS)
        apart = length if hops is not None or similarity == "order" else 1
        work = 4 * n * (3 * COLUMNS + columns * apart * (5 if similarity == "order" else 1))
    what = f"reachability of {n} nodes and {num_anchors} anchors" + ("" if hops is None else f" by {hops} hops")
    remedy = "take fewer anchors, lower hops, walk_length or num_walks" + (
        "" if layout == "csr" else ', or layout="csr"'
    )
    check_memory(work + (8 * n * width if layout == "dense" else 0), what, remedy)


def check_anchors(graph: AnyGraph, anchors: ArrayLike) -> NDArray[np.int64]:
    """Different positions of nodes, at least one."""
    positions = check_starts(graph, () if anchors is None else anchors, "anchors").astype(np.int64)
    if len(positions) == 0:
        raise InputError("anchors must hold at least one position, got none")
    if len(np.unique(positions)) < len(positions):
        raise InputError("anchors must be different positions, got some more than once")
    return positions


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name} must be one of {', '.join(choices)}, got {value!r}")

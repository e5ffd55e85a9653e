r"""Pairs that may become links: for each node those that walks reach in a few steps, and those in a like position.

Scoring all pairs would be n x n. A link that has to be found nearly always closes a short path, so each node's row of
:math:`P^2 + P^3` is walked, within a budget of edges, and its best entries are kept. Candidates are also the nodes whose
positions relative to the anchors are nearest, which may be further away than three steps.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.jit import kernel, long_kernel
from graphreach.pairs.features import PairFeatures
from graphreach.pairs.position import NOTHING
from graphreach.threads import one_blas_thread

PER_NODE = 200
"""Maximum number of candidates of a node."""

STEPS = 3
"""Jumps between a node and its candidates."""

FAR = 12
"""Jumps where fewer reach less nodes than there is room for."""

EDGES = 1 << 16
"""Edges that a step of one node's row looks at: all of them unless hubs are near."""

NEAREST = 1 / 4
"""Share of the candidates that are chosen by position."""

COMPARED = 400_000_000
"""Maximum number of pairs of positions that are compared: those of all nodes of a graph with 20,000."""

ROWS = 16
"""Nodes whose positions are compared in one product: always as many, so that no bit depends on the other nodes."""

Pairs = NDArray[np.int64]


def candidates(
    features: PairFeatures, nodes: NDArray[np.int64], per_node: int = PER_NODE, nearest: bool | None = None
) -> Pairs:
    r"""Pairs of the listed nodes that are worth scoring.

    For a node u they are the v with the largest :math:`(P^2 + P^3)(u, v)`, as resource allocation has it; dividing by the
    degree of v, as lift does, loses more of the pairs that a trained head ranks highest. In a directed graph, half of them
    are where walks along the edges end, half where walks that end at u begin. Where that is fewer than there is room for,
    walks go on, up to :data:`FAR` steps. Where hubs are near, a step goes on only from the nodes that pass most to each
    neighbour, until :data:`EDGES` edges have been looked at. A quarter of the candidates are the nodes whose positions have
    the largest cosines.

    A node is no candidate of itself, nor are the nodes that it has an edge to, unless the features see a pair's own edge.
    In a graph that was read as one with two kinds of nodes, candidates for a link are of the other kind, and where all
    edges leave one kind, nodes of the other have none.

    Args:
        features: Describes pairs of a graph.
        nodes: Positions, each once.
        per_node: Maximum number of candidates of a node.
        nearest: Whether positions are compared; None if that is at most :data:`COMPARED` pairs.

    Returns:
        Pairs ``[2, m]`` of a listed node and a candidate: in the order of ``nodes``, then by position.

    Example:
        >>> import graphreach as gr
        >>> from graphreach.pairs import PairFeatures, PairRecipe
        >>> path = gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 4]])
        >>> candidates(PairFeatures(path, PairRecipe()), np.array([0]), nearest=False)
        array([[0, 0, 0],
               [2, 3, 4]])
    """
    graph = features.graph
    if nearest is None:
        nearest = compares_positions(graph, len(nodes))
    near = int(per_node * NEAREST) if nearest else 0
    ways = 2 if graph.directed else 1
    found = [_reached(features, nodes, -(-(per_node - near) // ways), bool(back)) for back in range(ways)]
    if near:
        found.append(_nearest(features, nodes, near))
    place, partner = (np.concatenate(each) for each in zip(*found, strict=True))
    keys = np.unique(place * graph.num_nodes + partner)
    place, partner = np.divmod(keys, max(1, graph.num_nodes))
    return np.stack([nodes[place], partner])


def compares_positions(graph: Graph, count: int) -> bool:
    """Whether so many nodes are compared with all others by their positions."""
    return count * graph.num_nodes <= COMPARED


def _reached(features: PairFeatures, nodes: Pairs, count: int, back: bool) -> tuple[Pairs, Pairs]:
    """Places in ``nodes`` and what is reached from there, or with ``back`` what it is reached from."""
    graph, links = features.graph, features.graph
    inverse = np.divide(1.0, graph.degree, out=np.zeros(graph.num_nodes), where=graph.degree > 0)
    start, worth = inverse, np.ones(graph.num_nodes)
    if back:  # deg(v) P^t(v, u) goes from node to node along the reversed edges as P^t(u, v) does along the edges
        graph, start, worth = graph.transpose(), worth, inverse
    first = 1 if back or features.recipe.own_edge else 2
    side, wanted = _kinds(features)
    partners, sizes = np.empty((len(nodes), count), np.int64), np.zeros(len(nodes), np.int64)
    _reach_rows(
        (graph.indptr, graph.indices, graph.weights), (links.indptr, links.indices), start, inverse, worth, nodes,
        first, FAR, features.recipe.own_edge, side, wanted, partners, sizes,
    )  # fmt: skip
    return np.repeat(np.arange(len(nodes)), sizes), partners[np.arange(count) < sizes[:, None]]


def _nearest(features: PairFeatures, nodes: Pairs, count: int) -> tuple[Pairs, Pairs]:
    """Places in ``nodes`` and the nodes whose positions are nearest."""
    graph = features.graph
    partners, sizes = np.empty((len(nodes), count), np.int64), np.zeros(len(nodes), np.int64)
    compared = [
        (one, other, _length(one), _length(other))
        for first, second in ((("to", "to"), ("from", "from"), ("to", "from")) if graph.directed else (("to", "to"),))
        for one, other in zip(features.positions(first), features.positions(second), strict=True)
    ]
    side, wanted = _kinds(features)
    alike, part = np.empty((ROWS, graph.num_nodes), np.float32), np.empty((ROWS, graph.num_nodes), np.float32)
    with one_blas_thread():
        for begin in range(0, len(nodes), ROWS):
            own = nodes[begin : begin + ROWS]
            rows = np.resize(own, ROWS)
            alike[:] = 0.0
            for one, other, length, lengths in compared:
                np.matmul(one[rows], other.T, out=part)
                part /= length[rows, None] * lengths + np.float32(NOTHING)
                alike += part
            _best_rows(
                alike, (graph.indptr, graph.indices), own, features.recipe.own_edge, side, wanted,
                partners[begin : begin + ROWS], sizes[begin : begin + ROWS],
            )  # fmt: skip
    return np.repeat(np.arange(len(nodes)), sizes), partners[np.arange(count) < sizes[:, None]]


def _kinds(features: PairFeatures) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """The kind of each node, and the kind of its partners (-2 if it has none); empty where any two may be linked."""
    graph, side = features.graph, features.graph.sides
    if side is None or features.recipe.own_edge:
        return np.empty(0, np.int8), np.empty(0, np.int8)
    wanted = np.where(side >= 0, 1 - side, -2).astype(np.int8)
    leaving = np.unique(side[np.diff(graph.indptr.astype(np.int64)) > 0])
    if len(leaving) == 1:
        wanted[side != leaving[0]] = -2
    return side, wanted


def _length(positions: NDArray[np.float32]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = np.sqrt(np.einsum("ij,ij->i", positions, positions))
    return found


@kernel
def _kth_largest(values: Any, k: Any) -> Any:
    """The k-th largest value, by Hoare's selection, which moves the values; NumPy's takes seconds to compile."""
    low, high, wanted = 0, len(values) - 1, len(values) - k
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if wanted <= j:
            high = j
        elif wanted >= i:
            low = i
        else:
            break
    return values[wanted]


@kernel
def _best(values: Any, nodes: Any, size: Any, out: Any) -> Any:
    """Fill ``out`` with the nodes of the largest values, in no order; of equal ones the first. Returns how many."""
    most = len(out)
    if size <= most:
        for i in range(size):  # a slice takes two seconds to compile
            out[i] = nodes[i]
        return size
    limit = _kth_largest(values[:size].copy(), most)
    count = 0
    for i in range(size):
        if values[i] > limit:
            out[count] = nodes[i]
            count += 1
    for i in range(size):
        if count < most and values[i] == limit:
            out[count] = nodes[i]
            count += 1
    return count


@kernel
def _bound(indptr: Any, inverse: Any, x: Any, support: Any, count: Any) -> Any:
    """A power of two: the budget is enough for nodes that pass as much to a neighbour, not for half of it; 0 if for all."""
    sizes = np.zeros(2100, np.int64)
    total = np.int64(0)
    for i in range(count):
        v = support[i]
        size = np.int64(indptr[v + 1]) - np.int64(indptr[v])
        total += size
        sizes[math.frexp(x[v] * inverse[v])[1] + 1074] += size
    if total <= EDGES:
        return 0.0
    left = np.int64(EDGES)
    for exponent in range(len(sizes) - 1, -1, -1):
        left -= sizes[exponent]
        if left < 0:
            return math.ldexp(1.0, exponent - 1074)
    return 0.0


@kernel
def _step(
    indptr: Any, indices: Any, weights: Any, inverse: Any, x: Any, support: Any, count: Any, y: Any, found: Any
) -> Any:
    """y = x P for an x with ``count`` entries at ``support``, within the budget; x is cleared. Returns the size of y."""
    bound = _bound(indptr, inverse, x, support, count)
    left, size = np.int64(EDGES), 0
    for later in range(1 if bound == 0.0 else 2):
        for i in range(count):
            v = support[i]
            share = x[v] * inverse[v]
            if bound > 0.0 and not (bound / 2 <= share < bound if later else share >= bound):
                continue
            begin, end = np.int64(indptr[v]), np.int64(indptr[v + 1])
            for e in range(begin, min(end, begin + left)):
                u = np.int64(indices[e])
                part = share if weights is None else share * weights[e]
                if part > 0.0:
                    if y[u] == 0.0:
                        found[size] = u
                        size += 1
                    y[u] += part
            left = max(np.int64(0), left - (end - begin))
    for i in range(count):
        x[support[i]] = 0.0
    return size


@long_kernel
def _reach_rows(
    share: Any, edges: Any, links: Any, start: Any, inverse: Any, worth: Any, nodes: Any, first: Any, far: Any,
    linked: Any, side: Any, wanted: Any, out: Any, sizes: Any,
) -> None:  # fmt: skip
    """The nodes with the largest sum of steps ``first`` .. :data:`STEPS` times ``worth``, for each listed node.

    Steps go on up to ``far`` while there is room for all that is reached.
    ``start`` and then ``inverse`` divide what a node passes on; ``linked`` keeps those that ``links`` have an edge to.
    Where ``side`` is not empty, only nodes of the ``wanted`` side are kept.
    """
    n = len(inverse)
    x, y, total, values = np.zeros(n), np.zeros(n), np.zeros(n), np.empty(n)
    support, found, touched = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for j in range(share[0], len(nodes), share[1]):
        if share[2][0] != 0:
            return
        u = nodes[j]
        x[u] = 1.0
        support[0] = u
        count, reached = 1, 0
        room = len(out[j]) + 1 + (0 if linked else np.int64(links[0][u + 1]) - np.int64(links[0][u]))
        for t in range(1, far + 1):
            if count == 0 or (t > STEPS and reached >= room):
                break
            scale = start if t == 1 else inverse
            count = _step(*edges, scale, x, support, count, y, found)
            x, y = y, x
            support, found = found, support
            for i in range(count if t >= first else 0):
                v = support[i]
                if len(side) > 0 and side[v] != wanted[u]:
                    continue
                if total[v] == 0.0:
                    touched[reached] = v
                    reached += 1
                total[v] += x[v]
        for i in range(count):
            x[support[i]] = 0.0
        _leave_out(total, links, u, linked, 0.0)
        size = np.int64(0)  # a plain 0 would compile what is called with it once more
        for i in range(reached):
            v = touched[i]
            if total[v] * worth[v] > 0.0:
                values[size] = total[v] * worth[v]
                touched[size] = v
                size += 1
            total[v] = 0.0
        sizes[j] = _best(values, touched, size, out[j])


@kernel
def _leave_out(values: Any, links: Any, u: Any, linked: Any, nothing: Any) -> None:
    """Set what stands for a node itself and, unless ``linked``, for those that it has an edge to."""
    values[u] = nothing
    if not linked:
        for e in range(np.int64(links[0][u]), np.int64(links[0][u + 1])):
            values[np.int64(links[1][e])] = nothing


@long_kernel
def _best_rows(
    share: Any, alike: Any, links: Any, nodes: Any, linked: Any, side: Any, wanted: Any, out: Any, sizes: Any
) -> None:
    """The nodes with the largest entries of each row, if they are above zero and of the ``wanted`` side."""
    n = alike.shape[1]
    values, places = np.empty(n), np.empty(n, np.int64)
    for j in range(share[0], len(nodes), share[1]):
        if share[2][0] != 0:
            return
        _leave_out(alike[j], links, nodes[j], linked, np.float32(0.0))
        size = np.int64(0)
        for v in range(n):
            if alike[j, v] > 0.0 and (len(side) == 0 or side[v] == wanted[nodes[j]]):
                values[size], places[size] = alike[j, v], v
                size += 1
        sizes[j] = _best(values, places, size, out[j])

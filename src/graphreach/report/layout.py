"""Where to draw the nodes of a graph, and which community each is in."""

from typing import Any

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.jit import kernel
from graphreach.plot import stress_layout
from graphreach.walks.rng import check_seed, step_bits, walk_key

LONGEST = 4.0
"""Maximum length of a move along one axis, before it is scaled by the step."""

PUSH, GRAVITY = 6.0, 0.01
"""Strength of a push relative to a pull, as it stands for many that are not drawn. Then the share of its distance from the
centre that a node moves inwards in a round, so that components do not drift away."""


@kernel
def settle(at: Any, source: Any, target: Any, repulsions: Any, rounds: Any, seed: Any) -> None:
    """Move nodes in place: edges pull their ends together, and push both away from nodes drawn at random.

    Forces are those of a Student distribution, a pull of 2 d / (1 + d^2) and a push in proportion to
    d / ((0.01 + d^2)(1 + d^2)), so that near nodes part and far ones hardly feel each other: clusters stay apart without
    comparing all pairs.
    """
    n = len(at)
    for number in range(rounds):
        step = 0.5 * (1.0 - number / rounds)
        key = walk_key(uint64(seed), number)
        for i in range(n):
            at[i, 0] *= 1.0 - GRAVITY * step
            at[i, 1] *= 1.0 - GRAVITY * step
        for edge in range(len(source)):
            i, j = source[edge], target[edge]
            dx, dy = at[i, 0] - at[j, 0], at[i, 1] - at[j, 1]
            pull = -2.0 / (1.0 + dx * dx + dy * dy)
            mx, my = _bounded(pull * dx) * step, _bounded(pull * dy) * step
            at[i, 0] += mx
            at[i, 1] += my
            at[j, 0] -= mx
            at[j, 1] -= my
            for draw in range(repulsions):
                bits = step_bits(key, edge * repulsions + draw)
                end = i if draw % 2 == 0 else j
                other = np.int64(bits % uint64(n))
                if other != end:
                    _push(at, end, other, step)


@kernel
def _push(at: Any, i: Any, j: Any, step: Any) -> None:
    dx, dy = at[i, 0] - at[j, 0], at[i, 1] - at[j, 1]
    d2 = dx * dx + dy * dy
    push = PUSH * 2.0 / ((0.01 + d2) * (1.0 + d2))
    at[i, 0] += _bounded(push * dx) * step
    at[i, 1] += _bounded(push * dy) * step


@kernel
def _bounded(value: Any) -> Any:
    return min(LONGEST, max(-LONGEST, value))


SMALL = 300
"""Nodes up to which all pairs are compared."""

PIVOTS, ROUNDS, REPULSIONS, MOVES = 48, 300, 6, 60_000_000
"""Nodes that distances are measured to, rounds of forces, nodes that push an edge in a round, pushes altogether."""

PULLS = 500_000
"""Edges that pull; of more, as many are drawn at random."""


def layout(graph: Graph, seed: int = 0) -> NDArray[np.float64]:
    """Positions ``[n, 2]`` for a picture: stress majorisation of small graphs, else distances to pivots and then forces.

    The same graph has the same picture. Time grows with the number of edges, up to :data:`PULLS` of them.

    Example:
        >>> layout(Graph.from_edges([[0, 1], [1, 2]])).shape
        (3, 2)
    """
    check_seed(seed)
    if check_graph(graph).num_nodes <= SMALL:
        return stress_layout(graph) if len(graph.indices) else _sunflower(graph.num_nodes)
    at = _pivot_scaling(graph, np.random.default_rng(seed))
    source, target = graph.edge_index
    once = source < target if not graph.directed else source != target
    alone = np.setdiff1d(np.arange(graph.num_nodes), np.concatenate([source[once], target[once]]))
    source, target = np.concatenate([source[once], alone]), np.concatenate([target[once], alone])
    if len(source) > PULLS:
        drawn = np.random.default_rng(seed).permutation(len(source))[:PULLS]
        source, target = source[drawn], target[drawn]
    rounds = int(np.clip(MOVES // (REPULSIONS * len(source)), 50, ROUNDS))
    order = np.random.default_rng(seed).permutation(len(source))
    settle(at, source[order], target[order], REPULSIONS, rounds, seed)
    return at


def plane(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Rows as points of the plane that keeps most of their variance, ``[n, 2]``."""
    centred = values.astype(np.float64) - values.mean(0, dtype=np.float64)
    sizes, axes = np.linalg.eigh(centred.T @ centred)
    top = axes[:, np.argsort(-sizes, kind="stable")[:2]]
    top = top * np.where(top[np.abs(top).argmax(0), np.arange(top.shape[1])] < 0, -1.0, 1.0)
    flat = centred @ top
    return flat if flat.shape[1] == 2 else np.column_stack([flat, np.zeros((len(flat), 2 - flat.shape[1]))])


def _sunflower(count: int) -> NDArray[np.float64]:
    """Points spread evenly over a disc, for nodes without edges."""
    order = np.arange(count)
    angle, radius = order * (np.pi * (3 - np.sqrt(5))), np.sqrt(order + 0.5)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _pivot_scaling(graph: Graph, rng: np.random.Generator) -> NDArray[np.float64]:
    """Classical scaling of hops to a few nodes of the largest component; the other components begin around it."""
    from scipy.sparse.csgraph import connected_components, shortest_path

    links = graph.to_scipy()
    _, component = connected_components(links, directed=False)
    main = np.flatnonzero(component == np.bincount(component).argmax())
    pivots = rng.choice(main, min(PIVOTS, len(main)), replace=False)
    squared = shortest_path(links, directed=False, unweighted=True, indices=pivots).T[main] ** 2
    flat = plane(-(squared - squared.mean(1, keepdims=True)) / 2)
    size = graph.num_nodes**0.25
    angle = (component * 2.399963) % (2 * np.pi)  # the golden angle sets neighbouring numbers apart
    at: NDArray[np.float64] = 3 * size * np.column_stack([np.cos(angle), np.sin(angle)])
    at[main] = flat / np.maximum(flat.std(0), 1e-12) * size
    return at + rng.normal(scale=size / 20, size=at.shape)


@kernel
def move_nodes(indptr: Any, indices: Any, weights: Any, order: Any, rounds: Any) -> Any:
    """Put every node, in the given order, into the neighbouring community that raises modularity most; repeat.

    Returns:
        The community of each node, some number from 0 to n - 1.
    """
    n = len(indptr) - 1
    community, degree = np.arange(n), np.zeros(n)
    for u in range(n):
        for edge in range(indptr[u], indptr[u + 1]):
            degree[u] += weights[edge]
    total, sums, towards = max(degree.sum(), 1e-300), degree.copy(), np.zeros(n)
    for _ in range(rounds):
        moved = 0
        for u in order:
            for edge in range(indptr[u], indptr[u + 1]):
                if indices[edge] != u:
                    towards[community[indices[edge]]] += weights[edge]
            old = community[u]
            sums[old] -= degree[u]
            best, gain = old, towards[old] - degree[u] * sums[old] / total
            for edge in range(indptr[u], indptr[u + 1]):
                other = community[indices[edge]]
                value = towards[other] - degree[u] * sums[other] / total
                if value > gain + 1e-12:
                    best, gain = other, value
            for edge in range(indptr[u], indptr[u + 1]):
                towards[community[indices[edge]]] = 0.0
            sums[best] += degree[u]
            community[u] = best
            moved += best != old
        if moved == 0:
            break
    return community


LEVELS, LOUVAIN_ROUNDS = 10, 20
"""Maximum number of levels of the Louvain method, and of rounds over all nodes in each."""


def communities(graph: Graph, seed: int = 0) -> NDArray[np.int64]:
    """The community of each node, the largest being 0: modularity raised by moving nodes, then groups (Louvain).

    Directions of edges are ignored. The same graph has the same communities.

    Example:
        >>> two = Graph.from_edges([[0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]])
        >>> communities(two).tolist()
        [0, 0, 0, 1, 1, 1]
    """
    from scipy.sparse import csr_array

    links = check_graph(graph).to_scipy()
    check_seed(seed)
    links = csr_array(links + links.T) if graph.directed else links
    groups, rng = np.arange(graph.num_nodes), np.random.default_rng(seed)
    for _ in range(LEVELS):
        size = links.shape[0]
        found = move_nodes(links.indptr, links.indices, links.data, rng.permutation(size), LOUVAIN_ROUNDS)
        names, own = np.unique(found, return_inverse=True)
        groups = own[groups]
        if len(names) == size:
            break
        member = csr_array((np.ones(size), (np.arange(size), own)), shape=(size, len(names)))
        links = csr_array(member.T @ links @ member)
    return by_size(groups)


def by_size(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Groups numbered by size, the largest 0; of equal ones the first."""
    _, first, own, sizes = np.unique(groups, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(sizes), np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[own]

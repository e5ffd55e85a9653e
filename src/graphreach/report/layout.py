"""Where to draw the nodes of a graph."""

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.plot import stress_layout
from graphreach.report.layout_kernels import settle
from graphreach.walks.rng import check_seed

SMALL = 300
"""Nodes up to which all pairs are compared."""

PIVOTS, ROUNDS, REPULSIONS, MOVES = 48, 300, 6, 60_000_000
"""Nodes that distances are measured to, rounds of forces, nodes that push an edge in a round, pushes altogether."""


def layout(graph: Graph, seed: int = 0) -> NDArray[np.float64]:
    """Positions ``[n, 2]`` for a picture: stress majorisation of small graphs, else distances to pivots and then forces.

    The same graph has the same picture. Time grows with the number of edges.

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

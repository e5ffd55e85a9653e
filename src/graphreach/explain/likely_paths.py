"""The path that walks from one node to another take most often."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import check_whole, to_integers
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.jit import kernel
from graphreach.pairs.direct import edge_entries
from graphreach.walks.random_walks import check_starts
from graphreach.walks.walk_length import check_count


@kernel
def improve(
    indptr: Any, indices: Any, weights: Any, degree: Any, frontier: Any, chance: Any, best: Any, place: Any
) -> Any:
    """One more jump from the frontier (nodes with the chance of their path): who is reached better than before.

    Returns nodes, chances and the place in the frontier that each comes from; updates ``best``, the best chance of each
    node so far. A path that a shorter and likelier one overtakes needs no continuation, so later jumps start from the
    improved nodes only. ``place`` is -1 for each node, as it is again afterwards; ``weights`` may be empty.
    """
    room = 0
    for u in frontier:
        room += indptr[u + 1] - indptr[u]
    room = min(room, len(best))
    nodes, chances, parents = np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64)
    count = 0
    for i in range(len(frontier)):
        u = frontier[i]
        for edge in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[edge])
            weight = weights[edge] if len(weights) else 1.0
            reached = chance[i] * weight / degree[u]
            if reached > best[v]:
                best[v] = reached
                if place[v] < 0:
                    place[v] = count
                    nodes[count] = v
                    count += 1
                chances[place[v]] = reached
                parents[place[v]] = i
    for i in range(count):
        place[nodes[i]] = -1
    return nodes[:count], chances[:count], parents[:count]


class Path(NamedTuple):
    """A path and how likely a walk from its first node is to follow it.

    Attributes:
        nodes: Positions, from the start to the target.
        chance: The product of the jumps' probabilities.
    """

    nodes: tuple[int, ...]
    chance: float


def likely_paths(graph: Graph, start: int, targets: ArrayLike, max_length: int) -> list[Path | None]:
    r"""The most probable path of at most ``max_length`` jumps from one node to each target.

    A walk jumps from u to v with probability :math:`w_{uv} / \sum_{v'} w_{uv'}`; a path's chance is the product. Found by
    dynamic programming over the number of jumps, which goes on only from nodes that the last jump reached better than
    before: the neighbourhood is searched, not the graph.

    Args:
        graph: The graph.
        start: Position where walks begin.
        targets: Positions.
        max_length: Maximum number of jumps.

    Returns:
        A path for each target; None where there is none that short. From a node to itself it is the node alone.

    Example:
        >>> square = Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]], edge_weight=[3.0, 1.0, 1.0, 1.0])
        >>> likely_paths(square, 0, [0, 1, 2], 2)
        [Path(nodes=(0,), chance=1.0), Path(nodes=(0, 1), chance=0.75), Path(nodes=(0, 1, 2), chance=0.1875)]
    """
    check_graph(graph)
    begin = check_whole("start", start, 0, graph.num_nodes - 1)
    wanted = check_starts(graph, to_integers("targets", targets), "targets").astype(np.int64)
    weights: Any = np.empty(0) if graph.weights is None else graph.weights
    layers = _layers(graph, weights, begin, wanted, check_count("max_length", max_length))
    return [_trace(layers, int(target)) for target in wanted]


def separate_paths(graph: Graph, start: int, target: int, max_length: int, most: int) -> list[Path]:
    """The likeliest path between two nodes, the likeliest one along none of its edges, and so on.

    Args:
        graph: The graph.
        start: Position where walks begin.
        target: Position where they end.
        max_length: Maximum number of jumps.
        most: Maximum number of paths.

    Example:
        >>> square = Graph.from_edges([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]])
        >>> separate_paths(square, 0, 2, 3, 2)
        [Path(nodes=(0, 2), chance=0.3333333333333333), Path(nodes=(0, 1, 2), chance=0.16666666666666666)]
    """
    weights: Any = np.empty(0) if graph.weights is None else graph.weights
    found: list[Path] = []
    while len(found) < most:
        layers = _layers(graph, weights, start, np.array([target]), max_length)
        path = _trace(layers, target)
        if path is None:
            break
        if not found:
            weights = np.ones(len(graph.indices), np.float32) if graph.weights is None else graph.weights.copy()
        found.append(path)
        steps = np.array([path.nodes[:-1], path.nodes[1:]])
        at = np.concatenate([edge_entries(graph, steps), edge_entries(graph, steps[::-1])])
        weights[at[at >= 0]] = 0.0  # not deleted: a walk may still take the edge, which is why degrees stay
    return found


class _Layer(NamedTuple):
    nodes: NDArray[np.int64]
    chances: NDArray[np.float64]
    parents: NDArray[np.int64]


def _layers(graph: Graph, weights: Any, start: int, targets: NDArray[np.int64], max_length: int) -> list[_Layer]:
    """Nodes that paths of 0, 1, 2, ... jumps reach better than shorter ones, but those that lead to no better path.

    A path only becomes less likely with every jump, so none goes on that is no likelier than the known ones to all targets.
    """
    best, place = np.zeros(graph.num_nodes), np.full(graph.num_nodes, -1, np.int64)
    best[start] = 1.0
    layers = [_Layer(np.array([start]), np.ones(1), np.zeros(1, np.int64))]
    for _ in range(max_length):
        nodes, chances, _ = layers[-1]
        found = improve(graph.indptr, graph.indices, weights, graph.degree, nodes, chances, best, place)
        if not len(found[0]):
            break
        keep = (found[1] > best[targets].min(initial=1.0)) | np.isin(found[0], targets)
        layers.append(_Layer(*(part[keep] for part in found)))
    return layers


def _trace(layers: list[_Layer], target: int) -> Path | None:
    for depth in reversed(range(len(layers))):  # the last layer that has the target has its best path
        at = np.flatnonzero(layers[depth].nodes == target)
        if len(at):
            break
    else:
        return None
    place, chance, nodes = int(at[0]), float(layers[depth].chances[at[0]]), []
    for layer in reversed(layers[: depth + 1]):
        nodes.append(int(layer.nodes[place]))
        place = int(layer.parents[place])
    return Path(tuple(reversed(nodes)), chance)

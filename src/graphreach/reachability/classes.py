r"""What describes a node of an unknown class: position, reachability to classes, attributes around it.

Nothing here is trained. With P the transition matrix of the walk and :math:`s_l = \frac{1}{l} \sum_{t=1}^{l} P^t`:

- **position**: the lift of walks to anchors (:func:`position_features`);
- **classes**: how much walks visit the nodes of each class (:func:`class_features`);
- **attributes**: attributes of the node and those that its walks meet (:func:`attribute_features`).

On a directed graph each is computed both ways: to and from the anchors and the labelled nodes, and along the edges and
against them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, hstack, issparse

from graphreach.graph import Graph
from graphreach.limits import check_memory
from graphreach.reachability.exact import COLUMNS, Propagation, blocks_of, transition_powers
from graphreach.reachability.layouts import from_columns
from graphreach.reachability.result import inverse_shares
from graphreach.walks.engine import LocalWalker

POSITION_LENGTHS = (4, 10)
"""Walk lengths of position: near and far."""

CLASS_LENGTHS = (1, 2, 4, 8)
"""Walk lengths of reachability to classes: neighbours up to the wider neighbourhood."""

DENSE_SHARE = 0.25
"""Share of non-zero attributes from which on they are stored densely."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labels of some nodes of a graph, dealt in folds.

    Attributes:
        nodes: Positions of the labelled nodes, ``[m]``.
        y: Their classes as zeros and ones, ``[m, classes]``.
        folds: The fold of each; a node's features are computed from the labels of the other folds.
    """

    nodes: NDArray[np.int64]
    y: NDArray[np.float32]
    folds: NDArray[np.int64]


def directions(graph: Graph) -> tuple[str, ...]:
    """The directions that differ: on an undirected graph lift is the same both ways."""
    return ("to", "from") if graph.directed else ("to",)


def position_features(
    graph: Graph, anchors: NDArray[np.int64], lengths: tuple[int, ...] = POSITION_LENGTHS
) -> NDArray[np.float32]:
    r""":math:`\log(1 + s_l(v, a) / \pi(a))` of every node and anchor, :math:`\pi` a node's share of all edges' weight.

    Args:
        graph: The graph.
        anchors: Positions of the anchors.
        lengths: The walk lengths l, ascending.

    Returns:
        ``[n, directions * k * lengths]``: by direction, anchor and length.

    Example:
        >>> path = Graph.from_edges([[0, 1], [1, 2]])
        >>> position_features(path, np.array([1]), (1, 2)).round(2)
        array([[1.1 , 0.69],
               [0.  , 0.69],
               [1.1 , 0.69]], dtype=float32)
    """
    width = len(anchors) * len(lengths)
    check_memory(
        3 * 4 * graph.num_nodes * width * len(directions(graph)), f"positions of {graph.num_nodes} nodes",
        "lower num_anchors",
    )  # fmt: skip
    inverse, compute = inverse_shares(graph), partial(_mean_block, lengths=lengths)
    out = []
    for direction in directions(graph):
        blocks = blocks_of(
            LocalWalker(graph), compute, transition_powers(graph, direction), anchors, f"position {direction} anchors"
        )
        matrix: NDArray[np.float32] = from_columns(blocks, graph.num_nodes, width, "dense")
        matrix *= np.repeat(inverse[anchors], len(lengths)) if direction == "to" else inverse[:, None]
        out.append(np.log1p(matrix, out=matrix))
    return out[0] if len(out) == 1 else np.concatenate(out, axis=1)


def _mean_block(powers: Propagation, nodes: NDArray[Any], lengths: tuple[int, ...]) -> NDArray[np.float32]:
    """The mean of the first l powers for several l, anchor by anchor."""
    powers.start(nodes)
    out = np.empty((powers.num_nodes, len(nodes), len(lengths)), np.float32)
    for number, sums in enumerate(_sums(powers, lengths)):
        np.divide(sums[:, : len(nodes)], lengths[number], out=out[:, :, number])
    return out.reshape(powers.num_nodes, -1)


def _sums(powers: Propagation, lengths: tuple[int, ...]) -> Iterator[NDArray[np.float32]]:
    """The sum of the first l powers for each l."""
    done = 0
    for length in lengths:
        for _ in range(done, length):
            powers.step(1.0)
        done = length
        yield powers.sums


def class_features(graph: Graph, labelled: Labelled, lengths: tuple[int, ...] = CLASS_LENGTHS) -> NDArray[np.float32]:
    r"""Reachability of the classes: :math:`s_l(v, c) = \sum_u s_l(v, u)` over the labelled nodes u of class c.

    For each l these are the share of class c among the visits to labelled nodes, and the log of one plus the lift of all
    labelled nodes. Where walks of one length meet no labelled node, the shares are those of the next length; where none do,
    all shares are equal.

    A labelled node must not see its own label, as a node whose class is asked for has none. Its features are computed from
    the labels of the other folds; those of a node without a label from all. As good as leaving out the node alone (by its
    return probabilities) on Cora, CiteSeer and the Facebook pages, and its cost does not grow with neighbourhoods.

    Args:
        graph: The graph.
        labelled: The labels.
        lengths: The walk lengths l, ascending.

    Returns:
        ``[n, directions * lengths * (classes + 1)]``.

    Example:
        >>> path = Graph.from_edges([[0, 1], [1, 2]])
        >>> ends = Labelled(np.array([0, 2]), np.eye(2, dtype=np.float32), np.array([0, 1]))
        >>> class_features(path, ends, (1, 2)).round(2)
        array([[0.  , 1.  , 0.  , 0.  , 1.  , 0.69],
               [0.5 , 0.5 , 1.1 , 0.5 , 0.5 , 0.69],
               [1.  , 0.  , 0.  , 1.  , 0.  , 0.69]], dtype=float32)
    """
    classes = labelled.y.shape[1]
    width = len(lengths) * (classes + 1)
    check_memory(
        4 * graph.num_nodes * (width * len(directions(graph)) + 4 * COLUMNS),
        f"reachability of {classes} classes", "give fewer classes",
    )  # fmt: skip
    fold_of = np.full(graph.num_nodes, -1)
    fold_of[labelled.nodes] = labelled.folds
    out = np.empty((graph.num_nodes, len(directions(graph)) * width), np.float32)
    for side, direction in enumerate(directions(graph)):
        reached = _class_sums(graph, labelled, lengths, direction, fold_of)
        _describe(graph, labelled, reached, direction, fold_of, out[:, side * width : (side + 1) * width])
    return out


def _class_sums(
    graph: Graph, labelled: Labelled, lengths: tuple[int, ...], direction: str, fold_of: NDArray[np.int64]
) -> NDArray[np.float32]:
    """``[n, lengths, classes + 1]``: mean visits to each class and to labelled nodes, of the folds that a node may see."""
    columns = labelled.y.shape[1] + 1
    values = np.concatenate([labelled.y, np.ones((len(labelled.y), 1), np.float32)], axis=1)
    folds = [-1, *np.unique(labelled.folds).tolist()]  # -1: nodes without a label see all
    pieces = [(fold, column) for fold in folds for column in range(columns)]
    out = np.zeros((graph.num_nodes, len(lengths), columns), np.float32)

    def compute(powers: Propagation, piece: list[tuple[int, int]]) -> None:
        powers.start(np.empty(0, np.int64))
        for place, (fold, column) in enumerate(piece):
            seen = labelled.folds != fold
            powers.x[labelled.nodes[seen], place] = values[seen, column] * powers.powers.right[labelled.nodes[seen]]
        rows = {fold: np.flatnonzero(fold_of == fold) for fold in {fold for fold, _ in piece}}
        for number, sums in enumerate(_sums(powers, lengths)):
            for place, (fold, column) in enumerate(piece):
                out[rows[fold], number, column] = sums[rows[fold], place] / lengths[number]

    blocks = [pieces[first : first + COLUMNS] for first in range(0, len(pieces), COLUMNS)]
    shared = Propagation(transition_powers(graph, direction))
    for _ in LocalWalker(graph).compute(compute, shared, blocks, f"reachability {direction} classes"):
        pass
    return out


def _describe(
    graph: Graph, labelled: Labelled, reached: NDArray[np.float32], direction: str, fold_of: NDArray[np.int64],
    out: NDArray[np.float32],
) -> None:  # fmt: skip
    """Shares of the classes and the log-lift of all labelled nodes, length by length.

    Nothing here may depend on labels of a node's own fold, nor on how its fold differs from the others. The frequencies of
    the classes in the other folds would be low where those of its own fold are high, which would give its label away.
    """
    arriving = graph.transpose().degree
    whole = arriving.sum()
    lengths, columns = reached.shape[1:]
    for fold in np.unique(fold_of):
        rows, seen = np.flatnonzero(fold_of == fold), labelled.folds != fold
        to = direction == "to"
        expected: Any = arriving[labelled.nodes[seen]].sum() if to else seen.sum() * arriving[rows]
        shares = np.full((len(rows), columns - 1), 1 / max(1, columns - 1))
        for number in reversed(range(lengths)):
            total = reached[rows, number, -1:].astype(np.float64)
            np.divide(reached[rows, number, :-1], total, out=shares, where=total > 0)
            first = number * columns
            out[rows, first : first + columns - 1] = shares
            lift = np.divide(total[:, 0] * whole, expected, out=np.zeros(len(rows)), where=np.asarray(expected) > 0)
            out[rows, first + columns - 1] = np.log1p(lift)


def attribute_features(graph: Graph, x: Any, steps: int = 2) -> list[Any]:
    r"""Attributes of each node and the mean of those that walks meet: x, Px, .., :math:`P^{steps} x`.

    Args:
        graph: The graph.
        x: Attributes, ``[n, d]``, an array or a SciPy sparse matrix.
        steps: Jumps of the longest walks.

    Returns:
        One matrix per step, ``csr_array`` while few entries are other than zero, else a dense array; on a directed graph
        also those of walks against the edges.

    Example:
        >>> path = Graph.from_edges([[0, 1], [1, 2]])
        >>> [part.ravel().tolist() for part in attribute_features(path, np.array([[1.0], [2.0], [4.0]]), 1)]
        [[1.0, 2.0, 4.0], [2.0, 2.5, 2.0]]
    """
    parts = [compact(x)]
    for edges in (graph, graph.transpose()) if graph.directed else (graph,):
        degree = edges.degree
        inverse = np.divide(1.0, degree, out=np.zeros(len(degree)), where=degree > 0)
        transition = csr_array(diags_array(inverse) @ edges.to_scipy())
        current = parts[0]
        for _ in range(steps):
            check_memory(
                2 * 8 * x.shape[0] * x.shape[1], f"attributes of {x.shape[0]} nodes and their {x.shape[1]} columns",
                "give fewer columns",
            )  # fmt: skip
            current = compact(transition @ current)
            parts.append(current)
    return parts


def compact(x: Any) -> Any:
    """A matrix as ``csr_array`` if less than :data:`DENSE_SHARE` of it is other than zero, else as a dense array."""
    if issparse(x):
        matrix = csr_array(x, dtype=np.float64)
        return matrix if matrix.nnz < DENSE_SHARE * np.prod(matrix.shape) else matrix.toarray()
    dense = np.asarray(x, np.float64)
    return csr_array(dense) if np.count_nonzero(dense) < DENSE_SHARE * dense.size else dense


def side_by_side(parts: Iterable[Any]) -> Any:
    """One matrix of several with the same rows: sparse if all are, else dense."""
    listed = list(parts)
    if all(issparse(part) for part in listed):
        return csr_array(hstack(listed, format="csr"))
    return np.concatenate([part.toarray() if issparse(part) else part for part in listed], axis=1)

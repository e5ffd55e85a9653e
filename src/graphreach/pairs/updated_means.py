"""Mean powers of a graph that has changed: only rows whose walks may meet a change are computed again."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.pairs.position import mean_powers_by
from graphreach.reachability.exact import Powers, transition_powers

WHOLE = 0.5
"""Share of the nodes around the changes beyond which all rows are computed again."""

Array = NDArray[np.float32]
Nodes = NDArray[np.int64]


class UpdatedMeans(NamedTuple):
    """Mean powers of all nodes of a changed graph.

    Attributes:
        means: ``[n, k]`` for each length.
        touched: Nodes whose rows were computed again; None if all were.
    """

    means: list[Array]
    touched: Nodes | None


def updated_means(
    before: Graph, means: Sequence[Array], after: Graph, anchors: Nodes, lengths: Sequence[int], direction: str
) -> UpdatedMeans:
    r"""What :func:`graphreach.pairs.position.mean_powers` gives for a changed graph, bit for bit.

    A row of :math:`P^t` differs only where a walk of t jumps meets a node whose own row of P does before its last jump.
    These rows are computed from the nodes that such walks visit, all others are kept.

    Args:
        before: The graph as it was.
        means: Its mean powers, ``[n, k]`` for each length.
        after: The changed graph, whose first nodes are those of the other one.
        anchors: Positions of the anchors, the same in both.
        lengths: Jumps of the walks.
        direction: ``"to"`` for walks from nodes to anchors, ``"from"`` for walks from anchors to nodes.
    """
    powers, far = transition_powers(after, direction), max(lengths)
    changed = _changed_rows(transition_powers(before, direction), powers)
    most = int(WHOLE * after.num_nodes)
    touched, visited = changed, changed
    for _ in range(far - 1):  # who reads a changed row, by the edges of both graphs: those that are gone were read too
        touched = _with_readers(touched, (after, before), direction)
        if len(touched) > most:
            break
    else:
        visited = touched
        for _ in range(far):
            visited = np.union1d(visited, _entries(powers, visited))
            if len(visited) > most:
                break
    if max(len(touched), len(visited)) > most:
        return UpdatedMeans(mean_powers_by(powers, anchors, lengths), None)
    out = [_grown(each, after.num_nodes) for each in means]
    if len(touched):
        columns, rows = _places(visited, anchors), np.searchsorted(visited, touched)
        seen = np.flatnonzero(columns >= 0)
        found = mean_powers_by(_restricted(powers, visited), columns[seen], lengths)
        for own, part in zip(out, found, strict=True):
            own[touched] = 0.0
            own[np.ix_(touched, seen)] = part[rows]
    return UpdatedMeans(out, touched)


def _changed_rows(before: Powers, after: Powers) -> Nodes:
    """Rows by which a step multiplies that differ, and new ones."""
    n, old = len(before.left), before.indptr.astype(np.int64)
    new = after.indptr.astype(np.int64)
    differs = np.ones(len(after.left), np.bool_)
    same_size = np.diff(old) == np.diff(new[: n + 1])
    kept = np.repeat(same_size, np.diff(old))
    there, here = before.indices[kept], after.indices[: new[n]][np.repeat(same_size, np.diff(new[: n + 1]))]
    unlike = there != here
    if before.weights is not None and after.weights is not None:
        repeated = np.repeat(same_size, np.diff(new[: n + 1]))
        unlike |= before.weights[kept] != after.weights[: new[n]][repeated]
    # what a neighbour's row is scaled by counts in the rows of those who read it
    scaled = np.flatnonzero(before.right != after.right[:n])
    unlike |= np.isin(there, scaled) if len(scaled) else False
    rows = np.repeat(np.flatnonzero(same_size), np.diff(old)[same_size])
    differs[:n] = ~same_size | (before.left != after.left[:n])
    differs[rows[unlike]] = True
    return np.flatnonzero(differs)


def _with_readers(nodes: Nodes, graphs: Sequence[Graph], direction: str) -> Nodes:
    """Nodes and those whose step reads their rows in one of the graphs."""
    found = [nodes]
    for graph in graphs:
        readers = graph.transpose() if direction == "to" else graph
        own = nodes[nodes < graph.num_nodes]
        found.append(_neighbours(readers.indptr, readers.indices, own))
    return np.unique(np.concatenate(found))


def _entries(powers: Powers, rows: Nodes) -> Nodes:
    return _neighbours(powers.indptr, powers.indices, rows)


def _neighbours(indptr: Any, indices: Any, rows: Nodes) -> Nodes:
    """Columns of the entries in some rows."""
    columns: Nodes = indices[_slots(indptr, rows)[0]].astype(np.int64)
    return columns


def _slots(indptr: Any, rows: Nodes) -> tuple[Nodes, Nodes]:
    """Numbers of the entries in some rows, one row after the other, and how many each has."""
    begin, end = indptr[rows].astype(np.int64), indptr[rows + 1].astype(np.int64)
    sizes = end - begin
    offset = np.cumsum(sizes) - sizes
    return np.repeat(begin - offset, sizes) + np.arange(sizes.sum()), sizes


def _restricted(powers: Powers, nodes: Nodes) -> Powers:
    """A step among some nodes; rows that read others are cut, so that they are wrong where they are not read themselves."""
    slots, sizes = _slots(powers.indptr, nodes)
    place = _places(nodes, powers.indices[slots].astype(np.int64))
    inside = place >= 0
    rows = np.repeat(np.arange(len(nodes)), sizes)[inside]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(nodes)))])
    weights = None if powers.weights is None else powers.weights[slots][inside]
    parts = (indptr.astype(powers.indptr.dtype), place[inside].astype(powers.indices.dtype), weights)
    found = Powers(*parts, powers.left[nodes], powers.right[nodes])
    for array in found:
        if array is not None:
            array.flags.writeable = False
    return found


def _places(nodes: Nodes, wanted: Nodes) -> Nodes:
    """Places of some nodes in a sorted list, -1 where they are not in it."""
    at = np.minimum(np.searchsorted(nodes, wanted), max(0, len(nodes) - 1))
    return np.where(nodes[at] == wanted, at, -1) if len(nodes) else np.full(len(wanted), -1)


def _grown(means: Array, rows: int) -> Array:
    out = np.zeros((rows, means.shape[1]), np.float32)
    out[: len(means)] = means
    return out

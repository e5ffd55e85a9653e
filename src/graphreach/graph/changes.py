"""What a batch of added, removed and re-weighted edges does to a graph, by positions instead of ids."""

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.build import plain
from graphreach.graph.change_kernels import ADD, ASYMMETRIC, REMOVE, SET, SOUND, TWICE, merge_changes
from graphreach.graph.convert import node_column
from graphreach.graph.ids import check_number_of_nodes, encode_ids, few_ids, ids_array
from graphreach.graph.listed import Listed, list_edges
from graphreach.graph.lookup import IdLookup

NO_IDS = np.empty(0, np.int64)

NO_VALUES = np.empty(0, np.float64)

NO_TIMES = np.empty((2, 0), np.float64)

Positions = NDArray[np.int64]


class Changes(NamedTuple):
    """A batch of changes, each edge once.

    Attributes:
        ids: New ids, sorted among themselves; they get the positions after those of the known nodes.
        source: Position of one end of each changed edge, ``[m]``; for an undirected graph the smaller one.
        target: Position of the other end.
        weight: The weight that is added to the edge, or that it is set to; empty for an unweighted graph.
        kind: ``ADD``, ``REMOVE`` or ``SET``.
        times: The latest and the earliest time of each added edge, ``[2, m]``; ``[2, 0]`` without times.
        touched: The sorted nodes whose rows change.
        listed: Source and target of the edges in ``add`` as they were listed, ``[2, l]``.
    """

    ids: NDArray[Any]
    source: Positions
    target: Positions
    weight: NDArray[np.float64]
    kind: NDArray[np.int8]
    times: NDArray[np.float64]
    touched: Positions
    listed: Positions


def resolve_changes(
    known: IdLookup,
    add: Any = None,
    remove: Any = None,
    weights: Any = None,
    *,
    nodes: Iterable[Hashable] = (),
    directed: bool,
    weighted: bool,
    self_loops: bool = False,
    time: NDArray[np.float64] | None = None,
) -> Changes:
    """Find the positions of the edges in a batch of changes, and merge those that are listed more than once.

    Nothing is looked up in a graph: whether an edge that is removed is there shows in its row.

    Args:
        known: The ids of the graph's nodes.
        add: Edges to add, see :meth:`graphreach.Graph.updated`.
        remove: Edges to remove.
        weights: Triples with the new weights of edges.
        nodes: Ids of nodes to add.
        directed: Whether an edge leads from its source to its target only.
        weighted: Whether the graph has weights.
        self_loops: Whether to add edges from a node to itself.
        time: The latest and the earliest time of each edge in ``add``, ``[2, l]``.
    """
    parts: list[tuple[Positions, Positions, Any, int]] = []
    ids, listed = NO_IDS, np.empty((2, 0), np.int64)
    if add is not None or not isinstance(nodes, tuple) or nodes:
        edges = Listed(NO_IDS, NO_IDS, NO_IDS, 0) if add is None else list_edges(add, "add")
        if add is not None:
            _check_weighted(edges, weighted, "add")
        ids, at = _place(known, edges.ids, node_column(nodes))
        listed = np.stack((at[edges.source], at[edges.target]))
        parts.append((listed[0], listed[1], edges.weights, ADD))
    if remove is not None:
        edges = list_edges(remove, "remove", weighted=False)
        if edges.weights is not None:
            raise InputError("remove must be pairs (u, v) without weights, got edges with weights")
        parts.append((*_find(known, edges, "remove"), None, REMOVE))
    if weights is not None:
        if not weighted:
            raise InputError("weights must be None for an unweighted graph, got new weights of edges")
        edges = list_edges(weights, "weights")
        _check_weighted(edges, True, "weights")
        if edges.weights is not None and not edges.weights.all():
            raise InputError("weights must be positive, got 0; to remove an edge, list it in remove")
        parts.append((*_find(known, edges, "weights"), edges.weights, SET))
    if not parts:
        return Changes(ids, NO_IDS, NO_IDS, NO_VALUES, np.empty(0, np.int8), NO_TIMES, NO_IDS, listed)
    source, target, weight, kind = _join(parts, weighted)
    times = NO_TIMES if time is None else _pad(time, len(source))
    merged = merge_changes(source, target, weight, kind, times, directed, self_loops)
    source, target, weight, kind, times, touched, problem = merged
    changes = Changes(ids, source, target, weight, kind, times, touched, listed)
    if problem != SOUND:
        _refuse(changes, problem, known)
    return changes


def check_found(changes: Changes, found: NDArray[np.bool_], known: IdLookup) -> None:
    """Refuse changes to edges that are not there; ``found`` comes from ``changed_rows``."""
    wrong = np.flatnonzero(~found & (changes.kind != ADD))
    if not len(wrong):
        return
    first = int(wrong[0])
    name = "remove" if changes.kind[first] == REMOVE else "weights"
    count = int(np.count_nonzero(changes.kind[wrong] == changes.kind[first]))
    more = f" and {count - 1} more that are not" if count > 1 else ", which is not"
    raise InputError(f"{name} must list edges that are in the graph, got {_edge(changes, first, known)}{more}")


def _check_weighted(edges: Listed, weighted: bool, name: str) -> None:
    if weighted and edges.weights is None and edges.size:
        raise InputError(f"{name} must be triples (u, v, weight) for a weighted graph, got edges without weights")
    if not weighted and edges.weights is not None:
        raise InputError(f"{name} must be pairs (u, v) for an unweighted graph, got edges with weights")


def _place(known: IdLookup, ids: NDArray[Any], nodes: NDArray[Any]) -> tuple[NDArray[Any], Positions]:
    """The new ids among those of edges and of nodes, and the positions of those of edges."""
    at = known.positions(ids)
    late = nodes[known.positions(nodes) < 0] if len(nodes) else nodes
    unknown = at < 0
    if not len(late) and not unknown.any():
        return NO_IDS, at
    columns = [known.normal(ids[unknown]), known.normal(late)]
    if len({column.dtype.kind for column in columns if len(column)}) > 1:
        # Floats and large integers in one column of floats might become equal.
        columns = [np.fromiter(column.tolist(), object, len(column)) for column in columns]
    new, (codes, _) = encode_ids(columns)
    check_number_of_nodes(len(known) + len(new))
    at[unknown] = codes.astype(np.int64) + len(known)
    return ids_array(new.tolist()) if new.dtype == object else new, at


def _find(known: IdLookup, edges: Listed, name: str) -> tuple[Positions, Positions]:
    """Positions of the ends of edges whose nodes must be there."""
    at = known.positions(edges.ids)
    source, target = at[edges.source], at[edges.target]
    wrong = np.flatnonzero((source < 0) | (target < 0))
    if len(wrong):
        end = edges.source if source[wrong[0]] < 0 else edges.target
        unknown = plain(edges.ids[end][wrong[0]])
        such = few_ids(known.ids[:3])
        raise InputError(
            f"{name} must list edges between nodes of the graph (such as {such}), got an edge of {unknown!r}"
        )
    return source, target


def _join(parts: list[tuple[Positions, Positions, Any, int]], weighted: bool) -> tuple[Any, ...]:
    """Changes of all kinds in arrays."""
    kinds = [np.full(len(source), kind, np.int8) for source, _, _, kind in parts]
    values = [np.zeros(len(s)) if w is None else w for s, _, w, _ in parts] if weighted else [NO_VALUES]
    if len(parts) == 1:
        return parts[0][0], parts[0][1], values[0], kinds[0]
    ends = [np.concatenate([part[end] for part in parts]) for end in (0, 1)]
    return ends[0], ends[1], np.concatenate(values), np.concatenate(kinds)


def _pad(time: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Times of added edges, which come first, and zeros for the others."""
    return np.concatenate([time, np.zeros((2, size - time.shape[1]))], axis=1)


def _edge(changes: Changes, edge: int, known: IdLookup) -> str:
    """An edge by its ids."""
    ends = (int(changes.source[edge]), int(changes.target[edge]))
    names = [plain(known.ids[end] if end < len(known) else changes.ids[end - len(known)]) for end in ends]
    return f"({names[0]!r}, {names[1]!r})"


def _refuse(changes: Changes, problem: int, known: IdLookup) -> None:
    edge = _edge(changes, len(changes.source) - 1, known)
    if problem == TWICE:
        raise InputError(f"add, remove and weights must not list the same edge, got {edge} in two of them")
    if problem == ASYMMETRIC:
        raise InputError(f"add must give an undirected edge equal weights in its directions, got others for {edge}")
    raise InputError(f"weights must give an edge one weight, got two for {edge}")

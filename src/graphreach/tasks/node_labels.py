"""Known labels of nodes, from the forms in which people have them."""

from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import describe, to_array
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.build import plain
from graphreach.graph.ids import ids_array, sort_ids
from graphreach.tasks.label_frames import unframe_labels

WHAT = (
    "labels by id, pairs (id, label), one label per node in the order of graph.ids, or a matrix of zeros and ones with one "
    "row per node"
)
UNKNOWN = -1
"""Stands for an unknown label in arrays, as None and NaN do."""


class NodeLabels(NamedTuple):
    """Labels of some nodes of a graph.

    Attributes:
        nodes: Positions of nodes with known labels, ascending.
        y: Zeros and ones, ``[m, classes]``.
        classes: The labels, sorted.
        several: Whether a node may have several labels.
    """

    nodes: NDArray[np.int64]
    y: NDArray[np.uint8]
    classes: NDArray[Any]
    several: bool


def read_labels(labels: Any, graph: Graph) -> NodeLabels:
    """Labels of a graph's nodes.

    Args:
        labels: One of

            - a mapping from id to label, or to a list or set of labels;
            - pairs ``(id, label)``, a list of tuples; a node that occurs with several labels has all of them;
            - a list or array with one entry per node in the order of ``graph.ids``, where ``None``, NaN and the integer
              ``-1`` are unknown;
            - an array or sparse matrix ``[n, classes]`` of zeros and ones in that order, where a row of -1 or NaN is
              unknown;
            - a pandas Series, whose index holds the ids; or a data frame with a column of ids, named id or node, and one of
              labels: see :func:`graphreach.tasks.label_frames.unframe_labels`.
        graph: The graph.

    Example:
        >>> path = Graph.from_edge_list([("a", "b"), ("b", "c")])
        >>> read_labels({"a": "red", "c": "blue"}, path)
        NodeLabels(nodes=array([0, 2]), y=array([[0, 1],
               [1, 0]], dtype=uint8), classes=array(['blue', 'red'], dtype='<U4'), several=False)
        >>> read_labels([0, -1, 1], path).nodes, read_labels({"a": ["x", "y"], "b": []}, path).several
        (array([0, 2]), True)
    """
    labels = unframe_labels(labels, graph)
    if isinstance(labels, Mapping):
        found = _from_values(_positions(list(labels), graph), list(labels.values()), None)
    elif hasattr(labels, "tocsr"):
        found = _from_matrix(labels.toarray(), graph)
    elif isinstance(labels, list | tuple) and labels and all(isinstance(row, tuple) for row in labels):
        found = _from_pairs(labels, graph)
    else:
        found = _from_aligned(labels, graph)
    if not len(found.nodes) or not len(found.classes):
        raise InputError("labels must hold at least one known label, got none")
    return found


def _positions(ids: list[Any], graph: Graph) -> NDArray[np.int64]:
    try:
        found: NDArray[np.int64] = graph.index_of(np.fromiter(ids, dtype=object, count=len(ids)))
    except InputError as error:
        raise InputError(f"labels must be of nodes of the graph, but {error}; leave the others out") from None
    return found


def _from_pairs(rows: Iterable[tuple[Any, ...]], graph: Graph) -> NodeLabels:
    each: dict[Any, list[Any]] = {}
    for row in rows:
        if len(row) != 2:
            raise InputError(f"labels must be {WHAT}, got {describe(row)} among them")
        known = each.setdefault(_hashable(row[0]), [])
        if not _is_unknown(row[1]) and plain(row[1]) not in known:
            known.append(plain(row[1]))
    several = any(len(known) > 1 for known in each.values())
    values = [known if several else (known[0] if known else None) for known in each.values()]
    if several:
        values = [known or None for known in values]
    return _from_values(_positions(list(each), graph), values, several)


def _from_aligned(labels: Any, graph: Graph) -> NodeLabels:
    n = graph.num_nodes
    if isinstance(labels, list | tuple) and any(isinstance(each, list | set | frozenset) for each in labels):
        values = list(labels)
    else:
        array = to_array("labels", _without_gaps(labels), "biufUO", WHAT)
        if array.ndim == 2:
            return _from_matrix(array, graph)
        if array.ndim != 1:
            raise InputError(f"labels must be {WHAT}, got shape {list(array.shape)}")
        values = array.tolist()
    if len(values) != n:
        raise InputError(f"labels must be one per node, {n} in the order of graph.ids, got {len(values)}")
    kinds = {value for value in values if type(value) is int}
    if UNKNOWN in kinds:
        if kinds == {UNKNOWN, 1}:
            raise InputError("labels must not be -1 and 1, as -1 is an unknown label: use 0 and 1")
        values = [None if type(value) is int and value == UNKNOWN else value for value in values]
    return _from_values(np.arange(n), values, None)


def _without_gaps(labels: Any) -> Any:
    """A list with None keeps its other values as they are."""
    if isinstance(labels, list | tuple) and any(each is None for each in labels):
        return np.fromiter(labels, dtype=object, count=len(labels))
    return labels


def _from_matrix(matrix: Any, graph: Graph) -> NodeLabels:
    array = to_array("labels", matrix, "biuf", WHAT)
    if array.shape[0] != graph.num_nodes:
        raise InputError(f"labels must have {graph.num_nodes} rows in the order of graph.ids, got {array.shape[0]}")
    unknown = (np.isnan(array) | (array == UNKNOWN)).all(axis=1)
    nodes = np.flatnonzero(~unknown)
    if not np.isin(array[nodes], (0, 1)).all():
        raise InputError(
            "labels as a matrix must be zeros and ones, or -1 in the whole row if it is unknown, got others"
        )
    return NodeLabels(nodes, array[nodes].astype(np.uint8), np.arange(array.shape[1]), True)


def _from_values(positions: NDArray[np.int64], values: list[Any], several: bool | None) -> NodeLabels:
    """From one value per position: a label, several, or unknown."""
    each = [_as_tuple(value) for value in values]
    if several is None:
        several = any(isinstance(value, list | tuple | set | frozenset) for value in values)
    distinct = {_hashable(label) for labels in each if labels for label in labels}
    classes = sort_ids(distinct)
    number = {label: place for place, label in enumerate(classes)}
    listed = [(int(at), labels) for at, labels in zip(positions, each, strict=True) if labels is not None]
    known = sorted(listed, key=lambda item: item[0])
    if any(first[0] == second[0] for first, second in pairwise(known)):
        raise InputError("labels must name a node once, got one of them twice; give all its labels in one list")
    y = np.zeros((len(known), len(classes)), np.uint8)
    for row, (_, labels) in enumerate(known):
        y[row, [number[label] for label in labels]] = 1
    nodes = np.array([at for at, _ in known], np.int64)
    return NodeLabels(nodes, y, ids_array(classes), several)


def _as_tuple(value: Any) -> tuple[Any, ...] | None:
    """A node's labels, or None if they are unknown."""
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(plain(each) for each in value if not _is_unknown(each))
    return None if _is_unknown(value) else (plain(value),)


def _is_unknown(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


def _hashable(value: Any) -> Hashable:
    try:
        hash(value)
    except TypeError:
        raise InputError(f"labels must be {WHAT}, got {describe(value)} among them") from None
    found: Hashable = plain(value)
    return found


def label_numbers(labels: NodeLabels, classes: NDArray[Any]) -> NDArray[np.int64]:
    """The place of each of the labels' classes among ``classes``, -1 where it is not among them."""
    number = {label: place for place, label in enumerate(classes.tolist())}
    return np.array([number.get(label, -1) for label in labels.classes.tolist()], np.int64)

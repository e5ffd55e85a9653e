"""Labels, features, pairs and nodes from the tables that users have, by node id.

Tables are ``.csv .tsv .txt`` (each also ``.gz``; separated by tabs, commas, semicolons, bars or blanks, with or without
a header, lines that start with ``#`` or ``%`` are comments) or ``.parquet``. Ids compare as
:func:`graphreach.read_graph` reads them: if the graph's ids are integers, the table's must be plain integers; if they
are strings, the table's text is taken as it stands.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.build import plain
from graphreach.graph.checks import check_graph
from graphreach.graph.columns import NODE_NAMES
from graphreach.graph.graph import Graph
from graphreach.io.numpy_files import load_arrays
from graphreach.io.table_columns import (
    LABEL_NAMES,
    NO_ENDS,
    Report,
    column_of_ids,
    column_of_pair_labels,
    columns_of_features,
    columns_of_labels,
    columns_of_pairs,
    describe,
)
from graphreach.io.table_files import TABLES, Block, Table, check_table, open_table
from graphreach.io.table_ids import all_nodes, few_ids, known_nodes, some_nodes
from graphreach.io.table_labels import encode_classes
from graphreach.limits import check_memory


def read_labels(
    path: str | PathLike[str],
    graph: Graph,
    id: str | int | None = None,
    label: str | int | None = None,
    report: Report | None = None,
) -> tuple[NDArray[np.int64], list[Any]]:
    """Read the class of each node.

    Rows without a label say nothing. Ids that are not nodes of the graph are ignored with a warning, unless all are.
    Numbers that are not whole, several labels in one cell, and nearly as many labels as rows are refused, as these are no
    classes.

    Args:
        path: The table.
        graph: The graph whose nodes are labelled.
        id: The column of ids, by name or number (from 0 on); by default one named id or node, else the first.
        label: The column of labels, likewise; by default one named label, class, y or target, else the other one of
            two.
        report: Is called with one line that says which columns were read and what was assumed.

    Returns:
        ``y [n]``, the position of each node's class among the classes, -1 for nodes without a label; and the sorted
        classes, integers if all labels are plain integers, else text.

    Example:
        >>> import tempfile
        >>> graph = Graph.from_edge_list([("ann", "bob"), ("bob", "cid")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "teams.csv")
        ...     _ = path.write_text("id,team\\ncid,red\\nann,blue\\n")
        ...     read_labels(path, graph, label="team")
        (array([ 0, -1,  1]), ['blue', 'red'])
    """
    table = open_table(check_table(path), graph, (*NODE_NAMES, *LABEL_NAMES), (id, label))
    columns = columns_of_labels(table, graph, id, label)
    ids, labels = table.texts(columns)
    found = known_nodes(table, columns[0], ids, graph)
    has_label = _labelled(labels)
    table.check_long_enough(np.flatnonzero(~has_label))
    used = (found >= 0) & has_label
    if not used.any():
        raise InputError(f"{table.what} must have labels of nodes in column {table.title(columns[1])}, got none")
    classes, codes = encode_classes(labels.filter(used), np.flatnonzero(used), table, columns[1])
    y = np.full(graph.num_nodes, -1, np.int64)
    y[found[used]] = codes
    conflict = y[found[used]] != codes
    if conflict.any():
        first = int(np.argmax(conflict))
        node = found[used][first]
        raise InputError(
            f"{table.what} must have one label per node, got {classes[codes[first]]!r} and {classes[y[node]]!r} "
            f"for {plain(graph.ids[node])!r}"
        )
    counts = f"{len(classes)} classes of {np.count_nonzero(y >= 0)} of {graph.num_nodes} nodes"
    _tell(table, {"ids": columns[:1], "labels": columns[1:]}, report, counts)
    return y, classes


def _labelled(labels: Any) -> NDArray[np.bool_]:
    """Which rows have a label: neither an empty field nor, beside numbers, NaN."""
    import polars as pl

    has_label: NDArray[np.bool_] = labels.is_not_null().to_numpy().copy()
    if labels.dtype.is_float():
        has_label &= ~np.isnan(labels.fill_null(0).to_numpy())
    if labels.dtype == pl.String:
        is_nan = (labels.str.to_lowercase() == "nan").fill_null(False)
        numbers = labels.filter(~is_nan).drop_nulls().cast(pl.Float64, strict=False)
        if is_nan.any() and not numbers.null_count():
            has_label &= ~is_nan.to_numpy()
    return has_label


def _tell(table: Table, roles: Mapping[str, Sequence[int]], report: Report | None, result: str = "") -> None:
    """Say how a table was read; without a listener only what is in doubt, as a warning."""
    if report is not None:
        report(describe(table, roles, result))
        return
    for sentence in table.doubts:
        warnings.warn(f"{table.what}: {sentence}", stacklevel=3)


def read_features(
    path: str | PathLike[str], graph: Graph, id: str | int | None = None, report: Report | None = None
) -> NDArray[np.float32]:
    """Read numbers about every node.

    Args:
        path: A table with a column of ids and columns of numbers (in Parquet also of lists of one length), with one
            row for every node, in any order; or a ``.npy`` file, or a ``.npz`` file with the array ``x``, of shape
            ``[n, d]`` in the order of ``graph.ids``.
        graph: The graph whose nodes are described.
        id: The column of ids, by name or number (from 0 on); by default one named id or node, else the first. All
            other columns are features.
        report: Is called with one line that says which columns were read and what was assumed.

    Returns:
        ``x [n, d]`` in the order of ``graph.ids``.

    Example:
        >>> import tempfile
        >>> graph = Graph.from_edge_list([("ann", "bob")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "people.csv")
        ...     _ = path.write_text("id,age,height\\nbob,20,1.5\\nann,30,1.75\\n")
        ...     read_features(path, graph)
        array([[30.  ,  1.75],
               [20.  ,  1.5 ]], dtype=float32)
    """
    file = check_table(path, (*TABLES, ".npy", ".npz"))
    check_graph(graph)
    if file.suffix.lower() in (".npy", ".npz"):
        x = _check_matrix(load_arrays(file, ("x",))[0], file, graph)
        if report is not None:
            report(f"{file}: {x.shape[1]} features per node, rows in the order of the graph's sorted ids")
        return x
    table = open_table(file, graph, NODE_NAMES, (id,))
    at_id = column_of_ids(table, graph, id)
    columns = columns_of_features(table, at_id)
    check_memory(
        4 * graph.num_nodes * len(columns), f"{len(columns)} features of {graph.num_nodes} nodes", "leave out columns"
    )
    ids, blocks = table.numbers(at_id, columns)
    found = known_nodes(table, at_id, ids, graph)
    x = _gather(_finite(blocks, table), _row_of_each_node(found, graph, table))
    _tell(table, {"ids": [at_id], "features": columns}, report)
    return x


def _row_of_each_node(found: NDArray[np.int64], graph: Graph, table: Table) -> NDArray[np.int64]:
    count = np.bincount(found[found >= 0], minlength=graph.num_nodes)
    if count.max() > 1:
        raise InputError(f"{table.what} must have one row per node, got {few_ids(graph.ids[count > 1])} more than once")
    if not count.all():
        missing = graph.ids[count == 0]
        raise InputError(
            f"{table.what} must have a row for every node, but {len(missing)} have none: {few_ids(missing)}"
        )
    row = np.empty(graph.num_nodes, np.int64)
    row[found[found >= 0]] = np.flatnonzero(found >= 0)
    return row


def _finite(blocks: Iterator[Block], table: Table) -> Iterator[NDArray[np.float32]]:
    for title, numbers in blocks:
        wrong = ~np.isfinite(numbers)
        if wrong.any():
            row = int(np.argmax(wrong.reshape(len(numbers), -1).any(axis=1)))
            raise InputError(
                f"{table.what} must have finite 32-bit numbers in column {title}, got {numbers[wrong][0]} "
                f"in {table.place(row)}"
            )
        yield numbers


def _gather(blocks: Iterator[NDArray[np.float32]], row: NDArray[np.int64]) -> NDArray[np.float32]:
    parts = [numbers.reshape(len(numbers), -1) for numbers in blocks]
    ends = np.cumsum([part.shape[1] for part in parts])
    x = np.empty((len(row), ends[-1]), np.float32)
    for part, end in zip(parts, ends, strict=True):
        x[:, end - part.shape[1] : end] = part[row]
    return x


def _check_matrix(array: NDArray[Any], path: Path, graph: Graph) -> NDArray[np.float32]:
    if array.ndim != 2 or len(array) != graph.num_nodes or not array.shape[1]:
        raise InputError(
            f"{path} must hold an array of shape [{graph.num_nodes}, d], one row per node, got {list(array.shape)}"
        )
    check_memory(4 * array.size, f"the array of {path}", "leave out columns")
    with np.errstate(over="ignore"):
        x = np.array(array, np.float32, order="C")
    wrong = ~np.isfinite(x).all(axis=0)
    if wrong.any():
        raise InputError(f"{path} must have finite 32-bit numbers in column {int(np.argmax(wrong))}, but it has not")
    return x


def read_pairs(path: str | PathLike[str], graph: Graph, report: Report | None = None) -> NDArray[np.int64]:
    """Read pairs of nodes, one per row.

    Args:
        path: A table with two columns of ids: a pair with usual names (source and target, from and to, u and v, ...),
            else the first two that are not named as something else (weight, label, ...). Other columns are ignored.
        graph: The graph that all ids must be nodes of.
        report: Is called with one line that says which columns were read and what was assumed.

    Returns:
        Positions ``[2, m]`` in the order of the rows.

    Example:
        >>> import tempfile
        >>> graph = Graph.from_edge_list([("ann", "bob"), ("bob", "cid")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "pairs.txt")
        ...     _ = path.write_text("cid ann\\nbob ann\\n")
        ...     read_pairs(path, graph)
        array([[2, 1],
               [0, 0]])
    """
    table = open_table(check_table(path), graph, NO_ENDS)
    ends = columns_of_pairs(table)
    index = all_nodes(table, ends, graph)
    _tell(table, {"pairs": ends}, report)
    return index


def read_pair_labels(
    path: str | PathLike[str], graph: Graph, report: Report | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Read pairs of nodes, and for each whether it is a positive one.

    Args:
        path: A table as of :func:`read_pairs` with a further column of zeros and ones, one named label, class or y,
            else the third of three.
        graph: The graph that all ids must be nodes of.
        report: Is called with one line that says which columns were read and what was assumed.

    Returns:
        Positions ``[2, m]`` and labels ``[m]`` in the order of the rows.

    Example:
        >>> import tempfile
        >>> graph = Graph.from_edge_list([("ann", "bob"), ("bob", "cid")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "pairs.csv")
        ...     _ = path.write_text("u,v,label\\nann,bob,1\\nann,cid,0\\n")
        ...     read_pair_labels(path, graph)[1]
        array([1, 0])
    """
    import polars as pl

    table = open_table(check_table(path), graph, NO_ENDS)
    ends = columns_of_pairs(table)
    index = all_nodes(table, ends, graph)
    column = column_of_pair_labels(table, ends)
    given = table.texts([column])[0]
    numbers = given.cast(pl.Float64, strict=False).fill_null(-1).to_numpy()
    wrong = (numbers != 0) & (numbers != 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{table.what} must have 0 or 1 in column {table.title(column)}, "
            f"got {given[row]!r:.80} in {table.place(row)}"
        )
    _tell(table, {"pairs": ends, "labels": [column]}, report)
    return index, numbers.astype(np.int64)


def read_known_pairs(
    path: str | PathLike[str], graph: Graph, report: Report | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Any]]:
    """Read the pairs of a table of which both ids are nodes, and the ids that are not.

    Args:
        path: A table as of :func:`read_pairs`.
        graph: The graph that the pairs are looked up in.
        report: Is called with one line that says which columns were read and what was assumed.

    Returns:
        Positions ``[2, m]``, the rows of the table (from 0 on) that these pairs stand in, ``[m]``, and the distinct ids
        that are no nodes.

    Example:
        >>> import tempfile
        >>> graph = Graph.from_edge_list([("ann", "bob"), ("bob", "cid")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "pairs.txt")
        ...     _ = path.write_text("cid ann\\neve ann\\nbob ann\\n")
        ...     index, rows, unknown = read_known_pairs(path, graph)
        >>> index.tolist(), rows.tolist(), unknown
        ([[2, 1], [0, 0]], [0, 2], ['eve'])
    """
    table = open_table(check_table(path), graph, NO_ENDS)
    ends = columns_of_pairs(table)
    result = some_nodes(table, ends, graph)
    _tell(table, {"pairs": ends}, report)
    return result


def read_nodes(path: str | PathLike[str], graph: Graph, report: Report | None = None) -> NDArray[np.int64]:
    """Read nodes, one per row.

    Args:
        path: A table with a column of ids: one named id or node, else the first. Other columns are ignored.
        graph: The graph that all ids must be nodes of.
        report: Is called with one line that says which columns were read and what was assumed.

    Returns:
        Positions ``[m]`` in the order of the rows.

    Example:
        >>> import tempfile
        >>> graph = Graph.from_edge_list([("ann", "bob"), ("bob", "cid")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "nodes.txt")
        ...     _ = path.write_text("cid\\nann\\n")
        ...     read_nodes(path, graph)
        array([2, 0])
    """
    table = open_table(check_table(path), graph, NODE_NAMES)
    column = column_of_ids(table, graph)
    nodes = all_nodes(table, [column], graph).reshape(-1)
    _tell(table, {"ids": [column]}, report)
    return nodes


def read_known_nodes(
    path: str | PathLike[str], graph: Graph, report: Report | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Any]]:
    """Read the ids of a table that are nodes, and those that are not.

    Args:
        path: A table as of :func:`read_nodes`.
        graph: The graph that the ids are looked up in.
        report: Is called with one line that says which columns were read and what was assumed.

    Returns:
        Positions ``[m]``, the rows of the table (from 0 on) that these nodes stand in, ``[m]``, and the distinct ids
        that are no nodes.

    Example:
        >>> import tempfile
        >>> graph = Graph.from_edge_list([("ann", "bob"), ("bob", "cid")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "nodes.txt")
        ...     _ = path.write_text("eve\\ncid\\n")
        ...     read_known_nodes(path, graph)
        (array([2]), array([1]), ['eve'])
    """
    table = open_table(check_table(path), graph, NODE_NAMES)
    column = column_of_ids(table, graph)
    found, rows, unknown = some_nodes(table, [column], graph)
    _tell(table, {"ids": [column]}, report)
    return found.reshape(-1), rows, unknown

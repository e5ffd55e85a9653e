"""Labels, features, pairs and nodes from the tables that users have, by node id.

Tables are ``.csv .tsv .txt`` (each also ``.gz``; separated by tabs, commas, semicolons, bars or blanks, with or without
a header, lines that start with ``#`` or ``%`` are comments) or ``.parquet``. Ids compare as
:func:`graphreach.read_graph` reads them: if the graph's ids are integers, the table's must be plain integers; if they
are strings, the table's text is taken as it stands.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.checks import check_graph
from graphreach.graph.columns import NODE_NAMES
from graphreach.graph.graph import Graph
from graphreach.graph.ids import few_ids
from graphreach.io.node_tables import LABEL_NAMES, MUST, NO_ENDS, TABLES, NodeTable, Report
from graphreach.io.numpy_files import load_arrays
from graphreach.io.open_file import check_path
from graphreach.io.text import Block, plain_integers
from graphreach.limits import check_memory

DECIMAL = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"
"""A number as programs write it."""

MANY = 20
"""With fewer classes than this there are never too many, even with few nodes."""

BETWEEN = (",", ";", "|", " ")
"""What stands between several labels of one cell."""


class Rows(NamedTuple):
    """Nodes that a table lists.

    Attributes:
        positions: Their positions ``[m]``, or ``[2, m]`` of pairs, in the order of the rows.
        rows: The rows of the table that they stand in, from 0 on, ``[m]``.
        unknown: The distinct ids that are no nodes of the graph.
    """

    positions: NDArray[np.int64]
    rows: NDArray[np.int64]
    unknown: list[Any]


class LabelTable(NamedTuple):
    """Labels of nodes.

    Attributes:
        y: The position of each node's class among the classes, ``[n]``, -1 for nodes without a label; or, if nodes have
            several labels, booleans ``[n, classes]``.
        classes: The labels, sorted.
        unknown: The distinct ids with a label that are no nodes of the graph.
    """

    y: NDArray[Any]
    classes: list[Any]
    unknown: list[Any]


def read_labels(
    path: str | PathLike[str],
    graph: Graph,
    id: str | int | None = None,
    label: str | int | None = None,
    report: Report | None = None,
) -> tuple[NDArray[Any], list[Any]]:
    """Read the class of each node, or its labels: a node that has rows with different labels has all of them.

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
        ``y [n]``, the position of each node's class among the classes, -1 for nodes without a label, or, if some node has
        several labels, booleans ``[n, classes]``; and the sorted classes, integers if all labels are plain integers, else
        text.

    Example:
        >>> import tempfile
        >>> graph = Graph.from_edge_list([("ann", "bob"), ("bob", "cid")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "teams.csv")
        ...     _ = path.write_text("id,team\\ncid,red\\nann,blue\\n")
        ...     read_labels(path, graph, label="team")
        (array([ 0, -1,  1]), ['blue', 'red'])
    """
    found = read_label_table(path, graph, id, label, report)
    return found.y, found.classes


def read_label_table(
    path: str | PathLike[str],
    graph: Graph,
    id: str | int | None = None,
    label: str | int | None = None,
    report: Report | None = None,
    warn: bool = True,
) -> LabelTable:
    """Read labels for :func:`read_labels`; if not ``warn``, without a warning of ids that are not nodes."""
    table = NodeTable(path, graph, (*NODE_NAMES, *LABEL_NAMES), (id, label))
    table.depth += warn  # read_labels stands between
    columns = table.label_columns(id, label)
    ids, labels = table.texts(columns)
    found = table.known_nodes(columns[0], ids, warn)
    has_label = _labelled(labels)
    table.rows.check_long_enough(np.flatnonzero(~has_label))
    used = (found >= 0) & has_label
    if not used.any():
        raise InputError(f"{table.what} must have labels of nodes in column {table.title(columns[1])}, got none")
    classes, codes = _encode_classes(labels.filter(used), np.flatnonzero(used), table, columns[1])
    y, result = _label_array(found[used], codes, len(classes), graph.num_nodes)
    table.report_columns({"ids": columns[:1], "labels": columns[1:]}, report, result)
    return LabelTable(y, classes, ids.filter((found < 0) & has_label).unique(maintain_order=True).to_list())


def _label_array(
    nodes: NDArray[np.int64], codes: NDArray[np.int64], classes: int, num_nodes: int
) -> tuple[NDArray[Any], str]:
    """One class per node, or a matrix if some node has several; and a sentence that says how many there are."""
    y = np.full(num_nodes, -1, np.int64)
    y[nodes] = codes
    if np.array_equal(y[nodes], codes):
        return y, f"{classes} class{'' if classes == 1 else 'es'} of {np.count_nonzero(y >= 0)} of {num_nodes} nodes"
    check_memory(num_nodes * classes, f"{classes} labels of {num_nodes} nodes", "leave out labels")
    matrix = np.zeros((num_nodes, classes), np.bool_)
    matrix[nodes, codes] = True
    count = np.count_nonzero(matrix, axis=1)
    labelled, several = np.count_nonzero(count), np.count_nonzero(count > 1)
    return matrix, (
        f"{classes} labels of {labelled} of {num_nodes} nodes; {several} of {labelled} nodes have several labels: up to "
        f"{count.max()}, {count.sum() / labelled:.1f} on average"
    )


def _labelled(labels: Any) -> NDArray[np.bool_]:
    """Which rows have a label: neither an empty field nor, among numbers, NaN."""
    has_label: NDArray[np.bool_] = labels.is_not_null().to_numpy().copy()
    if labels.dtype.is_float():
        has_label &= ~np.isnan(labels.fill_null(0).to_numpy())
    if labels.dtype == pl.String:
        is_nan = (labels.str.to_lowercase() == "nan").fill_null(False)
        numbers = labels.filter(~is_nan).drop_nulls().cast(pl.Float64, strict=False)
        if is_nan.any() and not numbers.null_count():
            has_label &= ~is_nan.to_numpy()
    return has_label


def read_features(
    path: str | PathLike[str], graph: Graph, id: str | int | None = None, report: Report | None = None
) -> NDArray[np.float32]:
    """Read numbers about every node.

    Args:
        path: A table with one row for every node, in any order: a column of ids, and columns of numbers (in Parquet also
            of lists of one length). Or a ``.npy`` file, or a ``.npz`` file with the array ``x``, of shape ``[n, d]`` in
            the order of ``graph.ids``.
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
    file = check_path(path, suffixes=(*TABLES, ".npy", ".npz"), must=MUST)
    check_graph(graph)
    if file.suffix.lower() in (".npy", ".npz"):
        x = _check_matrix(load_arrays(file, ("x",))[0], file, graph)
        if report is not None:
            report(f"{file}: {x.shape[1]} features per node, rows in the order of the graph's ids")
        return x
    table = NodeTable(file, graph, NODE_NAMES, (id,))
    at_id = table.id_column(id)
    columns = table.feature_columns(at_id)
    check_memory(
        4 * graph.num_nodes * len(columns), f"{len(columns)} features of {graph.num_nodes} nodes", "leave out columns"
    )
    ids, blocks = table.rows.numbers(at_id, columns)
    found = table.known_nodes(at_id, ids)
    row = _row_of_each_node(found, graph, table)
    x = np.concatenate([numbers[row].reshape(len(row), -1) for numbers in _finite(blocks, table)], axis=1)
    table.report_columns({"ids": [at_id], "features": columns}, report)
    return x


def _row_of_each_node(found: NDArray[np.int64], graph: Graph, table: NodeTable) -> NDArray[np.int64]:
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


def _finite(blocks: Iterator[Block], table: NodeTable) -> Iterator[NDArray[np.float32]]:
    for title, numbers in blocks:
        wrong = ~np.isfinite(numbers)
        if wrong.any():
            row = int(np.argmax(wrong.reshape(len(numbers), -1).any(axis=1)))
            raise InputError(
                f"{table.what} must have finite 32-bit numbers in column {title}, got {numbers[wrong][0]} "
                f"in {table.place(row)}"
            )
        yield numbers


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


def read_pairs(path: str | PathLike[str], graph: Graph, report: Report | None = None, *, strict: bool = True) -> Rows:
    """Read pairs of nodes, one per row.

    Args:
        path: A table with two columns of ids: a pair with usual names (source and target, from and to, u and v, ...),
            else the first two that are not named as something else (weight, label, ...). Other columns are ignored.
        graph: The graph that the ids are looked up in.
        report: Is called with one line that says which columns were read and what was assumed.
        strict: Whether an id that is no node is an error. If not, its rows are left out.

    Example:
        >>> import tempfile
        >>> graph = Graph.from_edge_list([("ann", "bob"), ("bob", "cid")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "pairs.txt")
        ...     _ = path.write_text("cid ann\\neve ann\\nbob ann\\n")
        ...     found = read_pairs(path, graph, strict=False)
        >>> found.positions.tolist(), found.rows.tolist(), found.unknown
        ([[2, 1], [0, 0]], [0, 2], ['eve'])
    """
    table = NodeTable(path, graph, NO_ENDS)
    ends = table.pair_columns()
    found = Rows(*table.nodes(ends, strict))
    table.report_columns({"pairs": ends}, report)
    return found


def read_nodes(path: str | PathLike[str], graph: Graph, report: Report | None = None, *, strict: bool = True) -> Rows:
    """Read nodes, one per row.

    Args:
        path: A table with a column of ids: one named id or node, else the first. Other columns are ignored.
        graph: The graph that the ids are looked up in.
        report: Is called with one line that says which columns were read and what was assumed.
        strict: Whether an id that is no node is an error. If not, its row is left out.

    Example:
        >>> import tempfile
        >>> graph = Graph.from_edge_list([("ann", "bob"), ("bob", "cid")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "nodes.txt")
        ...     _ = path.write_text("cid\\nann\\n")
        ...     read_nodes(path, graph).positions
        array([2, 0])
    """
    table = NodeTable(path, graph, NODE_NAMES)
    column = table.id_column()
    index, rows, unknown = table.nodes([column], strict)
    table.report_columns({"ids": [column]}, report)
    return Rows(index[0], rows, unknown)


def read_pair_labels(
    path: str | PathLike[str], graph: Graph, report: Report | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Read pairs of nodes, and for each whether it is a positive one.

    Args:
        path: A table as of :func:`read_pairs` with a further column of zeros and ones, one named label, class or y,
            else the third of three.
        graph: The graph; all ids must be nodes of it.
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
    table = NodeTable(path, graph, NO_ENDS)
    ends = table.pair_columns()
    index, _, _ = table.nodes(ends, strict=True)
    return index, zeros_and_ones(table, ends, report)


def read_links(
    path: str | PathLike[str], graph: Graph, report: Report | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Read links to predict and, where there are labels, pairs that are not links.

    Args:
        path: A table as of :func:`read_pairs`, perhaps with a column of ones for links and zeros for other pairs: one named
            label, class or y, or the third of three in a file without header. Without it, all pairs are links.
        graph: The graph; all ids must be nodes of it.
        report: Is called with one line that says which columns were read and what was assumed.

    Returns:
        Positions ``[2, m]`` of the links, and of the other pairs or ``None``, in the order of the rows.

    Example:
        >>> import tempfile
        >>> graph = Graph.from_edge_list([("ann", "bob"), ("bob", "cid")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "test.csv")
        ...     _ = path.write_text("u,v,label\\nann,bob,1\\nann,cid,0\\n")
        ...     links, others = read_links(path, graph)
        >>> links.tolist(), others.tolist()
        ([[0], [1]], [[0], [2]])
    """
    table = NodeTable(path, graph, NO_ENDS)
    ends = table.pair_columns()
    index, _, _ = table.nodes(ends, strict=True)
    if not table.has_pair_labels(ends):
        table.report_columns({"pairs": ends}, report, "all pairs are links")
        return index, None
    label = zeros_and_ones(table, ends, report)
    others = index[:, label == 0]
    return index[:, label == 1], others if others.shape[1] else None


def zeros_and_ones(
    table: NodeTable, ends: tuple[int, int], report: Report | None, others: Mapping[str, Sequence[int]] | None = None
) -> NDArray[np.int64]:
    """The labels of pairs; ``others`` are further columns that are read, for the report."""
    column = table.pair_label_column(ends)
    given = table.texts([column])[0]
    numbers = given.cast(pl.Float64, strict=False).fill_null(-1).to_numpy()
    wrong = (numbers != 0) & (numbers != 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{table.what} must have 0 or 1 in column {table.title(column)}, "
            f"got {given[row]!r:.80} in {table.place(row)}"
        )
    table.report_columns({"pairs": ends, "labels": [column], **(others or {})}, report)
    return numbers.astype(np.int64)


def _encode_classes(
    labels: pl.Series, rows: NDArray[np.int64], table: NodeTable, column: int
) -> tuple[list[Any], NDArray[np.int64]]:
    """The sorted distinct labels, and each label's place among them; ``rows`` are theirs in the table, for messages."""
    kind = labels.dtype
    if isinstance(kind, pl.Categorical | pl.Enum):
        labels = labels.cast(pl.String)
    if labels.dtype == pl.String:
        labels = _numbers_of_text(labels)
    if labels.dtype.is_float():
        labels = _whole(labels, rows, table, column)
    if not (labels.dtype.is_integer() or labels.dtype in (pl.String, pl.Boolean)):
        raise InputError(f"{table.what} must have text or whole numbers in column {table.title(column)}, got {kind}")
    classes = labels.unique().sort()
    if labels.dtype == pl.String:
        _check_one_label(labels, classes, rows, table, column)
    _check_shared(classes, labels, table, column)
    codes = labels.replace_strict(classes, pl.arange(len(classes), eager=True), return_dtype=pl.Int64)
    return classes.to_list(), codes.to_numpy()


def _numbers_of_text(labels: pl.Series) -> pl.Series:
    """Text that is all plain integers, or all numbers of which some have a decimal point, as these numbers."""
    if labels.str.contains(DECIMAL).all() and labels.str.contains(".", literal=True).any():
        return labels.cast(pl.Float64)
    return plain_integers(labels)


def _whole(labels: pl.Series, rows: NDArray[np.int64], table: NodeTable, column: int) -> pl.Series:
    """Whole numbers as integers: pandas makes floats of integers as soon as one is missing."""
    whole = (labels == labels.round()) & (labels.abs() < 2**53)
    if whole.all():
        return labels.cast(pl.Int64)
    row = int(np.argmin(whole.to_numpy()))
    raise InputError(
        f"{table.what} must have classes (text or whole numbers) in column {table.title(column)}, got "
        f"{labels.n_unique()} different numbers, such as {labels[row]:g} in {table.place(int(rows[row]))}; is this a "
        f"regression target or the wrong column? The columns are {table.columns}"
    )


def _check_one_label(
    labels: pl.Series, classes: pl.Series, rows: NDArray[np.int64], table: NodeTable, column: int
) -> None:
    known = set(classes.to_list())
    for text in classes.filter(classes.str.contains("[,;| ]")).to_list():
        if _is_several(text, known):
            row = int(rows[int(np.argmax((labels == text).to_numpy()))])
            raise InputError(
                f"{table.what} must have one label per row, got {text!r:.80} in column {table.title(column)} in "
                f"{table.place(row)}; are these several labels in one cell? Write one row for each of them, or "
                "name another column"
            )


def _is_several(text: str, known: set[str]) -> bool:
    """Whether a cell lists integers, or labels that other nodes have alone."""
    inner = text.strip("[](){} ")
    for separator in BETWEEN:
        parts = [part.strip(" '\"") for part in inner.split(separator)]
        if len(parts) > 1 and (all(re.fullmatch(r"-?\d+", part) for part in parts) or known.issuperset(parts)):
            return True
    return False


def _check_shared(classes: pl.Series, labels: pl.Series, table: NodeTable, column: int) -> None:
    if len(classes) >= MANY and 2 * len(classes) > len(labels):
        raise InputError(
            f"{table.what} must have classes that nodes share in column {table.title(column)}, got {len(classes)} "
            f"different labels in {len(labels)} rows; is this a quantity, a name or the wrong column? The columns are "
            f"{table.columns}"
        )

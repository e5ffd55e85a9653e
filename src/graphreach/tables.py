"""Labels, features, pairs and nodes from the tables that users have, by node id.

Tables are ``.csv .tsv .txt`` (each also ``.gz``; separated by tabs, commas, semicolons, bars or blanks, with or without
a header, lines that start with ``#`` or ``%`` are comments) or ``.parquet``. Ids compare as
:func:`graphreach.read_graph` reads them: if the graph's ids are integers, the table's must be plain integers; if they
are strings, the table's text is taken as it stands.
"""

import zipfile
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.build import plain
from graphreach.graph.columns import find_pair, normalise_name
from graphreach.graph.graph import Graph
from graphreach.graph.read_text import PLAIN_INTEGER
from graphreach.graph.sniff import NODE_NAMES
from graphreach.table_files import TABLES, Block, Table, check_table, find_column, list_names, open_table
from graphreach.table_ids import all_nodes, few_ids, known_nodes, some_nodes

if TYPE_CHECKING:
    import polars as pl

LABEL_NAMES = ("label", "labels", "class", "classes", "y", "target")
"""Names under which labels are found, whatever their case."""


def read_labels(
    path: str | PathLike[str], graph: Graph, id: str | int | None = None, label: str | int | None = None
) -> tuple[NDArray[np.int64], list[Any]]:
    """Read the class of each node.

    Rows without a label say nothing. Ids that are not nodes of the graph are ignored with a warning, unless all are.

    Args:
        path: The table.
        graph: The graph whose nodes are labelled.
        id: The column of ids, by name or number (from 0 on); by default one named id or node, else the first.
        label: The column of labels, likewise; by default one named label, class, y or target, else the other one of
            two.

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
    columns = _columns_of_labels(table, id, label)
    ids, labels = table.texts(columns)
    found = known_nodes(table, columns[0], ids, graph)
    has_label = labels.is_not_null().to_numpy()
    if labels.dtype.is_float():
        has_label &= ~np.isnan(labels.fill_null(0).to_numpy())
    used = (found >= 0) & has_label
    if not used.any():
        raise InputError(f"{table.what} must have labels of nodes in column {table.title(columns[1])}, got none")
    classes, codes = _encode_classes(labels.filter(used), table, columns[1])
    y = np.full(graph.num_nodes, -1, np.int64)
    y[found[used]] = codes
    conflict = y[found[used]] != codes
    if conflict.any():
        first = int(np.argmax(conflict))
        node = found[used][first]
        raise InputError(
            f"{table.what} must have one label a node, got {classes[codes[first]]!r} and {classes[y[node]]!r} "
            f"for {plain(graph.ids[node])!r}"
        )
    return y, classes


def _columns_of_labels(table: Table, id: Any, label: Any) -> tuple[int, int]:
    if len(table.names) < 2:
        raise InputError(f"{table.what} must have a column of ids and one of labels, got only {list_names(table)}")
    taken = None if label is None else find_column(table, label, "label")
    at_id = _column_of_ids(table, id, taken)
    if taken is None:
        taken = _usual(table, LABEL_NAMES, [at_id])
    if taken is None and len(table.names) == 2:
        taken = 1 - at_id
    if taken is None:
        raise InputError(f"label must say which column of {table.what} holds the labels: {list_names(table)}")
    if taken == at_id:
        raise InputError(f"id and label must be two columns of {table.what}, got {table.title(taken)} for both")
    return at_id, taken


def _column_of_ids(table: Table, id: Any, taken: int | None = None) -> int:
    if id is not None:
        return find_column(table, id, "id")
    usual = _usual(table, NODE_NAMES, [taken])
    return usual if usual is not None else int(taken == 0)


def _usual(table: Table, usual: Sequence[str], taken: Sequence[int | None]) -> int | None:
    names = [None if column in taken else normalise_name(name) for column, name in enumerate(table.names)]
    return next((names.index(name) for name in usual if name in names), None)


def _encode_classes(labels: "pl.Series", table: Table, column: int) -> tuple[list[Any], NDArray[np.int64]]:
    """The sorted distinct labels, and each label's place among them."""
    import polars as pl

    kind = labels.dtype
    if isinstance(kind, pl.Categorical | pl.Enum):
        labels = labels.cast(pl.String)
    elif kind.is_float() and (labels == labels.round()).all():
        # pandas makes floats of integers as soon as one is missing.
        whole = labels.cast(pl.Int64, strict=False)
        labels = labels if whole.null_count() else whole
    if labels.dtype == pl.String and labels.str.contains(PLAIN_INTEGER).all():
        numbers = labels.cast(pl.Int64, strict=False)
        labels = labels if numbers.null_count() else numbers
    if not (labels.dtype.is_integer() or labels.dtype in (pl.String, pl.Boolean)):
        raise InputError(f"{table.what} must have text or whole numbers in column {table.title(column)}, got {kind}")
    classes = labels.unique().sort()
    codes = labels.replace_strict(classes, pl.arange(len(classes), eager=True), return_dtype=pl.Int64)
    return classes.to_list(), codes.to_numpy()


def read_features(path: str | PathLike[str], graph: Graph, id: str | int | None = None) -> NDArray[np.float32]:
    """Read numbers about every node.

    Args:
        path: A table with a column of ids and columns of numbers (in Parquet also of lists of one length), with one
            row for every node, in any order; or a ``.npy`` file, or a ``.npz`` file with the array ``x``, of shape
            ``[n, d]`` in the order of ``graph.ids``.
        graph: The graph whose nodes are described.
        id: The column of ids, by name or number (from 0 on); by default one named id or node, else the first. All
            other columns are features.

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
    if file.suffix.lower() in (".npy", ".npz"):
        return _check_matrix(_load_matrix(file), file, graph)
    table = open_table(file, graph, NODE_NAMES, (id,))
    at_id = _column_of_ids(table, id)
    columns = [column for column in range(len(table.names)) if column != at_id]
    if not columns:
        raise InputError(f"{table.what} must have columns of numbers beside {table.title(at_id)}, got none")
    ids, blocks = table.numbers(at_id, columns)
    found = known_nodes(table, at_id, ids, graph)
    return _gather(_finite(blocks, table.what), _row_of_each_node(found, graph, table))


def _row_of_each_node(found: NDArray[np.int64], graph: Graph, table: Table) -> NDArray[np.int64]:
    count = np.bincount(found[found >= 0], minlength=graph.num_nodes)
    if count.max() > 1:
        raise InputError(f"{table.what} must have one row a node, got {few_ids(graph.ids[count > 1])} more than once")
    if not count.all():
        missing = graph.ids[count == 0]
        raise InputError(
            f"{table.what} must have a row for every node, but {len(missing)} have none: {few_ids(missing)}"
        )
    row = np.empty(graph.num_nodes, np.int64)
    row[found[found >= 0]] = np.flatnonzero(found >= 0)
    return row


def _finite(blocks: Iterator[Block], what: str) -> Iterator[NDArray[np.float32]]:
    for title, numbers in blocks:
        if not np.isfinite(numbers).all():
            got = numbers[~np.isfinite(numbers)][0]
            raise InputError(f"{what} must have finite 32-bit numbers in column {title}, got {got}")
        yield numbers


def _gather(blocks: Iterator[NDArray[np.float32]], row: NDArray[np.int64]) -> NDArray[np.float32]:
    parts = [numbers.reshape(len(numbers), -1) for numbers in blocks]
    ends = np.cumsum([part.shape[1] for part in parts])
    x = np.empty((len(row), ends[-1]), np.float32)
    for part, end in zip(parts, ends, strict=True):
        x[:, end - part.shape[1] : end] = part[row]
    return x


def _load_matrix(path: Path) -> NDArray[Any]:
    """The array of a .npy file, or the array x of a .npz file; pickles are refused."""
    try:
        if path.suffix.lower() == ".npy":
            return np.lib.format.open_memmap(path, mode="r")
        with zipfile.ZipFile(path), np.load(path, allow_pickle=False) as file:
            if "x" not in file:
                raise InputError(f"{path} must hold the array x, got {sorted(file)}")
            array: NDArray[Any] = file["x"]
            return array
    except InputError:
        raise
    except (ValueError, OSError, EOFError, zipfile.BadZipFile):
        kind = path.suffix.lower()
        raise InputError(f"{path} must be a {kind} file of plain numbers, as its suffix says, but it is not") from None


def _check_matrix(array: NDArray[Any], path: Path, graph: Graph) -> NDArray[np.float32]:
    if array.ndim != 2 or len(array) != graph.num_nodes or not array.shape[1]:
        raise InputError(
            f"{path} must hold an array of shape [{graph.num_nodes}, d], one row a node, got {list(array.shape)}"
        )
    if array.dtype.kind not in "biuf":
        raise InputError(f"{path} must hold numbers, got {array.dtype}")
    with np.errstate(over="ignore"):
        x = np.array(array, np.float32, order="C")
    wrong = ~np.isfinite(x).all(axis=0)
    if wrong.any():
        raise InputError(f"{path} must have finite 32-bit numbers in column {int(np.argmax(wrong))}, but it has not")
    return x


def read_pairs(path: str | PathLike[str], graph: Graph) -> NDArray[np.int64]:
    """Read pairs of nodes, one a row.

    Args:
        path: A table with two columns of ids: a pair with usual names (source and target, from and to, u and v, ...),
            else the first two. Other columns are ignored.
        graph: The graph that all ids must be nodes of.

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
    table = open_table(check_table(path), graph, ())
    return _pairs(table, graph)[0]


def read_pair_labels(path: str | PathLike[str], graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Read pairs of nodes, and for each whether it is a positive one.

    Args:
        path: A table as of :func:`read_pairs` with a further column of zeros and ones, one named label, class or y,
            else the third of three.
        graph: The graph that all ids must be nodes of.

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

    table = open_table(check_table(path), graph, ())
    index, ends = _pairs(table, graph)
    column = _usual(table, LABEL_NAMES, ends)
    if column is None:
        rest = [column for column in range(len(table.names)) if column not in ends]
        if len(rest) != 1:
            raise InputError(f"{table.what} must have a column named label, got {list_names(table)}")
        column = rest[0]
    given = table.texts([column])[0]
    numbers = given.cast(pl.Float64, strict=False).fill_null(-1).to_numpy()
    wrong = (numbers != 0) & (numbers != 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{table.what} must have 0 or 1 in column {table.title(column)}, "
            f"got {given[row]!r:.80} in {table.place(row)}"
        )
    return index, numbers.astype(np.int64)


def read_known_pairs(path: str | PathLike[str], graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Any]]:
    """Read the pairs of a table of which both ids are nodes, and the ids that are not.

    Args:
        path: A table as of :func:`read_pairs`.
        graph: The graph that the pairs are looked up in.

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
    table = open_table(check_table(path), graph, ())
    return some_nodes(table, _ends(table), graph)


def _pairs(table: Table, graph: Graph) -> tuple[NDArray[np.int64], tuple[int, int]]:
    ends = _ends(table)
    return all_nodes(table, ends, graph), ends


def _ends(table: Table) -> tuple[int, int]:
    if len(table.names) < 2:
        raise InputError(f"{table.what} must have two columns of ids, got only {list_names(table)}")
    return find_pair([normalise_name(name) for name in table.names]) or (0, 1)


def read_nodes(path: str | PathLike[str], graph: Graph) -> NDArray[np.int64]:
    """Read nodes, one a row.

    Args:
        path: A table with a column of ids: one named id or node, else the first. Other columns are ignored.
        graph: The graph that all ids must be nodes of.

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
    return all_nodes(table, [_column_of_ids(table, None)], graph).reshape(-1)


def read_known_nodes(path: str | PathLike[str], graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Any]]:
    """Read the ids of a table that are nodes, and those that are not.

    Args:
        path: A table as of :func:`read_nodes`.
        graph: The graph that the ids are looked up in.

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
    found, rows, unknown = some_nodes(table, [_column_of_ids(table, None)], graph)
    return found.reshape(-1), rows, unknown

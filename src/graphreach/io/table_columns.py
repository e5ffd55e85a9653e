"""Which columns of a table hold ids, labels, pairs and features, and a sentence that says so."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from graphreach.errors import InputError
from graphreach.graph.columns import NODE_NAMES, WEIGHTS, find_pair, normalise_name
from graphreach.graph.graph import Graph
from graphreach.io.table_files import Table, find_column, list_names
from graphreach.io.table_ids import are_all_nodes

LABEL_NAMES = ("label", "labels", "class", "classes", "y", "target")
"""Names under which labels are found, whatever their case."""

INDEX_NAMES = ("", "unnamed: 0", "__index_level_0__")
"""Names of the column that pandas writes for a frame's index."""

NO_ENDS = (*WEIGHTS, *LABEL_NAMES[:-1], "score", "time", "timestamp")
"""Names of columns that are never an end of a pair, unless asked for."""

Report = Callable[[str], None]
"""Is given one line that says how a table was read."""


def columns_of_labels(table: Table, graph: Graph, id: Any, label: Any) -> tuple[int, int]:
    """The columns of ids and of labels."""
    if len(table.names) < 2:
        hint = table.missing_separator()
        raise InputError(
            f"{table.what} must have a column of ids and one of labels, got only {list_names(table)}{hint}"
        )
    taken = None if label is None else find_column(table, label, "label")
    usual = _usual(table, LABEL_NAMES, [None if id is None else find_column(table, id, "id")])
    at_id = column_of_ids(table, graph, id, taken if taken is not None else usual)
    if taken is None:
        taken = _usual(table, LABEL_NAMES, [at_id])
    index = index_column(table)
    rest = [column for column in range(len(table.names)) if column not in (at_id, index)]
    if taken is None and len(table.names) == 2:
        taken = 1 - at_id
    elif taken is None and len(rest) == 1:
        taken = rest[0]
    if taken is None:
        raise InputError(f"label must say which column of {table.what} holds the labels: {list_names(table)}")
    if taken == at_id:
        raise InputError(f"id and label must be two columns of {table.what}, got {table.title(taken)} for both")
    return at_id, taken


def column_of_ids(table: Table, graph: Graph, id: Any = None, taken: int | None = None) -> int:
    """The column of ids: the one asked for, one with a usual name, else the first that is not ``taken``.

    The index that pandas writes is the column of ids only if no column beside it can be.
    """
    if id is not None:
        return find_column(table, id, "id")
    usual = _usual(table, NODE_NAMES, [taken])
    if usual is not None:
        return usual
    index, first = index_column(table), int(taken == 0)
    if index is None:
        return first
    other = next((column for column in range(len(table.names)) if column not in (index, taken)), None)
    if other is None or not are_all_nodes(table.texts([other])[0], graph, distinct=True):
        return index
    if are_all_nodes(table.texts([index])[0], graph, distinct=True):
        raise InputError(
            f"id must say which column of {table.what} holds the ids, as the unnamed column and "
            f"{table.title(other)} both hold ids of nodes: pass id={index} or id={other}"
        )
    return other


def index_column(table: Table) -> int | None:
    """The column that pandas wrote for a frame's index: one without a name that counts rows from 0 on, or a level."""
    for column, name in enumerate(table.names):
        known = isinstance(name, str) and normalise_name(name) in INDEX_NAMES
        if known and (column == 0 or normalise_name(name)):
            return column
    return None


def counts_rows(table: Table, column: int) -> bool:
    """Whether a column holds 0, 1, 2, ... in this order."""
    import polars as pl

    numbers = table.texts([column])[0].cast(pl.Float64, strict=False).fill_null(-1).to_numpy()
    return bool(np.array_equal(numbers, np.arange(len(numbers))))


def columns_of_pairs(table: Table) -> tuple[int, int]:
    """The columns of both ends: two with usual names, else the first two that are not named as something else."""
    if len(table.names) < 2:
        hint = table.missing_separator()
        raise InputError(f"{table.what} must have two columns of ids, got only {list_names(table)}{hint}")
    names = [normalise_name(name) for name in table.names]
    found = find_pair(names)
    if found is not None:
        return found
    index = index_column(table)
    skipped = {index} if index is not None and len(names) > 2 and counts_rows(table, index) else set()
    free = [column for column, name in enumerate(names) if column not in skipped and name not in NO_ENDS]
    if len(free) < 2:
        raise InputError(
            f"{table.what} must have two columns of ids, got {list_names(table)}; name them source, target"
        )
    return free[0], free[1]


def column_of_pair_labels(table: Table, ends: Sequence[int]) -> int:
    """The column of zeros and ones beside a pair."""
    column = _usual(table, LABEL_NAMES, ends)
    if column is not None:
        return column
    rest = [column for column in range(len(table.names)) if column not in (*ends, index_column(table))]
    if len(rest) != 1:
        raise InputError(f"{table.what} must have a column named label, got {list_names(table)}")
    return rest[0]


def columns_of_features(table: Table, at_id: int) -> list[int]:
    """All columns but the ids, and but an index that pandas wrote."""
    index = index_column(table)
    skipped = {at_id}
    if index is not None and index != at_id and counts_rows(table, index):
        skipped.add(index)
    columns = [column for column in range(len(table.names)) if column not in skipped]
    if not columns:
        hint = table.missing_separator()
        raise InputError(f"{table.what} must have columns of numbers beside {table.title(at_id)}, got none{hint}")
    return columns


def _usual(table: Table, usual: Sequence[str], taken: Sequence[int | None]) -> int | None:
    names = [None if column in taken else normalise_name(name) for column, name in enumerate(table.names)]
    return next((names.index(name) for name in usual if name in names), None)


def describe(table: Table, roles: Mapping[str, Sequence[int]], result: str = "") -> str:
    """One line that says what was taken from which column, what was ignored and what was assumed.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from graphreach.io.table_files import open_table
        >>> graph = Graph.from_edge_list([("ann", "bob")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "teams.csv")
        ...     _ = path.write_text("id;team;age\\nann;red;3\\nbob;blue;4\\n")
        ...     describe(open_table(path, graph, ["id"]), {"ids": [0], "labels": [1]}).partition("csv: ")[2]
        "ids from column 'id', labels from column 'team'; ignored 'age'; with a header"
    """
    used = {column for columns in roles.values() for column in columns}
    parts = [", ".join(f"{role} from {_columns(table, columns)}" for role, columns in roles.items())]
    ignored = [column for column in range(len(table.names)) if column not in used]
    if ignored:
        parts.append(f"ignored {_listed(table, ignored)}")
    parts += [*table.assumed, *table.doubts, *([result] if result else [])]
    return f"{table.what}: {'; '.join(parts)}"


def _columns(table: Table, columns: Sequence[int]) -> str:
    return f"column{'' if len(columns) == 1 else 's'} {_listed(table, columns)}"


def _listed(table: Table, columns: Sequence[int]) -> str:
    few = ", ".join(table.title(column) for column in columns[:5])
    return f"{few} and {len(columns) - 5} more" if len(columns) > 5 else few

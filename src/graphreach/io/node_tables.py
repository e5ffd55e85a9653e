"""Tables about the nodes of a graph: which columns hold ids, labels, pairs and features, and which nodes are meant."""

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphreach.arguments import few, nearest
from graphreach.errors import InputError
from graphreach.graph.checks import check_graph
from graphreach.graph.columns import (
    NODE_NAMES,
    PLAIN_INTEGER,
    WEIGHTS,
    find_pair,
    is_number,
    is_plain_integer,
    list_names,
    looks_like_header,
    normalise_name,
)
from graphreach.graph.graph import Graph
from graphreach.graph.ids import few_ids
from graphreach.io.first_lines import find_start_among, is_node_header
from graphreach.io.open_file import check_path, open_text
from graphreach.io.parquet import ParquetTable
from graphreach.io.text import SKIPPED, TextTable, sniff, take_header

TEXT = (".csv", ".tsv", ".txt")
TABLES = (*TEXT, *(f"{suffix}.gz" for suffix in TEXT), ".parquet")
"""Suffixes of tables."""

LABEL_NAMES = ("label", "labels", "class", "classes", "y", "target")
"""Names under which labels are found, whatever their case."""

INDEX_NAMES = ("", "unnamed: 0", "__index_level_0__")
"""Names of the column that pandas writes for a frame's index."""

NO_ENDS = (*WEIGHTS, *LABEL_NAMES[:-1], "score", "time", "timestamp")
"""Names of columns that are never an end of a pair, unless asked for."""

TWICE = -2
"""The position of a text that two nodes have."""

MUST = "have rows"
Report = Callable[[str], None]
"""Is given one line that says how a table was read."""


class NodeTable:
    """A table whose rows are about nodes of a graph, or about pairs of them.

    The first line of a text file is a header if a column is ``asked`` for by name. Otherwise it is none if its first field
    (or that of the column ``asked`` for first, by number) is a node of the graph. Otherwise it is one in three cases: it
    has one of the ``usual`` names, its words stand above nodes and occur nowhere below, or :func:`graphreach.read_graph`
    would take it for one.

    Attributes:
        depth: The frame that warnings are about: that of the caller of whoever reads the table.
    """

    def __init__(
        self, path: str | PathLike[str], graph: Graph, usual: Collection[str], asked: Sequence[Any] = ()
    ) -> None:
        file = check_path(path, suffixes=TABLES, must=MUST)
        self.graph = check_graph(graph)
        self.depth = 3
        self.assumed: list[str] = []
        self.doubts: list[str] = []
        is_parquet = file.suffix.lower() == ".parquet"
        self.rows: TextTable | ParquetTable = ParquetTable(file) if is_parquet else self._open_text(file, usual, asked)
        self.what, self.names = self.rows.what, self.rows.names
        self.title, self.place, self.texts = self.rows.title, self.rows.place, self.rows.texts
        self.columns = list_names(self.names)

    def _open_text(self, path: Path, usual: Collection[str], asked: Sequence[Any]) -> TextTable:
        file, is_node = open_text(path, MUST), _node_test(self.graph)
        layout = sniff(file, find_start_among(file.text, self.graph.ids, is_node))
        has_header = _has_header(layout.rows[0], is_node, usual, asked)
        if has_header is None:
            has_header = len(layout.rows) > 1 and is_node_header(layout.rows)
            if not has_header and _stands_above_nodes(layout.rows, is_node):
                has_header = True
                first = ",".join(layout.rows[0])
                self.doubts.append(f"the first line, {first!r:.80}, is taken for a header, as it names no node")
        table = TextTable(file, take_header(layout, file) if has_header else layout)
        self.assumed.append("with a header" if has_header else "without a header")
        skipped = sum(1 for _ in table.comments_within())
        if skipped:
            self.assumed.append(SKIPPED.format(skipped, "" if skipped == 1 else "s"))
        return table

    def report_columns(self, roles: Mapping[str, Sequence[int]], report: Report | None, result: str = "") -> None:
        """Say how the table was read; without a listener only what is in doubt, as a warning."""
        if report is None:
            for sentence in self.doubts:
                warnings.warn(f"{self.what}: {sentence}", stacklevel=self.depth)
            return
        used = {column for columns in roles.values() for column in columns}
        ignored = [column for column in range(len(self.names)) if column not in used]
        said = [f"{role} from column{'' if len(of) == 1 else 's'} {self._listed(of)}" for role, of in roles.items()]
        parts = [", ".join(said), *([f"ignored {self._listed(ignored)}"] if ignored else [])]
        parts += [*self.assumed, *self.doubts, *([result] if result else [])]
        report(f"{self.what}: {'; '.join(parts)}")

    def _listed(self, columns: Sequence[int]) -> str:
        return few([self.title(column) for column in columns], 5)

    def find(self, name: Any, argument: str) -> int:
        """Return the number of the column with a name, or of a number from 0 on (which may be given as text)."""
        if isinstance(name, str) and name in self.names:
            if self.names.count(name) > 1:
                raise InputError(f"{argument}={name!r} must name one column of {self.what}, but several have this name")
            return self.names.index(name)
        is_whole = isinstance(name, int | np.integer) and not isinstance(name, bool)
        number = int(name) if is_whole or (isinstance(name, str) and name.isdecimal()) else -1
        if not 0 <= number < len(self.names):
            raise InputError(
                f"{argument}={name!r} is not a column of {self.what}; its columns are {self.columns}"
                f"{nearest(name, self.names)}"
            )
        return number

    def label_columns(self, id: Any, label: Any) -> tuple[int, int]:
        """The columns of ids and of labels."""
        if len(self.names) < 2:
            hint = self.rows.missing_separator()
            raise InputError(f"{self.what} must have a column of ids and one of labels, got only {self.columns}{hint}")
        taken = None if label is None else self.find(label, "label")
        usual = self.named(LABEL_NAMES, [None if id is None else self.find(id, "id")])
        at_id = self.id_column(id, taken if taken is not None else usual)
        if taken is None:
            taken = self.named(LABEL_NAMES, [at_id])
        rest = self._others([at_id])
        if taken is None and len(self.names) == 2:
            taken = 1 - at_id
        elif taken is None and len(rest) == 1:
            taken = rest[0]
        if taken is None:
            raise InputError(f"label must say which column of {self.what} holds the labels: {self.columns}")
        if taken == at_id:
            raise InputError(f"id and label must be two columns of {self.what}, got {self.title(taken)} for both")
        return at_id, taken

    def id_column(self, id: Any = None, taken: int | None = None) -> int:
        """The column of ids: the one asked for, one with a usual name, else the first that is not ``taken``.

        The index that pandas writes is the column of ids only if no other column can be.
        """
        if id is not None:
            return self.find(id, "id")
        usual = self.named(NODE_NAMES, [taken])
        if usual is not None:
            return usual
        index, first = self._index_column(), int(taken == 0)
        if index is None:
            return first
        other = next((column for column in range(len(self.names)) if column not in (index, taken)), None)
        if other is None or not self._holds_distinct_nodes(other):
            return index
        if self._holds_distinct_nodes(index):
            raise InputError(
                f"id must say which column of {self.what} holds the ids, as the unnamed column and "
                f"{self.title(other)} both hold ids of nodes: pass id={index} or id={other}"
            )
        return other

    def pair_columns(self) -> tuple[int, int]:
        """The columns of both ends: two with usual names, else the first two that are not named as something else."""
        if len(self.names) < 2:
            hint = self.rows.missing_separator()
            raise InputError(f"{self.what} must have two columns of ids, got only {self.columns}{hint}")
        names = [normalise_name(name) for name in self.names]
        found = find_pair(names)
        if found is not None:
            return found
        index = self._index_column()
        skipped = index if index is not None and len(names) > 2 and self._counts_rows(index) else None
        free = [column for column, name in enumerate(names) if column != skipped and name not in NO_ENDS]
        if len(free) < 2:
            raise InputError(f"{self.what} must have two columns of ids, got {self.columns}; name them source, target")
        return free[0], free[1]

    def has_pair_labels(self, ends: Sequence[int]) -> bool:
        """Whether a column next to a pair is named as labels are, or is the only other one of a file without header."""
        alone = "without a header" in self.assumed and len(self._others(ends)) == 1
        return alone or self.named(LABEL_NAMES, ends) is not None

    def pair_label_column(self, ends: Sequence[int]) -> int:
        """The column of zeros and ones next to a pair."""
        column, rest = self.named(LABEL_NAMES, ends), self._others(ends)
        if column is None and len(rest) != 1:
            raise InputError(f"{self.what} must have a column named label, got {self.columns}")
        return rest[0] if column is None else column

    def feature_columns(self, at_id: int) -> list[int]:
        """All columns except the ids and an index that pandas wrote."""
        index = self._index_column()
        skipped = (at_id, index) if index is not None and index != at_id and self._counts_rows(index) else (at_id,)
        columns = [column for column in range(len(self.names)) if column not in skipped]
        if not columns:
            hint = self.rows.missing_separator()
            raise InputError(f"{self.what} must have columns of numbers beside {self.title(at_id)}, got none{hint}")
        return columns

    def _others(self, used: Sequence[int]) -> list[int]:
        index = self._index_column()
        return [column for column in range(len(self.names)) if column not in used and column != index]

    def named(self, usual: Sequence[str], taken: Sequence[int | None]) -> int | None:
        """The column with the first of some ``usual`` names, whatever its case, of those that are not ``taken``."""
        names = [None if column in taken else normalise_name(name) for column, name in enumerate(self.names)]
        return next((names.index(name) for name in usual if name in names), None)

    def _index_column(self) -> int | None:
        """The column that pandas wrote for a frame's index: a first one without a name, or a level."""
        for column, name in enumerate(self.names):
            known = isinstance(name, str) and normalise_name(name) in INDEX_NAMES
            if known and (column == 0 or normalise_name(name)):
                return column
        return None

    def _counts_rows(self, column: int) -> bool:
        numbers = self.texts([column])[0].cast(pl.Float64, strict=False).fill_null(-1).to_numpy()
        return bool(np.array_equal(numbers, np.arange(len(numbers))))

    def _holds_distinct_nodes(self, column: int) -> bool:
        ids, known = self.texts([column])[0], self._known()["id"]
        if isinstance(ids.dtype, pl.Categorical | pl.Enum):
            ids = ids.cast(pl.String)
        if not (ids.dtype.is_integer() or ids.dtype == pl.String):
            return False
        same = ids.cast(known.dtype, strict=False)
        return not same.null_count() and same.n_unique() == len(same) and bool(same.is_in(known.implode()).all())

    def known_nodes(self, column: int, ids: pl.Series, warn: bool = True) -> NDArray[np.int64]:
        """Positions of ids, -1 (if ``warn``, with a warning) for those that are not nodes of the graph; some must be."""
        found = self._find(column, ids, self._known(), "known")
        unknown = ids.filter(found < 0).unique(maintain_order=True).to_numpy()
        if not (found >= 0).any():
            raise InputError(
                f"{self.what} must have ids of nodes (such as {few_ids(self.graph.ids[:3])}) in column "
                f"{self.title(column)}, got {few_ids(unknown)}"
            )
        if len(unknown) and warn:
            text = f"has {len(unknown)} ids that are not nodes of the graph and are ignored: {few_ids(unknown)}"
            warnings.warn(f"{self.what} {text}", stacklevel=self.depth)
        return found

    def nodes(self, columns: Sequence[int], strict: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Any]]:
        """Positions ``[columns, m]`` of the rows whose ids are all nodes, these rows, and the distinct other ids.

        If ``strict``, an id that is no node is an error.
        """
        given, known = self.texts(columns), self._known()
        others = "none" if strict else "some"
        found = np.stack([self._find(column, ids, known, others) for column, ids in zip(columns, given, strict=True)])
        missing = [ids.filter(found[row] < 0).to_list() for row, ids in enumerate(given)]
        unknown = list(dict.fromkeys(chain.from_iterable(missing)))
        if unknown and strict:
            raise InputError(
                f"{self.what} must have ids of nodes (such as {few_ids(self.graph.ids[:3])}), "
                f"got {len(unknown)} that are none: {few_ids(unknown)}"
            )
        rows = np.flatnonzero((found >= 0).all(axis=0))
        return found[:, rows], rows, unknown

    def _known(self) -> pl.DataFrame:
        """The ids as a table would have them, numbers or text (that of other kinds, too), and their positions.

        Ids such as 1 and "1", which read the same, have the position :data:`TWICE`.
        """
        ids = self.graph.ids
        by_text = ids.dtype == object
        column = pl.Series([str(value) for value in ids.tolist()] if by_text else ids)
        known = pl.DataFrame({"id": column, "at": np.arange(len(ids))})
        if not by_text:
            return known
        return known.group_by("id").agg(pl.when(pl.len() == 1).then(pl.col("at").first()).otherwise(TWICE).alias("at"))

    def _find(self, column: int, ids: pl.Series, known: pl.DataFrame, others: str) -> NDArray[np.int64]:
        """Positions of ids, -1 for those that are no nodes.

        ``others`` says which ids of another kind than the graph's are refused: with ``"none"`` all of them, with
        ``"known"`` those that look like numbers, such as 007, which may be meant for one of the graph's, with ``"some"``
        none.
        """
        if ids.null_count():
            place = self.place(int(np.argmax(ids.is_null().to_numpy())))
            raise InputError(f"{self.what} has nothing in column {self.title(column)} in {place}")
        if isinstance(ids.dtype, pl.Categorical | pl.Enum):
            ids = ids.cast(pl.String)
        kind = known["id"].dtype
        wanted = self._as_text(column, ids) if kind == pl.String else self._as_numbers(column, ids, kind, others)
        found = wanted.replace_strict(known["id"], known["at"], default=-1, return_dtype=pl.Int64).to_numpy()
        if (found == TWICE).any():
            row = int(np.argmax(found == TWICE))
            raise InputError(
                f"{self.what} must have ids that name one node, but the graph has two nodes that are written "
                f"{wanted[row]!r:.80} (a number and text), in column {self.title(column)} in {self.place(row)}"
            )
        return found

    def _as_numbers(self, column: int, ids: pl.Series, kind: Any, others: str) -> pl.Series:
        is_integer = kind == pl.Int64
        if not (ids.dtype.is_numeric() or ids.dtype == pl.String):
            raise InputError(f"{self.what} must have ids in column {self.title(column)}, got {ids.dtype}")
        numbers = ids.cast(kind, strict=False)
        wrong = numbers.is_null()
        if ids.dtype == pl.String and is_integer:
            wrong |= ~ids.str.contains(PLAIN_INTEGER)
        elif ids.dtype.is_float():
            wrong |= numbers != ids
        refused = wrong if others != "some" else wrong & False
        if others == "known" and ids.dtype == pl.String and not wrong.all():
            refused = wrong & ids.cast(pl.Float64, strict=False).is_not_null()
        if refused.any():
            row = int(np.argmax(refused.to_numpy()))
            raise InputError(
                f"{self.what} must have {'integers' if is_integer else 'numbers'}, as the graph's ids are, in column "
                f"{self.title(column)}, got {ids[row]!r:.80} in {self.place(row)}"
            )
        return numbers.set(wrong, None)

    def _as_text(self, column: int, ids: pl.Series) -> pl.Series:
        if ids.dtype.is_float() and (ids == ids.round()).all() and (ids.abs() < 2**53).all():
            # pandas makes floats of integers as soon as one is missing.
            ids = ids.cast(pl.Int64)
        if not (ids.dtype.is_integer() or ids.dtype == pl.String):
            raise InputError(
                f"{self.what} must have text, as the graph's ids are, in column {self.title(column)}, got {ids.dtype}"
            )
        return ids.cast(pl.String)


def _stands_above_nodes(rows: list[list[str]], is_node: Callable[[str], bool]) -> bool:
    """Whether the first of several columns of words stands above nodes only, is none itself and never comes again."""
    first, rest = rows[0], rows[1:]
    if len(first) < 2 or len(rest) < 2 or any(len(row) < len(first) for row in rest):
        return False
    above = False
    for column, field in enumerate(first):
        below = [row[column].strip() for row in rest]
        if is_number(field) or field.strip() in below:
            return False
        if all(is_node(each) for each in below):
            if is_node(field.strip()):
                return False
            above = True
    return above


def _has_header(
    row: list[str], is_node: Callable[[str], bool], usual: Collection[str], asked: Sequence[Any]
) -> bool | None:
    """Whether the first line is a header; ``None`` if only the lines after it can tell."""
    first = [field.strip() for field in row]
    # Who asks for a column by name says that there is a header.
    if any(isinstance(name, str) and not name.isdecimal() for name in asked):
        return True
    column = int(asked[0]) if asked and isinstance(asked[0], int | str) else 0
    field = first[column] if 0 <= column < len(first) else ""
    if field and is_node(field):
        return False
    # An id is never empty, but the name of pandas' index is.
    if not field or looks_like_header(first) or any(normalise_name(each) in usual for each in first):
        return True
    return None


def _node_test(graph: Graph) -> Callable[[str], bool]:
    """A function that tells whether a field of a text file is the id of a node."""
    ids, kind = graph.ids, graph.ids.dtype.kind
    if kind not in "ifU":
        texts = {str(value) for value in ids.tolist()}
        return lambda field: field in texts
    lookup = graph._lookup

    def is_node(field: str) -> bool:
        value: Any = field
        if kind in "if":
            if not (is_plain_integer if kind == "i" else is_number)(field):
                return False
            value = int(field) if kind == "i" else float(field)
        return bool(lookup.positions(np.array([value]))[0] >= 0)

    return is_node

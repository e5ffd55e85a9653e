"""Which columns of a table hold sources, targets, weights and times, by their names and by what stands in them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from graphreach.arguments import nearest
from graphreach.errors import InputError
from graphreach.graph.reading import ROLES, Reading

SAMPLE = 200
"""Data lines that are looked at."""

INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
PLAIN_INTEGER = r"^(0|-?[1-9]\d*)$"

PAIRS = tuple(
    tuple(pair.split())
    for pair in (
        *("source target", "src dst", "src dest", "src tgt", "from to", "from_node to_node", "from_id to_id"),
        *("fromnodeid tonodeid", "source_id target_id", "u v", "s t", "head tail", "start end"),
        *("id1 id2", "id_1 id_2", "node1 node2", "node_1 node_2"),
    )
)
"""Names under which sources and targets are found, whatever their case."""

NODE_NAMES = ("id", "ids", "node", "nodes", "node_id", "nodeid", "name")
WEIGHTS = ("weight", "weights", "edge_weight", "w", "value")
"""Names under which nodes and weights are found, whatever their case."""

TIMES = (
    *("time", "times", "timestamp", "timestamps", "time_stamp", "unixtime", "unix_time", "unix_timestamp"),
    *("unixtimestamp", "datetime", "date", "ts", "created_at", "updated_at", "year", "zeit", "datum", "zeitstempel"),
)
"""Names under which times are found, whatever their case."""

USERS = (
    *("user", "customer", "client", "reader", "viewer", "listener", "buyer", "shopper", "reviewer", "rater", "author"),
)
ITEMS = (
    *("item", "product", "movie", "film", "show", "book", "song", "track", "artist", "album", "article", "paper"),
    *("business", "restaurant", "shop", "store", "venue", "place", "location", "poi", "game", "app", "job", "course"),
    *("tag", "hashtag", "topic", "category", "group", "event", "recipe", "video", "page", "word", "term"),
)
"""What columns of the two kinds of nodes of a bipartite graph are named after."""

INDEX_NAMES = ("index", "idx", "row", "rows", "rownames", "row_id", "rowid", "level_0", "edge_id")
"""Names of a first column that is an index if its whole numbers are distinct."""

COUNTER_NAMES = ("id", "key", "no", "nr")
"""Names of a first column that is an index if it counts, and may be of nodes if it does not."""

DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
DATE = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?([T ]\d\d?:\d\d(:\d\d(\.\d+)?)?( ?(Z|[+-]\d\d:?\d\d|UTC))?)?")

UNIX_TIMES = tuple((3e8 * unit, 4.2e9 * unit) for unit in (1, 10**3, 10**6, 10**9))
"""Unix times from 1979 to 2103 in seconds, milliseconds, microseconds and nanoseconds."""

LARGE = 8
"""Rows from which on a square table of numbers is a matrix, whatever the numbers."""


def is_number(field: str) -> bool:
    """Tell whether a field of a text file is a number."""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def is_plain_integer(field: str) -> bool:
    """Tell whether a field is an integer written as Python would write it, and fits 64 bits."""
    bare = field.strip(" ")
    return INTEGER.fullmatch(bare) is not None and -(2**63) <= int(bare) < 2**63


def normalise_name(name: Any) -> str:
    """Return a column name without surrounding blanks and in lower case."""
    return str(name).strip().lower()


def is_unnamed(name: Any) -> bool:
    """Tell whether a column has no name of its own, as an index has that pandas wrote."""
    return re.fullmatch(r"(unnamed: \d+|__index_level_\d+__)?", normalise_name(name)) is not None


def are_two_kinds(source: Any, target: Any) -> bool:
    """Tell whether the names of two columns say that their nodes are of two kinds, such as users and items."""
    kinds = [
        re.sub(r"s?[_ .-]*(ids?|idx|index|no|nr|name|key)?$", "", normalise_name(name)) for name in (source, target)
    ]
    return any(a in USERS and b in ITEMS for a, b in (kinds, reversed(kinds)))


def looks_like_header(names: Sequence[str]) -> bool:
    """Tell whether the fields of a line contain a usual pair of names for sources and targets, or name a weight."""
    usual = [normalise_name(name) for name in names]
    return find_pair(usual) is not None or any(name in WEIGHTS for name in usual[2:])


def find_pair(names: Sequence[str]) -> tuple[int, int] | None:
    """Return where the usual names for source and target stand, or ``None``."""
    for first, second in PAIRS:
        if first in names and second in names:
            return names.index(first), names.index(second)
    return None


def list_names(names: Sequence[Any]) -> str:
    """Return the first names of columns for a message."""
    return ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")


class Asked(NamedTuple):
    """The columns that the caller named, by name or by number; ``False`` for none at all."""

    source: Any = None
    target: Any = None
    weight: Any = None
    time: Any = None


class Roles(NamedTuple):
    """What the columns of a table are used for, by their numbers, and what was assumed in choosing them."""

    source: int
    target: int
    weight: int | None
    time: int | None
    ignored: tuple[int, ...]
    assumed: tuple[str, ...]


@dataclass
class SampledTable:
    """The names of a table's columns (numbers where there are none) and its first rows as text, for messages its name."""

    names: list[Any]
    has_header: bool
    rows: Sequence[Sequence[str]]
    what: str

    def fields(self, column: int) -> list[str]:
        """What stands in a column, without empty fields."""
        return [row[column].strip() for row in self.rows if len(row) > column and row[column].strip()]

    def holds(self, column: int, test: Callable[[str], Any]) -> bool:
        """Whether a column has fields, all of which pass a test."""
        fields = self.fields(column)
        return bool(fields) and all(map(test, fields))

    @cached_property
    def numeric(self) -> list[bool]:
        """For each column, whether all of it are numbers."""
        return [self.holds(column, is_number) for column in range(len(self.names))]

    def holds_fractions(self, column: int) -> bool:
        """Whether a column holds numbers that are not whole."""
        return self.numeric[column] and any(not float(field).is_integer() for field in self.fields(column))

    def counts(self, column: int) -> bool:
        """Whether a column counts 0, 1, 2, ... or 1, 2, 3, ..."""
        fields = self.fields(column)
        first = fields[0] if fields else ""
        return first in ("0", "1") and fields == [str(int(first) + i) for i in range(len(fields))]

    def holds_dates(self, column: int) -> bool:
        """Whether a column holds dates such as 2024-01-31."""
        return self.holds(column, DATE.fullmatch)

    def holds_unix_times(self, column: int) -> bool:
        """Whether all numbers of a column lie where times since 1970 do."""
        if not self.numeric[column]:
            return False
        numbers = [float(field) for field in self.fields(column)]
        return any(all(low <= number <= high for number in numbers) for low, high in UNIX_TIMES)

    def holds_signs(self, column: int) -> bool:
        """Whether a column holds one and the same sign without letters and digits, such as an arrow."""
        fields = set(self.fields(column))
        return len(fields) == 1 and not any(letter.isalnum() for letter in fields.pop())

    def holds_decimal_commas(self, column: int) -> bool:
        """Whether a column holds numbers such as 0,5."""
        return self.holds(column, lambda field: DECIMAL_COMMA.fullmatch(field) or is_number(field))

    def holds_relations(self, column: int) -> bool:
        """Whether the second of three columns of text says how the first and the third are related."""
        if column != 1 or len(self.names) != 3 or any(self.numeric):
            return False
        heads, relations, tails = (set(self.fields(i)) for i in range(3))
        if relations & (heads | tails) or 2 * len(relations) > len(heads | tails):
            return False
        return bool(heads & tails) or len(self.rows) >= 10 * len(relations)

    def name(self, column: int) -> str:
        """The name of a column in lower case, empty where columns have none."""
        return normalise_name(self.names[column]) if self.has_header else ""

    def title(self, column: int) -> str:
        """A column for people."""
        return f"column {self.names[column]!r}" if self.has_header else f"column {column}"

    def find(self, argument: str, name: Any) -> int | None:
        """Return the number of a column that was asked for."""
        if name is None or name is False:
            return None
        if name is True:
            raise InputError(f"{argument} must be the name of a column, None or False, got True")
        found = [i for i, other in enumerate(self.names) if type(other) is type(name) and other == name]
        if len(found) > 1:
            raise InputError(f"{argument}={name!r} is the name of {len(found)} columns of {self.what}; pass a number")
        if not found and isinstance(name, int) and 0 <= name < len(self.names):
            return int(name)
        if not found:
            hint = nearest(name, self.names) or f"; its columns are {list_names(self.names)}"
            raise InputError(f"{argument}={name!r} is not a column of {self.what}{hint}")
        return found[0]


def assign_roles(table: SampledTable, asked: Asked) -> Roles:
    """Choose the columns of sources, targets, weights and times.

    Sources and targets not asked for are found by their usual names, else they are the first two columns that are
    not an index and do not look like weights or times. Weights not asked for are found by their usual names, or are
    the one column of numbers that is left where columns have no names. Times are found by their usual names, as dates
    or as numbers where times since 1970 lie.
    """
    if len(table.names) < 2:
        raise InputError(f"{table.what} must have a column of sources and one of targets, got only {table.names}")
    found = [table.find(argument, name) for argument, name in zip(Asked._fields, asked, strict=True)]
    index, sentences = _find_index(table, found)
    source, target = _choose_ends(table, found, index)
    if source == target:
        raise InputError(f"source and target must be two columns of {table.what}, got {table.names[source]!r} for both")
    for role, column in (("weight", found[2]), ("time", found[3])):
        if column in (source, target):
            end = "source" if column == source else "target"
            raise InputError(f"{role}={table.names[column]!r} is the column of {end}s of {table.what}; name another")
    free = [i for i in range(len(table.names)) if i not in (source, target, *index, *found)]
    weight, time = found[2], found[3]
    if weight is None and asked.weight is not False:
        weight = next((i for name in WEIGHTS for i in free if table.name(i) == name), None)
    rest = [i for i in free if i != weight]
    if time is None and asked.time is not False:
        time = _find_time(table, rest)
    rest = [i for i in rest if i != time]
    if weight is None and asked.weight is None and not table.has_header and len(rest) == 1:
        weight = rest[0] if any(map(is_number, table.fields(rest[0]))) else None
    ignored = tuple(i for i in range(len(table.names)) if i not in (source, target, weight, time))
    roles = Roles(source, target, weight, time, ignored, ())
    sentences += [*_doubts(table, roles, index, asked)]
    return roles._replace(assumed=tuple(sentences))


def _find_index(table: SampledTable, found: Sequence[int | None]) -> tuple[list[int], list[str]]:
    """Columns that only number the rows, where two others are left."""
    if not table.has_header:
        return [], []
    columns = [i for i in range(len(table.names)) if i not in found and is_unnamed(table.names[i])]
    if 0 not in found and len(table.rows) > 2 and _numbers_rows(table):
        columns.append(0)
    if len(table.names) - len(columns) < 2:
        return [], []
    sentences = []
    if 0 in columns:
        title = "without a name" if is_unnamed(table.names[0]) else repr(table.names[0])
        counts = ", which counts," if table.counts(0) else ","
        sentences.append(f"the first column, {title}{counts} was taken for an index")
    return columns, sentences


def _numbers_rows(table: SampledTable) -> bool:
    """Whether the first column is named as an index is, and numbers the rows."""
    fields = table.fields(0)
    distinct = len(set(fields)) == len(table.rows) and all(map(is_plain_integer, fields))
    return (table.name(0) in INDEX_NAMES and distinct) or (table.name(0) in COUNTER_NAMES and table.counts(0))


def _choose_ends(table: SampledTable, found: Sequence[int | None], index: list[int]) -> tuple[int, int]:
    source, target, *others = found
    named = [table.name(i) for i in range(len(table.names))]
    pair = find_pair(named) or (None, None)
    for end, role in zip(pair, ("sources", "targets"), strict=True):
        if source is None and target is None and end is not None and end in others:
            argument = ("weight", "time")[others.index(end)]
            raise InputError(f"{argument}={table.names[end]!r} is the column of {role} of {table.what}; name another")
    if source is None and pair[0] not in (target, *others):
        source = pair[0]
    if target is None and pair[1] not in (source, *others):
        target = pair[1]
    missing = (source is None) + (target is None)
    free = [i for i in range(len(table.names)) if i not in (source, target, *others)]
    for unlikely in _unlikely_ends(table, index):
        left = [i for i in free if i not in unlikely]
        free = left if len(left) >= missing else free
    if len(free) < missing:
        raise InputError(f"{table.what} must have a column of sources and one of targets, got {table.names}")
    rest = iter(free)
    return next(rest) if source is None else source, next(rest) if target is None else target


def _unlikely_ends(table: SampledTable, index: list[int]) -> Iterator[list[int]]:
    """Columns that are hardly ids, the least likely first; those of one list are left out together."""
    columns = range(len(table.names))
    yield index
    yield [i for i in columns if table.holds_signs(i)]
    yield [i for i in columns if table.holds_relations(i)]
    yield [i for i in columns if table.name(i) in TIMES]
    yield [i for i in columns if table.name(i) in WEIGHTS and len(table.name(i)) > 1]
    yield [i for i in columns if table.holds_dates(i)]
    yield [0] if _times_come_first(table) else []
    yield [i for i in columns if table.holds_fractions(i)]
    yield [i for i in columns if table.name(i) in WEIGHTS]


def _times_come_first(table: SampledTable) -> bool:
    """Whether the first column, and no other, holds times since 1970 that grow from row to row, as a log's do."""
    if table.has_header or [i for i in range(len(table.names)) if table.holds_unix_times(i)] != [0]:
        return False
    steps = np.diff([float(field) for field in table.fields(0)])
    return bool(np.all(steps >= 0) and 2 * np.count_nonzero(steps) >= len(steps) >= 2)


def _find_time(table: SampledTable, free: list[int]) -> int | None:
    named = [i for i in free if table.name(i) in TIMES and (table.numeric[i] or table.holds_dates(i))]
    return next((i for i in [*named, *free] if i in named or table.holds_dates(i) or table.holds_unix_times(i)), None)


def _doubts(table: SampledTable, roles: Roles, index: list[int], asked: Asked) -> Iterator[str]:
    """What may have been meant differently."""
    chosen = (roles.source, roles.target)
    if roles.time is not None and asked.time is None and table.name(roles.time) not in TIMES:
        yield f"{table.title(roles.time)} holds times and is no weight"
    if roles.weight is None and asked.weight is None:
        numbers = [i for i in roles.ignored if table.numeric[i] and i not in index]
        for i in numbers[:1]:
            name = table.names[i]
            more = f" (as do {len(numbers) - 1} more columns)" if len(numbers) > 1 else ""
            yield f"{table.title(i)} holds numbers{more} and was not used; weight={name!r} (--weight {name}) uses it"
    commas = [i for i in roles.ignored if not table.numeric[i] and table.holds_decimal_commas(i)]
    if commas:
        yield f"{table.title(commas[0])} holds numbers with a decimal comma and was not used; write them with a point"
    before = [i for i in range(max(chosen)) if i not in (*chosen, *index)]
    if asked.source is None and asked.target is None and before and not find_pair([table.name(i) for i in chosen]):
        ends = " and ".join(table.title(i) for i in chosen)
        yield f"ids were read from {ends}; source= and target= (--source, --target) name others"
    third = [i for i in (roles.weight,) if i == 2 and not table.has_header and table.numeric[1] and len(table.rows) > 2]
    if third and asked.weight is None and not table.holds_fractions(2) and table.counts(0):
        yield "column 0 counts as an index does; if it is one, pass source=1, target=2 (--source 1 --target 2)"


def has_row_names(table: SampledTable) -> bool:
    """Tell whether the first column names the rows of a matrix rather than being part of it."""
    unnamed = table.has_header and is_unnamed(table.names[0])
    return unnamed or (bool(table.fields(0)) and not table.numeric[0])


def is_matrix(table: SampledTable, num_rows: int, row_names: Sequence[str] | None = None) -> bool:
    """Tell whether a table is an adjacency matrix: square, all numbers, and not like a list of edges.

    A small one has to be named alike in rows and columns, symmetric, or zero on its diagonal.
    """
    first = int(row_names is None and len(table.names) > 1 and has_row_names(table))
    n = len(table.names) - first
    if n != num_rows or n < 2 or not all(table.numeric[first:]):
        return False
    titles = [table.name(i) for i in range(first, len(table.names))]
    if find_pair(titles) is not None or any(title in (*WEIGHTS, *TIMES) for title in titles if len(title) > 1):
        return False
    names = [str(name).strip() for name in table.names[first:]]
    rows = table.fields(0) if first else row_names
    # Numbers name the rows and columns of any frame, so they show less than names that are the same in both.
    counting = names == [str(i) for i in range(n)]
    if table.has_header and not counting and rows is not None and list(rows) == names[: len(rows)]:
        return True
    if n >= LARGE:
        return True
    if n < 3 or any(len(row) != len(table.names) for row in table.rows):
        return False
    values = np.array([[float(field or 0) for field in row[first:]] for row in table.rows])
    diagonal = np.diagonal(values)
    symmetric = bool(np.array_equal(values, values.T)) and bool(np.all(diagonal == diagonal[0]))
    return symmetric or not diagonal.any()


def make_reading(path: str | None, kind: str, table: SampledTable, roles: Roles, more: Sequence[str] = ()) -> Reading:
    """Say how a table was read."""
    used = {role: getattr(roles, role) for role in ROLES if getattr(roles, role) is not None}
    return Reading(
        path,
        kind,
        {role: table.names[column] for role, column in used.items()},
        tuple(table.names[column] for column in roles.ignored),
        table.has_header if kind == "text" else None,
        (*roles.assumed, *more),
    )

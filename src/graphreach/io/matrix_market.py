"""Matrix Market files, ``.mtx``."""

from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.build import check_weights
from graphreach.graph.convert import check_size
from graphreach.graph.edges import Edges
from graphreach.io.open_file import open_text
from graphreach.io.sniff import Layout, data_lines
from graphreach.io.text_reader import TextFile, TextOptions, _Reader

BANNER = "%%matrixmarket"
SYMMETRIES = ("general", "symmetric")
FIELDS = ("real", "integer", "unsigned-integer", "double", "pattern")


class Size(NamedTuple):
    """What the first lines of a file declare."""

    dense: bool
    pattern: bool
    symmetric: bool
    rows: int
    columns: int
    entries: int
    begin: int
    first_line: int


def read_mtx(path: Path, weight: Any) -> tuple[Edges, bool | None]:
    """Read a Matrix Market file: symmetric ones are undirected, general ones are what their entries say."""
    file = open_text(path)
    size = _read_size(file)
    if size.rows != size.columns:
        raise InputError(f"{path} must hold a square matrix, got {size.rows} rows and {size.columns} columns")
    if not size.rows:
        raise InputError(f"{path} must hold a matrix with rows, got none")
    check_size(size.rows, str(path))
    if size.begin >= len(file.text):
        columns = [np.empty(0)] * (1 if size.dense else 2 if size.pattern else 3)
    else:
        columns = _read_columns(file, size)
    if len(columns[0]) != size.entries:
        raise InputError(f"{path} must hold {size.entries} entries, as it declares, got {len(columns[0])}")
    rows, others, values = _dense_entries(columns[0], size) if size.dense else _entries(columns, size, path)
    if values is not None and np.all(values == 1):
        values = None
    weights = None if weight is False or values is None else check_weights(values, len(values), f"the values of {path}")
    ids = np.arange(1, size.rows + 1)
    return Edges(rows, others, weights, ids), False if size.symmetric else None


def _refuse(file: TextFile, text: str) -> NoReturn:
    raise InputError(f"{file.what} must be a Matrix Market file, as its suffix says, but {text}")


def _read_size(file: TextFile) -> Size:
    words = file.text[:1024].tobytes().split(b"\n")[0].decode("latin-1").lower().split()
    if not words or words[0] != BANNER or len(words) != 5:
        _refuse(file, "its first line is not '%%MatrixMarket matrix coordinate|array FIELD SYMMETRY'")
    _, kind, layout, field, symmetry = words
    if kind != "matrix" or layout not in ("coordinate", "array") or (layout == "array" and field == "pattern"):
        _refuse(file, f"it holds a {layout} {kind} of {field}")
    if field not in FIELDS or symmetry not in SYMMETRIES:
        raise InputError(f"{file.what} must hold a real matrix, general or symmetric, got {field} {symmetry}")
    lines = list(islice(data_lines(file.text, "%"), 2))
    numbers = lines[0][2].split() if lines else []
    if len(numbers) != (2 if layout == "array" else 3) or not all(n.isdigit() and len(n) < 19 for n in numbers):
        _refuse(file, f"it has no line with its size{f' in line {lines[0][0] + 1}' if lines else ''}")
    rows, columns, *rest = (int(number) for number in numbers)
    symmetric = symmetry == "symmetric"
    dense_entries = rows * (rows + 1) // 2 if symmetric else rows * columns
    begin, line = (lines[1][1], lines[1][0]) if len(lines) > 1 else (len(file.text), 0)
    entries = rest[0] if rest else dense_entries
    return Size(layout == "array", field == "pattern", symmetric, rows, columns, entries, begin, line)


def _read_columns(file: TextFile, size: Size) -> list[NDArray[Any]]:
    names: list[Any] = [0] if size.dense else [0, 1] if size.pattern else [0, 1, 2]
    layout = Layout(" ", names, False, size.first_line, size.begin, [])
    reader = _Reader(file, layout, TextOptions(ids="int", comments="%"))
    frame = reader.read([], [0]) if size.dense else reader.read([0, 1], names[2:])
    return [column.to_numpy() for column in frame]


def _entries(columns: list[NDArray[Any]], size: Size, path: Path) -> tuple[Any, Any, Any]:
    rows, others, *values = columns
    for column in (rows, others):
        if len(column) and not 1 <= int(column.min()) <= int(column.max()) <= size.rows:
            wrong = int(column.min()) if column.min() < 1 else int(column.max())
            raise InputError(f"{path} must hold rows and columns from 1 to {size.rows}, got {wrong}")
    ends = [(column - 1).astype(np.uint32) for column in (rows, others)]
    return ends[0], ends[1], values[0] if values else None


def _dense_entries(values: NDArray[Any], size: Size) -> tuple[Any, Any, Any]:
    """Entries of a matrix whose values are listed by columns, of a symmetric one from the diagonal down."""
    filled = np.flatnonzero(values)
    n = size.rows
    if size.symmetric:
        # Column j begins after the j columns before it, which have n, n - 1, ... values.
        begins = np.arange(n) * n - np.arange(n) * (np.arange(n) - 1) // 2
        columns = np.searchsorted(begins, filled, side="right") - 1
        rows = filled - begins[columns] + columns
    else:
        rows, columns = filled % n, filled // n
    return rows.astype(np.uint32), columns.astype(np.uint32), values[filled]

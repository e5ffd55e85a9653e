"""Sparse matrices in files: Matrix Market's ``.mtx``, and numpy's ``.npz`` with a matrix of scipy or an edge index."""

from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.build import Edges, check_weights
from graphreach.graph.convert import check_size, edges_from_index, edges_from_scipy
from graphreach.graph.ids import check_number_of_nodes
from graphreach.io.numpy_files import load_all_arrays
from graphreach.io.open_file import TextFile, open_text
from graphreach.io.text import Layout, TextTable, data_lines

PARTS = dict.fromkeys(("csr", "csc", "bsr"), ("data", "indices", "indptr")) | {"dia": ("data", "offsets")}
"""The arrays that scipy makes a sparse matrix of, by its format."""

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
    table = TextTable(file, Layout(" ", names, False, size.first_line, size.begin, [], "%"))
    frame = table.read_ids([], [0], "int") if size.dense else table.read_ids([0, 1], names[2:], "int")
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


def read_npz(path: Path, weight: Any) -> tuple[Edges, bool | None]:
    """Read a matrix saved by ``scipy.sparse.save_npz``, or arrays ``edge_index`` and so on."""
    arrays = load_all_arrays(path)
    if "edge_index" in arrays:
        weights = None if weight is False else arrays.get("edge_weight")
        size = _scalar(arrays, "num_nodes", "iu", path)
        edges = edges_from_index(arrays["edge_index"], size, weights, arrays.get("ids"))
        return edges, bool(_scalar(arrays, "directed", "biu", path) or False)
    if "format" not in arrays:
        raise InputError(f"{path} must hold edge_index or a scipy sparse matrix, got arrays {sorted(arrays)}")
    damaged = f"{path} must hold edge_index or a scipy sparse matrix, but its matrix is damaged"
    try:
        matrix = _make_matrix(arrays)
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, AttributeError, UnicodeDecodeError):
        raise InputError(damaged) from None
    try:
        edges = edges_from_scipy(matrix, None)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return edges._replace(weights=None) if weight is False else edges, None


def _scalar(arrays: dict[str, Any], name: str, kinds: str, path: Path) -> Any:
    if name not in arrays:
        return None
    if arrays[name].size != 1 or arrays[name].dtype.kind not in kinds:
        raise InputError(
            f"{path} must hold one number as {name}, got {arrays[name].dtype} of shape {arrays[name].shape}"
        )
    return arrays[name].item()


def _make_matrix(arrays: dict[str, Any]) -> Any:
    import scipy.sparse

    kind = arrays["format"].item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
    shape = tuple(int(length) for length in arrays["shape"])
    check_number_of_nodes(max(shape, default=0))
    if kind == "coo":
        ends = arrays["coords"] if "coords" in arrays else np.stack([arrays["row"], arrays["col"]])
        if ends.dtype.kind not in "iu" or ends.ndim != 2:
            raise ValueError("coordinates must be integers")
        return scipy.sparse.coo_array((arrays["data"], tuple(ends)), shape=shape)
    parts = tuple(arrays[name] for name in PARTS[kind])
    if any(part.dtype.kind not in "iu" for part in parts[1:]):
        raise ValueError("indices must be integers")
    return getattr(scipy.sparse, f"{kind}_array")(parts, shape=shape)

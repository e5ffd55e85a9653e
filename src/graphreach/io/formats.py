"""Files that are not text tables: Parquet, numpy and Matrix Market."""

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from graphreach.errors import InputError
from graphreach.graph.columns import SAMPLE
from graphreach.graph.convert import edges_from_index, edges_from_scipy
from graphreach.graph.edges import Edges
from graphreach.graph.frames import column_at, edges_from_columns, sample_frame
from graphreach.graph.ids import check_number_of_nodes
from graphreach.graph.roles import Asked, assign_roles, is_matrix
from graphreach.io.matrix_market import read_mtx
from graphreach.io.numpy_files import load_all_arrays
from graphreach.io.parquet import read_parquet

__all__ = ["edges_from_parquet", "first_line", "read_mtx", "read_npz"]

PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "dia": ("data", "offsets"),
}
"""The arrays that scipy makes a sparse matrix of, by its format."""


def edges_from_parquet(path: Path, asked: Asked, nodes: Iterable[Hashable], bipartite: bool | None) -> Edges:
    """Read the columns of edges from a Parquet file."""
    table = sample_frame(read_parquet(path, rows=SAMPLE + 1), str(path))
    roles = assign_roles(table, asked)
    used = [roles.source, roles.target, roles.weight, roles.time]
    frame = read_parquet(path, [table.names[i] for i in used if i is not None])
    rows = len(frame)
    if not len(frame):
        raise InputError(f"{path} must hold edges, but it is empty")
    if asked == Asked() and is_matrix(table, rows):
        raise InputError(
            f"{path} must have one row per edge, but its {rows} rows and columns look like an adjacency matrix; write "
            "its edges, or save it by scipy.sparse.save_npz, or name source and target"
        )
    if roles.weight is not None and not column_at(frame, table, roles.weight).dtype.is_numeric():
        kind = column_at(frame, table, roles.weight).dtype
        raise InputError(f"column {table.names[roles.weight]!r} of {path} must hold a number in every row, got {kind}")
    return edges_from_columns(frame, table, roles, asked, nodes, bipartite, str(path))


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


def first_line(error: Exception) -> str:
    """Return the first line of an error's message.

    Example:
        >>> first_line(ValueError("no\\nreally"))
        'no'
    """
    return next(iter(str(error).splitlines()), type(error).__name__)

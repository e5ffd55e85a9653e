"""Files that are not text tables: Parquet, numpy, Matrix Market and GraphML."""

import zipfile
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from graphreach.errors import InputError
from graphreach.graph.build import check_weights
from graphreach.graph.columns import choose_columns, frame_column
from graphreach.graph.convert import edges_from_index, edges_from_networkx, edges_from_scipy, number_columns
from graphreach.graph.edges import Edges
from graphreach.graph.reading import ROLES, Reading


def edges_from_parquet(path: Path, source: Any, target: Any, weight: Any, nodes: Iterable[Hashable]) -> Edges:
    """Read the columns of edges from a Parquet file."""
    import polars as pl

    try:
        # One handle for schema and data: glob characters in the name then mean nothing.
        with path.open("rb") as file:
            names = list(pl.read_parquet_schema(file))
            chosen = choose_columns(names, source, target, weight, what=str(path))
            file.seek(0)
            frame = pl.read_parquet(file, columns=[name for name in chosen if name is not None])
    except (pl.exceptions.PolarsError, OSError):
        raise InputError(f"{path} must be a Parquet file, as its suffix says, but it is not or is damaged") from None
    if not len(frame):
        raise InputError(f"{path} must hold edges, but it is empty")
    weights = None
    if chosen[2] is not None:
        column = frame[chosen[2]]
        if not column.dtype.is_numeric() or column.null_count():
            raise InputError(f"column {chosen[2]!r} of {path} must hold a number in every row, got {column.dtype}")
        weights = check_weights(column.to_numpy(), len(frame), f"column {chosen[2]!r} of {path}")
    ends = [frame_column(frame, name) for name in chosen[:2]]
    used = {role: name for role, name in zip(ROLES, chosen, strict=False) if name is not None}
    reading = Reading(str(path), "parquet", used, tuple(name for name in names if name not in chosen))
    return number_columns(ends[0], ends[1], weights, nodes)._replace(reading=reading)


def read_npz(path: Path, weight: Any) -> tuple[Edges, bool | None]:
    """Read a matrix saved by ``scipy.sparse.save_npz``, or arrays ``edge_index`` and so on."""
    try:
        with zipfile.ZipFile(path), np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
    except (ValueError, OSError, EOFError, zipfile.BadZipFile):
        raise InputError(f"{path} must be a .npz file of plain arrays, as its suffix says, but it is not") from None
    if "edge_index" in arrays:
        weights = None if weight is False else arrays.get("edge_weight")
        size = arrays.get("num_nodes")
        edges = edges_from_index(arrays["edge_index"], None if size is None else int(size), weights, arrays.get("ids"))
        return edges, bool(arrays.get("directed", False))
    if "format" not in arrays:
        raise InputError(f"{path} must hold edge_index or a scipy sparse matrix, got arrays {sorted(arrays)}")
    from scipy.sparse import load_npz

    try:
        matrix = load_npz(path)
    except (ValueError, KeyError, NotImplementedError):
        raise InputError(f"{path} must hold edge_index or a scipy sparse matrix, but its matrix is damaged") from None
    return _without_weights(edges_from_scipy(matrix, None), weight), None


def read_mtx(path: Path, weight: Any) -> tuple[Edges, bool | None]:
    """Read a Matrix Market file: symmetric ones are undirected, general ones are what their entries say."""
    from scipy.io import mminfo, mmread
    from scipy.sparse import coo_array

    try:
        symmetry = mminfo(path)[5]
        matrix = coo_array(mmread(path))
    except (ValueError, OSError, OverflowError) as error:
        raise InputError(f"{path} must be a Matrix Market file, as its suffix says, but: {first_line(error)}") from None
    ids = np.arange(1, matrix.shape[0] + 1)
    edges = _without_weights(edges_from_scipy(matrix, ids), weight)
    return edges, False if symmetry == "symmetric" else None


def first_line(error: Exception) -> str:
    """Return the first line of an error's message.

    Example:
        >>> first_line(ValueError("no\\nreally"))
        'no'
    """
    return next(iter(str(error).splitlines()), type(error).__name__)


def _without_weights(edges: Edges, weight: Any) -> Edges:
    return edges._replace(weights=None) if weight is False else edges


def read_graphml(path: Path, weight: Any) -> tuple[Edges, bool | None]:
    """Read a GraphML file by networkx."""
    try:
        import networkx as nx
    except ImportError:
        raise InputError(f"reading {path} needs networkx: pip install 'graphreach[networkx]'") from None
    from xml.etree.ElementTree import ParseError

    try:
        graph = nx.read_graphml(path)
    except (ParseError, nx.NetworkXError, KeyError, ValueError) as error:
        raise InputError(f"{path} must be a GraphML file, as its suffix says, but: {first_line(error)}") from None
    attribute = None if weight is False else "weight" if weight is None else str(weight)
    edges, directed = edges_from_networkx(graph, attribute)
    if weight not in (None, False) and edges.weights is None:
        raise InputError(f"weight={weight!r} is not an attribute of the edges of {path}")
    return edges, directed

"""Files of whole networks.

GraphML, GML and GEXF by networkx, adjacency lists, node-link JSON, Matrix Market's ``.mtx``, and numpy's ``.npz`` with a
matrix of scipy or an edge index.
"""

import json
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from xml.etree import ElementTree

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph.build import Edges, check_weights
from graphreach.graph.columns import WEIGHTS
from graphreach.graph.convert import (
    check_size,
    edges_from_index,
    edges_from_networkx,
    edges_from_scipy,
    number_columns,
    object_column,
)
from graphreach.graph.ids import check_number_of_nodes
from graphreach.graph.reading import Reading
from graphreach.io.numpy_files import DAMAGED, load_all_arrays
from graphreach.io.open_file import TextFile, open_text
from graphreach.io.text import Layout, TextTable, data_lines

NAMES = {"graphml": "GraphML", "gml": "GML", "gexf": "GEXF", "json": "node-link JSON"}

PARTS = dict.fromkeys(("csr", "csc", "bsr"), ("data", "indices", "indptr")) | {"dia": ("data", "offsets")}
"""The arrays that scipy makes a sparse matrix of, by its format."""

BANNER = "%%matrixmarket"
SYMMETRIES = ("general", "symmetric")
FIELDS = ("real", "integer", "unsigned-integer", "double", "pattern")


def read_networkx(path: Path, kind: str, weight: Any) -> tuple[Edges, bool | None]:
    """Read a GraphML, GML or GEXF file by networkx."""
    try:
        import networkx as nx
    except ImportError:
        raise InputError(f"reading {path} needs networkx: pip install 'graphreach[networkx]'") from None
    if kind != "gml":
        _check_xml(path, kind)
    try:
        graph = _read_gml(nx, path) if kind == "gml" else getattr(nx, f"read_{kind}")(path)
    except (ElementTree.ParseError, nx.NetworkXException, LookupError, *DAMAGED) as error:
        _refuse(path, kind, _reason(error))
    attribute = None if weight is False else "weight" if weight is None else str(weight)
    edges, directed = edges_from_networkx(graph, attribute)
    if weight not in (None, False) and edges.weights is None:
        raise InputError(f"weight={weight!r} is not an attribute of the edges of {path}")
    found = {name for _, _, data in graph.edges(data=True) for name in data} - {"id"}
    used: dict[str, str | int] = {} if edges.weights is None or attribute is None else {"weight": attribute}
    ignored = tuple(sorted(str(name) for name in found - set(used.values())))
    return edges._replace(reading=Reading(str(path), kind, used, ignored)), directed


def _refuse(path: Path, kind: str, reason: str) -> Any:
    raise InputError(f"{path} must be a {NAMES[kind]} file, as its suffix says, but: {reason}") from None


def _reason(error: BaseException) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)[:200]


def _read_gml(nx: Any, path: Path) -> Any:
    """Nodes are named by their labels, or by their numbers where one has no label of its own."""
    try:
        return nx.read_gml(path)
    except nx.NetworkXError as error:
        if "label" not in str(error):
            raise
        return nx.read_gml(path, label="id")


def _check_xml(path: Path, kind: str) -> None:
    """Refuse what networkx reads in another way than it is meant, or not at all."""
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, LookupError, ValueError, OSError, RecursionError) as error:
        _refuse(path, kind, _reason(error))
    tags = [(str(element.tag).rpartition("}")[2], element) for element in root.iter()]
    graphs = sum(tag == "graph" for tag, _ in tags)
    if graphs != 1 and tags[0][0] in ("graphml", "gexf"):
        raise InputError(f"{path} must hold one graph, got {graphs}")
    for number, element in enumerate((element for tag, element in tags if tag == "edge"), 1):
        missing = [end for end in ("source", "target") if not element.get(end, "").strip()]
        if missing:
            raise InputError(f"{path} must name source and target of every edge, got no {missing[0]} in edge {number}")
    nodes = [element for tag, element in tags if tag == "node"]
    if any(element.get("id") is None for element in nodes):
        raise InputError(f"{path} must have an id for every node, got one without")


def read_adjlist(path: Path, weight: Any) -> tuple[Edges, bool | None]:
    """Read a node and its neighbours from each line; lines that start with ``#`` are comments."""
    if weight not in (None, False):
        raise InputError(f"weight must be None or False for .adjlist, which has no weights, got {weight!r:.80}")
    file = open_text(path)
    try:
        lines = [line.decode() for _, _, line in data_lines(file.text, "#")]
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text in UTF-8") from None
    if not lines:
        raise InputError(f"{path} must hold edges, but it is empty or holds only comments")
    words = pl.Series(lines).str.strip_chars().str.replace_all(r"[\x00-\x20]+", " ").str.split(" ")
    nodes, sizes = words.list.first(), words.list.len().to_numpy().astype(np.int64) - 1
    targets = words.list.slice(1).list.explode(empty_as_null=False)
    sources = nodes.gather(np.repeat(np.arange(len(nodes)), sizes))
    columns = [sources, targets, nodes]
    if all(column.str.contains(r"^(0|-?[1-9]\d{0,17})$").all() for column in columns):
        columns = [column.cast(pl.Int64) for column in columns]
    edges = number_columns(columns[0], columns[1], None, columns[2])
    return edges._replace(reading=Reading(str(path), "adjlist")), False


def read_json(path: Path, weight: Any) -> tuple[Edges, bool | None]:
    """Read node-link data: ``nodes`` with an id each, and ``links`` or ``edges`` with source and target."""
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError, OSError) as error:
        _refuse(path, "json", _reason(error))
    if not isinstance(data, dict):
        _refuse(path, "json", "it is not an object with nodes and links")
    links = data.get("links", data.get("edges"))
    nodes = data.get("nodes", [])
    for name, value in (("nodes", nodes), ("links", links)):
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            _refuse(path, "json", f"its {name} are not a list of objects")
    ids = _json_ids(path, nodes)
    ends = [[_json_id(path, link.get(end), end, i) for i, link in enumerate(links)] for end in ("source", "target")]
    if nodes and all("id" not in node for node in nodes):
        ends = [[_by_position(path, end, ids) for end in column] for column in ends]
    elif nodes:
        known = set(ids)
        unknown = [end for column in ends for end in column if end not in known]
        if unknown:
            raise InputError(f"{path} must link its nodes, got the unknown {unknown[0]!r:.80}")
    weights, named = _json_weights(path, links, weight)
    edges = number_columns(object_column(ends[0]), object_column(ends[1]), weights, ids)
    attributes = sorted({str(key) for link in links for key in link} - {"source", "target", "key", named})
    used: dict[str, str | int] = {"source": "source", "target": "target"}
    if named is not None:
        used["weight"] = named
    directed = data.get("directed", False)
    if not isinstance(directed, bool):
        _refuse(path, "json", f"directed is {directed!r:.80} and not true or false")
    return edges._replace(reading=Reading(str(path), "json", used, tuple(attributes))), directed


def _json_ids(path: Path, nodes: list[Any]) -> list[Any]:
    if nodes and all("id" not in node for node in nodes):
        return [node.get("name", i) if isinstance(node.get("name", i), str) else i for i, node in enumerate(nodes)]
    return [_json_id(path, node.get("id"), "id", i) for i, node in enumerate(nodes)]


def _json_id(path: Path, value: Any, name: str, position: int) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(
            f"{path} must have a number or text as {name} in every node and link, got {value!r:.80} at {position}"
        )
    return value


def _by_position(path: Path, end: Any, ids: list[Any]) -> Any:
    if end in ids and isinstance(end, str):
        return end
    if not isinstance(end, int) or not 0 <= end < len(ids):
        raise InputError(f"{path} must link nodes by positions from 0 to {len(ids) - 1}, got {end!r:.80}")
    return ids[end]


def _json_weights(path: Path, links: list[Any], weight: Any) -> tuple[Any, str | None]:
    if weight is False:
        return None, None
    names = WEIGHTS if weight is None else (str(weight),)
    name = next((name for name in names if any(name in link for link in links)), None)
    if name is None:
        if weight is not None:
            raise InputError(f"weight={weight!r} is not an attribute of the links of {path}")
        return None, None
    values = [link.get(name) for link in links]
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
        raise InputError(f"{path} must have a number as {name!r} in every link; weight=False (--unweighted) ignores it")
    return check_weights(values, len(values), f"{name!r} of the links of {path}"), name


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
    rows, others, values = _dense_entries(columns[0], size) if size.dense else _coordinate_entries(columns, size, path)
    if values is not None and np.all(values == 1):
        values = None
    weights = None if weight is False or values is None else check_weights(values, len(values), f"the values of {path}")
    ids = np.arange(1, size.rows + 1)
    return Edges(rows, others, weights, ids), False if size.symmetric else None


def _refuse_mtx(file: TextFile, text: str) -> NoReturn:
    raise InputError(f"{file.what} must be a Matrix Market file, as its suffix says, but {text}")


def _read_size(file: TextFile) -> Size:
    words = file.text[:1024].tobytes().split(b"\n")[0].decode("latin-1").lower().split()
    if not words or words[0] != BANNER or len(words) != 5:
        _refuse_mtx(file, "its first line is not '%%MatrixMarket matrix coordinate|array FIELD SYMMETRY'")
    _, kind, layout, field, symmetry = words
    if kind != "matrix" or layout not in ("coordinate", "array") or (layout == "array" and field == "pattern"):
        _refuse_mtx(file, f"it holds a {layout} {kind} of {field}")
    if field not in FIELDS or symmetry not in SYMMETRIES:
        raise InputError(f"{file.what} must hold a real matrix, general or symmetric, got {field} {symmetry}")
    lines = list(islice(data_lines(file.text, "%"), 2))
    numbers = lines[0][2].split() if lines else []
    if len(numbers) != (2 if layout == "array" else 3) or not all(n.isdigit() and len(n) < 19 for n in numbers):
        _refuse_mtx(file, f"it has no line with its size{f' in line {lines[0][0] + 1}' if lines else ''}")
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


def _coordinate_entries(columns: list[NDArray[Any]], size: Size, path: Path) -> tuple[Any, Any, Any]:
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

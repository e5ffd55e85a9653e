"""Graphs from files, the format by the suffix."""

import gzip
import zlib
from collections.abc import Hashable, Iterable
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import formats
from graphreach.graph.build import Reduce
from graphreach.graph.convert import number_columns
from graphreach.graph.edges import Edges
from graphreach.graph.graph import Graph
from graphreach.graph.read_text import TextFile, TextOptions, read_text_edges, read_text_nodes
from graphreach.graph.reading import Reading

TEXT = (".csv", ".tsv", ".txt", ".edg", ".edgelist")
BINARY = (".parquet", ".npz", ".mtx", ".graphml")

MAGIC = {
    b"\x1f\x8b": "a gzip file",
    b"PAR1": "a Parquet file",
    b"PK\x03\x04": "a zip file",
    b"\x93NUMPY": "a numpy file",
}


def read_graph(
    path: str | PathLike[str],
    *,
    directed: bool | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | Literal[False] | None = None,
    nodes: str | PathLike[str] | Iterable[Hashable] | None = None,
    ids: Literal["auto", "int", "str"] = "auto",
    header: bool | None = None,
    comments: str = "#%",
    reduce: Reduce | None = None,
    self_loops: bool = False,
) -> Graph:
    """Read a graph from a file.

    - ``.csv .tsv .txt .edg .edgelist``, each also with ``.gz``: one edge a line. The separator is a tab,
      comma, semicolon or bar if one is in every line, else blanks. Lines that start with ``#`` or ``%`` are
      comments.
    - ``.parquet``: one edge a row.
    - ``.npz``: a matrix by ``scipy.sparse.save_npz``, or arrays ``edge_index`` and optionally
      ``edge_weight``, ``ids``, ``num_nodes`` and ``directed``.
    - ``.mtx``: Matrix Market; the ids are its row numbers, from 1 on.
    - ``.graphml``: GraphML, by networkx.

    Ids of text files are integers if all of both columns are plain integers, else strings; ``007`` is not a
    plain integer and stays as it is.

    Args:
        path: The file.
        directed: By default as the file says (``.npz``, ``.mtx``, ``.graphml``), else ``False``.
        source: The column of sources, by name or position; by default one with a usual name (source, from,
            src, u, id1, ...), else the first.
        target: The column of targets, likewise; by default one with a usual name (target, to, dst, v, id2,
            ...), else the second.
        weight: The column of weights (in ``.graphml`` the edge attribute); by default one named weight, w or
            value, or the third column of a text file with three columns, no header and numbers in the third.
            ``False`` ignores weights.
        nodes: Ids of nodes to keep even if they have no edge, or a text file with one id a line.
        ids: ``"int"`` to insist on integers in a text file, ``"str"`` to keep all ids as strings.
        header: Whether the first line of a text file is a header; by default it is one if it has the columns
            asked for, a usual pair of names, or text above a column of numbers.
        comments: The characters that make a line of a text file a comment if it starts with one.
        reduce: See :meth:`Graph.from_edges`.
        self_loops: See :meth:`Graph.from_edges`.

    Example:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = Path(folder.name, "roads.csv")
        >>> _ = path.write_text("from,to,capacity\\noslo,bergen,3\\nbergen,voss,2\\n")
        >>> read_graph(path, weight="capacity").ids
        array(['bergen', 'oslo', 'voss'], dtype='<U6')
        >>> folder.cleanup()
    """
    file = _check_path(path)
    if ids not in ("auto", "int", "str"):
        raise InputError(f"ids must be 'auto', 'int' or 'str', got {ids!r}")
    if len(comments) > 4 or not comments.isascii():
        raise InputError(f"comments must be at most four ASCII characters, got {comments!r}")
    if not (directed is None or isinstance(directed, bool)):
        raise InputError(f"directed must be True, False or None, got {directed!r}")
    suffix = _suffix(file)
    is_directed: bool | None = False
    options = TextOptions(source, target, weight, ids, header, comments)
    if suffix.removesuffix(".gz") in TEXT:
        edges = _edges_from_text(file, options, nodes)
    elif suffix == ".parquet":
        edges, is_directed = (
            formats.edges_from_parquet(file, source, target, weight, _named(nodes, options)),
            False,
        )
    else:
        reader = {".npz": formats.read_npz, ".mtx": formats.read_mtx, ".graphml": formats.read_graphml}[suffix]
        edges, is_directed = reader(file, weight)
        if nodes is not None:
            edges = _add_nodes(edges, _named(nodes, options))
        edges = edges._replace(reading=Reading(str(file), suffix.removeprefix(".")))
    return Graph._from_parts(edges, is_directed if directed is None else directed, reduce, self_loops)


def _check_path(path: Any) -> Path:
    if not isinstance(path, str | PathLike):
        raise InputError(f"path must be a file's name, got {path!r:.80}")
    file = Path(path)
    if file.is_dir():
        raise InputError(f"path must be a file, got the folder {file}")
    if not file.exists():
        folder = file.parent
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        close = get_close_matches(file.name, names, n=1)
        raise InputError(f"there is no file {file}" + (f"; did you mean {folder / close[0]}?" if close else ""))
    if file.stat().st_size == 0:
        raise InputError(f"{file} must hold edges, but it is empty")
    return file


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    suffix = "".join(suffixes[-2:]) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])
    if suffix in BINARY or suffix.removesuffix(".gz") in TEXT:
        return suffix
    known = " ".join(TEXT)
    raise InputError(f"path must end in {known} (or these with .gz) or {' '.join(BINARY)}, got {path.name}")


def open_text(path: Path) -> TextFile:
    """Return the bytes of a text file, unpacked if its name ends in ``.gz``.

    Example:
        >>> open_text(Path(__file__)).text[:3].tobytes()
        b'\"\"\"'
    """
    zipped = path.suffix.lower() == ".gz"
    try:
        text = _unzip(path) if zipped else np.memmap(path, np.uint8, mode="r")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    start = text[:4096].tobytes()
    for magic, kind in MAGIC.items():
        if start.startswith(magic):
            raise InputError(f"{path} must be text, as its suffix says, but it is {kind}")
    if b"\0" in start:
        raise InputError(f"{path} must be text, as its suffix says, but it holds binary data")
    return TextFile(text, None if zipped else str(path), str(path))


def _unzip(path: Path) -> NDArray[np.uint8]:
    try:
        with gzip.open(path) as file:
            return np.frombuffer(file.read(), np.uint8)
    except (EOFError, zlib.error):
        raise InputError(f"{path} is a damaged or truncated gzip file") from None
    except gzip.BadGzipFile:
        raise InputError(f"{path} must be a gzip file, as its suffix says, but it is not") from None


def _edges_from_text(path: Path, options: TextOptions, nodes: Any) -> Edges:
    import polars as pl

    source, target, weights, reading = read_text_edges(open_text(path), options)
    named = _named(nodes, options)
    if isinstance(named, pl.Series) and named.dtype != source.dtype:
        source, target, named = (column.cast(pl.String) for column in (source, target, named))
    return number_columns(source, target, weights, named)._replace(reading=reading)


def _named(nodes: Any, options: TextOptions) -> Any:
    if nodes is None:
        return ()
    if not isinstance(nodes, str | PathLike):
        return nodes
    path = _check_path(nodes)
    if path.name.lower().removesuffix(".gz").endswith(TEXT):
        return read_text_nodes(open_text(path), options)
    raise InputError(f"nodes must be a text file ({' '.join(TEXT)}) or a list of ids, got {path.name}")


def _add_nodes(edges: Edges, nodes: Any) -> Edges:
    """Add named nodes to edges that are numbered already."""
    merged = number_columns(edges.ids, edges.ids[:0], None, nodes)
    return Edges(merged.source[edges.source], merged.source[edges.target], edges.weights, merged.ids)

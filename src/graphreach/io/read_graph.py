"""Graphs from files, the format by the suffix."""

import tempfile
from collections.abc import Hashable, Iterable
from dataclasses import replace
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

from graphreach.errors import InputError
from graphreach.graph.build import Edges, Reduce
from graphreach.graph.columns import Asked
from graphreach.graph.convert import number_columns
from graphreach.graph.graph import Graph, build_graph
from graphreach.graph.reading import Reading
from graphreach.io.open_file import (
    STDIN,
    TEXT,
    TextFile,
    check_path,
    check_text,
    find_format,
    guess_format,
    open_text,
    read_stream,
)

TEXT_FORMATS = ("text", "edgelist", "matrix")


class Request(NamedTuple):
    """What the caller of :func:`read_graph` says about a table of edges."""

    asked: Asked = Asked()
    ids: str = "auto"
    header: bool | None = None
    comments: str | None = None
    bipartite: bool | None = None


def read_graph(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    directed: bool | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | Literal[False] | None = None,
    time: str | int | Literal[False] | None = None,
    bipartite: bool | None = None,
    nodes: str | PathLike[str] | Iterable[Hashable] | None = None,
    ids: Literal["auto", "int", "str"] = "auto",
    header: bool | None = None,
    comments: str | None = None,
    reduce: Reduce | None = None,
    self_loops: bool = False,
) -> Graph:
    """Read a graph from a file.

    - ``.csv .tsv .txt .edg .edgelist .edges .ungraph`` and similar, each also with ``.gz``: one edge per line. The
      separator is a tab, comma, semicolon or bar if one is in every line, else blanks. Lines that start with ``#`` or
      ``%`` are comments, unless they look like rows of ids that begin with these signs. A square table of numbers is
      read as an adjacency matrix.
    - ``.parquet``: one edge per row.
    - ``.npz``: a matrix by ``scipy.sparse.save_npz``, or arrays ``edge_index`` and optionally
      ``edge_weight``, ``ids``, ``num_nodes`` and ``directed``.
    - ``.mtx``: Matrix Market; the ids are its row numbers, from 1 on.
    - ``.graphml .gml .gexf``: by networkx.
    - ``.adjlist``: a node and its neighbours in each line. ``.json``: node-link data, as networkx and d3 write it.

    A file without suffix, and standard input (``"-"``), are read as their first bytes show. How a file was read is in
    :attr:`Graph.reading`: which columns were used and which ignored, and what was assumed.

    Ids of text files are integers if all of both columns are plain integers, else strings; ``007`` is not a
    plain integer and stays as it is.

    Args:
        path: The file, or ``"-"`` for standard input.
        format: The format, if the suffix does not say it: ``"text"``, ``"edgelist"`` (text that is no matrix),
            ``"matrix"`` (text that is one), ``"parquet"``, ``"npz"``, ``"mtx"``, ``"graphml"``, ``"gml"``, ``"gexf"``,
            ``"adjlist"`` or ``"json"``.
        directed: By default as the file says (matrices, ``.npz``, ``.graphml`` and similar), else ``False``.
        source: The column of sources, by name or position; by default one with a usual name (source, from,
            src, u, id1, ...), else the first that is no index and does not look like weights or times.
        target: The column of targets, likewise; by default one with a usual name (target, to, dst, v, id2,
            ...), else the second.
        weight: The column of weights (in ``.graphml`` and similar formats the edge attribute); by default one named
            weight, w or value, or the one column of numbers that is left in a text file without header.
            ``False`` ignores weights.
        time: The column of times; by default one with a usual name (time, timestamp, date, ...), with dates, or with
            numbers where seconds or milliseconds since 1970 lie. It becomes :attr:`Graph.time` and is never a weight.
            ``False`` ignores times.
        bipartite: Whether sources and targets are two kinds of nodes, so that user 3 and item 3 are not one node.
            Their ids are then text: ``user_id:3`` and ``item_id:3`` after the columns, or ``source:3`` and
            ``target:3`` without header. By default that is so if the columns are named like users and items and ids
            are integers or occur in both columns.
        nodes: Ids of nodes to keep even if they have no edge, or a text file with one id per line.
        ids: ``"int"`` to insist on integers in a text file, ``"str"`` to keep all ids as strings.
        header: Whether the first line of a text file is a header. By default it is one if it has the columns
            asked for, a usual pair of names, or text above a column of numbers. It also is one if its words occur
            nowhere below while the ids below recur or look different.
        comments: The characters that make a line of a text file a comment if it starts with one; by default
            ``#`` and ``%`` unless lines look like rows of ids that begin with these signs, as ``#love,#peace``.
        reduce: See :meth:`Graph.from_edges`.
        self_loops: See :meth:`Graph.from_edges`.

    Example:
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = Path(folder.name, "roads.csv")
        >>> _ = path.write_text("from,to,capacity\\noslo,bergen,3\\nbergen,voss,2\\n")
        >>> graph = read_graph(path, weight="capacity")
        >>> graph.ids
        array(['bergen', 'oslo', 'voss'], dtype='<U6')
        >>> print(graph.reading)
        read roads.csv as text with a header: source 'from', target 'to', weight 'capacity'
        >>> folder.cleanup()
    """
    request = Request(Asked(source, target, weight, time), ids, header, comments, bipartite)
    _check_arguments(request, directed)
    file = Path(STDIN) if isinstance(path, str | PathLike) and str(path) == STDIN else check_path(path)
    read = _read_stream if str(file) == STDIN or file.is_fifo() else _read_file
    edges, is_directed = read(file, format, request, nodes)
    return build_graph(edges, is_directed if directed is None else directed, reduce, self_loops)


def _check_arguments(request: Request, directed: Any) -> None:
    asked, ids, header, comments, bipartite = request
    if not isinstance(ids, str) or ids not in ("auto", "int", "str"):
        raise InputError(f"ids must be 'auto', 'int' or 'str', got {ids!r:.80}")
    if comments is not None and (not isinstance(comments, str) or len(comments) > 4 or not comments.isascii()):
        raise InputError(f"comments must be at most four ASCII characters, got {comments!r:.80}")
    for argument, value in (("directed", directed), ("header", header), ("bipartite", bipartite)):
        if not (value is None or isinstance(value, bool)):
            raise InputError(f"{argument} must be True, False or None, got {value!r:.80}")
    for argument, value in asked._asdict().items():
        if not (value is None or isinstance(value, str | Integral)):
            raise InputError(f"{argument} must be a column's name or number, got {value!r:.80}")


def _read_stream(path: Path, format: Any, request: Request, nodes: Any) -> tuple[Edges, bool | None]:
    """Read what can be read only once: a pipe or standard input."""
    text = read_stream(None if str(path) == STDIN else path)
    kind = guess_format(text.text[:4096].tobytes()) if format is None else find_format(path, format)
    if kind in TEXT_FORMATS:
        edges, directed = _from_text(check_text(text), kind, request, nodes)
    else:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, f"standard input.{kind}")
            file.write_bytes(text.text.tobytes())
            edges, directed = _read_file(file, kind, request, nodes)
    assert edges.reading is not None
    return edges._replace(reading=replace(edges.reading, path=str(path))), directed


def _read_file(file: Path, format: Any, request: Request, nodes: Any) -> tuple[Edges, bool | None]:
    kind, asked = find_format(file, format), request.asked
    if kind in TEXT_FORMATS:
        return _from_text(open_text(file), kind, request, nodes)
    from graphreach.io import edge_lists, network_files

    if kind == "parquet":
        return edge_lists.edges_from_parquet(file, request, _named(nodes, request)), False
    _refuse_bipartite(request, f".{kind}")
    for argument, name in asked._asdict().items():
        if argument != "weight" and name not in (None, False):
            raise InputError(f"{argument} must be None for .{kind}, which has no columns, got {name!r:.80}")
    if asked.weight is True:
        raise InputError("weight must be the name of a column, None or False, got True")
    if kind in ("graphml", "gml", "gexf"):
        edges, directed = network_files.read_networkx(file, kind, asked.weight)
    else:
        edges, directed = getattr(network_files, f"read_{kind}")(file, asked.weight)
    if edges.reading is None:
        edges = edges._replace(reading=Reading(str(file), kind))
    return _add_nodes(edges, nodes, request), directed


def _from_text(file: TextFile, kind: str, request: Request, nodes: Any) -> tuple[Edges, bool | None]:
    from graphreach.io.edge_lists import read_text

    edges, directed = read_text(file, kind, request, _named(nodes, request))
    if edges.reading is not None and edges.reading.format == "matrix":
        _refuse_bipartite(request, "a matrix")
        return _add_nodes(edges, nodes, request), directed
    return edges, directed


def _refuse_bipartite(request: Request, what: str) -> None:
    if request.bipartite:
        raise InputError(
            f"bipartite must not be given for {what}, which has one kind of nodes; it is for columns of ids"
        )


def _named(nodes: Any, request: Request) -> Any:
    """The ids of nodes to keep, from a file if one is named."""
    if nodes is None:
        return ()
    if not isinstance(nodes, str | PathLike):
        return nodes
    from graphreach.io.edge_lists import read_nodes_to_keep

    path = check_path(nodes, "nodes")
    if path.name.lower().removesuffix(".gz").endswith(TEXT):
        return read_nodes_to_keep(open_text(path), request)
    raise InputError(f"nodes must be a text file ({' '.join(TEXT)}) or a list of ids, got {path.name}")


def _add_nodes(edges: Edges, nodes: Any, request: Request) -> Edges:
    """Add named nodes to edges that are numbered already."""
    if nodes is None:
        return edges
    merged = number_columns(edges.ids, edges.ids[:0], None, _named(nodes, request))
    return edges._replace(source=merged.source[edges.source], target=merged.source[edges.target], ids=merged.ids)

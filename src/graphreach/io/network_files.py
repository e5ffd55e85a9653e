"""Files of whole networks: GraphML, GML and GEXF by networkx, adjacency lists and node-link JSON."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars as pl

from graphreach.errors import InputError
from graphreach.graph.build import Edges, check_weights
from graphreach.graph.columns import WEIGHTS
from graphreach.graph.convert import edges_from_networkx, number_columns, object_column
from graphreach.graph.reading import Reading
from graphreach.io.open_file import open_text
from graphreach.io.text import data_lines

NAMES = {"graphml": "GraphML", "gml": "GML", "gexf": "GEXF", "json": "node-link JSON"}


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
    except (
        ElementTree.ParseError,
        nx.NetworkXException,
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        OSError,
        RecursionError,
        MemoryError,
    ) as error:
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

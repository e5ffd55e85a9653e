"""Which nodes and edges of a graph are drawn, and numbers and text in a form that a page can hold."""

import base64
import json
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.graph import Graph
from graphreach.tasks.pair_keys import decode, encode, unique

MAX_NODES, MAX_EDGES = 10_000, 60_000
"""Nodes up to which a graph is drawn whole, and edges that are drawn at most."""

SAMPLE = 8000
"""Nodes that are drawn of a larger graph."""

HUBS = 1 / 8
"""Share of these that are the nodes with most neighbours."""


def shown_nodes(
    graph: Graph, wanted: NDArray[np.int64], limit: int | None = None, sample: int | None = None, seed: int = 0
) -> NDArray[np.int64]:
    """Sorted positions of all nodes, or of ``sample`` of them if there are more than ``limit``.

    A sample holds the wanted nodes, those with most neighbours, and the ends of edges drawn at random: nodes drawn one by
    one would hardly have an edge between them, and dense parts keep their share.
    """
    limit, sample = MAX_NODES if limit is None else limit, SAMPLE if sample is None else sample
    n = graph.num_nodes
    if n <= limit:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    count = np.diff(graph.indptr.astype(np.int64))
    hubs = np.argsort(-count, kind="stable")[: int(HUBS * sample)]
    some = rng.permutation(len(graph.indices))[: 4 * sample]
    ends = np.stack([np.searchsorted(graph.indptr, some, side="right") - 1, graph.indices[some]]).T.ravel()
    order = np.concatenate([wanted, hubs, ends, rng.permutation(n)[:sample]]).astype(np.int64)
    order = order[np.sort(np.unique(order, return_index=True)[1])]
    needed = np.unique(wanted)
    return np.sort(order[: max(sample, len(needed))])


def shown_edges(
    graph: Graph, nodes: NDArray[np.int64], limit: int | None = None, seed: int = 0
) -> tuple[NDArray[np.int64], int]:
    """Edges ``[2, m]`` between shown nodes, as places among them, each once; and how many there are."""
    limit = MAX_EDGES if limit is None else limit
    place = np.full(graph.num_nodes, -1, np.int64)
    place[nodes] = np.arange(len(nodes))
    ends = place[graph.edge_index]
    ends = decode(unique(encode(ends[:, (ends.min(0) >= 0) & (ends[0] != ends[1])])))
    total = ends.shape[1]
    if total > limit:
        ends = ends[:, np.sort(np.random.default_rng(seed).choice(total, limit, replace=False))]
    return ends, total


DECADES = 5
"""Powers of ten that quantised reachability spans below its greatest value."""

ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""What could end a script element, or a line of one."""


def pack(array: NDArray[Any]) -> dict[str, str]:
    """An array of integers as base64, with the type that JavaScript reads it by."""
    kinds = {"u": "Uint", "i": "Int"}
    flat = np.ascontiguousarray(array.ravel(), array.dtype.newbyteorder("<"))
    name = f"{kinds[array.dtype.kind]}{8 * array.dtype.itemsize}"
    return {"type": name, "data": base64.b64encode(flat.tobytes()).decode()}


def squeeze(array: NDArray[np.uint8]) -> str:
    """Bytes, compressed, as base64."""
    return base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()


def smallest(values: NDArray[np.int64]) -> NDArray[Any]:
    """Numbers of at least 0 in the smallest unsigned type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def on_square(points: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Points ``[n, 2]`` scaled alike in both directions to whole numbers from 0 to 65535, in the middle of the square."""
    low, high = points.min(0), points.max(0)
    scale = 65535 / max(float((high - low).max()), 1e-12)
    placed: NDArray[np.float64] = 32767.5 + (points - (low + high) / 2) * scale
    return np.clip(np.rint(placed), 0, 65535).astype(np.uint16)


def quantise(shares: NDArray[np.floating], greatest: float) -> NDArray[np.uint8]:
    """Shares as bytes on a logarithmic scale: 0 is none, 255 the greatest, 1 whatever is :data:`DECADES` below."""
    if greatest <= 0:
        return np.zeros(shares.shape, np.uint8)
    depth = np.log10(np.maximum(shares, greatest * 10.0**-DECADES) / greatest) / DECADES
    levels: NDArray[np.float64] = np.where(shares > 0, 1 + np.rint(254 * (1 + depth)), 0)
    return levels.astype(np.uint8)


def script_json(content: Any) -> str:
    """JSON that is safe inside a script element, whatever texts of users are in it."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    for character, escape in ESCAPES.items():
        text = text.replace(character, escape)
    return text

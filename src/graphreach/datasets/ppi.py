"""PPI: protein-protein interaction in 24 tissues (GraphSAGE's ppi.zip)."""

import hashlib
import io
import json
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.datasets.store import ContentError, DataFile, Store, Zipped, snap
from graphreach.graph import Graph
from graphreach.progress import stage
from graphreach.tasks.dataset import Dataset, Sample, large_components, split_graph

LINKS, FEATURES, ROWS = "ppi/ppi-G.json", "ppi/ppi-feats.npy", "ppi/ppi-id_map.json"
SHA256 = {
    FEATURES: "953149689098eed72c0154fb40a8fff4e634d34c5ad139c7ae9d601db1cad3d3",
    ROWS: "5b9f264c242f3078a347f037839105e069739f404fe603c82ca19e2b8e45c04e",
}
NUM_NODES, NUM_LINKS, NUM_LOOPS = 56_944, 818_716, 25_084
LINKS_SHA256 = "229f697374318011e0da2667f1e53413f485e419420aa22bc125470c148e3e3b"
"""Checksum of the links as sorted pairs; their order in the file differs from copy to copy."""

MORE_THAN = 10
"""Components of at most this many nodes are left out."""


class Tables(NamedTuple):
    """What the archive holds: links ``[2, m]``, each once and self-loops included, and one row of attributes per node."""

    links: NDArray[np.int64]
    attributes: NDArray[np.float64]


def open_ppi(data: bytes) -> Tables:
    """Check the archive and read it; see :class:`~graphreach.datasets.store.DataFile`."""
    entries = Zipped(SHA256, unknown=(LINKS,))(data)
    links = read_links(entries[LINKS])
    found = len(links[0]), int(np.count_nonzero(links[0] == links[1]))
    if found != (NUM_LINKS, NUM_LOOPS):
        raise ContentError(
            f"{LINKS} has {found[0]:,} links and {found[1]:,} self-loops, expected {NUM_LINKS:,} and {NUM_LOOPS:,}"
        )
    if hash_links(links) != LINKS_SHA256:
        raise ContentError(f"{LINKS} has other links than expected")
    rows = json.loads(entries[ROWS])
    order = np.fromiter((rows[str(node)] for node in range(NUM_NODES)), np.int64, NUM_NODES)
    return Tables(links, np.load(io.BytesIO(entries[FEATURES]), allow_pickle=False)[order])


def read_links(text: bytes) -> NDArray[np.int64]:
    """The links of a node-link JSON file whose nodes are ``0, 1, ...`` in this order."""
    try:
        parsed = json.loads(text)
        nodes = np.fromiter(map(itemgetter("id"), parsed["nodes"]), np.int64)
        ends = [np.fromiter(map(itemgetter(end), parsed["links"]), np.int64) for end in ("source", "target")]
    except (ValueError, TypeError, LookupError):
        raise ContentError(f"{LINKS} is not node-link JSON") from None
    if not np.array_equal(nodes, np.arange(NUM_NODES)):
        raise ContentError(f"{LINKS} has {len(nodes):,} nodes or not in order, expected 0 to {NUM_NODES - 1:,}")
    return np.stack(ends)


def hash_links(links: NDArray[np.int64]) -> str:
    """The sha256 of the pairs (smaller end, larger end), sorted, as little-endian 64-bit integers."""
    pairs = np.sort(links, axis=0)
    ordered = pairs[:, np.lexsort(pairs[::-1])]
    return hashlib.sha256(np.ascontiguousarray(ordered.T, "<i8").data).hexdigest()


ARCHIVE = DataFile("ppi/ppi.zip", open_ppi, snap("graphsage/ppi.zip"))
FILES = (ARCHIVE,)


def ppi(store: Store) -> Dataset:
    """PPI: 24 graphs with 50 attributes per node and no classes; ids are those of the file.

    Self-loops are dropped and components of at most ten nodes left out. Of the attributes, column 0 becomes
    :math:`\\log(x + 1)`, column 1 :math:`\\log(x - \\min(\\min x, -1))` (the minimum over all nodes of the file), and 0.1
    is added to all, as in P-GNN's recipe.
    """
    with stage("reading ppi"):
        tables = store.open(ARCHIVE)
        graph = Graph.from_edges(tables.links, NUM_NODES)
        x = scale(tables.attributes)
        parts = split_graph(graph, large_components(graph, MORE_THAN))
        return Dataset("ppi", tuple(Sample(component, x[nodes]) for nodes, component in parts))


def scale(attributes: NDArray[np.float64]) -> NDArray[np.float32]:
    """The attributes as the model sees them; see :func:`ppi`."""
    x = attributes.copy()
    x[:, 0] = np.log(x[:, 0] + 1)
    x[:, 1] = np.log(x[:, 1] - min(x[:, 1].min(), -1))
    return np.asarray(x + 0.1, np.float32)

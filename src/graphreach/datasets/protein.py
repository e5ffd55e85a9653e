"""Protein: graphs of secondary structure elements (TUDataset's PROTEINS_full)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.datasets.store import DataFile, Source, Store, Zipped, as_zip, github
from graphreach.graph import Graph
from graphreach.tasks.dataset import Dataset, Sample, split_graph

SHA256 = {
    "PROTEINS_full/PROTEINS_full_A.txt": "4c4b33e272fc95cac6d27ed6d5d12b9a852c8610e91fff59f8f0dbdd5a20df67",
    "PROTEINS_full/PROTEINS_full_graph_indicator.txt": "8d4ff1e852a5c28561e9bffb44cf9490bc552b13a3b6156dd12dc7f44e9afc4a",
    "PROTEINS_full/PROTEINS_full_node_attributes.txt": "79f9898318a21ce9592b8b7e43cf799745098c464838c54cecade3420108f06f",
    "PROTEINS_full/PROTEINS_full_node_labels.txt": "f758e8ad3d6e3c026b50833d75f6f90735b94eb3345e4243707f495ca8afea8d",
}
ARCHIVE = DataFile(
    "protein/PROTEINS_full.zip",
    Zipped(SHA256),
    (
        Source(("https://www.chrsmrrs.com/graphkerneldatasets/PROTEINS_full.zip",)),
        Source(tuple(github("JiaxuanYou/P-GNN", f"data/{name}") for name in SHA256), as_zip(*SHA256)),
    ),
)
FILES = (ARCHIVE,)

MIN_NODES, MAX_NODES = 20, 1000


class Tables(NamedTuple):
    """What the text files hold: edges ``[2, m]`` in both directions from 0 on, and one row per node."""

    edges: NDArray[np.int64]
    graph: NDArray[np.int64]
    attributes: NDArray[np.float64]
    label: NDArray[np.int64]


def read_protein(store: Store) -> Tables:
    """The text files as arrays."""
    entries = store.open(ARCHIVE)
    edges, graph, attributes, label = (_numbers(entries[name]) for name in SHA256)
    ends = edges.reshape(-1, 2).T.astype(np.int64) - 1
    return Tables(ends, graph.astype(np.int64) - 1, attributes.reshape(len(graph), -1), label.astype(np.int64))


def _numbers(text: bytes) -> NDArray[np.float64]:
    return np.fromstring(text.decode("ascii").replace(",", " "), sep=" ")


def protein(store: Store) -> Dataset:
    """Protein: 364 of the 1,113 graphs; ids are the nodes' lines in the files, from 1 on.

    Nodes without an edge are left out, then graphs of fewer than 20 or more than 1,000 nodes, then graphs whose pairs of
    nodes of one label are more than a quarter of the number of nodes squared. The 29 attributes are standardised **by
    row**, as in P-GNN's recipe: each node's own attributes have mean 0 and standard deviation 1.
    """
    tables = read_protein(store)
    ids = np.arange(1, len(tables.label) + 1)
    graph = Graph.from_edges(tables.edges, len(ids), ids=ids)
    part = np.where(graph.degree > 0, tables.graph, -1)
    x = standardise(tables.attributes)
    samples = [
        Sample(protein_graph, x[nodes], tables.label[nodes])
        for nodes, protein_graph in split_graph(graph, part)
        if MIN_NODES <= len(nodes) <= MAX_NODES and same_label_pairs(tables.label[nodes]) <= len(nodes) ** 2 / 4
    ]
    return Dataset("protein", tuple(samples), np.unique(tables.label))


def same_label_pairs(label: NDArray[np.int64]) -> int:
    """How many unordered pairs of different nodes have one label."""
    sizes = np.bincount(label)
    return int((sizes * (sizes - 1) // 2).sum())


def standardise(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    """Each row with mean 0 and standard deviation 1."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    return np.asarray(centred / rows.std(axis=1, keepdims=True), np.float32)

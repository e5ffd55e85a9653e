"""Graphs with labels for judging embeddings, and graphs that grow by nodes which the embedding has not seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

import graphreach as gr
from benchmarks.links import RAW_FILES, data_folder, read_raw
from benchmarks.published import figures
from graphreach.tasks.pair_keys import encode

PLANTED = "planted"
"""The generated graph of quick runs."""

CLASSES = ("facebook", "cora", "citeseer", "email-complete")
MULTI_LABEL = {data: figure / 100 for data, figure in figures("multi-label", "ProNE").items()}
"""Micro F1 of ProNE with 90% of the labels, as published."""

LINKS = tuple(RAW_FILES)
UNSEEN = ("facebook", "ca-AstroPh.txt.gz")
NEW = 0.1
"""Share of the nodes that are kept out at first."""

KNOWN = 0.5
"""Share of their links that come with them."""


class Labelled(NamedTuple):
    """A graph, and of its nodes the classes ``[n]``, a matrix of labels ``[n, labels]``, or nothing."""

    graph: gr.Graph
    labels: NDArray[Any] | None


def planted(nodes: int = 500) -> tuple[gr.Graph, NDArray[np.bool_]]:
    """A graph by two partitions at once, into 4 and 3 groups, and the two labels of each node, ``[n, 7]``."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, nodes), rng.integers(0, 3, nodes)
    together = 1.0 * (first[:, None] == first) + 0.5 * (second[:, None] == second)
    source, target = np.nonzero(np.triu(rng.random((nodes, nodes)) < 0.004 + 0.05 * together, 1))
    labels = np.concatenate([np.eye(4, dtype=np.bool_)[first], np.eye(3, dtype=np.bool_)[second]], axis=1)
    return gr.Graph.from_edges(np.stack([source, target]), nodes), labels


def load(data: str) -> Labelled:
    """A graph by its name, with classes where nodes have them."""
    if data == PLANTED:
        graph, labels = planted()
        return Labelled(graph, labels[:, :4].argmax(axis=1))
    if data in RAW_FILES:
        return Labelled(read_raw(data), None)
    if data == "facebook":
        graph = read_raw("facebook_edges.csv.gz")
        table = pl.read_csv(data_folder("graphs") / "facebook_target.csv.gz")
        classes = np.empty(graph.num_nodes, np.int64)
        classes[graph.index_of(table["id"].to_numpy())] = table["target"].to_numpy()
        return Labelled(graph, classes)
    sample = gr.datasets.load(data)[0]
    return Labelled(sample.graph, sample.y)


def load_multi_label(data: str) -> Labelled:
    """A graph whose nodes have any number of labels, without weights and directions."""
    if data == PLANTED:
        return Labelled(*planted())
    folder = data_folder("multi-label")
    edges = pl.read_csv(folder / f"{data}.edges.csv.gz").to_numpy().T
    table = pl.read_csv(folder / f"{data}.labels.csv.gz").to_numpy()
    graph = gr.Graph.from_edges(edges, 1 + max(int(edges.max()), int(table[:, 0].max())))
    labels = np.zeros((graph.num_nodes, int(table[:, 1].max()) + 1), np.bool_)
    labels[table[:, 0], table[:, 1]] = True
    return Labelled(graph, labels)


class Grown(NamedTuple):
    """A graph before and after new nodes came, the links of those that are asked for, and as many pairs that are not
    linked; nodes are numbered anew, new ones last.

    Attributes:
        before: The graph of the nodes that were there.
        after: The graph with the new ones, whose first positions are those of `before`.
        links: The links of new nodes that are not in `after`, ``[2, m]``, a new node first.
        others: Pairs of a new node and any node, ``[2, m]``.
        classes: Of the nodes of `after`, or None.
    """

    before: gr.Graph
    after: gr.Graph
    links: NDArray[np.int64]
    others: NDArray[np.int64]
    classes: NDArray[Any] | None


def grow(data: Labelled, seed: int) -> Grown:
    """Keep a share of the nodes out of a graph, and let them come back with some of their links."""
    rng = np.random.default_rng([seed, 128])
    graph, n = data.graph, data.graph.num_nodes
    order = rng.permutation(n)
    old = n - round(NEW * n)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    edges = place[graph.edge_index]
    edges = np.sort(edges[:, edges[0] < edges[1]], axis=0)[::-1]  # of the ends of a link, the later node is first
    new = edges[0] >= old
    own = edges[:, new][:, rng.permutation(np.count_nonzero(new))]
    known, asked = np.split(own, [round(KNOWN * own.shape[1])], axis=1)
    return Grown(
        gr.Graph.from_edges(edges[:, ~new], old),
        gr.Graph.from_edges(np.concatenate([edges[:, ~new], known], axis=1), n),
        asked, _unlinked(rng, edges, old, n, asked.shape[1]), None if data.labels is None else data.labels[order],
    )  # fmt: skip


def _unlinked(rng: np.random.Generator, edges: NDArray[np.int64], old: int, nodes: int, size: int) -> NDArray[np.int64]:
    """Pairs of a new node and any node that is not linked with it; a pair may come twice."""
    taken, parts = encode(edges), []
    while sum(part.shape[1] for part in parts) < size:
        drawn = np.stack([rng.integers(old, nodes, size), rng.integers(0, nodes, size)])
        parts.append(drawn[:, (drawn[0] != drawn[1]) & ~np.isin(encode(drawn), taken)])
    return np.concatenate(parts, axis=1)[:, :size]

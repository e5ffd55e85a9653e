"""The paper's Table 2, and what it counts where its counts are not ours."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphreach.datasets.email_core import email, email_complete, read_email
from graphreach.datasets.generated import communities
from graphreach.datasets.planetoid import FILES, citations, read_pickle
from graphreach.datasets.ppi import ARCHIVE
from graphreach.datasets.protein import protein, read_protein
from graphreach.datasets.registry import find
from graphreach.datasets.store import Store
from graphreach.graph import Graph
from graphreach.tasks.dataset import Dataset, Sample, split_graph
from graphreach.walks import diameter


class Row(NamedTuple):
    """A line of Table 2 as printed; ``-`` where it has nothing."""

    nodes: str
    edges: str
    classes: str
    diameter: str
    attributes: str


TABLE_2 = {
    "grid": Row("400", "760", "-", "38", "-"),
    "communities": Row("400", "3.8K", "20", "9", "-"),
    "ppi": Row("56.6K", "818K", "-", "8", "50"),
    "email-complete": Row("986", "16.6K", "42", "7", "-"),
    "email": Row("920", "7.8K", "6", "7", "-"),
    "protein": Row("43.4K", "81K", "3", "64", "29"),
    "cora": Row("2.7K", "5.4K", "7", "19", "1433"),
    "citeseer": Row("3.3K", "4.7K", "6", "28", "3703"),
}


@dataclass(frozen=True)
class Difference:
    """Why a count of Table 2 is not ours.

    Attributes:
        columns: The columns of :class:`Row` it is about.
        counted: What the paper seems to have counted, in the same order.
        why: One or two sentences.
    """

    columns: tuple[str, ...]
    counted: tuple[int, ...]
    why: str


def in_thousands(count: int) -> str:
    """A count as Table 2 prints it: cut, not rounded.

    Example:
        >>> in_thousands(760), in_thousands(16_687), in_thousands(81_044), in_thousands(818_716)
        ('760', '16.6K', '81K', '818K')
    """
    if count < 1_000:
        return str(count)
    if count >= 100_000:
        return f"{count // 1_000}K"
    return f"{count // 100 / 10:g}K"


def count(dataset: Dataset) -> dict[str, int]:
    """The columns of Table 2 of a loaded data set.

    Example:
        >>> from graphreach.datasets import load
        >>> count(load("grid"))
        {'nodes': 400, 'edges': 760, 'classes': 0, 'diameter': 38, 'attributes': 0}
    """
    return {
        "nodes": dataset.num_nodes,
        "edges": dataset.num_edges,
        "classes": dataset.num_classes,
        "diameter": diameter(_side_by_side(dataset)).lower,
        "attributes": dataset.num_features,
    }


def _side_by_side(dataset: Dataset) -> Graph:
    """All graphs as one: a single search for the diameter is quicker than hundreds."""
    offset, parts = 0, []
    for sample in dataset:
        parts.append(sample.graph.edge_index + offset)
        offset += sample.graph.num_nodes
    return Graph.from_edges(np.concatenate(parts, axis=1), offset)


def agrees(ours: int, printed: str) -> bool:
    """Whether a count is what Table 2 prints.

    Example:
        >>> agrees(986, "986"), agrees(0, "-"), agrees(5_278, "5.4K")
        (True, True, False)
    """
    return printed in (in_thousands(ours), str(ours)) or (ours == 0 and printed == "-")


def differences(name: str, root: str | None = None) -> list[Difference]:
    """Why Table 2 differs from what is loaded, with counts taken from the files.

    Example:
        >>> differences("grid")
        []
    """
    explain = _REASONS.get(name)
    return explain(find(name).store(root)) if explain else []


def _communities(store: Store) -> list[Difference]:
    hops = [diameter(communities(seed)[0].graph).lower for seed in range(10)]
    paper = int(TABLE_2["communities"].diameter)
    why = f"The rewiring is random: seeds 0 to 9 give between {min(hops)} and {max(hops)}."
    return [Difference(("diameter",), (paper if paper in hops else hops[0],), why)]


def _email_complete(store: Store) -> list[Difference]:
    dataset = email_complete(store)
    loops = _self_loops(read_email(store)[0], dataset)
    total = dataset.num_edges + loops
    why = f"With the {loops} self-loops of people who mailed themselves there are {total:,} edges; we drop self-loops."
    return [Difference(("edges",), (total,), why)]


def _email(store: Store) -> list[Difference]:
    dataset = email(store)
    edges, department = read_email(store)
    loops = _self_loops(edges, dataset)
    total = dataset.num_edges + loops
    most = max(len(np.unique(sample.y)) for sample in dataset if sample.y is not None)
    absent = sorted(set(department.tolist()) - set(np.asarray(dataset.classes).tolist()))
    return [
        Difference(("edges",), (total,), f"With {loops} self-loops there are {total:,} edges; we drop self-loops."),
        Difference(
            ("classes",),
            (most,),
            f"A graph has at most {most} departments, all seven together have {dataset.num_classes}; department "
            f"{', '.join(map(str, absent))} is in no component of more than ten nodes.",
        ),
    ]


def _protein(store: Store) -> list[Difference]:
    tables = read_protein(store)
    raw = Graph.from_edges(tables.edges, len(tables.label))
    whole = Dataset("raw", tuple(Sample(graph) for _, graph in split_graph(raw, tables.graph)))
    counts = count(whole)
    used = protein(store)
    why = (
        f"Table 2 counts the raw data: {len(whole):,} graphs with {counts['nodes']:,} nodes, {counts['edges']:,} edges and "
        f"a diameter of {counts['diameter']}. The recipe keeps the {len(used)} graphs that have 20 to 1,000 nodes and not "
        "too many pairs of one label, and leaves out nodes without edges."
    )
    return [Difference(("nodes", "edges", "diameter"), (counts["nodes"], counts["edges"], counts["diameter"]), why)]


def _ppi(store: Store) -> list[Difference]:
    links = store.open(ARCHIVE).links
    loops = int(np.count_nonzero(links[0] == links[1]))
    total = links.shape[1]
    rest = total - loops - find("ppi").num_edges
    why = f"The file has {total:,} links; {loops:,} are self-loops and {rest} in components of at most ten nodes."
    return [Difference(("edges",), (total,), why)]


def _citations(store: Store) -> list[Difference]:
    source, target = citations(read_pickle(store.open(FILES[store.name]["graph"])))
    listed, loops = len(source) // 2, len(np.unique(source[source == target]))
    edges = find(store.name).num_edges
    self_loops = f"{loops} are self-loops, and " if loops else ""
    why = (
        f"The lists of neighbours have {len(source):,} entries, {listed:,} for each direction; {self_loops}"
        f"{listed - loops - edges} repeat an edge."
    )
    return [Difference(("edges",), (listed,), why)]


def _self_loops(edges: NDArray[np.int64], dataset: Dataset) -> int:
    kept = np.concatenate([sample.graph.ids for sample in dataset])
    return int(np.isin(np.unique(edges[0, edges[0] == edges[1]]), kept).sum())


_REASONS: dict[str, Callable[[Store], list[Difference]]] = {
    "communities": _communities,
    "email-complete": _email_complete,
    "email": _email,
    "protein": _protein,
    "ppi": _ppi,
    "cora": _citations,
    "citeseer": _citations,
}

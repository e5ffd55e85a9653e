"""A data set: one or several graphs with what is known of their nodes, and cutting a graph into several."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphreach.arguments import describe, to_array, to_finite, to_integers, to_list
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.build import Edges
from graphreach.graph.checks import check_graph
from graphreach.graph.graph import build_graph
from graphreach.graph.ids import specialise
from graphreach.tasks.examples import GivenPairs, is_label_matrix


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """One graph of a data set.

    Attributes:
        graph: The graph, with the ids of the data set's files.
        x: A row of attributes for each node, in the order of ``graph.ids``, or ``None``.
        y: The class of each node, ``0 .. num_classes - 1``; for nodes with several labels booleans ``[n, classes]``, where
            a node without any is not labelled; or ``None``.
        given: Links of validation and test for protocol ``"given"``, or ``None``; see :func:`graphreach.tasks.split_given`.

    Example:
        >>> Sample(Graph.from_edges([[0], [1]]), y=np.array([0, 1]))
        Sample(Graph(num_nodes=2, num_edges=1, directed=False, weighted=False), x=None, y=[2])
    """

    graph: Graph
    x: NDArray[np.float32] | None = None
    y: NDArray[Any] | None = None
    given: GivenPairs | None = None

    def __post_init__(self) -> None:
        n = check_graph(self.graph).num_nodes
        if self.x is not None:
            x = to_finite(
                "x", self.x, f"an array [{n}, features] of numbers, one row per node in the order of graph.ids"
            )
            if x.ndim != 2 or len(x) != n:
                raise InputError(f"x must have shape [{n}, features], got {list(x.shape)}")
            object.__setattr__(self, "x", _as_single(x))
        if self.y is not None:
            y = check_classes(self.y, n)
            object.__setattr__(self, "y", y)
        if not (self.given is None or isinstance(self.given, GivenPairs)):
            raise InputError(f"given must be GivenPairs or None, got {describe(self.given)}")

    def __repr__(self) -> str:
        x, y = (None if array is None else list(array.shape) for array in (self.x, self.y))
        return f"Sample({self.graph}, x={x}, y={y})"


def check_classes(y: Any, n: int) -> NDArray[Any]:
    """Return the classes of ``n`` nodes, integers, or booleans ``[n, classes]`` of nodes that may have several."""
    if is_label_matrix(y):
        if len(y) != n:
            raise InputError(f"y must have {n} rows of booleans, one per node, got {len(y)}")
        matrix: NDArray[Any] = y
        return matrix
    array = to_integers("y", y, f"an array [{n}] of classes (integers), in the order of graph.ids")
    if array.shape != (n,):
        raise InputError(f"y must have shape [{n}], got {list(array.shape)}")
    return array


def _as_single(x: NDArray[Any]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        single = np.asarray(x, np.float32)
    if not np.isfinite(single).all():
        raise InputError("x must hold numbers that fit 32 bits, got one that does not")
    return single


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """The graphs of one data set, as :func:`graphreach.datasets.load` returns them.

    Attributes:
        name: The name it is loaded by.
        samples: Its graphs.
        classes: The label that each class has in the data set's files, or ``None`` if classes have no other name than
            their number.

    Example:
        >>> from graphreach.datasets import load
        >>> dataset = load("grid")
        >>> dataset
        Dataset(grid: graphs=1, num_nodes=400, num_edges=760, num_features=0, num_classes=0)
        >>> dataset[0].graph.num_edges
        760
    """

    name: str
    samples: tuple[Sample, ...]
    classes: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InputError(f"name must be text, got {describe(self.name)}")
        what = "a tuple of samples, such as (Sample(graph),)"
        samples = tuple(to_list("samples", self.samples, what))
        wrong = [each for each in samples if not hasattr(each, "graph")]
        if wrong or not samples:
            raise InputError(f"samples must be {what}, got {describe(wrong[0]) if wrong else 'none'}")
        object.__setattr__(self, "samples", samples)
        if self.classes is not None and to_array("classes", self.classes, "biufUO").ndim != 1:
            raise InputError(f"classes must be one label per class, got {describe(self.classes)}")

    def __len__(self) -> int:
        return len(self.samples)

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.samples)

    def __getitem__(self, index: int) -> Sample:
        return self.samples[index]

    @property
    def num_nodes(self) -> int:
        """Nodes of all graphs."""
        return sum(sample.graph.num_nodes for sample in self.samples)

    @property
    def num_edges(self) -> int:
        """Edges of all graphs; an undirected edge counts once."""
        return sum(sample.graph.num_edges for sample in self.samples)

    @property
    def num_features(self) -> int:
        """Attributes of a node; zero if there are none."""
        return max((sample.x.shape[1] for sample in self.samples if sample.x is not None), default=0)

    @property
    def num_classes(self) -> int:
        """One more than the largest class of any graph; zero if nodes have no classes."""
        each = [sample.y for sample in self.samples if sample.y is not None]
        return max((y.shape[1] if y.ndim == 2 else int(y.max()) + 1 for y in each), default=0)

    @property
    def several_labels(self) -> bool:
        """Whether nodes have several labels, a matrix ``y`` of booleans."""
        return any(is_label_matrix(sample.y) for sample in self.samples)

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name}: graphs={len(self)}, num_nodes={self.num_nodes}, num_edges={self.num_edges}, "
            f"num_features={self.num_features}, num_classes={self.num_classes})"
        )


def large_components(graph: Graph, more_than: int) -> NDArray[np.int64]:
    """The number of each node's component, ``-1`` in components of at most ``more_than`` nodes.

    Components are numbered by their first node.
    """
    from scipy.sparse.csgraph import connected_components

    _, label = connected_components(graph.to_scipy(), directed=graph.directed, connection="weak")
    _, first, label, sizes = np.unique(label, return_index=True, return_inverse=True, return_counts=True)
    kept = np.flatnonzero(sizes > more_than)
    number = np.full(len(sizes), -1)
    number[kept[np.argsort(first[kept])]] = np.arange(len(kept))
    return number[label]


def split_graph(graph: Graph, part: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], Graph]]:
    """The nodes of each part ``0, 1, ...`` and the undirected graph of the edges among them, with the ids of ``graph``."""
    source, target = graph.edge_index
    once = (source < target) & (part[source] == part[target])
    source, target = source[once], target[once]
    nodes, edges = np.argsort(part, kind="stable"), np.argsort(part[source], kind="stable")
    numbers = np.arange(part.max() + 2)
    node_ends, edge_ends = (np.searchsorted(part[order], numbers) for order in (nodes, source[edges]))
    position = np.empty(graph.num_nodes, np.int64)
    for number in numbers[:-1]:
        mine = nodes[node_ends[number] : node_ends[number + 1]]
        chosen = edges[edge_ends[number] : edge_ends[number + 1]]
        position[mine] = np.arange(len(mine))
        ends = position[np.stack([source[chosen], target[chosen]])]
        source_of, target_of = ends.astype(np.uint32)
        yield mine, build_graph(Edges(source_of, target_of, None, specialise(graph.ids[mine])), False, None, False)

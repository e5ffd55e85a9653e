"""A data set: one or several graphs with what is known of their nodes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphreach.errors import InputError
from graphreach.graph import Graph


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """One graph of a data set.

    Attributes:
        graph: The graph, with the ids of the data set's files.
        x: A row of attributes for each node, in the order of ``graph.ids``, or ``None``.
        y: The class of each node, ``0 .. num_classes - 1``, or ``None``.

    Example:
        >>> Sample(Graph.from_edges([[0], [1]]), y=np.array([0, 1]))
        Sample(Graph(num_nodes=2, num_edges=1, directed=False, weighted=False), x=None, y=[2])
    """

    graph: Graph
    x: NDArray[np.float32] | None = None
    y: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        n = self.graph.num_nodes
        if self.x is not None and (self.x.ndim != 2 or len(self.x) != n):
            raise InputError(f"x must have shape [{n}, features], got {list(self.x.shape)}")
        if self.y is not None and self.y.shape != (n,):
            raise InputError(f"y must have shape [{n}], got {list(self.y.shape)}")

    def __repr__(self) -> str:
        x, y = (None if array is None else list(array.shape) for array in (self.x, self.y))
        return f"Sample({self.graph}, x={x}, y={y})"


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
        return max((int(sample.y.max()) + 1 for sample in self.samples if sample.y is not None), default=0)

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name}: graphs={len(self)}, num_nodes={self.num_nodes}, num_edges={self.num_edges}, "
            f"num_features={self.num_features}, num_classes={self.num_classes})"
        )

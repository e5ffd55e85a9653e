"""The result of anchor selection."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class AnchorSet:
    r"""Anchors, best first, and how well they cover the graph. Works as an integer array of positions.

    Attributes:
        anchors: Positions of the anchors, ``[k]``.
        coverage: The share of nodes from which a walk reaches an anchor, :math:`|\rho(A)| / n`; an estimate from
            ``num_starts`` nodes if these are fewer than all.
        upper_bound: An upper bound of the share that the best k anchors could cover.
        coverage_lower: A lower bound of the coverage: the coverage itself if all nodes were looked at, else one that
            holds with probability 0.99 (as does ``upper_bound``).
        num_starts: How many nodes' walks the coverage was measured on.
        strategy: Name of the strategy.

    Example:
        >>> import graphreach as gr
        >>> star = gr.Graph.from_edges([[0, 0, 0], [1, 2, 3]])
        >>> anchors = gr.select_anchors(star, 1, strategy="degree", walk_length=1)
        >>> anchors
        AnchorSet(1 anchor of 4 nodes, coverage=0.75, upper_bound=1.00, strategy=degree)
        >>> anchors[0], len(anchors)
        (np.int64(0), 1)
    """

    anchors: NDArray[np.int64]
    coverage: float
    upper_bound: float
    coverage_lower: float
    num_starts: int
    num_nodes: int
    strategy: str

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.anchors, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.anchors)

    def __iter__(self) -> Iterator[np.int64]:
        return iter(self.anchors)

    def __getitem__(self, item: Any) -> Any:
        return self.anchors[item]

    def __repr__(self) -> str:
        noun = "anchor" if len(self) == 1 else "anchors"
        return (
            f"AnchorSet({len(self)} {noun} of {self.num_nodes} nodes, coverage={self.coverage:.2f}, "
            f"upper_bound={self.upper_bound:.2f}, strategy={self.strategy})"
        )

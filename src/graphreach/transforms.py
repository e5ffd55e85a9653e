"""Transforms for PyG data sets."""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.data.data import BaseData
from torch_geometric.data.datapipes import functional_transform
from torch_geometric.transforms import BaseTransform

from graphreach.anchors import select_anchors
from graphreach.arguments import check_choice, describe, to_integers
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.nn.neighbourhood import csr_tensor
from graphreach.reachability import reachability
from graphreach.walks.defaults import NUM_ANCHORS, NUM_WALKS, STRATEGY, WALK_LENGTH


@functional_transform("add_reachability")
class AddReachability(BaseTransform):  # type: ignore[misc]
    r"""Adds anchors and reachability to a PyG graph (functional name: :obj:`add_reachability`).

    Sets ``anchor_index`` ``[k]`` and the position matrices, under names that batch correctly. These are dense
    ``to_anchors`` and ``from_anchors`` ``[n, k]``, where all graphs of a batch need the same k. With ``layout="csr"`` they
    are sparse ``adj_to_anchors`` and ``adj_from_anchors``; k may differ by graph, and a batch is block-diagonal. Uses
    ``edge_index`` (or ``adj_t``) and ``edge_weight`` as they stand, never ``edge_label_index``: after
    ``RandomLinkSplit`` no held-out edge is seen.

    Args:
        num_anchors: See :func:`graphreach.select_anchors`.
        strategy: See :func:`graphreach.select_anchors`.
        anchors: Positions to use instead of selecting any: one anchor set for training, validation and test graphs.
        layout: ``"dense"`` or ``"csr"``.
        num_walks: Walks from each node.
        walk_length: Jumps of a walk, or ``"diameter"``.
        seed: Random seed for walks and for breaking ties.
        **kwargs: Passed to :func:`graphreach.reachability`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> ring = Data(edge_index=torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]), num_nodes=4)
        >>> AddReachability(num_anchors=2)(ring).to_anchors.shape
        torch.Size([4, 2])
    """

    def __init__(
        self,
        num_anchors: int | float | str = NUM_ANCHORS,
        strategy: Any = STRATEGY,
        anchors: ArrayLike | None = None,
        layout: str = "dense",
        num_walks: int = NUM_WALKS,
        walk_length: int | str = WALK_LENGTH,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        check_choice("layout", layout, ("dense", "csr"))
        self.num_anchors, self.strategy, self.layout = num_anchors, strategy, layout
        self.anchors = None if anchors is None else to_integers("anchors", anchors)
        self.walk_options: dict[str, Any] = {"num_walks": num_walks, "walk_length": walk_length, "seed": seed}
        self.kwargs = kwargs

    def __call__(self, data: Any) -> Any:
        """The same data with the new attributes; PyG copies it before it looks at it."""
        if not isinstance(data, BaseData):
            raise InputError(f"data must be a PyG Data, got {describe(data)}")
        return super().__call__(data)

    def forward(self, data: Data) -> Data:
        """The same data with the new attributes."""
        graph = Graph.from_pyg(data)
        anchors = self.anchors
        if anchors is None:
            anchors = select_anchors(graph, self.num_anchors, self.strategy, **self.walk_options).anchors
        reach = reachability(graph, anchors, layout=self.layout, **self.walk_options, **self.kwargs)
        data.anchor_index = torch.from_numpy(reach.anchors)
        prefix = "" if self.layout == "dense" else "adj_"
        data[f"{prefix}to_anchors"] = _as_tensor(reach.to_anchors)
        data[f"{prefix}from_anchors"] = _as_tensor(reach.from_anchors)
        return data

    def __repr__(self) -> str:
        return f"AddReachability(num_anchors={self.num_anchors}, strategy={self.strategy}, layout={self.layout})"


def _as_tensor(matrix: Any) -> Tensor:
    return torch.from_numpy(matrix) if isinstance(matrix, np.ndarray) else csr_tensor(matrix)

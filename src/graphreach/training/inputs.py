"""What a model reads of one graph, or of several side by side."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from graphreach.nn.neighbourhood import Adjacency
from graphreach.nn.positions import GatheredPositions, Positions
from graphreach.progress import track
from graphreach.threads import one_torch_thread

WHOLE_GRAPH_NODES = 50_000
"""Nodes up to which every step embeds the whole graph."""

BLOCK_ROWS = 16_384


@dataclass(frozen=True, eq=False)
class Inputs:
    """Features and structure of a graph, as tensors.

    Attributes:
        x: Features ``[n, d]``, or None.
        structure: :class:`graphreach.nn.Positions`, :class:`graphreach.nn.Adjacency` or None, as the model reads it.
        num_nodes: n.
        neighbours: Adjacency for the GNN branch of nodes with features, or None.
        anchors: Positions of the anchors, or None.
        numbers: Which nodes of a larger graph these are, for a model with a vector for each of its nodes, or None.
    """

    x: Tensor | None
    structure: Any
    num_nodes: int
    neighbours: Adjacency | None = None
    anchors: NDArray[np.int64] | None = None
    numbers: Tensor | None = None

    def to(self, device: torch.device) -> "Inputs":
        """The same on another device; an :class:`graphreach.nn.Adjacency` goes where it is used."""
        moved: dict[str, Any] = {
            name: each.to(device)
            for name, each in (("x", self.x), ("structure", self.structure), ("numbers", self.numbers))
            if each is not None
        }
        return replace(self, **moved)

    @one_torch_thread()
    def embed(self, model: nn.Module) -> Tensor:
        """All nodes' embeddings by one pass."""
        if self.neighbours is not None:
            return model(self.x, self.structure, edge_index=self.neighbours)  # type: ignore[no-any-return]
        return model(self.x, self.structure)  # type: ignore[no-any-return]

    @property
    def in_pieces(self) -> bool:
        """Whether nodes are embedded some at a time: large graphs, and models that read rows of positions."""
        by_rows = isinstance(self.structure, Positions) and not isinstance(self.structure, GatheredPositions)
        return self.num_nodes > WHOLE_GRAPH_NODES and by_rows and self.neighbours is None

    def width(self, model: nn.Module) -> int:
        """Number of columns of the embedding by a model that reads positions."""
        return int(self.structure.width) + int(getattr(model, "local_channels", 0))

    @one_torch_thread()
    def embed_rows(self, model: nn.Module, nodes: Tensor) -> Tensor:
        """The embeddings of some nodes, from their rows and the anchors' alone."""
        nodes = nodes.to(self.structure.anchor_index.device)
        everyone = torch.cat([nodes, self.structure.anchor_index])
        x = None if self.x is None else self.x[everyone]
        numbers = everyone if self.numbers is None else self.numbers[everyone]
        options = {} if getattr(model, "table", None) is None else {"node_index": numbers}
        z: Tensor = model(x, self.structure.rows(nodes), **options)
        return z[: len(nodes)]

    @torch.no_grad()
    def embed_some(self, model: nn.Module, nodes: Tensor) -> Tensor:
        """Embeddings of some nodes without gradient, in blocks of rows if the graph is large."""
        if not self.in_pieces:
            return self.embed(model)[nodes]
        blocks = nodes.split(BLOCK_ROWS)
        return torch.cat([self.embed_rows(model, block) for block in track(blocks, len(blocks), "embedding")])

    @torch.no_grad()
    def blocks(self, model: nn.Module) -> Iterator[NDArray[np.float32]]:
        """Embeddings of all nodes in order, some rows at a time; all at once if the graph is small."""
        if not self.in_pieces:
            yield self.embed(model).numpy()
            return
        for nodes in torch.arange(self.num_nodes).split(BLOCK_ROWS):
            yield self.embed_rows(model, nodes).numpy()


def side_by_side(parts: list[Inputs]) -> Inputs:
    """Several graphs as one, in order."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    x = None if first.x is None else torch.cat([part.x for part in parts])  # type: ignore[misc]
    structure = None if first.structure is None else type(first.structure).batch([part.structure for part in parts])
    neighbours = [part.neighbours for part in parts if part.neighbours is not None]
    return Inputs(
        x, structure, sum(part.num_nodes for part in parts), Adjacency.batch(neighbours) if neighbours else None
    )

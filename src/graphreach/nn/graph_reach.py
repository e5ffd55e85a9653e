"""The model."""

from typing import Any

import torch
from torch import Tensor, nn

from graphreach.errors import InputError
from graphreach.nn.checks import check_embedding, check_tensor
from graphreach.nn.decoders import PairTerms, pair_terms
from graphreach.nn.neighbourhood import Adjacency, local_branch
from graphreach.nn.node_model import NodeModel, dropout
from graphreach.nn.positions import Positions
from graphreach.nn.reach_conv import ReachConv, ReachReadout
from graphreach.reachability import Reachability
from graphreach.threads import one_torch_thread


class GraphReach(NodeModel):
    r"""GraphReach (Algorithm 1) from the `"GraphReach: Position-Aware Graph Neural Network using Reachability Estimations"
    <https://arxiv.org/abs/2008.09657>`_ paper: ``num_layers - 1`` aggregating layers and a last one that does not
    aggregate, :math:`z_v = \sigma(\mathcal{M}^L_v W_Z) \in \mathbb{R}^k`.

    The paper does not say what :math:`\sigma` is. A sigmoid makes every dot product positive and training stalls; rows
    scaled to unit length train well and are the default.

    Args:
        in_channels: Width of the node features; 0 if there are none (every node then has the feature 1).
        hidden_channels: Width of the hidden layers.
        num_layers: Number of layers, including the last one.
        aggregation: ``"attention"`` or ``"mean"``.
        heads: Attention heads, averaged.
        dropout: Dropout probability for the output of the hidden layers.
        output_activation: :math:`\sigma`: ``"normalize"`` (unit rows), ``"tanh"``, ``"sigmoid"`` or ``"identity"``.
        num_nodes: Number of nodes of an embedding table that is added to the input (transductive).
        input_projection: Whether a linear layer takes the input to ``hidden_channels`` first.
        decoder: ``"dot"``, ``"scaled"``, ``"reach"`` or a module; see :meth:`score_pairs`.
        local: ``"gcn"``, ``"sage"``, ``"gat"`` or ``"gin"``: a neighbourhood model next to the reachability layers, whose
            output is appended to the embedding (needs ``edge_index``).
        standardise: Whether columns of the features are brought to mean 0 and deviation 1 (:class:`Standardise`).
        message_activation, similarity, similarity_map, hops, bias: See :class:`ReachConv`.

    Shapes:
        - **input:** features ``[n, in_channels]`` (or None), reachability of n nodes
        - **output:** ``[n, k]``

    Example:
        >>> import graphreach as gr
        >>> ring = gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> reach = gr.reachability(ring, [0, 2], walk_length=2)
        >>> model = gr.nn.GraphReach(0, hidden_channels=8)
        >>> model(None, reach).shape
        torch.Size([4, 2])
    """

    def __init__(
        self,
        in_channels: int = 0,
        hidden_channels: int = 32,
        num_layers: int = 2,
        aggregation: str = "attention",
        *,
        heads: int = 1,
        dropout: float = 0.0,
        output_activation: str = "normalize",
        num_nodes: int | None = None,
        input_projection: bool = False,
        decoder: str | nn.Module = "dot",
        local: str | None = None,
        message_activation: str | None = None,
        similarity: bool = True,
        similarity_map: str | None = None,
        hops: int | None = None,
        bias: bool = False,
        standardise: bool = False,
    ) -> None:
        super().__init__(locals(), hops)
        self.aggregation = aggregation
        widths = [self.first_channels] + [hidden_channels] * (num_layers - 1)
        shared: dict[str, Any] = {
            "message_activation": message_activation,
            "similarity": similarity,
            "similarity_map": similarity_map,
            "hops": hops,
            "bias": bias,
        }
        self.convs = nn.ModuleList(
            ReachConv(width, hidden_channels, aggregation, heads, **shared) for width in widths[:-1]
        )
        self.readout = ReachReadout(widths[-1], hidden_channels, **shared)
        self.local_kind = local
        self.local = local_branch(local, self.input_channels, hidden_channels, num_layers, dropout)

    def forward(
        self,
        x: Tensor | None,
        reach: Reachability | Positions | Tensor,
        from_anchors: Tensor | None = None,
        anchor_index: Tensor | None = None,
        batch: Tensor | None = None,
        *,
        edge_index: Tensor | Adjacency | None = None,
        node_index: Tensor | None = None,
    ) -> Tensor:
        """Embed all nodes.

        Args:
            x: Features ``[n, in_channels]``, or None.
            reach: The result of :func:`graphreach.reachability`, its ``to_torch()`` (better: convert once), or
                ``to_anchors`` as a tensor, dense ``[n, k]`` or sparse CSR, followed by the next three arguments.
            from_anchors: Like ``to_anchors``.
            anchor_index: Rows of the anchors, ``[K]``.
            batch: The graph of each node, in a batch of graphs.
            edge_index: For the local branch, if there is one: as in PyG, or an :class:`Adjacency` (faster, made once).
            node_index: Which rows of the embedding table these nodes are (transductive, in mini-batches).
        """
        positions = as_positions(reach, from_anchors, anchor_index, batch, self.readout.hops)
        start = self.inputs(x, positions.num_nodes, node_index)
        h = start if self.projection is None else self.projection(start)
        for conv in self.convs:
            h = dropout(conv(h, positions), self.dropout, self.training)
        z = self.finish(self.readout(h, positions))
        if self.local_kind is None:
            return z
        if edge_index is None:
            raise InputError("edge_index must be given to a model with a local branch, got None")
        adjacency = Adjacency.from_edge_index(edge_index, len(start)) if isinstance(edge_index, Tensor) else edge_index
        beside = self.local(start, adjacency.adj_t(self.local_kind, start))
        return torch.cat([z, self.finish(beside)], -1)

    @property
    def local_channels(self) -> int:
        """Columns of the embedding that come from the neighbourhood branch, after those of the anchors."""
        return 0 if self.local is None else self.hidden_channels

    @torch.no_grad()
    @one_torch_thread()
    def explain(self, z: Tensor, pairs: Tensor, pair_reach: Tensor | None = None) -> PairTerms:
        """The logits of :meth:`score_pairs`, anchor by anchor.

        Example:
            >>> terms = GraphReach().explain(torch.eye(2), torch.tensor([[0], [0]]))
            >>> terms.anchors, terms.total
            (array([[1., 0.]]), array([1.]))
        """
        return pair_terms(self.decoder, z, pairs, pair_reach, check_embedding(z).size(1) - self.local_channels)

    def __repr__(self) -> str:
        return (
            f"GraphReach({self.in_channels}, hidden_channels={self.hidden_channels}, num_layers={self.num_layers}, "
            f"aggregation={self.aggregation})"
        )


def as_positions(
    reach: Any,
    from_anchors: Tensor | None = None,
    anchor_index: Tensor | None = None,
    batch: Tensor | None = None,
    hops: int | None = None,
) -> Positions:
    """Any form of reachability, as positions."""
    if isinstance(reach, Positions):
        return reach
    if isinstance(reach, Reachability):
        return Positions.from_reachability(reach)
    if from_anchors is None or anchor_index is None:
        raise InputError("from_anchors and anchor_index must be given with to_anchors as a tensor")
    check_tensor("anchor_index", anchor_index, "rows of the anchors [K]")
    if batch is not None:
        check_tensor("batch", batch, "the graph of each node [n]")
    if isinstance(reach, Tensor) and reach.layout == torch.strided:
        return Positions.dense(reach, from_anchors, anchor_index, batch)
    return Positions.compressed(reach, from_anchors, anchor_index, batch, hops)

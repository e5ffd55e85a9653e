"""P-GNN, the position-aware predecessor of GraphReach."""

from torch import Tensor, nn

from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.nn.anchor_set_positions import anchor_sets
from graphreach.nn.dropout import dropout
from graphreach.nn.messages import ReachReadout
from graphreach.nn.node_model import NodeModel
from graphreach.nn.positions import Positions
from graphreach.nn.reach_conv import ReachConv


class PGNN(NodeModel):
    r"""P-GNN from the `"Position-aware Graph Neural Networks" <https://arxiv.org/abs/1906.04817>`_ paper.

    Node v gets a message from every anchor set S, by its member u that is closest to v,

    .. math::
        \mathcal{M}_v[S] = \mathrm{ReLU}\big(s(v, u)\, (h_v \,\Vert\, h_u)\, W + b\big), \qquad
        s(v, u) = \frac{1}{d(v, u) + 1}

    Hidden layers take the mean over all sets; the last takes one number a set, :math:`\mathcal{M}_v w`, and rows are scaled
    to unit length. Whether it is P-GNN-E (exact distances) or P-GNN-F (two hops) lies in the positions: see
    :func:`anchor_sets`, which is to be called with a new seed in every epoch for new sets.

    Differs from the authors' code: theirs multiplies :math:`h_u` alone by the similarity, and maps it by a learned function
    first (``similarity_map``).

    Args:
        in_channels: Width of the node features; 0 if there are none (every node then has the feature 1).
        hidden_channels: Width of the hidden layers.
        num_layers: Layers, with the last.
        dropout: Of the hidden layers' output.
        num_nodes: Transductive: an embedding table of so many nodes takes part in the input.
        decoder: ``"dot"``, ``"scaled"``, ``"reach"`` or a module; see :meth:`score_pairs`.
        similarity_map: ``None``, or ``"learned"``, a small network on the similarity.
        input_projection: Whether a linear layer takes the input to ``hidden_channels`` first.
        output_activation: ``"normalize"`` (unit rows), ``"identity"``, ``"tanh"`` or ``"sigmoid"``.
        standardise: Whether columns of the features are brought to mean 0 and deviation 1 (:class:`Standardise`).

    Shapes:
        - **input:** features ``[n, in_channels]`` (or None), positions of n nodes
        - **output:** ``[n, k]`` for k sets

    Example:
        >>> import graphreach as gr
        >>> ring = gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> model = gr.nn.PGNN(hidden_channels=8)
        >>> model
        PGNN(0, hidden_channels=8, num_layers=2)
        >>> model(None, gr.nn.anchor_sets(ring, seed=0)).shape
        torch.Size([4, 4])
    """

    def __init__(
        self,
        in_channels: int = 0,
        hidden_channels: int = 32,
        num_layers: int = 2,
        dropout: float = 0.5,
        num_nodes: int | None = None,
        decoder: str | nn.Module = "dot",
        *,
        similarity_map: str | None = None,
        input_projection: bool = True,
        output_activation: str = "normalize",
        standardise: bool = False,
    ) -> None:
        arguments = locals()
        super().__init__(
            in_channels, hidden_channels, num_layers, dropout, num_nodes, input_projection, output_activation, decoder,
            standardise,
        )  # fmt: skip
        self._keep_config(arguments)
        widths = [self.first_channels, *[hidden_channels] * (num_layers - 1)]
        self.convs = nn.ModuleList(
            ReachConv(
                width, hidden_channels, "mean", message_activation="relu", similarity_map=similarity_map, bias=True
            )
            for width in widths[:-1]
        )
        self.readout = ReachReadout(
            widths[-1], hidden_channels, message_activation="relu", similarity_map=similarity_map, bias=True
        )

    def forward(self, x: Tensor | None, structure: Positions | Graph, *, node_index: Tensor | None = None) -> Tensor:
        """Embed all nodes.

        Args:
            x: Features ``[n, in_channels]``, or None.
            structure: What :func:`anchor_sets` gave for the graph, or the graph (then with exact distances, seed 0).
            node_index: Which rows of the embedding table these nodes are (transductive, in batches).
        """
        positions = anchor_sets(structure) if isinstance(structure, Graph) else structure
        if not isinstance(positions, Positions):
            raise InputError(f"structure must be what anchor_sets gives, or a Graph, got {type(structure).__name__}")
        h = self.start(x, positions.num_nodes, node_index)
        for conv in self.convs:
            h = dropout(conv(h, positions), self.dropout, self.training)
        return self.finish(self.readout(h, positions))

    def __repr__(self) -> str:
        return f"PGNN({self.in_channels}, hidden_channels={self.hidden_channels}, num_layers={self.num_layers})"

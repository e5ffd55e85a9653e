"""Models that pass messages between neighbours, the baselines of section 4, and the neighbourhoods they read."""

import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from scipy.sparse import block_diag, csr_array, diags_array
from torch import Tensor, nn

from graphreach.arguments import check_choice, check_whole, describe
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph
from graphreach.nn.checks import DEEPEST, check_channels
from graphreach.nn.node_model import NodeModel, dropout


class Adjacency:
    r"""Which nodes a node hears from: :math:`A_{vu}` is the weight of the edge from u to v, 1 without weights.

    Messages go along edges, from source to target. Make it once per graph; the matrices that layers multiply by are made at
    first use and kept.

    Args:
        matrix: SciPy matrix with row v for what arrives at v.
        symmetric: Whether it equals its transpose.
        weighted: Whether edges have weights.

    Example:
        >>> import graphreach as gr
        >>> path = gr.Graph.from_edges([[0, 1], [1, 2]], directed=True)
        >>> adjacency = gr.nn.Adjacency.from_graph(path)
        >>> adjacency
        Adjacency(num_nodes=3, num_entries=2)
        >>> adjacency.edge_index
        tensor([[0, 1],
                [1, 2]])
    """

    def __init__(self, matrix: Any, *, symmetric: bool = False, weighted: bool = True) -> None:
        if not hasattr(matrix, "ndim") or not hasattr(matrix, "dtype") or matrix.dtype == object:
            raise InputError(f"matrix must be a square matrix of numbers, got {describe(matrix)}")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"matrix must be square, got shape {list(matrix.shape)}")
        self.matrix = csr_array(matrix)
        self.symmetric, self.weighted = symmetric, weighted
        self._made: dict[Any, Tensor] = {}

    @classmethod
    def from_graph(cls, graph: Graph) -> "Adjacency":
        """The adjacency of one graph."""
        return cls(check_graph(graph).transpose().to_scipy(), symmetric=not graph.directed, weighted=graph.weighted)

    @classmethod
    def from_edge_index(cls, edge_index: Tensor, num_nodes: int) -> "Adjacency":
        """The adjacency of an ``edge_index`` in the layout of PyG; an edge that is listed twice counts twice.

        Example:
            >>> Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 2]]), 3)
            Adjacency(num_nodes=3, num_entries=2)
        """
        source, target = edge_index.cpu().numpy()
        matrix = csr_array((np.ones(len(source)), (target, source)), shape=(num_nodes, num_nodes))
        return cls(matrix, weighted=False)

    @classmethod
    def batch(cls, parts: Sequence["Adjacency"]) -> "Adjacency":
        """Several graphs side by side, as one graph without edges between them.

        Example:
            >>> import graphreach as gr
            >>> edge = gr.nn.Adjacency.from_graph(gr.Graph.from_edges([[0], [1]]))
            >>> Adjacency.batch([edge, edge]).edge_index
            tensor([[1, 0, 3, 2],
                    [0, 1, 2, 3]])
        """
        if not parts:
            raise InputError("parts must hold at least one Adjacency, got none")
        matrix = block_diag([part.matrix for part in parts], format="csr")
        symmetric, weighted = all(part.symmetric for part in parts), any(part.weighted for part in parts)
        return cls(matrix, symmetric=symmetric, weighted=weighted)

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return int(self.matrix.shape[0])

    @property
    def edge_index(self) -> Tensor:
        """Source and target of each entry, ``[2, m]``, as in PyG; an undirected edge appears in both directions."""
        return _edges(self.matrix)

    @property
    def edge_weight(self) -> Tensor | None:
        """The weight of each entry, or ``None``."""
        return torch.from_numpy(self.matrix.data.astype(np.float32)) if self.weighted else None

    def adj_t(self, kind: str, like: Tensor) -> Tensor:
        r"""The matrix that a layer of PyG multiplies by, sparse CSR, in the precision and on the device of ``like``.

        ``"gcn"``: :math:`\hat D^{-1/2} \hat A \hat D^{-1/2}` with :math:`\hat A` = A and ones on the diagonal where it has
        nothing; ``"sage"``: rows of A divided by their sum; ``"gin"``: A; ``"gat"``: edges, with a loop at each node, as
        ``edge_index``, since attention has weights of its own. Made once.
        """
        key = (kind, like.dtype, like.device)
        if key not in self._made:
            matrix = OPERATORS[kind](self.matrix)
            with torch.inference_mode(False):
                made = _edges(matrix) if kind == "gat" else _sparse(matrix, like.dtype)
                self._made[key] = made.to(like.device)
        return self._made[key]

    def without_weights(self) -> "Adjacency":
        """The same edges with weight 1."""
        A = self.matrix
        ones = csr_array((np.ones_like(A.data), A.indices, A.indptr), shape=A.shape)
        return Adjacency(ones, symmetric=self.symmetric, weighted=False)

    def to(self, target: torch.device | torch.dtype | str) -> "Adjacency":
        """The same: matrices go where the features are when they are used."""
        return self

    def __repr__(self) -> str:
        return f"Adjacency(num_nodes={self.num_nodes}, num_entries={self.matrix.nnz})"


def as_adjacency(structure: Any) -> Adjacency:
    """An :class:`Adjacency` from itself or from a graph."""
    if isinstance(structure, Adjacency):
        return structure
    if isinstance(structure, Graph):
        return Adjacency.from_graph(structure)
    raise InputError(f"structure must be an Adjacency or a Graph, got {type(structure).__name__}")


def _edges(matrix: Any) -> Tensor:
    target = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return torch.from_numpy(np.stack([matrix.indices.astype(np.int64), target]))


def _sparse(matrix: Any, dtype: torch.dtype) -> Tensor:
    most = torch.finfo(dtype).max
    if matrix.nnz and matrix.data.max() > most:
        raise InputError(
            f"weights of edges must be at most {most:.2g} for a layer that adds them up, got {matrix.data.max():.2g}; "
            "scale them"
        )
    return csr_tensor(matrix).to(dtype)


def csr_tensor(matrix: Any) -> Tensor:
    """A compressed matrix of SciPy as a tensor."""
    pointer, column = (torch.from_numpy(each.astype(np.int64)) for each in (matrix.indptr, matrix.indices))
    values = torch.from_numpy(matrix.data)
    with (
        warnings.catch_warnings()
    ):  # torch calls its CSR layout beta; products, batching and reading it back is all we do
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(pointer, column, values, matrix.shape, check_invariants=False)


def _with_loops(A: Any) -> Any:
    return csr_array(A + diags_array((A.diagonal() == 0).astype(A.dtype)))


def _normalized(A: Any) -> Any:
    loops = _with_loops(A)
    scale = diags_array(loops.sum(1) ** -0.5)
    return csr_array(scale @ loops @ scale)


def _mean(A: Any) -> Any:
    total = A.sum(1)
    return csr_array(diags_array(np.divide(1, total, out=np.zeros_like(total), where=total > 0)) @ A)


OPERATORS: dict[str, Callable[[Any], Any]] = {"gcn": _normalized, "sage": _mean, "gat": _with_loops, "gin": csr_array}


PREPARED: dict[str, dict[str, Any]] = {
    "gcn": {"normalize": False},
    "sage": {"aggr": "sum"},
    "gat": {"add_self_loops": False},
    "gin": {},
}
"""Arguments of PyG's layers for what :meth:`Adjacency.adj_t` gives: loops, normalisation and means are in the matrix."""

MODELS = {"gcn": "GCN", "sage": "GraphSAGE", "gat": "GAT", "gin": "GIN"}


class Neighbourhood(NodeModel):
    r"""GCN, GraphSAGE, GAT or GIN: ``num_layers`` of PyG's layers with ReLU and dropout between them.

    The layers are ``GCNConv``, ``SAGEConv`` (mean), ``GATConv`` and ``GINConv`` (with a network of two linear layers). They
    get a sparse matrix whose normalisation is done once, not in every step. Messages go along edges. GCN uses
    edge weights as in PyG, GraphSAGE takes a weighted mean and GIN a weighted sum. GAT has weights of its own and ignores
    edge weights.

    Args:
        kind: ``"gcn"``, ``"sage"``, ``"gat"`` or ``"gin"``.
        in_channels: Width of the node features; 0 if there are none (every node then has the feature 1).
        hidden_channels: Width of the hidden layers; 32 in App. E.
        out_channels: Width of the embedding; ``hidden_channels`` by default.
        num_layers: Number of layers; 2 in App. E.
        dropout: Dropout probability for the output of the hidden layers; 0.5 in App. E.
        num_nodes: Number of nodes of an embedding table that is added to the input (transductive).
        decoder: ``"dot"``, ``"scaled"``, ``"reach"`` or a module; see :meth:`score_pairs`.
        heads: Number of attention heads of GAT, concatenated in hidden layers (``hidden_channels`` in all) and averaged in
            the last.
        input_projection: Whether a linear layer takes the input to ``hidden_channels`` first, as in P-GNN's experiments.
        output_activation: ``"normalize"`` (unit rows, as in P-GNN's experiments), ``"identity"``, ``"tanh"`` or
            ``"sigmoid"``.
        standardise: Whether columns of the features are brought to mean 0 and deviation 1 (:class:`Standardise`).

    Shapes:
        - **input:** features ``[n, in_channels]`` (or None), an :class:`Adjacency` of n nodes
        - **output:** ``[n, out_channels]``

    Example:
        >>> import graphreach as gr
        >>> ring = gr.nn.Adjacency.from_graph(gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]]))
        >>> model = gr.nn.Neighbourhood("gcn", num_nodes=4)
        >>> model
        Neighbourhood(gcn, 0, hidden_channels=32, num_layers=2)
        >>> model(None, ring).shape
        torch.Size([4, 32])
    """

    def __init__(
        self,
        kind: str,
        in_channels: int = 0,
        hidden_channels: int = 32,
        out_channels: int | None = None,
        num_layers: int = 2,
        dropout: float = 0.5,
        num_nodes: int | None = None,
        decoder: str | nn.Module = "dot",
        *,
        heads: int = 1,
        input_projection: bool = False,
        output_activation: str = "normalize",
        standardise: bool = False,
    ) -> None:
        super().__init__(locals())
        check_choice("kind", kind, PREPARED)
        check_whole("heads", heads, 1, DEEPEST)
        if heads > 1 and (kind != "gat" or hidden_channels % heads):
            raise InputError(f"heads must be 1, or for gat a divisor of hidden_channels={hidden_channels}, got {heads}")
        out_channels = hidden_channels if out_channels is None else check_channels("out_channels", out_channels)
        self.kind, self.out_channels, self.heads = kind, out_channels, heads
        widths = [self.first_channels, *[hidden_channels] * (num_layers - 1), self.out_channels]
        self.convs = nn.ModuleList(
            _make_layer(kind, widths[i], widths[i + 1], heads, last=i == num_layers - 1) for i in range(num_layers)
        )

    def forward(self, x: Tensor | None, structure: Adjacency | Graph, *, node_index: Tensor | None = None) -> Tensor:
        """Embed all nodes.

        Args:
            x: Features ``[n, in_channels]``, or None.
            structure: The :class:`Adjacency` (better: made once), or the graph.
            node_index: Which rows of the embedding table these nodes are (transductive, in batches).
        """
        adjacency = as_adjacency(structure)
        h = self.start(x, adjacency.num_nodes, node_index)
        adj_t = adjacency.adj_t(self.kind, h)
        for conv in self.convs[:-1]:
            h = dropout(conv(h, adj_t).relu(), self.dropout, self.training)
        return self.finish(self.convs[-1](h, adj_t))

    def __repr__(self) -> str:
        return (
            f"Neighbourhood({self.kind}, {self.in_channels}, hidden_channels={self.hidden_channels}, "
            f"num_layers={self.num_layers})"
        )


def _make_layer(kind: str, in_channels: int, out_channels: int, heads: int, *, last: bool) -> Any:
    layers = importlib.import_module("torch_geometric.nn.conv")
    if kind == "gat":
        width = out_channels if last else out_channels // heads
        return layers.GATConv(in_channels, width, heads, concat=not last, **PREPARED[kind])
    if kind == "gin":
        network = nn.Sequential(nn.Linear(in_channels, out_channels), nn.ReLU(), nn.Linear(out_channels, out_channels))
        return layers.GINConv(network)
    return (layers.GCNConv if kind == "gcn" else layers.SAGEConv)(in_channels, out_channels, **PREPARED[kind])


def local_branch(name: str | None, in_channels: int, hidden_channels: int, num_layers: int, dropout: float) -> Any:
    """PyG's model of that name, which reads :meth:`Adjacency.adj_t`, or None."""
    if name is None:
        return None
    check_choice("local", name, PREPARED, more=" or None")
    model = getattr(importlib.import_module("torch_geometric.nn.models"), MODELS[name])
    return model(in_channels, hidden_channels, num_layers, dropout=dropout, **PREPARED[name])

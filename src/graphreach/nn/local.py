"""Neighbourhood models of PyG beside the reachability layers."""

import importlib
from typing import Any

from torch import Tensor

from graphreach.arguments import check_choice
from graphreach.nn.adjacency import Adjacency
from graphreach.nn.neighbourhood import LAYERS

LOCAL = {"gcn": "GCN", "sage": "GraphSAGE", "gat": "GAT", "gin": "GIN"}


def local_branch(name: str | None, in_channels: int, hidden_channels: int, num_layers: int, dropout: float) -> Any:
    """PyG's model of that name, or None.

    Example:
        >>> local_branch("gcn", 4, 8, 2, 0.0)
        GCN(4, 8, num_layers=2)
    """
    if name is None:
        return None
    check_choice("local", name, LOCAL, more=" or None")
    models = importlib.import_module("torch_geometric.nn.models")
    return getattr(models, LOCAL[name])(in_channels, hidden_channels, num_layers, dropout=dropout)


def run_branch(name: str, branch: Any, x: Tensor, edges: Tensor | Adjacency) -> Tensor:
    """The branch's output, ``[n, hidden_channels]``; by sparse products if the edges are an :class:`Adjacency`.

    Example:
        >>> import torch
        >>> branch = local_branch("gin", 4, 8, 2, 0.0)
        >>> run_branch("gin", branch, torch.ones(3, 4), torch.tensor([[0, 1], [1, 2]])).shape
        torch.Size([3, 8])
    """
    if isinstance(edges, Tensor):
        result: Tensor = branch(x, edges)
        return result
    for conv in branch.convs[:-1]:
        x = branch.dropout(branch.act(LAYERS[name](conv, x, edges)))
    return LAYERS[name](branch.convs[-1], x, edges)

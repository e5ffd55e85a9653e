"""Neighbourhood models of PyG beside the reachability layers."""

import importlib
from typing import Any

from graphreach.errors import InputError

LOCAL = {"gcn": "GCN", "sage": "GraphSAGE", "gat": "GAT", "gin": "GIN"}


def local_branch(name: str | None, in_channels: int, hidden_channels: int, num_layers: int, dropout: float) -> Any:
    """PyG's model of that name, or None.

    Example:
        >>> local_branch("gcn", 4, 8, 2, 0.0)
        GCN(4, 8, num_layers=2)
    """
    if name is None:
        return None
    if name not in LOCAL:
        raise InputError(f"local must be None or one of {', '.join(LOCAL)}, got {name!r}")
    models = importlib.import_module("torch_geometric.nn.models")
    return getattr(models, LOCAL[name])(in_channels, hidden_channels, num_layers, dropout=dropout)

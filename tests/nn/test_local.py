"""The neighbourhood branch."""

import pytest
import torch
from torch_geometric.nn import GAT, GCN, GIN, GraphSAGE

from graphreach.errors import InputError
from graphreach.nn.local import local_branch


@pytest.mark.parametrize(("name", "kind"), [("gcn", GCN), ("sage", GraphSAGE), ("gat", GAT), ("gin", GIN)])
def test_is_the_model_of_pyg(name, kind):
    branch = local_branch(name, 4, 8, 2, 0.1)
    assert type(branch) is kind
    assert branch.num_layers == 2
    assert branch(torch.ones(3, 4), torch.tensor([[0, 1], [1, 2]])).shape == (3, 8)


def test_none_and_unknown_names():
    assert local_branch(None, 4, 8, 2, 0.0) is None
    with pytest.raises(InputError, match="local must be None or one of gcn, sage, gat, gin, got 'cnn'"):
        local_branch("cnn", 4, 8, 2, 0.0)

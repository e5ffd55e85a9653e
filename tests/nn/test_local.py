"""The neighbourhood branch."""

import pytest
import torch
from torch_geometric.nn import GAT, GCN, GIN, GraphSAGE

from graphreach import Graph
from graphreach.errors import InputError
from graphreach.nn import Adjacency
from graphreach.nn.local import local_branch, run_branch


@pytest.mark.parametrize(("name", "kind"), [("gcn", GCN), ("sage", GraphSAGE), ("gat", GAT), ("gin", GIN)])
def test_is_the_model_of_pyg(name, kind):
    branch = local_branch(name, 4, 8, 2, 0.1)
    assert type(branch) is kind
    assert branch.num_layers == 2
    assert branch(torch.ones(3, 4), torch.tensor([[0, 1], [1, 2]])).shape == (3, 8)


def test_none_and_unknown_names():
    assert local_branch(None, 4, 8, 2, 0.0) is None
    with pytest.raises(InputError, match="local must be one of gcn, sage, gat, gin or None, got 'cnn'"):
        local_branch("cnn", 4, 8, 2, 0.0)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", ["gcn", "sage", "gat", "gin"])
def test_sparse_products_give_what_pyg_gives(name, directed):
    graph = Graph.from_edges([[0, 1, 2, 3, 3, 4], [1, 2, 3, 0, 3, 1]], directed=directed, num_nodes=6)
    branch = local_branch(name, 4, 8, 3, 0.0).double()
    x = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(6, 8, dtype=torch.float64)
    found = []
    for edges in (torch.from_numpy(graph.edge_index.copy()), Adjacency.from_graph(graph)):
        out = run_branch(name, branch, x, edges)
        found.append([out, *torch.autograd.grad((out * weight).sum(), [x, *branch.parameters()])])
    for literal, ours in zip(*found, strict=True):
        torch.testing.assert_close(ours, literal)


def test_dropout_is_the_branchs_own():
    branch = local_branch("gcn", 4, 64, 2, 0.5)
    ring = Graph.from_edges([[0, 1, 2], [1, 2, 0]])
    both = torch.from_numpy(ring.edge_index.copy()), Adjacency.from_graph(ring)
    results = []
    for edges in both:
        torch.manual_seed(3)
        results.append(run_branch("gcn", branch, torch.ones(3, 4), edges))
    torch.testing.assert_close(*results)
    assert not torch.equal(results[0], branch.eval()(torch.ones(3, 4), both[0]))

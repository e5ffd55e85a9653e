"""The head for node classification."""

import torch

import graphreach as gr
from nn_literal import assert_near


def test_log_softmax_of_a_linear_layer():
    head, z = gr.nn.NodeClassifier(4, 3), torch.randn(7, 4)
    scores = z @ head.linear.weight.T + head.linear.bias
    assert_near(head(z), scores - scores.exp().sum(-1, keepdim=True).log(), 1e-5)


def test_dropout_only_in_training():
    head, z = gr.nn.NodeClassifier(64, 3, dropout=0.5), torch.randn(7, 64)
    assert not torch.equal(head(z), head(z))
    head.eval()
    assert torch.equal(head(z), head(z))


def test_learns_positions_on_one_anchor_set():
    # the two ends of a path are told apart by position alone
    nodes = torch.arange(29)
    graph = gr.Graph.from_edges(torch.stack([nodes, nodes + 1]).numpy())
    reach = gr.reachability(graph, range(0, 30, 3), method="exact", walk_length=8).to_torch()
    labels = (torch.arange(30) >= 15).long()
    torch.manual_seed(0)
    model, head = gr.nn.GraphReach(0, 16, aggregation="mean"), gr.nn.NodeClassifier(10, 2)
    optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=0.05)
    for _ in range(60):
        loss = torch.nn.functional.nll_loss(head(model(None, reach)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert (head(model(None, reach)).argmax(-1) == labels).float().mean() > 0.95


def test_repr_and_reset_parameters():
    head = gr.nn.NodeClassifier(4, 3)
    assert repr(head) == "NodeClassifier(4, 3)"
    before = head.linear.weight.clone()
    head.reset_parameters()
    assert not torch.equal(before, head.linear.weight)

"""Arguments of wrong kinds are refused before torch sees them; the tests are tables of (call, sentence)."""

import numpy as np
import pytest
import torch

import graphreach as gr
from graphreach import nn

RING = gr.Graph.from_edges([range(6), [*range(1, 6), 0]])
REACH = gr.reachability(RING, [0, 2], walk_length=2, method="exact")
POSITIONS = REACH.to_torch()
ONES, INDEX = torch.ones(6, 2), torch.tensor([0, 2])
MATRIX = np.zeros((2, 3))


def check(cases):
    """All cases, so that one failure shows the others too."""
    wrong = []
    for call, expected in cases:
        with pytest.raises(gr.InputError) as caught:
            call()
        if expected not in str(caught.value) or "\n" in str(caught.value):
            wrong.append((str(caught.value), expected))
    assert wrong == []


def test_arguments_of_models():
    for model in (nn.GraphReach, nn.MLP, nn.PGNN, lambda **arguments: nn.Neighbourhood("gcn", **arguments)):
        check(
            [
                (lambda model=model: model(in_channels="a"), "in_channels must be an integer from 0 to"),
                (lambda model=model: model(in_channels=-1), "in_channels must be an integer from 0 to"),
                (lambda model=model: model(in_channels=None), "got None"),
                (lambda model=model: model(hidden_channels=0), "hidden_channels must be an integer from 1 to"),
                (lambda model=model: model(hidden_channels=8.0), "got 8.0"),
                (lambda model=model: model(hidden_channels=MATRIX), "got an array of shape [2, 3] of float64"),
                (lambda model=model: model(num_layers=10**12), "num_layers must be an integer from 1 to"),
                (lambda model=model: model(num_layers=True), "num_layers must be an integer"),
                (lambda model=model: model(dropout=2), "dropout must be a number from 0 to 1, got 2"),
                (lambda model=model: model(dropout=float("nan")), "dropout must be a number from 0 to 1, got nan"),
                (lambda model=model: model(dropout="0.5"), "dropout must be a number from 0 to 1, got '0.5'"),
                (lambda model=model: model(num_nodes="10"), "num_nodes must be an integer"),
                (lambda model=model: model(num_nodes=2**32, hidden_channels=2**20), "would take 1.8e+07 GB of memory"),
                (lambda model=model: model(decoder="dots"), "did you mean 'dot'?"),
                (
                    lambda model=model: model(decoder=MATRIX),
                    "decoder must be one of dot, scaled, reach, lift or a module",
                ),
                (lambda model=model: model(output_activation="tahn"), "did you mean 'tanh'?"),
                (lambda model=model: model(output_activation=["tanh"]), "output_activation must be one of"),
                (lambda model=model: model(input_projection="no"), "input_projection must be True or False"),
                (lambda model=model: model(standardise=1), "standardise must be True or False, got 1"),
            ]
        )


def test_arguments_of_layers():
    check(
        [
            (lambda: nn.GraphReach(aggregation="atention"), "did you mean 'attention'?"),
            (lambda: nn.GraphReach(heads=0), "heads must be an integer from 1 to"),
            (lambda: nn.GraphReach(heads="2"), "heads must be an integer from 1 to"),
            (lambda: nn.GraphReach(local="sagee"), "did you mean 'sage'?"),
            (lambda: nn.GraphReach(local=["gcn"]), "local must be one of gcn, sage, gat, gin or None"),
            (lambda: nn.GraphReach(message_activation="elu"), 'message_activation must be None or "relu", got'),
            (lambda: nn.GraphReach(message_activation=MATRIX), 'message_activation must be None or "relu", got'),
            (lambda: nn.GraphReach(similarity=None), "similarity must be True or False"),
            (lambda: nn.GraphReach(similarity_map=MATRIX), "similarity_map must be None"),
            (lambda: nn.GraphReach(hops=0, similarity_map="learned"), "hops must be an integer from 1 to"),
            (lambda: nn.GraphReach(hops=10**12, similarity_map="learned"), "hops must be an integer from 1 to"),
            (lambda: nn.GraphReach(bias="yes"), "bias must be True or False"),
            (lambda: nn.ReachConv(0, 8), "in_channels must be an integer from 1 to"),
            (lambda: nn.ReachConv(8, None), "out_channels must be an integer from 1 to"),
            (lambda: nn.ReachConv(8, 8, negative_slope="steep"), "negative_slope must be a number"),
            (lambda: nn.ReachConv(8, 8, concat="yes"), "concat must be True or False"),
            (lambda: nn.ReachReadout(8, -1), "out_channels must be an integer from 1 to"),
            (lambda: nn.MLP(out_channels=-3), "out_channels must be an integer from 1 to"),
            (lambda: nn.Neighbourhood("gnc"), "kind must be one of"),
            (lambda: nn.Neighbourhood("gat", heads="2"), "heads must be an integer from 1 to"),
            (lambda: nn.Neighbourhood("gcn", out_channels="2"), "out_channels must be an integer from 1 to"),
            (lambda: nn.NodeClassifier(None, 2), "in_channels must be an integer from 1 to"),
            (lambda: nn.NodeClassifier(2, 0), "num_classes must be an integer from 1 to"),
            (lambda: nn.NodeClassifier(2, 2, -1), "dropout must be a number from 0 to 1"),
            (lambda: nn.Standardise("a"), "channels must be an integer"),
            (lambda: nn.SimilarityMap(0), "hops must be an integer from 1 to"),
            (lambda: nn.ReachDecoder(1, 0), "epsilon must be a positive number"),
            (lambda: nn.LateFusion("many"), "steps must be an integer from 2 to"),
            (lambda: nn.LateFusion().fit([0.1, np.nan], [1, 2], [0, 1]), "first must be finite"),
            (lambda: nn.LateFusion().fit(None, [1, 2], [0, 1]), "first must be a list or array of numbers, got None"),
        ]
    )


def test_what_models_are_given():
    model, featured = nn.GraphReach(0, 4), nn.GraphReach(2, 4)
    conv, mlp = nn.ReachConv(2, 4), nn.MLP(2, 4)
    check(
        [
            (lambda: featured(MATRIX, REACH), "x must have shape [6, 2], got an array of shape [2, 3]"),
            (lambda: featured(torch.ones(5, 2), REACH), "x must have shape [6, 2], got [5, 2]"),
            (lambda: model(None, None), "from_anchors and anchor_index must be given"),
            (lambda: model(None, MATRIX, ONES, INDEX), "reach must be a Reachability, Positions, a tensor or"),
            (lambda: model(None, torch.ones(6), ONES, INDEX), "to_anchors must be a tensor [n, k]"),
            (
                lambda: model(None, ONES, MATRIX, INDEX),
                "from_anchors must be a tensor [n, k] or [n, k, L], got an array",
            ),
            (lambda: model(None, ONES, ONES, [0, 2]), "anchor_index must be a tensor"),
            (lambda: model(None, ONES, ONES, torch.tensor([0.0, 2.0])), "anchor_index must be a tensor of rows [K]"),
            (lambda: model(None, ONES, ONES, torch.tensor([0, 6])), "anchor_index must hold rows between 0 and 5"),
            (lambda: model(None, ONES, ONES, INDEX, torch.zeros(2, 3)), "batch must hold the graph of each of 6 nodes"),
            (lambda: conv(ONES, REACH), "positions must be Positions, as reachability(...).to_torch() gives"),
            (lambda: conv(torch.ones(3, 2), POSITIONS), "x must have shape [6, 2], got [3, 2]"),
            (lambda: conv(None, POSITIONS), "x must have shape [6, 2], got None"),
            (lambda: mlp(True), "x must be a tensor of features [n, 2]"),
            (lambda: mlp(torch.ones(6, 3)), "x must have shape [6, 2], got [6, 3]"),
            (lambda: nn.pair_dot(None, torch.zeros(2, 1, dtype=torch.long)), "z must be a tensor of embeddings"),
            (
                lambda: nn.pair_dot(torch.ones(3), torch.zeros(2, 1, dtype=torch.long)),
                "z must have shape [n, d] of floats",
            ),
            (
                lambda: nn.pair_dot(ONES.long(), torch.zeros(2, 1, dtype=torch.long)),
                "z must have shape [n, d] of floats",
            ),
            (lambda: nn.pair_dot(ONES, None), "pairs must be a tensor of positions [2, m]"),
            (lambda: nn.pair_dot(ONES, torch.zeros(3, 2, dtype=torch.long)), "got [3, 2] of torch.int64; transpose it"),
            (lambda: nn.pair_dot(ONES, torch.zeros(2, 1)), "pairs must have shape [2, m] of integers"),
            (lambda: model.explain(None, None), "z must be a tensor of embeddings"),
            (lambda: nn.anchor_sets(None), "graph must be a Graph, got None"),
            (lambda: nn.anchor_sets(RING, copies="a"), "copies must be above 0 and at most 1e+09, got 'a'"),
            (lambda: nn.anchor_sets(RING, copies=1e9), "distances to the anchor sets would take"),
            (lambda: nn.laplacian_encodings(RING, 10**12), "lower dim"),
            (lambda: nn.laplacian_encodings(RING, 2, flip_signs=1), "flip_signs must be True or False"),
            (lambda: nn.random_walk_encodings(None), "graph must be a Graph, got None"),
            (lambda: nn.random_walk_encodings(RING, 2, method="exat"), "did you mean 'exact'?"),
        ]
    )

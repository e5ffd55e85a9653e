"""Eqs. 4-8 and Algorithm 1 written down plainly, with loops and the n x k x 2d tensor, and what the tests of nn share."""

import copy

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

import graphreach as gr
from graphreach.nn import device
from helpers import random_graph

ANCHORS = [3, 1, 7, 9, 0]
NUM_NODES = 12


def small_reach(layout="dense", hops=None, method="exact"):
    """Reachability of a directed graph of 12 nodes: gaps, dead ends, nodes alone, patterns that differ by direction."""
    graph = random_graph(NUM_NODES, 20, directed=True, seed=1)
    return gr.reachability(graph, ANCHORS, method=method, walk_length=hops or 3, hops=hops, layout=layout)


def small_positions(layout="dense", dtype=torch.float64, hops=None, method="exact"):
    """Positions as the layers read them."""
    return small_reach(layout, hops, method).to_torch().to(dtype)


def small_matrices(hops=None, method="exact"):
    """The same as two dense matrices in double precision, for the literal versions."""
    reach = small_reach("dense", hops, method)
    return tuple(torch.from_numpy(matrix).double() for matrix in (reach.to_anchors, reach.from_anchors))


def as_csr(matrix):
    """A dense tensor as SciPy's compressed matrix."""
    return csr_array(matrix.flatten(1).numpy())


def literal_map(network, similarity):
    """w_2 relu(W_1 s + b_1) + b_2 for every entry; ``similarity`` is [n, k] or [n, k, L]."""
    rows = similarity.reshape(len(similarity), similarity.shape[1], -1)
    W1, b1, w2, b2 = network.hidden.weight, network.hidden.bias, network.out.weight[0], network.out.bias[0]
    return torch.stack([torch.stack([w2 @ (W1 @ s + b1).clamp(min=0) + b2 for s in row]) for row in rows])


def literal_messages(layer, x, T, F, anchors):
    """Eqs. 4-5, [n, k, d']: F(v, a) = s(v, a) h_v || s(a, v) h_a for all pairs, then W_M."""
    if not layer.similarity:
        T, F = torch.ones(T.shape[:2], dtype=x.dtype), torch.ones(F.shape[:2], dtype=x.dtype)
    elif layer.similarity_map is not None:
        T, F = literal_map(layer.similarity_map, T), literal_map(layer.similarity_map, F)
    rows = []
    for v in range(len(x)):
        row = [torch.cat([T[v, i] * x[v], F[v, i] * x[a]]) for i, a in enumerate(anchors)]
        rows.append(torch.stack(row))
    messages = torch.stack(rows) @ layer.weight
    if layer.bias is not None:
        messages = messages + layer.bias
    return messages.relu() if layer.message_activation == "relu" else messages


def literal_attention(own, messages, weight, att, slope):
    """Eqs. 7-8 of one head."""
    out = []
    for v in range(len(own)):
        logits = [torch.cat([own[v] @ weight, m @ weight]) @ att for m in messages[v]]
        alpha = torch.softmax(torch.stack([e if e > 0 else slope * e for e in logits]), 0)
        out.append(sum(a * (m @ weight) for a, m in zip(alpha, messages[v], strict=True)) + own[v] @ weight)
    return torch.stack(out)


def literal_conv(conv, x, T, F, anchors):
    """Eq. 6 or Eqs. 7-8."""
    messages = literal_messages(conv, x, T, F, anchors)
    if conv.aggregation == "mean":
        return sum(messages[:, i] for i in range(len(anchors))) / len(anchors)
    own = x if conv.weight_self is None else x @ conv.weight_self
    heads = [literal_attention(own, messages, W, a, 0.2) for W, a in zip(conv.weight_att, conv.att, strict=True)]
    return torch.cat(heads, -1) if conv.concat else sum(heads) / len(heads)


def literal_readout(readout, x, T, F, anchors):
    """Algorithm 1, line 8, before sigma."""
    z = literal_messages(readout, x, T, F, anchors) @ readout.weight_z
    return z if readout.bias_z is None else z + readout.bias_z


SIGMA = {
    "normalize": lambda z: z / z.norm(dim=-1, keepdim=True),
    "tanh": torch.tanh,
    "sigmoid": lambda z: 1 / (1 + torch.exp(-z)),
    "identity": lambda z: z,
}


def literal_graph_reach(model, x, T, F, anchors):
    """Algorithm 1."""
    h = x if model.projection is None else x @ model.projection.weight.T + model.projection.bias
    for conv in model.convs:
        h = literal_conv(conv, h, T, F, anchors)
    return SIGMA[model.output_activation](literal_readout(model.readout, h, T, F, anchors))


def features(width, num_nodes=NUM_NODES, seed=0):
    """Random features in double precision, which take a gradient."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(num_nodes, width, dtype=torch.float64, generator=generator).requires_grad_()


def random_weights(module, seed=0):
    """The same in double precision with no weight zero, so that a bias that is forgotten shows."""
    module = module.double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in module.parameters():
            scale = max(1, weight.shape[-1] if weight.dim() else 1) ** -0.5
            weight.copy_(scale * torch.randn(weight.shape, dtype=torch.float64, generator=generator))
    return module


def in_single(module):
    """A copy in single precision."""
    return copy.deepcopy(module).float()


def gradients(out, inputs, seed=0):
    """Gradients of a random weighted sum of the output."""
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(out.shape, dtype=torch.float64, generator=generator).to(out.dtype)
    found = torch.autograd.grad((out * weight).sum(), inputs, allow_unused=True, materialize_grads=True)
    return list(found)


def assert_near(actual, expected, tolerance):
    """No number differs by more than ``tolerance``, of the largest one if that is above one."""
    assert actual.shape == expected.shape
    actual, expected = actual.detach().double(), expected.detach().double()
    scale = max(1.0, float(expected.abs().max())) if expected.numel() else 1.0
    difference = float((actual - expected).abs().max()) if expected.numel() else 0.0
    assert difference <= tolerance * scale, f"differs by {difference:.2e}"


def assert_same_function(actual, inputs, expected, expected_inputs, tolerance):
    """Two outputs are equal, and so are their gradients with respect to inputs listed in the same order."""
    assert_near(actual, expected, tolerance)
    pairs = zip(gradients(actual, inputs), gradients(expected, expected_inputs), strict=True)
    for gradient, expected_gradient in pairs:
        assert_near(gradient, expected_gradient, tolerance)


def force_plain(monkeypatch):
    """Switch the kernels off."""
    monkeypatch.setattr(device, "_enabled", False)


def ring_with_chords(num_nodes=60, seed=0):
    """A connected graph without symmetry to speak of."""
    rng = np.random.default_rng(seed)
    nodes = np.arange(num_nodes)
    chords = rng.integers(0, num_nodes, (2, num_nodes))
    chords = chords[:, chords[0] != chords[1]]
    return gr.Graph.from_edges(np.concatenate([np.stack([nodes, np.roll(nodes, 1)]), chords], 1), num_nodes)


SWITCHES = [
    {},
    {"bias": True},
    {"message_activation": "relu"},
    {"message_activation": "relu", "bias": True},
    {"similarity_map": "learned"},
    {"similarity_map": "learned", "bias": True},
    {"similarity_map": "learned", "message_activation": "relu", "bias": True},
    {"similarity": False},
    {"similarity": False, "message_activation": "relu", "bias": True},
    {"similarity_map": "learned", "hops": 3, "bias": True},
    {"similarity_map": "learned", "hops": 3, "message_activation": "relu"},
]
"""The message's switches of DESIGN.md, together and apart."""


def switch_name(switches):
    """How a test with these switches is called."""
    return "-".join(f"{name}={value}" for name, value in switches.items()) or "paper"


def with_switches(function):
    """Run a test with every combination in :data:`SWITCHES`."""
    return pytest.mark.parametrize("switches", SWITCHES, ids=switch_name)(function)


def with_layouts(function):
    """Run a test on dense and on compressed positions."""
    return pytest.mark.parametrize("layout", ["dense", "csr"])(function)

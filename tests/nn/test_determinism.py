"""Training repeats bit for bit: the same seed, and any number of threads."""

import numba
import numpy as np
import pytest
import torch

import graphreach as gr
from helpers import run_python
from nn_literal import ring_with_chords

MODELS = {
    "paper-attention": ({}, {}),
    "paper-mean": ({"aggregation": "mean"}, {}),
    "attention-csr": ({}, {"layout": "csr"}),
    "mean-csr": ({"aggregation": "mean"}, {"layout": "csr"}),
    "authors": ({"message_activation": "relu", "similarity_map": "learned", "bias": True}, {"method": "walks"}),
    "authors-csr": (
        {"message_activation": "relu", "similarity_map": "learned", "bias": True},
        {"method": "walks", "layout": "csr"},
    ),
    "map-not-looked-up": ({"similarity_map": "learned", "hops": 3, "message_activation": "relu"}, {"hops": 3}),
}


@pytest.fixture(autouse=True)
def one_torch_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def train(arguments, options, seed=0, steps=5):
    """All weights, the loss and the embedding after a few steps with Adam."""
    graph = ring_with_chords(301)
    positions = gr.reachability(graph, range(0, 301, 9), **{"method": "exact", "walk_length": 3, **options}).to_torch()
    torch.manual_seed(seed)
    model = gr.nn.GraphReach(0, 16, decoder="scaled", dropout=0.1, **arguments)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    links = torch.from_numpy(np.ascontiguousarray(graph.edge_index))
    pairs = torch.cat([links, torch.randint(301, links.shape)], 1)
    labels = (torch.arange(pairs.size(1)) < links.size(1)).float()
    for _ in range(steps):
        z = model(None, positions)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model.score_pairs(z, pairs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [loss.detach(), z.detach(), *(weight.detach().clone() for weight in model.parameters())]


def assert_identical(first, second):
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_same_seed_same_training(name):
    first = train(*MODELS[name])
    assert_identical(first, train(*MODELS[name]))
    assert not torch.equal(first[1], train(*MODELS[name], seed=1)[1])


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
@pytest.mark.parametrize("name", MODELS)
def test_threads_of_the_kernels_do_not_matter(name):
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = train(*MODELS[name])
        numba.set_num_threads(2)
        two = train(*MODELS[name])
    finally:
        numba.set_num_threads(before)
    assert_identical(one, two)


IN_A_PROCESS = """
import hashlib, networkx as nx, torch
import graphreach as gr

torch.set_num_threads(1)
graph = nx.connected_caveman_graph(6, 8)
hashes = []
for preset in ("best", "paper", "authors"):
    model = gr.GraphReachEmbedding(method="paper", num_anchors=12, preset=preset, epochs=10, random_state=3)
    z = model.fit_transform(graph)
    hashes.append(hashlib.sha256(z.tobytes()).hexdigest())
print(*hashes)
"""


def test_another_process_with_one_thread_gives_the_same_embedding(capsys):
    exec(IN_A_PROCESS, {})
    assert run_python(IN_A_PROCESS, NUMBA_NUM_THREADS="1") == capsys.readouterr().out

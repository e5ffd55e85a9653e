"""Training and prediction give the same bits on any number of threads: 1, 2, 4 of torch and of the kernels.

``python -m tools.threads`` does the same for all cases, each in a process of its own.
"""

import numba
import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

import graphreach as gr
from graphreach import jit
from graphreach.threads import one_blas_thread
from tools.threads import differing_bits, sample, train

QUICK = {
    "link-pgnn-e": 2,
    "pair-graphreach-authors-features": 6,
    "node-graphreach-best-features": 2,
    "node-graphreach-paper-features": 2,
    "node-gat": 2,
    "node-gin": 2,
    "node-mlp": 2,
}
"""Cases that used to differ, and after how many epochs."""


@pytest.fixture(scope="module")
def data():
    return sample()


@pytest.fixture
def threads():
    """Sets the numbers of torch's and of the kernels' threads; they are as before afterwards."""
    before = torch.get_num_threads(), numba.get_num_threads()

    def choose(of_torch, of_kernels):
        torch.set_num_threads(of_torch)
        numba.set_num_threads(min(of_kernels, numba.config.NUMBA_NUM_THREADS))

    yield choose
    torch.set_num_threads(before[0])
    numba.set_num_threads(before[1])


@pytest.mark.parametrize("name", QUICK)
def test_training_has_the_same_bits(name, data, threads):
    threads(1, 1)
    one = train(name, data, QUICK[name])
    threads(2, 4)
    assert differing_bits(one, train(name, data, QUICK[name])) == 0


def test_torch_keeps_its_threads(data, threads):
    threads(2, 1)
    train("node-mlp", data, epochs=1)
    assert torch.get_num_threads() == 2


def test_linear_algebra_of_the_encodings_is_on_one_thread():
    with one_blas_thread():
        counts = {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}
    assert counts == {1}


def fit_links(data):
    pairs = data.graph.ids[[[0, 1], [2, 50], [99, 7]]]
    found = gr.LinkPredictor(num_members=1).fit(data.graph, data.x)
    recommended = found.recommend(pairs[:, 0], top=5)
    known = data.graph.edge_index.T[:30]  # scored without their own edges
    return {
        "described": found.background_,
        "links": found.decision_function(data.graph.ids[known]),
        "others": found.predict_proba(pairs),
        "recommended": recommended.probability,
        "weights": torch.cat([each.flatten() for each in found.head_.state_dict().values()]).numpy(),
    }


def fit_relation(data):
    rng = np.random.default_rng(0)
    pairs = rng.permuted(np.tile(np.arange(100), (300, 1)), axis=1)[:, :2]
    same = data.y[pairs[:, 0]] == data.y[pairs[:, 1]]
    found = gr.LinkPredictor(num_members=2).fit(data.graph, data.x, data.graph.ids[pairs], same.astype(int))
    return {"described": found.background_, "pairs": found.decision_function(data.graph.ids[pairs])}


def fit_classes(data):
    labels = np.where(np.arange(100) % 2, data.y, -1)
    found = gr.ReachClassifier(16).fit(data.graph, labels, data.x)
    grown = gr.Graph.from_edges(data.graph.edge_index, data.graph.num_nodes)
    return {"fit": found.predict_proba(), "again": found.predict_proba(graph=grown, x=data.x)}


@pytest.mark.parametrize("fit", [fit_links, fit_relation, fit_classes])
def test_attributes_are_learnt_with_the_same_bits(fit, threads, monkeypatch):
    """Also on more threads than there are CPUs; numba would not count further than those."""
    data = sample(100, 12, 4)
    monkeypatch.setattr(jit, "SHORT", 0.0)  # small work is shared too
    found = []
    for count in (1, 2, 7):
        threads(count, count)
        monkeypatch.setattr(numba, "get_num_threads", lambda count=count: count)
        with threadpool_limits(count, user_api="blas"):
            found.append(fit(data))
    assert [differing_bits(found[0], other) for other in found[1:]] == [0, 0]

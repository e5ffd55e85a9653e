"""Training and prediction give the same bits on any number of threads: 1, 2, 4 of torch and of the kernels.

``python -m tools.threads`` does the same for all cases, each in a process of its own.
"""

import numba
import pytest
import torch
from threadpoolctl import threadpool_info

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

"""Where layers run, and that the path without kernels trains the same models."""

import pytest
import torch

import graphreach as gr
from graphreach import datasets, training
from graphreach.errors import InputError
from graphreach.nn.device import find_device, use_kernels, without_kernels
from graphreach.training import Settings

CASES = {
    "best": {},
    "paper": {"preset": "paper"},
    "authors": {"preset": "authors"},
    "classes": {"task": "node", "preset": "paper"},
    "pgnn": {"method": "pgnn-f"},
    "gcn": {"method": "gcn"},
    "identity": {"identity": True, "features": False},
}
SMALL = {"epochs": 4, "evaluate_every": 4, "num_anchors": 8}  # one validation: nothing to choose between


@pytest.fixture(scope="module")
def data():
    return datasets.load("communities")


def trained(data, device="cpu", **settings):
    outcome = training.run(data, Settings(**SMALL, **settings, device=device))
    weights = torch.cat([each.flatten() for each in outcome.model.state_dict().values()])
    scores = torch.from_numpy(next(each for each in outcome.scores["test"] if each is not None))
    return outcome, weights, scores


@pytest.mark.parametrize("case", CASES)
def test_the_whole_trainer_without_kernels(data, case):
    """The path that a GPU takes."""
    _, weights, scores = trained(data, **CASES[case])
    with without_kernels():
        _, other_weights, other_scores = trained(data, **CASES[case])
    torch.testing.assert_close(other_weights, weights, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(other_scores, scores, atol=1e-5, rtol=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize("case", CASES)
def test_training_on_cuda(data, case):
    outcome, _, scores = trained(data, "cuda", **{"dropout": 0.0} | CASES[case])
    _, _, expected = trained(data, **{"dropout": 0.0} | CASES[case])
    assert {each.device.type for each in outcome.model.state_dict().values()} == {"cpu"}
    torch.testing.assert_close(scores, expected, atol=1e-3, rtol=1e-3)


def test_a_trainer_moves_model_and_batches_and_brings_the_model_back(data, monkeypatch):
    """Tensors on PyTorch's device without memory show where things go; nothing can be computed there."""
    monkeypatch.setattr(training.trainer, "find_device", lambda name: torch.device("meta"))
    seen = []

    def look(trainer):
        batch = trainer.batches[0]
        seen.extend([batch.train.index.device, batch.inputs.structure.to_values.device])
        seen.extend(each.device for each in trainer.model.parameters())
        raise KeyboardInterrupt

    monkeypatch.setattr(training.Trainer, "_loop", look)
    monkeypatch.setattr(training.Trainer, "use_best", lambda trainer: None)
    with pytest.raises(KeyboardInterrupt):
        training.run(data, Settings(**SMALL))
    assert {each.type for each in seen} == {"meta"}


def test_names_of_devices():
    assert find_device("cpu") == torch.device("cpu")
    assert find_device().type == ("cuda" if torch.cuda.is_available() else "cpu")
    with pytest.raises(InputError, match="device must be one of auto, cpu, cuda, got 'gpu'"):
        find_device("gpu")
    with pytest.raises(InputError, match="device"):
        Settings(device="gpu")
    with pytest.raises(InputError, match="device must be one of auto, cpu, cuda, got 'gpu'"):
        gr.GraphReachEmbedding(method="paper", device="gpu").fit(gr.Graph.from_edges([[0, 1], [1, 2]]))


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_cuda_that_is_not_there_is_refused(data):
    with pytest.raises(InputError, match='device must be "cpu" or "auto" on a machine without CUDA, got "cuda"'):
        training.run(data, Settings(**SMALL, device="cuda"))


def test_kernels_are_for_the_cpu_in_single_and_double_precision():
    assert use_kernels(torch.ones(1), torch.ones(1).double(), torch.ones(1).int())
    assert not use_kernels(torch.ones(1).half())
    assert not use_kernels(torch.ones(1, device="meta"))
    with without_kernels():
        assert not use_kernels(torch.ones(1))
    assert use_kernels(torch.ones(1))

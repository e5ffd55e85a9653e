import numpy as np
import pytest
import torch

import graphreach as gr
from graphreach import datasets, training

X = torch.tensor([[1.0, 5.0, 2.0], [3.0, 5.0, 4.0], [5.0, 5.0, 9.0]])


def test_columns_have_mean_0_and_deviation_1_and_constants_become_0():
    z = gr.nn.Standardise(3).fit(X)(X)
    torch.testing.assert_close(z.mean(0), torch.zeros(3), atol=1e-6, rtol=0)
    torch.testing.assert_close(z.std(0, correction=0), torch.tensor([1.0, 0.0, 1.0]))


def test_word_vectors_are_left_alone():
    words = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    torch.testing.assert_close(gr.nn.Standardise(3).fit(words)(words), words)


def test_unfitted_changes_nothing():
    assert gr.nn.Standardise(3)(X) is X


@pytest.mark.parametrize("method", ["graphreach", "pgnn-e", "gcn", "mlp"])
def test_the_scale_of_columns_does_not_matter_and_is_saved(method, tmp_path):
    plain = datasets.load("communities").samples[0]
    x = np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)
    settings = training.Settings(task="pair", method=method, epochs=2, model={"standardise": True})
    one, two = (
        training.run(datasets.Sample(plain.graph, each, plain.y), settings, tmp_path / name)
        for name, each in (("a", x), ("b", x * np.float32([1000, 1, 0.001]) + np.float32([7, 7, 0])))
    )
    np.testing.assert_allclose(one.scores["test"][0], two.scores["test"][0], atol=1e-3)
    loaded = training.TrainedRun(tmp_path / "a").model
    assert loaded.encoder.scaler.scale.tolist() == one.model.encoder.scaler.scale.tolist()
    assert (loaded.encoder.scaler.mean != 0).all()

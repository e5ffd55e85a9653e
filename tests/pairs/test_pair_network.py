"""Scoring by arrays against the torch module that was trained."""

import json

import numpy as np
import pytest
import torch

from graphreach.errors import InputError
from graphreach.io.model_folder import sign
from graphreach.link_predictor import PRETRAINED
from graphreach.nn.pair_head import PairHead
from graphreach.nn.pretrained import tensor_checksum
from graphreach.pairs.pair_network import PairNetwork
from graphreach.training.pair_scorer import PairScorer


@pytest.fixture(scope="module")
def head():
    return PairHead.from_pretrained(PRETRAINED)


def some_features(head, count, seed=0):
    rng = np.random.default_rng(seed)
    values = head.mean.numpy() + rng.normal(size=(count, head.in_channels)) / np.maximum(head.scale.numpy(), 0.1)
    return values.astype(np.float32)


@pytest.mark.parametrize("members", [1, 3])
def test_logits_are_those_of_the_module_within_single_precision(members):
    torch.manual_seed(0)
    head = PairHead(17, hidden_channels=20, num_members=members).eval()
    head.mean.normal_()
    head.scale.uniform_(0.5, 2)
    head.calibration.copy_(torch.tensor([1.3, -0.4]))
    x = some_features(head, 1000)
    with torch.no_grad():
        exact = head.double()(torch.from_numpy(x).double()).numpy()
    np.testing.assert_allclose(head.float().network().logits(x), exact, rtol=1e-5, atol=2e-6)


def test_the_shipped_network_is_the_shipped_module(head):
    network, metadata = PairNetwork.load(PRETRAINED)
    x = some_features(head, 3000)
    with torch.no_grad():
        expected = head(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(network.logits(x), expected, rtol=1e-5, atol=1e-5)
    assert metadata == head.metadata
    assert {name: value.tolist() for name, value in network.arrays().items()} == {
        name: value.tolist() for name, value in head.state_dict().items()
    }


def test_no_bit_depends_on_the_pairs_beside(head):
    network, x = head.network(), some_features(head, 700)
    whole, order = network.logits(x), np.random.default_rng(1).permutation(700)
    assert np.array_equal(network.logits(x[order]), whole[order])
    assert np.array_equal(network.logits(x[:1]), whole[:1])
    assert np.array_equal(np.concatenate([network.logits(x[:300]), network.logits(x[300:])]), whole)
    assert network.logits(x[:0]).shape == (0,)


def test_both_write_the_same_files_and_read_those_of_the_other(head, tmp_path):
    metadata = {"anchors": [1, 2], "prior": 0.5}
    head.save_pretrained(tmp_path / "module", **metadata)
    head.network().save(tmp_path / "arrays", **metadata)
    for name in ("config.json", "model.safetensors"):
        assert (tmp_path / "module" / name).read_bytes() == (tmp_path / "arrays" / name).read_bytes()
    network, found = PairNetwork.load(tmp_path / "module")
    assert found == metadata
    assert network.config() == head.config
    again = PairHead.from_pretrained(tmp_path / "arrays")
    assert tensor_checksum(again.state_dict()) == tensor_checksum(head.state_dict())


def test_a_module_and_its_network_share_memory():
    head = PairHead.of(PairNetwork.load(PRETRAINED)[0])
    network = head.network()
    with torch.no_grad():
        head.weights[0][0, 0, 0] = 7.0
    assert network.weights[0][0, 0, 0] == 7.0
    assert not head.training
    assert all(each.requires_grad for each in head.parameters())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda config: config.update(hidden_channels=0), "hidden_channels must be an integer of at least 1, got 0"),
        (lambda config: config.update(hidden_channels=63), "of shape"),
        (lambda config: config.update(width=3), "does not describe a PairHead"),
        (lambda config: config.clear(), "does not describe a PairHead"),
        (lambda config: config.update(in_channels="30"), "in_channels must be an integer"),
    ],
)
def test_other_folders_are_refused(head, tmp_path, change, sentence):
    head.save_pretrained(tmp_path, **head.metadata)
    path = tmp_path / "config.json"
    record = json.loads(path.read_text())
    change(record["config"])
    path.write_text(json.dumps(sign(record)))
    with pytest.raises(InputError, match=sentence):
        PairScorer.load(tmp_path)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_damaged_files_are_refused(head, tmp_path, name):
    head.save_pretrained(tmp_path)
    path = tmp_path / name
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", whole[:-1] + bytes([whole[-1] ^ 1])):
        path.write_bytes(content)
        with pytest.raises(InputError, match="save the model again"):
            PairNetwork.load(tmp_path)
    path.unlink()
    with pytest.raises(InputError, match=f"folder must hold .*{name}"):
        PairNetwork.load(tmp_path)

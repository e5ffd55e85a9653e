"""Models as folders: what is written is read, and nothing else is."""

import json
import os
import pickle

import pytest
import torch
from safetensors.torch import load_file, save_file

import graphreach as gr
from graphreach.errors import InputError
from graphreach.io import model_folder
from nn_literal import features, small_reach, with_switches

METADATA = {"anchors": [3, 1], "ids": ["ann", "bob"], "walks": {"num_walks": 50, "walk_length": 20, "seed": 0}}


@pytest.fixture
def folder(tmp_path):
    """A saved model."""
    torch.manual_seed(0)
    gr.nn.GraphReach(4, 6, decoder="scaled").save_pretrained(tmp_path / "model", **METADATA)
    return tmp_path / "model"


def edit(folder, **changes):
    """Another configuration, signed as one that was saved so."""
    path = folder / "config.json"
    path.write_text(json.dumps(model_folder.sign({**json.loads(path.read_text()), **changes})))


def assert_refused(folder, match="config.json"):
    """Refused with one sentence."""
    with pytest.raises(InputError, match=match) as caught:
        gr.nn.GraphReach.from_pretrained(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400


@with_switches
def test_round_trip(tmp_path, switches):
    model = gr.nn.GraphReach(4, 6, 3, decoder="scaled", heads=2, input_projection=True, **switches)
    model.save_pretrained(tmp_path)
    loaded = gr.nn.GraphReach.from_pretrained(tmp_path)
    reach, x = small_reach(hops=switches.get("hops")), features(4).float()
    assert torch.equal(loaded(x, reach), model(x, reach))
    assert loaded.config == model.config
    assert repr(loaded) == repr(model)


def test_round_trip_of_table_and_local_branch(tmp_path):
    model = gr.nn.GraphReach(4, 6, num_nodes=12, local="gcn", decoder="reach")
    model.save_pretrained(tmp_path)
    loaded = gr.nn.GraphReach.from_pretrained(str(tmp_path))
    x, edges = features(4).float(), torch.tensor([[0, 1], [1, 2]])
    assert torch.equal(*(each(x, small_reach(), edge_index=edges) for each in (model, loaded)))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_precision_is_kept(tmp_path, dtype):
    model = gr.nn.GraphReach(4, 6, decoder="scaled").to(dtype)
    model.save_pretrained(tmp_path)
    loaded = gr.nn.GraphReach.from_pretrained(tmp_path)
    for one, other in zip(model.parameters(), loaded.parameters(), strict=True):
        assert other.dtype == dtype
        assert torch.equal(one, other)


def test_metadata_is_kept(folder):
    assert gr.nn.GraphReach.from_pretrained(folder).metadata == METADATA


def test_files_are_safetensors_and_json(folder):
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.safetensors"]
    assert set(load_file(folder / "model.safetensors")) == set(gr.nn.GraphReach(4, 6, decoder="scaled").state_dict())
    record = json.loads((folder / "config.json").read_text())
    assert (record["format"], record["version"], record["model"]) == (1, gr.__version__, "GraphReach")


@pytest.mark.parametrize("found", [0, 2, "1", None, 1e9])
def test_another_format_is_refused(folder, found):
    edit(folder, format=found)
    assert_refused(folder, f"has format {found}, and this version of graphreach reads format 1")


def test_another_model_is_refused(folder):
    edit(folder, model="PGNN")
    assert_refused(folder, "describes a PGNN, not a GraphReach")


def test_wrong_shape_is_refused(folder):
    state = load_file(folder / "model.safetensors")
    state["readout.weight_z"] = torch.zeros(7)
    save_file(state, folder / "model.safetensors")
    assert_refused(folder, r"readout.weight_z of shape \[7\], expected \[6\]")


def test_weights_of_another_configuration_are_refused(folder):
    config = json.loads((folder / "config.json").read_text())["config"]
    edit(folder, config={**config, "hidden_channels": 8})
    assert_refused(folder, "of shape")
    edit(folder, config={**config, "num_layers": 3})
    assert_refused(folder, "does not hold the weights that config.json describes")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"width": 3}, "config.json"),
        ({"num_layers": "two"}, "config.json"),
        ({"num_layers": 0}, "num_layers must be an integer from 1 to 1024, got 0"),
        ({"aggregation": "max"}, "aggregation must be"),
    ],
)
def test_configuration_that_makes_no_model_is_refused(folder, config, message):
    edit(folder, config=config)
    assert_refused(folder, message)


@pytest.mark.parametrize("missing", ["config", "metadata", "model"])
def test_configuration_with_a_part_missing_is_refused(folder, missing):
    record = json.loads((folder / "config.json").read_text())
    del record[missing]
    (folder / "config.json").write_text(json.dumps(record))
    assert_refused(folder)


@pytest.mark.parametrize("text", ["[]", "null", "3", '"GraphReach"', "{}"])
def test_other_json_is_refused(folder, text):
    (folder / "config.json").write_text(text)
    assert_refused(folder, "has format None")


@pytest.mark.parametrize("config", [None, [], "x"])
def test_configuration_of_another_kind_is_refused(folder, config):
    edit(folder, config=config)
    assert_refused(folder)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.3, 0.9, 0.999])
@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_truncated_file_is_refused(folder, name, share):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: int(share * len(content))])
    assert_refused(folder, "is not a whole")


def test_noise_is_refused(folder):
    for name in ("model.safetensors", "config.json"):
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(bytes(range(256)) * 20)
        assert_refused(folder, "is not a whole")
        (folder / name).write_bytes(whole)


def test_missing_files_are_named(folder, tmp_path):
    assert_refused(tmp_path / "nothing", "folder must hold config.json and model.safetensors")
    (folder / "model.safetensors").unlink()
    assert_refused(folder, "folder must hold model.safetensors")
    (folder / "config.json").unlink()
    assert_refused(folder, "folder must hold config.json")


def test_a_file_in_place_of_a_folder_is_refused(folder):
    assert_refused(folder / "config.json", "folder must hold")


class Payload:
    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


@pytest.mark.parametrize("save", [lambda content: pickle.dumps(content), None], ids=["pickle", "torch.save"])
def test_a_pickle_is_never_opened(folder, tmp_path, save):
    marker, path = tmp_path / "opened", folder / "model.safetensors"
    if save is None:
        torch.save({"weight": Payload(marker)}, path)
    else:
        path.write_bytes(save({"weight": Payload(marker)}))
    assert_refused(folder, "is not a whole safetensors file")
    assert not marker.exists()
    (folder / "config.json").write_bytes(pickle.dumps(Payload(marker)))
    assert_refused(folder, "config.json")
    assert not marker.exists()


@pytest.mark.parametrize("fails", ["replace", "write_bytes"])
def test_failed_write_leaves_the_old_file(folder, monkeypatch, fails):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr(model_folder.Path, fails, lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        gr.nn.GraphReach(4, 6, decoder="scaled").save_pretrained(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_saving_again_replaces(folder):
    model = gr.nn.GraphReach(4, 6)
    model.save_pretrained(folder)
    loaded = gr.nn.GraphReach.from_pretrained(folder)
    assert torch.equal(loaded.readout.weight_z, model.readout.weight_z)
    assert loaded.metadata == {}


def test_what_json_cannot_hold_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match="plain values that JSON can hold"):
        gr.nn.GraphReach(4, 6).save_pretrained(tmp_path / "model", anchors={1, 2})
    with pytest.raises(InputError, match="plain values that JSON can hold"):
        gr.nn.GraphReach(4, 6, decoder=torch.nn.Identity()).save_pretrained(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_random_state_is_not_touched_by_what_is_loaded(folder):
    first, second = (gr.nn.GraphReach.from_pretrained(folder) for _ in range(2))
    assert all(torch.equal(*pair) for pair in zip(first.parameters(), second.parameters(), strict=True))


def test_a_loaded_model_is_in_evaluation_mode(folder):
    assert not gr.nn.GraphReach.from_pretrained(folder).training


def test_flipped_bytes_in_the_weights_are_refused(folder):
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    begin = 8 + int.from_bytes(whole[:8], "little")
    for place in range(begin, len(whole), max(1, (len(whole) - begin) // 40)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        assert_refused(folder, "does not hold the weights that were saved, as their checksum differs")
    path.write_bytes(whole)
    assert gr.nn.GraphReach.from_pretrained(folder).metadata == METADATA


def test_any_byte_of_the_configuration_that_means_something_is_checked(folder):
    path = folder / "config.json"
    whole = path.read_bytes()
    kept = 0
    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 7
        path.write_bytes(damaged)
        try:
            same = json.loads(damaged) == json.loads(whole)
        except ValueError:
            same = False
        if same:
            kept += 1  # a blank between two parts
        else:
            assert_refused(folder, r"config\.json|their checksum differs")
    assert kept < len(whole) // 7


def test_weights_of_another_saving_are_refused(folder, tmp_path):
    """A process that was killed between the two files leaves weights and configuration of two models."""
    torch.manual_seed(1)
    gr.nn.GraphReach(4, 6, decoder="scaled").save_pretrained(tmp_path / "other")
    (tmp_path / "other" / "model.safetensors").replace(folder / "model.safetensors")
    assert_refused(folder, "their checksum differs")


def test_a_model_of_an_earlier_version_is_read_with_a_warning(folder):
    path = folder / "config.json"
    record = json.loads(path.read_text())
    del record["checksum"]
    path.write_text(json.dumps(record))
    with pytest.warns(UserWarning, match="saved by a version that kept no checksums"):
        assert gr.nn.GraphReach.from_pretrained(folder).metadata == METADATA


@pytest.mark.parametrize("sums", [None, {}, [], {"weights": 3, "config": "a"}, {"weights": "a"}])
def test_checksums_of_another_kind_are_refused(folder, sums):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "checksum": sums}))
    assert_refused(folder, "must have the checksums")

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphreach import InputError
from graphreach.training import Settings


def test_file_then_changes_then_arguments(tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_text("epochs: 7\nseed: 3\nmodel:\n  heads: 2\n")
    settings = Settings.read(file, ["seed=4", "model.aggregation=mean"], task="pair", preset=None)
    assert (settings.epochs, settings.seed, settings.task, settings.preset) == (7, 4, "pair", "best")
    assert settings.model == {"heads": 2, "aggregation": "mean"}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"epoch": 3}, "settings must not hold 'epoch'; did you mean 'epochs'?"),
        ({"zzz": 3}, "settings must not hold 'zzz'; known are task"),
        ({"epochs": 0}, "epochs: input should be greater than or equal to 1, got 0"),
        ({"task": "links"}, "task: input should be 'link', 'pair' or 'node', got 'links'"),
        ({"learning_rate": "fast"}, "learning_rate: input should be a valid number"),
    ],
)
def test_what_is_wrong_is_one_sentence(values, sentence):
    with pytest.raises(InputError) as caught:
        Settings(**values)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "word"), [("epochs", "key=value"), ("=3", "key=value"), ("epochs.x=3", "unknown")])
def test_changes_must_be_key_and_value(text, word):
    if word == "unknown":
        with pytest.raises(InputError, match="epochs"):
            Settings.read(None, [text])
    else:
        with pytest.raises(InputError, match=word):
            Settings.read(None, [text])


def test_missing_and_broken_files(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        Settings.read(tmp_path / "none.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [1")
    with pytest.raises(InputError, match="is not YAML"):
        Settings.read(broken)
    broken.write_text("- 1\n")
    with pytest.raises(InputError, match="key: value"):
        Settings.read(broken)


def test_yaml_never_builds_objects(tmp_path):
    file = tmp_path / "evil.yaml"
    file.write_text("seed: !!python/object/apply:os.getpid []\n")
    with pytest.raises(InputError, match="is not YAML"):
        Settings.read(file)


@given(st.integers(1, 10**6), st.integers(0, 2**32 - 1), st.floats(1e-6, 1, allow_nan=False))
def test_dump_and_make_are_inverse(epochs, seed, rate):
    settings = Settings(epochs=epochs, seed=seed, learning_rate=rate)
    again = Settings(**settings.model_dump())
    assert again == settings
    assert settings.differences(again) == []


def test_differences_say_which():
    assert Settings(epochs=3).differences(Settings(epochs=4)) == ["epochs 4 there and 3 here"]


def refused(call, *values, **named):
    with pytest.raises(InputError) as caught:
        call(*values, **named)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700
    return str(caught.value)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"epoch": 3}, "settings must not hold 'epoch'; did you mean 'epochs'?"),
        ({"epochs": "x"}, "epochs: input should be a valid integer"),
        ({"epochs": True}, "epochs: input should not be true or false, got True"),
        ({"keep_connected": "often"}, "keep_connected: input should be a valid boolean"),
        ({"bipartite": "auto"}, "bipartite: input should be a valid boolean"),
        ({"negatives": "popular"}, "negatives: input should be 'uniform'"),
        ({"epochs": 10**400}, "epochs: input should be less than or equal to 9007199254740992"),
        ({"hidden_channels": 10**9}, "hidden_channels: input should be less than"),
        ({"learning_rate": float("nan")}, "learning_rate: input should be a finite number, got nan"),
        ({"weight_decay": float("inf")}, "weight_decay: input should be a finite number, got inf"),
        ({"fractions": (0.5, 0.5, 0.5)}, "fractions must be three shares"),
        ({"fractions": (-0.5, 1, 0.5)}, "fractions must be three shares"),
        ({"fractions": (0.8, 0.2)}, "fractions: field required"),
        ({"model": {1: 2}}, "settings must have names as keys, got 1"),
        ({"model": 3}, "model must be names and values, got 3"),
        ({"model": {"a": {1: 2}}}, "settings must have names as keys, got 1"),
        ({"model": {"decoder": object()}}, "model must hold numbers, text"),
        ({"reachability": {"seed": float("inf")}}, "reachability must hold finite numbers"),
        ({"num_anchors": "log3"}, "num_anchors must be a number, a share or \"log2\", got 'log3'"),
        ({"num_anchors": 0}, "num_anchors must be at least 1"),
        ({"num_anchors": 1.5}, "num_anchors as a share must be above 0 and at most 1, got 1.5"),
        ({"strategy": "gredy"}, "strategy must be one of greedy, random, degree, pagerank, got 'gredy'; did you mean"),
    ],
)
@pytest.mark.parametrize("call", [Settings, lambda **values: Settings().model_copy(update=values)])
def test_constructor_and_copy_refuse_in_one_sentence(call, values, sentence):
    assert refused(call, **values).startswith(sentence)


def test_numpy_numbers_are_numbers():
    settings = Settings(epochs=np.int64(3), model={"heads": np.int64(2)})
    assert settings.model_dump_json() == Settings(epochs=3, model={"heads": 2}).model_dump_json()


def test_copies_keep_what_was_set():
    copy = Settings(epochs=3).model_copy(update={"seed": 1})
    assert copy.model_fields_set == {"epochs", "seed"}
    assert copy == Settings(epochs=3, seed=1)


LAUGHS = "a0: &a0 [1, 1]\n" + "".join(
    f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}, *a{i - 1}, *a{i - 1}, *a{i - 1}, *a{i - 1}, *a{i - 1}]\n"
    for i in range(1, 40)
)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"1: 2\n", "must have names as keys, got 1"),
        (b"model:\n  on: 2\n", "must have names as keys, got True"),
        (b"- epochs: 3\n", "must hold key: value lines, got list"),
        (b"", "must hold key: value lines, got NoneType"),
        (LAUGHS.encode(), "must hold at most 10,000 values"),
        (b"model: &a {x: *a}\n", "must not hold an alias of itself"),
        (b"epochs: 3\nepochs: 4\n", "must hold each key once, got 'epochs' twice"),
        (b"\x00\x01\x02", "is not YAML"),
        (b"\xff\xfe\x00", "is not YAML: it is not text in UTF-8"),
        pytest.param(b"a: " + b"[" * 100_000, "is not YAML", id="nested"),
        (b"a" * 1_000_001, "at most 1,000,000 bytes"),
        (b"epochs: !!int ''\n", "is not YAML"),
        (b"seed: 2020-99-99\n", "is not YAML"),
        (b"seed: !!bool x\n", "is not YAML"),
        (b"model: {dropout: 2020-01-01}\n", "model must hold numbers, text"),
    ],
)
def test_files_that_are_no_settings(tmp_path, content, sentence):
    file = tmp_path / "settings.yaml"
    file.write_bytes(content)
    assert sentence in refused(Settings.read, file)


def test_a_folder_is_no_file_of_settings(tmp_path):
    assert refused(Settings.read, tmp_path) == f"config must be a YAML file, got the folder {tmp_path}"


def test_aliases_and_exponents_are_read(tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_text("learning_rate: 1e-3\nmodel: &m {dropout: 5e-1}\nparts: {gcn: {model: *m}}\n")
    settings = Settings.read(file)
    assert settings.learning_rate == 0.001
    assert settings.model == settings.parts["gcn"]["model"] == {"dropout": 0.5}


@pytest.mark.parametrize("text", ["", "=3", " =3", "epochs", ".=3", "model..heads=2", "model.=2", ".epochs=3"])
def test_changes_have_names_between_their_dots(text):
    assert "set must be key=value" in refused(Settings.read, None, [text])


@pytest.mark.parametrize(
    "value", ["*a", "[1", "!!int ''", "2020-99-99", "&a [*a]", "{1: 2}", "\x00", pytest.param("[" * 5000, id="nested")]
)
def test_changes_of_odd_values_are_one_sentence(value):
    refused(Settings.read, None, [f"epochs={value}"])


@pytest.mark.parametrize(
    ("task", "protocol"), [("link", "clean"), ("pair", "node-disjoint"), ("node", "node-disjoint")]
)
def test_own_graphs_have_a_split_without_leaks_unless_another_is_asked_for(task, protocol):
    assert Settings(task=task).protocol == protocol
    assert Settings.read(None, [f"task={task}"]).protocol == protocol
    assert "protocol" not in Settings(task=task).model_fields_set
    assert Settings(task=task, protocol="published").protocol == "published"
    assert Settings(**Settings(task=task).model_dump(mode="json")) == Settings(task=task)


def test_settings_of_links_may_be_true_or_false():
    assert Settings(bipartite=True, keep_connected=True).bipartite is True
    assert Settings(bipartite=False).bipartite is False
    assert Settings().bipartite is None

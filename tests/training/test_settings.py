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
        Settings.make(**values)
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
    again = Settings.make(**settings.model_dump())
    assert again == settings
    assert settings.differences(again) == []


def test_differences_say_which():
    assert Settings(epochs=3).differences(Settings(epochs=4)) == ["epochs 4 there and 3 here"]

"""Damaged and incomplete files of a run: one sentence that names the file, from whoever reads it."""

import contextlib
import json
import shutil
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import graphreach as gr
from graphreach import InputError, datasets, training
from graphreach.cli import app
from graphreach.training import Settings
from graphreach.training.run_folder import RunFolder

SETTINGS = Settings(epochs=2, evaluate_every=1, num_anchors=3, hidden_channels=4)
JSON = ("settings.json", "content.json", "record.json", "source.json", "model/config.json")
TEXTS = {
    "empty": b"", "cut": b'{"format": 1, "se', "null": b"null", "list": b"[]", "number": b"3", "text": b'"x"',
    "not a number": b"NaN", "not UTF-8": b"\xff\xfe\x00", "deep": b"[" * 100_000, "two": b"{}{}", "object": b"{}",
    "NUL": b"{\x00}", "huge number": b"1" + b"0" * 5000,
}  # fmt: skip
KINDS = [None, True, -1, 3.5, "x", [], {}, [None], {"a": None}, 10**30]


def sample():
    rng = np.random.default_rng(0)
    return datasets.Sample(gr.Graph.from_edges(rng.integers(0, 30, (2, 120)), num_nodes=30))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    file = folder.parent / "edges.csv"
    graph = sample().graph
    file.write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in graph.edge_index.T if a <= b))
    (folder.parent / "pairs.csv").write_text("source,target\n1,2\n")
    source = {"graph": str(file), "options": {}, "features": None, "labels": None, "classes": []}
    training.run(datasets.Sample(gr.read_graph(file)), SETTINGS, folder, source=source)
    return folder


@pytest.fixture
def run(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    return tmp_path / "run"


def again(folder, whole):
    """All that reads a run's files from Python."""
    graph = gr.read_graph(whole.parent / "edges.csv")
    source = json.loads((whole / "source.json").read_text())
    yield lambda: training.TrainedRun(folder).embed(graph)
    yield lambda: RunFolder(folder).outcome()
    yield lambda: training.run(datasets.Sample(graph), SETTINGS, folder, source=source)


def commands(folder, whole):
    yield "evaluate", folder
    yield "predict", folder, "--pairs", whole.parent / "pairs.csv"
    yield "report", folder, "-o", folder.parent / "page.html"


def assert_said(folder, whole, name=None):
    """One sentence or a result from every reader; with a name, at least one of them refuses and names the file."""
    refused = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for use in again(folder, whole):
            try:
                use()
            except InputError as error:
                refused.append(str(error))
    for words in commands(folder, whole):
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        assert done.exit_code in (0, 2), done.output
        refused += [line for line in done.stderr.splitlines() if "error:" in line]
    assert not [line for line in refused if "\n" in line or len(line) > 500]
    if name is not None:
        assert [line for line in refused if name.rpartition("/")[2] in line], refused


@pytest.mark.parametrize("name", JSON)
def test_text_that_is_no_json_object_is_refused(run, whole, name):
    for kind, text in TEXTS.items():
        (run / name).write_bytes(text)
        # an empty object holds the settings' defaults, and the next training writes the source anew
        free = kind == "object" and name in ("settings.json", "source.json")
        assert_said(run, whole, None if free else name)


@pytest.mark.parametrize("name", JSON)
def test_missing_parts_and_parts_of_another_kind_are_refused_or_do_not_matter(run, whole, name):
    content = json.loads((whole / name).read_text())
    draw = np.random.default_rng(0)
    uses = list(again(run, whole))
    for key in content:
        picked = [KINDS[i] for i in draw.choice(len(KINDS), 4, replace=False)]
        for changed in [{**content, key: value} for value in picked] + [{k: v for k, v in content.items() if k != key}]:
            (run / name).write_text(json.dumps(changed))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for use in uses:
                    with contextlib.suppress(InputError):
                        use()


@pytest.mark.parametrize("name", [*JSON, "scores.npz", "model/model.safetensors"])
def test_a_file_that_is_missing_is_named(run, whole, name):
    (run / name).unlink()
    assert_said(run, whole, None if name in ("content.json", "source.json") else name)


@pytest.mark.parametrize("name", ["scores.npz", "model/model.safetensors"])
def test_damaged_arrays_are_refused(run, whole, name):
    content = (whole / name).read_bytes()
    draw = np.random.default_rng(0)
    damaged = [b"", b"x", content[:10], content[: len(content) // 2], content[:-3], b"\x00" * len(content)]
    for _ in range(30):
        flipped = bytearray(content)
        flipped[draw.integers(len(content))] ^= 1 << draw.integers(8)
        damaged.append(bytes(flipped))
    for each in damaged:
        (run / name).write_bytes(each)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for use in again(run, whole):
                with contextlib.suppress(InputError):
                    use()


def scores(**changes):
    arrays = {"val_count": np.array(1), "test_count": np.array(1), "val_0": np.zeros(4), "test_0": np.zeros(4)}
    return {name: value for name, value in {**arrays, **changes}.items() if value is not None}


@pytest.mark.parametrize(
    "changes",
    [
        {"val_count": None}, {"test_count": np.array(2)}, {"test_count": np.array([1])}, {"test_count": np.array("1")},
        {"test_0": None}, {"test_0": np.full(4, np.nan)}, {"test_0": np.array(["a"])}, {"test_0": np.zeros((2, 2, 2))},
        {"test_0": np.zeros(3)}, {"val_count": np.array(-1)}, {"val_count": np.array(10**12)},
    ],
)  # fmt: skip
def test_scores_of_another_kind_are_refused(run, changes):
    record = json.loads((run / "record.json").read_text())
    count = record["test_examples"]
    np.savez(run / "scores.npz", **scores(**{"test_0": np.zeros(count), **changes}))
    with pytest.raises(InputError, match=r"scores\.npz must hold"):
        RunFolder(run).outcome()


def test_scores_that_would_be_unpickled_are_refused(run):
    np.savez(run / "scores.npz", **scores(test_0=np.array([object], dtype=object)))
    with pytest.raises(InputError, match=r"scores\.npz is not a whole file of scores"):
        RunFolder(run).outcome()


def test_a_damaged_checkpoint_is_refused_whatever_is_damaged(run, whole):
    path = run / "checkpoint.safetensors"
    content = path.read_bytes()
    (run / "record.json").unlink()
    start = 8 + int.from_bytes(content[:8], "little")
    draw, graph = np.random.default_rng(0), gr.read_graph(whole.parent / "edges.csv")
    places = [*draw.integers(start, len(content), 12), *draw.integers(8, start, 12)]
    for place in places:
        flipped = bytearray(content)
        flipped[place] ^= 1 << draw.integers(7)
        path.write_bytes(flipped)
        with contextlib.suppress(InputError):
            found = training.run(datasets.Sample(graph), SETTINGS, run)
            assert place < start, "a flipped weight went unnoticed"  # a blank of the header, say
            assert found.record["metrics"] == json.loads((whole / "record.json").read_text())["metrics"]
            (run / "record.json").unlink()

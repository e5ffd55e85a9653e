"""A run's folder belongs to one content: graph, features, labels and split."""

import json
import warnings

import numpy as np
import pytest

import graphreach as gr
from graphreach import InputError, datasets, tasks, training
from graphreach.training import Settings
from graphreach.training.run_folder import RunFolder, content_hashes, describe_content

QUICK = {"epochs": 2, "evaluate_every": 1, "num_anchors": 4}


def sample(seed=0, nodes=40, edges=160, **changes):
    rng = np.random.default_rng(seed)
    graph = gr.Graph.from_edges(rng.integers(0, nodes, (2, edges)), num_nodes=nodes)
    own = {"x": rng.normal(size=(nodes, 3)).astype(np.float32), "y": np.arange(nodes) % 2}
    return datasets.Sample(**{"graph": graph, **own, **changes})


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def hashes(data, **options):
    return content_hashes(data, [tasks.split(data, "link", **options)])


def test_each_hash_follows_what_it_is_of():
    one = hashes(sample())
    assert one == hashes(sample())
    assert set(one) == {"graph", "features", "labels", "split"}

    def differ(other):
        return {key for key in one if one[key] != other[key]}

    plain = sample()
    assert differ(hashes(sample(1, x=plain.x))) == {"graph", "split"}
    assert differ(hashes(sample(x=plain.x + 1))) == {"features"}
    assert differ(hashes(sample(x=None))) == {"features"}
    assert differ(hashes(sample(y=1 - plain.y))) == {"labels"}
    assert differ(hashes(plain, seed=1)) == {"split"}
    assert differ(hashes(plain, candidates=5)) == {"split"}
    assert hashes(sample(x=None, y=None))["features"] is None


def test_the_same_bytes_in_another_shape_are_other_features():
    graph = sample(nodes=40).graph
    one, other = (datasets.Sample(graph, x) for x in (np.zeros((40, 2), np.float32), np.zeros((40, 3), np.float32)))
    assert hashes(one)["features"] != hashes(other)["features"]


OTHERS = {
    "another graph": sample(1, x=sample().x),
    r"another graph \(40 nodes and .* edges there, 40 nodes and": sample(0, edges=260, x=sample().x),
    r"another graph \(40 nodes and .* there, 50 nodes": sample(0, nodes=50),
    r"other features \(3 columns here as there": sample(x=sample().x * 2),
    r"other features \(3 columns there, none here\)": sample(x=None),
    r"other features \(3 columns there, 5 columns here\)": sample(x=np.zeros((40, 5), np.float32)),
    r"other labels \(2 classes there, 4 classes here\)": sample(y=np.arange(40) % 4),
    r"other labels \(2 classes there, 3 classes here\)": sample(y=np.arange(40) % 4 - 1),  # -1 is unknown, no class
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished") / "run"
    training.run(sample(), Settings(**QUICK), folder)
    return folder


@pytest.mark.parametrize("sentence", OTHERS)
def test_other_data_in_the_folder_of_a_finished_run_are_refused_before_anything_is_written(finished, sentence):
    before = files(finished)
    with pytest.raises(InputError, match=f"holds a run on {sentence}.*; choose another folder, or delete it") as caught:
        training.run(OTHERS[sentence], Settings(**QUICK), finished, source={"graph": "elsewhere"})
    assert "\n" not in str(caught.value)
    assert files(finished) == before


@pytest.mark.parametrize("sentence", OTHERS)
def test_an_interrupted_run_is_not_continued_on_other_data(tmp_path, monkeypatch, sentence):
    _interrupt(monkeypatch, tmp_path, Settings(**QUICK))
    before = files(tmp_path)
    with pytest.raises(InputError, match=f"holds a run on {sentence}"):
        training.run(OTHERS[sentence], Settings(**QUICK), tmp_path)
    assert files(tmp_path) == before
    assert training.run(sample(), Settings(**QUICK), tmp_path).test


def _interrupt(monkeypatch, folder, settings):
    save = training.Trainer._save

    def stop(self, due):
        save(self, True)
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(training.Trainer, "_save", stop)
        with pytest.raises(SystemExit):
            training.run(sample(), settings, folder)


def test_labels_and_splits_of_another_task_are_part_of_the_content(tmp_path):
    settings = Settings(task="node", method="mlp", **QUICK)
    training.run(sample(), settings, tmp_path)
    with pytest.raises(InputError, match="other labels"):
        training.run(sample(y=np.arange(40) // 20), settings, tmp_path)


def test_another_split_of_the_same_data_is_refused(tmp_path, monkeypatch):
    """Say by a later version that cuts otherwise."""
    training.run(sample(), Settings(**QUICK), tmp_path)
    real = training.harness.split_dataset
    monkeypatch.setattr(training.harness, "split_dataset", lambda *a, **k: real(*a, **{**k, "seed": 5}))
    with pytest.raises(InputError, match=r"another split of the data \(\d+ train, \d+ val, \d+ test examples"):
        training.run(sample(), Settings(**QUICK), tmp_path)


def test_other_weights_for_walks_are_refused(tmp_path):
    def double(split):
        graph = split.graph
        return gr.Graph.from_edges(graph.edge_index, graph.num_nodes, np.arange(1, graph.num_edges * 2 + 1), True)

    training.run(sample(), Settings(**QUICK), tmp_path)
    with pytest.raises(InputError, match="other weights for walks"):
        training.run(sample(), Settings(**QUICK), tmp_path, walk_graph=double)


@pytest.mark.parametrize("interrupted", [False, True])
def test_methods_joined_by_plus_belong_to_one_content(tmp_path, monkeypatch, interrupted):
    settings = Settings(method="mlp+common-neighbours", **QUICK)
    if interrupted:
        _interrupt(monkeypatch, tmp_path, settings)
    else:
        training.run(sample(), settings, tmp_path)
    before = files(tmp_path)
    with pytest.raises(InputError, match="holds a run on another graph"):
        training.run(sample(1), settings, tmp_path)
    assert files(tmp_path) == before
    assert training.run(sample(), settings, tmp_path).test
    with pytest.raises(InputError, match="holds a run on another graph"):
        training.run(sample(1), Settings(method="mlp", **QUICK), tmp_path / "mlp")


def test_the_record_keeps_the_hashes_and_the_reading(tmp_path):
    data = sample()
    file = tmp_path / "edges.csv"
    file.write_text("source,target\n" + "\n".join(f"{a},{b}" for a, b in data.graph.edge_index.T))
    graph = gr.read_graph(file)
    outcome = training.run(datasets.Sample(graph), Settings(method="common-neighbours"), tmp_path / "run")
    stored = json.loads((tmp_path / "run" / "content.json").read_text())
    assert outcome.record["content"] == stored["hashes"]
    assert stored["hashes"]["graph"] == hashes(datasets.Sample(graph))["graph"]
    reading = getattr(graph, "reading", None)
    assert outcome.record["reading"] == (
        None if reading is None else json.loads(json.dumps(reading.as_dict(), default=str))
    )


def test_the_source_follows_the_data_and_is_kept_when_a_run_is_refused(tmp_path):
    settings, where = Settings(method="common-neighbours"), tmp_path / "source.json"
    training.run(sample(), settings, tmp_path, source={"graph": "a.csv", "classes": ["x"]})
    with pytest.raises(InputError, match="another graph"):
        training.run(sample(1), settings, tmp_path, source={"graph": "b.csv", "classes": ["x"]})
    assert json.loads(where.read_text())["graph"] == "a.csv"
    with pytest.raises(InputError, match=r"other labels \(classes \['x'\] there, \['y'\] here\)"):
        training.run(sample(), settings, tmp_path, source={"graph": "a.csv", "classes": ["y"]})
    training.run(sample(), settings, tmp_path, source={"graph": "moved.csv", "classes": ["x"]})
    assert json.loads(where.read_text())["graph"] == "moved.csv"


def test_a_finished_run_without_hashes_is_compared_by_its_numbers_with_a_warning(tmp_path):
    settings = Settings(method="common-neighbours")
    training.run(sample(), settings, tmp_path)
    (tmp_path / "content.json").unlink()
    with pytest.warns(UserWarning, match="kept no content.json: it is taken for a run on the same data"):
        training.run(sample(), settings, tmp_path)
    with pytest.raises(InputError, match=r"other data \(1 graphs, 40 nodes, .* there, 1 graphs, 50 nodes"):
        training.run(sample(nodes=50), settings, tmp_path)


def test_an_interrupted_run_without_hashes_is_refused(tmp_path, monkeypatch):
    _interrupt(monkeypatch, tmp_path, Settings(**QUICK))
    (tmp_path / "content.json").unlink()
    with pytest.raises(InputError, match=r"interrupted run without content\.json"):
        training.run(sample(), Settings(**QUICK), tmp_path)


def test_a_run_that_never_began_to_train_leaves_the_folder_free(tmp_path):
    with pytest.raises(InputError, match="headz"):
        training.run(sample(), Settings(model={"headz": 2}, **QUICK), tmp_path)
    assert training.run(sample(1), Settings(**QUICK), tmp_path).test


def test_a_folder_in_use_is_refused(tmp_path):
    """Two processes in one folder: the second is told, nothing is mixed."""
    with RunFolder(tmp_path).locked():
        with pytest.raises(InputError, match="is in use by another process; wait until it has ended"):
            training.run(sample(), Settings(**QUICK), tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == [".lock"]
    assert training.run(sample(), Settings(**QUICK), tmp_path).test
    with RunFolder(tmp_path).locked(), warnings.catch_warnings():  # what has ended can be read by anybody
        assert training.run(sample(), Settings(**QUICK), tmp_path).test


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "run").write_text("notes")
    with pytest.raises(InputError, match="folder must be a folder of a run, or a new name for one, got the file"):
        training.run(sample(), Settings(**QUICK), tmp_path / "run")


def test_several_graphs_are_one_content():
    data = datasets.Dataset("two", (sample(0), sample(1)))
    splits = tasks.split_dataset(data, "link")
    turned = datasets.Dataset("two", (sample(1), sample(0)))
    one, other = (describe_content(each, splits) for each in (data, turned))
    assert one["hashes"]["graph"] != other["hashes"]["graph"]
    assert one["sizes"]["graph"]["graphs"] == 2

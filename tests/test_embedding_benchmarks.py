"""Embeddings of other packages are measured fairly: same positions, nothing chosen on the test, runs that go on."""

import json
import subprocess
import sys

import numpy as np
import pytest

import graphreach as gr
from benchmarks import embedding_methods, embeddings
from benchmarks.embedding_data import Labelled, grow, load, load_multi_label, planted
from benchmarks.embedding_methods import OURS, PEERS, PeerFailedError, methods, run_peer, store
from benchmarks.harness import FOLDER, resumed
from graphreach.tasks.pair_keys import encode


class Degrees:
    """A stand-in of the embedding: columns are copies of the degree."""

    def fit(self, graph):
        self.graph, self.embedding_ = graph, self.embed(graph)
        return self

    def embed(self, graph):
        return np.repeat(np.diff(graph.indptr.astype(np.int64))[:, None], embedding_methods.WIDTH, axis=1).astype(float)

    def transform(self, graph):
        return np.concatenate([self.embedding_, self.embed(graph)[len(self.embedding_) :]])

    def score_pairs(self, rows, graph=None):
        index = (graph or self.graph).index_of(rows)
        vectors = self.embedding_ if graph is None else self.transform(graph)
        return vectors[index[:, 0], 0] * vectors[index[:, 1], 0]


@pytest.fixture
def _stand_in(monkeypatch):
    monkeypatch.setattr(embedding_methods, "fit_ours", lambda graph, seed: Degrees().fit(graph))
    monkeypatch.setattr(embedding_methods, "is_installed", lambda peer: False)


def test_an_interrupted_run_goes_on(tmp_path):
    path, calls = tmp_path / "runs.jsonl", []

    def compute(data, seed):
        calls.append((data, seed))
        if (data, seed) == ("b", 0) and len(calls) == 2:
            raise KeyboardInterrupt
        return {"value": len(calls)}

    keys = [{"data": "a", "seed": 0}, {"data": "b", "seed": 0}]
    with pytest.raises(KeyboardInterrupt):
        resumed(path, keys, compute)
    assert [each["value"] for each in resumed(path, keys, compute)] == [1, 3]
    assert calls == [("a", 0), ("b", 0), ("b", 0)]
    assert [json.loads(line)["data"] for line in path.read_text().splitlines()] == ["a", "b"]


def test_a_quick_run_neither_reads_nor_writes_records(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"seed": 0, "value": 5}\n')
    assert resumed(path, [{"seed": 0}], lambda seed: {"value": 1}, save=False) == [{"seed": 0, "value": 1}]
    assert "5" in path.read_text()


def test_a_peer_gets_an_undirected_graph_and_answers_by_position(tmp_path):
    script = tmp_path / "embedding.py"
    script.write_text(
        f"import sys\nsys.path.insert(0, {str(FOLDER / 'peers')!r})\n"
        "from embedding_protocol import WIDTH, measure\n"
        "def prepare(edges, seed):\n"
        "    matrix = edges.matrix().toarray()\n"
        "    assert (matrix == matrix.T).all()\n"
        "    return lambda: (matrix.sum(axis=1) + seed)[:, None].repeat(WIDTH, axis=1)\n"
        "measure({'degrees': prepare}, 'numpy')\n"
    )
    graph = gr.Graph.from_edges([[0, 1, 2], [1, 0, 0]], 4, [1.0, 2.0, 5.0], directed=True)
    stored, output = tmp_path / "graph.npz", tmp_path / "vectors.npy"
    store(graph, stored)
    run_peer([sys.executable, str(script), "degrees", str(stored), str(output), "7"])
    assert np.load(output)[:, 0].tolist() == [15.0, 10.0, 12.0, 7.0]
    assert json.loads(output.with_suffix(".json").read_text())["seconds"] >= 0


def test_a_peer_that_fails_is_told_from_one_that_was_stopped():
    with pytest.raises(PeerFailedError, match="exit code 3"):
        run_peer([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(subprocess.CalledProcessError):
        run_peer([sys.executable, "-c", "import os; os.kill(os.getpid(), 15)"])


def test_every_peer_has_its_script_and_requirements():
    from benchmarks.against_peers import REQUIREMENTS

    assert all((FOLDER / "peers" / peer.script).exists() for peer in PEERS.values())
    assert {peer.environment for peer in PEERS.values()} <= set(REQUIREMENTS)
    assert methods(quick=False) == [OURS, "node2vec", *PEERS]


def test_dot_or_cosine_is_chosen_by_the_given_pairs():
    vectors = np.array([[1.0, 0.0], [2.0, 0.0], [9.0, 9.0], [0.0, 0.0]])
    pairs = np.array([[0, 0], [1, 2]])
    assert embeddings.dot(vectors, pairs).tolist() == [2.0, 9.0]
    assert embeddings.cosine(vectors, pairs) == pytest.approx([1.0, 0.5**0.5])
    assert embeddings.cosine(vectors, np.array([[0], [3]])).tolist() == [0.0]
    assert embeddings.best_score(vectors, pairs, np.array([True, False])) == "cosine"
    assert embeddings.best_score(vectors, pairs, np.array([False, True])) == "dot"


def test_cells_are_held_against_the_best_method_that_did_not_fail():
    def record(method, value, data="g"):
        return {"data": data, "method": method, "seed": 0, "scores": [{"share": 0.1, "micro_f1": value}]}

    failed = {"data": "g", "method": "cleora", "seed": 0, "failed": "cleora ended with exit code 1"}
    records = [record(OURS, 0.5), record("node2vec", 0.504), record("prone", 0.4), failed]
    (row,) = embeddings._cells(records, ("micro_f1",))
    assert (row.bar, row.measured, row.met) == (0.504, 0.5, False)
    assert "10% of the labels" in row.what
    assert "beside node2vec 0.504" in row.what
    above, close = embeddings._counts([row], "classes", records)
    assert (above.measured, close.measured, close.bar) == (0, 1, 1)
    assert close.notes == ["g: cleora ended with exit code 1"]


@pytest.mark.parametrize("seed", [0, 1])
def test_new_nodes_come_with_half_of_their_links(seed):
    graph, labels = planted(200)
    found = grow(Labelled(graph, labels), seed)
    old = found.before.num_nodes
    assert (old, found.after.num_nodes) == (180, 200)
    before, after = ({*encode(each.edge_index).tolist()} for each in (found.before, found.after))
    asked = {*encode(found.links).tolist()}
    assert before <= after
    assert not asked & after
    assert len(asked) + len(after) == graph.num_edges
    assert abs(len(asked) - len(after - before)) <= 1
    assert (found.links[0] >= old).all()
    assert (found.others[0] >= old).all()
    assert found.others.shape == found.links.shape
    assert not {*encode(found.others).tolist()} & (asked | after)
    assert sorted(found.classes.argmax(axis=1)) == sorted(labels.argmax(axis=1))


def test_planted_labels_match_the_graph():
    graph, labels = load_multi_label("planted")
    assert labels.sum(axis=1).tolist() == [2] * graph.num_nodes
    single = load("planted").labels
    source, target = graph.edge_index
    assert (single[source] == single[target]).mean() > 0.5


@pytest.mark.usefixtures("_stand_in")
def test_quick_runs_without_peers():
    for name in ("embedding-links", "embedding-unseen"):
        rows = embeddings.BENCHMARKS[name](quick=True)
        assert all(np.isfinite(row.measured) for row in rows)
        assert not any("PecanPy" in row.what for row in rows)
    assert len(rows) == 3


@pytest.mark.usefixtures("_stand_in")
@pytest.mark.skipif(not hasattr(gr.tasks, "judge_embedding"), reason="judge_embedding is not there yet")
def test_quick_runs_of_labels_without_peers():
    assert len(embeddings.classes(quick=True)) == 3 * 2 + 2
    assert len(embeddings.multi_label(quick=True)) == 3 + 2

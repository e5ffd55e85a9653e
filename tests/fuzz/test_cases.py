"""What the fuzzer found and was mended: one line each on what was wrong."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import torch

import graphreach as gr
from graphreach import arguments, plot
from graphreach.io import tables
from graphreach.io.embeddings import read_embedding, write_embedding

RING = gr.Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
ROWS = [np.ones((1, 1), np.float32)]


def masked_matrix():
    matrix = scipy.sparse.csr_array(np.eye(3))
    matrix.indices = np.ma.masked_array([0, 1, 2], mask=[False, True, False])
    return matrix


def short_matrix():
    matrix = scipy.sparse.csr_array(np.eye(3))
    matrix.indices = matrix.indices[:1]
    return matrix


REFUSED = {
    "ids of a trillion entries were listed": lambda: gr.Graph.from_edges([[0], [1]], ids=range(10**12)),
    "masked indices of a matrix were converted": lambda: gr.Graph.from_scipy(masked_matrix()),
    "a matrix with fewer indices than entries failed in scipy": lambda: gr.Graph.from_scipy(short_matrix()),
    "an array as hops had no truth value": lambda: gr.nn.GraphReach(hops=np.arange(2)),
    "an array as anchors had no truth value": lambda: gr.GraphReachEmbedding(
        method="paper", num_anchors=np.arange(2)
    ).fit(RING),
    "settings without names were keywords": lambda: gr.GraphReachEmbedding(method="paper", settings={0: 1}).fit(RING),
    "an array as method had no truth value": lambda: gr.pair_reachability(RING, [[0], [1]], method=np.arange(2)),
    "a column named by an array had no truth value": lambda: gr.read_graph("tests", source=np.arange(2)),
    "ids= of an array had no truth value": lambda: gr.read_graph("tests", ids=np.arange(2)),
    "a graph of another kind had no ids": lambda: tables.read_pairs("README.md", "graph"),
    "a lone surrogate cannot be a file's name": lambda: gr.reachability(RING, [0], walk_length=2, cache="\ud800"),
    "a range of a trillion was listed": lambda: arguments.to_array("x", range(10**13)),
    "no graph was drawn": lambda: plot.stress_layout(np.eye(3)),
    "rounds by half": lambda: plot.stress_layout(RING, 1.5),
    "anchors outside of the graph were drawn": lambda: plot.plot_anchors(RING, [9]),
    "axes that are none were drawn on": lambda: plot.plot_anchors(RING, [0], ax=np.eye(2)),
    "text as values was drawn": lambda: plot.plot_scores(RING, 0, ["a", "b", "c", "d"]),
    "limits of one number were unpacked": lambda: plot.plot_scores(RING, 0, [1, 2, 3, 4], limits=[1]),
    "bars without names were drawn": lambda: plot.plot_comparison(3, [1.0]),
    "fewer spreads than bars were drawn": lambda: plot.plot_comparison(["a", "b"], [1.0, 2.0], [1.0]),
    "communities of no graph": lambda: gr.report.communities("graph"),
    "a layout by half a seed": lambda: gr.report.layout(RING, 0.5),
    "scores and labels of two lengths": lambda: gr.report.auc_interval(np.ones(2), np.ones(3)),
    "an assessment from an array": lambda: gr.attacks.Assessment.from_dict(np.arange(3)),
    "an assessment without its parts": lambda: gr.attacks.Assessment.from_dict({"any": {}}),
    "a curve of one number": lambda: gr.attacks.plot_curve(3),
    "settings that are a list": lambda: gr.training.run(gr.datasets.Sample(RING), ["epochs=1"]),
    "a run in no folder": lambda: gr.training.TrainedRun(3.5),
    "settings from no file": lambda: gr.training.Settings.read(3.5),
    "changes that are no list": lambda: gr.training.Settings.read(None, 3),
    "changes that are no texts": lambda: gr.training.Settings.read(None, [3]),
    "an embedding of text was written": lambda: write_embedding("z.csv", ["a"], [[["x"]]], 1),
    "an embedding for one id that is no list": lambda: write_embedding("z.csv", "a", ROWS, 1),
    "an embedding in a path that is none": lambda: write_embedding(None, ["a"], ROWS, 1),
    "a scale that is an array": lambda: gr.reachability(RING, [0], walk_length=2).rescaled(np.eye(2)),
    "a device that is an array": lambda: gr.reachability(RING, [0], walk_length=2).to_torch(np.eye(2)),
    "features of a billion columns were allocated": lambda: gr.nn.Standardise(2**31),
    "features of another width were scaled": lambda: gr.nn.Standardise(2).fit(np.eye(3)),
    "an adjacency of no graph": lambda: gr.nn.Adjacency.from_graph("graph"),
    "an adjacency of a number": lambda: gr.nn.Adjacency(1.5),
    "scores of 1e300 have no spread": lambda: gr.nn.LateFusion().fit([1e300, -1e300], [1, 2], [0, 1]),
    "vectors of 1e12 numbers were allocated": lambda: gr.nn.SkipGram(dim=10**12).fit(RING),
    "a billion walks by skip-gram never end": lambda: gr.nn.SkipGram(num_walks=10**15).fit(RING),
    "a rate that is a list": lambda: gr.nn.SkipGram(learning_rate=[1]).fit(RING),
}


@pytest.mark.parametrize("was", REFUSED)
def test_refused_in_one_sentence(was, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHREACH_MEMORY_LIMIT", str(2**30))
    Path("tests").write_text("1 2\n")
    Path("README.md").write_text("1 2\n")
    with pytest.raises(gr.InputError) as error:
        REFUSED[was]()
    assert "\n" not in str(error.value)


def test_hops_of_eight_bits_did_not_fit_the_memory_they_were_counted_in():
    found = gr.reachability(RING, [0, 1], hops=np.uint8(2), num_walks=5)
    assert found.to_anchors.shape == (4, 2, 2)


def test_counts_of_eight_bits_overflowed_in_skip_gram():
    assert gr.nn.SkipGram(dim=np.uint8(4), num_walks=1, walk_length=3, window=np.uint8(2)).fit(
        RING
    ).embedding_.shape == (4, 4)


def test_nodes_as_an_array_beside_a_text_file(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n1,2\n")
    for nodes in (np.array([7]), memoryview(b"\x07")):
        assert gr.read_graph(path, nodes=nodes).ids.tolist() == [1, 2, 7]


def test_a_carriage_return_in_the_header_of_an_embedding_failed_in_csv(tmp_path):
    path = tmp_path / "z.csv"
    path.write_bytes(b"id,z0\r,z1\nann,1,2\n")
    with pytest.raises(gr.InputError, match="must be an embedding"):
        read_embedding(path)


def with_member(path, name, content):
    """The archive with another member in the place of one, its checksum right."""
    with zipfile.ZipFile(path) as file:
        members = {each: file.read(each) for each in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for each, own in (members | {name: content}).items():
            file.writestr(each, own)


def test_other_numbers_in_a_whole_archive_of_the_cache_were_returned(tmp_path):
    first = gr.reachability(RING, [0], num_walks=5, walk_length=3, cache=tmp_path)
    (path,) = tmp_path.glob("*.npz")
    out = io.BytesIO()
    np.save(out, first.to_anchors + 1)
    with_member(path, "to_anchors.npy", out.getvalue())
    with pytest.warns(UserWarning, match="not what was written"):
        again = gr.reachability(RING, [0], num_walks=5, walk_length=3, cache=tmp_path)
    np.testing.assert_array_equal(again.to_anchors, first.to_anchors)


def test_scores_that_are_no_array_failed_with_a_missing_attribute(tmp_path):
    data, settings = gr.datasets.load("grid"), gr.training.Settings(method="common-neighbours")
    gr.training.run(data, settings, tmp_path / "run")
    with_member(tmp_path / "run" / "scores.npz", "test_0.npy", json.dumps([1]).encode())
    with pytest.raises(gr.InputError, match=r"scores\.npz"):
        gr.training.run(data, settings, tmp_path / "run")


@pytest.mark.parametrize(
    ("task", "name", "scores", "message"),
    [
        ("link", "val_0.npy", np.empty(0), "0 validation pairs, got 152 validation pairs"),
        ("link", "test_0.npy", np.ones((152, 2)), r"one score for each of 152 test pairs, got shape \[152, 2\]"),
        ("node", "val_0.npy", np.ones((4, 2)), "4 validation nodes, got 40 validation nodes"),
        ("node", "test_0.npy", np.ones((40, 1)), r"20 scores for each of 40 test nodes, got shape \[40, 1\]"),
    ],
)
def test_a_report_with_scores_of_another_shape_failed_in_numpy(task, name, scores, message, tmp_path):
    data = gr.datasets.load("grid" if task == "link" else "communities")
    gr.training.run(data, gr.training.Settings(method="reach", task=task, model={"num_anchors": 4}), tmp_path / "run")
    out = io.BytesIO()
    np.save(out, scores)
    with_member(tmp_path / "run" / "scores.npz", name, out.getvalue())
    with pytest.raises(gr.InputError, match=message):
        gr.report.make_report(tmp_path / "run", data)


def test_tensors_as_ids_were_as_many_nodes_as_entries():
    pairs = torch.tensor([[0, 1], [1, 2]])
    assert gr.Graph.from_edge_list(pairs, nodes=torch.tensor([7])).ids.tolist() == [0, 1, 2, 7]
    with pytest.raises(gr.InputError, match="node ids must be numbers, text or other plain values, got a Tensor"):
        gr.Graph.from_edge_list([tuple(row) for row in pairs])

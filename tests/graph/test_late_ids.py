"""Graphs whose ids are not in sorted order, in all that reads, saves and compares ids."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import graphreach as gr
from graphreach.cluster import write_partitions
from graphreach.graph.matching import find_ids, match_ids
from graphreach.graph.updated import in_order
from graphreach.io.embeddings import read_embedding, write_embedding
from graphreach.io.tables import read_features
from graphreach.reachability.cache import cache_key
from graphreach.tasks.dataset import split_graph
from graphreach.training.loaded_run import _VectorRun, save_vectors
from graphreach.training.run_folder import ids_hash

LATE = {
    "integers": [(9, 4), (4, 2), (2, 3)],
    "text": [("x", "d"), ("d", "b"), ("b", "car")],
    "mixed": [(9, 4), (4, "b"), ("b", 2)],
    "floats": [(9.5, 4.0), (4.0, 2.5), (2.5, 3.0)],
}


@pytest.fixture(params=LATE)
def graph(request):
    """A path of four nodes, the last of which have ids that would be sorted before the first."""
    first, *others = LATE[request.param]
    graph = gr.Graph.from_edge_list([first])
    for edge in others:
        graph = graph.updated(add=[edge])
    assert graph.ids.tolist() != sorted(graph.ids.tolist(), key=str)
    return graph


def read_again(graph):
    """The same graph as a reader makes it."""
    edges = graph.ids[graph.edge_index.T]
    return gr.Graph.from_edge_list(edges.tolist())


def test_ids_are_found(graph):
    ids = graph.ids.tolist()
    assert graph.index_of(ids).tolist() == [0, 1, 2, 3]
    assert match_ids([ids[2], "none", ids[0]], graph.ids).tolist() == [2, -1, 0]
    assert find_ids(ids[::-1], graph.ids, "ids").tolist() == [3, 2, 1, 0]
    nodes, part = next(iter(split_graph(graph, np.zeros(4, np.int64))))
    assert part.ids.tolist() == graph.ids[nodes].tolist()
    assert part.indices.tolist() == graph.indices.tolist()


def test_tables_of_nodes_and_pairs_are_read_by_ids(graph, tmp_path):
    ids = [str(each) for each in graph.ids.tolist()]
    path = tmp_path / "numbers.csv"
    for order in ([0, 1, 2, 3], [2, 0, 3, 1]):
        pl.DataFrame({"id": [ids[i] for i in order], "x": [float(i) for i in order]}).write_csv(path)
        assert read_features(path, graph).tolist() == [[0], [1], [2], [3]]
        path.write_text("\n".join(f"{ids[i]},{i}" for i in order) + "\n")  # the first line is data, as its id is known
        assert read_features(path, graph).tolist() == [[0], [1], [2], [3]]


def test_what_is_saved_is_by_ids_or_in_their_order(graph, tmp_path):
    path = tmp_path / "z.csv"
    write_embedding(path, graph.ids, [np.arange(4, dtype=np.float32)[:, None]], 1)
    ids, rows = read_embedding(path)
    assert ids.astype(str).tolist() == [str(each) for each in graph.ids.tolist()]
    assert rows.ravel().tolist() == [0, 1, 2, 3]
    parts = write_partitions(graph, tmp_path / "parts", 2)
    assert parts.ids.tolist() == graph.ids.tolist()
    assert parts.content_hash == graph.content_hash


def test_a_graph_that_is_read_again_gets_its_positions_back(graph):
    again = read_again(graph)
    assert again.content_hash != graph.content_hash
    assert ids_hash(again) != ids_hash(graph)
    key = (np.array([0]), "dense", {"seed": 0})
    assert cache_key(again, *key) != cache_key(graph, *key)
    ordered = in_order(again, graph.ids)
    assert ordered.content_hash == graph.content_hash
    assert ids_hash(ordered) == ids_hash(graph)
    np.testing.assert_array_equal(gr.random_walks(ordered), gr.random_walks(graph))


def test_vectors_of_a_run_belong_to_ids(graph, tmp_path):
    model = gr.nn.SkipGram(dim=2)
    model.embedding_ = model.context_ = np.arange(8, dtype=np.float32).reshape(4, 2)
    model.directed_ = False
    save_vectors(model.score_pairs, graph, tmp_path)
    run = _VectorRun(tmp_path, None)
    for other in (graph, read_again(graph)):
        texts = [str(each) for each in other.ids.tolist()]
        expected = model.embedding_[[graph.ids.tolist().index(each) for each in other.ids.tolist()]]
        np.testing.assert_array_equal(run.model.embedding_[run.embed(other)], expected)
        assert run.knows(other).all()
        assert sorted(run.ids.tolist()) == sorted(texts)


@pytest.mark.parametrize("fitted_on", ["updated", "read"])
def test_an_estimator_finds_its_nodes_in_another_order(fitted_on):
    start = gr.datasets.load("communities")[0].graph
    grown = start.updated(add=[(0, -5), (-5, 1), (7, -9), (-9, 6)])
    read = in_order(grown, np.sort(grown.ids))
    first, second = (grown, read) if fitted_on == "updated" else (read, grown)
    found = gr.GraphReachEmbedding(dim=16).fit(first)
    moved = found.transform(second)
    np.testing.assert_array_equal(moved, found.embedding_[first.index_of(second.ids)])


def test_the_first_import_of_a_changed_graph_needs_no_tables():
    script = (
        "import sys, graphreach as gr; gr.Graph.from_edges([[0], [1]]).updated(add=[(1, 2)]).indices;"
        "print([name for name in ('torch', 'pandas', 'polars') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"

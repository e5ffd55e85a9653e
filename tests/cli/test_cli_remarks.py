"""Remarks about pairs that are asked about, and pairs that are left out."""

import numpy as np
import polars as pl
import pytest

import graphreach as gr
from cli_helpers import trained
from graphreach.cli.predict import random_non_links
from graphreach.cli.remarks import say_one_kind


@pytest.fixture
def likes(tmp_path):
    path = tmp_path / "likes.csv"
    rng = np.random.default_rng(0)
    linked = [
        (f"u{i}", f"i{j}") for i in range(25) for j in range(15) if rng.random() < (0.5 if i % 2 == j % 2 else 0.1)
    ]
    path.write_text("user,item\n" + "".join(f"{a},{b}\n" for a, b in linked))
    return path


def said(capsys, pairs, graph):
    say_one_kind(graph, np.array(pairs))
    return capsys.readouterr().err


def test_how_many_pairs_are_of_one_kind(capsys):
    graph = gr.Graph.from_frame(pl.DataFrame({"user": ["a", "a", "b"], "item": ["x", "y", "y"]}))
    end = "of two nodes of one kind, such as 'a' and 'b', and all links of the graph are between its two kinds\n"
    assert said(capsys, [[0], [1]], graph) == f"graphreach: the pair is {end}"
    assert said(capsys, [[0, 0], [2, 1]], graph) == f"graphreach: 1 of 2 pairs is {end}"
    assert said(capsys, [[0, 2, 0], [1, 3, 2]], graph) == f"graphreach: 2 of 3 pairs are {end}"
    assert said(capsys, [[0, 1], [2, 3]], graph) == ""
    assert said(capsys, [[0], [1]], gr.Graph.from_edges([[0], [1]])) == ""


def test_predict_and_explain_say_it(run, likes, tmp_path):
    folder, pairs = tmp_path / "run", tmp_path / "pairs.csv"
    trained(run, {"graph": likes}, folder)
    pairs.write_text("source,target\nu0,i1\nu0,u3\n")
    done = run("predict", folder, "--pairs", pairs)
    assert done.exit_code == 0, done.output
    assert "1 of 2 pairs is of two nodes of one kind, such as 'u0' and 'u3'" in done.stderr
    done = run("explain", folder, "--pair", "u0", "u3")
    assert done.exit_code == 0, done.output
    assert "the pair is of two nodes of one kind" in done.stderr
    assert "of one kind" not in run("explain", folder, "--pair", "u0", "i1").stderr


def test_random_pairs_that_scores_are_compared_with_are_between_the_kinds(likes):
    graph = gr.read_graph(likes)
    known = np.arange(graph.num_nodes) != graph.index_of("u3")
    found = random_non_links(graph, 10_000, known)
    assert (graph.sides[found].sum(axis=0) == 1).all()
    assert (
        found.shape[1]
        == 24 * 15 - np.count_nonzero(graph.edge_index[0] < graph.edge_index[1]) + graph.degree[graph.index_of("u3")]
    )
    assert graph.index_of("u3") not in found


def test_pairs_of_a_node_with_itself_are_left_out(run, streets, tmp_path):
    folder, pairs = tmp_path / "run", tmp_path / "pairs.csv"
    trained(run, streets, folder)
    pairs.write_text("source,target\nstreet 1,street 2\nstreet 5,street 5\nstreet 1,nowhere\nstreet 6,street 6\n")
    done = run("predict", folder, "--pairs", pairs)
    assert done.exit_code == 3
    assert pl.read_csv(done.stdout.encode())["target"].to_list() == ["street 2"]
    assert "left out the rows of 1 id that is not known: 'nowhere'" in done.stderr
    assert "left out 2 pairs of a node with itself: 'street 5', 'street 6'" in done.stderr
    for text, words in (("street 5,street 5\n", ()), ("street 1,street 2\nstreet 5,street 5\n", ("--strict",))):
        pairs.write_text("source,target\n" + text)
        done = run("predict", folder, "--pairs", pairs, *words)
        assert done.exit_code == 2
        assert "--pairs must hold pairs of two different nodes, got 'street 5' twice" in done.stderr.splitlines()[-1]

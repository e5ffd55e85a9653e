"""graphreach evaluate --candidates."""

import json

import numpy as np
import pytest

import graphreach as gr
from cli_helpers import trained
from graphreach.io.candidate_tables import read_candidates

LINK, OTHERS = ("street 1", "street 39"), [("street 1", f"street {number}") for number in range(20, 32)]


@pytest.fixture
def folder(run, streets, tmp_path):
    trained(run, streets, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "ranked.csv"
    rows = [(*LINK, 1), *((*pair, 0) for pair in OTHERS), ("street 2", "street 3", 1), ("street 2", "street 2", 0)]
    path.write_text("source,target,label\n" + "".join(f"{a},{b},{label}\n" for a, b, label in rows))
    return path


def test_links_are_ranked_among_the_candidates_of_a_table(run, streets, folder, table):
    done = run("evaluate", folder, "--candidates", table, "--json")
    assert done.exit_code == 0, done.output
    graph = gr.read_graph(streets["graph"])
    scores = gr.LinkPredictor.load(folder / "model").decision_function([LINK, *OTHERS], graph)
    rank = 1 + np.sum(scores[1:] > scores[0]) + np.sum(scores[1:] == scores[0]) / 2
    # The other link is ranked among a node and itself, which is never a link.
    assert json.loads(done.stdout) == {"mrr": pytest.approx((1 / rank + 1) / 2), "hits@1": np.mean([rank == 1, True])}
    assert "reach, link: 2 links, each among 1 to 12 candidates; ties count half" in done.stderr
    assert run("evaluate", folder, "--candidates", table).stdout.startswith("mrr 0.")


def test_an_array_goes_with_its_links(run, folder, table, tmp_path):
    links, array = tmp_path / "links.csv", tmp_path / "hard.npz"
    links.write_text(f"source,target\n{LINK[0]},{LINK[1]}\n")
    np.savez(array, pairs=np.array([OTHERS]))
    alone = tmp_path / "alone.csv"
    alone.write_text("".join(table.read_text().splitlines(keepends=True)[: 2 + len(OTHERS)]))
    expected = run("evaluate", folder, "--candidates", alone, "--json")
    done = run("evaluate", folder, "--candidates", array, "--pairs", links, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == json.loads(expected.stdout)
    assert "1 links, each among 12 candidates" in done.stderr


def test_links_that_the_graph_has_are_said(run, streets, folder, tmp_path):
    graph = gr.read_graph(streets["graph"])
    a, b = graph.ids[graph.edge_index[:, 0]].tolist()
    path = tmp_path / "known.csv"
    path.write_text(f"source,target,label\n{a},{b},1\n{a},{LINK[1] if a != LINK[1] else LINK[0]},0\n")
    done = run("evaluate", folder, "--candidates", path)
    assert done.exit_code == 0, done.output
    assert "1 of 1 links are edges of the graph, which helps to find the others" in done.stderr
    assert read_candidates(path, graph).links.tolist() == [0]


def test_wrong_words_are_one_sentence(run, streets, folder, table, tmp_path):
    array, selfish = tmp_path / "hard.npz", tmp_path / "self.csv"
    np.savez(array, pairs=np.array([OTHERS]))
    selfish.write_text("source,target,label\nstreet 1,street 1,1\nstreet 1,street 2,0\n")
    for words, sentence in (
        (("--candidates", array), "--pairs must be given with --candidates hard.npz, the table of its links, got none"),
        (
            ("--candidates", table, "--pairs", table),
            "--pairs must go with --candidates of a .npz file, as ranked.csv holds",
        ),
        (
            ("--candidates", table, "--labels", streets["labels"]),
            "one of --candidates and --labels must be given, got both",
        ),
        (("--candidates", selfish), "--candidates must hold links of two different nodes, got 'street 1' twice"),
    ):
        done = run("evaluate", folder, *words)
        assert done.exit_code == 2, done.output
        assert sentence in done.stderr.splitlines()[-1]


def test_classes_of_nodes_are_not_ranked(run, streets, table, tmp_path):
    done = run("train", streets["graph"], "--labels", streets["labels"], "-o", tmp_path / "nodes")
    assert done.exit_code == 0, done.output
    done = run("evaluate", tmp_path / "nodes", "--candidates", table)
    assert done.exit_code == 2
    assert "--candidates must go with a run of links or pairs, got one of task node" in done.stderr

"""Every verb and the library give a pair of a graph the same probability, and say which base rate it assumes."""

import json

import pytest

import graphreach as gr
from cli_helpers import trained

PAIR = ("street 1", "street 39")
SAID = "% of all pairs asked about are links"


@pytest.fixture
def asked(run, streets, tmp_path):
    """A run, and a file with the pair."""
    trained(run, streets, tmp_path / "run")
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("source,target\nstreet 1,street 39\nstreet 2,street 5\n")
    return tmp_path / "run", pairs


def printed(done):
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("other", [False, True])
def test_all_verbs_agree_to_the_last_digit(run, streets, asked, tmp_path, other):
    folder, pairs = asked
    path, words = streets["graph"], ()
    if other:
        path = tmp_path / "more.csv"
        path.write_text(streets["graph"].read_text() + "street 1,street 2\nstreet 1,new\nnew,newer\nnew,street 4\n")
        words = ("--graph", path)
    graph = gr.read_graph(path)
    links = gr.LinkPredictor.load(folder / "model")
    rate = graph.num_edges / (graph.num_nodes * (graph.num_nodes - 1) / 2)
    assert links.rate(graph) == rate
    expected = links.predict_proba([PAIR], graph)[0, 1]
    assert links.explain(PAIR, graph).probability == pytest.approx(expected, rel=1e-12)
    assert links.explain(PAIR, graph).prior == rate

    done = run("predict", folder, "--pairs", pairs, "--json", *words)
    assert printed(done)[0]["score"] == expected
    assert f"{100 * rate:.3g}{SAID}" in done.stderr
    found = printed(run("explain", folder, "--pair", *PAIR, "--json", *words))
    assert found["probability"] == pytest.approx(expected, rel=1e-12)
    assert found["prior"] == rate
    done = run("recommend", folder, "--node", PAIR[0], "--top", 100, "--json", *words)
    partners = {row["partner"]: row["probability"] for row in printed(done)}
    assert partners[PAIR[1]] == float(f"{expected:.6g}")  # rows have six digits
    assert f"{100 * rate:.3g}{SAID}" in done.stderr
    assert links.recommend(PAIR[0], 100, graph).probability[list(partners).index(PAIR[1])] == expected
    run_there = gr.training.load_run(folder)
    index = graph.index_of(PAIR)[:, None]
    assert run_there.score_pairs(run_there.embed(graph), index, graph)[0] == expected

    pairs.write_text("source,target,label\nstreet 1,street 39,1\nstreet 2,street 5,0\n")
    done = run("evaluate", folder, "--pairs", pairs, *words)
    assert done.exit_code == 0, done.output
    assert f"{100 * rate:.3g}{SAID}" in done.stderr


def test_explain_says_the_rate(run, asked):
    told = run("explain", asked[0], "--pair", *PAIR).stdout
    assert told.startswith("street 1 and street 39: probability ")
    assert "% of pairs are links" in told


def test_a_relation_keeps_the_rate_that_it_was_learned_with(run, streets, tmp_path):
    folder, pairs = tmp_path / "run", tmp_path / "pairs.csv"
    trained(run, streets, folder, "--task", "pair", "--labels", streets["labels"], "--protocol", "published")
    pairs.write_text("source,target\nstreet 1,street 39\n")
    done = run("predict", folder, "--pairs", pairs, "--json")
    links, graph = gr.LinkPredictor.load(folder / "model"), gr.read_graph(streets["graph"])
    assert printed(done)[0]["score"] == links.predict_proba([PAIR], graph)[0, 1]
    assert f"{100 * links.prior_:.3g}% of all pairs asked about are of one class" in done.stderr

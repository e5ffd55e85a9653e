"""graphreach update, and what the folder that it writes answers."""

import io
import json

import numpy as np
import polars as pl
import pytest

import graphreach as gr
from cli_helpers import trained

ADD = "from,to\nstreet 1,new\nnew,newer\nstreet 0,street 20\n"


@pytest.fixture
def files(tmp_path):
    """Edges to add, among them one that is there, to remove one, and pairs to ask about."""
    (tmp_path / "add.csv").write_text(ADD)
    (tmp_path / "remove.csv").write_text("from,to\nstreet 0,street 20\n")
    (tmp_path / "pairs.csv").write_text("source,target\nnew,street 2\nstreet 1,street 30\n")
    return tmp_path


def grown(streets, folder):
    """The whole file after the update."""
    path = folder / "grown.csv"
    path.write_text(streets["graph"].read_text() + ADD.split("\n", 1)[1])
    return path


def frame(done):
    assert done.exit_code == 0, done.output
    return pl.read_csv(io.StringIO(done.stdout))


def test_a_run_answers_for_the_changed_graph_as_for_the_file_of_all_its_edges(run, streets, files):
    trained(run, streets, files / "run")
    before = {path.name: path.read_bytes() for path in (files / "run").rglob("*") if path.is_file()}
    done = run(
        "update", files / "run", "--add", files / "add.csv", "-o", files / "run2", "--changed", files / "ids.csv"
    )
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0] == "2 edges added (1 there already), 0 removed; 2 new nodes"
    assert {path.name: path.read_bytes() for path in (files / "run").rglob("*") if path.is_file()} == before
    links, graph = gr.LinkPredictor.load(files / "run" / "model"), gr.read_graph(streets["graph"])
    links.update(graph=graph)
    links.update(add=[("street 1", "new"), ("new", "newer")])
    assert pl.read_csv(files / "ids.csv")["id"].to_list() == links.changed_.tolist()
    assert {"new", "newer", "street 1"} <= {*links.changed_.tolist()}
    asked = frame(run("predict", files / "run2", "--pairs", files / "pairs.csv"))
    whole = frame(run("predict", files / "run", "--pairs", files / "pairs.csv", "--graph", grown(streets, files)))
    assert asked["source"].to_list() == ["new", "street 1"]
    np.testing.assert_allclose(asked["score"], whole["score"], rtol=1e-3)
    assert asked["score"].to_list() == pytest.approx(
        links.predict_proba([("new", "street 2"), ("street 1", "street 30")])[:, 1].tolist(), rel=1e-4
    )
    recommended = frame(run("recommend", files / "run2", "--node", "new", "--top", 3))
    assert recommended["partner"].to_list() == links.recommend("new", 3).partner.tolist()
    explained = run("explain", files / "run2", "--pair", "new", "street 2", "--json")
    assert json.loads(explained.stdout)["logit"] == pytest.approx(links.explain(("new", "street 2")).logit)


def test_updates_follow_each_other_and_the_file_of_the_graph_is_not_needed(run, streets, files):
    trained(run, streets, files / "run")
    assert run("update", files / "run", "--add", files / "add.csv", "-o", files / "run2").exit_code == 0
    streets["graph"].unlink()
    done = run("update", files / "run2", "--remove", files / "remove.csv", "-o", files / "run3", "--json")
    counts = json.loads(done.stdout)
    assert (counts["added"], counts["removed"], counts["new_nodes"]) == (0, 1, 0)
    record = json.loads((files / "run3" / "graph.json").read_text())
    assert [each["removed"] for each in record["updates"]] == [0, 1]
    assert record["edges"] == counts["edges"]
    assert run("predict", files / "run3", "--pairs", files / "pairs.csv").exit_code == 0
    assert run("evaluate", files / "run3").exit_code == 0
    refused = run("report", files / "run3", "-o", files / "page.html")
    assert (refused.exit_code, "whose graph was updated since" in refused.stderr) == (2, True)


def test_weights_are_added_and_set(run, tmp_path):
    rng = np.random.default_rng(0)
    ends, graph = rng.integers(0, 30, (2, 150)), tmp_path / "edges.csv"
    lines = {tuple(sorted(pair)) for pair in ends.T.tolist() if pair[0] != pair[1]}
    graph.write_text("source,target,weight\n" + "".join(f"{u},{v},{1 + u % 3}\n" for u, v in sorted(lines)))
    trained(run, {"graph": graph}, tmp_path / "run")
    (u, v), (s, t), *_ = sorted(lines)
    (tmp_path / "add.csv").write_text(f"source,target,weight\n{u},{v},5\n")
    (tmp_path / "set.csv").write_text(f"source,target,weight\n{t},{s},9\n")
    words = ("update", tmp_path / "run", "--add", tmp_path / "add.csv", "--reweight", tmp_path / "set.csv")
    done = run(*words, "-o", tmp_path / "run2")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("0 edges added (1 there already), 0 removed, 1 re-weighted; 0 new nodes")
    from graphreach.updates.graph_folder import read_folder_graph

    found = read_folder_graph(tmp_path / "run2").to_scipy().toarray()
    assert (found[u, v], found[s, t]) == (1 + u % 3 + 5, 9)
    (tmp_path / "plain.csv").write_text("source,target\n1,2\n")
    done = run("update", tmp_path / "run", "--add", tmp_path / "plain.csv", "-o", tmp_path / "run3")
    assert (done.exit_code, "--add must have weights, as the graph has" in done.stderr) == (2, True)
    (tmp_path / "text.csv").write_text("source,target,weight\n1,a,1\n")
    done = run("update", tmp_path / "run", "--add", tmp_path / "text.csv", "-o", tmp_path / "run3")
    assert (done.exit_code, "must have an integer in column 'target'" in done.stderr) == (2, True)


def test_an_embedding_keeps_known_vectors_and_places_new_nodes(run, streets, files):
    words = ("embed", streets["graph"], "-o", files / "z.parquet", "--save", files / "z", "--dim", 8, "-k", 8)
    assert run(*words).exit_code == 0
    done = run("update", files / "z", "--add", files / "add.csv", "-o", files / "z2", "--json")
    assert json.loads(done.stdout)["changed_nodes"] == 2
    before, after = (pl.read_parquet(files / name) for name in ("z.parquet", "z2/embedding.parquet"))
    assert after[:40].equals(before)
    assert after["id"][40:].to_list() == ["new", "newer"]
    found = frame(run("nearest", files / "z2", "--id", "new", "--top", 2))
    again = frame(run("nearest", files / "z2" / "embedding.parquet", "--id", "new", "--top", 2))
    assert found.equals(again)
    embedding = gr.GraphReachEmbedding.load(files / "z").update(graph=gr.read_graph(streets["graph"]))
    embedding.update(add=[("street 1", "new"), ("new", "newer")])
    np.testing.assert_array_equal(after.drop("id").to_numpy(), embedding.embedding_)


def test_a_saved_predictor_needs_its_graph_once(run, streets, files):
    links = gr.LinkPredictor(steps=3, lengths=(3,), num_anchors=6, num_members=1, start=None)
    links.fit(gr.read_graph(streets["graph"])).save(files / "links")
    words = ("update", files / "links", "--add", files / "add.csv", "-o", files / "links2")
    done = run(*words)
    assert (done.exit_code, "--graph must be given with a folder that holds no graph" in done.stderr) == (2, True)
    assert run(*words, "--graph", streets["graph"]).exit_code == 0
    found = frame(run("recommend", files / "links2", "--node", "new", "--top", 2))
    links.update(add=[("street 1", "new"), ("new", "newer")])
    assert found["partner"].to_list() == links.recommend("new", 2).partner.tolist()
    done = run("update", files / "links2", "--add", files / "add.csv", "-o", files / "x", "--graph", streets["graph"])
    assert (done.exit_code, "--graph must go with a folder that holds no graph" in done.stderr) == (2, True)


def test_features_of_new_nodes(run, streets, files):
    table = files / "features.csv"
    names = [f"street {i}" for i in range(40)]
    table.write_text("id,u\n" + "".join(f"{name},{i % 7}\n" for i, name in enumerate(names)))
    trained(run, streets, files / "run", "--features", table)
    words = ("update", files / "run", "--add", files / "add.csv", "-o", files / "run2")
    done = run(*words)
    assert (done.exit_code, "--features must be given, for all nodes of the changed graph" in done.stderr) == (2, True)
    table.write_text(table.read_text() + "new,1\nnewer,2\n")
    assert run(*words, "--features", table).exit_code == 0
    assert run("predict", files / "run2", "--pairs", files / "pairs.csv").exit_code == 0


def test_an_anchor_that_lost_all_its_edges_is_named(run, tmp_path):
    graph = tmp_path / "edges.csv"
    rows = [(u, v) for u in range(20) for v in range(u + 1, 20) if (u * v + u + v) % 4 == 0]
    graph.write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in rows))
    trained(run, {"graph": graph}, tmp_path / "run")
    anchor = gr.LinkPredictor.load(tmp_path / "run" / "model").anchors_[0]
    (tmp_path / "remove.csv").write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in rows if anchor in (u, v)))
    done = run("update", tmp_path / "run", "--remove", tmp_path / "remove.csv", "-o", tmp_path / "run2")
    assert f"warning: the anchor {anchor} has lost all its edges, so that no walk reaches it any more" in done.stderr


def test_mistakes_are_one_line_and_write_nothing(run, streets, files):
    trained(run, streets, files / "run")
    out = ("-o", files / "run2")
    (files / "unknown.csv").write_text("from,to\nstreet 0,nowhere\n")
    (files / "ops.csv").write_text("from,to,op\nstreet 0,street 1,remove\n")
    for words, sentence in (
        ((files / "run", "--add", files / "ops.csv", *out), "--add must name a file of edges that are all treated alike"),
        ((files / "run", *out), "one of --add, --remove and --reweight must be given, got none"),
        ((files / "run", "--add", files / "add.csv", "-o", files / "run"), "--output must be a name that nothing has yet"),
        ((files / "run", "--add", files / "none.csv", *out), "--add must be a file, got"),
        ((files / "run", "--remove", files / "unknown.csv", *out), "remove must list edges between nodes of the graph"),
        ((files / "run", "--reweight", files / "add.csv", *out), "--reweight must go with a graph that has weights"),
        ((files / "none", "--add", files / "add.csv", *out), "RUN must be a folder, got"),
        ((files / "run", "--add", files / "add.csv", "--features", files / "x", *out), "--features must go with a model"),
    ):  # fmt: skip
        done = run("update", *words)
        assert done.exit_code == 2, (words, done.output)
        assert sentence in done.stderr.splitlines()[-1]
        assert not (files / "run2").exists()
    streets["graph"].write_text(streets["graph"].read_text() + "street 1,street 39\n")
    done = run("update", files / "run", "--add", files / "add.csv", *out)
    assert "RUN must have the graph that it was trained with, got another graph" in done.stderr
    (files / "run" / "graph.json").write_text("{}")
    assert "has format None" in run("update", files / "run", "--add", files / "add.csv", *out).stderr


def test_other_runs_are_refused(run, streets, tmp_path):
    quick = ("--set", "num_anchors=4", "--set", "evaluate_every=1", "--epochs", "2")
    assert run("train", streets["graph"], "-m", "graphreach", "-o", tmp_path / "run", *quick).exit_code == 0
    done = run("update", tmp_path / "run", "--add", streets["graph"], "-o", tmp_path / "run2")
    assert "RUN must be of model reach on links or pairs to be updated, got graphreach of task link" in done.stderr
    done = run("embed", streets["graph"], "-o", tmp_path / "z.csv", "--method", "paper", "--save", tmp_path / "z")
    assert "--save must go with --method reach or position, got --method paper" in done.stderr

"""graphreach explain."""

import json

import pytest

QUICK = ("--set", "num_anchors=6", "--set", "evaluate_every=2", "--epochs", "4")


@pytest.fixture
def folder(run, streets, tmp_path):
    done = run("train", streets["graph"], "--task", "link", "--model", "graphreach", "-o", tmp_path / "run", *QUICK)
    assert done.exit_code == 0, done.output
    return tmp_path / "run"


def test_a_pair_has_the_score_of_predict(run, folder, tmp_path):
    (tmp_path / "pairs.csv").write_text("source,target\nstreet 1,street 30\n")
    predicted = json.loads(run("predict", folder, "--pairs", tmp_path / "pairs.csv", "--json").stdout)
    done = run("explain", folder, "--pair", "street 1", "street 30", "--json", "--top", 3)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["pair"] == ["street 1", "street 30"]
    assert found["probability"] == pytest.approx(predicted[0]["score"], rel=1e-5)
    assert len(found["anchors"]) == 3
    total = sum(each["contribution"] for each in (*found["anchors"], found["other_anchors"]))
    assert total + sum(found["terms"].values()) == pytest.approx(found["score"])
    text = run("explain", folder, "--pair", "street 1", "street 30").stdout
    assert text.startswith("street 1 - street 30: a link with score")


def test_a_node(run, folder):
    text = run("explain", folder, "--node", "street 3", "--top", 2).stdout
    assert text.startswith("street 3 ")
    assert "anchors are within reach" in text
    found = json.loads(run("explain", folder, "--node", "street 3", "--json").stdout)
    assert found["node"] == "street 3"
    assert 0 <= found["meets_anchor"] <= 1


def test_mistakes_are_one_line(run, folder, tmp_path):
    for words, sentence in (
        ((), "one of --pair and --node"),
        (("--node", "nowhere"), "--node must be the id of a node (such as "),
        (("--pair", "nowhere", "else"), "--pair must be the id of a node (such as "),
        (("--pair", "street 1", "street 1"), "two different nodes"),
        (("--node", "street 1", "--graph", tmp_path / "none.csv"), "--graph must be a file"),
        (("--node", "street 1", "--graph-number", 2), "--graph-number must be 1, the only graph"),
        (("--node", "street 1", "--graph", tmp_path / "a.csv", "--graph-number", 1), "must not go with --graph"),
    ):
        done = run("explain", folder, *words)
        assert done.exit_code == 2
        assert sentence in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_one_graph_of_several(run, three_graphs, tmp_path):
    folder = tmp_path / "run"
    run("train", "email", "--task", "pair", "--model", "graphreach", "-o", folder, *QUICK)
    done = run("explain", folder, "--node", 45, "--json")  # only the largest graph has so many nodes
    assert done.exit_code == 0, done.output
    assert done.stderr == "graphreach: graph 2 of 3; --graph-number picks another\n"
    assert json.loads(done.stdout)["node"] == 45
    assert "--node must be the id" in run("explain", folder, "--node", 45, "--graph-number", 1).stderr
    (tmp_path / "pairs.csv").write_text("source,target\n3,10\n")
    for number in (1, 3):
        words = ("--graph-number", number, "--json")
        (predicted,) = json.loads(run("predict", folder, "--pairs", tmp_path / "pairs.csv", *words).stdout)
        found = json.loads(run("explain", folder, "--pair", 3, 10, *words).stdout)
        assert found["probability"] == pytest.approx(predicted["score"], rel=1e-5)
        assert len(found["anchors"]) == 6
    done = run("explain", folder, "--node", 3, "--graph-number", 0)
    assert done.exit_code == 2
    assert "--graph-number must be from 1 to 3" in done.stderr
    (folder / "record.json").unlink()
    assert "--graph-number must be given, from 1 to 3" in run("explain", folder, "--node", 3).stderr


def test_a_run_of_several_methods_is_explained_by_its_part(run, tmp_path):
    both = tmp_path / "both"
    run("train", "grid", "--model", "gcn+graphreach", "-o", both, *QUICK)
    done = run("explain", both, "--pair", 3, 4)
    assert done.exit_code == 2
    assert done.stderr.endswith(
        f"adds the scores of gcn and graphreach; give the folder of one of them instead: {both / 'graphreach'}\n"
    )
    assert run("explain", both / "graphreach", "--pair", 3, 4).stdout.startswith("3 - 4: a link with score")


def test_integer_ids_and_other_methods(run, tmp_path):
    run("train", "grid", "--model", "gcn", "-o", tmp_path / "gcn", *QUICK[2:])
    assert "method graphreach" in run("explain", tmp_path / "gcn", "--node", 3).stderr
    run("train", "grid", "--preset", "paper", "--model", "graphreach", "-o", tmp_path / "ours", *QUICK)
    assert json.loads(run("explain", tmp_path / "ours", "--pair", 3, 4, "--json").stdout)["linked"] in (True, False)
    assert "such as 0, 1, 2" in run("explain", tmp_path / "ours", "--node", "three").stderr

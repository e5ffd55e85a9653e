import csv
import json

import pytest

import graphreach as gr


@pytest.fixture
def chosen(roads):
    graph = gr.read_graph(roads)
    return graph.ids[gr.select_anchors(graph, 3, seed=4).anchors].tolist()


def test_ids_on_stdout_and_coverage_on_stderr(run, roads, chosen):
    result = run("anchors", roads, "--num-anchors", 3, "--seed", 4)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == chosen
    assert result.stderr.count("\n") == 1
    assert "3 anchors by greedy" in result.stderr


def test_output_by_suffix(run, roads, chosen, tmp_path):
    paths = {suffix: tmp_path / f"anchors.{suffix}" for suffix in ("txt", "csv", "json")}
    for path in paths.values():
        result = run("anchors", roads, "-k", 3, "--seed", 4, "-o", path)
        assert (result.exit_code, result.stdout) == (0, "")
    assert paths["txt"].read_text().splitlines() == chosen
    assert [row["anchor"] for row in csv.DictReader(paths["csv"].read_text().splitlines())] == chosen
    content = json.loads(paths["json"].read_text())
    assert content["anchors"] == chosen
    assert 0 < content["coverage"] <= content["upper_bound"] <= 1
    assert (content["walk_length"], content["num_walks"], content["seed"]) == (4, 50, 4)


@pytest.mark.parametrize(("num_anchors", "count"), [("2", 2), ("0.5", 4), ("1.0", 7), ("log2", 4)])
def test_number_share_or_log2(run, roads, num_anchors, count):
    assert len(run("anchors", roads, "-k", num_anchors).stdout.splitlines()) == count


@pytest.mark.parametrize("strategy", ["random", "degree", "pagerank"])
def test_other_strategies(run, roads, strategy):
    result = run("anchors", roads, "-k", 1, "--strategy", strategy, "--walk-length", 3, "--num-walks", 5)
    assert len(result.stdout.splitlines()) == 1
    assert f"1 anchor by {strategy}" in result.stderr


def test_integer_ids_stay_integers(run, tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("10 20\n20 30\n")
    assert run("anchors", path, "-k", 1, "--walk-length", 1).stdout == "20\n"


def test_cut_walks_warn_in_one_line(run, tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("".join(f"{i} {i + 1}\n" for i in range(150)))
    result = run("anchors", path, "-k", 2, "--num-walks", 2)
    warning, _ = result.stderr.splitlines()
    assert warning.startswith("graphreach: warning: the graph's diameter is at least 150")

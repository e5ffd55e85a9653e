import json
import subprocess
import sys

import pytest


def facts_of(run, *words):
    result = run("info", *words, "--json")
    assert result.exit_code == 0
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_table_is_plain_text_on_stdout(run, roads):
    result = run("info", roads)
    assert result.exit_code == 0
    lines = dict(line.split("  ", 1) for line in result.stdout.splitlines())
    assert lines["nodes"].strip() == "7"
    assert lines["edges"].strip() == "5, undirected"
    assert "dropped" in lines["self-loops"]
    assert result.stderr == ""


def test_counts_by_hand(run, roads):
    facts = facts_of(run, roads)
    assert (facts["nodes"], facts["edges"], facts["self_loops"]) == (7, 5, 1)
    assert facts["components"] == {"number": 2, "largest": 5}
    assert facts["diameter"] == {"lower": 4, "upper": 4}
    assert facts["suggested"] == {
        "num_anchors": 4,
        "walk_length": 4,
        "num_walks": 50,
        "num_walks_by_theorem": 5,
    }
    assert facts["weights"] is None


def test_weights_leave_out_dropped_loops(run, roads):
    assert facts_of(run, roads, "--weight", "km")["weights"] == {"min": 40, "max": 463}
    kept = facts_of(run, roads, "--weight", "km", "--self-loops")
    assert kept["weights"] == {"min": 5, "max": 463}
    assert kept["edges"] == 6


def test_directed_graph_has_weak_components(run, roads):
    facts = facts_of(run, roads, "--directed")
    assert facts["components"] == {"number": 2, "largest": 5}
    assert facts["diameter"]["lower"] == 2
    assert "weak components" in run("info", roads, "--directed").stdout


def test_nodes_file_adds_isolated_nodes(run, roads, tmp_path):
    nodes = tmp_path / "nodes.txt"
    nodes.write_text("oslo\nbodø\nalta\n")
    facts = facts_of(run, roads, "--nodes", nodes)
    assert (facts["nodes"], facts["isolated"]) == (9, 2)


@pytest.mark.parametrize("column", ["km", "2"])
def test_columns_by_name_or_number(run, tmp_path, column):
    header = "a,b,km\n" if column == "km" else ""
    path = tmp_path / "edges.csv"
    path.write_text(header + "1,2,5\n2,3,6\n")
    assert facts_of(run, path, "--weight", column)["weights"] == {"min": 5, "max": 6}
    assert facts_of(run, path, "--unweighted")["weights"] is None


def test_columns_are_said_on_stderr_and_in_both_outputs(run, roads):
    result = run("info", roads)
    assert len(result.readings) == 1
    assert "source 'from', target 'to', no weight, ignored 'km'" in result.readings[0]
    assert "source 'from', target 'to', no weight, ignored 'km'" in result.stdout
    reading = facts_of(run, roads)["reading"]
    assert reading["columns"] == {"source": "from", "target": "to"}
    assert reading["ignored"] == ["km"]


def test_a_direction_that_was_not_asked_about_is_said(run, roads, tmp_path):
    """A list of followers was read as friendships, and nothing said so."""
    said = "; read as undirected, --directed keeps directions"
    assert said in run("info", roads).readings[0]
    assert not any(said in run("info", roads, word).readings[0] for word in ("--directed", "--undirected"))
    likes = tmp_path / "likes.csv"
    likes.write_text("user,item\n1,1\n1,2\n2,1\n")
    assert said not in run("info", likes).readings[0]


def test_name_of_a_data_set(run):
    facts = facts_of(run, "communities")
    assert facts["nodes"] == 400
    assert facts["reading"] is None


def test_data_set_of_several_graphs(run, three_graphs):
    result = run("info", "ppi")
    assert (result.exit_code, result.stderr.count("GRAPH must be one graph, got the 3 graphs of ppi")) == (2, 1)


def test_graph_on_standard_input(tmp_path):
    command = [sys.executable, "-m", "graphreach", "info", "-", "--json"]
    done = subprocess.run(command, input="a b\nb c\nc a\n", capture_output=True, text=True, check=True)
    facts = json.loads(done.stdout)
    assert (facts["nodes"], facts["edges"], facts["reading"]["path"]) == (3, 3, "-")
    assert "read standard input as text" in done.stderr


def test_format_times_and_two_kinds_of_nodes(run, tmp_path):
    path = tmp_path / "edges.xyz"
    path.write_text("user_id,item_id,rating,stamp\n1,1,5,1600000000\n2,1,4,1600000001\n")
    assert "--format" in run("info", path).stderr
    result = run("info", path, "--format", "text")
    assert "ids such as 'user_id:1' and 'item_id:1'" in result.stdout
    assert "time 'stamp'" in result.readings[0]
    assert "--weight rating" in result.readings[0]
    facts = facts_of(run, path, "--format", "text", "--no-bipartite", "--time", "rating")
    assert (facts["nodes"], facts["reading"]["columns"]["time"]) == (2, "rating")


def test_what_an_update_costs(run, tmp_path):
    path = tmp_path / "ring.txt"
    path.write_text("".join(f"{i} {(i + 1) % 100}\n" for i in range(100)))
    cost = {"share": pytest.approx(0.2), "walks": 1000}
    expected = {"num_walks": 50, "walk_length": 10, "random_pair": cost, "ends_of_edges": cost}
    assert facts_of(run, path)["update"] == expected
    (line,) = (line for line in run("info", path).stdout.splitlines() if line.startswith("one edge more"))
    assert (
        "concerns 20% of all walks if it joins random nodes, 20% if it is where edges are (50 walks of 10 jumps" in line
    )


def test_shares_of_all_walks_are_plain_numbers(run, tmp_path):
    path = tmp_path / "path.txt"
    path.write_text("0 1\n1 2\n")
    (line,) = (line for line in run("info", path).stdout.splitlines() if line.startswith("one edge more"))
    assert "concerns 100% of all walks if it joins random nodes, 100% if" in line

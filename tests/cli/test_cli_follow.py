"""graphreach follow."""

import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

import graphreach as gr
from cli_helpers import trained


@pytest.fixture
def followed(run, streets, tmp_path):
    """A run of links, and a file of edges that may grow."""
    trained(run, streets, tmp_path / "run")
    edges = tmp_path / "new.csv"
    edges.write_text("from,to\nstreet 1,new\nnew,newer\n")
    return tmp_path / "run", edges


def test_recommendations_of_each_batch(run, streets, followed):
    folder, edges = followed
    output = folder.with_name("run-followed")
    done = run("follow", folder, edges, "--once", "--top", 3)
    assert done.exit_code == 0, done.output
    assert "batch 1, lines 2 to 3: 2 edges added, 0 removed, 2 new nodes" in done.stderr
    links = gr.LinkPredictor.load(folder / "model").update(graph=gr.read_graph(streets["graph"]))
    links.update(add=[("street 1", "new"), ("new", "newer")])
    found = pl.read_parquet(output / "changes" / "000001.parquet")
    expected = links.recommend(["street 1", "new", "newer"], 3)
    assert found["node"].to_list() == expected.node.tolist()
    assert found["partner"].to_list() == expected.partner.tolist()
    with edges.open("a") as file:
        file.write("newer,newest\n")
    streets["graph"].unlink()  # the folder has the graph
    done = run("follow", folder, edges, "--once")
    assert "following new.csv from line 4 on, after batch 1" in done.stderr
    assert "nothing is left after batch 2: 43 nodes" in done.stderr
    assert sorted(path.name for path in (output / "changes").iterdir()) == ["000001.parquet", "000002.parquet"]


def test_vectors_that_a_batch_changed(run, streets, tmp_path):
    edges = tmp_path / "new.csv"
    edges.write_text("from,to\nstreet 1,new\n")
    words = ("embed", streets["graph"], "-o", tmp_path / "z.csv", "--save", tmp_path / "z", "--dim", 8, "-k", 8)
    assert run(*words).exit_code == 0
    assert run("follow", tmp_path / "z", edges, "--once", "-o", tmp_path / "out").exit_code == 0
    found = pl.read_parquet(tmp_path / "out" / "changes" / "000001.parquet")
    embedding = gr.GraphReachEmbedding.load(tmp_path / "z").update(graph=gr.read_graph(streets["graph"]))
    embedding.update(add=[("street 1", "new")])
    assert found["id"].to_list() == ["new"]
    assert found.drop("id").row(0) == tuple(embedding.embedding_[40].tolist())


def test_the_file_of_the_runs_own_graph_is_followed_from_its_end(run, streets, tmp_path):
    folder, edges = tmp_path / "run", streets["graph"]
    trained(run, streets, folder)
    done = run("follow", folder, edges, "--once", "-o", tmp_path / "out")
    assert "streets.csv is the file of the run's own graph: its first 302 lines are in it already" in done.stderr
    assert "after batch 0: 40 nodes" in done.stderr
    with edges.open("a") as file:
        file.write("street 1,new\n")
    done = run("follow", folder, edges, "--once", "-o", tmp_path / "out")
    assert "batch 1, lines 303 to 303: 1 edge added, 0 removed, 1 new node" in done.stderr


def test_standard_input(followed, tmp_path):
    folder, edges = followed
    command = [
        sys.executable,
        "-m",
        "graphreach",
        "follow",
        str(folder),
        "-",
        "-o",
        str(tmp_path / "out"),
        "--every",
        "5s",
    ]
    for number, lines in ((1, edges.read_text()), (2, "from,to\nnewer,newest\n")):
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
        assert f"nothing is left after batch {number}: {41 + number} nodes" in done.stderr, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_ctrl_c_ends_with_one_line_and_a_second_follower_is_refused(run, followed, tmp_path):
    folder, edges = followed
    output = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "graphreach",
        "follow",
        str(folder),
        str(edges),
        "-o",
        str(output),
        "--every",
        "100ms",
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        while not (output / "changes" / "000001.parquet").exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        done = run("follow", folder, edges, "-o", output, "--once")
        assert (done.exit_code, "is in use by another process" in done.stderr) == (2, True)
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    assert errors.splitlines()[-1] == "graphreach: ended; the same command goes on from there"
    assert run("follow", folder, edges, "-o", output, "--once").exit_code == 0


def test_mistakes_are_one_line(run, streets, followed, tmp_path):
    folder, edges = followed
    out = ("-o", tmp_path / "out", "--once")
    assert run("follow", folder, edges, *out).exit_code == 0
    trained(run, streets, tmp_path / "other", "--seed", 3)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "replaced.csv").write_text("from,to\nstreet 1,else\nstreet 2,newer\n")
    for words, sentence in (
        ((folder, tmp_path / "none.csv", *out), "EDGES must be a file, or - for standard input, got"),
        ((folder, tmp_path, *out), "EDGES must be a file, or - for standard input, got"),
        ((folder, edges, "--every", "often"), "--every must be a time such as 1s, 500ms or 2m, up to 24h, got 'often'"),
        ((folder, edges, "--every", "0s"), "--every must be a time such as 1s, 500ms or 2m, up to 24h, got '0s'"),
        ((folder, edges, "--every", f"{10**15}h"), "--every must be a time such as 1s, 500ms or 2m, up to 24h, got"),
        ((folder, edges, "-o", tmp_path / "full"), "--output must be an empty folder, or one that was followed into"),
        ((tmp_path / "other", edges, *out), "RUN must be the run that"),
        ((folder, "-", *out), "EDGES must be what"),
        ((folder, tmp_path / "replaced.csv", *out), "must be the file that was followed so far, which began with"),
        ((tmp_path / "none", edges, "-o", tmp_path / "new"), "RUN must be a folder, got"),
    ):
        done = run("follow", *words)
        assert done.exit_code == 2, (words, done.output)
        assert sentence in done.stderr.splitlines()[-1], done.stderr
    assert (tmp_path / "full" / "mine.txt").read_text() == "mine"


def test_a_last_line_without_its_break_is_named(run, followed, tmp_path):
    folder, edges = followed
    with edges.open("a") as file:
        file.write("street 2,half")
    done = run("follow", folder, edges, "--once", "-o", tmp_path / "out")
    assert f"the last line of {edges.name} has no line break, and is taken when it has one" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX closes it")
def test_closed_standard_input_is_one_line(followed, tmp_path):
    command = f"{sys.executable} -m graphreach follow {followed[0]} - -o {tmp_path / 'out'} <&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, "standard input is closed" in done.stderr.splitlines()[-1]) == (2, True), done.stderr


def test_runs_that_cannot_be_followed_are_refused(run, streets, tmp_path):
    table, edges = tmp_path / "features.csv", tmp_path / "new.csv"
    table.write_text("id,u\n" + "".join(f"street {i},{i % 7}\n" for i in range(40)))
    edges.write_text("from,to\nstreet 1,new\n")
    trained(run, streets, tmp_path / "run", "--features", table)
    done = run("follow", tmp_path / "run", edges, "--once")
    assert (done.exit_code, "RUN must be of a model that reads no features" in done.stderr) == (2, True)
    two = tmp_path / "two.csv"
    two.write_text("user,item\n" + "".join(f"{u},{(u * k) % 13}\n" for u in range(20) for k in (2, 3, 5)))
    trained(run, {"graph": two}, tmp_path / "kinds")
    done = run("follow", tmp_path / "kinds", edges, "--once")
    assert "RUN must be of a graph with one kind of nodes to be followed, got one with two kinds" in done.stderr

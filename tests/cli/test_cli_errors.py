"""Bad input: exit code 2, exactly one line on stderr, nothing on stdout, no file."""

import subprocess
import sys

import pytest

import graphreach
from graphreach.cli import reach


def one_line(result):
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    return result.stderr


def test_missing_file_with_near_miss(run, roads):
    message = one_line(run("info", roads.with_name("raods.csv")))
    assert "did you mean" in message
    assert "roads.csv" in message


@pytest.mark.parametrize(
    ("name", "text", "words", "expected"),
    [
        ("empty.csv", "", [], "empty"),
        ("minus.csv", "a,b,weight\nx,y,-1\n", [], "weight"),
        ("text.csv", "from,to,weight\nx,y,1\nx,z,far\n", [], "far"),
        ("edges.xlsx", "a,b\n", [], ".parquet"),
        ("edges.csv", "a,b\nx,y\n", ["--weight", "km"], "km"),
        ("edges.csv", "a,b\nx,y\n", ["--ids", "float"], "ids must be"),
        ("edges.csv", "a,b\nx,y\n", ["--weight", "km", "--unweighted"], "--unweighted"),
        ("edges.npz", "a,b\nx,y\n", [], "edges.npz"),
        ("edges.parquet", "a,b\nx,y\n", [], "edges.parquet"),
    ],
)
def test_unusable_graphs(run, tmp_path, name, text, words, expected):
    path = tmp_path / name
    path.write_text(text)
    assert expected in one_line(run("info", path, *words))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--strategy", "gredy"], "did you mean 'greedy'?"),
        (["--num-anchors", "50"], "num_anchors must be between 1 and 7 (the number of nodes), got 50"),
        (["--num-anchors", "1.5"], "share"),
        (["--num-anchors", "many"], "'many'"),
        (["--walk-length", "-3"], "walk_length"),
        (["--walk-length", "far"], "'far'"),
        (["--num-walks", "0"], "--num-walks"),
        (["--seed", "-1"], "--seed"),
        (["--seed", "x"], "--seed"),
        (["--sede", "1"], "--sede"),
        (["-o", "anchors.xlsx"], ".txt, .csv or .json"),
        (["-o", "missing/anchors.txt"], "a folder that exists"),
    ],
)
def test_unusable_options_of_anchors(run, roads, words, expected):
    assert expected in one_line(run("anchors", roads, *words))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-o", "reach.xlsx"], ".parquet or .npz"),
        (["-o", "missing/reach.npz"], "a folder that exists"),
        (["-o", "."], "must end in"),
        (["-o", "reach.npz", "--method", "exat"], "exat"),
        (["-o", "reach.npz", "--similarity", "order", "--hops", "2"], "--hops"),
        (["-o", "reach.npz", "--anchors", "missing.txt"], "missing.txt"),
        (["-o", "reach.npz", "--anchors", "anchors.xlsx"], "anchors.xlsx"),
        ([], "--output"),
    ],
)
def test_reach_refuses_before_it_reads(run, roads, words, expected, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(graphreach, "read_graph", lambda *args, **kwargs: pytest.fail("the graph was read"))
    assert expected in one_line(run("reach", roads, *words))
    assert list(tmp_path.iterdir()) == [roads]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.txt", "oslo\nparis\n", "'paris'"),
        ("a.txt", "", "holds none"),
        ("a.txt", "oslo\noslo\n", "more than once"),
        ("a.json", "{", "JSON"),
        ("a.json", '{"anchor": []}', "'anchors'"),
    ],
)
def test_unusable_anchor_files(run, roads, tmp_path, name, text, expected):
    path = tmp_path / name
    path.write_text(text)
    assert expected in one_line(run("reach", roads, "-o", tmp_path / "reach.npz", "--anchors", path))
    assert not (tmp_path / "reach.npz").exists()


def test_unknown_verb_and_missing_argument(run):
    assert "'anchors'" in one_line(run("anchor"))
    assert "GRAPH" in one_line(run("info"))


def test_bugs_keep_their_traceback(run, roads, tmp_path, monkeypatch):
    def fail(*args, **kwargs):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(reach.gr, "reachability", fail)
    with pytest.raises(ZeroDivisionError):
        run("reach", roads, "-o", tmp_path / "reach.npz")


def test_memory_that_is_not_there(run, roads, tmp_path, monkeypatch):
    def fail(*args, **kwargs):
        raise MemoryError("Unable to allocate 3.6 TiB")

    monkeypatch.setattr(reach.gr, "reachability", fail)
    result = run("reach", roads, "-o", tmp_path / "reach.npz")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "graphreach: error: Unable to allocate 3.6 TiB"


def test_interrupted(run, roads, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(reach.gr, "select_anchors", interrupt)
    result = run("anchors", roads)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "graphreach: interrupted\n")


def command(*words):
    code = "from graphreach.cli import main; main()"
    return [sys.executable, "-W", "error", "-c", code, *map(str, words)]


def test_process_errors_are_one_line(roads):
    result = subprocess.run(command("info", roads.with_name("raods.csv")), capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("graphreach: error: there is no file")
    assert result.stderr.count("\n") == 1


def test_process_with_closed_pipe_is_quiet(tmp_path):
    path = tmp_path / "path.txt"
    path.write_text("".join(f"{i} {i + 1}\n" for i in range(20_000)))
    words = ("anchors", path, "--strategy", "random", "-k", "1.0", "--walk-length", "2", "--num-walks", "1")
    with subprocess.Popen(command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline()
        process.stdout.close()
        message = process.stderr.read()
    assert "Traceback" not in message
    assert "Broken" not in message
    assert message.count("\n") == 2  # how the graph was read, and the coverage


def test_process_prints_version(roads):
    result = subprocess.run(command("--version"), capture_output=True, text=True, check=True)
    assert result.stdout == f"graphreach {graphreach.__version__}\n"

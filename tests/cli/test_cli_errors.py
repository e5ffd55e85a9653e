"""Bad input: exit code 2, exactly one line on stderr, nothing on stdout, no file."""

import errno
import signal
import subprocess
import sys
from pathlib import Path

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


ODD_FILES = {
    "file.txt": b"x",
    "empty.csv": b"",
    "bytes.csv": bytes(range(256)) * 4,
    "numbers.yaml": b"1: 2\n",
    "list.yaml": b"- epochs: 3\n",
    "bytes.yaml": bytes(range(256)),
    "nested.json": b"[" * 100_000,
    "digits.json": b"[" + b"9" * 5000 + b"]",
    "true.json": b"[true]",
    "long.csv": b'"' + b"x" * 200_000,
}
TRAIN = ("train", "edges.csv", "--model", "graphreach", "-o", "run")
COMPARE = ("compare", "edges.csv", "-o", "run")
EMBED = ("embed", "edges.csv", "-o", "z.npy", "--method", "paper")
REACH = ("reach", "edges.csv", "-o", "r.npz")
ANCHORS = ("anchors", "edges.csv")
SETTINGS = [
    (("--config", "folder"), "config must be a YAML file, got the folder folder"),
    (("--config", "none.yaml"), "does not exist"),
    (("--config", "numbers.yaml"), "must have names as keys, got 1"),
    (("--config", "list.yaml"), "must hold key: value lines, got list"),
    (("--config", "bytes.yaml"), "is not YAML"),
    (("--set", "model.head=2"), "did you mean 'heads'?"),
    (("--set", "model.heads=x"), "model.heads: input should be a valid integer, got 'x'"),
    (("--set", "reachability.hops=x"), "reachability.hops: input should be a valid integer"),
    (("--set", "model..heads=2"), "set must be key=value"),
    (("--set", "=2"), "set must be key=value"),
    (("--set", "epochs"), "set must be key=value"),
    (("--set", "fractions=[1, 1, 1]"), "sum to 1"),
    (("--set", "learning_rate=.nan"), "finite"),
    (("--epochs", "0"), "--epochs"),
    (("--preset", "bst"), "preset"),
]
BEFORE_READING = [
    *(((*verb, *words), sentence) for verb in (TRAIN, COMPARE, EMBED) for words, sentence in SETTINGS),
    *(
        ((verb, "edges.csv", "-o", output), sentence)
        for verb in ("train", "compare")
        for output, sentence in [
            ("file.txt", "--output must be a folder, got the file file.txt"),
            ("file.txt/run", "--output must be in a folder, got the file"),
            ("n" * 300, "--output must be a name that files can have"),
        ]
    ),
    (("embed", "edges.csv", "-o", "folder.npy"), "--output must be a file, got the folder folder.npy"),
    (("embed", "edges.csv", "-o", "file.txt/z.npy"), "--output must be in a folder that exists"),
    (("embed", "edges.csv", "-o", "n" * 300 + ".npy"), "--output must be a name that files can have"),
    (("embed", "edges.csv", "-o", "z.xlsx"), "--output must end in"),
    ((*EMBED, "--record", "folder"), "--record must be a file, got the folder folder"),
    ((*EMBED, "--record", "file.txt/r.json"), "the folder of --record must be a folder, got the file"),
    ((*EMBED, "-k", "many"), "num_anchors"),
    ((*EMBED, "-k", "nan"), "num_anchors"),
    ((*EMBED, "-k", "-1"), "num_anchors"),
    ((*TRAIN, "--task", "links"), "task"),
    ((*TRAIN, "--model", "graphrech"), "did you mean 'graphreach'?"),
    ((*TRAIN, "--model", "gcn+"), "method must be one of"),
    ((*TRAIN, "--engine", "x"), "engine"),
    ((*TRAIN, "--workers", "0"), "workers"),
    ((*COMPARE, "--models", ","), "--models must name at least one model"),
    ((*COMPARE, "--seeds", "0"), "--seeds"),
    ((*ANCHORS, "-o", "folder.txt"), "--output must be a file, got the folder folder.txt"),
    ((*ANCHORS, "-o", "file.txt/x.txt"), "--output must be in a folder that exists"),
    ((*REACH, "--anchors", "folder.json"), "folder.json"),
    (("demo", "-o", "file.txt"), "--output must be a folder, got the file file.txt"),
    (("datasets", "fetch", "cora", "--root", "file.txt"), "--root must be a folder, got the file file.txt"),
    (("datasets", "fetch", "corra"), "cora"),
    (("datasets", "--json", "fetch", "cora"), "--json"),
    (("predict", "folder", "--pairs", "edges.csv"), "folder"),
    (("predict", "file.txt", "--pairs", "edges.csv"), "file.txt"),
    (("evaluate", "folder"), "record.json"),
    (("evaluate", "none"), "record.json"),
    (("evaluate", "folder", "--graph", "edges.csv"), "--pairs or --labels"),
    (("report", "folder", "-o", "folder"), "--output must end in .html"),
    (("report", "folder", "-o", "r.html"), "folder"),
    (("explain", "folder", "--node", "1"), "folder"),
    (("attack", "folder"), "folder"),
    (("reproduce", "table-99"), "table-99"),
    (("reproduce", "table-9a", "-o", "file.txt"), "file.txt"),
]
AFTER_READING = [
    ((*TRAIN, "--labels", "folder", "--task", "pair"), "folder"),
    ((*TRAIN, "--labels", "empty.csv", "--task", "pair"), "empty.csv"),
    ((*TRAIN, "--labels", "bytes.csv", "--task", "pair"), "bytes.csv"),
    ((*TRAIN, "--features", "folder"), "folder"),
    ((*ANCHORS, "-k", "nan"), "num_anchors"),
    ((*ANCHORS, "-k", "9" * 5000), "num_anchors"),
    ((*ANCHORS, "--walk-length", "--5"), "'--5'"),
    ((*ANCHORS, "--walk-length", "9" * 5000), "walk_length"),
    ((*ANCHORS, "--walk-length", ""), "walk_length"),
    ((*ANCHORS, "--engine", "x"), "engine"),
    ((*ANCHORS, "--partitions", "2"), "partitions"),
    ((*ANCHORS, "--source", "9" * 30), "source"),
    ((*REACH, "--anchors", "nested.json"), "nested.json must be JSON"),
    ((*REACH, "--anchors", "digits.json"), "digits.json must be JSON"),
    ((*REACH, "--anchors", "true.json"), "got True"),
    ((*REACH, "--anchors", "long.csv"), "long.csv must be a table of ids"),
    ((*REACH, "--anchors", "bytes.csv"), "bytes.csv must be text in UTF-8"),
    (("info", "folder"), "folder"),
    (("info", "bytes.csv"), "bytes.csv"),
    (("info", ""), "."),
]


def short(words):
    return " ".join(word[:20] for word in words) if isinstance(words, tuple) else ""


@pytest.fixture
def odd(tmp_path, monkeypatch):
    """A folder with a graph and with files that are not what commands want."""
    monkeypatch.chdir(tmp_path)
    for name, content in ODD_FILES.items():
        (tmp_path / name).write_bytes(content)
    for name in ("folder", "folder.npy", "folder.txt", "folder.json"):
        (tmp_path / name).mkdir()
    ring = [f"{i},{(i + step) % 12}" for i in range(12) for step in (1, 2)]
    (tmp_path / "edges.csv").write_text("source,target\n" + "\n".join(ring) + "\n")
    return {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize(("words", "sentence"), BEFORE_READING, ids=short)
def test_command_lines_that_are_refused_before_anything_is_read(run, odd, tmp_path, monkeypatch, words, sentence):
    monkeypatch.setattr(graphreach, "read_graph", lambda *args, **kwargs: pytest.fail("the graph was read"))
    assert sentence in one_line(run(*words))
    assert {path.name for path in tmp_path.iterdir()} == odd


@pytest.mark.parametrize(("words", "sentence"), AFTER_READING, ids=short)
def test_command_lines_that_are_refused_in_one_line(run, odd, tmp_path, words, sentence):
    result = run(*words)
    errors = [line for line in result.stderr.splitlines() if not line.startswith("graphreach: read ")]
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(errors) == 1
    assert errors[0].startswith("graphreach: error: ")
    assert sentence in errors[0]
    assert {path.name for path in tmp_path.iterdir()} - {"run"} == odd


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "run/x"), 2, "run/x: Permission denied"),
        (OSError(errno.EROFS, "Read-only file system", "run/x"), 2, "run/x: Read-only file system"),
        (FileExistsError(errno.EEXIST, "File exists", "run"), 2, "run: File exists"),
        (OSError(errno.ENOSPC, "No space left on device", "run/x"), 1, "run/x: No space left on device"),
        (OSError("broken"), 1, "broken"),
        (MemoryError(), 1, "there is not enough memory"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you\n"), 1, "can't allocate memory"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_exit_codes(run, roads, monkeypatch, error, code, line):
    """Read-only folders gave 1; a full disk is no bad input."""

    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(reach.gr, "select_anchors", fail)
    result = run("anchors", roads)
    assert result.exit_code == code
    assert line in result.stderr.splitlines()[-1]
    assert result.stderr.splitlines()[-1].startswith("graphreach: error: ")
    assert "Traceback" not in result.stderr


class PanicException(BaseException):
    """As pyo3 has it: no Exception, and in no module that can be imported."""


def test_panics_of_polars_are_one_line(run, roads, monkeypatch):
    def panic(*args, **kwargs):
        raise PanicException("range end index 5 out of range\nstack backtrace:")

    monkeypatch.setattr(reach.gr, "select_anchors", panic)
    result = run("anchors", roads)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith("graphreach: error: range end index 5 out of range (in polars")


def command(*words):
    code = "from graphreach.cli import main; import graphreach.progress as p; p.INTERVAL = p.DELAY = 1e6; main()"
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


def test_process_that_is_interrupted_ends_in_one_line(tmp_path):
    path = tmp_path / "ring.txt"
    path.write_text("".join(f"{i} {(i + 1) % 5000}\n" for i in range(5000)))
    code = "from graphreach.cli import main; import graphreach.progress as p; p.INTERVAL = 0.2; main()"
    words = ("reach", path, "-o", tmp_path / "r.npz", "-k", "8", "--num-walks", "20000", "--walk-length", "1000")
    words = (sys.executable, "-c", code, *map(str, words), "--strategy", "random")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while "walks to anchors" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        last = process.stderr.read().splitlines()
    assert process.returncode == 130
    assert last[-1] == "graphreach: interrupted"
    assert not any("Traceback" in line for line in last)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ring.txt"]


def test_process_prints_version(roads):
    result = subprocess.run(command("--version"), capture_output=True, text=True, check=True)
    assert result.stdout == f"graphreach {graphreach.__version__}\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_process_says_that_the_disk_of_its_output_is_full(roads):
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            command("info", roads, "--json"), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == "graphreach: error: standard output: No space left on device"
    assert "Exception ignored" not in result.stderr
